// Runs in Chromium and in Node: everything that is compared, by turns.
import { AdapVAE } from 'adapvae';

import { compare, stepModule } from './ours.mjs';
import * as peer from './peer.mjs';

export const NETWORK = [784, 256, 64, 10, 100];
const SMALL = [64, 64, 32, 8, 50];

export async function run({ module, files, wasm, rounds = 5, milliseconds = 1000 }) {
  const name = await peer.start(files);
  const steps = await stepModule(await module(), NETWORK);
  const theirs = peer.network(NETWORK);
  const before = theirs.loss();
  theirs.steps(20);
  const after = theirs.loss();
  if (!(after < before)) throw new Error(`the peer does not learn: ${before} to ${after}`);
  const [step, peerStep] = compare([[steps, 10], [theirs.steps, 3]], rounds, milliseconds);

  const rows = [];
  for (const network of [NETWORK, SMALL]) rows.push(await oneRow(network, wasm, rounds, milliseconds / 2));
  return { name, step, peerStep, rows };
}

// Calls with a single row.
async function oneRow(network, wasm, rounds, milliseconds) {
  const [inputs, hidden1, hidden2, latent] = network;
  const options = { inputs, hidden1, hidden2, latent, block_rows: 500, pretrain_epochs: 2, neighbour_epochs: 0, joint_epochs: 1 };
  const model = await AdapVAE.create(options, wasm);
  const data = Float32Array.from({ length: 500 * inputs }, (_, i) => (i * 7919 % 1009) / 1009);
  model.learn(data);
  const theirs = peer.network(network);
  const row = data.slice(0, inputs);
  const each = (call) => [(count) => {
    for (let i = 0; i < count; ++i) call(row);
  }, 100];
  const [score, encode, predict, fused] = compare(
    [each((r) => model.score(r)), each((r) => model.encode(r)), each(theirs.predict), each(theirs.row)], rounds, milliseconds);
  return { network: network.slice(0, 4).join('-'), backend: model.info().backend, score, encode, predict, fused };
}

// Runs in Chromium and in Node: everything that is compared, by turns.
import { AdapVAE } from 'adapvae';

import { compare, stepModule } from './ours.mjs';
import * as peer from './peer.mjs';

export const NETWORK = [784, 256, 64, 10, 100];
const SMALL = [64, 64, 32, 8, 50];

export async function run({ module, digits, files, wasm, rounds = 5, milliseconds = 1000 }) {
  const name = await peer.start(files);
  const steps = await stepModule(await module(), NETWORK);
  const theirs = peer.network(NETWORK);
  const before = theirs.loss();
  theirs.steps(20);
  const after = theirs.loss();
  if (!(after < before)) throw new Error(`the peer does not learn: ${before} to ${after}`);
  const [step, peerStep] = compare([steps, theirs.steps], rounds, milliseconds);

  const rows = [];
  for (const [network, kind] of [[NETWORK, 'noise'], [NETWORK, 'digits'], [SMALL, 'noise']]) {
    const [inputs] = network;
    const noise = () => Float32Array.from({ length: 500 * inputs }, (_, i) => (i * 7919 % 1009) / 1009);
    const data = kind === 'digits' ? await digits() : noise();
    rows.push({ kind, ...(await oneRow(network, data, wasm, rounds, milliseconds / 2)) });
  }
  return { name, step, peerStep, rows };
}

// Calls with a single row.
async function oneRow(network, data, wasm, rounds, milliseconds) {
  const [inputs, hidden1, hidden2, latent] = network;
  const options = { inputs, hidden1, hidden2, latent, block_rows: 500 };
  const model = await AdapVAE.create(options, wasm);
  model.learn(data.subarray(0, 500 * inputs));
  const theirs = peer.network(network);
  const list = Array.from({ length: 100 }, (_, i) => data.slice(i * inputs, (i + 1) * inputs));
  const each = (call) => (count) => {
    for (let i = 0; i < count; ++i) call(list[i % 100]);
  };
  const [score, encode, predict, fused] = compare(
    [each((row) => model.score(row)), each((row) => model.encode(row)), each(theirs.predict), each(theirs.row)], rounds, milliseconds);
  return { network: network.slice(0, 4).join('-'), clusters: model.info().clusters, score, encode, predict, fused };
}

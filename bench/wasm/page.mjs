// Runs in Chromium and in Node: everything that is compared, by turns.
import { AdapVAE } from 'adapvae';

import { compare, stepModule } from './ours.mjs';
import * as peer from './peer.mjs';

export const NETWORK = [784, 256, 64, 10, 100];

export async function run({ module, files, wasm, rounds = 5, milliseconds = 1000 }) {
  const name = await peer.start(files);
  const steps = await stepModule(await module(), NETWORK);
  const theirs = peer.network(NETWORK);
  const before = theirs.loss();
  theirs.steps(20);
  const after = theirs.loss();
  if (!(after < before)) throw new Error(`the peer does not learn: ${before} to ${after}`);
  const [step, peerStep] = compare([[steps, 3], [theirs.steps, 3]], rounds, milliseconds);

  const [inputs, hidden1, hidden2, latent] = NETWORK;
  const options = { inputs, hidden1, hidden2, latent, block_rows: 500, pretrain_epochs: 2, neighbour_epochs: 0, joint_epochs: 1 };
  const model = await AdapVAE.create(options, wasm);
  const rows = Float32Array.from({ length: 500 * inputs }, (_, i) => (i * 7919 % 1009) / 1009);
  model.learn(rows);
  const row = rows.slice(0, inputs);
  const each = (call) => (count) => {
    for (let i = 0; i < count; ++i) call(row);
  };
  const [score, encode, peerRow] = compare(
    [[each((r) => model.score(r)), 20], [each((r) => model.encode(r)), 20], [each(theirs.row), 20]], rounds, milliseconds / 2);
  return { name, backend: model.info().backend, step, peerStep, score, encode, peerRow };
}

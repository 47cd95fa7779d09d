// The worker's client in Node, where workers are threads.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AdapVAE as Plain, AdapVAEError } from 'adapvae';
import * as worker from 'adapvae/worker';

import { OPTIONS, STREAM_ROWS, digits, recordedStream } from './support.mjs';

const { AdapVAE } = worker;

test('a worker has every method of the model and gives the same', async () => {
  const rows = recordedStream().subarray(0, STREAM_ROWS * 64);
  const plain = await Plain.create(OPTIONS);
  const model = await AdapVAE.create(OPTIONS);
  try {
    assert.equal(model.stopping, 'shared');
    for (const name of Object.getOwnPropertyNames(Plain.prototype)) {
      assert.equal(typeof model[name], 'function', name);
    }
    const progress = [];
    await model.setProgress((stage, fraction) => void progress.push([stage, fraction]));
    assert.deepEqual(await model.learn(rows), plain.learn(rows));
    assert.deepEqual(progress.at(-1), ['close', 1]);
    const scores = await model.score(rows);
    assert.deepEqual(scores, plain.score(rows));
    assert.deepEqual(await model.clusters(), plain.clusters());
    assert.deepEqual((await model.events()).length, plain.events().length);
    const bytes = await model.save();
    assert.deepEqual(bytes, plain.save());
    const loaded = await AdapVAE.load(bytes);
    assert.deepEqual(await loaded.score(rows), scores);
    loaded.dispose();
    const scorer = await AdapVAE.scorer(bytes);
    assert.equal((await scorer.info()).scoresOnly, true);
    scorer.dispose();
    // Rows are kept unless they are given away.
    assert.equal(rows.length, STREAM_ROWS * 64);
    const given = rows.slice();
    assert.deepEqual(await model.score(given, { transfer: true }), scores);
    assert.equal(given.length, 0);
    // Of a larger buffer only the part goes.
    const larger = new Float32Array(rows.length + 64);
    larger.set(rows);
    assert.deepEqual(await model.score(larger.subarray(0, rows.length), { transfer: true }), scores);
    assert.equal(larger.length, rows.length + 64);
  } finally {
    model.dispose();
  }
});

test('errors keep their status; calls in flight are answered in order, and rejected by an end', async () => {
  await assert.rejects(AdapVAE.create({ inputs: 64, latnet: 3 }), (error) => {
    assert.ok(error instanceof AdapVAEError);
    assert.equal(error.status, 'ADAPVAE_INVALID_ARGUMENT');
    return true;
  });
  const model = await AdapVAE.create(OPTIONS);
  const bad = new Float32Array(3 * 64);
  bad[64] = NaN;
  await assert.rejects(model.learn(bad), { status: 'ADAPVAE_NON_FINITE', index: 1 });
  const { rows } = digits([0, 1], STREAM_ROWS);
  const order = [];
  await Promise.all([
    model.learn(rows).then(() => order.push('learn')),
    model.info().then((info) => order.push(`info ${info.streams}`)),
    model.score(rows).then(() => order.push('score')),
  ]);
  assert.deepEqual(order, ['learn', 'info 1', 'score']);
  const pending = model.learn(rows);
  model.dispose();
  await assert.rejects(pending, { status: 'ADAPVAE_INVALID_ARGUMENT' });
  await assert.rejects(model.info(), { status: 'ADAPVAE_INVALID_ARGUMENT' });
});

test('a stop ends what was asked for so far, and nothing after it', async () => {
  const { rows } = digits([0, 1], STREAM_ROWS);
  const model = await AdapVAE.create({ ...OPTIONS, pretrain_epochs: 100000, adapt_epochs: 100000 });
  try {
    const first = model.learn(rows);
    const second = model.learn(rows);
    setTimeout(() => model.stop(), 300);
    assert.equal((await first).stopped, true); // would take minutes
    assert.equal((await second).stopped, true);
    assert.equal((await model.info()).rows, 2 * STREAM_ROWS);
    await model.set('adapt_epochs', 1);
    assert.equal((await model.learn(rows)).stopped, false);
    await model.set('adapt_epochs', 100000);
    await model.setProgress(() => false);
    assert.equal((await model.learn(digits([2, 3], STREAM_ROWS).rows)).stopped, true);
  } finally {
    model.dispose();
  }
});

// The package in a real Chromium, on the main thread and in workers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { ISOLATED, launch, open, serve } from './browser.mjs';
import { OPTIONS, STREAM_ROWS, digits, native, recordedStream } from './support.mjs';

let browser;
let plain;
let isolated;
let strict;
before(async () => {
  browser = await launch();
  plain = await serve(import.meta.dirname);
  isolated = await serve(import.meta.dirname, ISOLATED);
  strict = await serve(import.meta.dirname, { 'Content-Security-Policy': "default-src 'self' 'wasm-unsafe-eval'; script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'" });
});
after(async () => {
  await browser.close();
  for (const server of [plain, isolated, strict]) server.close();
});

// Runs in the page: learns the rows stream by stream, scores, saves, loads and saves again.
async function whole({ entry, options, runtime, rows, streamRows }) {
  const { AdapVAE } = await import(entry);
  const data = Float32Array.from(rows);
  const model = await AdapVAE.create(options, runtime);
  const reports = [];
  for (let at = 0; at < data.length; at += 64 * streamRows) reports.push(await model.learn(data.slice(at, at + 64 * streamRows)));
  const { id, novelty } = await model.score(data);
  const bytes = await model.save();
  const copy = await AdapVAE.load(bytes, runtime);
  const again = await copy.save();
  const result = {
    reports,
    id: [...id],
    novelty: [...novelty],
    clusters: await model.clusters(),
    events: await model.events(),
    backend: (await model.info()).backend,
    stopping: model.stopping,
    model: [...bytes],
    same: bytes.length === again.length && bytes.every((byte, i) => byte === again[i]),
  };
  await model.dispose();
  await copy.dispose();
  return result;
}

const PLACES = [
  { name: 'main thread, simd', where: () => plain, entry: 'adapvae.mjs', runtime: {}, backend: 'simd128', isa: 'baseline' },
  { name: 'main thread, scalar', where: () => plain, entry: 'adapvae.mjs', runtime: { simd: false }, backend: 'scalar', isa: 'scalar' },
  { name: 'main thread, inline', where: () => plain, entry: 'inline.mjs', runtime: {}, backend: 'simd128', isa: 'baseline' },
  { name: 'worker', where: () => plain, entry: 'worker.mjs', runtime: {}, backend: 'simd128', isa: 'baseline', stopping: 'address' },
  { name: 'worker, isolated', where: () => isolated, entry: 'worker.mjs', runtime: {}, backend: 'simd128', isa: 'baseline', stopping: 'shared' },
];
describe('learns a stream with a birth, and the native library goes on from it', () => {
  const rows = recordedStream();
  const expected = Object.fromEntries(['baseline', 'scalar'].map((isa) => [isa, native(rows, isa)]));
  for (const { name, where, entry, runtime, backend, isa, stopping } of PLACES) {
    test(name, async () => {
      const { page, errors } = await open(browser, where().address);
      const result = await page.evaluate(whole, {
        entry: `/node_modules/adapvae/${entry}`, options: OPTIONS, runtime, rows: [...rows], streamRows: STREAM_ROWS,
      });
      await page.close();
      assert.deepEqual(errors, []);
      assert.equal(result.backend, backend);
      assert.equal(result.stopping, stopping);
      assert.ok(result.reports[1].births > 0);
      assert.ok(result.events.some(({ type }) => type === 'born'));
      assert.ok(result.same);
      const { reports, scores, clusters } = expected[isa];
      reports.forEach(({ clusters: count, bound }, i) => {
        assert.equal(result.reports[i].clusters, count);
        assert.ok(Math.abs(result.reports[i].bound - bound) <= 1e-6 * Math.abs(bound));
      });
      assert.deepEqual(result.clusters.map(({ id }) => id).sort(), clusters.map(({ cluster }) => cluster).sort());
      scores.forEach(({ id, novelty }, i) => {
        assert.equal(result.id[i], id);
        assert.ok(Math.abs(result.novelty[i] - novelty) <= 1e-3);
      });
      const next = digits([4, 5], STREAM_ROWS).rows;
      const later = native(next, isa, { from: Uint8Array.from(result.model) });
      assert.ok(later.reports[0].births > 0);
    });
  }
});

// Runs in the page: a stream that would take minutes, stopped; then one that is not.
async function stopped({ rows, options }) {
  const { AdapVAE } = await import('/node_modules/adapvae/worker.mjs');
  const data = Float32Array.from(rows);
  const model = await AdapVAE.create({ ...options, pretrain_epochs: 100000 });
  let seen = 0;
  const moving = new Promise((resolve) => model.setProgress(() => {
    if (++seen > 3) resolve();
  }));
  const learning = model.learn(data);
  await moving;
  model.stop();
  const first = await learning;
  const second = await model.learn(data);
  const { stopping } = model;
  model.dispose();
  return { seen, first, second, stopping };
}
describe('a stop reaches a worker that learns', () => {
  const rows = [...digits([0, 1], STREAM_ROWS).rows];
  for (const [name, where, stopping] of [['by its address', () => plain, 'address'], ['by shared memory', () => isolated, 'shared']]) {
    test(name, async () => {
      const { page, errors } = await open(browser, where().address);
      const result = await page.evaluate(stopped, { rows, options: OPTIONS });
      await page.close();
      assert.deepEqual(errors, []);
      assert.equal(result.stopping, stopping);
      assert.equal(result.first.stopped, true);
      assert.equal(result.second.stopped, false);
      assert.ok(result.seen > 3);
    });
  }
  for (const [name, where, runtime] of [
    ['a page whose rules forbid that address is told', () => strict, {}],
    ['a page that does not want it looked at is told', () => plain, { stoppable: false }],
  ]) {
    test(name, async () => {
      const { page } = await open(browser, where().address);
      const stopping = await page.evaluate(async ({ options, given }) => {
        const { AdapVAE } = await import('/node_modules/adapvae/worker.mjs');
        const model = await AdapVAE.create(options, given);
        model.stop();
        await model.info();
        return model.stopping;
      }, { options: OPTIONS, given: runtime });
      await page.close();
      assert.equal(stopping, 'between');
    });
  }
});

test('a worker that cannot be loaded is an error', async () => {
  const { page } = await open(browser, plain.address);
  const status = await page.evaluate(async () => {
    const { AdapVAE } = await import('/node_modules/adapvae/worker.mjs');
    const worker = new Worker('/nowhere.mjs', { type: 'module' });
    return AdapVAE.create({ inputs: 4 }, { worker }).then(() => 'fine', (error) => error.status);
  });
  await page.close();
  assert.equal(status, 'ADAPVAE_UNAVAILABLE');
});

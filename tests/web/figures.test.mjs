// The figures that the page shows: its own, the native library's, and what is left of the first kinds with replay and without.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { AdapVAE } from 'adapvae';
import { runnerImport } from 'vite';

import { forgetting, nativeFigures, packageFigures } from '../tools/figures.mjs';
import { FULL, begin } from './page.mjs';

const SEED = 2;
const AGREES = 0.02;
const program = join(process.env.ADAPVAE_SOURCE, 'build/release/adapvae');
const { seeds } = JSON.parse(readFileSync(join(import.meta.dirname, '../src/native.json'), 'utf8'));

let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

test('NMI is that of the library', async () => {
  const { nmi } = (await runnerImport(join(import.meta.dirname, '../src/nmi.ts'))).module;
  const labels = Array.from({ length: 500 }, (_, i) => (i * i) % 7);
  for (const ids of [labels, labels.map((label) => label % 3), labels.map((_, i) => (i * 13) % 11), labels.map(() => 1)]) {
    assert.ok(Math.abs(nmi(labels, ids) - (await AdapVAE.evaluate(labels, ids)).nmi) < 1e-9);
  }
});

test('the page comes to the native figures', async () => {
  const { page, errors } = await place.visit();
  assert.ok(await page.isHidden('#figures'));
  await page.selectOption('#speed', '16');
  await page.waitForSelector('#figures:not([hidden])', { timeout: 200_000 });
  const lines = await page.$$eval('#figures tbody tr', (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  const [ours, baseline, avx2] = lines.map(([, nmi, clusters]) => ({ nmi: Number(nmi), clusters: Number(clusters) }));
  assert.match(await page.textContent('#figures-note'), /3,212 rows, seed 2\. SSE2 kernels round as this page does/);
  const { nmi, clusters } = seeds[SEED].baseline;
  const stale = 'If the core has changed, run ./run web figures.';
  assert.ok(Math.abs(ours.nmi - nmi) <= AGREES, `NMI ${ours.nmi} here, ${nmi} natively. ${stale}`);
  assert.equal(ours.clusters, clusters, `${ours.clusters} clusters here, ${clusters} natively. ${stale}`);
  assert.deepEqual([baseline.nmi, avx2.nmi], [seeds[SEED].baseline.nmi, seeds[SEED].avx2.nmi].map((nmi) => Number(nmi.toFixed(3))));
  assert.deepEqual(errors, []);
  await page.close();
});

// Native and WebAssembly are compared row by row in tests/wasm.
test('the native figures are what the program comes to', { skip: (!FULL || !existsSync(program)) && 'for ./run test full' }, async () => {
  const native = await nativeFigures(program, SEED, 'baseline');
  assert.ok(Math.abs(native.nmi - seeds[SEED].baseline.nmi) < 1e-3, `${native.nmi}`);
  const ours = await packageFigures(SEED);
  assert.equal(ours.clusters, native.clusters);
  assert.ok(Math.abs(ours.nmi - native.nmi) < 1e-6, `${ours.nmi} and ${native.nmi}`);
});

test('with replay the first kinds stay, without they go, whatever the seed', async () => {
  for (const seed of FULL ? [1, 3] : [3]) {
    const kept = (await forgetting(seed, {})).at(-1);
    const lost = (await forgetting(seed, { replay_ratio: 0 })).at(-1);
    assert.ok(kept.first > 0.85, `seed ${seed}: ${kept.first} with replay`);
    assert.ok(lost.first < 0.4, `seed ${seed}: ${lost.first} without`);
    assert.equal(kept.rowsStored, 0);
    assert.ok(kept.statistics > 1000 && kept.statistics < 100_000, `${kept.statistics} bytes`);
  }
});

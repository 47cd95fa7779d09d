// Programs that use the package, built by vite and esbuild and run in Chromium, or run by Node as they are.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import * as esbuild from 'esbuild';
import * as vite from 'vite';

import { launch, open, serve } from './browser.mjs';

const fixture = (...names) => join(import.meta.dirname, 'fixtures', ...names);
const good = (results, backends) => {
  assert.deepEqual(results.map(({ backend }) => backend), backends);
  for (const { clusters, known, novel } of results) assert.deepEqual({ clusters, known, novel }, { clusters: 2, known: true, novel: true });
};

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function result(address) {
  const { page, errors } = await open(browser, address, '/index.html');
  const found = await page.waitForFunction(() => globalThis.result).then((handle) => handle.jsonValue());
  await page.close();
  assert.deepEqual(errors, []);
  return found;
}

test('vite builds it', async (t) => {
  await vite.build({ root: fixture('vite'), logLevel: 'error', base: './' });
  const assets = readdirSync(fixture('vite', 'dist', 'assets'));
  assert.equal(assets.filter((name) => name.endsWith('.wasm')).length, 2, assets.join());
  const server = await serve(fixture('vite', 'dist'));
  t.after(() => server.close());
  good(await result(server.address), ['simd128', 'scalar', 'simd128']);
});

test('vite serves it while one works on it', async (t) => {
  const server = await vite.createServer({
    root: fixture('vite'), logLevel: 'error', server: { port: 0, host: '127.0.0.1', fs: { strict: false } },
    optimizeDeps: { exclude: ['adapvae'] },
  });
  t.after(() => server.close());
  await server.listen();
  good(await result(server.resolvedUrls.local[0].replace(/\/$/, '')), ['simd128', 'scalar', 'simd128']);
});

test('esbuild bundles it', async (t) => {
  await esbuild.build({
    entryPoints: [fixture('esbuild', 'main.mjs')], bundle: true, format: 'esm', outdir: fixture('esbuild', 'dist'),
    loader: { '.wasm': 'file' }, logLevel: 'error', minify: true,
  });
  writeFileSync(fixture('esbuild', 'dist', 'index.html'), '<!doctype html><title>adapvae by esbuild</title><script type="module" src="./main.js"></script>');
  assert.ok(readFileSync(fixture('esbuild', 'dist', 'main.js')).length > 100_000); // the inline module
  const server = await serve(fixture('esbuild', 'dist'));
  t.after(() => server.close());
  good(await result(server.address), ['simd128', 'simd128']);
});

test('Node runs it as it is', () => {
  const run = (name) => JSON.parse(execFileSync('node', [fixture('node', name)], { encoding: 'utf8' }));
  good(run('main.mjs'), ['simd128', 'scalar', 'simd128', 'simd128']);
  good(run('main.cjs'), ['simd128']);
});

// usage: soak.mjs [MINUTES]: models learn, score, save, load and end, in the page and in a worker, for so
// long (10); memory is looked at all the while. Fails if it grows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ISOLATED, launch, open, serve } from './browser.mjs';
import { mnist } from './support.mjs';

const minutes = Number(process.argv[2] ?? 10);
writeFileSync(join(import.meta.dirname, 'digits.f32'), mnist(2000));

// Runs in the page: for `seconds`, then what memory there is.
async function work({ seconds }) {
  const { AdapVAE } = await import('/node_modules/adapvae/adapvae.mjs');
  const { AdapVAE: InWorker } = await import('/node_modules/adapvae/worker.mjs');
  const state = (globalThis.soak ??= { counts: { rows: 0, streams: 0, scored: 0, saves: 0, models: 0 } });
  state.data ??= new Float32Array(await (await fetch('/digits.f32')).arrayBuffer());
  const { counts, data } = state;
  const options = { preset: 'browser', pretrain_epochs: 4, adapt_epochs: 2, joint_epochs: 2 };
  // These two live as long as the page.
  state.page ??= await AdapVAE.create(options);
  state.worker ??= await InWorker.create(options);
  const end = performance.now() + 1000 * seconds;
  const block = (i) => data.slice(784 * 500 * (i % 4), 784 * 500 * (1 + (i % 4)));
  for (let i = 0; performance.now() < end; ++i) {
    const far = state.worker.learn(block(i), { transfer: true });
    state.page.push(block(i + 1));
    state.page.score(block(i + 2));
    state.page.generate(20);
    state.page.events();
    await far;
    await state.worker.score(block(i));
    await state.worker.events();
    const bytes = await state.worker.save();
    state.page.load(state.page.save());
    // And this one does not.
    const copy = await (i % 2 ? AdapVAE : InWorker).load(bytes);
    await copy.score(data.slice(0, 7840));
    await copy.dispose();
    counts.rows += 1000;
    counts.streams += 2;
    counts.scored += 1010;
    counts.saves += 2;
    counts.models += 1;
    await new Promise((resolve) => setTimeout(resolve)); // the page breathes
  }
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 200));
  globalThis.gc();
  const { bytes } = await performance.measureUserAgentSpecificMemory();
  return {
    total: bytes, // of the page and its workers, without WebAssembly's memory
    script: performance.memory.usedJSHeapSize,
    page: state.page.info().heapBytes,
    worker: (await state.worker.info()).heapBytes,
    clusters: state.page.info().clusters,
    ...counts,
  };
}

const browser = await launch(['--js-flags=--expose-gc', '--enable-precise-memory-info', '--disable-backgrounding-occluded-windows']);
const server = await serve(import.meta.dirname, ISOLATED);
const { page, errors } = await open(browser, server.address);
const system = await browser.newBrowserCDPSession();
// Resident memory of the processes that run pages: WebAssembly, code and all.
async function resident() {
  const { processInfo } = await system.send('SystemInfo.getProcessInfo');
  const kilobytes = processInfo.filter(({ type }) => type === 'renderer')
    .map(({ id }) => Number(readFileSync(`/proc/${id}/status`, 'utf8').match(/VmRSS:\s+(\d+)/)[1]));
  return 1024 * kilobytes.reduce((a, b) => a + b, 0);
}
const looks = [];
const began = Date.now();
const megabytes = (bytes) => (bytes / 1e6).toFixed(2);
console.log('minute  process MB  total MB  script MB  page wasm MB  worker wasm MB  clusters  streams  models');
while (Date.now() - began < minutes * 60_000) {
  const look = await page.evaluate(work, { seconds: Math.min(30, minutes * 10) });
  look.process = await resident();
  looks.push(look);
  console.log(`${((Date.now() - began) / 60_000).toFixed(1).padStart(6)}  ${megabytes(look.process).padStart(10)}  ${megabytes(look.total).padStart(8)}  ${megabytes(look.script).padStart(9)}  ${megabytes(look.page).padStart(12)}  ${megabytes(look.worker).padStart(14)}  ${String(look.clusters).padStart(8)}  ${String(look.streams).padStart(7)}  ${String(look.models).padStart(6)}`);
}
await browser.close();
server.close();
if (errors.length) throw new Error(errors.join('\n'));
// The first look is while everything is still being made ready.
const settled = looks.slice(1);
const half = settled.length >> 1;
const most = (part, key) => Math.max(...part.map((look) => look[key]));
for (const [key, share] of [['process', 0.1], ['total', 0.02], ['script', 0.02], ['page', 0], ['worker', 0]]) {
  const [first, last] = [most(settled.slice(0, half), key), most(settled.slice(half), key)];
  console.log(`${key}: at most ${megabytes(first)} MB in the first half, ${megabytes(last)} MB in the second`);
  if (last > (1 + share) * first + (share && 5e5)) {
    console.log(`${key} grows`);
    process.exitCode = 1;
  }
}

// usage: bench.mjs [--json] [--rounds N]: one training step of 784-256-64-10, batch 100, and one row,
// in Chromium and in Node beside TensorFlow.js (wasm backend), and beside the native library.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import * as esbuild from 'esbuild';

import { launch, open, serve } from './browser.mjs';
import { stopLatency } from './stop.mjs';
import { mnist } from './support.mjs';

const { values } = parseArgs({ options: { json: { type: 'boolean' }, rounds: { type: 'string', default: '5' } } });
const rounds = Number(values.rounds);
const here = import.meta.dirname;

function report(name, unit, ours, peerName, theirs) {
  const ratio = ours / theirs;
  if (values.json) console.log(JSON.stringify({ case: name, unit, ours, peer_name: peerName, peer: theirs, ratio }));
  else console.log(`${name.padEnd(46)} ${ours.toFixed(1).padStart(12)} ${theirs.toFixed(1).padStart(12)} ${unit.padEnd(9)} ${ratio.toFixed(2).padStart(7)} x  ${peerName}`);
}
const nativeStep = (isa) => {
  const program = join(process.env.ADAPVAE_SOURCE, 'build/bench/bench/bench_vae');
  const lines = execFileSync(program, ['784,256,64,10', '100', '1'], { input: 'go\ngo\n', env: { ...process.env, ADAPVAE_ISA: isa }, encoding: 'utf8' });
  return Math.min(...lines.trim().split('\n').map((line) => Number(line.split(' ')[0])));
};

await esbuild.build({ entryPoints: [join(here, 'page.mjs')], bundle: true, format: 'esm', outfile: join(here, 'dist', 'page.js'), logLevel: 'error' });
writeFileSync(join(here, 'digits.f32'), mnist(2000));
const server = await serve(here);
const browser = await launch();
const { page, errors } = await open(browser, server.address);
let native = nativeStep('baseline');
const inPage = await page.evaluate(async (given) => {
  const { run } = await import('/dist/page.js');
  return run({
    rounds: given,
    module: async () => (await fetch('/bench_step.wasm')).arrayBuffer(),
    digits: async () => new Float32Array(await (await fetch('/digits.f32')).arrayBuffer()),
    files: '/node_modules/@tensorflow/tfjs-backend-wasm/dist/',
    wasm: { wasm: '/node_modules/adapvae/adapvae.wasm' },
  });
}, rounds);
native = Math.min(native, nativeStep('baseline'));
if (errors.length) throw new Error(errors.join('\n'));

const { run } = await import('./page.mjs');
const inNode = await run({
  rounds,
  module: async () => readFileSync(join(here, 'bench_step.wasm')),
  digits: async () => mnist(2000),
  files: join(here, 'node_modules/@tensorflow/tfjs-backend-wasm/dist/'),
  wasm: {},
}).catch((error) => ({ error }));

for (const [where, result] of [['chromium', inPage], ['node', inNode]]) {
  if (result.error) {
    console.error(`${where}: ${result.error.stack}`);
    continue;
  }
  report(`${where} step 784-256-64-10 batch100`, 'rows/s', 100 / result.step, `tfjs ${result.name}`, 100 / result.peerStep);
  report(`${where} step beside native SSE`, 'rows/s', 100 / result.step, 'native baseline, 1 thread', 100 / native);
  for (const { network, kind, score, encode, predict, fused } of result.rows) {
    const name = `${network} ${kind}`;
    report(`${where} score a row ${name}`, 'rows/s', 1 / score, 'tfjs predict(), encoder alone', 1 / predict);
    report(`${where} encode a row ${name}`, 'rows/s', 1 / encode, 'tfjs predict()', 1 / predict);
    report(`${where} encode a row ${name}`, 'rows/s', 1 / encode, 'tfjs fused operations', 1 / fused);
  }
}
await stopLatency(browser, values.json);
await browser.close();
server.close();

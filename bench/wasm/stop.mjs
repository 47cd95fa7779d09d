// How long a stop takes to reach a stream that a worker learns, and what looking for it costs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ISOLATED, open, serve } from './browser.mjs';
import { mnist } from './support.mjs';

async function measure({ times }) {
  const { AdapVAE } = await import('/node_modules/adapvae/worker.mjs');
  const data = new Float32Array(await (await fetch('/digits.f32')).arrayBuffer());
  const streams = 500 * 784;
  const model = await AdapVAE.create({ preset: 'browser' });
  const began = performance.now();
  const waits = [];
  await model.learn(data.subarray(0, streams));
  const whole = performance.now() - began;
  for (let i = 0; i < times; ++i) {
    const learning = model.learn(data.subarray(streams * (1 + (i % 3)), streams * (2 + (i % 3))));
    // At any moment of a stream.
    await new Promise((resolve) => setTimeout(resolve, (whole * 0.9 * i) / times));
    const asked = performance.now();
    model.stop();
    const report = await learning;
    if (report.stopped) waits.push(performance.now() - asked);
  }
  const { stopping } = model;
  model.dispose();
  waits.sort((a, b) => a - b);
  return { stopping, whole, stops: waits.length, median: waits[waits.length >> 1], most: waits.at(-1) };
}

export async function stopLatency(browser, json, times = 30) {
  writeFileSync(join(import.meta.dirname, 'digits.f32'), mnist(2000));
  for (const headers of [{}, ISOLATED]) {
    const server = await serve(import.meta.dirname, headers);
    const { page, errors } = await open(browser, server.address);
    const found = await page.evaluate(measure, { times });
    await page.close();
    server.close();
    if (errors.length) throw new Error(errors.join('\n'));
    if (json) console.log(JSON.stringify({ case: 'stop', ...found }));
    else console.log(`stop by ${found.stopping}: median ${found.median.toFixed(1)} ms, most ${found.most.toFixed(1)} ms of ${found.stops}; a whole stream ${found.whole.toFixed(0)} ms`);
  }
}

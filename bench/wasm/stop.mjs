// How long a stop takes to reach a stream that a worker learns, and what looking for it costs.
import { ISOLATED, open, serve } from './browser.mjs';

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
  return { stopping, stops: waits.length, median: waits[waits.length >> 1], most: waits.at(-1) };
}

// Seconds for the same three streams by a fresh model, all of it.
async function unstopped() {
  const { AdapVAE } = await import('/node_modules/adapvae/worker.mjs');
  const data = new Float32Array(await (await fetch('/digits.f32')).arrayBuffer());
  const model = await AdapVAE.create({ preset: 'browser' });
  const began = performance.now();
  for (let i = 0; i < 3; ++i) await model.learn(data.subarray(392000 * i, 392000 * (i + 1)));
  model.dispose();
  return performance.now() - began;
}

export async function stopLatency(browser, json, times = 30) {
  const servers = [await serve(import.meta.dirname), await serve(import.meta.dirname, ISOLATED)];
  const whole = [Infinity, Infinity];
  for (let round = 0; round < 4; ++round) {
    for (const [i, server] of servers.entries()) {
      const { page } = await open(browser, server.address);
      whole[i] = Math.min(whole[i], await page.evaluate(unstopped));
      await page.close();
    }
  }
  for (const [i, server] of servers.entries()) {
    const { page, errors } = await open(browser, server.address);
    const found = await page.evaluate(measure, { times });
    await page.close();
    server.close();
    if (errors.length) throw new Error(errors.join('\n'));
    if (json) console.log(JSON.stringify({ case: 'stop', ...found, whole: whole[i] }));
    else console.log(`stop by ${found.stopping}: median ${found.median.toFixed(1)} ms, most ${found.most.toFixed(1)} ms of ${found.stops}; three streams to their end ${whole[i].toFixed(0)} ms`);
  }
}

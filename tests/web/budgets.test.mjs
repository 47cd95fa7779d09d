// What the page may weigh and take. A busy machine gets three tries.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { DIST, SIZES, begin } from './page.mjs';

let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

test('all JavaScript and CSS: at most 120 KB gzipped', () => {
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' }).filter((file) =>
    ['.js', '.mjs', '.css'].includes(extname(file)),
  );
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(DIST, file))).length, 0);
  console.log(`${files.length} files, ${(bytes / 1024).toFixed(1)} KB gzipped`);
  assert.ok(files.length >= 4 && bytes <= 120 * 1024, `${bytes}`);
});

// Milliseconds until rows are on the screen, on a machine that is four times slower; what was fetched for that.
async function firstRows() {
  const context = await place.browser.newContext({ viewport: SIZES.desktop });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const fetched = [];
  page.on('response', (response) => fetched.push(response));
  await page.addInitScript(() => {
    const look = () => {
      if (document.querySelector('#tally')?.textContent) window.firstRows = performance.now();
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto(`${place.address}index.html`);
  await page.waitForFunction(() => window.firstRows);
  const time = await page.evaluate(() => window.firstRows);
  const data = [];
  for (const response of fetched.filter((one) => one.url().startsWith('http'))) {
    const { pathname } = new URL(response.url());
    if (!['.js', '.css', '.html', '.wasm', '.mjs'].includes(extname(pathname)))
      data.push([pathname.split('/').at(-1), (await response.body()).length]);
  }
  await context.close();
  return { time, data };
}

test('rows within 2.5 s at a quarter of the speed, with at most 400 KB of data', async () => {
  const times = [];
  for (let run = 0; run < 3 && !(Math.min(...times) <= 2500); ++run) {
    const { time, data } = await firstRows();
    times.push(time);
    assert.equal(data.length, 1, `${data}`);
    assert.match(data[0][0], /^digits.*\.bin$/);
    assert.ok(data[0][1] <= 400 * 1024, `${data}`);
  }
  console.log(`first rows after ${times.map((time) => Math.round(time)).join(', ')} ms`);
  assert.ok(Math.min(...times) <= 2500, `${times}`);
});

// The page's main thread from the first rows until the third cluster: its longest task, by the clock and by the
// processor's time, which other programs do not lengthen; how long a frame takes while the model learns.
async function play(size) {
  const context = await place.browser.newContext({ viewport: size });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await page.goto(`${place.address}index.html`);
  await page.waitForFunction(() => document.querySelector('#tally').textContent !== '');
  await page.evaluate(() => {
    window.frames_ = [];
    let last = performance.now();
    const frame = (now) => {
      if (document.body.dataset.phase === 'learning') window.frames_.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'devtools.timeline'] },
  });
  await page.waitForFunction(() => document.querySelector('#birth-title').textContent === 'Cluster 3 is born', null, {
    timeout: 60_000,
  });
  await page.waitForTimeout(1000);
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  const frames = (await page.evaluate(() => window.frames_)).sort((a, b) => a - b);
  await context.close();
  const threadOf = ({ pid, tid }) => `${pid} ${tid}`;
  const mains = new Set(
    events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(threadOf),
  );
  const tasks = events.filter((event) => /RunTask$/.test(event.name) && event.ph === 'X' && mains.has(threadOf(event)));
  assert.ok(tasks.length > 1000 && frames.length > 20, 'it was watched');
  const longest = (field) => Math.max(...tasks.map((task) => task[field] ?? 0)) / 1000;
  return { clock: longest('dur'), processor: longest('tdur'), frame: frames[frames.length >> 1] };
}

for (const [name, size] of Object.entries(SIZES)) {
  test(`no task of the main thread above 50 ms, 60 frames a second while it learns: ${name}`, async () => {
    let best = { clock: Infinity, processor: Infinity, frame: Infinity };
    // A machine with more to do than it has processors stretches the clock; there the processor's time counts.
    const busy = () => loadavg()[0] > cpus().length;
    const fine = () => best.processor <= 50 && best.frame <= 18 && (best.clock <= 50 || busy());
    for (let run = 0; run < 3 && !fine(); ++run) {
      const { clock, processor, frame } = await play(size);
      console.log(
        `longest task ${clock.toFixed(0)} ms, of the processor ${processor.toFixed(0)} ms; a frame while learning ${frame.toFixed(1)} ms`,
      );
      best = {
        clock: Math.min(best.clock, clock),
        processor: Math.min(best.processor, processor),
        frame: Math.min(best.frame, frame),
      };
    }
    assert.ok(best.processor > 0, 'the processor tells its time');
    assert.ok(fine(), JSON.stringify(best));
  });
}

// The built page in a real Chromium, served from a folder below the root, and what persons do there.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { launch, open, serve } from './browser.mjs';

export const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };
// Everything at its full size: ./run test full.
export const FULL = process.env.ADAPVAE_TEST_SIZE === 'full';
export const SMALLEST = { width: 320, height: 640 };

export async function begin() {
  const browser = await launch();
  const server = await serve(dirname(import.meta.dirname));
  return {
    browser,
    address: `${server.address}/dist/`,
    // `options` are the browser context's: colours, permissions, …
    visit(size = SIZES.desktop, { query = '', ...options } = {}) {
      return open(browser, server.address, `/dist/index.html${query}`, { viewport: size, ...options });
    },
    async end() {
      await browser.close();
      server.close();
    },
  };
}

// Of the page's built files, by their ending.
export const DIST = join(import.meta.dirname, '../dist');

export const sticksOut = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

// Opens a link that plays streams, and waits until it has.
export const replayed = (page) =>
  page.waitForFunction(() => document.body.dataset.playing === 'false' && document.body.dataset.phase === 'resting', null, { timeout: 120_000 });
// The longest task of the page's main thread while something is done, in milliseconds of that thread's own time: what other programs
// take of the machine does not count.
export async function longestTask(page, act) {
  const browser = page.context().browser();
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] });
  let events;
  try {
    await act();
  } finally {
    events = JSON.parse(await browser.stopTracing()).traceEvents;
  }
  const key = ({ pid, tid }) => `${pid} ${tid}`;
  const main = new Set(events.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain').map(key));
  const tasks = events.filter((event) => event.name.endsWith('RunTask') && main.has(key(event)) && event.tdur !== undefined);
  if (tasks.length === 0) throw new Error('the browser told of no task');
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}
const LONGEST_TASK = 50;

// A test in which no task of the page may take longer than that; `body` gives its longest task. On a busy machine the browser
// compiles and collects garbage in the page's own thread, so there are three tries. A long task of the page's
// own shows in each.
export function testOfTasks(name, body) {
  test(name, async () => {
    const longest = [];
    do longest.push(await body());
    while (longest.at(-1) > LONGEST_TASK && longest.length < 3);
    assert.ok(longest.at(-1) <= LONGEST_TASK, `tasks of ${longest.join(', ')} ms`);
  });
}

export const clusters = (page) =>
  page.$$eval('#prototypes li', (cards) =>
    cards.map((card) => ({ id: Number(card.dataset.id), name: card.querySelector('.name').value, age: card.querySelector('.age').textContent })),
  );

export const waitForClusters = (page, count, timeout = 30_000) =>
  page.waitForFunction((least) => document.querySelectorAll('#prototypes li').length >= least, count, { timeout });

export async function pause(page) {
  if ((await page.textContent('#play')) === 'Pause') await page.click('#play');
  await page.waitForFunction(() => document.body.dataset.phase !== 'learning');
}

// Plays until so many clusters are known, then pauses.
export async function know(page, count) {
  await page.selectOption('#speed', '4');
  await waitForClusters(page, count);
  await pause(page);
}

// Lines of points in [0, 1] × [0, 1].
export async function draw(page, lines) {
  await page.locator('#pad').scrollIntoViewIfNeeded();
  const box = await page.locator('#pad').boundingBox();
  for (const line of lines) {
    for (const [i, [x, y]] of line.entries()) {
      await page.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: i ? 12 : 1 });
      if (i === 0) await page.mouse.down();
    }
    await page.mouse.up();
  }
}
export const STAR = [[[0.5, 0.1], [0.75, 0.9], [0.1, 0.4], [0.9, 0.4], [0.25, 0.9], [0.5, 0.1]]];
export const answer = async (page) => {
  await page.waitForFunction(() => document.querySelector('#pad-verdict').dataset.novelty !== undefined);
  await page.waitForTimeout(400);
  return { novelty: Number(await page.getAttribute('#pad-verdict', 'data-novelty')), text: await page.textContent('#pad-verdict') };
};

// Files, { name, data } each; data is text or bytes.
export const drop = async (page, ...files) => {
  const transfer = await page.evaluateHandle(
    (list) => {
      const data = new DataTransfer();
      for (const { name, bytes } of list) data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name));
      return data;
    },
    files.map(({ name, data }) => ({ name, bytes: Buffer.from(data).toString('base64') })),
  );
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
};

export const paste = (page, text) =>
  page.evaluate((content) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', content);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);

export const text = (page, selector, what, timeout = 30_000) =>
  page.waitForFunction(([where, source]) => new RegExp(source).test(document.querySelector(where).textContent), [selector, what.source], { timeout });

export const preview = (page) => page.waitForSelector('#preview[open]');

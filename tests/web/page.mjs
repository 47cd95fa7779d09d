// The built page in a real Chromium, served from a folder below the root, and what persons do there.
import { dirname, join } from 'node:path';

import { launch, open, serve } from './browser.mjs';

export const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } };
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

export const clusters = (page) =>
  page.$$eval('#prototypes li', (cards) =>
    cards.map((card) => ({ id: Number(card.dataset.id), name: card.querySelector('.name').value, age: card.querySelector('.age').textContent })),
  );

export const waitForClusters = (page, count, timeout = 30_000) =>
  page.waitForFunction((least) => document.querySelectorAll('#prototypes li').length >= least, count, { timeout });

// Plays until so many clusters are known, then pauses.
export async function know(page, count) {
  await page.selectOption('#speed', '4');
  await waitForClusters(page, count);
  if ((await page.textContent('#play')) === 'Pause') await page.click('#play');
  await page.waitForFunction(() => document.body.dataset.phase !== 'learning');
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

export const drop = async (page, name, text) => {
  const transfer = await page.evaluateHandle(
    ([title, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], title));
      return data;
    },
    [name, text],
  );
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
};

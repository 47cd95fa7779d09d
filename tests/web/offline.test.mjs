// After the first visit the page needs no network, and takes a new build when there is one.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { launch, serve } from './browser.mjs';
import { DIST, waitForClusters } from './page.mjs';

let browser, server, folder;
before(async () => {
  // A copy that may be changed, in a folder below the root.
  folder = mkdtempSync(join(tmpdir(), 'adapvae-page-'));
  cpSync(DIST, join(folder, 'some/where'), { recursive: true });
  [browser, server] = await Promise.all([launch(), serve(folder)]);
});
after(async () => {
  await browser.close();
  server.close();
});

const ready = (page) =>
  page.waitForFunction(() => document.querySelector('#fact-offline').textContent === 'yes', null, { timeout: 30_000 });

test('plays without a network after the first visit', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.address}/some/where/index.html`);
  await ready(page);
  await context.setOffline(true);
  await page.goto(`${server.address}/some/where/index.html?seed=3`); // not the address of before
  await waitForClusters(page, 2);
  assert.equal(await page.textContent('#fact-seed'), '3');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-report')]);
  assert.match(readFileSync(await download.path(), 'utf8'), /Prototypes/);
  await page.goto(`${server.address}/some/where/maths.html#eq-15`);
  assert.match(await page.textContent('h1'), /mathematics/);
  const failed = await page.goto(`${server.address}/elsewhere`).catch((error) => error);
  assert.ok(failed instanceof Error, 'the network is really off');
  await context.close();
});

test('a new build is there at the next load, and the old files go', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.address}/some/where/index.html`);
  await ready(page);
  const before = await page.evaluate(() => caches.keys());
  assert.equal(before.length, 1);
  const change = (name, from, to) => {
    const path = join(folder, 'some/where', name);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.includes(from));
    writeFileSync(path, text.replace(from, to));
  };
  change('index.html', '<title>adapvae', '<title>newer adapvae');
  change('service-worker.js', "VERSION = '", "VERSION = '2");
  await page.reload();
  assert.match(await page.title(), /^newer/);
  await ready(page);
  let kept = before;
  for (let i = 0; i < 100 && (kept.length !== 1 || kept[0] === before[0]); ++i) {
    await page.waitForTimeout(300);
    kept = await page.evaluate(() => caches.keys());
  }
  assert.equal(kept.length, 1);
  assert.notEqual(kept[0], before[0]);
  await context.setOffline(true);
  await page.reload();
  assert.match(await page.title(), /^newer/);
  await context.close();
});

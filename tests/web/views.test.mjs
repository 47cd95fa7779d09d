// Timeline, map, tables and forgetting, by pointer and by keyboard, in a real Chromium.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { SIZES, begin, know, longestTask, testOfTasks } from './page.mjs';

let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

const state = (page) => page.getAttribute('#forgetting-section', 'data-state');
const notWide = (page) => page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

for (const [name, size] of Object.entries({ ...SIZES, 'small phone': { width: 320, height: 640 } })) {
  describe(name, () => {
    test('before anything is known the page says what will come', async () => {
      const { page, errors } = await place.visit(size);
      await page.waitForFunction(() => /\d+ rows to go/.test(document.querySelector('#known-wait').textContent));
      assert.ok(await page.isVisible('#known-empty'));
      await know(page, 2);
      assert.ok(await page.isHidden('#known-empty'));
      assert.deepEqual(errors, []);
      await page.close();
    });

    test('every chart has a table', async () => {
      const { page, errors } = await place.visit(size);
      await know(page, 3);
      const clusters = await page.locator('#prototypes li').count();
      const table = async (section) => {
        const button = page.locator(`section:has(> .head > #${section}) .table-button`);
        assert.equal(await button.getAttribute('aria-expanded'), 'false');
        await button.press('Enter');
        assert.equal(await button.getAttribute('aria-expanded'), 'true');
        const box = page.locator(`#${await button.getAttribute('aria-controls')}`);
        assert.ok(await box.isVisible());
        assert.ok((await box.locator('caption').textContent()).length > 10);
        for (const head of await box.locator('thead th').all()) assert.equal(await head.getAttribute('scope'), 'col');
        return box.locator('tbody tr');
      };
      assert.equal(await (await table('stream-title')).count(), 50);
      assert.equal(await (await table('map-title')).count(), clusters);
      assert.equal(await (await table('timeline-title')).count(), await page.locator('.event').count());
      assert.equal(await (await table('forgetting-title')).count(), 5);
      assert.ok(await notWide(page), 'nothing sticks out at the side');
      assert.deepEqual(errors, []);
      await page.close();
    });
  });
}

test('timeline: arrows go from event to event, Enter shows before and after, Escape closes', async () => {
  const { page, errors } = await place.visit();
  await know(page, 4);
  const marks = page.locator('.event');
  assert.equal(await page.locator('.event[tabindex="0"]').count(), 1);
  await page.locator('.event[tabindex="0"]').focus();
  await page.keyboard.press('Home');
  assert.ok(await marks.first().evaluate((mark) => mark === document.activeElement));
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const panel = page.locator('#event-panel');
  await panel.waitFor();
  const young = (await panel.locator('h3').textContent()).match(/Stream (\d+): Cluster (\d+) is born/);
  assert.ok(young);
  assert.match(await panel.locator('> p').textContent(), /\d+ rows of this stream.* fit a cluster of their own better \(evidence \+\d/);
  const shown = (side) => panel.locator('.sides > div').nth(side).locator('canvas').evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')));
  const [before, after] = [await shown(0), await shown(1)];
  assert.equal(before.length, 1, 'that out of which it was born');
  assert.deepEqual(after, [...before, `Cluster ${young[2]}, drawn from memory`]);
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await panel.locator('h3').textContent(), young[0]);
  await page.keyboard.press('Escape');
  assert.ok(await panel.isHidden());
  // The mark that was in focus still is when the lanes are drawn anew.
  const focused = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), focused);
  assert.deepEqual(errors, []);
  await page.close();
});

test('map: two ways to see it, a click keeps the picture, a card lights its cluster', async () => {
  const { page, errors } = await place.visit();
  await know(page, 4);
  const pixels = () => page.$eval('#map', (map) => map.toDataURL());
  await page.mouse.move(0, 0);
  assert.match(await page.textContent('#map-note'), /principal components\); they hold \d+ %/);
  const spread = await pixels();
  await page.selectOption('#map-plane', 'apart');
  assert.match(await page.textContent('#map-note'), /linear discriminant\); they hold \d+ %/);
  const apart = await pixels();
  assert.notEqual(apart, spread);
  await page.focus('#prototypes li[data-id="2"] .choose');
  assert.notEqual(await pixels(), apart);
  await page.locator('#map').click();
  await page.waitForSelector('#map-image:not([hidden])');
  await page.mouse.move(0, 0);
  await page.waitForSelector('#map-image:not([hidden])');
  await page.focus('#map');
  await page.keyboard.press('Escape');
  await page.waitForSelector('#map-image', { state: 'hidden' });
  assert.deepEqual(errors, []);
  await page.close();
});

// The browser tells of a worker's end some time after it was asked for.
async function workerCount(page, count) {
  for (let tries = 0; page.workers().length !== count && tries < 50; ++tries) await page.waitForTimeout(100);
  assert.equal(page.workers().length, count);
}

testOfTasks('forgetting: asked for, paused, gone on with, to its end; then stopped', async () => {
  const { page, errors } = await place.visit();
  await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
  const workers = page.workers().length;
  assert.equal(await state(page), 'idle');
  await page.click('#forgetting-go');
  assert.equal(await page.textContent('#play'), 'Play', 'the streams above wait');
  await page.waitForFunction(() => /of 5/.test(document.querySelector('#forgetting-note').textContent));
  await workerCount(page, workers + 2);
  await page.click('#forgetting-go');
  await page.waitForFunction(() => /Paused before stream/.test(document.querySelector('#forgetting-note').textContent), null, { timeout: 30_000 });
  assert.equal(await state(page), 'paused');
  const longest = await longestTask(page, async () => {
    await page.click('#forgetting-go');
    await page.waitForFunction(() => document.querySelector('#forgetting-section').dataset.state === 'done', null, { timeout: 90_000 });
  });
  const [, kept, lost] = (await page.textContent('#forgetting-note')).match(/(\d+) % are still recognised with replay, (\d+) % without/);
  assert.ok(kept > 85 && lost < 40, `${kept} and ${lost}`);
  for (const side of ['on', 'off']) assert.match(await page.textContent(`#replay-${side}-note`), /0 past rows stored, [\d,]+ bytes of statistics/);
  await page.waitForFunction(() => document.querySelector('#play').textContent === 'Pause', null, { timeout: 5_000 });
  await workerCount(page, workers);
  await page.click('#forgetting-go');
  await page.waitForFunction(() => /of 5/.test(document.querySelector('#forgetting-note').textContent));
  await page.click('#forgetting-stop');
  assert.match(await page.textContent('#forgetting-note'), /Stopped after 0 of 5/);
  await page.waitForFunction(() => document.querySelector('#play').textContent === 'Pause', null, { timeout: 5_000 });
  await workerCount(page, workers);
  assert.deepEqual(errors, []);
  await page.close();
  return longest;
});

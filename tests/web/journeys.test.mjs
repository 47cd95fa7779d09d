// What persons do with the page, done in a real Chromium.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { FULL, SIZES, STAR, answer, begin, clusters, draw, know, longestTask, sticksOut, testOfTasks } from './page.mjs';

let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

for (const [name, size] of Object.entries(SIZES)) {
  if (name === 'phone' && !FULL) continue; // views, own data and access are tested on phones, too
  describe(name, () => {
    testOfTasks('plays by itself: a kind unseen so far is born within 30 s', async () => {
      const { page, errors } = await place.visit(size);
      await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
      const longest = await longestTask(page, () =>
        page.waitForFunction(() => document.querySelector('#birth-title').textContent === 'Cluster 3 is born', null, { timeout: 30_000 }),
      );
      assert.match(await page.textContent('#birth-reason'), /^\d+ rows of this stream, nearest to cluster \d+ until now, fit a cluster of their own better \(evidence \+\d/);
      assert.match(await page.textContent('#live'), /born/);
      assert.match(await page.textContent('#tally'), /of the new kind/);
      assert.ok(!(await sticksOut(page)), 'nothing sticks out at the side');
      assert.deepEqual(errors, []);
      await page.close();
      return longest;
    });

    test('a symbol that was never there is novel, becomes a cluster, is named, and is there after save and open', async () => {
      const { page, errors } = await place.visit(size);
      await know(page, 4);
      await draw(page, STAR);
      const first = await answer(page);
      assert.ok(first.novelty > 0.5, first.text);
      const before = (await clusters(page)).map(({ id }) => id);
      await page.click('#feed');
      await page.waitForFunction(() => /is born/.test(document.querySelector('#fed').textContent));
      const young = (await clusters(page)).find(({ id }) => !before.includes(id));
      assert.ok((await answer(page)).novelty < 0.5);
      await page.fill(`#prototypes li[data-id="${young.id}"] .name`, 'star');
      await page.press(`#prototypes li[data-id="${young.id}"] .name`, 'Enter');
      await page.waitForFunction(() => /called star/.test(document.querySelector('#correction').textContent));
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
      const saved = await clusters(page);
      await page.reload();
      await page.waitForSelector('#prototypes li');
      await page.setInputFiles('#file', { name: 'mine.safetensors', mimeType: '', buffer: readFileSync(await download.path()) });
      await page.waitForFunction(() => /a model of/.test(document.querySelector('#data-note').textContent));
      assert.deepEqual(await clusters(page), saved);
      await draw(page, STAR);
      assert.match((await answer(page)).text, /Looks like star/);
      assert.deepEqual(errors, []);
      await page.close();
    });
  });
}

test('merge and undo', async () => {
  const { page, errors } = await place.visit();
  await know(page, 3);
  const before = await clusters(page);
  await page.click('#prototypes li[data-id="1"] .choose');
  await page.click('#prototypes li[data-id="2"] .choose');
  await page.click('#merge');
  const anyway = page.getByText('Do it anyway');
  await Promise.race([anyway.waitFor(), page.waitForFunction(() => /now part of/.test(document.querySelector('#correction').textContent))]).catch(() => {});
  if (await anyway.count()) await anyway.click();
  await page.waitForFunction((count) => document.querySelectorAll('#prototypes li').length === count - 1, before.length);
  await page.click('#undo');
  await page.waitForFunction((count) => document.querySelectorAll('#prototypes li').length === count, before.length);
  assert.deepEqual(await clusters(page), before);
  assert.deepEqual(errors, []);
  await page.close();
});

test('the pad and the map by keyboard', async () => {
  const { page } = await place.visit();
  await know(page, 2);
  await page.focus('#pad');
  await page.keyboard.press(' ');
  for (const key of ['ArrowRight', 'ArrowDown', 'ArrowLeft']) for (let i = 0; i < 8; ++i) await page.keyboard.press(key);
  assert.match((await answer(page)).text, /novelty \d/);
  await page.focus('#map');
  await page.keyboard.press('ArrowRight');
  await page.waitForSelector('#map-image:not([hidden])');
  await page.close();
});

// The page for everybody: what axe finds, keyboard, focus, announcements, small screens.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, describe, test } from 'node:test';

import { FULL, SIZES, SMALLEST, STAR, answer, begin, draw, replayed, sticksOut } from './page.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

async function inspect(page, state) {
  await page.evaluate(AXE);
  const { violations, passes } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  assert.ok(passes.length > 10, 'it has looked');
  const found = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) => `${state}: ${id}: ${nodes.map(({ html, failureSummary }) => `${html}\n  ${failureSummary}`).join('\n')}`,
    );
  assert.deepEqual(found, []);
  assert.ok(!(await sticksOut(page)), `${state}: nothing sticks out at the side`);
}

for (const [name, size, colorScheme, always] of [
  ['desktop, light', SIZES.desktop, 'light', true],
  ['desktop, dark', SIZES.desktop, 'dark', false],
  ['smallest phone, light', SMALLEST, 'light', false],
  ['smallest phone, dark', SMALLEST, 'dark', true],
]) {
  if (!always && !FULL) continue; // each size and each scheme once
  test(`no serious finding in any state: ${name}`, async () => {
    const { page, errors } = await place.visit(size, { colorScheme, query: '?streams=3', reducedMotion: 'reduce' });
    await page.waitForFunction(() => document.body.dataset.phase === 'learning');
    await inspect(page, 'learning');
    await replayed(page);
    await inspect(page, 'a cluster was born');
    await page.click('#prototypes li[data-id="1"] .choose');
    await page.click('#prototypes li[data-id="2"] .choose');
    await page.locator('.event').first().click();
    if (!(await page.locator('#sensitivity').isVisible())) await page.click('#more summary');
    await inspect(page, 'chosen, settings open');
    await draw(page, STAR);
    await answer(page);
    await inspect(page, 'drawn');
    await page.click('#copy-code');
    await inspect(page, 'dialog');
    await page.keyboard.press('Escape');
    await page.setInputFiles('#file', { name: 'broken.csv', mimeType: '', buffer: Buffer.from('a,b\n1,2\n3,x\n') });
    await page.waitForSelector('#data-error:not([hidden])');
    await inspect(page, 'an error');
    await page.goto(new URL('maths.html', page.url()).href);
    await inspect(page, 'maths');
    assert.deepEqual(errors, []);
    await page.close();
  });
}

describe('keyboard', () => {
  test('everything that a pointer reaches, in the order of the page, with a focus that is seen', async () => {
    const { page } = await place.visit(SIZES.desktop, { query: '?streams=2' });
    await replayed(page);
    const wanted = await page.evaluate(() =>
      [...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
        .filter(
          (element) => element.checkVisibility() && !element.disabled && element.tabIndex >= 0 && (element.type !== 'radio' || element.checked) && !element.closest('dialog'),
        )
        .map((element) => {
          element.dataset.stop = element.id || element.getAttribute('aria-label') || element.textContent.trim();
          return element.dataset.stop;
        }),
    );
    assert.ok(wanted.length > 25, `${wanted.length}`);
    const reached = [];
    for (let i = 0; i < wanted.length; ++i) {
      await page.keyboard.press('Tab');
      const { stop, seen } = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
        return { stop: document.activeElement.dataset.stop, seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
      });
      assert.ok(seen, `${stop} shows that it has the focus`);
      reached.push(stop);
    }
    assert.deepEqual(reached, wanted);
    await page.close();
  });

  test('the skip link leads to the pad, a hook to what it speaks of', async () => {
    const { page } = await place.visit();
    await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
    await page.keyboard.press('Tab');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Skip/);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'pad');
    await page.focus('button[data-go="map"]');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'map');
    await page.click('button[data-sensitivity="4"]');
    await page.waitForFunction(() => document.querySelector('#sensitivity-text').textContent === '4×');
    await page.close();
  });

  test('tabs of the code go by arrows', async () => {
    const { page } = await place.visit();
    await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
    await page.focus('#copy-code');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'C', exact: true }).focus();
    await page.keyboard.press('ArrowLeft');
    assert.equal(await page.getByRole('tab', { selected: true }).textContent(), 'JavaScript');
    assert.match(await page.textContent('#code-text'), /import \{ AdapVAE \}/);
    await page.close();
  });
});

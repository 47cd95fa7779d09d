// Pictures of the page's states, light and dark, large and small, into docs/web. usage: screenshots.mjs
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { SIZES, STAR, answer, begin, draw } from './page.mjs';

const SOURCE = process.env.ADAPVAE_SOURCE;
const OUT = join(SOURCE, 'docs/web');
const MOST_BYTES = 2_500_000;
mkdirSync(OUT, { recursive: true });

let bytes = 0;
const place = await begin();

async function walk(size, scheme) {
  const { page } = await place.visit(SIZES[size], { colorScheme: scheme, query: '?speed=2' });
  const session = await page.context().newCDPSession(page);
  const shoot = async (state, target = null) => {
    await page.evaluate((id) => {
      const top = id ? document.querySelector(id).closest('section').getBoundingClientRect().top + scrollY - 12 : 0;
      scrollTo({ top, behavior: 'instant' });
    }, target);
    await page.waitForTimeout(700); // what moves has moved
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 82 });
    const image = Buffer.from(data, 'base64');
    writeFileSync(join(OUT, `${state}-${size}-${scheme}.webp`), image);
    bytes += image.length;
    console.log(`${state}-${size}-${scheme}: ${Math.round(image.length / 1024)} KB`);
  };

  await page.waitForFunction(() => /Row \d\d\d of/.test(document.querySelector('#tally').textContent));
  await shoot('start');
  await page.waitForFunction(() => document.querySelector('#birth-title').textContent === 'Cluster 3 is born', null, {
    timeout: 90_000,
  });
  await page.click('#play');
  await shoot('birth');
  await page.click('#play');
  await page.selectOption('#speed', '16');
  await page.waitForFunction(
    () => document.querySelectorAll('#prototypes li').length >= 5 && document.body.dataset.phase === 'resting',
    null,
    { timeout: 180_000 },
  );
  await page.click('#play');
  await page.waitForFunction(() => document.body.dataset.phase !== 'learning');
  await draw(page, STAR);
  await answer(page);
  await shoot('drawn', '#pad');
  await page.click('#feed');
  await page.waitForFunction(() => /is born/.test(document.querySelector('#fed').textContent), null, { timeout: 60_000 });
  const id = await page.$$eval('#prototypes li', (cards) => cards.at(-1).dataset.id);
  await page.fill(`#prototypes li[data-id="${id}"] .name`, 'star');
  await page.press(`#prototypes li[data-id="${id}"] .name`, 'Enter');
  await shoot('own-cluster', '#prototypes');
  await page.focus('#map');
  for (let i = 0; i < 5; ++i) await page.keyboard.press('ArrowRight');
  await page.waitForSelector('#map-image:not([hidden])');
  await shoot('map', '#map');
  await page.locator('.event').last().click();
  await shoot('timeline', '#timeline');
  await page.click('#copy-code');
  await shoot('code');
  await page.keyboard.press('Escape');
  await shoot('text', '#words-title');
  await page.click('#forgetting-go');
  await page.waitForSelector('#forgetting-stop', { state: 'hidden', timeout: 240_000 });
  await shoot('forgetting', '#forgetting-title');
  await page.setInputFiles('#file', join(SOURCE, 'examples/data/landsat.csv'));
  await page.waitForSelector('#preview[open]');
  await shoot('preview');
  await page.click('#preview-learn');
  await page.waitForFunction(() => document.querySelectorAll('#prototypes li').length >= 3, null, { timeout: 90_000 });
  await shoot('own-data');
  for (const source of ['vibration', 'blobs']) {
    await page.check(`#sources input[value="${source}"]`);
    await page.waitForFunction(() => document.querySelectorAll('#prototypes li').length >= 3, null, { timeout: 90_000 });
    await shoot(source);
  }
  await page.close();
}

for (const size of Object.keys(SIZES)) for (const scheme of ['light', 'dark']) await walk(size, scheme);
await place.end();
console.log(`${Math.round(bytes / 1024)} KB in all`);
if (bytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes of pictures`);

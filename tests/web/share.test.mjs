// What is taken away from the page works elsewhere: link, code, report, score.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';

import { SIZES, begin, clusters, replayed } from './page.mjs';

const SOURCE = process.env.ADAPVAE_SOURCE;
const COPIES = { permissions: ['clipboard-read', 'clipboard-write'] };
let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

const saved = async (page, button) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  return readFileSync(await download.path());
};

// What a program of the page answers to rows: [id, novelty] of each.
function compiled(compiler, flags, name, text, rows) {
  const library = join(SOURCE, process.env.ADAPVAE_LIBRARY ?? 'build/release/capi/libadapvae.a');
  assert.ok(existsSync(library), `${library} is needed: ./run build`);
  const folder = mkdtempSync(join(tmpdir(), 'adapvae-code-'));
  const [file, program] = [join(folder, name), join(folder, 'program')];
  writeFileSync(file, text);
  execFileSync(compiler, [
    ...flags,
    '-Wall',
    '-Wextra',
    '-Werror',
    '-I',
    join(SOURCE, 'capi/include'),
    file,
    library,
    '-lm',
    '-o',
    program,
  ]);
  const lines = execFileSync(program, { input: Buffer.from(rows.buffer), maxBuffer: 1e8, encoding: 'utf8' })
    .trim()
    .split('\n');
  return lines.map((line) => line.split(' ').map(Number));
}

describe('a link', () => {
  test('brings a fresh page to the same model, byte for byte', async () => {
    const { page, errors } = await place.visit(SIZES.desktop, COPIES);
    await page.selectOption('#speed', '16');
    await page.waitForFunction(() => document.querySelector('#stream-title').textContent.startsWith('Stream 2'));
    // From here on with another line: the link must know since when.
    await page.fill('#sensitivity', '1');
    await page.waitForFunction(() => document.querySelector('#stream-title').textContent.startsWith('Stream 3'), null, {
      timeout: 60_000,
    });
    await page.click('#play');
    await page.waitForFunction(() => document.body.dataset.phase !== 'learning');
    await page.fill('#sensitivity', '2'); // and again after the last stream
    await page.waitForFunction(() => document.querySelector('#sensitivity-text').textContent === '4×');
    await page.click('#copy-link');
    await page.waitForFunction(() => /link is copied/.test(document.querySelector('#share-note').textContent));
    const link = await page.evaluate(() => navigator.clipboard.readText());
    // On a slow machine a stream may have begun before its line was set.
    assert.match(new URL(link).search, /^\?seed=2&sensitivity=1(,1)?(,2){0,2},4&speed=16&streams=[23]$/);
    const other = await place.visit(SIZES.phone, { query: new URL(link).search });
    await replayed(other.page);
    assert.deepEqual(await clusters(other.page), await clusters(page));
    assert.deepEqual(await saved(other.page, '#save'), await saved(page, '#save'));
    assert.equal(await other.page.inputValue('#speed'), '16');
    assert.equal(await other.page.textContent('#sensitivity-text'), '4×');
    await other.page.click('#play'); // and goes on
    await other.page.waitForFunction(() => document.body.dataset.phase === 'arriving');
    assert.deepEqual([...errors, ...other.errors], []);
    await page.close();
    await other.page.close();
  });

  test('that is wrong says so and plays what it can', async () => {
    const { page, errors } = await place.visit(SIZES.desktop, {
      query: '?source=cats&seed=-3&sensitivity=1,x&streams=1e9&speed=3',
    });
    const said = await page.waitForSelector('#complaint:not([hidden])').then((element) => element.textContent());
    for (const part of [/source “cats” is not one of .*digits/, /seed “-3”/, /sensitivity “1,x”/, /streams “1e9”/, /speed “3”/])
      assert.match(said, part);
    await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
    assert.equal(await page.textContent('#fact-seed'), '2');
    assert.deepEqual(errors, []);
    await page.close();
  });

  test('cannot bring back own rows, and says so; their settings are code that compiles', async () => {
    const { page } = await place.visit();
    await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
    await page.setInputFiles('#file', join(SOURCE, 'examples/data/landsat.csv'));
    await page.click('#preview-learn');
    await page.waitForFunction(() => document.body.dataset.source !== 'digits');
    await page.click('#copy-link');
    await page.waitForFunction(() => /no link can bring them back/.test(document.querySelector('#share-note').textContent));
    await page.click('#copy-code');
    const rows = Float32Array.from(
      { length: 4 * 700 },
      (_, i) => 50 + 40 * (i % 4) * (Math.floor(i / 4) % 2) + ((i * 7919) % 100) / 50,
    );
    const answers = compiled('cc', ['-std=c99'], 'own.c', await page.textContent('#code-text'), rows);
    assert.equal(answers.length, 700);
    assert.ok(
      answers.slice(300).some(([id, novelty]) => id > 0 && novelty < 0.5),
      'it has learnt',
    );
    await page.close();
  });
});

describe('code', () => {
  const texts = {};
  // 600 digits of two kinds: 500 are a stream, 100 more of the same come after it.
  const idx = (name) => gunzipSync(readFileSync(join(SOURCE, `examples/data/mnist-5000-${name}.idx.gz`)));
  const [images, labels] = [idx('images').subarray(16), idx('labels').subarray(8)];
  const chosen = [...labels.keys()].filter((i) => labels[i] < 2).slice(0, 600);
  const rows = Float32Array.from(
    { length: chosen.length * 784 },
    (_, i) => images[chosen[Math.floor(i / 784)] * 784 + (i % 784)] / 255,
  );

  before(async () => {
    const { page } = await place.visit(SIZES.desktop, { ...COPIES, query: '?seed=5&sensitivity=2' });
    await page.waitForFunction(() => document.body.dataset.phase === 'arriving');
    await page.click('#copy-code');
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click();
      await page.click('#code-copy');
      await page.waitForFunction(() => /copied/.test(document.querySelector('#code-note').textContent));
      texts[await tab.textContent()] = await page.evaluate(() => navigator.clipboard.readText());
    }
    await page.keyboard.press('Escape');
    assert.ok(!(await page.locator('#code-dialog').isVisible()));
    assert.equal(await page.evaluate(() => document.activeElement.id), 'copy-code', 'the focus is back where it was');
    await page.close();
  });

  test('has what the page is set to', () => {
    assert.deepEqual(Object.keys(texts), ['C', 'C++', 'Python', 'JavaScript']);
    for (const text of Object.values(texts))
      for (const part of [/browser/, /seed\D+5\b/, /sensitivity\D+2\b/, /false_alarm_rate\D+0\.05/]) assert.match(text, part);
  });

  const judge = (answers) => {
    assert.equal(answers.length, 600);
    assert.ok(
      answers.slice(0, 500).every(([id, novelty]) => id === 0 && novelty === 1),
      'nothing was learnt before',
    );
    assert.ok(new Set(answers.slice(500).map(([id]) => id)).size >= 2, 'at least two clusters');
    assert.ok(answers.slice(500).filter(([, novelty]) => novelty < 0.5).length > 60, 'what was learnt is known');
  };
  let fromC;
  test('in C compiles without a warning and runs', () => {
    fromC = compiled('cc', ['-std=c99'], 'watch.c', texts['C'], rows);
    judge(fromC);
  });
  test('in C++ does the same', () => {
    assert.deepEqual(compiled('c++', ['-std=c++20', '-lstdc++'], 'watch.cpp', texts['C++'], rows), fromC);
  });
  test('in JavaScript runs with the package and comes to the same', async () => {
    const file = join(import.meta.dirname, 'watch.mjs');
    writeFileSync(file, texts['JavaScript']);
    const { watch } = await import(pathToFileURL(file));
    const first = watch(rows.subarray(0, 500 * 784));
    assert.ok(first.novelty.every((value) => value === 1));
    assert.ok(first.clusters >= 2);
    const { novelty } = watch(rows.subarray(500 * 784));
    const known = (values) => values.filter((value) => value < 0.5).length;
    const native = known(fromC.slice(500).map(([, value]) => value));
    assert.ok(Math.abs(known([...novelty]) - native) <= 10, `${known([...novelty])} of 100 are known, natively ${native}`);
  });
});

describe('the report', () => {
  test('is one file that needs no network, and has what the page has', async () => {
    const { page, errors } = await place.visit(SIZES.desktop, { query: '?streams=3&speed=16' });
    await replayed(page);
    await page.fill('#prototypes li[data-id="1"] .name', '<b>one</b>');
    await page.press('#prototypes li[data-id="1"] .name', 'Enter');
    await page.waitForFunction(() => /is called/.test(document.querySelector('#correction').textContent));
    const known = await clusters(page);
    const text = (await saved(page, '#save-report')).toString();
    const context = await place.browser.newContext({ offline: true, colorScheme: 'dark', viewport: { width: 320, height: 640 } });
    const report = await context.newPage();
    const asked = [];
    report.on('request', (request) => asked.push(request.url()));
    const file = pathToFileURL(join(mkdtempSync(join(tmpdir(), 'adapvae-report-')), 'report.html'));
    writeFileSync(file, text);
    await report.goto(file.href);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith('data:')),
      [file.href],
    );
    assert.equal(await report.locator('.protos img').count(), known.length);
    assert.ok((await report.locator('#timeline tbody tr', { hasText: 'born' }).count()) >= known.length - 1);
    assert.match(await report.textContent('.protos'), /<b>one<\/b>/, 'a name is text, not markup');
    const nmi = Number(
      /(0\.\d\d)NMI by clusters|NMI by clusters(0\.\d\d)/
        .exec(await report.textContent('.tiles'))
        .slice(1)
        .find(Boolean),
    );
    assert.ok(nmi > 0.7, `${nmi}`);
    assert.match(await report.textContent('#settings'), /browser.*seed.*2/s);
    assert.ok(
      await report.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
      'nothing sticks out',
    );
    assert.deepEqual(errors, []);
    await context.close();
    await page.close();
  });
});

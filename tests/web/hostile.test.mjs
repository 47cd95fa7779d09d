// Files that claim or hold what nobody would: the page stays alive, and runs nothing out of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

import { preview as servePreview } from 'vite';

import { open } from './browser.mjs';
import { png } from './files.mjs';
import { forged, modelOf } from './models.mjs';
import { FULL, SIZES, begin, drop, longestTask, pause, preview, text } from './page.mjs';

const SOURCE = process.env.ADAPVAE_SOURCE;
const LONGEST = 200; // milliseconds of a task: a page that takes longer is felt to hang
const BAD_NAME = '<img src=x onerror=bad=1>';
const folder = mkdtempSync(join(tmpdir(), 'adapvae-hostile-'));
let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

const file = (name, data) => {
  const path = join(folder, name);
  writeFileSync(path, data);
  return path;
};
const started = async () => {
  const visit = await place.visit();
  await visit.page.waitForFunction(() => document.body.dataset.phase === 'arriving');
  await pause(visit.page);
  return visit;
};
const saved = async (page, button) => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  return readFileSync(await download.path());
};
// All ways to make a program out of text that a page has. None may work.
const inject = (page) =>
  page.evaluate(async () => {
    const code = 'window.bad = 1';
    const markup = `<img src="data:," onerror="${code}"><svg onload="${code}"></svg><iframe srcdoc="<script>parent.bad = 1</script>"></iframe>`;
    const made = (name, values) => Object.assign(document.createElement(name), values);
    const ways = [
      () => document.body.append(made('script', { textContent: code })),
      () => document.body.append(made('script', { src: `data:text/javascript,${code}` })),
      () => document.body.insertAdjacentHTML('beforeend', markup),
      () => (document.body.appendChild(document.createElement('div')).innerHTML = markup),
      () => document.body.append(document.createRange().createContextualFragment(`<script>${code}</script>`)),
      () => {
        const button = document.createElement('button');
        button.setAttribute('onclick', code);
        button.click();
      },
      () => (document.createElement('a').href = `javascript:${code}`),
      () => setTimeout(code),
      () => new Worker(URL.createObjectURL(new Blob([code]))),
    ];
    for (const way of ways) {
      try {
        way();
      } catch {
        // so it should be
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    return window.bad;
  });

describe('a model', () => {
  test('that claims four billion blocks opens at once, is drawn, and goes on', async () => {
    for (const streams of ['4000000000', '4294967280']) {
      const { page, errors } = await started();
      const path = file('many-blocks.safetensors', forged(await modelOf(), { 'adapvae.streams': streams, 'adapvae.rows': '4000000000000' }));
      const longest = await longestTask(page, async () => {
        await page.setInputFiles('#file', path);
        await text(page, '#data-note', /a model of \d+ clusters that has learnt 4000000000000 rows/, 20_000);
        await page.waitForSelector('#timeline svg line', { state: 'attached' });
      });
      console.log(`${streams} blocks: longest task ${longest.toFixed(0)} ms`);
      assert.ok(longest < LONGEST, `${longest} ms`);
      const drawn = await page.$eval('#timeline', (box) => ({
        width: box.scrollWidth,
        texts: [...box.querySelectorAll('svg text')].map(({ textContent }) => textContent),
      }));
      assert.ok(drawn.width < 10_000 && drawn.texts.length > 2 && drawn.texts.length < 200, JSON.stringify(drawn));
      assert.ok(drawn.texts.includes('2,000,000,000'), drawn.texts.join());
      await page.selectOption('#speed', '16');
      await page.click('#play');
      // The second has as many as there can be.
      if (streams === '4000000000') await text(page, '#fact-rows', /^4,000,000,000,[1-9]/);
      else await text(page, '#failure', /./);
      await pause(page);
      const report = (await saved(page, '#save-report')).toString();
      assert.ok(report.length < 1e6 && /4,000,000,00[1-9]|4,294,967,280/.test(report), 'the report has it, too');
      assert.deepEqual(errors, []);
      await page.close();
    }
  });

  test('of more clusters than can be shown: the largest are, and the page says so', async () => {
    const many = await modelOf(
      { max_clusters: 400, undo_steps: 0 },
      (model) => {
        while (model.info().clusters < 210) {
          const { id } = model.clusters().reduce((a, b) => (b.rows > a.rows ? b : a));
          model.split(id, { force: true });
        }
        for (const { id } of model.clusters()) model.label(id, BAD_NAME);
      },
      1500,
    );
    const { page, errors } = await started();
    const longest = await longestTask(page, async () => {
      await page.setInputFiles('#file', file('many.safetensors', many));
      await text(page, '#data-note', /a model of 210 clusters/);
      await text(page, '#known-more', /^These are the 200 largest of 210 clusters\.$/);
      await page.waitForTimeout(500);
    });
    console.log(`210 clusters: longest task ${longest.toFixed(0)} ms`);
    assert.ok(longest < LONGEST, `${longest} ms`);
    assert.equal(await page.locator('#prototypes li').count(), 200);
    assert.equal(await page.inputValue('#prototypes li .name >> nth=0'), BAD_NAME);
    const lanes = await page.locator('#timeline .lane-id').count();
    assert.ok(lanes > 100 && lanes <= 200, `${lanes}`);
    const report = (await saved(page, '#save-report')).toString();
    assert.match(report, /These are the 200 largest of 210 clusters/);
    assert.ok(!report.includes('<img src=x'), 'a name is text');
    assert.equal(await page.evaluate(() => window.bad), undefined);
    assert.deepEqual(errors, []);
    await page.close();
  });
});

describe('compressed files', () => {
  let visit;
  before(async () => {
    visit = await started();
  });
  after(async () => {
    assert.deepEqual(visit.errors, []);
    await visit.page.close();
  });
  const refused = async (name, data, what, dropped = false) => {
    const { page } = visit;
    await page.setInputFiles('#file', file(name, data));
    await text(page, '#data-error', new RegExp(`^${name}, .*${what.source}`), 60_000);
    if (!dropped) return;
    await drop(page, { name: `dropped-${name}`, data });
    await text(page, '#data-error', new RegExp(`^dropped-${name}, .*${what.source}`));
  };
  const BYTES = 120_000_000;
  const twice = (data) => gzipSync(gzipSync(data));

  test('one within another is refused, rows or a model', async () => {
    await refused('rows.csv.gz.gz', twice('1,2\n3,4\n'), /a gzip file within a gzip file/, true);
    await refused('model.gz.gz', twice(await modelOf()), /a gzip file within a gzip file/, true);
  });
  test('one level is read', async () => {
    await visit.page.setInputFiles('#file', file('model.safetensors.gz', gzipSync(await modelOf())));
    await text(visit.page, '#data-note', /a model of \d+ clusters/);
  });
  test('a small file of very many bytes is refused, and the message names the limit', async () => {
    await refused('zeros.gz', gzipSync(Buffer.alloc(250_000_000)), /more than 200000000 bytes are in this gzip file/);
  });
  test('so is one whose bytes would be very many lines or cells', async () => {
    await refused('lines.gz', gzipSync(Buffer.alloc(BYTES, '\n')), /there is no row/);
    await refused('cells.gz', gzipSync(Buffer.alloc(BYTES, 'a,')), /rows of more than 65536 cells are too long/);
    if (!FULL) return;
    await refused('rows.gz', gzipSync(Buffer.alloc(BYTES, '1\n')), /more than 50000000 rows of 1 numbers are too many/);
    await refused('long.gz', gzipSync(Buffer.concat([Buffer.from('1,2\n'), Buffer.alloc(BYTES, '3,')])), /line 2: more than 2 cells where there should be 2/);
  });
  test('and a picture of a few bytes that claims very many pixels', async () => {
    const picture = png(4, 4, () => 0);
    picture.writeUInt32BE(60_000, 16);
    picture.writeUInt32BE(60_000, 20);
    await refused('bomb.png', picture, /a picture of 60000 × 60000 pixels is too large/);
  });
});

describe('the policy', () => {
  test('is in the page, lets no text become a program, and a journey keeps to it', async () => {
    const { page, errors } = await started();
    const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content');
    assert.match(policy, /default-src 'none'; script-src 'self' 'wasm-unsafe-eval';/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'? |\*/);
    await drop(page, { name: `${BAD_NAME}.csv`, data: `${BAD_NAME},<script>bad=1</script>\n${'1,2\n3,4\n'.repeat(100)}` });
    await preview(page);
    assert.equal(await page.textContent('#preview-rows th >> nth=1'), BAD_NAME, 'a header is text');
    await page.click('#preview-learn');
    await page.waitForFunction(() => document.body.dataset.source === 'own');
    await text(page, '#stream-title', /rows 1 to 200 of 200/);
    assert.deepEqual(errors, []);
    assert.equal(await inject(page), undefined);
    assert.ok(errors.length > 0, 'the browser has told of what it did not do');
    await page.close();
  });

  test('comes as a header, too, from the server of ./run web; the page and its workers live with it', async () => {
    const server = await servePreview({ root: '..', configFile: '../vite.config.ts', preview: { port: 0, host: '127.0.0.1' }, logLevel: 'silent' });
    const { port } = server.httpServer.address();
    const address = `http://127.0.0.1:${port}`;
    const sent = (await fetch(`${address}/index.html`)).headers.get('content-security-policy');
    assert.match(sent ?? '', /default-src 'none'.*frame-ancestors 'none'/);
    const { page, errors } = await open(place.browser, address, '/index.html?streams=1&speed=16', { viewport: SIZES.desktop });
    await page.waitForFunction(() => document.querySelectorAll('#prototypes li').length >= 2, null, { timeout: 60_000 });
    await page.waitForFunction(() => document.querySelector('#fact-offline').textContent === 'yes', null, { timeout: 30_000 });
    await drop(page, { name: 'rows.csv', data: 'a,b\n1,2\n3,4\n' });
    await preview(page);
    await page.goto(`${address}/maths.html`);
    assert.equal(await page.$eval('main', (main) => getComputedStyle(main).maxWidth), '820px', 'it has its style');
    assert.deepEqual(errors, []);
    await page.close();
    await server.close();
  });
});

// Opened from a file, as people do.
async function openReport(path) {
  const { page, errors } = await open(place.browser, pathToFileURL(path).href, '', { viewport: SIZES.desktop, offline: true });
  const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content');
  assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; base-uri 'none'; form-action 'none'$/);
  assert.equal(await page.$eval('body', (body) => getComputedStyle(body).margin), '0px', 'the style is there');
  assert.ok(await page.$$eval('img', (all) => all.every(({ naturalWidth }) => naturalWidth > 0)), 'pictures are there');
  const details = page.locator('details').first();
  if (await details.count()) {
    await details.locator('summary').click();
    assert.ok(await details.evaluate((element) => element.open), 'a table opens');
  }
  const link = page.locator('nav a').last();
  if (await link.count()) {
    await link.click();
    assert.match(page.url(), /#\w+$/);
  }
  assert.deepEqual(errors, []);
  assert.equal(await inject(page), undefined);
  assert.ok(errors.length > 0, 'the browser has told of what it did not do');
  await page.close();
}

describe('a report', () => {
  test('of the page runs nothing, and works', async () => {
    const { page } = await place.visit(SIZES.desktop, { query: '?streams=1&speed=16' });
    await page.waitForFunction(() => document.querySelectorAll('#prototypes li').length >= 2, null, { timeout: 60_000 });
    await pause(page);
    const path = file('page.html', await saved(page, '#save-report'));
    await page.close();
    await openReport(path);
  });

  test('of the program runs nothing, and works', async () => {
    const program = join(SOURCE, process.env.ADAPVAE_PROGRAM ?? 'build/release/adapvae');
    const rows = Array.from({ length: 300 }, (_, i) => [(i % 3) + Math.sin(i), Math.cos(i), `${BAD_NAME}${i % 3}`].join());
    const path = join(folder, 'program.html');
    execFileSync(program, ['learn', '--labels', 'kind', '--report', path, '--title', BAD_NAME, '--set', 'pretrain_epochs=5', '-q'], {
      input: `${BAD_NAME},y,kind\n${rows.join('\n')}\n`,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    assert.ok(!readFileSync(path, 'utf8').includes('<img src=x'), 'names are text');
    await openReport(path);
  });
});

// Other streams than the digits: those that the page makes, and a person's own.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { idx, npy, npyHeader, png } from './files.mjs';
import { SIZES, begin, clusters, drop, longestTask, paste, pause, preview, text, waitForClusters, testOfTasks } from './page.mjs';

const example = (name) => readFileSync(join(process.env.ADAPVAE_SOURCE, 'examples/data', name));
const landsat = { name: 'landsat.csv', data: example('landsat.csv') };

let place;
before(async () => {
  place = await begin();
});
after(() => place.end());

async function visit(size) {
  const { page, errors } = await place.visit(size);
  await page.selectOption('#speed', '16');
  await waitForClusters(page, 2);
  return { page, errors };
}
const choose = (page, id) => page.check(`#sources input[value=${id}]`, { force: true }); // the label's text lies over it
const chosen = (page) => page.$eval('#sources input:checked', ({ value }) => value);
// Points around three places.
const points = (count, width = 2) =>
  Array.from({ length: count }, (_, i) => Array.from({ length: width }, (_, j) => 5 * Math.sin((i % 3) * 2 + j) + Math.sin(12.9898 * (i * width + j + 1)) * 0.4));

test('vibration: a fault becomes a cluster; rows are lines, the pad is away and comes back', async () => {
  const { page, errors } = await visit();
  await choose(page, 'vibration');
  await text(page, '#stream-title', /a fault of the outer ring/);
  assert.match(await page.textContent('#lead'), /simulated/);
  assert.ok(await page.isHidden('#pad-section'));
  await text(page, '#birth-title', /Cluster 2 (is|was) born/);
  assert.match(await page.textContent('#birth-reason'), /nearest to cluster 1 until now/);
  const drawn = await page.$eval('#prototypes li canvas', (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return new Set(data).size;
  });
  assert.ok(drawn > 4, 'there is a picture');
  await text(page, '#stage', /That is all/, 60_000);
  assert.equal((await clusters(page)).length, 4);
  await choose(page, 'digits');
  await page.waitForSelector('#pad-section:not([hidden])');
  await text(page, '#stream-title', /0 and 1/);
  assert.deepEqual(errors, []);
  await page.close();
});

for (const [name, size] of Object.entries(SIZES)) {
  test(`blobs, ${name}: three are followed, a fourth is born; the plane answers to pointer and keys`, async () => {
    const { page, errors } = await visit(size);
    await choose(page, 'blobs');
    await text(page, '#birth-title', /It found 3 clusters by itself/);
    await text(page, '#stream-title', /then also a fourth blob/);
    await text(page, '#birth-title', /Cluster 4 (is|was) born/);
    await page.focus('#input-map');
    await page.keyboard.press('ArrowRight');
    await text(page, '#input-map-answer', /novelty 0\.\d\d; nearest: cluster 4/); // beside the middle, where the fourth is
    await page.locator('#input-map').hover({ position: { x: 3, y: 3 } });
    await text(page, '#input-map-answer', /novelty (1\.00|0\.9\d)/);
    assert.ok(!(await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)), 'nothing sticks out');
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test('what is chosen last is what plays, however fast one chooses', async () => {
  const { page, errors } = await visit();
  for (const id of ['vibration', 'blobs', 'digits', 'vibration', 'blobs']) await choose(page, id);
  await text(page, '#stream-title', /blobs/);
  await page.waitForTimeout(1000);
  assert.equal(await chosen(page), 'blobs');
  assert.ok(await page.isHidden('#failure'));
  assert.deepEqual(errors, []);
  await page.close();
});

test('a broken CSV names its line and changes nothing; a good one is shown, and learnt without its words', async () => {
  const { page, errors } = await visit();
  await drop(page, { name: 'broken.csv', data: 'a,b\n1,2\n3,4\n5,six\n' });
  await page.waitForSelector('#data-error:not([hidden])');
  assert.match(await page.textContent('#data-error'), /broken\.csv, line 4: “six” in “b” is not a number/);
  assert.ok((await clusters(page)).length >= 2, 'what was there is still there');
  await drop(page, { name: 'short.csv', data: '1,2\n3\n' });
  await text(page, '#data-error', /line 2: 1 cells where there should be 2/);
  assert.equal(await chosen(page), 'digits');
  await drop(page, landsat);
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /2,800 rows of 4 numbers and 1 of words/);
  assert.deepEqual(await page.$$eval('#preview-rows thead th', (cells) => cells.map((cell) => cell.textContent)), ['row', 'green', 'red', 'infrared1', 'infrared2', 'ground']);
  assert.match(await page.textContent('#preview-column-list label:last-child'), /ground.*words, not numbers/);
  assert.ok(await page.isDisabled('#preview-column-list label:last-child input'));
  assert.equal(await page.inputValue('#preview-scaling'), 'standardise');
  await page.click('#preview-learn');
  await text(page, '#data-note', /landsat\.csv: 4 numbers a row/);
  assert.equal(await chosen(page), 'own');
  await waitForClusters(page, 3);
  // It can be chosen again after something else.
  await choose(page, 'blobs');
  await text(page, '#stream-title', /blobs/);
  await choose(page, 'own');
  await text(page, '#stream-title', /landsat\.csv: rows 1 to 300 of 2800/);
  assert.deepEqual(errors, []);
  await page.close();
});

test('a column is left out; a model of such rows is saved, opened, and goes on', async () => {
  const { page, errors } = await visit();
  await drop(page, landsat);
  await preview(page);
  await page.uncheck('#preview-column-list label:nth-child(2) input');
  await text(page, '#preview-note', /3 numbers a row, 10 streams/);
  await page.fill('#preview-stream', '700');
  await text(page, '#preview-note', /3 numbers a row, 4 streams/);
  await page.selectOption('#preview-scaling', 'range');
  await page.click('#preview-learn');
  await text(page, '#data-note', /3 numbers a row/);
  await text(page, '#stage', /That is all/, 60_000);
  const saved = await clusters(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
  const data = readFileSync(await download.path());
  await page.reload();
  await waitForClusters(page, 2);
  await drop(page, { name: 'mine.safetensors', data });
  await text(page, '#data-note', /a model of \d+ clusters that has learnt 2800 rows of 3 numbers/);
  assert.deepEqual(await clusters(page), saved);
  assert.match(await page.textContent('#lead'), /rows of 3 numbers/);
  // Rows of another width begin anew; of the same width they may go on.
  await drop(page, landsat);
  await preview(page);
  assert.ok(await page.isHidden('#preview-go-on-label'));
  await page.uncheck('#preview-column-list label:nth-child(2) input');
  await page.check('#preview-go-on');
  assert.equal(await page.inputValue('#preview-scaling'), 'range', 'as the model was taught');
  await page.click('#preview-learn');
  await text(page, '#stream-title', /rows 301 to 600/);
  await page.waitForFunction(() => Number(document.querySelector('#fact-rows').textContent.replace(',', '')) >= 3100);
  assert.deepEqual(errors, []);
  await page.close();
});

test('cancel and Escape change nothing', async () => {
  const { page, errors } = await visit();
  await pause(page);
  const state = () => page.evaluate(() => [document.querySelector('#prototypes').textContent, document.querySelector('#fact-rows').textContent, document.querySelectorAll('#sources input').length]);
  const before = await state();
  for (const leave of [() => page.click('#preview-cancel'), () => page.keyboard.press('Escape')]) {
    await drop(page, landsat);
    await preview(page);
    await leave();
    await page.waitForSelector('#preview:not([open])', { state: 'attached' });
  }
  assert.deepEqual(await state(), before);
  assert.deepEqual(errors, []);
  await page.close();
});

test('pasted rows, anywhere or into their field, by keyboard alone', async () => {
  const { page, errors } = await visit();
  const rows = points(200).map((row) => row.map((value) => value.toFixed(3)).join('\t')).join('\n');
  await paste(page, rows);
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /200 rows of 2 numbers\. Cells between tabs/);
  await page.keyboard.press('Escape');
  await page.focus('.paste summary');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.insertText(`x;y\n${rows.replaceAll('\t', ';')}`);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /200 rows of 2 numbers\. Cells between semicolons, with a header/);
  await page.focus('#preview-learn');
  await page.keyboard.press('Enter');
  await text(page, '#birth-title', /It found 3 clusters by itself/);
  // Text in a field that is someone else's stays there.
  await page.fill('#prototypes li .name', 'first');
  assert.ok(await page.isHidden('#preview'));
  assert.deepEqual(errors, []);
  await page.close();
});

test('NPY is learnt; a broken one says what is wrong', async () => {
  const { page, errors } = await visit();
  const data = Float64Array.from(points(240, 5).flat());
  await drop(page, { name: 'cut.npy', data: npy(npyHeader('<f8', [240, 5]), data).subarray(0, -8) });
  await text(page, '#data-error', /cut\.npy, byte 128: the shape 240 × 5 needs 9600 bytes, the file has 9592/);
  assert.ok((await clusters(page)).length >= 2);
  await drop(page, { name: 'rows.npy', data: npy(npyHeader('<f8', [240, 5]), data) });
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /240 rows of 5 numbers\. NPY f8, shape 240 × 5/);
  await page.click('#preview-learn');
  await text(page, '#birth-title', /It found 3 clusters by itself/);
  assert.deepEqual(errors, []);
  await page.close();
});

test('gzipped IDX images are shown and learnt; the pad is for images of its size alone', async () => {
  const { page, errors } = await visit();
  await drop(page, { name: 'none.idx', data: idx(5, [1, 1], [0]) });
  await text(page, '#data-error', /none\.idx, byte 2: 0x05 is no type of IDX numbers/);
  await drop(page, { name: 'digits8x8-images.idx.gz', data: example('digits8x8-images.idx.gz') });
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /images of 8 × 8/);
  assert.ok((await page.$$('#preview-rows canvas')).length > 10);
  assert.ok(await page.isHidden('#preview-columns'));
  assert.equal(await page.inputValue('#preview-scaling'), 'range', 'they are grey 0 to 16 only');
  await page.click('#preview-learn');
  await text(page, '#stream-title', /digits8x8-images\.idx\.gz: rows 1 to 300/);
  assert.ok(await page.isHidden('#pad-section'));
  await waitForClusters(page, 3);
  await drop(page, { name: 'mnist.gz', data: example('mnist-5000-images.idx.gz') });
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /5,000 rows of images of 28 × 28/);
  await page.click('#preview-learn');
  await text(page, '#stream-title', /mnist\.gz: rows 1 to 300 of 5000/);
  assert.ok(await page.isVisible('#pad-section'));
  assert.deepEqual(errors, []);
  await page.close();
});

test('pictures become rows, light on dark, and may go on with the model of digits', async () => {
  const { page, errors } = await visit();
  await pause(page);
  const before = await page.textContent('#fact-rows');
  // Dark rings on a light ground, wider than high.
  const rings = Array.from({ length: 30 }, (_, i) => ({
    name: `ring ${i}.png`,
    data: png(80, 56, (x, y) => (Math.abs(Math.hypot(x - 40 - (i % 5), y - 28) - 14 - (i % 3)) < 4 ? 20 : 240)),
  }));
  await drop(page, ...rings, { name: 'words.txt', data: '1,2\n' });
  await text(page, '#data-error', /31 pictures, words\.txt is not a picture; several files at once must all be pictures/);
  await drop(page, { name: 'half.png', data: rings[0].data.subarray(0, 20) });
  await text(page, '#data-error', /half\.png: a picture that this browser cannot read/);
  await drop(page, ...rings);
  await preview(page);
  assert.match(await page.textContent('#preview-facts'), /30 rows of images of 28 × 28\. Pictures made grey, 28 × 28, and light on dark/);
  const corner = await page.$eval('#preview-rows canvas', (canvas) => canvas.getContext('2d').getImageData(2, 2, 1, 1).data[0]);
  assert.ok(corner < 40, `the ground is dark: ${corner}`);
  await page.check('#preview-go-on');
  await page.click('#preview-learn');
  await page.waitForFunction((rows) => Number(document.querySelector('#fact-rows').textContent.replace(',', '')) === Number(rows.replace(',', '')) + 30, before);
  assert.deepEqual(errors, []);
  await page.close();
});

testOfTasks('a large file is read while the page stays alive', async () => {
  const { page, errors } = await visit();
  await pause(page);
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File([`${'1.25,2.5,3.75,4,5,6,7,8,9,10\n1,2,3,4,5,6,7,8,9,11\n'.repeat(100_000)}1,2,3,4,5,6,7,8,9,x\n`], 'large.csv'));
    return data;
  });
  const longest = await longestTask(page, async () => {
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await text(page, '#data-error', /large\.csv, line 200001: “x” in “column 10” is not a number/);
  });
  assert.deepEqual(errors, []);
  await page.close();
  return longest;
});

// What the page reads, and what it says about what it cannot read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { idx, npy, npyHeader } from './files.mjs';
import { readBytes } from './parts/parts.js';

const read = async (data) => (await readBytes(new Uint8Array(Buffer.from(data)))).table;
const refused = (data, what) => assert.rejects(read(data), ({ message }) => what.test(message) || assert.fail(message));
const rows = ({ rows: all, width, count }) => Array.from({ length: count }, (_, i) => [...all.subarray(i * width, (i + 1) * width)]);

test('CSV: headers, words, quotes, separators, ends of lines', async () => {
  const table = await read('\uFEFFname,"a, b",c\r\n"x ""1""",1,2.5\r\n\r\ny,-3e2,4\r\n');
  assert.deepEqual(rows(table), [[1, 2.5], [-300, 4]]);
  assert.deepEqual(table.columns.map(({ name, at }) => [name, at]), [['name', -1], ['a, b', 0], ['c', 1]]);
  assert.deepEqual(table.columns[0].words, ['x "1"', 'y']);
  assert.deepEqual([table.columns[1].low, table.columns[1].high], [-300, 1]);
  for (const text of ['1\t2\n3\t4', '1;2\n3;4\n', '1 2\n3  4\n', '1, 2\r3, 4\r']) assert.deepEqual(rows(await read(text)), [[1, 2], [3, 4]], text);
  assert.deepEqual(rows(await read('7\n8\n')), [[7], [8]]);
  assert.deepEqual(rows(await read(Buffer.from('\uFEFF1\t2\n', 'utf16le'))), [[1, 2]]);
});

test('CSV: an error names its line', async () => {
  await refused('a,b\n1,2\n3,4\n5,six\n', /^line 4: “six” in “b” is not a number$/);
  await refused('1,2\n\n3\n', /^line 3: 1 cells where there should be 2$/);
  await refused('1,2\n3,\n', /^line 2: the cell of “column 2” is empty$/);
  await refused('1,2\n"3,4\n', /^line 2: a quotation mark is not closed$/);
  await refused('1,2\n3,1e39\n', /^line 2: “1e39” in “column 2” is not a number$/); // not a finite float
  await refused('a,b\n', /^line 1: there is a header and no row/);
  await refused('a,b\nc,d\n', /^line 2: no cell of the first row is a number$/);
  await refused('a,b,c\n1,2\n', /^line 2: 2 cells; the header has 3$/);
  await refused('\n \n', /^line 1: there is no row$/);
  await refused('', /^the file is empty$/);
});

test('NPY: types, orders, versions, axes', async () => {
  const six = [[0, 1, 2], [3, 4, 5]];
  for (const [type, Numbers] of [['<f4', Float32Array], ['<f8', Float64Array], ['|i1', Int8Array], ['<i2', Int16Array], ['<u2', Uint16Array], ['<i4', Int32Array], ['<u4', Uint32Array], ['<i8', BigInt64Array], ['<u8', BigUint64Array]]) {
    const numbers = [0, 1, 2, 3, 4, 5].map((value) => (/8$/.test(type) && type !== '<f8' ? BigInt(value) : value));
    assert.deepEqual(rows(await read(npy(npyHeader(type, [2, 3]), Numbers.from(numbers)))), six, type);
  }
  assert.deepEqual(rows(await read(npy(npyHeader('<f4', [2, 3], true), Float32Array.of(0, 3, 1, 4, 2, 5)))), six);
  assert.deepEqual(rows(await read(npy(npyHeader('<f4', [2, 3]), Float32Array.of(0, 1, 2, 3, 4, 5), 2))), six);
  assert.deepEqual(rows(await read(npy(npyHeader('>i2', [2, 3]), Uint8Array.of(0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5)))), six);
  assert.deepEqual(rows(await read(npy(npyHeader('<f4', [3]), Float32Array.of(7, 8, 9)))), [[7], [8], [9]]);
  // [row, y, x] with the first axis fastest.
  const cube = await read(npy(npyHeader('|u1', [2, 2, 2], true), Uint8Array.of(0, 51, 102, 153, 204, 255, 0, 51)));
  assert.deepEqual(rows(cube).map((row) => row.map((value) => Math.round(255 * value))), [[0, 204, 102, 0], [51, 255, 153, 51]]);
  assert.deepEqual(cube.image, { width: 2, height: 2 });
  assert.equal((await read(npy(npyHeader('<f4', [1, 2, 2]), Float32Array.of(0, 1, 2, 3)))).image, null); // not in [0, 1]
});

test('NPY: an error says what is wrong and where', async () => {
  const good = npy(npyHeader('<f4', [2, 3]), new Float32Array(6));
  await refused(good.subarray(0, 11), /^byte 11: the file ends within its NPY header$/);
  await refused(good.subarray(0, 40), /^byte 8: the header should have \d+ bytes, the file ends after 30$/);
  await refused(good.subarray(0, good.length - 4), /^byte 128: the shape 2 × 3 needs 24 bytes, the file has 20$/);
  await refused(npy(npyHeader('<f4', [2, 0]), new Float32Array(0)), /axis 1 of the shape has no entry/);
  await refused(npy(npyHeader('<f4', []), new Float32Array(1)), /an array with an axis of rows/);
  await refused(npy(npyHeader('<c8', [1]), new Float32Array(2)), /type '<c8' are not read; save numpy\.float32/);
  await refused(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", new Float32Array(1)), /type \[\('a', '<f4'\)\] are not read/);
  await refused(npy("{'descr': '<f4', 'fortran_order': False, }", new Float32Array(1)), /^byte 10: the header has no shape$/);
  await refused(npy(npyHeader('<f4', [100000, 100000]), new Float32Array(1)), /10000000000 numbers are too many/);
  await refused(npy(npyHeader('<f4', [2, 2]), Float32Array.of(1, 2, 3, NaN)), /^row 2, column 2: a number that is not finite$/);
  await refused(npy(npyHeader('<f8', [1]), Float64Array.of(1e300)), /^row 1, column 1: a number that is not finite$/);
  const newer = Buffer.from(good);
  newer[6] = 9;
  await refused(newer, /^byte 6: version 9 of NPY is not known$/);
});

test('IDX, also gzipped', async () => {
  const table = await read(idx(8, [2, 1, 2], [0, 255, 51, 102]));
  assert.deepEqual(rows(table).map((row) => row.map((value) => Math.round(255 * value))), [[0, 255], [51, 102]]);
  assert.deepEqual(table.image, { width: 2, height: 1 });
  assert.deepEqual(rows(await read(gzipSync(idx(0x0b, [2, 1], [255, 255, 1, 0])))), [[-1], [256]]);
  const floats = Buffer.alloc(8);
  floats.writeFloatBE(1.5, 0);
  floats.writeFloatBE(-2, 4);
  assert.deepEqual(rows(await read(idx(0x0d, [1, 2], floats))), [[1.5, -2]]);
  await refused(idx(7, [1], [0]), /^byte 2: 0x07 is no type of IDX numbers$/);
  await refused(idx(8, [2, 2], [0, 1, 2]), /^byte 12: the shape 2 × 2 needs 4 bytes, the file has 3$/);
  await refused(idx(8, [2, 0], []), /axis 1 of the shape has no entry/);
  await refused(Buffer.from([0, 0, 8, 3, 0, 0, 0, 2]), /^byte 8: the file ends within the lengths of its 3 axes$/);
  await refused(gzipSync(idx(8, [200, 2], Buffer.alloc(400))).subarray(0, 20), /damaged or cut off/);
});

test('what is none of these says so', async () => {
  await refused('PK\x03\x04 and more', /a ZIP file/);
  await refused(Buffer.from([7, 7, 7, 0, 1]), /^byte 3: neither text nor IDX, NPY, a picture or a model$/);
});

test('one level of gzip, and names and headers of a length that can be shown', async () => {
  await refused(gzipSync(gzipSync('1,2\n')), /^a gzip file within a gzip file; this page unpacks one level/);
  await refused(gzipSync(''), /^nothing is in this gzip file$/);
  const [{ name }] = (await read(`${'x'.repeat(1000)}\n1\n`)).columns;
  assert.equal(name.length, 80);
  await refused(`${'1,'.repeat(70_000)}1\n`, /^line 1: rows of more than 65536 cells are too long for this page$/);
  await refused('1,2\n1,2,3,4,5\n', /^line 2: more than 2 cells where there should be 2$/);
  await refused(npy(`{'descr': '<f4', 'fortran_order': True, 'shape': (${'1, '.repeat(33)}), }`, new Float32Array(1)), /^byte 10: 33 axes; 32 are the most$/);
  await refused(npy(npyHeader('<f4', [1]).padEnd(70_000), new Float32Array(1), 2), /^byte 8: a header of \d+ bytes is too long/);
  assert.deepEqual(rows(await read('1,2\n\n\n3,4')), [[1, 2], [3, 4]]);
  assert.deepEqual(rows(await read('1\r2\r\n3\n\r4')), [[1], [2], [3], [4]]);
});

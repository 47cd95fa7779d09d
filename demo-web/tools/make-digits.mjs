// Makes the page's digits out of the shipped MNIST sample: make-digits.mjs OUTPUT_FILE
// Kinds and images per kind, two bytes each with the lower first, then 28 × 28 bytes an image, kind after kind; all gzipped.
// Gray values are rounded to 16 levels, which no eye sees and which halves the file.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const KINDS = 10;
const EACH = 400;
const PIXELS = 28 * 28;
const HEADER = 4;
const LARGEST_FILE = 400_000;

const output = process.argv[2];
const data = join(import.meta.dirname, '../../examples/data');
const images = gunzipSync(readFileSync(join(data, 'mnist-5000-images.idx.gz'))).subarray(16);
const labels = gunzipSync(readFileSync(join(data, 'mnist-5000-labels.idx.gz'))).subarray(8);

const bytes = new Uint8Array(HEADER + KINDS * EACH * PIXELS);
bytes.set([KINDS & 255, KINDS >> 8, EACH & 255, EACH >> 8]);
for (let kind = 0; kind < KINDS; ++kind) {
  const chosen = [...labels.keys()].filter((i) => labels[i] === kind).slice(0, EACH);
  if (chosen.length < EACH) throw new Error(`only ${chosen.length} images of ${kind}`);
  chosen.forEach((i, at) => {
    const start = HEADER + (kind * EACH + at) * PIXELS;
    for (let j = 0; j < PIXELS; ++j) bytes[start + j] = Math.round(images[i * PIXELS + j] / 17) * 17;
  });
}
const file = gzipSync(bytes, { level: 9 });
if (file.length > LARGEST_FILE) throw new Error(`${file.length} bytes are more than ${LARGEST_FILE}`);
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, file);
console.log(`${KINDS * EACH} digits, ${file.length} bytes`);

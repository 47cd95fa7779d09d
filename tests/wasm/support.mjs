// What the tests share. They run in a folder of the build tree that has the package installed as a
// user would have it (see run.sh); the project itself is at ADAPVAE_SOURCE.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

export const project = process.env.ADAPVAE_SOURCE;
if (!project) throw new Error('ADAPVAE_SOURCE is not set: use ./run test wasm');
export const packageFolder = join(import.meta.dirname, 'node_modules', 'adapvae');

const idx = (name) => gunzipSync(readFileSync(join(project, 'examples/data', name)));

// The shipped 8 × 8 digits of these kinds, in the order of the file, at most `most` of them.
export function digits(kinds, most = Infinity, skip = 0) {
  const images = idx('digits8x8-images.idx.gz').subarray(16);
  const labels = idx('digits8x8-labels.idx.gz').subarray(8);
  const chosen = [...labels.keys()].filter((i) => kinds.includes(labels[i])).slice(skip, skip + most);
  const largest = images.reduce((a, b) => Math.max(a, b), 0);
  const rows = new Float32Array(chosen.length * 64);
  chosen.forEach((i, at) => {
    for (let j = 0; j < 64; ++j) rows[64 * at + j] = images[64 * i + j] / largest;
  });
  return { rows, labels: Int32Array.from(chosen, (i) => labels[i]), count: chosen.length };
}

// The first of the shipped 28 × 28 digits.
export function mnist(count) {
  const images = idx('mnist-5000-images.idx.gz').subarray(16);
  return Float32Array.from(images.subarray(0, 784 * count), (pixel) => pixel / 255);
}

// The stream that every build learns: kinds 0 to 2, then those with 3 beside them.
export const STREAM_ROWS = 200;
export const OPTIONS = { preset: 'edge', seed: 5 };
export function recordedStream() {
  const first = digits([0, 1, 2], STREAM_ROWS).rows;
  const second = digits([0, 1, 2, 3], STREAM_ROWS, 300).rows;
  const rows = new Float32Array(first.length + second.length);
  rows.set(first);
  rows.set(second, first.length);
  return rows;
}

export function temporary() {
  const folder = mkdtempSync(join(tmpdir(), 'adapvae-'));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }), file: (name) => join(folder, name) };
}

// The same by the native library: reports, clusters, scores and the model's file.
export function native(rows, isa, { from, options = OPTIONS } = {}) {
  const place = temporary();
  try {
    writeFileSync(place.file('rows'), rows);
    if (from) writeFileSync(place.file('from'), from);
    const settings = from ? ['--from', place.file('from')] : Object.entries(options).map(([k, v]) => `${k}=${v}`);
    const lines = execFileSync(
      join(project, 'build/release/tests/record_stream'),
      [place.file('rows'), String(STREAM_ROWS), place.file('model'), ...settings],
      { env: { ...process.env, ADAPVAE_ISA: isa }, encoding: 'utf8', maxBuffer: 1 << 26 },
    );
    const all = lines.trim().split('\n').map((line) => JSON.parse(line));
    return {
      reports: all.filter((line) => 'stream' in line),
      clusters: all.filter((line) => 'cluster' in line),
      scores: all.filter((line) => 'novelty' in line),
      model: readFileSync(place.file('model')),
    };
  } finally {
    place[Symbol.dispose]();
  }
}

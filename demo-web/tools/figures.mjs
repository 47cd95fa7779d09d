// What the native library comes to on the page's streams, beside the page's own package, and what is left of the first kinds with replay
// and without. Writes the native figures, which the page shows, and prints both as tables.
// usage, in build/web: node tools/figures.mjs PROGRAM OUTPUT.json [SEED...]
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { AdapVAE } from 'adapvae';
import { runnerImport } from 'vite';

const place = dirname(import.meta.dirname);
const load = async (name) => (await runnerImport(join(place, 'src', name))).module;
const [{ digitsIn }, { digitsOptions, streamsOf }, { figuresOf }, { COURSE, Course, Pupil }] = await Promise.all(
  ['digits.ts', 'scenario.ts', 'figures.ts', 'forgetting.ts'].map(load),
);

export const KERNELS = ['baseline', 'avx2'];
export const digits = () => digitsIn(gunzipSync(readFileSync(join(place, 'public/digits.bin'))));

// Bytes of an IDX file of 28 × 28 images.
function idx(rows) {
  const file = Buffer.alloc(16 + rows.length);
  [0x803, rows.length / 784, 28, 28].forEach((value, i) => file.writeUInt32BE(value, 4 * i));
  rows.forEach((value, i) => (file[16 + i] = Math.round(255 * value)));
  return file;
}

// The program learns the streams one after the other, then scores each.
export async function nativeFigures(program, seed, kernels) {
  const folder = mkdtempSync(join(tmpdir(), 'adapvae-figures-'));
  const model = join(folder, 'digits.model');
  const rows = join(folder, 'rows.idx');
  const run = (verb, ...options) =>
    execFileSync(program, [verb, '-q', '-m', model, ...options, rows], {
      env: { ...process.env, ADAPVAE_ISA: kernels },
      maxBuffer: 1 << 28,
      encoding: 'utf8',
    });
  try {
    const { preset, seed: _, ...fields } = digitsOptions(seed);
    const begin = ['--preset', preset, '--seed', seed, ...Object.entries(fields).flatMap(([name, value]) => ['--set', `${name}=${value}`])];
    let first = true;
    for (const stream of streamsOf(digits())) {
      writeFileSync(rows, idx(stream.rows));
      run('learn', ...(first ? begin.map(String) : []));
      first = false;
    }
    return await figuresOf(streamsOf(digits()), (stream) => {
      writeFileSync(rows, idx(stream));
      return run('score').trim().split('\n').map((line) => JSON.parse(line).cluster);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// The same by the package.
export async function packageFigures(seed) {
  const model = await AdapVAE.create(digitsOptions(seed));
  for (const { rows } of streamsOf(digits())) model.learn(rows);
  const figures = await figuresOf(streamsOf(digits()), (rows) => model.score(rows).id);
  model.dispose();
  return figures;
}

// After each stream of the course, the part of the first kinds and of all kinds that is still recognised.
export async function forgetting(seed, ratio) {
  const model = await AdapVAE.create({ ...digitsOptions(seed), ...ratio });
  const course = new Course(digits());
  const pupil = new Pupil(model, course);
  for (const kinds of COURSE) await pupil.learn(course.stream(kinds));
  model.dispose();
  return pupil.steps;
}

async function main(program, output, seeds) {
  const found = {};
  console.log('| seed | page | SSE2 | AVX2 |\n|---|---|---|---|');
  let rows = 0;
  for (const seed of seeds) {
    const page = await packageFigures(seed);
    const native = {};
    for (const kernels of KERNELS) {
      const { nmi, clusters } = await nativeFigures(program, seed, kernels);
      native[kernels] = { nmi: Number(nmi.toFixed(4)), clusters };
    }
    found[seed] = native;
    rows = page.rows;
    console.log(`| ${seed} | ${[page, ...Object.values(native)].map(({ nmi, clusters }) => `${nmi.toFixed(3)}, ${clusters} clusters`).join(' | ')} |`);
  }
  writeFileSync(output, `${JSON.stringify({ rows, seeds: found }, null, 2)}\n`);
  console.log('\n| seed | replay | first kinds after each stream | all kinds in the end |\n|---|---|---|---|');
  for (const seed of seeds)
    for (const [name, ratio] of Object.entries({ on: {}, off: { replay_ratio: 0 } })) {
      const steps = await forgetting(seed, ratio);
      const percent = (part) => `${Math.round(100 * part)} %`;
      console.log(`| ${seed} | ${name} | ${steps.map(({ first }) => percent(first)).join(', ')} | ${percent(steps.at(-1).all)} |`);
    }
}

if (process.argv[1] === import.meta.filename) {
  const [program, output, ...seeds] = process.argv.slice(2);
  await main(program, output, seeds.length ? seeds.map(Number) : [1, 2, 3, 4, 5, 6, 7, 8]);
}

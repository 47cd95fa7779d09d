// The model in Node, with every build of it: SIMD, scalar, and inline.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import * as plain from 'adapvae';
import * as inline from 'adapvae/inline';

import { OPTIONS, STREAM_ROWS, digits, native, packageFolder, project, recordedStream, temporary } from './support.mjs';

const { AdapVAEError } = plain;
const BUILDS = [
  { name: 'simd', AdapVAE: plain.AdapVAE, runtime: { simd: true }, backend: 'simd128', isa: 'baseline' },
  { name: 'scalar', AdapVAE: plain.AdapVAE, runtime: { simd: false }, backend: 'scalar', isa: 'scalar' },
  { name: 'inline', AdapVAE: inline.AdapVAE, runtime: {}, backend: 'simd128', isa: 'baseline' },
];
// Quick to learn, for tests that are not about what is learnt.
const SMALL = { inputs: 64, latent: 3, hidden1: 12, hidden2: 0, pretrain_epochs: 2, joint_epochs: 1, block_rows: 60, batch: 20, max_clusters: 8 };

const status = (name, index) => (error) => {
  assert.ok(error instanceof AdapVAEError, String(error));
  assert.equal(error.status, name);
  if (index !== undefined) assert.equal(error.index, index);
  return true;
};
function learnStreams(model, rows) {
  const reports = [];
  for (let at = 0; at < rows.length; at += 64 * STREAM_ROWS) reports.push(model.learn(rows.subarray(at, at + 64 * STREAM_ROWS)));
  return reports;
}

for (const { name, AdapVAE, runtime, backend, isa } of BUILDS) {
  describe(name, () => {
    test('learns a stream as the native library does, which goes on from its file', async () => {
      const rows = recordedStream();
      const model = await AdapVAE.create(OPTIONS, runtime);
      assert.equal(model.info().backend, backend);
      const reports = learnStreams(model, rows);
      const expected = native(rows, isa);
      assert.ok(expected.reports[1].births > 0, 'the second stream brings a birth');
      expected.reports.forEach(({ clusters, births, bound }, i) => {
        assert.equal(reports[i].clusters, clusters);
        assert.equal(reports[i].births, births);
        assert.ok(Math.abs(reports[i].bound - bound) <= 1e-6 * Math.abs(bound), `bound ${reports[i].bound}, native ${bound}`);
      });
      const ids = (list, key) => list.map((cluster) => cluster[key]).sort((a, b) => a - b);
      assert.deepEqual(ids(model.clusters(), 'id'), ids(expected.clusters, 'cluster'));
      const scores = model.score(rows);
      expected.scores.forEach(({ id, component, novelty }, i) => {
        assert.equal(scores.id[i], id);
        assert.equal(scores.component[i], component);
        assert.ok(Math.abs(scores.novelty[i] - novelty) <= 1e-3, `row ${i}: ${scores.novelty[i]}, native ${novelty}`);
      });

      // Both go on from the file that each other wrote.
      const next = digits([4, 5], STREAM_ROWS).rows;
      const later = native(next, isa, { from: model.save() });
      const loaded = await AdapVAE.load(expected.model, runtime);
      const [report] = learnStreams(loaded, next);
      assert.equal(report.clusters, later.reports[0].clusters);
      assert.ok(Math.abs(report.bound - later.reports[0].bound) <= 1e-6 * Math.abs(report.bound));
      assert.deepEqual(ids(loaded.clusters(), 'id'), ids(later.clusters, 'cluster'));
    });

    test('files of every version load and go on; the program reads what was saved here', async () => {
      for (const file of ['format1-scaled', 'format1-pending']) {
        const bytes = readFileSync(join(project, 'tests/golden', `${file}.safetensors`));
        const known = await AdapVAE.inspect(bytes, runtime);
        const model = await AdapVAE.load(bytes, runtime);
        assert.equal(model.info().rows, known.rows);
        assert.equal(model.info().rowsWaiting, known.rowsWaiting);
        model.push(model.generate(50).rows);
        model.flush();
        assert.equal(model.info().rows, known.rows + known.rowsWaiting + 50);
        const place = temporary();
        writeFileSync(place.file('model'), model.save());
        const told = execFileSync(join(project, 'build/release/adapvae'), ['inspect', place.file('model')], { encoding: 'utf8' });
        const { clusters, rows, streams } = model.info();
        assert.match(told, new RegExp(`^clusters +${clusters}$`, 'm'));
        assert.match(told, new RegExp(`^rows +${rows} learnt in ${streams} streams, 0 wait$`, 'm'));
        place[Symbol.dispose]();
      }
    });

    test('saved and loaded it goes on byte for byte', async () => {
      const { rows } = digits([0, 1], 180);
      const model = await AdapVAE.create(SMALL, runtime);
      model.learn(rows.subarray(0, 60 * 64));
      const copy = await AdapVAE.load(model.save(), runtime);
      model.learn(rows.subarray(60 * 64, 120 * 64));
      copy.learn(rows.subarray(60 * 64, 120 * 64));
      assert.deepEqual(copy.save(), model.save());
      const other = await AdapVAE.create(SMALL, runtime);
      other.load(model.save().buffer);
      assert.deepEqual(other.save(), model.save());
    });

    test('gains of two workers come together, and only once', async () => {
      const { rows } = digits([0, 1], 300);
      const model = await AdapVAE.create(SMALL, runtime);
      model.learn(rows.subarray(0, 60 * 64));
      const base = model.save();
      const worker = await AdapVAE.load(base, runtime);
      const a = model.gain(rows.subarray(60 * 64, 180 * 64), { worker: 1 });
      const b = worker.gain(rows.subarray(180 * 64), { worker: 2n ** 63n, sequence: 5 });
      assert.deepEqual(model.save(), base);
      const set = await AdapVAE.mergeGains([b, a], runtime);
      assert.deepEqual(await AdapVAE.mergeGains([a, set, b], runtime), set);
      const found = await AdapVAE.inspectGains(set, runtime);
      assert.equal(found.gains, 2);
      assert.equal(found.rows, 240);
      const { report, aliases } = model.applyGains(set);
      assert.equal(report.rows, 240);
      assert.equal(aliases.length, found.born);
      for (const { local, id } of aliases) assert.ok(local > 0 && model.resolve(id) === id);
      assert.equal(model.info().rows, 300);
      assert.throws(() => model.applyGains(set), status('ADAPVAE_LATE'));
      const other = await AdapVAE.create({ ...SMALL, seed: 9 }, runtime);
      other.learn(rows.subarray(0, 60 * 64));
      assert.throws(() => other.applyGains(set), status('ADAPVAE_FOREIGN'));
      assert.throws(() => other.applyGains(set.subarray(1)), status('ADAPVAE_CORRUPT_DATA'));
      assert.throws(() => model.gain(rows, { worker: -1 }), status('ADAPVAE_INVALID_ARGUMENT'));
      await assert.rejects(AdapVAE.mergeGains([], runtime), status('ADAPVAE_INVALID_ARGUMENT'));
    });

    test('takes the memory that was promised, and what it stages', async () => {
      const bytes = await AdapVAE.memoryRequired(OPTIONS, runtime);
      const model = await AdapVAE.create(OPTIONS, runtime);
      assert.equal(model.info().memoryBytes, bytes);
      // Beside the model: code's data, the stack, scratch.
      assert.ok(model.info().heapBytes < bytes + (1 << 19), String(model.info().heapBytes - bytes));
      const { rows } = digits([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      model.score(rows);
      const heap = model.info().heapBytes;
      for (let i = 0; i < 20; ++i) model.score(rows);
      assert.equal(model.info().heapBytes, heap);
    });
  });
}

const { AdapVAE } = plain;
const make = (options = {}, runtime) => AdapVAE.create({ ...SMALL, ...options }, runtime);

describe('rows', () => {
  test('in any form and number give the same', async () => {
    const model = await make();
    const { rows, count } = digits([0, 1], 60);
    model.learn(rows);
    const scores = model.score(rows);
    assert.equal(scores.count, count);
    const nested = Array.from({ length: count }, (_, i) => Array.from(rows.subarray(64 * i, 64 * i + 64)));
    for (const form of [Array.from(rows), Float64Array.from(rows), nested, nested.map((row) => Float32Array.from(row))]) {
      assert.deepEqual(model.score(form), scores);
    }
    assert.equal(model.score([]).count, 0);
    // More than go through the staging memory at once.
    const many = new Float32Array(9000 * 64);
    for (let i = 0; i < 9000; ++i) many.set(rows.subarray(64 * (i % count), 64 * (i % count) + 64), 64 * i);
    const all = model.score(many);
    for (let i = 0; i < 9000; ++i) {
      assert.equal(all.novelty[i], scores.novelty[i % count]);
      assert.equal(all.id[i], scores.id[i % count]);
    }
    const { mean, variance } = model.encode(many);
    assert.deepEqual(mean.subarray(3 * count, 6 * count), mean.subarray(0, 3 * count));
    assert.deepEqual(variance.subarray(3 * count, 6 * count), variance.subarray(0, 3 * count));
    const bad = many.slice();
    bad[8000 * 64 + 3] = NaN;
    assert.throws(() => model.score(bad), status('ADAPVAE_NON_FINITE', 8000));
  });

  test('of another width are refused', async () => {
    const model = await make();
    assert.throws(() => model.score(new Float32Array(65)), status('ADAPVAE_SHAPE_MISMATCH'));
    assert.throws(() => model.score([new Float32Array(64), [1, 2]]), status('ADAPVAE_SHAPE_MISMATCH', 1));
    assert.throws(() => model.learn(), status('ADAPVAE_INVALID_ARGUMENT'));
    // More than WebAssembly's memory can have; and then it is as before.
    assert.throws(() => model.push({ length: 2 ** 32, 0: 0.5 }), status('ADAPVAE_OUT_OF_MEMORY'));
    assert.throws(() => model.generate(2 ** 31), status('ADAPVAE_OUT_OF_MEMORY'));
    assert.equal(model.score(new Float32Array(64)).count, 1);
    assert.throws(() => model.learn(new Float32Array(61 * 64)), status('ADAPVAE_SHAPE_MISMATCH'));
    const outside = new Float32Array(3 * 64);
    outside[64] = 7;
    assert.throws(() => model.learn(outside), status('ADAPVAE_INVALID_ARGUMENT', 1));
    assert.equal(model.info().streams, 0);
  });

  test('have a probability for every cluster', async () => {
    const model = await make();
    const { rows, count } = digits([0, 1], 60);
    assert.equal(model.probabilities(rows).probability.length, 0);
    model.learn(rows);
    const { ids, probability } = model.probabilities(rows);
    const score = model.score(rows);
    assert.equal(probability.length, count * ids.length);
    for (let i = 0; i < count; ++i) assert.equal(probability[ids.length * i + ids.indexOf(score.id[i])], score.probability[i]);
  });

  test('are decoded, drawn and interpolated', async () => {
    const model = await make();
    const { rows } = digits([0, 1], 60);
    model.learn(rows);
    const { mean } = model.encode(rows);
    assert.deepEqual(model.decode(mean), model.reconstruct(rows));
    const drawn = model.generate(7, { seed: 3 });
    assert.deepEqual(model.generate(7, { seed: 3 }), drawn);
    assert.notDeepEqual(model.generate(7, { seed: 4 }).features, drawn.features);
    assert.deepEqual(model.decode(drawn.features), drawn.rows);
    const [{ id }] = model.clusters();
    assert.ok(model.generate(5, { id }).ids.every((each) => each === id));
    const { features } = model.interpolate(id, id, 2);
    const moments = model.moments(id);
    assert.equal(moments.covariance.length, 9);
    moments.mean.forEach((value, j) => assert.ok(Math.abs(features[j] - value) < 1e-5));
    assert.throws(() => model.interpolate(id, 99, 2), status('ADAPVAE_UNKNOWN_CLUSTER'));
  });

  test('before anything is learnt are novel', async () => {
    const { id, novelty, flags } = (await make()).score(digits([0], 2).rows);
    assert.deepEqual([...id], [0, 0]);
    assert.deepEqual([...novelty], [1, 1]);
    assert.equal(flags[0], plain.NOTHING_LEARNT | plain.NOVEL);
  });
});

describe('streams', () => {
  test('are gathered by push and learnt by flush', async () => {
    const model = await make();
    const { rows } = digits([0, 1], 100);
    assert.equal(model.push(rows).streams, 1);
    assert.equal(model.info().rowsWaiting, 40);
    assert.throws(() => model.learn(rows.subarray(0, 64)), status('ADAPVAE_INVALID_ARGUMENT'));
    assert.equal(model.flush().rows, 40);
    assert.equal(model.info().rows, 100);
    assert.equal(model.flush().streams, 0);
  });

  test('tell their progress and are stopped by it', async () => {
    const model = await make();
    const { rows } = digits([0, 1], 60);
    const seen = [];
    model.setProgress((stage, fraction) => void seen.push([stage, fraction]));
    assert.equal(model.learn(rows).stopped, false);
    assert.equal(seen[0][0], 'pretrain');
    assert.deepEqual(seen.at(-1), ['close', 1]);
    assert.ok(seen.every(([, fraction], i) => i === 0 || fraction >= seen[i - 1][1]));
    let asked = 0;
    model.setProgress(() => ++asked < 3);
    assert.equal(model.learn(rows).stopped, true);
    assert.equal(asked, 4); // and once at the end
    model.setProgress(() => model.stop());
    assert.equal(model.learn(rows).stopped, true);
    model.setProgress(null);
    assert.equal(model.learn(rows).stopped, false);
  });

  test('a progress function that throws or calls the model does no harm', async () => {
    const model = await make();
    const { rows } = digits([0, 1], 60);
    model.setProgress(() => {
      throw new RangeError('mine');
    });
    assert.throws(() => model.learn(rows), { name: 'RangeError', message: 'mine' });
    const within = [];
    const other = await make();
    other.setProgress(() => {
      for (const call of [() => other.score(rows), () => other.learn(rows), () => other.save(), () => other.info(), () => other.dispose()]) {
        try {
          call();
        } catch (error) {
          within.push(error.status);
        }
      }
    });
    const silent = await make();
    other.learn(rows);
    silent.learn(rows);
    assert.ok(within.length > 5 && within.every((name) => name === 'ADAPVAE_BUSY'), within.join());
    assert.deepEqual(other.save(), silent.save());
  });

  test('keep to a budget and to time', async () => {
    const model = await make({ pretrain_epochs: 100000, half_life_time: 10 });
    model.setBudget(0.05);
    model.setTime(5);
    assert.equal(model.learn(digits([0, 1], 60).rows).stopped, true);
    assert.equal(model.info().time, 5);
    assert.throws(() => model.setTime(4), status('ADAPVAE_INVALID_ARGUMENT'));
    model.reset();
    assert.equal(model.info().clusters, 0);
  });
});

describe('clusters', () => {
  test('are named, merged, split, forgotten, and it is undone', async () => {
    const model = await AdapVAE.create(OPTIONS);
    learnStreams(model, recordedStream());
    const before = model.clusters();
    assert.ok(before.length >= 4);
    const bytes = model.save();
    const [a, b] = before.map(({ id }) => id);
    model.label(a, 'zéro');
    assert.equal(model.cluster(a).name, 'zéro');
    assert.throws(() => model.label(a, 'x'.repeat(32)), status('ADAPVAE_INVALID_ARGUMENT'));
    assert.throws(() => model.label(a, 'a\0b'), status('ADAPVAE_INVALID_ARGUMENT'));
    model.undo();
    assert.throws(() => model.merge(a, b), status('ADAPVAE_REFUSED'));
    assert.ok(model.merge(a, b, { force: true }) < 0);
    assert.equal(model.resolve(b), a);
    assert.equal(model.clusters().length, before.length - 1);
    model.undo();
    const { part, gain } = model.split(a, { force: true });
    assert.ok(part > 0 && Number.isFinite(gain));
    assert.equal(model.cluster(part).parent, a);
    model.undo();
    model.forget(b);
    assert.equal(model.resolve(b), 0);
    assert.throws(() => model.cluster(b), status('ADAPVAE_UNKNOWN_CLUSTER'));
    model.undo();
    assert.deepEqual(model.clusters(), before);
    const events = model.events();
    assert.deepEqual(events.slice(-4).map(({ type }) => type), ['split', 'undone', 'forgotten', 'undone']);
    assert.ok(events.some(({ type, text }) => type === 'born' && text.includes('born out of cluster')));
    assert.equal(events.filter(({ type }) => type === 'undone').length, 4);
    assert.deepEqual(model.events(), []);
    assert.equal(model.events(0).length, events.length);
    assert.equal(bytes.length, model.save().length);
  });

  test('explain a row, as text and as data', async () => {
    const model = await AdapVAE.create(OPTIONS);
    learnStreams(model, recordedStream());
    const { rows } = digits([7], 1, 4);
    assert.match(model.explain(rows), /novelty/);
    const data = model.explain(rows, 'json');
    assert.ok(Math.abs(data.novelty - model.score(rows).novelty[0]) < 1e-6);
  });

  test('are judged by labels', async () => {
    const metrics = await AdapVAE.evaluate([1, 1, 2, 2], new Uint32Array([7, 7, 9, 9]));
    assert.ok(Math.abs(metrics.nmi - 1) < 1e-12);
    assert.equal(metrics.clusters, 2);
    await assert.rejects(AdapVAE.evaluate([1], [1, 2]), status('ADAPVAE_INVALID_ARGUMENT'));
  });
});

describe('settings', () => {
  test('are those of the table', async () => {
    const fields = await AdapVAE.fields();
    const model = await make({ drift: 'shift', kinds: false, seed: 2 ** 52 });
    const config = model.config();
    assert.deepEqual(Object.keys(config), fields.map(({ name }) => name));
    assert.equal(config.drift, 'shift');
    assert.equal(config.kinds, false);
    assert.equal(config.seed, 2 ** 52);
    assert.equal(config.learning_rate, 0.001);
    const again = await AdapVAE.create(config);
    assert.deepEqual(again.config(), config);
    model.set('learning_rate', 0.01);
    model.set('kinds', true);
    model.setSensitivity(2);
    assert.equal(model.config().learning_rate, 0.01);
    assert.equal(model.config().kinds, true);
    assert.equal(model.config().sensitivity, 2);
    assert.throws(() => model.set('inputs', 3), status('ADAPVAE_INVALID_ARGUMENT'));
    for (const preset of await AdapVAE.presets()) await AdapVAE.memoryRequired({ preset });
    await assert.rejects(AdapVAE.create({ inputs: 64, latnet: 3 }), { status: 'ADAPVAE_INVALID_ARGUMENT', message: /^latnet: .*latent/ });
    await assert.rejects(AdapVAE.create({ inputs: 64, latent: 'many' }), status('ADAPVAE_INVALID_ARGUMENT'));
    await assert.rejects(AdapVAE.create({ preset: 'huge' }), status('ADAPVAE_INVALID_ARGUMENT'));
    await assert.rejects(AdapVAE.create({}), status('ADAPVAE_INVALID_ARGUMENT'));
  });

  test('that ask for more than 32 bits can count are refused, not wrapped around', async () => {
    const thin = { latent: 2, hidden1: 4, hidden2: 0 };
    for (const options of [
      { inputs: 1048576, hidden1: 1048576 },
      { ...thin, inputs: 65536, block_rows: 65536 },
      { ...thin, inputs: 65536, block_rows: 32768 },
      { ...thin, inputs: 4, block_rows: 65536, max_clusters: 65536 },
      { ...thin, inputs: 4, max_clusters: 65536, latent: 256 },
      { ...thin, inputs: 4, hidden1: 65536, hidden2: 65536 },
      { ...thin, inputs: 65536, pass_rows: 65536 },
      { ...thin, inputs: 65536, replay_rows: 65536 },
    ]) {
      await assert.rejects(AdapVAE.create(options), status('ADAPVAE_OUT_OF_MEMORY'), JSON.stringify(options));
    }
    // And a large one that fits is made.
    const model = await AdapVAE.create({ ...thin, inputs: 65536, block_rows: 200 });
    assert.ok(model.info().memoryBytes > 100e6);
  });
});

describe('files', () => {
  test('that are none are refused', async () => {
    await assert.rejects(AdapVAE.load(new Uint8Array(100)), status('ADAPVAE_CORRUPT_DATA'));
    const model = await make();
    const bytes = model.save();
    bytes[bytes.length - 9] ^= 1;
    assert.throws(() => model.load(bytes), status('ADAPVAE_CORRUPT_DATA'));
    await assert.rejects(AdapVAE.inspect(bytes), status('ADAPVAE_CORRUPT_DATA'));
  });

  test('make a scorer, which does not learn', async () => {
    const model = await make();
    const { rows } = digits([0, 1], 60);
    model.learn(rows);
    const scorer = await AdapVAE.scorer(model.save());
    assert.deepEqual(scorer.score(rows), model.score(rows));
    assert.ok(scorer.info().memoryBytes < model.info().memoryBytes);
    assert.throws(() => scorer.learn(rows), status('ADAPVAE_UNAVAILABLE'));
  });
});

describe('the module', () => {
  const file = () => readFileSync(join(packageFolder, 'adapvae.wasm'));
  test('comes from bytes, a module, a response, an address, or a promise', async () => {
    const response = (type) => new Response(file(), { headers: { 'Content-Type': type } });
    const sources = [file(), file().buffer.slice(file().byteOffset, file().byteOffset + file().byteLength), new WebAssembly.Module(file()),
      response('application/wasm'), response('text/plain'), Promise.resolve(file()),
      new URL(`file://${packageFolder}/adapvae.wasm`), `file://${packageFolder}/adapvae.wasm`];
    for (const wasm of sources) assert.equal((await make({}, { wasm })).info().backend, 'simd128');
    await assert.rejects(make({}, { wasm: new Response('', { status: 404 }) }), status('ADAPVAE_UNAVAILABLE'));
    await assert.rejects(make({}, { wasm: new Uint8Array(8) }), WebAssembly.CompileError);
  });

  test('is there once, memory for every model, and goes with it', async () => {
    // A thousand at once would not fit: their memory must come back.
    const { rows } = digits([0], 4);
    for (let i = 0; i < 1000; ++i) {
      const model = await make();
      model.score(rows);
      model.dispose();
      model.dispose();
      if (i === 0) {
        assert.throws(() => model.score(rows), status('ADAPVAE_INVALID_ARGUMENT'));
        assert.throws(() => model.info(), status('ADAPVAE_INVALID_ARGUMENT'));
      }
    }
    assert.throws(() => new AdapVAE(), TypeError);
    assert.equal(typeof AdapVAE.prototype[Symbol.dispose], 'function');
  });
});

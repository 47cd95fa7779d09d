// Parts of the page that need no browser.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { runnerImport } from 'vite';

const load = async (name) => (await runnerImport(join(import.meta.dirname, '../src', name))).module;

// Means that differ by little in the first two of four features, which are narrow, and by much in the third, which is wide.
const clusters = [
  [1, 0, 5, 0],
  [-1, 0, -5, 1],
  [0, 1.5, 0, 0],
].map((mean) => ({
  moments: {
    mean: Float64Array.from(mean),
    covariance: Float64Array.from({ length: 16 }, (_, i) => (i % 5 ? 0 : [0.01, 0.02, 100, 1][i / 5])),
  },
}));

test('the map by what parts clusters: narrow features count, and a place leads back to itself', async () => {
  const { covarianceOnto, onto, outOf, planeApart } = await load('plane.ts');
  const plane = planeApart(clusters, 4, null);
  assert.ok(plane.held > 0.99);
  for (const axis of plane.axes) assert.ok(Math.abs(axis[2]) < 0.05 * Math.hypot(...axis), 'the wide feature says little');
  for (const [a, b] of [[0, 0], [1.5, -2], [-7, 3]]) {
    const back = onto(plane, outOf(plane, a, b));
    assert.ok(Math.hypot(back[0] - a, back[1] - b) < 1e-4);
  }
  const [xx, xy, yy] = covarianceOnto(plane, clusters[0].moments.covariance);
  assert.ok(Math.abs(xx - 1) < 1e-9 && Math.abs(yy - 1) < 1e-9 && Math.abs(xy) < 1e-9, 'clusters are round there');
  const again = planeApart(clusters, 4, { ...plane, axes: plane.axes.map((axis) => axis.map((value) => -value)) });
  assert.ok(again.axes[0][0] * plane.axes[0][0] < 0, 'a map does not turn over from one stream to the next');
});

test('the map by spread: the wide feature is the first', async () => {
  const { onto, outOf, planeOfSpread } = await load('plane.ts');
  const points = Float32Array.from({ length: 400 }, (_, i) => [0.1, 1, 10, 0.2][i % 4] * Math.sin(i * i));
  const plane = planeOfSpread(points, 4, null);
  assert.ok(Math.abs(plane.axes[0][2]) > 0.99);
  const back = onto(plane, outOf(plane, 2, 1));
  assert.ok(Math.hypot(back[0] - 2, back[1] - 1) < 1e-4);
});

test('names on the map do not lie on each other, nor outside', async () => {
  const { moveApart } = await load('labels.ts');
  const labels = Array.from({ length: 10 }, (_, i) => ({ at: [100, 100], x: 100 + (i % 3), y: 100 + i / 4, width: 24, height: 20 }));
  moveApart(labels, 300, 200);
  labels.forEach((a, i) => {
    for (const b of labels.slice(i + 1)) {
      assert.ok(Math.abs(a.x - b.x) > 23 || Math.abs(a.y - b.y) > 19, `${a.x} ${a.y}, ${b.x} ${b.y}`);
    }
    assert.ok(a.x >= 12 && a.x <= 288 && a.y >= 10 && a.y <= 190);
  });
});

test('events in words for people', async () => {
  const { reasonOf, titleOf } = await load('event-words.ts');
  const event = (fields) => ({ reason: 'none', id: 3, other: 2, rows: 98.53, gain: 697.1, ...fields });
  assert.equal(titleOf(event({ type: 'born' })), 'Cluster 3 is born');
  assert.equal(
    reasonOf(event({ type: 'born' })),
    '99 rows of this stream, nearest to cluster 2 until now, fit a cluster of their own better (evidence +697).',
  );
  assert.equal(reasonOf(event({ type: 'merged', gain: 4.26 })), 'The rows of both are explained better by one cluster than by two (evidence +4.3).');
  assert.match(reasonOf(event({ type: 'merged', gain: -1234.5 })), /You asked for it; .* \(evidence −1,23[45]\)/);
  assert.match(reasonOf(event({ type: 'not_born', reason: 'rows', rows: 1.2 })), /Only 1 row of this stream/);
  assert.equal(titleOf(event({ type: 'retired' })), 'Cluster 2 ends in cluster 3');
});

test('numbers below the lanes are as many as have room, however many streams there are', async () => {
  const { stepOf, ticksOf } = await load('lanes.ts');
  for (const streams of [1, 2, 10, 150, 151, 1000, 123_457, 4e9, 2 ** 32 - 16]) {
    const step = stepOf(streams, 800);
    const ticks = ticksOf(streams, step);
    assert.ok(step * streams <= 6001, `${streams}: ${step * streams} pixels`);
    assert.ok(ticks.length <= 151 && ticks[0] === 1 && ticks.at(-1) <= streams, `${streams}: ${ticks.length}`);
    if (streams <= 150) assert.equal(ticks.length, streams);
    for (let i = 2; i < ticks.length; ++i) assert.ok((ticks[i] - ticks[i - 1]) * step >= 39.9, `${streams}: they do not lie on each other`);
  }
});

test('lanes: those that live and the last that ended, at most as many as can be drawn', async () => {
  const { lanesOf } = await load('lanes.ts');
  const clusters = Array.from({ length: 50 }, (_, i) => ({ id: i + 1, bornStream: i }));
  const events = Array.from({ length: 2000 }, (_, i) => ({ type: 'merged', id: 1, other: 1000 + i, stream: i, sequence: i }));
  const lanes = lanesOf({ clusters, alive: new Set([...clusters.map(({ id }) => id), 2999]), events });
  assert.equal(lanes.size, 200);
  assert.ok(clusters.every(({ id }) => lanes.has(id)));
  assert.ok(lanes.has(2998) && !lanes.has(1000), 'the last ones');
  assert.ok(!lanes.has(2999), 'what lives has not ended, shown or not');
});

test('of many clusters, features or inputs the page asks for no more than it can hold', async () => {
  const { knownBy } = await load('known.ts');
  for (const [count, latent, inputs] of [[65_536, 2, 2], [1000, 1024, 8], [1000, 2, 1 << 20], [3, 1024, 1 << 20]]) {
    const asked = [];
    let decoded = 0;
    const { clusters, alive } = await knownBy({
      clusters: () => Array.from({ length: count }, (_, i) => ({ id: i + 1, components: 1, rows: i })),
      info: () => ({ latent, inputs }),
      moments: (id) => asked.push(id) && { mean: new Float64Array(latent), covariance: new Float64Array() },
      interpolate: () => (++decoded, { rows: new Float32Array(inputs), features: new Float32Array(latent) }),
    });
    assert.equal(alive.size, count);
    assert.equal(decoded, asked.length);
    assert.ok(asked.includes(count), 'the largest');
    assert.ok(asked.length <= 200 && asked.length * (8 * latent ** 2 + 4 * inputs) <= 2 ** 26, `${asked.length}`);
    assert.deepEqual(clusters.map(({ id }) => id), asked.toSorted((a, b) => a - b));
  }
});

test('a map of a thousand features takes no longer than a page can wait', async () => {
  const { onto, planeApart, planeOfSpread } = await load('plane.ts');
  const size = 1024;
  const means = [3, -3, 0].map((at) => Float64Array.from({ length: size }, (_, i) => (i === 5 ? at : 0)));
  const covariance = Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) ? 0 : 1));
  const begin = process.cpuUsage();
  const apart = planeApart(means.map((mean) => ({ moments: { mean, covariance } })), size, null);
  const points = Float32Array.from({ length: 400 * size }, (_, i) => (i % size === 7 ? 5 : 0.1) * Math.sin(i * i));
  const spread = planeOfSpread(points, size, null);
  const { user } = process.cpuUsage(begin);
  console.log(`${Math.round(user / 1000)} ms`);
  assert.ok(Math.abs(onto(apart, means[0])[0] - onto(apart, means[1])[0]) > 5.9);
  assert.ok(Math.abs(spread.axes[0][7]) > 0.99);
  assert.ok(user < 1_000_000, `${user} µs`);
});

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

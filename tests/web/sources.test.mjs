// What streams in by itself, and what the model makes of it, whatever the seed.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AdapVAE } from 'adapvae';
import { CHOICES } from './parts/parts.js';

const choice = (id) => CHOICES.find((one) => one.id === id);

// Of each stream: births, and of its rows the part that was novel, old kinds and new ones apart.
async function play({ options, make }, seed) {
  const model = await AdapVAE.create(options(seed));
  const source = await make(seed);
  const streams = [];
  while (!source.finished) {
    const stream = await source.next();
    const { novelty } = model.score(stream.rows);
    const part = (unseen) => {
      const chosen = [...novelty].filter((_, i) => stream.unseen[i] === unseen);
      return chosen.filter((value) => value > 0.5).length / (chosen.length || 1);
    };
    const { births } = model.learn(stream.rows);
    const { id } = model.score(stream.rows);
    const where = new Map(stream.labels.map((label, i) => [label, id[i]]));
    streams.push({ births, old: part(false), fresh: part(true), kinds: new Set(stream.labels).size, clusters: new Set(where.values()).size });
  }
  return streams;
}

test('vibration: healthy again is nothing new; each fault is novel, and born in its stream', async () => {
  for (let seed = 1; seed <= 5; ++seed) {
    const [, healthy, ...faults] = await play(choice('vibration'), seed);
    assert.equal(healthy.births, 0, `seed ${seed}`);
    assert.equal(faults.length, 3);
    for (const { births, old, fresh, kinds, clusters } of faults) {
      assert.ok(births === 1 && fresh > 0.8 && old < 0.1, `seed ${seed}: ${births} births, ${old} and ${fresh} novel`);
      assert.equal(clusters, kinds, `seed ${seed}`);
    }
  }
});

test('blobs: what drifts is not born again; a fourth blob is', async () => {
  for (let seed = 1; seed <= 5; ++seed) {
    const streams = await play(choice('blobs'), seed);
    const fourth = streams.findIndex(({ fresh }, i) => i > 0 && fresh > 0);
    assert.ok(streams[fourth].births >= 1 && streams[fourth].fresh > 0.8, `seed ${seed}`);
    assert.ok(streams.slice(1, fourth).every(({ births, old }) => births === 0 && old < 0.2), `seed ${seed}`);
    assert.equal(streams.at(-1).clusters, 4, `seed ${seed}`);
  }
});

test('a seed decides everything', async () => {
  for (const id of ['vibration', 'blobs']) {
    const [a, b, other] = await Promise.all([4, 4, 5].map(async (seed) => (await (await choice(id).make(seed)).next()).rows));
    assert.deepEqual(a, b);
    assert.notDeepEqual(a, other);
  }
});

// The step module: training steps of the network alone.
export async function stepModule(bytes, network) {
  let c;
  const none = () => 0;
  const { instance } = await WebAssembly.instantiate(bytes, {
    env: { emscripten_notify_memory_growth: none },
    wasi_snapshot_preview1: {
      environ_sizes_get(count, size) {
        const view = new DataView(c.memory.buffer);
        view.setUint32(count, 0, true);
        view.setUint32(size, 0, true);
        return 0;
      },
      environ_get: none, clock_time_get: none, fd_write: none, fd_close: none, fd_seek: none,
      proc_exit() {
        throw new Error('the module ended itself');
      },
    },
  });
  c = instance.exports;
  c._initialize?.();
  if (!c.bench_make(...network)) throw new Error('no such network');
  return (count) => {
    if (!c.bench_steps(count)) throw new Error('a step failed');
  };
}

// Best seconds of work(count) / count in a burst of this many milliseconds.
export function burst(work, count, milliseconds) {
  let best = Infinity;
  const end = performance.now() + milliseconds;
  do {
    const start = performance.now();
    work(count);
    best = Math.min(best, (performance.now() - start) / count);
  } while (performance.now() < end);
  return best / 1000;
}

// Ours and the peer by turns; the best of each.
export function compare(pairs, rounds, milliseconds) {
  const best = pairs.map(() => Infinity);
  for (let round = 0; round < rounds; ++round) {
    pairs.forEach(([work, count], i) => {
      best[i] = Math.min(best[i], burst(work, count, milliseconds));
    });
  }
  return best;
}

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

const CLOCK_MS = 20; // a page's clock is coarse: nothing shorter is timed

// Ours and the peers by turns, each work(count) for `milliseconds`; the best seconds of each.
export function compare(works, rounds, milliseconds) {
  const all = works.map((work) => {
    let count = 1;
    for (let spent = 0; spent < CLOCK_MS; count *= 2) {
      const start = performance.now();
      work(count);
      spent = performance.now() - start;
    }
    return { work, count: count / 2, best: Infinity };
  });
  for (let round = 0; round < rounds; ++round) {
    for (const one of all) {
      const end = performance.now() + milliseconds;
      do {
        const start = performance.now();
        one.work(one.count);
        one.best = Math.min(one.best, (performance.now() - start) / 1000 / one.count);
      } while (performance.now() < end);
    }
  }
  return all.map(({ best }) => best);
}

// Training speed of the network, for bench.py: one line on standard input = one timed burst, whose
// best seconds per step is printed. So that a peer can be measured in turn with it.
//
//   bench_vae INPUTS,HIDDEN...,LATENT BATCH THREADS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/bench_support.h"
#include "tools/plain_vae.h"
#include "tools/thread_pool.h"

namespace {

using namespace adapvae;
using bench::now;

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_vae INPUTS,HIDDEN...,LATENT BATCH THREADS\n");
    return 2;
  }
  const VaeConfig config = bench::parse_network(argv[1], std::atol(argv[2]));
  if (!check_config(config).ok()) return 2;

  const int workers = std::max(1, std::atoi(argv[3]));
  tools::PlainVae network(config, 1, workers);
  CpuBackend& backend = network.backend();
  Vae& vae = network.vae();
  vae.initialise(1);
  tools::ThreadPool pool(workers);
  if (workers > 1) backend.set_parallel_for({&tools::ThreadPool::run, &pool});

  // Ten batches of noise, so that inputs are not always in the cache.
  const Index n = config.max_rows;
  std::vector<float> rows(10 * n * config.inputs);
  Philox random({.seed = 2});
  for (float& x : rows) x = random.uniform_float();

  VaeBatch batch = network.objective();
  std::uint32_t step = 0;
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    double best = 1e30;
    const double until = now() + 1.0;
    while (now() < until) {
      // Steps are timed in groups of at least a millisecond, the clock being coarse.
      const double start = now();
      int steps = 0;
      do {
        batch.input =
            ConstMatrixView(rows.data() + (step % 10) * n * config.inputs, n, config.inputs);
        batch.target = batch.input;
        batch.noise_key.epoch = ++step;
        VaeLoss loss;
        StepReport report;
        if (!vae.train_step(backend, batch, &loss, &report).ok() || !report.applied) return 1;
        ++steps;
      } while (now() - start < 1e-3);
      best = std::min(best, (now() - start) / steps);
    }
    std::printf("%.9g %s\n", best, backend.name());
    std::fflush(stdout);
  }
  return 0;
}

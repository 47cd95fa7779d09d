// What the mixture costs the network's training: an epoch of a plain VAE, or a joint epoch of the
// same network as the model makes it (the mixture as prior, then all rows encoded again and three
// laps of the mixture). For bench.py: one line on standard input = one
// timed burst, whose best seconds per mini-batch is printed.
//
//   bench_joint INPUTS,HIDDEN...,LATENT BATCH plain|joint
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/sampling.h"
#include "bench/bench_support.h"
#include "structure/cluster_learner.h"
#include "tools/plain_vae.h"

namespace {

using namespace adapvae;
using bench::now;

constexpr Index kRows = 2000;
constexpr Index kKinds = 14;
constexpr int kSweeps = 3;

// A learner that knows kKinds clusters, and its backend.
struct Clusters {
  explicit Clusters(Index dims) {
    LearnerConfig config;
    config.shape.dims = dims;
    config.max_clusters = 40;
    config.max_rows = kRows;
    const ComputeLimits limits = {.rows = kRows, .widest_layer = 40, .dims = dims, .clusters = 40};
    memory.emplace([&](Arena& arena) {
      backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
      learner.place(arena, config);
    });
    learner.reset();
    Philox random({.seed = 3});
    std::vector<float> centers(static_cast<std::size_t>(kKinds * dims));
    for (float& x : centers) x = static_cast<float>(3.0 * sample_normal(random));
    std::vector<float> rows(static_cast<std::size_t>(kRows * dims));
    for (Index i = 0; i < kRows * dims; ++i) {
      const Index kind = i / dims % kKinds;
      rows[static_cast<std::size_t>(i)] =
          centers[static_cast<std::size_t>(kind * dims + i % dims)] +
          static_cast<float>(sample_normal(random));
    }
    (void)learner.learn(backend, {rows.data(), kRows, dims}, {});
  }

  CpuBackend backend;
  ClusterLearner learner;
  std::optional<tools::PlacedMemory> memory;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_joint INPUTS,HIDDEN...,LATENT BATCH plain|joint\n");
    return 2;
  }
  VaeConfig config = bench::parse_network(argv[1], std::atol(argv[2]));
  config.max_clusters = 40;
  if (!check_config(config).ok()) return 2;
  const bool joint = std::strcmp(argv[3], "joint") == 0;

  tools::PlainVae network(config, kRows);
  network.vae().initialise(1);
  Clusters clusters(config.latent);
  std::vector<float> values(static_cast<std::size_t>(kRows * config.inputs));
  Philox random({.seed = 2});
  for (float& x : values) x = random.uniform_float();
  const ConstMatrixView rows(values.data(), kRows, config.inputs);
  std::vector<float> z(static_cast<std::size_t>(kRows * config.latent)), variance(z.size());
  const auto encode = [&] {
    for (Index at = 0; at < kRows; at += config.max_rows) {
      const Index n = std::min<Index>(config.max_rows, kRows - at);
      (void)network.vae().encode(network.backend(), rows.row_range(at, n),
                                 {z.data() + at * config.latent, n, config.latent},
                                 {variance.data() + at * config.latent, n, config.latent});
    }
  };
  TrainingSettings settings;
  settings.batch = config.max_rows;
  VaeBatch objective = network.objective();
  if (joint) {
    encode();
    const ConstMatrixView codes(z.data(), kRows, config.latent);
    const ConstMatrixView spread(variance.data(), kRows, config.latent);
    if (!clusters.learner.begin(codes, spread, 1).ok()) return 1;
    settings.codes = {codes, spread};
  }
  const double batches = static_cast<double>((kRows + config.max_rows - 1) / config.max_rows);
  std::uint32_t epoch = 0;
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    double best = 1e30;
    const double until = now() + 1.0;
    while (now() < until) {
      const double start = now();
      EpochReport report;
      if (joint) {
        const Mixture& mixture = clusters.learner.mixture();
        objective.mixture = {.gaussians = mixture.gaussians(),
                             .log_weight = mixture.local_log_weight()};
      }
      if (!network.trainer()
               .run_epoch(network.backend(), network.vae(), settings, epoch++, rows, objective,
                          &report)
               .ok()) {
        return 1;
      }
      if (joint) {
        encode();
        clusters.learner.settle(clusters.backend, kSweeps);
      }
      best = std::min(best, (now() - start) / batches);
    }
    std::printf("%.9g %s\n", best, joint ? "joint" : "plain");
    std::fflush(stdout);
  }
  return 0;
}

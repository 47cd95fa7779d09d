// Speed of the mixture, for bench.py: one line on standard input = one timed burst, whose seconds
// are printed. So that a peer can be measured in turn with it.
//
//   bench_mixture lap ROWS.f32 DIMS CLUSTERS   one local and global step over all rows
//   bench_mixture fit ROWS.f32 DIMS            the whole fit with moves, from one cluster
//   bench_mixture young|old ROWS.f32 DIMS      a stream of 1,000 rows, after 10,000 or 1,000,000
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_support.h"
#include "compute/cpu_backend.h"
#include "structure/cluster_learner.h"
#include "tools/placed_memory.h"

using namespace adapvae;
using bench::now;

namespace {

// Calls burst() a few times for every line and prints how long the fastest took.
template <typename Burst>
int serve(const Burst& burst, int times = 1) {
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    double best = 1e300;
    for (int i = 0; i < times; ++i) {
      const double start = now();
      burst();
      best = std::min(best, now() - start);
    }
    std::printf("%.9f adapvae\n", best);
    std::fflush(stdout);
  }
  return 0;
}

int serve_laps(const std::vector<float>& rows, Index m, Index clusters) {
  MixtureConfig config;
  config.shape.dims = m;
  config.max_clusters = clusters;
  config.max_rows = static_cast<Index>(rows.size()) / m;
  const ComputeLimits limits = {
      .rows = config.max_rows, .widest_layer = clusters, .dims = m, .clusters = clusters};
  CpuBackend backend;
  Mixture mixture;
  const tools::PlacedMemory memory([&](Arena& arena) {
    backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
    mixture.place(arena, config);
  });
  mixture.reset();
  if (!mixture.begin_stream({rows.data(), config.max_rows, m}, {}, 1.0, 1).ok()) return 2;
  while (mixture.clusters() < clusters) mixture.add_cluster();
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < r.rows; ++i) r(i, i % clusters) = 1.0;
  mixture.recount(backend);
  for (int i = 0; i < 50; ++i) mixture.lap(backend);  // as in the middle of a fit
  return serve([&] { mixture.lap(backend); }, 5);
}

struct Learner {
  Learner(Index m, Index rows) {
    config.shape.dims = m;
    config.max_rows = rows;
    memory.emplace([&](Arena& arena) {
      const ComputeLimits limits = {.rows = config.stream_rows(),
                                    .widest_layer = config.max_clusters,
                                    .dims = m,
                                    .clusters = config.max_clusters};
      backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
      learner.place(arena, config);
    });
    learner.reset();
  }
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  LearnerConfig config;
  CpuBackend backend;
  ClusterLearner learner;
  std::optional<tools::PlacedMemory> memory;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_mixture lap|fit|young|old ROWS.f32 DIMS [CLUSTERS]\n");
    return 2;
  }
  const std::string what = argv[1];
  const std::vector<float> rows = bench::read_floats(argv[2]);
  const Index m = std::atoi(argv[3]);
  const Index n = m > 0 ? static_cast<Index>(rows.size()) / m : 0;
  if (n == 0) return 2;
  if (what == "lap") return serve_laps(rows, m, argc > 4 ? std::atoi(argv[4]) : 30);
  if (what == "fit") {
    Learner l(m, n);
    const int code = serve([&] {
      l.learner.reset();
      if (!l.learner.learn(l.backend, {rows.data(), n, m}, {}).ok()) std::abort();
    });
    std::fprintf(stderr, "bench: the fit found %td clusters\n", l.learner.mixture().clusters());
    return code;
  }
  constexpr Index kStream = 1000;
  Learner l(m, kStream);
  Index at = 0;
  const auto stream = [&] {
    if (!l.learner.learn(l.backend, {rows.data() + at * m, kStream, m}, {}).ok()) std::abort();
    at = at + 2 * kStream <= n ? at + kStream : 0;
  };
  for (int i = 0; i < (what == "old" ? 1000 : 10); ++i) stream();
  const int code = serve([&] {
    for (int i = 0; i < 5; ++i) stream();
  });
  std::fprintf(stderr, "bench: %s, %.0f rows, %td clusters\n", what.c_str(), l.learner.rows_seen(),
               l.learner.mixture().clusters());
  return code;
}

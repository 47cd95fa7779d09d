// Clusters rows from a file, stream by stream, for experiments: what is found, when, and how novel
// each row was just before it was learnt.
//
//   cluster_streams ROWS.f32 DIMS OUT.csv [name=value...]
//
// ROWS.f32 holds rows of DIMS little-endian floats. OUT.csv gets a line per row:
//   stream, novelty and cluster id before its stream was learnt, cluster id at the end
// Standard output: a line per event, then a summary.
// Names: block (rows of a stream, 0 = all), blocks (file with one number of rows per line), kappa,
// effective, scale, strength, prior (0 fixed, 1 scaled, 2 empirical), alpha, clusters, pending,
// seed, diagonal, rounds, laps, divisions, unexplained, gain, alarm, least_rows, hopeless, quiet,
// repeat.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bench/bench_support.h"
#include "bench/event_printer.h"
#include "compute/cpu_backend.h"
#include "structure/cluster_learner.h"
#include "tools/placed_memory.h"

using namespace adapvae;
using bench::now;
using bench::print_event;

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: cluster_streams ROWS.f32 DIMS OUT.csv [name=value...]\n");
    return 2;
  }
  std::map<std::string, std::string> options;
  for (int i = 4; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr) return std::fprintf(stderr, "not name=value: %s\n", argv[i]), 2;
    options[std::string(argv[i], static_cast<std::size_t>(equals - argv[i]))] = equals + 1;
  }
  const auto number = [&](const char* name, double otherwise) {
    const auto at = options.find(name);
    return at == options.end() ? otherwise : std::atof(at->second.c_str());
  };
  std::vector<float> values = bench::read_floats(argv[1]);
  const Index m = std::atoi(argv[2]);
  const Index n = static_cast<Index>(values.size()) / m;
  if (n == 0) return std::fprintf(stderr, "no rows in %s\n", argv[1]), 2;

  std::vector<Index> blocks;
  if (options.count("blocks") != 0) {
    FILE* file = std::fopen(options["blocks"].c_str(), "r");
    long rows = 0;
    while (file != nullptr && std::fscanf(file, "%ld", &rows) == 1) blocks.push_back(rows);
    if (file != nullptr) std::fclose(file);
  } else {
    const Index block = number("block", 0) > 0 ? static_cast<Index>(number("block", 0)) : n;
    for (Index at = 0; at < n; at += block) blocks.push_back(std::min(block, n - at));
  }
  Index longest = 0;
  for (const Index rows : blocks) longest = std::max(longest, rows);

  LearnerConfig config;
  config.shape.dims = m;
  if (number("diagonal", 0) != 0) config.shape.covariance = FactorShape::kDiagonal;
  config.max_clusters = static_cast<Index>(number("clusters", 60));
  config.max_rows = longest;
  config.pending_rows = static_cast<Index>(number("pending", 0));
  CpuBackend backend;
  ClusterLearner learner;
  const ComputeLimits limits = {.rows = config.stream_rows(),
                                .widest_layer = config.max_clusters,
                                .dims = m,
                                .clusters = std::max(config.max_clusters, Proposal::kMostPieces)};
  const tools::PlacedMemory memory([&](Arena& arena) {
    backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
    learner.place(arena, config);
  });
  learner.reset();
  LearnerSettings& s = learner.settings();
  s.row_weight = number("kappa", s.row_weight);
  s.effective_rows = number("effective", 0);
  s.prior.scale = number("scale", s.prior.scale);
  s.prior.strength = number("strength", s.prior.strength);
  s.prior.mode = static_cast<PriorMode>(static_cast<int>(number("prior", 2)));
  if (options.count("alpha") != 0) s.concentration = fixed_concentration(number("alpha", 5));
  s.seed = static_cast<std::uint64_t>(number("seed", 1));
  s.rounds = static_cast<int>(number("rounds", s.rounds));
  s.laps = static_cast<int>(number("laps", s.laps));
  s.divisions = number("divisions", 1) != 0;
  s.unexplained_births = number("unexplained", 1) != 0;
  s.proposal.least_gain = number("gain", s.proposal.least_gain);
  s.proposal.least_rows = number("least_rows", s.proposal.least_rows);
  s.proposal.hopeless_rows = number("hopeless", s.proposal.hopeless_rows);
  s.novelty.false_alarm_rate = number("alarm", s.novelty.false_alarm_rate);
  bool quiet = number("quiet", 0) != 0;
  learner.set_event_sink({print_event, &quiet});

  constexpr Index kPart = 256;
  std::vector<float> r(static_cast<std::size_t>(kPart * config.max_clusters));
  std::vector<RowScore> score(kPart);
  std::vector<float> novelty(kPart);
  struct Line {
    int stream;
    float novelty;
    unsigned long long before;
    unsigned long long after;
  };
  std::vector<Line> lines(static_cast<std::size_t>(n));
  const auto score_rows = [&](Index begin, Index count, auto&& use) {
    for (Index at = begin; at < begin + count; at += kPart) {
      const Index part = std::min(kPart, begin + count - at);
      learner.score(backend, {values.data() + at * m, part, m}, {},
                    {r.data(), part, learner.mixture().clusters()}, score.data(), novelty.data());
      for (Index i = 0; i < part; ++i) use(at + i, score[i], novelty[i]);
    }
  };
  double seconds = 0.0;
  Index begin = 0;
  int stream = 0;
  for (const Index rows : blocks) {  // rows behind the last block are only scored
    score_rows(begin, rows, [&](Index i, const RowScore& x, float how_novel) {
      const bool none = learner.mixture().rows_learnt() == 0.0;
      lines[i] = {stream, how_novel, none ? 0 : learner.registry().info(x.cluster).id, 0};
    });
    const double start = now();
    const Status status = learner.learn(backend, {values.data() + begin * m, rows, m}, {});
    seconds += now() - start;
    if (!status.ok()) return std::fprintf(stderr, "%s\n", status.message()), 1;
    begin += rows;
    ++stream;
  }
  score_rows(0, n, [&](Index i, const RowScore& x, float) {
    lines[i].after = learner.registry().info(x.cluster).id;
  });
  if (FILE* out = std::fopen(argv[3], "w")) {
    for (const Line& line : lines) {
      std::fprintf(out, "%d,%g,%llu,%llu\n", line.stream, line.novelty, line.before, line.after);
    }
    std::fclose(out);
  }
  std::printf(
      "K %td, ids %llu, rows %.0f, pending %td, boundary %.3g, repairs %llu, %.3f s, %.1f MB\n",
      learner.mixture().clusters(),
      static_cast<unsigned long long>(learner.registry().given().clusters), learner.rows_seen(),
      learner.pending().count(), learner.boundary(),
      static_cast<unsigned long long>(learner.mixture().repairs()), seconds,
      static_cast<double>(memory.bytes()) / 1e6);
  return 0;
}

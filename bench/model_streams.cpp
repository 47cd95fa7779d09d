// The whole model on streams of MNIST, for experiments. Labels make the streams and score, nothing
// else.
//
//   model_streams p1|p2 DATA_FOLDER SEED [name=value...]
//
// Names are those of docs/configuration.md, on top of a preset (preset=desktop), and
//   rows=4000 of a stream, threads=2, quiet=0 (1: no events).
// p1: `rows` rows as one block. p2: digits two by two, `rows` a stream, nothing from later streams.
// Prints a line per stream and a last line with the held-out figures.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/sampling.h"
#include "bench/bench_support.h"
#include "bench/event_printer.h"
#include "compute/cpu_backend.h"
#include "model/model.h"
#include "tools/idx_file.h"
#include "tools/placed_memory.h"
#include "tools/thread_pool.h"

using namespace adapvae;
using bench::now;
using bench::print_event;

namespace {

struct Set {
  std::vector<float> rows;
  std::vector<int> label;
};

bool read_set(const std::string& folder, const std::string& name, Set* set) {
  std::string error;
  auto images = tools::read_idx_file(folder + "/" + name + "-images.idx.gz", error);
  auto labels = tools::read_idx_file(folder + "/" + name + "-labels.idx.gz", error);
  if (!images || !labels) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return false;
  }
  set->rows = images->values;
  for (float& x : set->rows) x /= 255.0F;
  for (const float x : labels->values) set->label.push_back(static_cast<int>(x));
  return true;
}

// The preset for streams of up to `rows` rows, with what the caller sets.
bool configure(const std::string& preset, std::uint64_t seed, std::size_t rows,
               const std::map<std::string, std::string>& options, Configuration* config) {
  const auto accepted = [](const Status& status, const std::string& what) {
    if (!status.ok()) std::fprintf(stderr, "%s: %s\n", what.c_str(), status.message());
    return status.ok();
  };
  if (!accepted(apply_preset(*config, preset), preset)) return false;
  config->seed = seed;
  config->block_rows = static_cast<std::int32_t>(rows);
  for (const auto& [name, value] : options) {
    if (!accepted(set_field_text(*config, name, value), name + "=" + value)) return false;
  }
  return accepted(check_configuration(*config), "configuration");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: model_streams p1|p2 DATA_FOLDER SEED [name=value...]\n");
    return 2;
  }
  std::map<std::string, std::string> options;
  for (int i = 4; i < argc; ++i) {
    const char* equals = std::strchr(argv[i], '=');
    if (equals == nullptr) return std::fprintf(stderr, "not name=value: %s\n", argv[i]), 2;
    options[std::string(argv[i], static_cast<std::size_t>(equals - argv[i]))] = equals + 1;
  }
  // The driver's own options; what is left is the configuration's.
  const auto own = [&](const char* name, const char* otherwise) {
    const auto at = options.find(name);
    if (at == options.end()) return std::string(otherwise);
    std::string value = at->second;
    options.erase(at);
    return value;
  };
  const std::string preset = own("preset", "desktop");
  const auto per_stream = static_cast<std::size_t>(std::atoll(own("rows", "4000").c_str()));
  const int workers = std::atoi(own("threads", "2").c_str());
  bool quiet = own("quiet", "0") != "0";
  const std::string protocol = argv[1];
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[3]));
  Set train, test;
  if (!read_set(argv[2], "train", &train) || !read_set(argv[2], "test", &test)) return 1;
  constexpr Index d = 784;

  // The streams: indices of training rows.
  Philox random({.seed = seed, .purpose = RandomPurpose::kTest});
  std::vector<std::uint32_t> order(train.label.size());
  fill_permutation(random, order.data(), static_cast<std::uint32_t>(order.size()));
  std::vector<std::vector<std::uint32_t>> streams;
  if (protocol == "p1") {
    streams.emplace_back(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(
                                                            std::min(per_stream, order.size())));
  } else {
    for (int first = 0; first < 10; first += 2) {
      streams.emplace_back();
      for (const std::uint32_t i : order) {
        if (train.label[i] / 2 * 2 == first && streams.back().size() < per_stream) {
          streams.back().push_back(i);
        }
      }
    }
  }
  std::size_t longest = 0;
  for (const auto& s : streams) longest = std::max(longest, s.size());

  Configuration config;
  if (!configure(preset, seed, longest, options, &config)) return 2;
  ComputeLimits limits = Model::limits(config);
  limits.workers = workers;
  CpuBackend backend;
  Model model;
  const tools::PlacedMemory memory([&](Arena& arena) {
    backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
    model.place(arena, config);
  });
  model.reset();
  tools::ThreadPool pool(workers);
  if (workers > 1) backend.set_parallel_for(pool.parallel_for());
  model.clusters().set_event_sink({print_event, &quiet});

  std::vector<RowResult> scored(test.label.size());
  // Of held-out rows of the first `kinds` digits.
  const auto evaluate = [&](int kinds, std::vector<ClusterId>* found) {
    ContingencyTable table;
    const tools::PlacedMemory room([&](Arena& arena) { table.place(arena, 10, 64); });
    table.reset();
    found->clear();
    const auto n = static_cast<Index>(test.label.size());
    if (!model.score(backend, {test.rows.data(), n, d}, scored.data()).ok()) std::abort();
    for (std::size_t i = 0; i < test.label.size(); ++i) {
      found->push_back(scored[i].id);
      const int label = test.label[i];
      if (label < kinds && !table.add(static_cast<std::uint64_t>(label), scored[i].id).ok())
        std::abort();
    }
    return table.metrics();
  };

  const double start = now();
  std::vector<ClusterId> found;
  std::set<ClusterId> before;
  std::map<ClusterId, int> frozen;  // cluster → digit, as of its birth
  std::vector<double> precision, recall;
  for (std::size_t t = 0; t < streams.size(); ++t) {
    std::vector<float> rows;
    for (const std::uint32_t i : streams[t]) {
      rows.insert(rows.end(), train.rows.begin() + i * d, train.rows.begin() + (i + 1) * d);
    }
    StreamReport report;
    const Status status =
        model.learn(backend, {rows.data(), static_cast<Index>(streams[t].size()), d}, &report);
    if (!status.ok()) return std::fprintf(stderr, "%s\n", status.message()), 1;
    const int kinds = protocol == "p1" ? 10 : static_cast<int>(2 * t + 2);
    const ClusterMetrics m = evaluate(kinds, &found);
    std::printf(
        "stream %zu: K %td, NMI %.3f ARI %.3f HS %.3f ACC %.3f, loss %.1f, drift %.2f, "
        "replay %td, %.0f s\n",
        t + 1, report.clusters, m.nmi, m.ari, m.homogeneity, m.accuracy, report.loss.loss,
        report.largest_drift, report.replay_rows, now() - start);
    // Newborn clusters: the digit that most of their held-out rows are, among those seen so far.
    std::map<ClusterId, std::map<int, int>> votes;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (test.label[i] < kinds) ++votes[found[i]][test.label[i]];
    }
    std::map<int, std::set<ClusterId>> newborn;
    for (const auto& [cluster, count] : votes) {
      if (before.count(cluster) != 0) continue;
      before.insert(cluster);
      const auto most = std::max_element(count.begin(), count.end(),
                                         [](auto& a, auto& b) { return a.second < b.second; });
      frozen[cluster] = most->first;
      newborn[most->first].insert(cluster);
    }
    for (int digit = kinds - 2; digit < kinds && protocol != "p1"; ++digit) {
      double chosen = 0.0, hit = 0.0, all = 0.0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (test.label[i] >= kinds) continue;
        const bool in = newborn[digit].count(found[i]) != 0;
        chosen += in;
        all += test.label[i] == digit;
        hit += in && test.label[i] == digit;
      }
      precision.push_back(chosen > 0 ? hit / chosen : 0.0);
      recall.push_back(hit / all);
      std::printf("  digit %d: novelty precision %.3f recall %.3f\n", digit, precision.back(),
                  recall.back());
    }
    std::fflush(stdout);
  }
  const ClusterMetrics m = evaluate(10, &found);
  double right = 0.0, p = 0.0, r = 0.0;
  {
    ContingencyTable table;
    const tools::PlacedMemory room([&](Arena& arena) { table.place(arena, 10, 64); });
    table.reset();
    std::set<Index> kinds;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Index k = model.clusters().registry().find(found[i]);
      kinds.insert(model.kind(k));
      if (!table
               .add(static_cast<std::uint64_t>(test.label[i]),
                    static_cast<std::uint64_t>(model.kind(k)))
               .ok())
        std::abort();
    }
    const ClusterMetrics km = table.metrics();
    std::printf("kinds: %zu NMI %.4f ARI %.4f HS %.4f ACC %.4f\n", kinds.size(), km.nmi, km.ari,
                km.homogeneity, km.accuracy);
  }
  for (std::size_t i = 0; i < found.size(); ++i) right += frozen[found[i]] == test.label[i];
  for (const double x : precision) p += x / static_cast<double>(precision.size());
  for (const double x : recall) r += x / static_cast<double>(recall.size());
  std::printf(
      "final: K %td NMI %.4f ARI %.4f HS %.4f ACC %.4f frozen %.4f P %.3f R %.3f, %.0f s, "
      "%.0f MB\n",
      model.clusters().mixture().clusters(), m.nmi, m.ari, m.homogeneity, m.accuracy,
      right / static_cast<double>(found.size()), p, r, now() - start,
      static_cast<double>(memory.bytes()) / 1e6);
  return 0;
}

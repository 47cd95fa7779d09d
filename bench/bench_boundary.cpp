// What the C boundary costs: rows scored through adapvae_score() or by Model::score() of the same
// model. For bench.py: one line on standard input = one timed burst, whose best seconds per call is
// printed.
//
//   bench_boundary PRESET ROWS capi|core
//   bench_boundary PRESET ROWS both      by turns in one process; the median of the ratios of their
//                                        times, which other work on the machine disturbs least
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "adapvae/adapvae.h"
#include "bench/bench_support.h"
#include "compute/cpu_backend.h"
#include "model/model.h"
#include "tools/placed_memory.h"

namespace {

using namespace adapvae;
using bench::now;

struct Core {
  explicit Core(const Configuration& config)
      : memory([&](Arena& arena) {
          backend.place(arena, Model::limits(config), *select_kernels(IsaLevel::kAuto));
          model.place(arena, config);
        }) {
    model.reset();
  }
  CpuBackend backend;
  Model model;
  tools::PlacedMemory memory;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: bench_boundary PRESET ROWS capi|core|both\n");
    return 2;
  }
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  if (adapvae_config_preset(&config, argv[1], nullptr) != ADAPVAE_OK) return 2;
  const int32_t count = std::atoi(argv[2]);
  const bool capi = std::strcmp(argv[3], "capi") == 0;
  config.pretrain_epochs = config.joint_epochs = 2;
  Configuration same;
  if (!apply_preset(same, argv[1]).ok()) return 2;
  same.pretrain_epochs = same.joint_epochs = 2;

  const auto d = static_cast<std::size_t>(config.inputs);
  std::vector<float> rows(static_cast<std::size_t>(std::max(count, config.block_rows)) * d);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = 0.2F + 0.5F * static_cast<float>(i / d % 3 == i % 3) +
              0.001F * static_cast<float>(i * 37 % 101);
  }
  // Both learn the same; the snapshot of the one is the other's.
  adapvae_model* model = nullptr;
  if (adapvae_create(&config, nullptr, &model, nullptr) != ADAPVAE_OK) return 1;
  if (adapvae_learn(model, rows.data(), config.block_rows, 0, nullptr) != ADAPVAE_OK) return 1;
  std::size_t size = 0;
  adapvae_save(model, nullptr, 0, &size);
  std::vector<std::byte> bytes(size);
  adapvae_save(model, bytes.data(), size, &size);
  Core core(same);
  if (!core.model.load(bytes.data(), size).ok()) return 1;

  std::vector<adapvae_result> results(static_cast<std::size_t>(count));
  std::vector<RowResult> core_results(results.size());
  const ConstMatrixView view(rows.data(), count, config.inputs);
  // About a millisecond, so that on a machine with other work some stretches are undisturbed.
  const int calls = std::max(1, 64 / count);
  const auto seconds = [&](bool through_capi) {
    const double start = now();
    for (int i = 0; i < calls; ++i) {
      if (through_capi ? adapvae_score(model, rows.data(), count, 0, results.data()) != ADAPVAE_OK
                       : !core.model.score(core.backend, view, core_results.data()).ok()) {
        std::exit(1);
      }
    }
    return (now() - start) / calls;
  };
  if (std::strcmp(argv[3], "both") == 0) {
    std::vector<double> ratios;
    for (const double until = now() + 10.0; now() < until;) {
      const bool first = ratios.size() % 2 == 0;
      const double a = seconds(first);
      const double b = seconds(!first);
      ratios.push_back(first ? a / b : b / a);
    }
    std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
    std::printf("%.3f, median of %zu\n", ratios[ratios.size() / 2], ratios.size());
    adapvae_destroy(model);
    return 0;
  }
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    double best = 1e30;
    const double until = now() + 0.5;
    while (now() < until) best = std::min(best, seconds(capi));
    std::printf("%.9g %s\n", best, argv[3]);
    std::fflush(stdout);
  }
  adapvae_destroy(model);
  return 0;
}

// Training steps of the presets' networks by the CUDA backend beside the CPU's, one thread: a table
// for docs/results/cuda.md. Ends with 77, and says why, where there is no CUDA.
//
//   bench_cuda [PRESET]
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "bench/bench_support.h"
#include "compute/cpu_backend.h"
#include "compute/cuda/cuda_backend.h"
#include "compute/cuda/plugin.h"
#include "model/configuration_parts.h"
#include "tools/placed_memory.h"

namespace {

using namespace adapvae;

constexpr Index kClusters = 10;
constexpr Index kBatches[] = {50, 100, 200, 500, 1000, 2000};

// A network with trainer and mixture, and the seconds that its joint training step takes.
class Steps {
 public:
  explicit Steps(const VaeConfig& config)
      : config_(config), memory_([this](Arena& arena) { place(arena); }) {
    vae_.initialise(1);
    const Index m = config_.latent;
    mean_.resize(static_cast<std::size_t>(kClusters * m));
    factor_.assign(static_cast<std::size_t>(kClusters * m * (m + 1) / 2), 0.1F);
    diagonal_.assign(static_cast<std::size_t>(kClusters * m), 1.0F);
    weight_.assign(kClusters, -2.0F);
    Philox random({.seed = 3});
    for (float& x : mean_) x = random.uniform_float();
    rows_.resize(static_cast<std::size_t>(kRows * config_.max_rows * config_.inputs));
    for (float& x : rows_) x = random.uniform_float();
  }

  Status open(CudaBackend& device, const DeviceTable& table) {
    const MemoryRange kept[] = {vae_.memory(), trainer_.memory()};
    (void)vae_.parameters();  // to be sent
    return device.open(table,
                       {.limits = compute_limits(config_), .kept = kept, .more_bytes = 1 << 16});
  }
  CpuBackend& cpu() { return cpu_; }

  // The best epoch's mean; 0 if a step fails.
  double seconds(Backend& backend) {
    VaeBatch pattern;
    pattern.mixture = {{.clusters = kClusters,
                        .dims = config_.latent,
                        .mean = mean_.data(),
                        .factor = factor_.data(),
                        .precision_diagonal = diagonal_.data()},
                       weight_.data()};
    TrainingSettings settings;
    settings.batch = config_.max_rows;
    const ConstMatrixView rows(rows_.data(), kRows * config_.max_rows, config_.inputs);
    double best = 1e30;
    const double until = bench::now() + 1.0;
    for (std::uint32_t epoch = 0; epoch < 3 || bench::now() < until; ++epoch) {
      EpochReport report;
      const double start = bench::now();
      if (!trainer_.run_epoch(backend, vae_, settings, epoch, rows, pattern, &report).ok()) {
        std::fprintf(stderr, "bench_cuda: %s\n", backend.status().message());
        return 0.0;
      }
      best = std::min(best, (bench::now() - start) / static_cast<double>(kRows));
    }
    return best;
  }

 private:
  static constexpr Index kRows = 10;  // batches of an epoch

  void place(Arena& arena) {
    cpu_.place(arena, compute_limits(config_), *select_kernels(IsaLevel::kAuto));
    vae_.place(arena, config_);
    trainer_.place(arena, kRows * config_.max_rows, config_);
  }

  VaeConfig config_;
  CpuBackend cpu_;
  Vae vae_;
  Trainer trainer_;
  tools::PlacedMemory memory_;
  std::vector<float> mean_, factor_, diagonal_, weight_, rows_;
};

}  // namespace

int main(int argc, char** argv) {
  const CudaPlugin plugin = cuda_plugin();
  if (plugin.table == nullptr) {
    std::fprintf(stderr, "bench_cuda: no CUDA: %s\n", plugin.reason);
    return 77;
  }
  bool named = false;
  for (const Preset& preset : configuration_presets()) {
    if (argc > 1 && std::strcmp(argv[1], preset.name) != 0) continue;
    Configuration full;
    if (!apply_preset(full, preset.name).ok()) return 1;
    for (const Index batch : kBatches) {
      VaeConfig config = network_config(full);
      config.max_rows = batch;
      config.max_clusters = kClusters;
      Steps steps(config);
      const double cpu = steps.seconds(steps.cpu());
      CudaBackend device;
      if (const Status status = steps.open(device, *plugin.table); !status.ok()) {
        std::fprintf(stderr, "bench_cuda: %s\n", status.message());
        return 1;
      }
      if (!named) {
        std::printf("%s beside the CPU (%s, one thread), joint training step, %td clusters\n\n",
                    device.name(), steps.cpu().name(), kClusters);
        std::printf("| preset | batch | CPU ms | CUDA ms | ratio |\n|---|---|---|---|---|\n");
        named = true;
      }
      const double cuda = steps.seconds(device);
      if (cuda == 0.0) return 1;
      std::printf("| %s | %td | %.3f | %.3f | %.1f |\n", preset.name, batch, 1e3 * cpu, 1e3 * cuda,
                  cpu / cuda);
      std::fflush(stdout);
    }
  }
  return 0;
}

// Training steps of the network alone, as bench_vae times them natively, for the page that runs
// them beside TensorFlow.js.
#include <cstdint>
#include <optional>
#include <vector>

#include "base/philox.h"
#include "tools/plain_vae.h"

using namespace adapvae;

namespace {

constexpr Index kBatches = 10;  // of noise, so that inputs are not always in the cache

struct Bench {
  VaeConfig config;
  std::optional<tools::PlainVae> network;
  std::vector<float> rows;
  std::uint32_t step = 0;
};
Bench* bench = nullptr;

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int32_t bench_make(int32_t inputs, int32_t hidden1,
                                                          int32_t hidden2, int32_t latent,
                                                          int32_t batch) {
  delete bench;
  bench = new Bench;
  VaeConfig& config = bench->config;
  config.inputs = inputs;
  config.latent = latent;
  config.hidden_layers = 2;
  config.hidden[0] = hidden1;
  config.hidden[1] = hidden2;
  config.max_rows = batch;
  if (!check_config(config).ok()) return 0;
  bench->network.emplace(config, 1, 1);
  bench->network->vae().initialise(1);
  bench->rows.resize(static_cast<std::size_t>(kBatches * batch * inputs));
  Philox random({.seed = 2});
  for (float& x : bench->rows) x = random.uniform_float();
  return 1;
}

// 0 if one of them failed.
__attribute__((visibility("default"))) int32_t bench_steps(int32_t count) {
  const Index n = bench->config.max_rows;
  const Index d = bench->config.inputs;
  VaeBatch batch = bench->network->objective();
  for (int32_t i = 0; i < count; ++i) {
    const Index at = static_cast<Index>(bench->step % kBatches) * n * d;
    batch.input = ConstMatrixView(bench->rows.data() + at, n, d);
    batch.target = batch.input;
    batch.noise_key.epoch = ++bench->step;
    VaeLoss loss;
    StepReport report;
    if (!bench->network->vae().train_step(bench->network->backend(), batch, &loss, &report).ok() ||
        !report.applied) {
      return 0;
    }
  }
  return 1;
}

}  // extern "C"

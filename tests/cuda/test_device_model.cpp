// Network and model on the device beside the same on the CPU.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "cuda/device_model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

VaeConfig small_network(Likelihood likelihood) {
  VaeConfig config;
  config.inputs = 17;
  config.latent = 3;
  config.hidden_layers = 2;
  config.hidden[0] = 13;
  config.hidden[1] = 9;
  config.activation = Activation::kTanh;
  config.likelihood.kind = likelihood;
  config.max_rows = 20;
  config.max_clusters = 4;
  return config;
}

// The same network twice: on the CPU, and with the device keeping its memory.
struct Pair {
  Pair(const VaeConfig& config, Index block) : cpu(config, block), other(config, block) {
    cpu.vae.initialise(3);
    other.vae.initialise(3);
    const MemoryRange kept[] = {other.vae.memory(), other.trainer.memory()};
    REQUIRE(device
                .open(device_under_test(),
                      {.limits = compute_limits(config), .kept = kept, .more_bytes = 4096})
                .ok());
  }
  double largest_difference() {
    const std::vector<float> a = cpu.parameters();
    const std::vector<float> b = other.parameters();
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(a[i]) - b[i]));
    }
    return largest;
  }
  NetworkFixture cpu;
  NetworkFixture other;
  CudaBackend device;
};

}  // namespace

TEST_CASE("epochs on the device teach what epochs on the CPU do") {
  for (const Likelihood likelihood :
       {Likelihood::kBernoulli, Likelihood::kGaussian, Likelihood::kGaussianLearned}) {
    const VaeConfig config = small_network(likelihood);
    const Index count = 50;
    Pair pair(config, count);
    const Rows rows = uniform_rows(count, config.inputs, 5);
    const MixtureData mixture = random_mixture(4, config.latent, FactorShape::kLower, 8);
    const std::vector<float> target = random_normals(count * config.latent, 9);
    const std::vector<float> weight(static_cast<std::size_t>(count), 0.3F);
    const std::vector<float> code = random_normals(count * config.latent, 10);
    const std::vector<float> spread(static_cast<std::size_t>(count * config.latent), 0.2F);
    VaeBatch pattern;
    pattern.mixture = mixture.view();
    TrainingSettings settings;
    settings.batch = 20;  // and one of 10
    settings.corruption.mask_probability = 0.2F;
    const std::vector<float> start = pair.cpu.parameters();
    EpochReport a;
    EpochReport b;
    for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
      CAPTURE(epoch);
      // The prior alone, with rows that are to stay, with responsibilities from codes, and without.
      pattern.prior_weight = epoch == 3 ? 0.0F : 0.5F;
      pattern.sample = epoch != 3;
      if (epoch == 1) {
        pattern.latent_target = ConstMatrixView(target.data(), count, config.latent);
        pattern.latent_weight = weight.data();
      }
      if (epoch == 2) {
        settings.codes = {{code.data(), count, config.latent},
                          {spread.data(), count, config.latent}};
      }
      REQUIRE(
          pair.cpu.trainer
              .run_epoch(pair.cpu.backend, pair.cpu.vae, settings, epoch, rows.view(), pattern, &a)
              .ok());
      REQUIRE(pair.other.trainer
                  .run_epoch(pair.device, pair.other.vae, settings, epoch, rows.view(), pattern, &b)
                  .ok());
      CHECK(b.loss.loss == doctest::Approx(a.loss.loss).epsilon(1e-4));
      CHECK(b.loss.entropy == doctest::Approx(a.loss.entropy).epsilon(1e-4));
      CHECK(b.loss.distillation == doctest::Approx(a.loss.distillation).epsilon(1e-4));
      CHECK(b.skipped_steps == 0);
    }
    CHECK(pair.largest_difference() < 1e-4);
    CHECK(!same_bytes(pair.other.parameters(), start));  // otherwise this test shows nothing
    // Rows through the network that was learnt.
    Rows mean_a(20, config.latent);
    Rows mean_b(20, config.latent);
    Rows out_a(20, config.inputs);
    Rows out_b(20, config.inputs);
    const ConstMatrixView some = rows.view().row_range(0, 20);
    REQUIRE(pair.cpu.vae.encode(pair.cpu.backend, some, mean_a.view(), MatrixView()).ok());
    REQUIRE(pair.other.vae.encode(pair.device, some, mean_b.view(), MatrixView()).ok());
    REQUIRE(pair.cpu.vae.reconstruct(pair.cpu.backend, some, out_a.view()).ok());
    REQUIRE(pair.other.vae.reconstruct(pair.device, some, out_b.view()).ok());
    for (Index i = 0; i < 20; ++i) {
      for (Index j = 0; j < config.latent; ++j) {
        CHECK(mean_b(i, j) == doctest::Approx(mean_a(i, j)).epsilon(1e-3));
      }
      for (Index j = 0; j < config.inputs; ++j) {
        CHECK(out_b(i, j) == doctest::Approx(out_a(i, j)).epsilon(1e-3));
      }
    }
  }
}

TEST_CASE("layer-wise pretraining on the device is that on the CPU") {
  const VaeConfig config = small_network(Likelihood::kBernoulli);
  const Index count = 30;
  Pair pair(config, count);
  const Rows rows = uniform_rows(count, config.inputs, 5);
  TrainingSettings settings;
  settings.batch = 20;
  settings.corruption.mask_probability = 0.2F;
  EpochReport a;
  EpochReport b;
  for (int level = 0; level <= config.hidden_layers; ++level) {
    for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
      REQUIRE(pair.cpu.trainer
                  .run_layer_epoch(pair.cpu.backend, pair.cpu.vae, settings, level, epoch,
                                   rows.view(), &a)
                  .ok());
      REQUIRE(
          pair.other.trainer
              .run_layer_epoch(pair.device, pair.other.vae, settings, level, epoch, rows.view(), &b)
              .ok());
      CHECK(b.loss.loss == doctest::Approx(a.loss.loss).epsilon(1e-4));
    }
  }
  CHECK(pair.largest_difference() < 1e-4);
}

// Parameters, gradients, moments and activations stay: what crosses does not depend on their sizes.
TEST_CASE("per step only the batch, the noise and small results cross") {
  if (!is_host_device(device_under_test())) return;
  const VaeConfig config = small_network(Likelihood::kBernoulli);
  const Index n = config.max_rows;
  const Index d = config.inputs;
  const Index m = config.latent;
  const Index K = config.max_clusters;
  const Index gaussian = m + m * (m + 1) / 2;  // mean and factor
  const Index steps = 10;
  Pair pair(config, 2 * steps * n);
  const Rows rows = uniform_rows(2 * steps * n, d, 5);
  const MixtureData mixture = random_mixture(K, m, FactorShape::kLower, 8);
  const std::vector<float> code = random_normals(2 * steps * n * m, 10);
  const std::vector<float> spread(code.size(), 0.2F);
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  TrainingSettings settings;
  settings.batch = n;
  const auto counted = [&](Index count) {
    settings.codes = {{code.data(), count, m}, {spread.data(), count, m}};
    EpochReport report;
    const DeviceCounts before = device_counts();
    REQUIRE(pair.other.trainer
                .run_epoch(pair.device, pair.other.vae, settings, 0,
                           rows.view().row_range(0, count), pattern, &report)
                .ok());
    DeviceCounts difference = device_counts();
    for (int i = 0; i < static_cast<int>(DeviceCall::kCount); ++i) {
      difference.of[i] -= before.of[i];
    }
    difference.bytes_in -= before.bytes_in;
    difference.bytes_out -= before.bytes_out;
    return difference;
  };
  (void)counted(steps * n);  // parameters and moments are sent
  const DeviceCounts some = counted(steps * n);
  const DeviceCounts twice = counted(2 * steps * n);
  const Index in = 2 * n * d + 3 * n * m + 2 * n * K  // batch, codes, noise, responsibilities
                   + K * (3 * gaussian + 3 * m + 1);  // the mixture, for each of its operations
  const Index out = 3 * n * K + n * m + n + 2;  // distances, shares, variance, likelihood, norm
  CHECK(twice.bytes_in - some.bytes_in == static_cast<std::uint64_t>(steps * in * 4));
  CHECK(twice.bytes_out - some.bytes_out == static_cast<std::uint64_t>(steps * out * 4));
  const auto per_step = [&](DeviceCall kind) {
    return static_cast<double>(twice.of[static_cast<int>(kind)] - some.of[static_cast<int>(kind)]) /
           static_cast<double>(steps);
  };
  MESSAGE("a step: ", per_step(DeviceCall::kLaunch), " operations, ", per_step(DeviceCall::kCopyIn),
          " copies in, ", per_step(DeviceCall::kCopyOut), " out, ", per_step(DeviceCall::kFinish),
          " waits");
  CHECK(per_step(DeviceCall::kFinish) <= 12.0);
}

TEST_CASE("an epoch without a step leaves the parameters that the host wrote") {
  Pair pair(small_network(Likelihood::kBernoulli), 30);
  const Rows rows = uniform_rows(30, 17, 5);
  const MixtureData mixture = random_mixture(4, 3, FactorShape::kLower, 8);
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  TrainingSettings settings;
  settings.batch = 20;
  EpochReport report;
  REQUIRE(pair.other.trainer
              .run_epoch(pair.device, pair.other.vae, settings, 0, rows.view(), pattern, &report)
              .ok());
  pair.other.vae.initialise(4);
  const std::vector<float> written = pair.other.parameters();
  settings.go_on = GoOn{[](void*) { return false; }, nullptr};
  REQUIRE(pair.other.trainer
              .run_epoch(pair.device, pair.other.vae, settings, 1, rows.view(), pattern, &report)
              .ok());
  CHECK(report.rows == 0);
  CHECK(same_bytes(pair.other.parameters(), written));
}

TEST_CASE("a model learns, scores and saves on the device; twice the same to the last bit") {
  const Configuration config = quick_model();
  DeviceModel a(config);
  DeviceModel b(config);
  const DeviceCounts opened = device_counts();
  const Rows first = kinds(0, 1, 60, 1);
  const Rows second = kinds(2, 3, 60, 2);
  for (DeviceModel* model : {&a, &b}) {
    REQUIRE(model->learn(first).ok());
    REQUIRE(model->learn(second).ok());
  }
  CHECK(a.snapshot() == b.snapshot());
  CHECK(a.memory.guards_untouched());
  CHECK(a.model.clusters().mixture().clusters() >= 2);
  // Memory was taken when the device was opened, and never after.
  const auto allocations = [](const DeviceCounts& counts) {
    return counts.of[static_cast<int>(DeviceCall::kAllocate)] +
           counts.of[static_cast<int>(DeviceCall::kAllocateHost)];
  };
  CHECK(allocations(device_counts()) == allocations(opened));

  // What the device learnt, a CPU goes on with: the file is the same.
  ModelFixture cpu(config);
  REQUIRE(cpu.load(a.snapshot()).ok());
  std::vector<RowResult> by_device(60);
  REQUIRE(a.model.score(a.backend, second.view(), by_device.data()).ok());
  const std::vector<RowResult> by_cpu = cpu.score(second);
  int same = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    same += by_cpu[i].id == by_device[i].id;
    CHECK(by_device[i].novelty == doctest::Approx(by_cpu[i].novelty).epsilon(0.02));
  }
  CHECK(same >= 59);
}

// What must not get through: bad configurations, wrong shapes, numbers that are not finite, and
// steps that would ruin the parameters.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

VaeConfig small_config() {
  VaeConfig config;
  config.inputs = 11;
  config.latent = 2;
  config.hidden_layers = 1;
  config.hidden[0] = 9;
  config.max_rows = 20;
  config.max_clusters = 3;
  return config;
}

TrainingSettings batches_of(Index batch, const CorruptionSettings& corruption = {},
                            const AugmentationSettings& augmentation = {}) {
  TrainingSettings settings;
  settings.batch = batch;
  settings.corruption = corruption;
  settings.augmentation = augmentation;
  return settings;
}

// A network that has made a few steps, so that moments and step count are not zero.
struct WarmNetwork {
  explicit WarmNetwork(VaeConfig config = small_config())
      : network(config, 60),
        rows(uniform_rows(20, config.inputs, 1)),
        block(uniform_rows(60, config.inputs, 2)),
        mixture(random_mixture(3, config.latent, FactorShape::kLower, 3)) {
    network.vae.initialise(4);
    for (std::uint32_t i = 0; i < 5; ++i) step(i);
  }

  VaeBatch batch() const {
    VaeBatch result;
    result.input = rows.view();
    result.target = rows.view();
    result.mixture = mixture.view();
    return result;
  }
  StepReport step(std::uint32_t epoch) {
    VaeBatch batch_of_epoch = batch();
    batch_of_epoch.noise_key.epoch = epoch;
    VaeLoss loss;
    StepReport report;
    REQUIRE(network.vae.train_step(network.backend, batch_of_epoch, &loss, &report).ok());
    return report;
  }

  // Runs `call`, which must fail with `code` and leave every byte of the network as it was. Returns
  // the index that it blames.
  std::int64_t rejected(StatusCode code, const std::function<Status()>& call) {
    const std::vector<std::byte> before = network.memory.snapshot();
    const std::uint32_t steps = network.vae.optimiser().steps();
    const std::uint64_t skipped = network.vae.optimiser().skipped_steps();
    const float learning_rate = network.vae.optimiser().learning_rate();
    const Status status = call();
    CHECK(status.code() == code);
    CHECK(same_bytes(network.memory.snapshot(), before));
    CHECK(network.vae.optimiser().steps() == steps);
    CHECK(network.vae.optimiser().skipped_steps() == skipped);
    CHECK(network.vae.optimiser().learning_rate() == learning_rate);
    CHECK(network.memory.guards_untouched());
    return status.index();
  }

  NetworkFixture network;
  Rows rows, block;
  MixtureData mixture;
};

}  // namespace

TEST_CASE("a configuration out of bounds is refused") {
  CHECK(check_config(small_config()).ok());
  const auto refused = [](const std::function<void(VaeConfig&)>& change) {
    VaeConfig config = small_config();
    change(config);
    return check_config(config).code() == StatusCode::kInvalidArgument;
  };
  for (const Index bad : {Index{0}, Index{-1}, (Index{1} << 20) + 1}) {
    CHECK(refused([=](VaeConfig& config) { config.inputs = bad; }));
    CHECK(refused([=](VaeConfig& config) { config.latent = bad; }));
    CHECK(refused([=](VaeConfig& config) { config.hidden[0] = bad; }));
    CHECK(refused([=](VaeConfig& config) { config.max_rows = bad; }));
    CHECK(refused([=](VaeConfig& config) { config.max_clusters = bad; }));
  }
  CHECK(refused([](VaeConfig& config) { config.hidden_layers = -1; }));
  CHECK(refused([](VaeConfig& config) { config.hidden_layers = kMaxLayers; }));
  CHECK(refused([](VaeConfig& config) { config.hidden_layers = 2; }));  // hidden[1] is 0
  for (const float bad : {0.0F, -1.0F, kNan, kInfinity}) {
    CHECK(refused([=](VaeConfig& config) { config.likelihood.variance = bad; }));
  }
  CHECK(refused([](VaeConfig& config) { config.log_variance = {1.0F, 1.0F}; }));
  CHECK(refused([](VaeConfig& config) { config.log_variance = {2.0F, -2.0F}; }));
  CHECK(refused([](VaeConfig& config) { config.log_variance.min = kNan; }));
  CHECK(refused([](VaeConfig& config) { config.log_variance.max = kNan; }));
  CHECK(refused([](VaeConfig& config) { config.likelihood.log_variance_min = 5.0F; }));
  CHECK(refused([](VaeConfig& config) { config.likelihood.log_variance_max = kNan; }));
}

TEST_CASE("a row that is not finite is named, and nothing changes") {
  WarmNetwork warm;
  Vae& vae = warm.network.vae;
  CpuBackend& backend = warm.network.backend;
  const VaeConfig& config = vae.config();
  VaeLoss loss;
  StepReport report;
  EpochReport epoch_report;
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (const Index row : {Index{0}, Index{7}, Index{19}}) {
      CAPTURE(bad);
      CAPTURE(row);
      Rows broken = warm.rows;
      broken(row, row % config.inputs) = bad;
      const auto names_row = [&](const std::function<Status()>& call) {
        CHECK(warm.rejected(StatusCode::kNonFinite, call) == row);
      };
      VaeBatch both = warm.batch();
      both.input = both.target = broken.view();
      VaeBatch in_input = warm.batch();
      in_input.input = broken.view();
      VaeBatch in_target = warm.batch();
      in_target.target = broken.view();
      for (const VaeBatch* batch : {&both, &in_input, &in_target}) {
        names_row([&] { return vae.train_step(backend, *batch, &loss, &report); });
        names_row([&] { return vae.compute_gradient(backend, *batch, &loss); });
        names_row([&] { return vae.compute_loss(backend, *batch, &loss); });
      }
      Rows mean(broken.rows, config.latent);
      Rows out(broken.rows, config.inputs);
      names_row([&] { return vae.encode(backend, broken.view(), mean.view(), {}); });
      names_row([&] { return vae.reconstruct(backend, broken.view(), out.view()); });
      Rows latent = random_rows(broken.rows, config.latent, 9);
      latent(row, 1) = bad;
      names_row([&] { return vae.decode(backend, latent.view(), out.view()); });
      CHECK(mean.data == Rows(broken.rows, config.latent).data);
      CHECK(out.data == Rows(broken.rows, config.inputs).data);

      // In a block of an epoch, the row of the block is named.
      Rows block = warm.block;
      block(3 * row, 2) = bad;
      const TrainingSettings settings = batches_of(20);
      const VaeBatch pattern = warm.batch();
      const std::int64_t epoch = warm.rejected(StatusCode::kNonFinite, [&] {
        return warm.network.trainer.run_epoch(backend, vae, settings, 0, block.view(), pattern,
                                              &epoch_report);
      });
      CHECK(epoch == 3 * row);
      for (const int level : {0, 1}) {
        const std::int64_t layer = warm.rejected(StatusCode::kNonFinite, [&] {
          return warm.network.trainer.run_layer_epoch(backend, vae, settings, level, 0,
                                                      block.view(), &epoch_report);
        });
        CHECK(layer == 3 * row);
      }
    }
  }
}

TEST_CASE("wrong shapes are refused, and nothing changes") {
  WarmNetwork warm;
  Vae& vae = warm.network.vae;
  CpuBackend& backend = warm.network.backend;
  const Index d = vae.config().inputs;
  const Index m = vae.config().latent;
  VaeLoss loss;
  StepReport report;
  const auto refused = [&](const std::function<void(VaeBatch&)>& change) {
    VaeBatch batch = warm.batch();
    change(batch);
    warm.rejected(StatusCode::kShapeMismatch,
                  [&] { return vae.train_step(backend, batch, &loss, &report); });
    warm.rejected(StatusCode::kShapeMismatch,
                  [&] { return vae.compute_loss(backend, batch, &loss); });
    warm.rejected(StatusCode::kShapeMismatch,
                  [&] { return vae.compute_gradient(backend, batch, &loss); });
  };
  const Rows wide(20, d + 1);
  const Rows many(21, d);
  const Rows few(19, d);
  const MixtureData too_many = random_mixture(4, m, FactorShape::kLower, 1);
  const MixtureData other_dims = random_mixture(3, m + 1, FactorShape::kLower, 1);
  const Rows responsibilities = random_responsibilities(20, 2, 1);
  const Rows few_responsibilities = random_responsibilities(19, 3, 1);
  refused([&](VaeBatch& batch) { batch.input = {}; });
  refused([&](VaeBatch& batch) { batch.target = {}; });
  refused([&](VaeBatch& batch) { batch.input = wide.view(); });
  refused([&](VaeBatch& batch) { batch.target = wide.view(); });
  refused([&](VaeBatch& batch) { batch.input = wide.view().col_range(0, d - 1); });
  refused([&](VaeBatch& batch) { batch.input = batch.target = many.view(); });
  refused([&](VaeBatch& batch) { batch.target = few.view(); });
  refused([&](VaeBatch& batch) { batch.input.stride = d - 1; });
  refused([&](VaeBatch& batch) { batch.mixture = {}; });
  refused([&](VaeBatch& batch) { batch.mixture = too_many.view(); });
  refused([&](VaeBatch& batch) { batch.mixture = other_dims.view(); });
  refused([&](VaeBatch& batch) { batch.responsibilities = responsibilities.view(); });
  refused([&](VaeBatch& batch) { batch.responsibilities = few_responsibilities.view(); });

  Rows mean(20, m);
  Rows narrow_mean(20, m - 1);
  Rows few_means(19, m);
  Rows out(20, d);
  Rows few_out(19, d);
  Rows wide_out(20, d + 1);
  const auto mismatch = [&](const std::function<Status()>& call) {
    warm.rejected(StatusCode::kShapeMismatch, call);
  };
  mismatch([&] { return vae.encode(backend, wide.view(), mean.view(), {}); });
  mismatch([&] { return vae.encode(backend, many.view(), mean.view(), {}); });
  mismatch([&] { return vae.encode(backend, {}, mean.view(), {}); });
  mismatch([&] { return vae.encode(backend, warm.rows.view(), narrow_mean.view(), {}); });
  mismatch([&] { return vae.encode(backend, warm.rows.view(), few_means.view(), {}); });
  mismatch([&] { return vae.decode(backend, narrow_mean.view(), out.view()); });
  mismatch([&] { return vae.decode(backend, mean.view(), few_out.view()); });
  mismatch([&] { return vae.decode(backend, mean.view(), wide_out.view()); });
  mismatch([&] { return vae.decode(backend, few_means.view(), out.view()); });
  mismatch([&] { return vae.decode(backend, mean.view(), {}); });
  mismatch([&] { return vae.reconstruct(backend, many.view(), out.view()); });
  mismatch([&] { return vae.reconstruct(backend, wide.view(), out.view()); });
  // Here rows were encoded already: working memory may have changed, parameters may not.
  const std::vector<float> before = warm.network.parameters();
  CHECK(vae.reconstruct(backend, warm.rows.view(), few_out.view()).code() ==
        StatusCode::kShapeMismatch);
  CHECK(same_bytes(warm.network.parameters(), before));
}

TEST_CASE("an epoch refuses settings and blocks that do not fit, and nothing changes") {
  WarmNetwork warm;
  Vae& vae = warm.network.vae;
  const VaeBatch pattern = warm.batch();
  EpochReport report;
  const auto refused = [&](StatusCode code, const TrainingSettings& settings,
                           ConstMatrixView rows) {
    warm.rejected(code, [&] {
      return warm.network.trainer.run_epoch(warm.network.backend, vae, settings, 0, rows, pattern,
                                            &report);
    });
    warm.rejected(code, [&] {
      return warm.network.trainer.run_layer_epoch(warm.network.backend, vae, settings, 0, 0, rows,
                                                  &report);
    });
  };
  const ConstMatrixView rows = warm.block.view();
  const Rows many(61, 11);
  const Rows wide(20, 12);
  const StatusCode invalid = StatusCode::kInvalidArgument;
  const StatusCode shape = StatusCode::kShapeMismatch;
  refused(invalid, batches_of(0), rows);
  refused(invalid, batches_of(-3), rows);
  refused(invalid, batches_of(21), rows);
  refused(shape, batches_of(20), many.view());
  refused(shape, batches_of(20), wide.view());
  refused(shape, batches_of(20), {});
  for (const float bad : {-0.1F, 1.0F, 1.5F, kNan}) {
    refused(invalid, batches_of(20, {.mask_probability = bad}), rows);
  }
  for (const float bad : {-0.1F, kNan}) {
    refused(invalid, batches_of(20, {.noise_deviation = bad}), rows);
  }
  refused(invalid, batches_of(20, {}, {.width = 3, .height = 4}), rows);
  refused(invalid, batches_of(20, {}, {.width = 11, .height = 1, .shift = -1.0F}), rows);
  for (const int level : {-1, 2}) {
    warm.rejected(invalid, [&] {
      return warm.network.trainer.run_layer_epoch(warm.network.backend, vae, batches_of(20), level,
                                                  0, rows, &report);
    });
  }
}

TEST_CASE("a step that is not finite is skipped and counted, and leaves no trace") {
  // Two networks with the same past. One meets steps that must be skipped; if these left
  // parameters, moments, decay and step count alone, the two have the same future.
  for (const float poison : {1e38F, kInfinity, kNan}) {
    CAPTURE(poison);
    WarmNetwork warm;
    WarmNetwork twin;
    Vae& vae = warm.network.vae;
    for (OptimiserSettings* settings :
         {&vae.optimiser().settings(), &twin.network.vae.optimiser().settings()}) {
      settings->step_decay = 0.9F;
      settings->adam.weight_decay = 0.1F;
      settings->clip_norm = 1.0F;
    }
    std::uint64_t skipped = 0;
    const std::vector<float> healthy = warm.network.parameters();
    REQUIRE(same_bytes(healthy, twin.network.parameters()));
    for (const Index layer_start :
         {vae.encoder().layer(0).weights, vae.encoder().layer(1).weights,
          vae.decoder().layer(0).weights, vae.decoder().layer(1).weights}) {
      CAPTURE(layer_start);
      const std::uint32_t steps = vae.optimiser().steps();
      const float learning_rate = vae.optimiser().learning_rate();
      for (Index i = 0; i < 6; ++i) vae.parameters()[layer_start + i] = poison;
      const std::vector<float> poisoned = warm.network.parameters();
      const StepReport report = warm.step(50);
      CHECK_FALSE(report.applied);
      CHECK(vae.optimiser().skipped_steps() == ++skipped);
      CHECK(vae.optimiser().steps() == steps);
      CHECK(vae.optimiser().learning_rate() == learning_rate);
      CHECK(same_bytes(warm.network.parameters(), poisoned));
      warm.network.set_parameters(healthy);
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
      CHECK(warm.step(100 + i).applied);
      CHECK(twin.step(100 + i).applied);
    }
    CHECK(same_bytes(warm.network.parameters(), twin.network.parameters()));
  }
}

TEST_CASE("a gradient too large for Adam is skipped even if the loss is finite") {
  VaeConfig config = small_config();
  config.likelihood.kind = Likelihood::kGaussian;
  config.likelihood.variance = 1e-25F;
  NetworkFixture network(config, 1);
  network.vae.initialise(1);
  const Rows rows = uniform_rows(20, config.inputs, 1);
  const MixtureData mixture = standard_normal(config.latent);
  VaeBatch batch;
  batch.input = batch.target = rows.view();
  batch.mixture = mixture.view();
  VaeLoss loss;
  StepReport report;
  const std::vector<float> before = network.parameters();
  REQUIRE(network.vae.train_step(network.backend, batch, &loss, &report).ok());
  CHECK(std::isfinite(loss.loss));
  CHECK(report.gradient_norm > 1e18);
  CHECK_FALSE(report.applied);
  CHECK(network.vae.optimiser().skipped_steps() == 1);
  CHECK(network.vae.optimiser().steps() == 0);
  CHECK(same_bytes(network.parameters(), before));
}

TEST_CASE("an epoch over a poisoned network skips every step and says so") {
  WarmNetwork warm;
  Vae& vae = warm.network.vae;
  vae.parameters()[vae.decoder().layer(1).bias] = kNan;
  const std::vector<float> before = warm.network.parameters();
  const VaeBatch pattern = warm.batch();
  EpochReport report;
  REQUIRE(warm.network.trainer
              .run_epoch(warm.network.backend, vae, batches_of(20), 0, warm.block.view(), pattern,
                         &report)
              .ok());
  CHECK(report.skipped_steps == 3);
  CHECK(report.loss.loss == 0.0);
  REQUIRE(warm.network.trainer
              .run_layer_epoch(warm.network.backend, vae, batches_of(16), 0, 0, warm.block.view(),
                               &report)
              .ok());
  CHECK(report.skipped_steps == 4);
  CHECK(same_bytes(warm.network.parameters(), before));
}

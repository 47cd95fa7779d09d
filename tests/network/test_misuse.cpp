// Calls that ask for something that cannot be had, or that once went wrong: a clear status, and
// nothing changed.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

VaeConfig small_config() {
  VaeConfig config;
  config.inputs = 12;
  config.latent = 2;
  config.hidden_layers = 1;
  config.hidden[0] = 9;
  config.max_rows = 20;
  config.max_clusters = 3;
  return config;
}

double largest_move(const std::vector<float>& before, const std::vector<float>& after) {
  double largest = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    largest = std::max<double>(largest, std::fabs(after[i] - before[i]));
  }
  return largest;
}

}  // namespace

TEST_CASE("encode rejects outputs of a wrong shape") {
  NetworkFixture network(small_config());
  network.vae.initialise(1);
  const Rows x = uniform_rows(20, 12, 1);
  Rows mean(20, 2);
  Rows good(20, 2);
  Rows short_variance(5, 2);
  Rows narrow_variance(20, 1);
  const auto encode = [&](MatrixView m, MatrixView v) {
    return network.vae.encode(network.backend, x.view(), m, v).code();
  };
  CHECK(encode(mean.view(), good.view()) == StatusCode::kOk);
  CHECK(encode(mean.view(), short_variance.view()) == StatusCode::kShapeMismatch);
  CHECK(encode(mean.view(), narrow_variance.view()) == StatusCode::kShapeMismatch);
  CHECK(encode(short_variance.view(), good.view()) == StatusCode::kShapeMismatch);
  CHECK(encode(MatrixView(), good.view()) == StatusCode::kShapeMismatch);
  CHECK(encode(MatrixView(mean.data.data(), 20, 2, 1), good.view()) == StatusCode::kShapeMismatch);
}

TEST_CASE("a target in the input's memory but of another stride is checked") {
  NetworkFixture network(small_config());
  network.vae.initialise(1);
  Rows x = uniform_rows(20, 24, 1);
  x.data[220] = std::numeric_limits<float>::quiet_NaN();  // in row 9 of the target only
  const MixtureData prior = standard_normal(2);
  VaeBatch batch;
  batch.mixture = prior.view();
  batch.input = ConstMatrixView(x.data.data(), 10, 12, 12);
  batch.target = ConstMatrixView(x.data.data(), 10, 12, 24);
  VaeLoss loss;
  StepReport report;
  const Status status = network.vae.train_step(network.backend, batch, &loss, &report);
  CHECK(status.code() == StatusCode::kNonFinite);
  CHECK(status.index() == 9);
}

TEST_CASE("an epoch takes no responsibilities from outside") {
  NetworkFixture network(small_config(), 60);
  network.vae.initialise(1);
  const Rows x = uniform_rows(45, 12, 1);
  const MixtureData mixture = random_mixture(3, 2, FactorShape::kLower, 1);
  const Rows responsibilities = random_responsibilities(20, 3, 1);
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  pattern.responsibilities = responsibilities.view();
  TrainingSettings settings;
  settings.batch = 20;
  EpochReport report;
  const auto before = network.parameters();
  const Status status = network.trainer.run_epoch(network.backend, network.vae, settings, 0,
                                                  x.view(), pattern, &report);
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(same_bytes(before, network.parameters()));
}

TEST_CASE("a level of pretraining starts with fresh moments") {
  VaeConfig config = small_config();
  config.hidden_layers = 2;
  config.hidden[1] = 6;
  const Rows x = uniform_rows(60, 12, 1);
  TrainingSettings settings;
  settings.batch = 20;
  EpochReport report;
  NetworkFixture network(config, 60);
  network.vae.initialise(1);
  const auto epoch = [&](int level, std::uint32_t number, ConstMatrixView rows) {
    REQUIRE(
        network.trainer
            .run_layer_epoch(network.backend, network.vae, settings, level, number, rows, &report)
            .ok());
  };
  for (std::uint32_t i = 0; i < 100; ++i) epoch(0, i, x.view());
  // Adam moves a parameter by about one learning rate a step; stale step numbers made it several.
  for (std::uint32_t i = 0; i < 24; ++i) {
    const auto before = network.parameters();
    epoch(1, i, x.view().row_range(0, 20));
    CHECK(largest_move(before, network.parameters()) < 1.5e-3);
  }
}

TEST_CASE("pretraining the latent level after end-to-end training leaves the variance head alone") {
  NetworkFixture network(small_config(), 60);
  network.vae.initialise(1);
  const Rows x = uniform_rows(60, 12, 1);
  const MixtureData prior = standard_normal(2);
  VaeBatch pattern;
  pattern.mixture = prior.view();
  TrainingSettings settings;
  settings.batch = 20;
  EpochReport report;
  REQUIRE(network.trainer
              .run_epoch(network.backend, network.vae, settings, 0, x.view(), pattern, &report)
              .ok());
  const auto before = network.parameters();
  REQUIRE(network.trainer
              .run_layer_epoch(network.backend, network.vae, settings, 1, 0, x.view(), &report)
              .ok());
  const auto after = network.parameters();
  const DenseLayer& heads = network.vae.encoder().layer(1);
  int moved = 0;
  for (Index i = 0; i <= heads.inputs; ++i) {
    for (Index j = 2; j < 4; ++j) {
      const auto at = static_cast<std::size_t>(heads.weights + i * heads.outputs + j);
      moved += after[at] != before[at] ? 1 : 0;
    }
  }
  CHECK(moved == 0);
}

TEST_CASE("finite rows of any size survive augmentation and noise") {
  NetworkFixture network(small_config(), 60);
  network.vae.initialise(1);
  Rows x = uniform_rows(60, 12, 1);
  x(37, 1) = 3e38F;
  x(37, 2) = -3e38F;
  x(37, 5) = -3e38F;
  const MixtureData prior = standard_normal(2);
  VaeBatch pattern;
  pattern.mixture = prior.view();
  TrainingSettings settings;
  settings.batch = 20;
  settings.augmentation = {.width = 4, .height = 3, .channels = 1, .shift = 1.0F};
  settings.corruption.noise_deviation = 1e37F;
  EpochReport report;
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    const Status status = network.trainer.run_epoch(network.backend, network.vae, settings, epoch,
                                                    x.view(), pattern, &report);
    CHECK(status.ok());
  }
  for (const float parameter : network.parameters()) REQUIRE(std::isfinite(parameter));
  settings.corruption.noise_deviation = std::numeric_limits<float>::infinity();
  CHECK(network.trainer
            .run_epoch(network.backend, network.vae, settings, 0, x.view(), pattern, &report)
            .code() == StatusCode::kInvalidArgument);
}

TEST_CASE("configurations outside their bounds are refused") {
  CHECK(check_config(small_config()).ok());
  const auto refused = [](auto change) {
    VaeConfig config = small_config();
    change(config);
    return check_config(config).code() == StatusCode::kInvalidArgument;
  };
  CHECK(refused([](VaeConfig& c) { c.activation = static_cast<Activation>(77); }));
  CHECK(refused([](VaeConfig& c) { c.likelihood.kind = static_cast<Likelihood>(9); }));
  CHECK(refused([](VaeConfig& c) { c.initialisation = static_cast<Initialisation>(9); }));
  CHECK(refused([](VaeConfig& c) { c.log_variance = {-200.0F, 4.0F}; }));
  CHECK(refused([](VaeConfig& c) { c.likelihood.log_variance_max = 100.0F; }));
}

TEST_CASE("a trainer placed for another network refuses") {
  NetworkFixture network(small_config(), 60);
  network.vae.initialise(1);
  VaeConfig wider = small_config();
  wider.max_rows = 40;
  NetworkFixture other(wider, 60);
  other.vae.initialise(1);
  const Rows x = uniform_rows(30, 12, 1);
  const MixtureData prior = standard_normal(2);
  VaeBatch pattern;
  pattern.mixture = prior.view();
  TrainingSettings settings;
  settings.batch = 20;
  EpochReport report;
  CHECK(network.trainer.run_epoch(other.backend, other.vae, settings, 0, x.view(), pattern, &report)
            .code() == StatusCode::kShapeMismatch);
}

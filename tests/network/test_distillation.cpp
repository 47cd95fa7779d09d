// Latent targets (distillation), responsibilities from codes, and the standardised latent.
#include <cmath>

#include <doctest/doctest.h>

#include "support/network_fixture.h"
#include "support/reference_vae.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kRows = 7;

VaeConfig small_config() {
  VaeConfig config;
  config.inputs = 6;
  config.latent = 3;
  config.hidden_layers = 1;
  config.hidden[0] = 5;
  config.activation = Activation::kTanh;
  config.likelihood.kind = Likelihood::kGaussian;
  config.max_rows = kRows;
  config.max_clusters = 3;
  return config;
}

}  // namespace

TEST_CASE("the gradient of distillation agrees with central differences") {
  const VaeConfig config = small_config();
  NetworkFixture network(config);
  const std::vector<float> values = random_normals(reference_parameter_count(config), 71, 0.6);
  network.set_parameters(values);
  const Rows x = random_rows(kRows, config.inputs, 72);
  const Rows target = random_rows(kRows, config.latent, 73, 2);
  const std::vector<float> weight = {0.0F, 1.0F, 0.5F, 2.0F, 0.0F, 0.3F, 4.0F};
  const MixtureData mixture = random_mixture(3, config.latent, FactorShape::kLower, 74);
  VaeBatch batch;
  batch.input = batch.target = x.view();
  batch.mixture = mixture.view();
  VaeLoss plain;
  REQUIRE(network.vae.compute_gradient(network.backend, batch, &plain).ok());
  const std::vector<float> without = network.gradients();
  batch.latent_target = target.view();
  batch.latent_weight = weight.data();
  VaeLoss loss;
  REQUIRE(network.vae.compute_gradient(network.backend, batch, &loss).ok());
  std::vector<float> part = network.gradients();
  for (std::size_t i = 0; i < part.size(); ++i) part[i] -= without[i];

  const auto distillation = [&](const std::vector<double>& parameters) {
    const std::vector<double> heads = reference_encode(config, parameters, x.view());
    double sum = 0.0;
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < config.latent; ++j) {
        const double d = heads[static_cast<std::size_t>(i * 2 * config.latent + j)] - target(i, j);
        sum += weight[static_cast<std::size_t>(i)] * d * d;
      }
    }
    return sum / static_cast<double>(kRows);
  };
  CHECK(loss.distillation == doctest::Approx(distillation(to_double(values))).epsilon(1e-5));
  CHECK(loss.loss - plain.loss == doctest::Approx(loss.distillation).epsilon(1e-4));
  const std::vector<double> numeric = central_differences(to_double(values), 1e-5, distillation);
  CHECK(worst_relative_error(part, numeric) < 2e-3);  // a difference of two float gradients
}

TEST_CASE("a standardised latent changes nothing but the latent's scale") {
  const VaeConfig config = small_config();
  NetworkFixture network(config);
  network.set_parameters(random_normals(reference_parameter_count(config), 75, 0.6));
  const Rows x = random_rows(kRows, config.inputs, 76);
  Rows mean(kRows, 3), variance(kRows, 3), rebuilt(kRows, config.inputs);
  Rows new_mean(kRows, 3), new_variance(kRows, 3), new_rebuilt(kRows, config.inputs);
  Vae& vae = network.vae;
  REQUIRE(vae.encode(network.backend, x.view(), mean.view(), variance.view()).ok());
  REQUIRE(vae.reconstruct(network.backend, x.view(), rebuilt.view()).ok());
  const double center[] = {0.7, -2.0, 0.1};
  const double deviation[] = {0.5, 3.0, 1.2};
  vae.standardise_latent(center, deviation);
  REQUIRE(vae.encode(network.backend, x.view(), new_mean.view(), new_variance.view()).ok());
  REQUIRE(vae.reconstruct(network.backend, x.view(), new_rebuilt.view()).ok());
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < 3; ++j) {
      CHECK(std::fabs(new_mean(i, j) - (mean(i, j) - center[j]) / deviation[j]) < 1e-5);
      CHECK(new_variance(i, j) ==
            doctest::Approx(variance(i, j) / (deviation[j] * deviation[j])).epsilon(1e-5));
    }
    for (Index j = 0; j < config.inputs; ++j) {
      CHECK(std::fabs(new_rebuilt(i, j) - rebuilt(i, j)) < 1e-5);
    }
  }
}

TEST_CASE("an epoch obeys targets") {
  VaeConfig config = small_config();
  constexpr Index kBlock = 40;
  const Rows x = random_rows(kBlock, config.inputs, 77);
  Rows target(kBlock, config.latent);
  for (Index i = 0; i < kBlock; ++i) {
    for (Index j = 0; j < config.latent; ++j) target(i, j) = i % 2 == 0 ? 2.0F : 0.0F;
  }
  std::vector<float> weight(kBlock, 0.0F);
  for (std::size_t i = 0; i < kBlock; i += 2) weight[i] = 50.0F;  // only the even rows are held
  const MixtureData mixture = random_mixture(3, config.latent, FactorShape::kLower, 78);
  NetworkFixture network(config, kBlock);
  network.vae.initialise(5);
  network.vae.optimiser().settings().adam.learning_rate = 0.01F;
  TrainingSettings settings;
  settings.batch = kRows;
  settings.corruption.mask_probability = 0.2F;
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  pattern.latent_target = target.view();
  pattern.latent_weight = weight.data();
  EpochReport first, last;
  for (std::uint32_t epoch = 0; epoch < 60; ++epoch) {
    EpochReport& report = epoch == 0 ? first : last;
    REQUIRE(
        network.trainer
            .run_epoch(network.backend, network.vae, settings, epoch, x.view(), pattern, &report)
            .ok());
  }
  CHECK(last.loss.distillation < 0.2 * first.loss.distillation);
  // Targets of another number of rows are refused.
  pattern.latent_target = target.view().row_range(0, 10);
  CHECK_FALSE(
      network.trainer.run_epoch(network.backend, network.vae, settings, 0, x.view(), pattern, &last)
          .ok());
}

TEST_CASE("an epoch takes responsibilities from the codes it is given") {
  // Two kinds of rows, and codes that put each on the mean of its own cluster: whichever cluster
  // the network itself would choose at first, it must come to put the rows there.
  const VaeConfig config = small_config();
  constexpr Index kBlock = 40;
  Rows x = random_rows(kBlock, config.inputs, 81);
  for (Index i = 0; i < kBlock; ++i) x(i, 0) = i % 2 == 0 ? 3.0F : -3.0F;
  MixtureData mixture = random_mixture(2, config.latent, FactorShape::kLower, 82);
  for (Index j = 0; j < config.latent; ++j) {
    mixture.mean[static_cast<std::size_t>(j)] = 3.0F;
    mixture.mean[static_cast<std::size_t>(config.latent + j)] = -3.0F;
  }
  for (const Index flip : {0, 1}) {
    Rows mean(kBlock, config.latent), variance(kBlock, config.latent);
    for (Index i = 0; i < kBlock; ++i) {
      for (Index j = 0; j < config.latent; ++j) {
        mean(i, j) = (i + flip) % 2 == 0 ? 3.0F : -3.0F;
        variance(i, j) = 0.1F;
      }
    }
    NetworkFixture network(config, kBlock);
    network.vae.initialise(5);
    network.vae.optimiser().settings().adam.learning_rate = 0.02F;
    TrainingSettings settings;
    settings.batch = kRows;
    settings.codes = {mean.view(), variance.view()};
    VaeBatch pattern;
    pattern.mixture = mixture.view();
    EpochReport report;
    for (std::uint32_t epoch = 0; epoch < 60; ++epoch) {
      REQUIRE(
          network.trainer
              .run_epoch(network.backend, network.vae, settings, epoch, x.view(), pattern, &report)
              .ok());
    }
    Rows learnt(kRows, config.latent);
    REQUIRE(network.vae
                .encode(network.backend, x.view().row_range(0, kRows), learnt.view(), MatrixView())
                .ok());
    for (Index i = 0; i < kRows; ++i) CHECK((learnt(i, 0) > 0.0F) == (mean(i, 0) > 0.0F));
    // Codes of another number of rows are refused.
    settings.codes.variance = variance.view().row_range(0, 10);
    CHECK_FALSE(
        network.trainer
            .run_epoch(network.backend, network.vae, settings, 0, x.view(), pattern, &report)
            .ok());
  }
}

// A short real training: a plain VAE on a small synthetic set.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kRows = 600;
constexpr Index kInputs = 20;

// Three prototypes of 0.1 and 0.9 that differ in many inputs, with noise, kept in [0, 1].
Rows prototype_rows() {
  Rows rows = random_rows(kRows, kInputs, 71);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kInputs; ++j) {
      const bool on = (j / 2 + 2 * (i % 3)) % 3 == 0 || (i % 3 == 1 && j >= 12);
      rows(i, j) = std::clamp((on ? 0.9F : 0.1F) + 0.08F * rows(i, j), 0.0F, 1.0F);
    }
  }
  return rows;
}

VaeConfig training_config(Likelihood likelihood) {
  VaeConfig config;
  config.inputs = kInputs;
  config.latent = 2;
  config.hidden_layers = 1;
  config.hidden[0] = 16;
  config.likelihood.kind = likelihood;
  config.likelihood.variance = 0.05F;
  config.max_rows = 100;
  return config;
}

double mean_squared_error(const Rows& a, const Rows& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.data.size(); ++i) {
    const double difference = a.data[i] - b.data[i];
    sum += difference * difference / static_cast<double>(a.data.size());
  }
  return sum;
}

struct Training {
  VaeLoss first, last;
  double rebuilt_error = 0.0;  // of reconstruct()
  double mean_error = 0.0;     // of the mean image
};

Training train(Likelihood likelihood) {
  const Rows rows = prototype_rows();
  const VaeConfig config = training_config(likelihood);
  const MixtureData prior = standard_normal(config.latent);
  NetworkFixture network(config, kRows);
  network.vae.initialise(2);
  network.vae.optimiser().settings().adam.learning_rate = 5e-3F;
  VaeBatch pattern;
  pattern.mixture = prior.view();
  TrainingSettings settings;
  settings.batch = 50;
  settings.seed = 3;
  Training result;
  for (std::uint32_t epoch = 0; epoch < 60; ++epoch) {
    EpochReport report;
    REQUIRE(
        network.trainer
            .run_epoch(network.backend, network.vae, settings, epoch, rows.view(), pattern, &report)
            .ok());
    REQUIRE(report.skipped_steps == 0);
    if (epoch == 0) result.first = report.loss;
    result.last = report.loss;
  }
  Rows rebuilt(kRows, kInputs);
  Rows mean_image(kRows, kInputs);
  for (Index first = 0; first < kRows; first += config.max_rows) {
    REQUIRE(network.vae
                .reconstruct(network.backend, rows.view().row_range(first, config.max_rows),
                             rebuilt.view().row_range(first, config.max_rows))
                .ok());
  }
  for (Index j = 0; j < kInputs; ++j) {
    double mean = 0.0;
    for (Index i = 0; i < kRows; ++i) mean += rows(i, j) / static_cast<double>(kRows);
    for (Index i = 0; i < kRows; ++i) mean_image(i, j) = static_cast<float>(mean);
  }
  result.rebuilt_error = mean_squared_error(rebuilt, rows);
  result.mean_error = mean_squared_error(mean_image, rows);
  CHECK(network.memory.guards_untouched());
  return result;
}

}  // namespace

TEST_CASE("a plain VAE learns three prototypes") {
  for (const Likelihood likelihood :
       {Likelihood::kBernoulli, Likelihood::kGaussian, Likelihood::kGaussianLearned}) {
    CAPTURE(static_cast<int>(likelihood));
    const Training training = train(likelihood);
    CAPTURE(training.first.loss);
    CAPTURE(training.last.loss);
    // Nats per row that the loss must fall from the first epoch to the last; the Gaussian ones have
    // more to gain, because their rows are nearly free of noise.
    const double fall = likelihood == Likelihood::kBernoulli ? 4.0 : 25.0;
    CHECK(training.first.loss - training.last.loss >= fall);
    CHECK(training.last.loss == doctest::Approx(-training.last.log_likelihood -
                                                training.last.mixture - training.last.entropy));
    // Mixture and entropy are minus the divergence from the prior: negative, and not collapsed to
    // zero, because telling three prototypes apart takes log 3 nats.
    const double divergence = -(training.last.mixture + training.last.entropy);
    CHECK(divergence > 0.8);
    CHECK(divergence < 12.0);
    // Noise of deviation 0.08 is left; the mean image misses the prototypes.
    CHECK(training.mean_error > 0.1);
    CHECK(training.rebuilt_error <= 0.2 * training.mean_error);
  }
}

TEST_CASE("an epoch ends at the mini-batch at which it is told to") {
  const VaeConfig config = training_config(Likelihood::kBernoulli);
  const MixtureData prior = standard_normal(config.latent);
  const Rows rows = prototype_rows();
  for (const int allowed : {0, 1, 4}) {
    NetworkFixture fixture(config, kRows);
    fixture.vae.initialise(3);
    const std::vector<float> before = fixture.parameters();
    int left = allowed;
    TrainingSettings settings;
    settings.batch = 70;
    settings.go_on = {[](void* count) { return (*static_cast<int*>(count))-- > 0; }, &left};
    VaeBatch pattern;
    pattern.mixture = prior.view();
    EpochReport report;
    REQUIRE(fixture.trainer
                .run_epoch(fixture.backend, fixture.vae, settings, 0, rows.view(), pattern, &report)
                .ok());
    CHECK(report.rows == 70 * allowed);
    CHECK(left == -1);  // asked once more than it went on
    CHECK(same_bytes(before, fixture.parameters()) == (allowed == 0));
    CHECK(std::isfinite(report.loss.loss));
  }
}

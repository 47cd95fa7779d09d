// The loss and its gradient against the double-precision reference of support/reference_vae.h.
//
// The rule for a gradient: |analytic - numeric| <= 1e-4 · max(|numeric|, 5e-3 · largest |numeric|)
// for every parameter, numeric by central differences of the reference. So an entry that cancels to
// almost nothing may be off by 5e-7 of the largest, which is about four roundings of a float. The
// rule for a loss part: |part - reference| <= 1e-5 · max(1, |reference|).
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "support/network_fixture.h"
#include "support/reference_vae.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr double kGradientTolerance = 1e-4;
constexpr double kLossTolerance = 1e-5;
constexpr double kStep = 1e-5;
// A step of a parameter moves no ReLU and no clamped value by more than a few times the step.
constexpr double kKinkMargin = 100.0 * kStep;

constexpr Activation kActivations[] = {Activation::kLinear,    Activation::kRelu,
                                       Activation::kLeakyRelu, Activation::kTanh,
                                       Activation::kSigmoid,   Activation::kSoftplus};
constexpr Likelihood kLikelihoods[] = {Likelihood::kBernoulli, Likelihood::kGaussian,
                                       Likelihood::kGaussianLearned};
constexpr FactorShape kShapes[] = {FactorShape::kLower, FactorShape::kDiagonal};

constexpr Index kRows = 6;
constexpr Index kClusters = 4;

VaeConfig tiny_config(int hidden_layers, Activation activation, Likelihood likelihood) {
  VaeConfig config;
  config.inputs = 5;
  config.latent = 2;
  config.hidden_layers = hidden_layers;
  config.hidden[0] = 4;
  config.hidden[1] = 3;
  config.activation = activation;
  config.likelihood.kind = likelihood;
  config.likelihood.variance = 0.4F;
  config.max_rows = kRows;
  config.max_clusters = kClusters;
  return config;
}

// Everything of a case that does not depend on the objective.
struct Data {
  std::vector<float> parameters;
  Rows input, target;
};

Data make_data(const VaeConfig& config, Index rows, std::uint64_t seed, double deviation = 0.6) {
  return {random_normals(reference_parameter_count(config), seed, deviation),
          random_rows(rows, config.inputs, seed + 500, 3),
          config.likelihood.kind == Likelihood::kBernoulli
              ? uniform_rows(rows, config.inputs, seed + 900, 1)
              : random_rows(rows, config.inputs, seed + 900, 1)};
}

VaeBatch batch_of(const Data& data, const MixtureData& mixture) {
  VaeBatch batch;
  batch.input = data.input.view();
  batch.target = data.target.view();
  batch.mixture = mixture.view();
  batch.noise_key.seed = 77;
  return batch;
}

// The first data whose pass stays away from every kink, with and without noise.
Data make_smooth_data(const VaeConfig& config, Index rows, std::uint64_t seed,
                      double deviation = 0.6) {
  const MixtureData mixture = standard_normal(config.latent);
  for (;; ++seed) {
    Data data = make_data(config, rows, seed, deviation);
    VaeBatch batch = batch_of(data, mixture);
    const std::vector<double> parameters = to_double(data.parameters);
    double nearest = 1.0;
    for (const bool sample : {false, true}) {
      batch.sample = sample;
      nearest = std::min(nearest, reference_loss(config, parameters, batch).kink_distance);
    }
    if (nearest > kKinkMargin) return data;
  }
}

double part_error(double part, double reference) {
  return std::fabs(part - reference) / std::max(1.0, std::fabs(reference));
}

double loss_error(const VaeLoss& loss, const ReferenceLoss& reference) {
  return std::max({part_error(loss.log_likelihood, reference.log_likelihood),
                   part_error(loss.mixture, reference.mixture),
                   part_error(loss.entropy, reference.entropy),
                   part_error(loss.loss, reference.loss)});
}

std::vector<double> numeric_gradient(const VaeConfig& config, const Data& data,
                                     const VaeBatch& batch,
                                     const std::vector<double>* fixed = nullptr) {
  const ReferenceLoss here = reference_loss(config, to_double(data.parameters), batch);
  return central_differences(
      to_double(data.parameters), kStep, [&](const std::vector<double>& parameters) {
        return reference_loss(config, parameters, batch, fixed, &here.returning).loss;
      });
}

// One network per instruction-set level, used for case after case: what a case leaves behind must
// not reach the next.
class Networks {
 public:
  explicit Networks(const VaeConfig& config) {
    for (const IsaLevel level : available_levels()) {
      networks_.push_back(std::make_unique<NetworkFixture>(config, 1, level));
    }
  }

  // The worst error of all levels; checks the loss on the way.
  double gradient_error(const VaeConfig& config, const Data& data, const VaeBatch& batch,
                        const std::vector<double>& numeric) {
    const ReferenceLoss reference = reference_loss(config, to_double(data.parameters), batch);
    double worst = 0.0;
    for (const auto& network : networks_) {
      CAPTURE(network->backend.name());
      network->set_parameters(data.parameters);
      VaeLoss alone;
      VaeLoss loss;
      // The gradient first: no pass over the same rows may have prepared it.
      REQUIRE(network->vae.compute_gradient(network->backend, batch, &loss).ok());
      const std::vector<float> gradients = network->gradients();
      REQUIRE(network->vae.compute_loss(network->backend, batch, &alone).ok());
      CHECK(loss_error(loss, reference) <= kLossTolerance);
      CHECK(alone.loss == loss.loss);
      CHECK(alone.log_likelihood == loss.log_likelihood);
      CHECK(alone.mixture == loss.mixture);
      CHECK(alone.entropy == loss.entropy);
      CHECK(same_bytes(network->parameters(), data.parameters));
      worst = std::max(worst, worst_relative_error(gradients, numeric));
    }
    return worst;
  }

 private:
  std::vector<std::unique_ptr<NetworkFixture>> networks_;
};

// All objectives over one network: plain autoencoder, and weights × clusters × factors × origin of
// the responsibilities, each with and without noise. Returns the worst error.
double check_objectives(const VaeConfig& config, std::uint64_t seed) {
  Networks networks(config);
  const Data data = make_smooth_data(config, kRows, seed);
  double worst = 0.0;
  const auto check = [&](const VaeBatch& batch) {
    CAPTURE(batch.sample);
    CAPTURE(batch.prior_weight);
    CAPTURE(batch.mixture.gaussians.clusters);
    CAPTURE(static_cast<int>(batch.mixture.gaussians.shape));
    CAPTURE((batch.responsibilities.data != nullptr));
    const double error =
        networks.gradient_error(config, data, batch, numeric_gradient(config, data, batch));
    CHECK(error <= kGradientTolerance);
    worst = std::max(worst, error);
  };
  for (const bool sample : {false, true}) {
    for (const Index clusters : {Index{1}, kClusters}) {
      const Rows responsibilities = random_responsibilities(kRows, clusters, seed + 31);
      for (const FactorShape shape : kShapes) {
        const MixtureData mixture = random_mixture(clusters, config.latent, shape, seed + 7);
        VaeBatch batch = batch_of(data, mixture);
        batch.sample = sample;
        for (const float prior_weight : {0.0F, 0.3F, 1.0F}) {
          batch.prior_weight = prior_weight;
          batch.responsibilities = {};
          check(batch);
          if (prior_weight == 0.0F) continue;  // no mixture, no responsibilities
          batch.responsibilities = responsibilities.view();
          check(batch);
        }
      }
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("gradient: every activation, likelihood and objective") {
  for (const Activation activation : kActivations) {
    CAPTURE(static_cast<int>(activation));
    double worst = 0.0;
    for (const Likelihood likelihood : kLikelihoods) {
      CAPTURE(static_cast<int>(likelihood));
      const VaeConfig config = tiny_config(2, activation, likelihood);
      worst = std::max(worst, check_objectives(config, 100));
    }
    CHECK_MESSAGE(worst <= kGradientTolerance, "worst of activation ", static_cast<int>(activation),
                  ": ", worst);
  }
}

TEST_CASE("gradient: no hidden layer, and one") {
  for (const int hidden_layers : {0, 1}) {
    CAPTURE(hidden_layers);
    double worst = 0.0;
    for (const Likelihood likelihood : kLikelihoods) {
      CAPTURE(static_cast<int>(likelihood));
      const VaeConfig config = tiny_config(hidden_layers, Activation::kTanh, likelihood);
      worst = std::max(worst, check_objectives(config, 300));
    }
    CHECK_MESSAGE(worst <= kGradientTolerance, "worst of ", hidden_layers, " hidden: ", worst);
  }
}

TEST_CASE("gradient: responsibilities may be held fixed (envelope theorem)") {
  double worst = 0.0;
  double difference = 0.0;
  for (const Likelihood likelihood : kLikelihoods) {
    for (const FactorShape shape : kShapes) {
      const VaeConfig config = tiny_config(2, Activation::kTanh, likelihood);
      Networks networks(config);
      const Data data = make_smooth_data(config, kRows, 41);
      const MixtureData mixture = random_mixture(kClusters, config.latent, shape, 42);
      const VaeBatch batch = batch_of(data, mixture);
      // At the optimum of r the loss does not feel a change of r, so both derivatives agree.
      const ReferenceLoss here = reference_loss(config, to_double(data.parameters), batch);
      const std::vector<double> free = numeric_gradient(config, data, batch);
      const std::vector<double> held =
          numeric_gradient(config, data, batch, &here.responsibilities);
      for (std::size_t i = 0; i < free.size(); ++i) {
        difference = std::max(difference, std::fabs(free[i] - held[i]));
      }
      worst = std::max({worst, networks.gradient_error(config, data, batch, free),
                        networks.gradient_error(config, data, batch, held)});
      // And the library agrees with itself when its own r is handed back to it.
      Rows given(kRows, kClusters, 2);
      for (Index i = 0; i < kRows; ++i) {
        for (Index k = 0; k < kClusters; ++k) {
          given(i, k) = static_cast<float>(here.responsibilities[i * kClusters + k]);
        }
      }
      VaeBatch handed = batch;
      handed.responsibilities = given.view();
      CHECK(networks.gradient_error(config, data, handed, free) <= kGradientTolerance);
      // Not vacuous: several clusters share the rows.
      const double largest = *std::max_element(here.responsibilities.begin(),
                                               here.responsibilities.begin() + kClusters);
      CHECK(largest < 0.99);
    }
  }
  CHECK(difference < 1e-8);
  CHECK_MESSAGE(worst <= kGradientTolerance, "worst: ", worst);
}

TEST_CASE("gradient: responsibilities belong to the pass, not to the one before") {
  const VaeConfig config = tiny_config(2, Activation::kTanh, Likelihood::kGaussian);
  Networks networks(config);
  const MixtureData mixture = random_mixture(kClusters, config.latent, FactorShape::kLower, 5);
  double worst = 0.0;
  for (const std::uint64_t seed : {61, 62, 63}) {
    Data data = make_smooth_data(config, kRows, seed, 0.9);
    VaeBatch batch = batch_of(data, mixture);
    const std::vector<double> numeric = numeric_gradient(config, data, batch);
    worst = std::max(worst, networks.gradient_error(config, data, batch, numeric));
  }
  CHECK_MESSAGE(worst <= kGradientTolerance, "worst: ", worst);
}

TEST_CASE("gradient: log-variances beyond their bounds") {
  double worst = 0.0;
  Index latents = 0;
  Index outputs = 0;
  for (const Likelihood likelihood : kLikelihoods) {
    for (const int turn : {0, 1, 2, 3}) {
      const bool sample = turn % 2 != 0;
      VaeConfig config = tiny_config(2, Activation::kTanh, likelihood);
      config.likelihood.way_back = turn >= 2;
      config.log_variance = {-0.5F, 0.4F};
      config.likelihood.log_variance_min = -0.6F;
      config.likelihood.log_variance_max = 0.3F;
      Networks networks(config);
      const Data data = make_smooth_data(config, kRows, 71, 0.9);
      const MixtureData mixture = random_mixture(kClusters, config.latent, FactorShape::kLower, 9);
      VaeBatch batch = batch_of(data, mixture);
      batch.sample = sample;
      const ReferenceLoss here = reference_loss(config, to_double(data.parameters), batch);
      // Some are beyond, some are not.
      CHECK(here.clamped_latents >= 2);
      CHECK(here.clamped_latents <= kRows * config.latent - 2);
      latents += here.clamped_latents;
      outputs += here.clamped_outputs;
      if (likelihood == Likelihood::kGaussianLearned) {
        CHECK(here.clamped_outputs >= 4);
        CHECK(here.clamped_outputs <= kRows * config.inputs - 4);
        // Of those beyond, some find the way back, and some do not.
        const auto held = std::count(here.returning.begin(), here.returning.end(), 0.0);
        const auto back = static_cast<Index>(here.returning.size()) - static_cast<Index>(held);
        CHECK(back >= (config.likelihood.way_back ? 2 : 0));
        CHECK(back <= (config.likelihood.way_back ? here.clamped_outputs - 2 : 0));
      }
      const std::vector<double> numeric = numeric_gradient(config, data, batch);
      worst = std::max(worst, networks.gradient_error(config, data, batch, numeric));
    }
  }
  CHECK(latents > 0);
  CHECK(outputs > 0);
  CHECK_MESSAGE(worst <= kGradientTolerance, "worst: ", worst);
}

TEST_CASE("gradient: noise is keyed by row id, epoch, stream and seed") {
  const VaeConfig config = tiny_config(1, Activation::kSoftplus, Likelihood::kBernoulli);
  Networks networks(config);
  const Data data = make_smooth_data(config, kRows, 81);
  const MixtureData mixture = random_mixture(2, config.latent, FactorShape::kDiagonal, 82);
  const std::uint32_t row_id[kRows] = {900, 3, 0, 41, 7, 123456789};
  VaeBatch batch = batch_of(data, mixture);
  batch.row_id = row_id;
  batch.noise_key = {.seed = 0x123456789ABCDEFull,
                     .purpose = RandomPurpose::kLatentNoise,
                     .stream = 4,
                     .epoch = 19};
  const std::vector<double> numeric = numeric_gradient(config, data, batch);
  const double worst = networks.gradient_error(config, data, batch, numeric);
  CHECK_MESSAGE(worst <= kGradientTolerance, "worst: ", worst);
  // The noise matters: without it the same rule fails by far.
  batch.sample = false;
  const std::vector<double> silent = numeric_gradient(config, data, batch);
  double change = 0.0;
  for (std::size_t i = 0; i < silent.size(); ++i) {
    change = std::max(change, std::fabs(silent[i] - numeric[i]));
  }
  CHECK(change > 1e-2);
}

TEST_CASE("gradient: layers wider than a register tile, rows enough for packing") {
  double worst = 0.0;
  for (const FactorShape shape : kShapes) {
    VaeConfig config;
    config.inputs = 37;
    config.latent = 5;
    config.hidden_layers = 2;
    config.hidden[0] = 41;
    config.hidden[1] = 23;
    config.activation = Activation::kTanh;
    config.likelihood.kind = Likelihood::kGaussianLearned;
    config.max_rows = 120;
    config.max_clusters = 19;
    const Data data = make_smooth_data(config, config.max_rows, 91, 0.25);
    const MixtureData mixture = random_mixture(19, config.latent, shape, 92);
    const VaeBatch batch = batch_of(data, mixture);
    // A sample of the parameters, spread over all layers.
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < data.parameters.size(); i += 97) chosen.push_back(i);
    std::vector<double> parameters = to_double(data.parameters);
    std::vector<double> numeric;
    for (const std::size_t i : chosen) {
      std::vector<double> one = {parameters[i]};
      numeric.push_back(central_differences(one, kStep, [&](const std::vector<double>& value) {
        parameters[i] = value[0];
        return reference_loss(config, parameters, batch).loss;
      })[0]);
      parameters[i] = data.parameters[i];
    }
    const ReferenceLoss reference = reference_loss(config, parameters, batch);
    for (const IsaLevel level : available_levels()) {
      NetworkFixture network(config, 1, level);
      CAPTURE(network.backend.name());
      network.set_parameters(data.parameters);
      VaeLoss loss;
      REQUIRE(network.vae.compute_gradient(network.backend, batch, &loss).ok());
      CHECK(loss_error(loss, reference) <= kLossTolerance);
      std::vector<float> gradient;
      for (const std::size_t i : chosen) gradient.push_back(network.vae.gradients()[i]);
      worst = std::max(worst, worst_relative_error(gradient, numeric));
    }
  }
  CHECK_MESSAGE(worst <= kGradientTolerance, "worst: ", worst);
}

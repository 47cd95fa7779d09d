// encode, decode and reconstruct against the double-precision reference.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "support/network_fixture.h"
#include "support/reference_vae.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Activation kActivations[] = {Activation::kLinear,    Activation::kRelu,
                                       Activation::kLeakyRelu, Activation::kTanh,
                                       Activation::kSigmoid,   Activation::kSoftplus};
constexpr Likelihood kLikelihoods[] = {Likelihood::kBernoulli, Likelihood::kGaussian,
                                       Likelihood::kGaussianLearned};
constexpr Index kRows = 6;

// The bounds of the log-variance are narrow enough to be hit.
VaeConfig tiny_config(Activation activation, Likelihood likelihood) {
  VaeConfig config;
  config.inputs = 5;
  config.latent = 2;
  config.hidden_layers = 2;
  config.hidden[0] = 4;
  config.hidden[1] = 3;
  config.activation = activation;
  config.likelihood.kind = likelihood;
  config.log_variance = {-0.5F, 0.4F};
  config.max_rows = kRows;
  return config;
}

double part_error(double part, double reference) {
  return std::fabs(part - reference) / std::max(1.0, std::fabs(reference));
}

}  // namespace

TEST_CASE("encode and decode agree with the reference") {
  for (const Activation activation : kActivations) {
    for (const Likelihood likelihood : kLikelihoods) {
      CAPTURE(static_cast<int>(activation));
      CAPTURE(static_cast<int>(likelihood));
      VaeConfig config = tiny_config(activation, likelihood);
      const std::vector<float> values = random_normals(reference_parameter_count(config), 51, 0.6);
      const std::vector<double> parameters = to_double(values);
      const Rows rows = random_rows(kRows, config.inputs, 52, 3);
      for (const bool trainable : {true, false}) {
        config.trainable = trainable;
        NetworkFixture network(config);
        network.set_parameters(values);
        Rows mean(kRows, config.latent, 1);
        Rows mean_alone(kRows, config.latent);
        Rows variance(kRows, config.latent, 2);
        Rows decoded(kRows, config.inputs, 1);
        Rows rebuilt(kRows, config.inputs);
        const ConstMatrixView x = rows.view();
        REQUIRE(network.vae.encode(network.backend, x, mean.view(), variance.view()).ok());
        REQUIRE(network.vae.encode(network.backend, x, mean_alone.view(), {}).ok());
        REQUIRE(network.vae.decode(network.backend, mean.view(), decoded.view()).ok());
        REQUIRE(network.vae.reconstruct(network.backend, x, rebuilt.view()).ok());
        const std::vector<double> latent = reference_encode(config, parameters, x);
        const std::vector<double> output = reference_decode(config, parameters, mean.view());
        double worst = 0.0;
        for (Index i = 0; i < kRows; ++i) {
          for (Index j = 0; j < config.latent; ++j) {
            const double* row = latent.data() + 2 * i * config.latent;
            worst = std::max({worst, part_error(mean(i, j), row[j]),
                              part_error(variance(i, j), row[config.latent + j])});
            CHECK(mean_alone(i, j) == mean(i, j));
          }
          for (Index j = 0; j < config.inputs; ++j) {
            worst = std::max(worst, part_error(decoded(i, j), output[i * config.inputs + j]));
            CHECK(rebuilt(i, j) == decoded(i, j));
          }
        }
        CHECK(worst <= 2e-6);
      }
    }
  }
}

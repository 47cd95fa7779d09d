// Where training starts from.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

VaeConfig wide_config(Initialisation initialisation) {
  VaeConfig config;
  config.inputs = 200;
  config.latent = 30;
  config.hidden_layers = 2;
  config.hidden[0] = 160;
  config.hidden[1] = 110;
  config.initialisation = initialisation;
  config.max_rows = 4;
  return config;
}

// Columns [first, last) of a layer's weights: how far mean and variance are from 0 and `variance`,
// in standard errors of a normal sample of that size.
struct Deviation {
  double mean = 0.0;
  double variance = 0.0;
};

Deviation deviation_of(const Vae& vae, const DenseLayer& layer, Index first, Index last,
                       double variance) {
  double sum = 0.0;
  double squares = 0.0;
  for (Index i = 0; i < layer.inputs; ++i) {
    for (Index j = first; j < last; ++j) {
      const double weight = vae.parameters()[layer.weights + i * layer.outputs + j];
      sum += weight;
      squares += weight * weight;
    }
  }
  const double count = static_cast<double>(layer.inputs * (last - first));
  return {std::fabs(sum / count) / std::sqrt(variance / count),
          std::fabs(squares / count / variance - 1.0) / std::sqrt(2.0 / count)};
}

// A right sampler exceeds this once in 15,000 times; the seed is fixed.
constexpr double kStandardErrors = 4.0;

void check_variance(const Vae& vae, const DenseLayer& layer, Index first, Index last,
                    double variance) {
  const Deviation deviation = deviation_of(vae, layer, first, last, variance);
  CHECK(deviation.mean < kStandardErrors);
  CHECK(deviation.variance < kStandardErrors);
}

}  // namespace

TEST_CASE("weights have the variance of He or Xavier, biases are zero") {
  for (const Initialisation initialisation : {Initialisation::kHe, Initialisation::kXavier}) {
    CAPTURE(static_cast<int>(initialisation));
    const VaeConfig config = wide_config(initialisation);
    NetworkFixture network(config);
    Vae& vae = network.vae;
    vae.initialise(12);
    for (Mlp* mlp : {&vae.encoder(), &vae.decoder()}) {
      REQUIRE(mlp->layers() == 3);
      for (int i = 0; i < 3; ++i) {
        CAPTURE(i);
        const DenseLayer& layer = mlp->layer(i);
        const double inputs = static_cast<double>(layer.inputs);
        const double both = static_cast<double>(layer.inputs + layer.outputs);
        const bool last = i == 2;
        const bool he = initialisation == Initialisation::kHe && !last;
        const double variance = he ? 2.0 / inputs : 2.0 / both;
        const bool heads = last && mlp == &vae.encoder();
        check_variance(vae, layer, 0, heads ? config.latent : layer.outputs, variance);
        // A hundredth: the log-variance starts near 0 and σ² near 1.
        if (heads) {
          check_variance(vae, layer, config.latent, layer.outputs, 1e-4 * variance);
        }
        bool zero = true;
        for (Index j = 0; j < layer.outputs; ++j) {
          zero = zero && vae.parameters()[layer.bias + j] == 0.0F;
        }
        CHECK(zero);
      }
    }
  }
}

TEST_CASE("encoded variances start near one") {
  const VaeConfig config = wide_config(Initialisation::kHe);
  NetworkFixture network(config);
  network.vae.initialise(3);
  const Rows rows = uniform_rows(config.max_rows, config.inputs, 1);
  Rows mean(config.max_rows, config.latent);
  Rows variance(config.max_rows, config.latent);
  REQUIRE(network.vae.encode(network.backend, rows.view(), mean.view(), variance.view()).ok());
  for (const float value : variance.data) CHECK(std::fabs(value - 1.0F) < 0.1F);
}

TEST_CASE("the seed decides, layers differ, and old training is forgotten") {
  const VaeConfig config = wide_config(Initialisation::kHe);
  NetworkFixture network(config);
  NetworkFixture other(config);
  network.vae.initialise(1);
  const std::vector<float> first = network.parameters();
  other.vae.initialise(1);
  CHECK(same_bytes(other.parameters(), first));
  for (const std::uint64_t seed : {std::uint64_t{2}, std::uint64_t{1} << 40}) {
    network.vae.initialise(seed);
    const std::vector<float> changed = network.parameters();
    int equal = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      equal += first[i] != 0.0F && first[i] == changed[i] ? 1 : 0;
    }
    CHECK(equal < 20);
  }
  // No two layers start with the same draws: compare standardised weights.
  const DenseLayer& a = network.vae.encoder().layer(0);
  const DenseLayer& b = network.vae.encoder().layer(1);
  const DenseLayer& c = network.vae.decoder().layer(0);
  const float* parameters = network.vae.parameters();
  const auto standard = [&](const DenseLayer& layer, Index i) {
    return parameters[layer.weights + i] * std::sqrt(static_cast<float>(layer.inputs) / 2.0F);
  };
  CHECK(std::fabs(standard(a, 0) - standard(b, 0)) > 1e-3F);
  CHECK(std::fabs(standard(a, 0) - standard(c, 0)) > 1e-3F);
  CHECK(std::fabs(standard(b, 0) - standard(c, 0)) > 1e-3F);

  // A network that was trained and is initialised again behaves like a new one.
  const Rows rows = uniform_rows(config.max_rows, config.inputs, 1);
  const MixtureData mixture = standard_normal(config.latent);
  VaeBatch batch;
  batch.input = batch.target = rows.view();
  batch.mixture = mixture.view();
  VaeLoss loss;
  StepReport report;
  const auto train = [&](NetworkFixture& which) {
    for (int i = 0; i < 3; ++i) {
      REQUIRE(which.vae.train_step(which.backend, batch, &loss, &report).ok());
    }
  };
  network.vae.initialise(1);
  train(network);
  network.vae.initialise(1);
  CHECK(network.vae.optimiser().steps() == 0);
  train(network);
  other.vae.initialise(1);
  train(other);
  CHECK(same_bytes(network.parameters(), other.parameters()));
}

// reconstruct: the three likelihoods and their gradients beside the reference.
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

constexpr Index kWidths[] = {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 100, 785};

struct Example {
  Matrix output, target;
};

// Log-variances reach beyond their clamps; Bernoulli targets include exact zeros and ones.
Example make_example(const LikelihoodSettings& likelihood, Index rows, Index inputs,
                     double magnitude, Index padding) {
  TestRandom random(static_cast<std::uint64_t>(rows * 1009 + inputs));
  const bool learned = likelihood.kind == Likelihood::kGaussianLearned;
  Example example = {Matrix(rows, learned ? 2 * inputs : inputs, padding),
                     Matrix(rows, inputs, 2 * padding)};
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < inputs; ++j) {
      if (likelihood.kind == Likelihood::kBernoulli) {
        const double coin = random.uniform(-1.0, 2.0);
        example.target(i, j) = static_cast<float>(coin < 0.0 ? 0.0 : (coin > 1.0 ? 1.0 : coin));
        example.output(i, j) = static_cast<float>(magnitude * random.uniform(-6.0, 6.0));
        continue;
      }
      example.target(i, j) = static_cast<float>(magnitude * random.uniform(-2.0, 2.0));
      example.output(i, j) = static_cast<float>(magnitude * random.uniform(-2.0, 2.0));
      if (learned) {
        const double range = likelihood.log_variance_max - likelihood.log_variance_min;
        example.output(i, inputs + j) = static_cast<float>(random.uniform(
            likelihood.log_variance_min - 0.2 * range, likelihood.log_variance_max + 0.2 * range));
      }
    }
  }
  return example;
}

void check_reconstruct(const LikelihoodSettings& likelihood, Index rows, Index inputs,
                       double magnitude, Index padding) {
  CAPTURE(static_cast<int>(likelihood.kind));
  CAPTURE(rows);
  CAPTURE(inputs);
  constexpr float kScale = 0.25F;
  const Example example = make_example(likelihood, rows, inputs, magnitude, padding);
  MatrixD want_gradient(rows, example.output.cols());
  MatrixD want(1, rows);
  reference::reconstruct(likelihood, to_double(example.output).view(),
                         to_double(example.target).view(), kScale, want_gradient.view(),
                         want.data());
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {.rows = rows, .widest_layer = 1})) {
      Matrix gradient(rows, example.output.cols(), 3 * padding);
      Matrix value(1, rows);
      (*backend)->reconstruct(likelihood, example.output.view(), example.target.view(), kScale,
                              gradient.view(), value.data());
      check_close(Quantity::kLogLikelihood, *backend, value, want);
      check_close(Quantity::kReconstructGradient, *backend, gradient, want_gradient);

      Matrix in_place = example.output;
      Matrix value_in_place(1, rows);
      (*backend)->reconstruct(likelihood, in_place.view(), example.target.view(), kScale,
                              in_place.view(), value_in_place.data());
      check_close(Quantity::kReconstructGradient, *backend, in_place, want_gradient);
      CHECK(same_bytes(value.data(), value_in_place.data(), rows));

      Matrix value_alone(1, rows);
      (*backend)->reconstruct(likelihood, example.output.view(), example.target.view(), kScale, {},
                              value_alone.data());
      CHECK(value_alone.margins_intact());
      CHECK(same_bytes(value.data(), value_alone.data(), rows));
    }
  }
}

}  // namespace

TEST_CASE("reconstruct is right for every likelihood and width") {
  for (const Index inputs : kWidths) {
    for (const Index rows : {1, 6}) {
      const Index padding = inputs % 3;
      check_reconstruct({.kind = Likelihood::kBernoulli}, rows, inputs, 1.0, padding);
      check_reconstruct({.kind = Likelihood::kGaussian, .variance = 0.5F}, rows, inputs, 1.0,
                        padding);
      check_reconstruct({.kind = Likelihood::kGaussian, .variance = 7.0F}, rows, inputs, 1.0,
                        padding);
      check_reconstruct({.kind = Likelihood::kGaussianLearned,
                         .log_variance_min = -1.5F,
                         .log_variance_max = 2.5F,
                         .way_back = rows > 1},
                        rows, inputs, 1.0, padding);
    }
  }
}

TEST_CASE("reconstruct keeps its precision at extreme magnitudes") {
  for (const Index inputs : {1, 19, 100}) {
    check_reconstruct({.kind = Likelihood::kBernoulli}, 5, inputs, 1e15, 2);
    check_reconstruct({.kind = Likelihood::kBernoulli}, 5, inputs, 1e-15, 2);
    check_reconstruct({.kind = Likelihood::kGaussian}, 5, inputs, 1e15, 2);
    check_reconstruct({.kind = Likelihood::kGaussian}, 5, inputs, 1e-15, 2);
    check_reconstruct({.kind = Likelihood::kGaussian, .variance = 1e-15F}, 5, inputs, 1e-6, 2);
    check_reconstruct({.kind = Likelihood::kGaussianLearned}, 5, inputs, 1e15, 2);
  }
}

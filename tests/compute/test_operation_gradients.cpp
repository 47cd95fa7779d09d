// The gradients of the seam beside central differences of what they are the gradient of. The
// differences are taken of the double reference; the gradients are the backends' own.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

// Steps of 1e-5 leave an error of about 1e-10 in the difference: nothing beside float rounding.
constexpr double kStep = 1e-5;

// d loss / d point, element by element. point is moved and put back.
template <typename Loss>
MatrixD central_difference(MatrixD& point, const Loss& loss) {
  MatrixD gradient(point.rows(), point.cols());
  for (Index i = 0; i < point.rows(); ++i) {
    for (Index j = 0; j < point.cols(); ++j) {
      const double kept = point(i, j);
      point(i, j) = kept + kStep;
      const double above = loss();
      point(i, j) = kept - kStep;
      const double below = loss();
      point(i, j) = kept;
      gradient(i, j) = (above - below) / (2.0 * kStep);
    }
  }
  return gradient;
}

double inner_product(const MatrixD& a, const MatrixD& b) {
  double sum = 0.0;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) sum += a(i, j) * b(i, j);
  }
  return sum;
}

// Moves numbers away from a place where the function has a corner.
void avoid(MatrixD& point, double corner) {
  for (Index i = 0; i < point.rows(); ++i) {
    for (Index j = 0; j < point.cols(); ++j) {
      if (std::fabs(point(i, j) - corner) < 0.01) point(i, j) = corner + 0.01;
    }
  }
}

constexpr ComputeLimits kLimits = {.rows = 8, .widest_layer = 16, .dims = 8, .clusters = 8};

}  // namespace

TEST_CASE("dense_backward_input is the derivative before the activation below") {
  constexpr Index n = 4;
  constexpr Index in = 5;
  constexpr Index out = 3;
  for (const Activation activation :
       {Activation::kLinear, Activation::kRelu, Activation::kLeakyRelu, Activation::kTanh,
        Activation::kSigmoid, Activation::kSoftplus}) {
    CAPTURE(static_cast<int>(activation));
    TestRandom random(11);
    MatrixD below = to_double(random.uniform_matrix(n, in, -2.0, 2.0));
    avoid(below, 0.0);
    const Matrix w = random.uniform_matrix(in, out, -1.0, 1.0);
    const Matrix dy = random.uniform_matrix(n, out, -1.0, 1.0);
    const MatrixD exact_w = to_double(w);
    const MatrixD exact_dy = to_double(dy);
    // loss = Σ dy ⊙ (activation(below) · w)
    MatrixD x(n, in);
    MatrixD y(n, out);
    const auto loss = [&] {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < in; ++j) x(i, j) = reference::activate(activation, below(i, j));
      }
      reference::dense_forward(x.view(), exact_w.view(), nullptr, Activation::kLinear, y.view());
      return inner_product(exact_dy, y);
    };
    const MatrixD want = central_difference(below, loss);
    loss();
    const Matrix output = to_float(x);
    for (const KernelTable* kernels : test_kernels()) {
      for (const auto& backend : make_test_backends(*kernels, kLimits)) {
        Matrix dx(n, in);
        (*backend)->dense_backward_input(dy.view(), w.view(), output.view(), activation, dx.view());
        check_close(Quantity::kDenseBackwardInput, *backend, dx, want);
      }
    }
  }
}

TEST_CASE("dense_backward_weights is the derivative with respect to weights and bias") {
  constexpr Index n = 6;
  constexpr Index in = 5;
  constexpr Index out = 3;
  TestRandom random(12);
  const Matrix x = random.uniform_matrix(n, in, -1.0, 1.0);
  const Matrix dy = random.uniform_matrix(n, out, -1.0, 1.0);
  const MatrixD exact_x = to_double(x);
  const MatrixD exact_dy = to_double(dy);
  MatrixD w = to_double(random.uniform_matrix(in, out, -1.0, 1.0));
  MatrixD bias = to_double(random.uniform_matrix(1, out, -1.0, 1.0));
  MatrixD y(n, out);
  const auto loss = [&] {
    reference::dense_forward(exact_x.view(), w.view(), bias.data(), Activation::kLinear, y.view());
    return inner_product(exact_dy, y);
  };
  const MatrixD want = central_difference(w, loss);
  const MatrixD want_bias = central_difference(bias, loss);
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, kLimits)) {
      Matrix dw(in, out);
      Matrix dbias(1, out);
      (*backend)->dense_backward_weights(x.view(), dy.view(), dw.view(), dbias.data());
      check_close(Quantity::kDenseBackwardWeights, *backend, dw, want);
      check_close(Quantity::kDenseBiasGradient, *backend, dbias, want_bias);
    }
  }
}

TEST_CASE("the gradient of reconstruct is the derivative of -log p") {
  constexpr Index n = 3;
  constexpr Index d = 7;
  constexpr float kScale = 0.5F;
  const std::pair<Likelihood, bool> settings[] = {{Likelihood::kBernoulli, false},
                                                  {Likelihood::kGaussian, false},
                                                  {Likelihood::kGaussianLearned, false},
                                                  {Likelihood::kGaussianLearned, true}};
  for (const auto& setting : settings) {
    const Likelihood kind = setting.first;
    const bool way_back = setting.second;
    CAPTURE(static_cast<int>(kind));
    CAPTURE(way_back);
    const LikelihoodSettings likelihood = {.kind = kind,
                                           .variance = 0.6F,
                                           .log_variance_min = -1.0F,
                                           .log_variance_max = 1.0F,
                                           .way_back = way_back};
    TestRandom random(13);
    const Index cols = kind == Likelihood::kGaussianLearned ? 2 * d : d;
    MatrixD exact_output = to_double(random.uniform_matrix(n, cols, -2.0, 2.0));
    avoid(exact_output, -1.0);
    avoid(exact_output, 1.0);
    const Matrix output = to_float(exact_output);
    exact_output = to_double(output);
    const Matrix target = random.uniform_matrix(n, d, 0.0, 1.0);
    const MatrixD exact_target = to_double(target);
    // A log-variance beyond a bound has no derivative, or that at the bound if it leads back.
    MatrixD within = exact_output;
    for (Index i = 0; i < n; ++i) {
      for (Index j = d; j < cols; ++j) within(i, j) = std::clamp(within(i, j), -1.0, 1.0);
    }
    LikelihoodSettings unbounded = likelihood;
    unbounded.log_variance_min = -50.0F;
    unbounded.log_variance_max = 50.0F;
    MatrixD log_likelihood(1, n);
    MatrixD want = central_difference(within, [&] {
      reference::reconstruct(unbounded, within.view(), exact_target.view(), kScale, {},
                             log_likelihood.data());
      double sum = 0.0;
      for (Index i = 0; i < n; ++i) sum -= kScale * log_likelihood(0, i);
      return sum;
    });
    int back = 0;
    int held = 0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = d; j < cols; ++j) {
        if (exact_output(i, j) == within(i, j)) continue;
        // A step goes against the gradient.
        const bool leads_back = (exact_output(i, j) < -1.0) == (want(i, j) < 0.0);
        ++(leads_back ? back : held);
        if (!leads_back || !way_back) want(i, j) = 0.0;
      }
    }
    if (kind == Likelihood::kGaussianLearned) {
      CHECK(back > 0);
      CHECK(held > 0);
    }
    for (const KernelTable* kernels : test_kernels()) {
      for (const auto& backend : make_test_backends(*kernels, kLimits)) {
        Matrix gradient(n, cols);
        Matrix value(1, n);
        (*backend)->reconstruct(likelihood, output.view(), target.view(), kScale, gradient.view(),
                                value.data());
        check_close(Quantity::kReconstructGradient, *backend, gradient, want);
      }
    }
  }
}

TEST_CASE("mahalanobis_pull is half the derivative of the weighted distances") {
  constexpr Index n = 5;
  constexpr Index m = 4;
  constexpr Index K = 3;
  for (const FactorShape shape : {FactorShape::kLower, FactorShape::kDiagonal}) {
    TestRandom random(14);
    const TestGaussians gaussians(random, K, m, shape);
    const TestGaussiansD exact_gaussians(gaussians);
    const Matrix z = random.uniform_matrix(n, m, -2.0, 2.0);
    const Matrix weight = random.uniform_matrix(n, K, 0.0, 1.0);
    const MatrixD exact_weight = to_double(weight);
    MatrixD exact_z = to_double(z);
    MatrixD distance(n, K);
    const MatrixD want = central_difference(exact_z, [&] {
      reference::mahalanobis(exact_z.view(), {}, exact_gaussians.view(), distance.view());
      return 0.5 * inner_product(exact_weight, distance);
    });
    for (const KernelTable* kernels : test_kernels()) {
      for (const auto& backend : make_test_backends(*kernels, kLimits)) {
        Matrix pull(n, m);
        (*backend)->mahalanobis_pull(z.view(), weight.view(), gaussians.view(), pull.view());
        check_close(Quantity::kMahalanobisPull, *backend, pull, want);
      }
    }
  }
}

// loss = Σ dz · z + weight · Σ {pull · mean + ½ (precision · σ² - log σ²)}: linear in everything
// that latent_gradient is given as a gradient.
TEST_CASE("latent_gradient is the derivative with respect to the heads") {
  constexpr Index n = 4;
  constexpr Index m = 5;
  constexpr float kWeight = 0.7F;
  constexpr LogVarianceClamp kClamp = {-1.5F, 1.0F};
  for (const bool with_noise : {true, false}) {
    CAPTURE(with_noise);
    TestRandom random(15);
    MatrixD exact_heads = to_double(random.uniform_matrix(n, 2 * m, -2.0, 2.0));
    avoid(exact_heads, kClamp.min);
    avoid(exact_heads, kClamp.max);
    const Matrix heads = to_float(exact_heads);
    exact_heads = to_double(heads);
    const Matrix noise = with_noise ? random.uniform_matrix(n, m, -2.0, 2.0) : Matrix();
    const Matrix dz = random.uniform_matrix(n, m, -1.0, 1.0);
    const Matrix pull = random.uniform_matrix(n, m, -1.0, 1.0);
    const Matrix precision = random.uniform_matrix(n, m, 0.5, 2.0);
    const MatrixD exact_noise = to_double(noise);
    MatrixD z(n, m);
    MatrixD variance(n, m);
    const auto loss = [&] {
      reference::sample_latent(exact_heads.view(), exact_noise.view(), kClamp, z.view(),
                               variance.view());
      double sum = 0.0;
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < m; ++j) {
          sum += dz(i, j) * z(i, j) + kWeight * pull(i, j) * exact_heads(i, j);
          sum += 0.5 * kWeight * (precision(i, j) * variance(i, j) - std::log(variance(i, j)));
        }
      }
      return sum;
    };
    const MatrixD want = central_difference(exact_heads, loss);
    loss();
    const Matrix rounded_variance = to_float(variance);
    for (const KernelTable* kernels : test_kernels()) {
      for (const auto& backend : make_test_backends(*kernels, kLimits)) {
        Matrix dheads(n, 2 * m);
        (*backend)->latent_gradient(heads.view(), noise.view(), rounded_variance.view(), dz.view(),
                                    pull.view(), precision.view(), kClamp, kWeight, dheads.view());
        check_close(Quantity::kLatentGradient, *backend, dheads, want);
      }
    }
  }
}

// A NaN in the input of a row reaches that row's output, where callers look for it, and no other
// row's: the rest keeps its bits.
#include <functional>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Index kRows = 37;
constexpr Index kHurtRows[] = {0, 5, 17, 36};

enum class Reach { kWholeRow, kSomewhere };

// Runs an operation on good input and with one NaN in row `hurt`, column `at`, of `input`.
void check_one(Matrix input, Index hurt, Index at, Index out_cols, Reach reach,
               const std::function<void(ConstMatrixView, MatrixView)>& run) {
  CAPTURE(hurt);
  CAPTURE(at);
  Matrix good(kRows, out_cols);
  run(input.view(), good.view());
  CHECK(all_finite(good));
  input(hurt, at) = kNan;
  Matrix out(kRows, out_cols);
  run(input.view(), out.view());
  Index changed = 0;
  Index nans = 0;
  for (Index i = 0; i < kRows; ++i) {
    if (i != hurt) changed += !same_bytes(out.view().row(i), good.view().row(i), out_cols);
  }
  for (Index j = 0; j < out_cols; ++j) nans += std::isnan(out(hurt, j));
  CHECK(changed == 0);
  CHECK(nans >= (reach == Reach::kWholeRow ? out_cols : 1));
}

// The same for NaN at the first, a middle and the last column of several rows.
void check_rows(const Matrix& input, Index out_cols, Reach reach,
                const std::function<void(ConstMatrixView, MatrixView)>& run) {
  for (const Index hurt : kHurtRows) {
    for (const Index at : {Index{0}, input.cols() / 2, input.cols() - 1}) {
      check_one(input, hurt, at, out_cols, reach, run);
    }
  }
}

template <typename Body>
void for_every_backend(const ComputeLimits& limits, const Body& body) {
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits)) {
      CAPTURE(backend->name());
      body(*backend);
    }
  }
}

constexpr Activation kActivations[] = {Activation::kLinear,    Activation::kRelu,
                                       Activation::kLeakyRelu, Activation::kTanh,
                                       Activation::kSigmoid,   Activation::kSoftplus};

}  // namespace

TEST_CASE("NaN reaches its row of dense_forward, through every activation, and no other") {
  TestRandom random(21);
  // Not packed and packed; the weights of the second have a zero, which must not hide the NaN.
  for (const Index in : {9, 300}) {
    const Index out = in == 9 ? 5 : 21;
    const Matrix x = random.uniform_matrix(kRows, in, -1.0, 1.0);
    Matrix w = random.uniform_matrix(in, out, -1.0, 1.0);
    w(0, 0) = 0.0F;
    const Matrix bias = random.uniform_matrix(1, out, -1.0, 1.0);
    for_every_backend({.rows = kRows, .widest_layer = 300}, [&](TestBackend& backend) {
      for (const Activation activation : kActivations) {
        CAPTURE(static_cast<int>(activation));
        check_rows(x, out, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView y) {
          backend->dense_forward(input, w.view(), bias.data(), activation, y);
        });
      }
    });
  }
}

TEST_CASE("NaN reaches its row of dense_backward_input and no other") {
  TestRandom random(22);
  for (const Index out : {9, 300}) {
    const Index in = out == 9 ? 5 : 21;
    const Matrix dy = random.uniform_matrix(kRows, out, -1.0, 1.0);
    const Matrix w = random.uniform_matrix(in, out, -1.0, 1.0);
    const Matrix x = random.uniform_matrix(kRows, in, 0.1, 0.9);
    for_every_backend({.rows = kRows, .widest_layer = 300}, [&](TestBackend& backend) {
      for (const Activation activation : kActivations) {
        CAPTURE(static_cast<int>(activation));
        check_rows(dy, in, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView dx) {
          backend->dense_backward_input(input, w.view(), x.view(), activation, dx);
        });
      }
    });
  }
}

// (The linear layer needs no output and reads none.)
TEST_CASE("NaN in the layer's output reaches dense_backward_input") {
  TestRandom random(29);
  const Matrix dy = random.uniform_matrix(kRows, 5, -1.0, 1.0);
  const Matrix w = random.uniform_matrix(9, 5, -1.0, 1.0);
  const Matrix x = random.uniform_matrix(kRows, 9, 0.1, 0.9);
  for_every_backend({.rows = kRows, .widest_layer = 9}, [&](TestBackend& backend) {
    for (const Activation activation : kActivations) {
      if (activation == Activation::kLinear) continue;
      CAPTURE(static_cast<int>(activation));
      check_rows(x, 9, Reach::kSomewhere, [&](ConstMatrixView input, MatrixView dx) {
        backend->dense_backward_input(dy.view(), w.view(), input, activation, dx);
      });
    }
  });
}

TEST_CASE("NaN reaches the log-likelihood and the gradient of its row and no other") {
  constexpr Index d = 21;
  TestRandom random(23);
  for (const Likelihood kind :
       {Likelihood::kBernoulli, Likelihood::kGaussian, Likelihood::kGaussianLearned}) {
    CAPTURE(static_cast<int>(kind));
    const LikelihoodSettings likelihood = {.kind = kind};
    const Index cols = kind == Likelihood::kGaussianLearned ? 2 * d : d;
    const Matrix output = random.uniform_matrix(kRows, cols, -2.0, 2.0);
    const Matrix target = random.uniform_matrix(kRows, d, 0.0, 1.0);
    for_every_backend({.rows = kRows}, [&](TestBackend& backend) {
      const auto value_of = [&](ConstMatrixView a, ConstMatrixView x, MatrixView value) {
        backend->reconstruct(likelihood, a, x, 1.0F, {}, value.data);
      };
      const auto gradient_of = [&](ConstMatrixView a, ConstMatrixView x, MatrixView gradient) {
        Matrix value(1, kRows);
        backend->reconstruct(likelihood, a, x, 1.0F, gradient, value.data());
      };
      check_rows(output, 1, Reach::kWholeRow,
                 [&](ConstMatrixView a, MatrixView value) { value_of(a, target.view(), value); });
      check_rows(target, 1, Reach::kWholeRow,
                 [&](ConstMatrixView x, MatrixView value) { value_of(output.view(), x, value); });
      check_rows(output, cols, Reach::kSomewhere, [&](ConstMatrixView a, MatrixView gradient) {
        gradient_of(a, target.view(), gradient);
      });
      check_rows(target, cols, Reach::kSomewhere, [&](ConstMatrixView x, MatrixView gradient) {
        gradient_of(output.view(), x, gradient);
      });
    });
  }
}

TEST_CASE("NaN reaches the latent and the variance of its row and no other") {
  constexpr Index m = 5;
  TestRandom random(24);
  const Matrix heads = random.uniform_matrix(kRows, 2 * m, -1.0, 1.0);
  const Matrix noise = random.uniform_matrix(kRows, m, -1.0, 1.0);
  for_every_backend({.rows = kRows}, [&](TestBackend& backend) {
    Matrix other(kRows, m);
    check_rows(heads, m, Reach::kSomewhere, [&](ConstMatrixView input, MatrixView z) {
      backend->sample_latent(input, noise.view(), {}, z, other.view());
    });
    check_rows(noise, m, Reach::kSomewhere, [&](ConstMatrixView input, MatrixView z) {
      backend->sample_latent(heads.view(), input, {}, z, other.view());
    });
    for (const Index hurt : kHurtRows) {
      check_one(heads, hurt, m + 2, m, Reach::kSomewhere,
                [&](ConstMatrixView input, MatrixView variance) {
                  backend->sample_latent(input, {}, {}, other.view(), variance);
                });
    }
  });
}

TEST_CASE("NaN reaches its row of latent_gradient and no other") {
  constexpr Index m = 5;
  TestRandom random(25);
  const Matrix heads = random.uniform_matrix(kRows, 2 * m, -1.0, 1.0);
  // noise, variance, dz, pull, precision
  Matrix inputs[5];
  for (Matrix& input : inputs) input = random.uniform_matrix(kRows, m, 0.1, 1.0);
  for_every_backend({.rows = kRows}, [&](TestBackend& backend) {
    for (std::size_t which = 0; which < std::size(inputs); ++which) {
      CAPTURE(which);
      check_rows(inputs[which], 2 * m, Reach::kSomewhere, [&](ConstMatrixView x, MatrixView out) {
        ConstMatrixView views[5];
        for (std::size_t i = 0; i < 5; ++i) views[i] = i == which ? x : inputs[i].view();
        backend->latent_gradient(heads.view(), views[0], views[1], views[2], views[3], views[4], {},
                                 0.5F, out);
      });
    }
  });
}

TEST_CASE("NaN reaches all distances of its row and no other") {
  constexpr Index m = 7;
  constexpr Index K = 3;
  const ComputeLimits limits = {.rows = kRows, .dims = m, .clusters = K};
  TestRandom random(26);
  const Matrix z = random.uniform_matrix(kRows, m, -2.0, 2.0);
  const Matrix variance = random.uniform_matrix(kRows, m, 0.1, 1.0);
  const Matrix weight = random.uniform_matrix(kRows, K, 0.1, 1.0);
  for (const FactorShape shape : {FactorShape::kLower, FactorShape::kDiagonal}) {
    const TestGaussians gaussians(random, K, m, shape);
    for_every_backend(limits, [&](TestBackend& backend) {
      check_rows(z, K, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView out) {
        backend->mahalanobis(input, variance.view(), gaussians.view(), out);
      });
      check_rows(variance, K, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView out) {
        backend->mahalanobis(z.view(), input, gaussians.view(), out);
      });
      // A diagonal precision ties no two dimensions together.
      const Reach reach = shape == FactorShape::kLower ? Reach::kWholeRow : Reach::kSomewhere;
      check_rows(z, m, reach, [&](ConstMatrixView input, MatrixView pull) {
        backend->mahalanobis_pull(input, weight.view(), gaussians.view(), pull);
      });
      check_rows(weight, m, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView pull) {
        backend->mahalanobis_pull(z.view(), input, gaussians.view(), pull);
      });
    });
  }
}

TEST_CASE("NaN reaches all probabilities of its row and their sum and no other") {
  TestRandom random(27);
  for (const Index K : {1, 3, 8, 21, 50}) {
    const Matrix in = random.uniform_matrix(kRows, K, -3.0, 3.0);
    const Matrix offset = random.uniform_matrix(1, K, -3.0, 0.0);
    for_every_backend({.rows = kRows, .clusters = K}, [&](TestBackend& backend) {
      check_rows(in, K, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView probability) {
        Matrix log_sum(1, kRows);
        backend->softmax_rows(input, offset.data(), 1.0F, probability, log_sum.data());
      });
      check_rows(in, 1, Reach::kWholeRow, [&](ConstMatrixView input, MatrixView log_sum) {
        Matrix probability(kRows, K);
        backend->softmax_rows(input, nullptr, -0.5F, probability.view(), log_sum.data);
      });
    });
  }
}

TEST_CASE("squared_norm is finite exactly if every entry is") {
  TestRandom random(28);
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const Index count : {1, 2, 7, 8, 9, 31, 32, 33, 67, 66000}) {
    CAPTURE(count);
    Matrix x = random.uniform_matrix(1, count, -1.0, 1.0);
    for_every_backend({}, [&](TestBackend& backend) {
      for (const Index at : {Index{0}, count / 2, count - 1}) {
        CAPTURE(at);
        const float kept = x(0, at);
        for (const float bad : {kNan, HUGE_VALF, -HUGE_VALF}) {
          x(0, at) = bad;
          CHECK_FALSE(std::isfinite(backend->squared_norm(x.data(), count)));
        }
        x(0, at) = kept;
      }
      CHECK(std::isfinite(backend->squared_norm(x.data(), count)));
      Matrix large(1, count);
      for (Index i = 0; i < count; ++i) large(0, i) = i % 2 == 0 ? kLargest : -kLargest;
      CHECK(std::isfinite(backend->squared_norm(large.data(), count)));
    });
  }
}

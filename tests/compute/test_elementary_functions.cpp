// The vector exponential and logarithm inside the kernels, seen through the activations and the
// softmax, number by number over the whole range of inputs.
#include <algorithm>
#include <initializer_list>

#include <doctest/doctest.h>

#include "compute/operation_check.h"
#include "support/test_size.h"

using namespace adapvae;

namespace {

const Index kPoints = testing::repeats(10001, 10001, 40001);
constexpr Index kPiece = 1003;  // points handled at once

// From -100 to 100, a third of it close to zero.
Matrix sweep() {
  Matrix points(1, kPoints);
  for (Index i = 0; i < kPoints; ++i) {
    const double t = 2.0 * static_cast<double>(i) / static_cast<double>(kPoints - 1) - 1.0;
    points(0, i) = static_cast<float>(i % 3 == 0 ? t * t * t : 100.0 * t);
  }
  return points;
}

// Below this the exponential may be zero: results would not be normal numbers.
constexpr double kLeast = 1.7e-38;

// Errors of single numbers, each relative to itself, or to `floor` if that is larger.
Error relative_error(const Matrix& got, const MatrixD& want, double floor) {
  double squares = 0.0;
  double peak = 0.0;
  for (Index i = 0; i < want.rows(); ++i) {
    for (Index j = 0; j < want.cols(); ++j) {
      const double size = std::max(std::fabs(want(i, j)), floor);
      double error = std::fabs(got(i, j) - want(i, j));
      if (size > kLeast) {
        error /= size;
      } else {
        error = error <= kLeast ? 0.0 : HUGE_VAL;
      }
      squares += error * error;  // a NaN stays here
      peak = std::max(peak, error);
    }
  }
  return {std::sqrt(squares / static_cast<double>(want.rows() * want.cols())), peak};
}

// activation(1 · w) for every point w, through dense_forward.
void check_activation(Activation activation, Quantity quantity, double floor) {
  Matrix one(1, 1);
  one(0, 0) = 1.0F;
  const Matrix points = sweep();
  MatrixD want(1, kPoints);
  for (Index i = 0; i < kPoints; ++i) want(0, i) = reference::activate(activation, points(0, i));
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {.rows = 1, .widest_layer = kPiece})) {
      Matrix y(1, kPoints);
      for (Index first = 0; first < kPoints; first += kPiece) {
        const Index count = std::min(kPiece, kPoints - first);
        (*backend)->dense_forward(one.view(), points.view().col_range(first, count), nullptr,
                                  activation, y.view().col_range(first, count));
      }
      check_error(quantity, *backend, relative_error(y, want, floor));
    }
  }
}

}  // namespace

TEST_CASE("tanh is right to the last digits from -100 to 100") {
  check_activation(Activation::kTanh, Quantity::kTanh, 0.0);
}

TEST_CASE("the sigmoid is right to the last digits from -100 to 100") {
  check_activation(Activation::kSigmoid, Quantity::kSigmoid, 0.0);
}

// log(1 + e^x) far below zero is the logarithm of a number that rounds to 1.
TEST_CASE("softplus is right from -100 to 100, up to the rounding of 1 + e^x") {
  check_activation(Activation::kSoftplus, Quantity::kSoftplus, 1.0);
}

// Two columns, 0 and x < 0: the second probability is e^x / (1 + e^x).
TEST_CASE("the exponential is right to the last digits from -87 to 0") {
  const Matrix points = sweep();
  Matrix in(kPoints, 2);
  for (Index i = 0; i < kPoints; ++i) {
    in(i, 0) = 0.0F;
    in(i, 1) = -std::fabs(points(0, i));
  }
  MatrixD want(kPoints, 2);
  MatrixD want_log_sum(1, kPoints);
  reference::softmax_rows(to_double(in).view(), nullptr, 1.0, want.view(), want_log_sum.data());
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {.rows = kPiece, .clusters = 2})) {
      Matrix probability(kPoints, 2);
      Matrix log_sum(1, kPoints);
      for (Index first = 0; first < kPoints; first += kPiece) {
        const Index count = std::min(kPiece, kPoints - first);
        (*backend)->softmax_rows(in.view().row_range(first, count), nullptr, 1.0F,
                                 probability.view().row_range(first, count),
                                 log_sum.data() + first);
      }
      check_error(Quantity::kExponential, *backend, relative_error(probability, want, 0.0));
      check_error(Quantity::kExponential, *backend, relative_error(log_sum, want_log_sum, 1.0));
    }
  }
}

#include "compute/operation_check.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <doctest/doctest.h>

namespace adapvae {
namespace {

struct Bound {
  const char* name;
  Error most;
  const char* why;
};

// About four times the worst error seen (x86-64 without and with fused multiply-add, gcc 12 and
// clang 14). One float rounding is 6e-8, one double rounding 1.1e-16.
constexpr Bound kBounds[] = {
    {"dense_forward",
     {2.4e-6, 4.4e-6},
     "float sums of two depth blocks and a bit, in one order: rounding grows with the root of the "
     "depth"},
    {"dense_backward_input",
     {2.4e-6, 4.4e-6},
     "the same product, transposed; the derivative adds a few roundings"},
    {"dense_backward_weights", {2.4e-6, 4.4e-6}, "the same product, summed over rows"},
    {"bias gradient", {4e-6, 5e-6}, "one float sum over all rows, in one block"},
    {"log-likelihood",
     {3e-6, 3e-6},
     "float sums over up to 785 inputs, in as many parts as there are lanes"},
    {"reconstruct gradient",
     {4e-7, 8e-7},
     "elementwise: the exponential's rounding and a few more"},
    {"latent", {2e-7, 4e-7}, "elementwise, standard library exponential"},
    {"latent variance", {2e-7, 2e-7}, "one standard library exponential"},
    {"latent_gradient", {3.2e-7, 4.4e-7}, "elementwise, five roundings"},
    {"mahalanobis",
     {8e-7, 1.4e-6},
     "positive terms, but F (z - mean) under the square may cancel a little"},
    {"mahalanobis_pull",
     {1.7e-6, 1.7e-6},
     "two products in a row, and terms of clusters that cancel"},
    {"softmax probability",
     {1e-6, 1.8e-6},
     "rounding of a logit of about 20 is relative to the logit, not to its exponential"},
    {"softmax log_sum",
     {2.4e-6, 2.4e-6},
     "the logits' rounding, where log_sum itself happens to be small"},
    {"moment sum",
     {1.4e-15, 1.4e-15},
     "double in the order of rows: only fused multiply-adds differ"},
    {"moment scatter",
     {1.4e-15, 1.4e-15},
     "double in the order of rows: only fused multiply-adds differ"},
    {"squared_norm", {1.7e-13, 1.7e-13}, "double, up to 32768 terms in one sum"},
    {"adam parameter",
     {2.4e-6, 2.4e-6},
     "five steps of about ten roundings each, beside a parameter that they have almost undone"},
    {"adam first moment", {9e-7, 9e-7}, "five float steps, which may cancel"},
    {"adam second moment", {4.4e-7, 7e-7}, "five float steps of positive terms"},
    {"tanh", {1.3e-7, 1.5e-6}, "each result relative to itself; the series near zero ends at x^7"},
    {"sigmoid", {1.3e-7, 7e-7}, "each result relative to itself: exponential, sum, quotient"},
    {"softplus", {9e-8, 5e-7}, "absolute below 1: 1 + e^x rounds"},
    {"exponential",
     {1.3e-7, 7e-7},
     "each result relative to itself, down to the smallest normal number"},
};
static_assert(std::size(kBounds) == static_cast<std::size_t>(Quantity::kCount));

// The worst errors of this run, printed at its end if asked for.
class ErrorLog {
 public:
  ~ErrorLog() {
    if (std::getenv("ADAPVAE_TEST_ERRORS") == nullptr) return;
    std::printf("%-24s %-10s %9s %9s   of bound\n", "quantity", "level", "rms", "peak");
    for (const auto& [key, error] : worst_) {
      const Bound& bound = kBounds[key.first];
      std::printf("%-24s %-10s %9.1e %9.1e   %4.2f %4.2f\n", bound.name, key.second.c_str(),
                  error.rms, error.peak, error.rms / bound.most.rms, error.peak / bound.most.peak);
    }
  }
  void add(Quantity quantity, const char* level, Error error) {
    Error& worst = worst_[{static_cast<int>(quantity), level}];
    worst.rms = std::max(worst.rms, error.rms);
    worst.peak = std::max(worst.peak, error.peak);
  }

 private:
  std::map<std::pair<int, std::string>, Error> worst_;
};
ErrorLog error_log;

}  // namespace

// ---- matrices -----------------------------------------------------------------------------------

template <typename T>
bool TestMatrix<T>::margins_intact() const {
  const auto intact = [this](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      if (!same_bits(memory_[static_cast<std::size_t>(i)], poison())) return false;
    }
    return true;
  };
  Index end = 0;  // of what was looked at or belongs to a row
  for (Index i = 0; i < rows_; ++i) {
    if (!intact(end, kMargin + i * stride_)) return false;
    end = kMargin + i * stride_ + cols_;
  }
  return intact(end, static_cast<Index>(memory_.size()));
}
template class TestMatrix<float>;
template class TestMatrix<double>;

MatrixD to_double(const Matrix& matrix) {
  if (matrix.data() == nullptr) return {};
  MatrixD result(matrix.rows(), matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) result(i, j) = matrix(i, j);
  }
  return result;
}

Matrix to_float(const MatrixD& matrix, Index padding) {
  Matrix result(matrix.rows(), matrix.cols(), padding);
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) result(i, j) = static_cast<float>(matrix(i, j));
  }
  return result;
}

bool all_finite(const Matrix& matrix) {
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) {
      if (!std::isfinite(matrix(i, j))) return false;
    }
  }
  return true;
}

bool same_bytes(const float* a, const float* b, Index count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)) == 0;
}

// ---- random numbers -----------------------------------------------------------------------------

Matrix TestRandom::uniform_matrix(Index rows, Index cols, double low, double high, Index padding) {
  Matrix result(rows, cols, padding);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) result(i, j) = static_cast<float>(uniform(low, high));
  }
  return result;
}

TestGaussians::TestGaussians(TestRandom& random, Index clusters, Index dims, FactorShape shape_in,
                             double spread)
    : mean(random.uniform_matrix(clusters, dims, -2.0 * spread, 2.0 * spread)),
      factor(clusters, factor_size(shape_in, dims)),
      precision_diagonal(clusters, dims),
      shape(shape_in) {
  const double beside = 0.7 / std::sqrt(static_cast<double>(dims));
  for (Index k = 0; k < clusters; ++k) {
    float* packed = factor.view().row(k);
    std::vector<double> square(static_cast<std::size_t>(dims), 0.0);
    for (Index i = 0; i < dims; ++i) {
      for (Index j = shape == FactorShape::kDiagonal ? i : 0; j <= i; ++j) {
        const double value =
            (i == j ? random.uniform(0.5, 2.0) : random.uniform(-beside, beside)) / spread;
        *packed = static_cast<float>(value);
        square[static_cast<std::size_t>(j)] += static_cast<double>(*packed) * *packed;
        ++packed;
      }
    }
    for (Index j = 0; j < dims; ++j) {
      precision_diagonal(k, j) = static_cast<float>(square[static_cast<std::size_t>(j)]);
    }
  }
}

GaussianView TestGaussians::view() const {
  return {.clusters = mean.rows(),
          .dims = mean.cols(),
          .mean = mean.data(),
          .factor = factor.data(),
          .precision_diagonal = precision_diagonal.data(),
          .shape = shape};
}

TestGaussiansD::TestGaussiansD(const TestGaussians& gaussians)
    : mean(to_double(gaussians.mean)),
      factor(to_double(gaussians.factor)),
      precision_diagonal(to_double(gaussians.precision_diagonal)),
      shape(gaussians.shape) {}

reference::Gaussians TestGaussiansD::view() const {
  return {mean.view(), factor.view(), precision_diagonal.view(), shape};
}

// ---- comparison ---------------------------------------------------------------------------------

template <typename T>
Error error_between(const TestMatrix<T>& got, const MatrixD& want) {
  double error_squares = 0.0;
  double want_squares = 0.0;
  double error_peak = 0.0;
  double want_peak = 0.0;
  for (Index i = 0; i < want.rows(); ++i) {
    const T* got_row = got.view().row(i);
    const double* want_row = want.view().row(i);
    for (Index j = 0; j < want.cols(); ++j) {
      const double error = std::fabs(got_row[j] - want_row[j]);
      if (!(error <= HUGE_VAL)) return {NAN, NAN};  // max() would lose a NaN
      error_squares += error * error;
      error_peak = std::max(error_peak, error);
      want_squares += want_row[j] * want_row[j];
      want_peak = std::max(want_peak, std::fabs(want_row[j]));
    }
  }
  // Where everything has to be zero, nothing else will do.
  if (want_peak == 0.0) return error_peak == 0.0 ? Error{} : Error{HUGE_VAL, HUGE_VAL};
  return {std::sqrt(error_squares / want_squares), error_peak / want_peak};
}

template <typename T>
void check_close(Quantity quantity, const TestBackend& backend, const TestMatrix<T>& got,
                 const MatrixD& want) {
  REQUIRE(got.rows() == want.rows());
  REQUIRE(got.cols() == want.cols());
  CHECK(got.margins_intact());
  check_error(quantity, backend, error_between(got, want));
}

void check_error(Quantity quantity, const TestBackend& backend, Error error) {
  error_log.add(quantity, backend.level(), error);
  const Bound& bound = kBounds[static_cast<int>(quantity)];
  INFO(bound.name, " on ", backend.name(), ": ", bound.why);
  CHECK(error.rms <= bound.most.rms);
  CHECK(error.peak <= bound.most.peak);
  CHECK(backend.memory_intact());
}

template Error error_between(const TestMatrix<float>&, const MatrixD&);
template Error error_between(const TestMatrix<double>&, const MatrixD&);
template void check_close(Quantity, const TestBackend&, const TestMatrix<float>&, const MatrixD&);
template void check_close(Quantity, const TestBackend&, const TestMatrix<double>&, const MatrixD&);

}  // namespace adapvae

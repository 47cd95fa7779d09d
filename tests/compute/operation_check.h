// What the tests of the compute seam share: matrices with guarded margins, random numbers, and the
// table of how far an operation may be from its reference.
#pragma once

#include <bit>
#include <cmath>
#include <vector>

#include "base/matrix_view.h"
#include "base/philox.h"
#include "support/reference_operations.h"
#include "support/test_backends.h"

namespace adapvae {

// ---- matrices -----------------------------------------------------------------------------------

// A matrix whose margins (before, behind, and `padding` elements between rows) hold NaN: reading
// them spoils a result, writing them is seen by margins_intact(). Elements start as the same NaN.
template <typename T>
class TestMatrix {
 public:
  TestMatrix() = default;
  TestMatrix(Index rows, Index cols, Index padding = 0)
      : rows_(rows),
        cols_(cols),
        stride_(cols + padding),
        memory_(static_cast<std::size_t>(2 * kMargin + (rows - 1) * stride_ + cols), poison()) {}

  BasicMatrixView<T> view() { return {data(), rows_, cols_, stride_}; }
  BasicMatrixView<const T> view() const { return {data(), rows_, cols_, stride_}; }
  // Null for a matrix without elements, like an empty view.
  T* data() { return memory_.empty() ? nullptr : memory_.data() + kMargin; }
  const T* data() const { return memory_.empty() ? nullptr : memory_.data() + kMargin; }
  T& operator()(Index i, Index j) { return view()(i, j); }
  T operator()(Index i, Index j) const { return view()(i, j); }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }

  bool margins_intact() const;

 private:
  // Odd, so that no row is aligned by luck.
  static constexpr Index kMargin = testing::kAddressSanitizer ? 0 : 19;

  static T poison() {
    const std::uint32_t words[2] = {kPoison, kPoison};
    T value;
    __builtin_memcpy(&value, words, sizeof value);
    return value;
  }
  static bool same_bits(const T& a, const T& b) { return __builtin_memcmp(&a, &b, sizeof a) == 0; }

  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  std::vector<T> memory_;
};
using Matrix = TestMatrix<float>;
using MatrixD = TestMatrix<double>;

MatrixD to_double(const Matrix& matrix);
Matrix to_float(const MatrixD& matrix, Index padding = 0);
bool all_finite(const Matrix& matrix);
// Rows of the same shape with the same bits.
bool same_bytes(const float* a, const float* b, Index count);

// ---- random numbers -----------------------------------------------------------------------------

class TestRandom {
 public:
  explicit TestRandom(std::uint64_t seed) : philox_(RandomKey{.seed = seed}) {}
  double uniform(double low, double high) { return low + (high - low) * philox_.uniform_double(); }
  std::uint32_t below(std::uint32_t bound) { return philox_.below(bound); }
  Matrix uniform_matrix(Index rows, Index cols, double low, double high, Index padding = 0);

 private:
  Philox philox_;
};

// K random Gaussians, well conditioned, with the diagonal of FᵀF that belongs to their factors.
struct TestGaussians {
  TestGaussians(TestRandom& random, Index clusters, Index dims, FactorShape shape,
                double spread = 1.0);
  GaussianView view() const;
  Matrix mean, factor, precision_diagonal;
  FactorShape shape;
};
struct TestGaussiansD {
  explicit TestGaussiansD(const TestGaussians& gaussians);
  reference::Gaussians view() const;
  MatrixD mean, factor, precision_diagonal;
  FactorShape shape;
};

// ---- comparison ---------------------------------------------------------------------------------

enum class Quantity : int {
  kDenseForward,
  kDenseBackwardInput,
  kDenseBackwardWeights,
  kDenseBiasGradient,
  kLogLikelihood,
  kReconstructGradient,
  kLatent,
  kLatentVariance,
  kLatentGradient,
  kMahalanobis,
  kMahalanobisPull,
  kProbability,
  kLogSum,
  kMomentSum,
  kMomentScatter,
  kSquaredNorm,
  kAdamParameter,
  kAdamFirstMoment,
  kAdamSecondMoment,
  kTanh,
  kSigmoid,
  kSoftplus,
  kExponential,
  kCount,
};

struct Error {
  double rms = 0.0;   // ‖got - want‖ / ‖want‖
  double peak = 0.0;  // max |got - want| / max |want|
};
template <typename T>
Error error_between(const TestMatrix<T>& got, const MatrixD& want);

// Checks (doctest) that both errors are within the bounds of the quantity and that got's margins
// are untouched. With ADAPVAE_TEST_ERRORS set in the environment, the binary prints the worst
// errors per level when it ends.
template <typename T>
void check_close(Quantity quantity, const TestBackend& backend, const TestMatrix<T>& got,
                 const MatrixD& want);
// The same for errors that the caller measured.
void check_error(Quantity quantity, const TestBackend& backend, Error error);

}  // namespace adapvae

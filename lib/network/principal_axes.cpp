#include "network/principal_axes.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"

namespace adapvae {
namespace {

// Axes of clearly larger variance are found in a few rounds; between axes of the same variance
// there is no choice.
constexpr int kAxisRounds = 12;

double dot(const float* a, const float* b, Index count) {
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// Gram-Schmidt, twice: once leaves rounding errors of nearly parallel rows. A row within the
// others' span stays a unit vector of what is left of a fresh draw.
void orthonormalise(MatrixView axes, Philox& random) {
  for (Index k = 0; k < axes.rows; ++k) {
    float* axis = axes.row(k);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const double before = std::sqrt(dot(axis, axis, axes.cols));
      for (int pass = 0; pass < 2; ++pass) {
        for (Index l = 0; l < k; ++l) {
          const double along = dot(axis, axes.row(l), axes.cols);
          for (Index j = 0; j < axes.cols; ++j) {
            axis[j] -= static_cast<float>(along * axes.row(l)[j]);
          }
        }
      }
      const double norm = std::sqrt(dot(axis, axis, axes.cols));
      constexpr double kRounding = 1e-5;
      if (norm > kRounding * before && norm > 1e-30) {
        for (Index j = 0; j < axes.cols; ++j) axis[j] = static_cast<float>(axis[j] / norm);
        break;
      }
      // (More axes than columns: the last ones are zero.)
      const bool last = attempt == 2;
      for (Index j = 0; j < axes.cols; ++j) axis[j] = last ? 0.0F : random.uniform_float() - 0.5F;
    }
  }
}

}  // namespace

void find_principal_axes(ConstMatrixView rows, std::uint64_t seed, const PrincipalAxes& out,
                         MatrixView projection, MatrixView next) {
  const Index n = rows.rows;
  const Index d = rows.cols;
  const Index m = out.axes.rows;
  for (Index j = 0; j < d; ++j) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) sum += rows(i, j);
    out.centre[j] = static_cast<float>(sum / static_cast<double>(n));
  }
  Philox random({.seed = seed, .purpose = RandomPurpose::kInitialise, .stream = 1});
  for (Index k = 0; k < m; ++k) {
    for (Index j = 0; j < d; ++j) out.axes.row(k)[j] = random.uniform_float() - 0.5F;
  }
  for (int round = 0; round <= kAxisRounds; ++round) {
    orthonormalise(out.axes, random);
    for (Index k = 0; k < m; ++k) {
      const double origin = dot(out.centre, out.axes.row(k), d);
      double square = 0.0;
      for (Index i = 0; i < n; ++i) {
        const double along = dot(rows.row(i), out.axes.row(k), d) - origin;
        projection(i, k) = static_cast<float>(along);
        square += along * along;
      }
      out.deviation[k] = std::sqrt(square / static_cast<double>(n));
    }
    if (round == kAxisRounds) break;
    for (Index k = 0; k < m; ++k) std::fill_n(next.row(k), d, 0.0F);
    for (Index i = 0; i < n; ++i) {
      const float* row = rows.row(i);
      for (Index k = 0; k < m; ++k) {
        const float along = projection(i, k) / static_cast<float>(n);
        float* axis = next.row(k);
        for (Index j = 0; j < d; ++j) axis[j] += along * (row[j] - out.centre[j]);
      }
    }
    for (Index k = 0; k < m; ++k) std::copy_n(next.row(k), d, out.axes.row(k));
  }
}

}  // namespace adapvae

#include "base/packed_lower.h"

#include <cmath>

namespace adapvae {

bool cholesky_in_place(double* a, Index n) {
  for (Index i = 0; i < n; ++i) {
    double* row_i = a + packed_size(i);
    for (Index j = 0; j <= i; ++j) {
      const double* row_j = a + packed_size(j);
      double sum = row_i[j];
      for (Index k = 0; k < j; ++k) sum -= row_i[k] * row_j[k];
      if (j < i) {
        row_i[j] = sum / row_j[j];
      } else {
        if (!(sum > 0.0) || !std::isfinite(sum)) return false;
        row_i[i] = std::sqrt(sum);
      }
    }
  }
  return true;
}

double log_determinant_of_factor(const double* factor, Index n) {
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) sum += std::log(factor[packed_size(i) + i]);
  return 2.0 * sum;
}

void solve_lower(const double* factor, Index n, double* x) {
  for (Index i = 0; i < n; ++i) {
    const double* row = factor + packed_size(i);
    double sum = x[i];
    for (Index j = 0; j < i; ++j) sum -= row[j] * x[j];
    x[i] = sum / row[i];
  }
}

void solve_positive_definite(const double* factor, Index n, double* x) {
  solve_lower(factor, n, x);
  for (Index i = n - 1; i >= 0; --i) {
    for (Index j = i + 1; j < n; ++j) x[i] -= factor[packed_size(j) + i] * x[j];
    x[i] /= factor[packed_size(i) + i];
  }
}

void invert_lower(const double* factor, Index n, double* out) {
  for (Index i = 0; i < n; ++i) {
    const double* row = factor + packed_size(i);
    double* result = out + packed_size(i);
    const double inverse = 1.0 / row[i];
    for (Index j = 0; j < i; ++j) {
      double sum = 0.0;
      for (Index k = j; k < i; ++k) sum += row[k] * out[packed_size(k) + j];
      result[j] = -sum * inverse;
    }
    result[i] = inverse;
  }
}

void add_outer(double scale, const double* x, Index n, double* a) {
  for (Index i = 0; i < n; ++i) {
    const double scaled = scale * x[i];
    for (Index j = 0; j <= i; ++j) *a++ += scaled * x[j];
  }
}

double squared_distance(const double* factor, Index n, const double* x, double* scratch) {
  for (Index i = 0; i < n; ++i) scratch[i] = x[i];
  solve_lower(factor, n, scratch);
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) sum += scratch[i] * scratch[i];
  return sum;
}

}  // namespace adapvae

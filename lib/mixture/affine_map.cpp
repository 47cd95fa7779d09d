#include "mixture/affine_map.h"

#include <algorithm>
#include <cmath>

#include "base/packed_lower.h"

namespace adapvae {

void map_vector(const ClusterShape& shape, const double* to, const double* from, double* x) {
  const Index m = shape.dims;
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) x[i] *= to[i] / from[i];
    return;
  }
  solve_lower(from, m, x);
  for (Index i = m - 1; i >= 0; --i) {
    double sum = 0.0;
    for (Index j = 0; j <= i; ++j) sum += to[packed_size(i) + j] * x[j];
    x[i] = sum;
  }
}

void map_scatter(const ClusterShape& shape, const double* to, const double* from, const double* s,
                 double* out, double* scratch) {
  const Index m = shape.dims;
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) out[i] = s[i] * (to[i] / from[i]) * (to[i] / from[i]);
    return;
  }
  // Columns of s mapped give A s; its rows mapped give A s Aᵀ.
  double* half = scratch;
  for (Index j = 0; j < m; ++j) {
    double* column = half + j * m;  // column j of A s, which is row j of s Aᵀ
    for (Index i = 0; i < m; ++i) column[i] = s[i >= j ? packed_size(i) + j : packed_size(j) + i];
    map_vector(shape, to, from, column);
  }
  double* row = scratch + m * m;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) row[j] = half[j * m + i];
    map_vector(shape, to, from, row);
    for (Index j = 0; j <= i; ++j) out[packed_size(i) + j] = row[j];
    // Rounding may leave a diagonal a little below zero.
    out[packed_size(i) + i] = std::max(row[i], 0.0);
  }
}

void map_statistics(const ClusterShape& shape, const AffineMap& map, const StatisticsRef& s,
                    double* scratch) {
  for (Index i = 0; i < shape.dims; ++i) s.mean[i] -= map.from_mean[i];
  if (map.from_root != nullptr) {
    map_vector(shape, map.to_root, map.from_root, s.mean);
    map_scatter(shape, map.to_root, map.from_root, s.scatter, s.scatter, scratch);
  }
  for (Index i = 0; i < shape.dims; ++i) s.mean[i] += map.to_mean[i];
}

bool covariance_root(const ClusterShape& shape, const StatisticsRef& s, double* l) {
  for (Index i = 0; i < shape.scatter_size(); ++i) l[i] = s.scatter[i] / *s.mass;
  if (shape.covariance == FactorShape::kLower) return cholesky_in_place(l, shape.dims);
  for (Index i = 0; i < shape.dims; ++i) {
    if (!(l[i] > 0.0)) return false;
    l[i] = std::sqrt(l[i]);
  }
  return true;
}

}  // namespace adapvae

// Statistics under an affine map z ↦ A(z - a) + b, where A = L₁L₀⁻¹ takes one covariance (factor
// `from` = L₀) to another (`to` = L₁). Factors are packed lower triangles, or deviations if
// diagonal.
#pragma once

#include "mixture/statistics.h"

namespace adapvae {

// Borrowed. Null roots: A is the identity, the map a shift.
struct AffineMap {
  const double* from_mean = nullptr;  // [m] a
  const double* to_mean = nullptr;    // [m] b
  const double* from_root = nullptr;
  const double* to_root = nullptr;
};

// s as it would be, had its rows been mapped. scratch [m² + m].
void map_statistics(const ClusterShape& shape, const AffineMap& map, const StatisticsRef& s,
                    double* scratch);

// root = factor of scatter / mass; false if it has none (too few rows, or flat).
bool covariance_root(const ClusterShape& shape, const StatisticsRef& s, double* root);

// x [m] becomes A x.
void map_vector(const ClusterShape& shape, const double* to, const double* from, double* x);

// out = A s Aᵀ, s a scatter (packed or diagonal); out may be s. scratch [m² + m].
void map_scatter(const ClusterShape& shape, const double* to, const double* from, const double* s,
                 double* out, double* scratch);

}  // namespace adapvae

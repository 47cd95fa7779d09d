// Sufficient statistics of clusters: mass N, mean z̄ and centred scatter
// C = Σ r {(z - z̄)(z - z̄)ᵀ + diag σ²}, in double, combined by Chan's rule.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/matrix_view.h"
#include "base/packed_lower.h"
#include "compute/kernels.h"

namespace adapvae {

struct ClusterShape {
  FactorShape covariance = FactorShape::kLower;  // full or diagonal
  Index dims = 0;                                // m

  constexpr Index scatter_size() const {
    return covariance == FactorShape::kDiagonal ? dims : packed_size(dims);
  }
  // Where the scatter keeps its i-th diagonal entry.
  constexpr Index diagonal_at(Index i) const {
    return covariance == FactorShape::kDiagonal ? i : packed_size(i) + i;
  }
};

// A number of rows, exact for ever: whole rows and units of kResponsibilityUnit below one row.
struct RowCount {
  std::int64_t whole = 0;
  std::int64_t units = 0;  // 0 … 2³²-1

  // From a sum of responsibilities below two million, which a double holds exactly.
  static RowCount from_mass(double mass);
  RowCount operator+(const RowCount& other) const;
  // other <= this.
  RowCount operator-(const RowCount& other) const;
  bool operator==(const RowCount& other) const = default;
  double value() const {
    return static_cast<double>(whole) + static_cast<double>(units) * kResponsibilityUnit;
  }
};

// Borrowed place of one cluster's statistics.
struct StatisticsRef {
  double* mass;     // one number
  double* mean;     // [m]
  double* scatter;  // [scatter_size]
};

// Statistics of up to `capacity` clusters.
class StatisticsBlock {
 public:
  void place(Arena& arena, const ClusterShape& shape, Index capacity);

  StatisticsRef operator[](Index k) const {
    return {mass_ + k, mean_ + k * shape_.dims, scatter_ + k * shape_.scatter_size()};
  }
  double mass(Index k) const { return mass_[k]; }

  // Cluster k: no rows.
  void clear(Index k);
  // Cluster k becomes a copy of cluster j of `other`.
  void copy(Index k, const StatisticsBlock& other, Index j);
  // Cluster k becomes a copy of `from`.
  void assign(Index k, const StatisticsRef& from);
  // Cluster k takes in `weight` times cluster j of `other` (Chan's rule). weight > 0.
  void add(Index k, const StatisticsBlock& other, Index j, double weight = 1.0);

 private:
  ClusterShape shape_;
  double* mass_ = nullptr;
  double* mean_ = nullptr;
  double* scatter_ = nullptr;
};

// into += weight · from.
void add_statistics(const ClusterShape& shape, StatisticsRef from, double weight,
                    StatisticsRef into);

// into += weight · `share` of a row z [m] with this variance [m], or null for none. scratch [m +
// scatter_size].
void add_row(const ClusterShape& shape, const float* z, const float* variance, double share,
             double weight, StatisticsRef into, double* scratch);

// from -= part, which is a part of it. False, and nothing that means anything left, if it is not:
// no mass or a negative variance would remain.
bool remove_statistics(const ClusterShape& shape, StatisticsRef part, StatisticsRef from);

// Statistics from sums about `center`: mass Σ w, sum Σ w (z - center), scatter Σ w (z - center)² +.
void center_statistics(const ClusterShape& shape, double mass, const double* sum,
                       const double* scatter, const double* center, StatisticsRef out);

}  // namespace adapvae

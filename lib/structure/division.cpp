#include "structure/division.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixture/statistics_io.h"

namespace adapvae {
namespace {

// x [m] becomes A x, A = L0 L1⁻¹ (full) or the ratio of deviations (diagonal).
void map_vector(const ClusterShape& shape, const double* l0, const double* l1, double* x) {
  const Index m = shape.dims;
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) x[i] *= l0[i] / l1[i];
    return;
  }
  solve_lower(l1, m, x);
  for (Index i = m - 1; i >= 0; --i) {
    double sum = 0.0;
    for (Index j = 0; j <= i; ++j) sum += l0[packed_size(i) + j] * x[j];
    x[i] = sum;
  }
}

// out = A s Aᵀ for a symmetric packed (or diagonal) s. scratch [m² + m].
void map_scatter(const ClusterShape& shape, const double* l0, const double* l1, const double* s,
                 double* out, double* scratch) {
  const Index m = shape.dims;
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) out[i] = s[i] * (l0[i] / l1[i]) * (l0[i] / l1[i]);
    return;
  }
  // Columns of s mapped give A s; its rows mapped give A s Aᵀ.
  double* half = scratch;
  for (Index j = 0; j < m; ++j) {
    double* column = half + j * m;  // column j of A s, which is row j of s Aᵀ
    for (Index i = 0; i < m; ++i) column[i] = s[i >= j ? packed_size(i) + j : packed_size(j) + i];
    map_vector(shape, l0, l1, column);
  }
  double* row = scratch + m * m;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) row[j] = half[j * m + i];
    map_vector(shape, l0, l1, row);
    for (Index j = 0; j <= i; ++j) out[packed_size(i) + j] = row[j];
  }
}

// l = the Cholesky factor of scatter / mass, or its root if diagonal; false if it has none.
bool deviation_of(const ClusterShape& shape, const StatisticsRef& s, double* l) {
  for (Index i = 0; i < shape.scatter_size(); ++i) l[i] = s.scatter[i] / *s.mass;
  if (shape.covariance == FactorShape::kLower) return cholesky_in_place(l, shape.dims);
  for (Index i = 0; i < shape.dims; ++i) {
    if (!(l[i] > 0.0)) return false;
    l[i] = std::sqrt(l[i]);
  }
  return true;
}

}  // namespace

void CandidateDivisions::place(Arena& arena, const MixtureConfig& config) {
  shape_ = config.shape;
  capacity_ = config.max_clusters;
  halves_.place(arena, shape_, 2 * capacity_);
  entropy_ = arena.take<double>(static_cast<std::size_t>(capacity_));
}

void CandidateDivisions::reset() {
  for (Index k = 0; k < capacity_; ++k) clear(k);
}

void CandidateDivisions::clear(Index k) {
  halves_.clear(2 * k);
  halves_.clear(2 * k + 1);
  entropy_[k] = 0.0;
}

void CandidateDivisions::set(Index k, const StatisticsRef& first, const StatisticsRef& second,
                             double entropy) {
  halves_.assign(2 * k, first);
  halves_.assign(2 * k + 1, second);
  entropy_[k] = entropy;
}

void CandidateDivisions::move(Index from, Index to) {
  if (from != to) set(to, half(from, 0), half(from, 1), entropy_[from]);
  clear(from);
}

std::size_t CandidateDivisions::most_bytes(const MixtureConfig& config) {
  const Index numbers = 1 + 2 * (1 + config.shape.dims + config.shape.scatter_size());
  return static_cast<std::size_t>(config.max_clusters * numbers) * sizeof(double);
}

void CandidateDivisions::save(ByteWriter& writer, Index clusters) const {
  for (Index k = 0; k < clusters; ++k) {
    writer.write_f64(entropy_[k]);
    for (Index which = 0; which < 2; ++which) write_statistics(writer, shape_, half(k, which));
  }
}

Status CandidateDivisions::load(ByteReader& reader, Index clusters) {
  for (Index k = 0; k < clusters; ++k) {
    entropy_[k] = reader.read_f64();
    bool sound = std::isfinite(entropy_[k]);
    for (Index which = 0; which < 2; ++which) {
      sound = read_statistics(reader, shape_, half(k, which)) && sound;
    }
    if (!sound) return {StatusCode::kCorruptData, "candidate divisions do not parse"};
  }
  return {};
}

bool divide_statistics(const ClusterShape& shape, const StatisticsRef& whole,
                       const StatisticsRef& half_a, const StatisticsRef& half_b,
                       const StatisticsRef& first, const StatisticsRef& second, double* scratch) {
  const Index m = shape.dims;
  double* whole_root = scratch;
  double* pool_root = whole_root + shape.scatter_size();
  double pool_mass = 0.0;
  const StatisticsRef pool = {&pool_mass, pool_root + shape.scatter_size(),
                              pool_root + shape.scatter_size() + m};
  double* rest = pool.scatter + shape.scatter_size();
  std::fill_n(pool.mean, m, 0.0);
  std::fill_n(pool.scatter, shape.scatter_size(), 0.0);
  add_statistics(shape, half_a, 1.0, pool);
  add_statistics(shape, half_b, 1.0, pool);
  if (!(*whole.mass > 0.0) || !(pool_mass > 0.0) || !deviation_of(shape, whole, whole_root) ||
      !deviation_of(shape, pool, pool_root)) {
    return false;
  }
  const double scale = *whole.mass / pool_mass;
  for (const auto& [half, part] : {std::pair{half_a, first}, std::pair{half_b, second}}) {
    *part.mass = scale * *half.mass;
    for (Index i = 0; i < m; ++i) part.mean[i] = half.mean[i] - pool.mean[i];
    map_vector(shape, whole_root, pool_root, part.mean);
    for (Index i = 0; i < m; ++i) part.mean[i] += whole.mean[i];
    map_scatter(shape, whole_root, pool_root, half.scatter, part.scatter, rest);
    for (Index i = 0; i < shape.scatter_size(); ++i) part.scatter[i] *= scale;
  }
  return true;
}

bool bisect_statistics(const ClusterShape& shape, const StatisticsRef& whole,
                       const StatisticsRef& first, const StatisticsRef& second, double* scratch) {
  const Index m = shape.dims;
  if (!(*whole.mass > 0.0)) return false;
  // The direction of most variance: an axis if diagonal, else by power iteration.
  double* axis = scratch;
  double* image = scratch + m;
  std::fill_n(axis, m, 0.0);
  Index widest = 0;
  for (Index i = 1; i < m; ++i) {
    if (whole.scatter[shape.diagonal_at(i)] > whole.scatter[shape.diagonal_at(widest)]) widest = i;
  }
  axis[widest] = 1.0;
  double variance = whole.scatter[shape.diagonal_at(widest)] / *whole.mass;
  for (int step = 0; shape.covariance == FactorShape::kLower && step < 100; ++step) {
    double square = 0.0;
    for (Index i = 0; i < m; ++i) {
      double sum = 0.0;
      for (Index j = 0; j < m; ++j) {
        sum += whole.scatter[i >= j ? packed_size(i) + j : packed_size(j) + i] * axis[j];
      }
      image[i] = sum;
      square += sum * sum;
    }
    const double norm = std::sqrt(square);
    if (!(norm > 0.0)) return false;
    for (Index i = 0; i < m; ++i) axis[i] = image[i] / norm;
    variance = norm / *whole.mass;
  }
  if (!(variance > 0.0)) return false;
  // Halves of a Gaussian cut at its mean: sqrt(2/π) deviations from it, 1 - 2/π of its variance.
  constexpr double kHalfMean = 0.79788456080286535588;
  const double shift = kHalfMean * std::sqrt(variance);
  for (const auto& [part, side] : {std::pair{first, -1.0}, std::pair{second, 1.0}}) {
    *part.mass = 0.5 * *whole.mass;
    for (Index i = 0; i < m; ++i) part.mean[i] = whole.mean[i] + side * shift * axis[i];
    for (Index i = 0; i < shape.scatter_size(); ++i) part.scatter[i] = 0.5 * whole.scatter[i];
    const double between = -*part.mass * shift * shift;
    if (shape.covariance == FactorShape::kLower) {
      add_outer(between, axis, m, part.scatter);
    } else {
      part.scatter[widest] += between;
    }
  }
  return true;
}

}  // namespace adapvae

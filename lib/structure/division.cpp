#include "structure/division.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mixture/affine_map.h"
#include "mixture/statistics_io.h"

namespace adapvae {
void CandidateDivisions::place(Arena& arena, const MixtureConfig& config) {
  shape_ = config.shape;
  capacity_ = config.max_clusters;
  halves_.place(arena, shape_, 2 * capacity_);
  entropy_ = arena.take<double>(static_cast<std::size_t>(capacity_));
  rows_ = arena.take<double>(static_cast<std::size_t>(capacity_));
}

void CandidateDivisions::reset() {
  for (Index k = 0; k < capacity_; ++k) clear(k);
}

void CandidateDivisions::clear(Index k) {
  halves_.clear(2 * k);
  halves_.clear(2 * k + 1);
  entropy_[k] = 0.0;
  rows_[k] = 0.0;
}

void CandidateDivisions::fade(double factor) {
  for (Index k = 0; k < capacity_; ++k) {
    if (!exists(k)) continue;
    entropy_[k] *= factor;
    rows_[k] *= factor;
    for (Index which = 0; which < 2; ++which) {
      const StatisticsRef s = half(k, which);
      *s.mass *= factor;
      for (Index i = 0; i < shape_.scatter_size(); ++i) s.scatter[i] *= factor;
    }
  }
}

void CandidateDivisions::set(Index k, const StatisticsRef& first, const StatisticsRef& second,
                             double entropy, double rows) {
  halves_.assign(2 * k, first);
  halves_.assign(2 * k + 1, second);
  entropy_[k] = entropy;
  rows_[k] = rows;
}

void CandidateDivisions::move(Index from, Index to) {
  if (from != to) set(to, half(from, 0), half(from, 1), entropy_[from], rows_[from]);
  clear(from);
}

std::size_t CandidateDivisions::most_bytes(const MixtureConfig& config) {
  const Index numbers = 2 + 2 * (1 + config.shape.dims + config.shape.scatter_size());
  return static_cast<std::size_t>(config.max_clusters * numbers) * sizeof(double);
}

void CandidateDivisions::save(ByteWriter& writer, Index clusters) const {
  for (Index k = 0; k < clusters; ++k) {
    writer.write_f64(entropy_[k]);
    writer.write_f64(rows_[k]);
    for (Index which = 0; which < 2; ++which) write_statistics(writer, shape_, half(k, which));
  }
}

Status CandidateDivisions::load(ByteReader& reader, Index clusters) {
  for (Index k = 0; k < clusters; ++k) {
    entropy_[k] = reader.read_f64();
    rows_[k] = reader.read_f64();
    for (Index which = 0; which < 2; ++which) (void)read_statistics(reader, shape_, half(k, which));
  }
  if (reader.ok() && sound(clusters)) return {};
  return {StatusCode::kCorruptData, "candidate divisions do not parse"};
}

bool CandidateDivisions::sound(Index clusters) const {
  bool sound = true;
  for (Index k = 0; k < clusters; ++k) {
    sound = sound && within(entropy_[k], kLargestNumber) && rows_[k] >= 0.0 &&
            within(rows_[k], static_cast<double>(kMostRows)) &&
            sound_statistics(shape_, half(k, 0)) && sound_statistics(shape_, half(k, 1));
  }
  return sound;
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
  if (!(*whole.mass > 0.0) || !(pool_mass > 0.0) || !covariance_root(shape, whole, whole_root) ||
      !covariance_root(shape, pool, pool_root)) {
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

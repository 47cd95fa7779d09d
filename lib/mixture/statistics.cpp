#include "mixture/statistics.h"

#include <algorithm>

namespace adapvae {
namespace {

// scatter += scale · x xᵀ, or its diagonal.
void add_square(const ClusterShape& shape, double scale, const double* x, double* scatter) {
  if (shape.covariance == FactorShape::kLower) {
    add_outer(scale, x, shape.dims, scatter);
  } else {
    for (Index i = 0; i < shape.dims; ++i) scatter[i] += scale * x[i] * x[i];
  }
}

}  // namespace

RowCount RowCount::from_mass(double mass) {
  RowCount count;
  count.whole = static_cast<std::int64_t>(mass);
  count.units =
      static_cast<std::int64_t>((mass - static_cast<double>(count.whole)) / kResponsibilityUnit);
  return count;
}

RowCount RowCount::operator+(const RowCount& other) const {
  const std::int64_t sum = units + other.units;
  return {whole + other.whole + (sum >> 32), sum & 0xFFFFFFFF};
}

RowCount RowCount::operator-(const RowCount& other) const {
  const std::int64_t difference = units - other.units;
  return {whole - other.whole - (difference < 0 ? 1 : 0), difference & 0xFFFFFFFF};
}

void StatisticsBlock::place(Arena& arena, const ClusterShape& shape, Index capacity) {
  shape_ = shape;
  mass_ = arena.take<double>(static_cast<std::size_t>(capacity));
  mean_ = arena.take<double>(static_cast<std::size_t>(capacity * shape.dims));
  scatter_ = arena.take<double>(static_cast<std::size_t>(capacity * shape.scatter_size()));
}

void StatisticsBlock::clear(Index k) {
  const StatisticsRef s = (*this)[k];
  *s.mass = 0.0;
  std::fill_n(s.mean, shape_.dims, 0.0);
  std::fill_n(s.scatter, shape_.scatter_size(), 0.0);
}

void StatisticsBlock::assign(Index k, const StatisticsRef& from) {
  const StatisticsRef to = (*this)[k];
  *to.mass = *from.mass;
  std::copy_n(from.mean, shape_.dims, to.mean);
  std::copy_n(from.scatter, shape_.scatter_size(), to.scatter);
}

void StatisticsBlock::copy(Index k, const StatisticsBlock& other, Index j) { assign(k, other[j]); }

void StatisticsBlock::add(Index k, const StatisticsBlock& other, Index j, double weight) {
  add_statistics(shape_, other[j], weight, (*this)[k]);
}

namespace {

// into += weight · from, with weight · mass = added, which may be negative.
void combine_statistics(const ClusterShape& shape, StatisticsRef from, double weight, double added,
                        StatisticsRef into) {
  const double total = *into.mass + added;
  const double share = added / total;
  const Index m = shape.dims;
  for (Index i = 0; i < shape.scatter_size(); ++i) into.scatter[i] += weight * from.scatter[i];
  // The difference of means is formed twice rather than stored: no scratch is needed.
  const double between = *into.mass * share;
  Index at = 0;
  for (Index i = 0; i < m; ++i) {
    const double di = from.mean[i] - into.mean[i];
    if (shape.covariance == FactorShape::kDiagonal) {
      into.scatter[i] += between * di * di;
      continue;
    }
    for (Index j = 0; j <= i; ++j) {
      into.scatter[at++] += between * di * (from.mean[j] - into.mean[j]);
    }
  }
  for (Index i = 0; i < m; ++i) into.mean[i] += share * (from.mean[i] - into.mean[i]);
  *into.mass = total;
}

}  // namespace

void add_statistics(const ClusterShape& shape, StatisticsRef from, double weight,
                    StatisticsRef into) {
  const double added = weight * *from.mass;
  if (added > 0.0) combine_statistics(shape, from, weight, added, into);
}

void add_row(const ClusterShape& shape, const float* z, const float* variance, double share,
             double weight, StatisticsRef into, double* scratch) {
  double* mean = scratch;
  double* spread = scratch + shape.dims;
  std::fill_n(spread, shape.scatter_size(), 0.0);
  for (Index j = 0; j < shape.dims; ++j) {
    mean[j] = z[j];
    if (variance != nullptr) {
      spread[shape.diagonal_at(j)] = share * static_cast<double>(variance[j]);
    }
  }
  add_statistics(shape, {&share, mean, spread}, weight, into);
}

bool remove_statistics(const ClusterShape& shape, StatisticsRef part, StatisticsRef from) {
  if (!(*part.mass > 0.0) || !(*part.mass < *from.mass)) return false;
  combine_statistics(shape, part, -1.0, -*part.mass, from);
  bool sound = true;
  for (Index i = 0; i < shape.dims; ++i) {
    sound = sound && from.scatter[shape.diagonal_at(i)] > 0.0;
  }
  return sound;
}

void center_statistics(const ClusterShape& shape, double mass, const double* sum,
                       const double* scatter, const double* center, StatisticsRef out) {
  *out.mass = mass;
  std::copy_n(scatter, shape.scatter_size(), out.scatter);
  const double inverse = mass > 0.0 ? 1.0 / mass : 0.0;
  add_square(shape, -inverse, sum, out.scatter);
  // Rounding may leave a diagonal a little below zero.
  for (Index i = 0; i < shape.dims; ++i) {
    const Index at = shape.diagonal_at(i);
    out.scatter[at] = std::max(out.scatter[at], 0.0);
    out.mean[i] = mass > 0.0 ? center[i] + inverse * sum[i] : 0.0;
  }
}

}  // namespace adapvae

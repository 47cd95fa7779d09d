// Mixture: what rows add while the clusters stand still, as tables that can be added.
#include <algorithm>
#include <cmath>

#include "mixture/mixture.h"
#include "mixture/statistics_io.h"

namespace adapvae {
namespace {

constexpr double kCountError = 1e-9;  // a mass is a rounded number of rows

}  // namespace

void Mixture::carry_stream_alone() {
  for (Index k = 0; k < clusters_; ++k) {
    carried_.clear(k);
    carried_rows_[k] = {};
    carried_entropy_[k] = 0.0;
  }
  std::fill_n(carried_pairs_, packed_size(clusters_), 0.0);
  row_weight_ = 1.0;
  for (Index k = 0; k < clusters_; ++k) sum_levels(k);
  close_stream();
}

Status Mixture::carry_rows_alone(Backend& backend, ConstMatrixView z, ConstMatrixView variance) {
  ADAPVAE_RETURN_IF_ERROR(begin_stream(z, variance, 1.0, 1));
  local_step(backend, 0);
  carry_stream_alone();
  return backend.status();
}

std::uint64_t Mixture::table_bytes(const ClusterShape& shape, std::uint64_t count) {
  constexpr std::uint64_t kCount = 12;
  const auto numbers = static_cast<std::uint64_t>(2 + shape.dims + shape.scatter_size());
  return count * (kCount + 8 * numbers) + 8 * (count * (count - (count > 0 ? 1 : 0)) / 2);
}

void Mixture::write_table(ByteWriter& writer) const {
  for (Index k = 0; k < clusters_; ++k) write_cluster(writer, k);
}

bool Mixture::check_table(ByteReader& reader, Index count, RowCount* rows) {
  const StatisticsRef spare = carried_[config_.max_clusters];
  *rows = {};
  for (Index k = 0; k < count; ++k) {
    RowCount own;
    double entropy = 0.0;
    if (!read_count(reader, own) || !read_statistics(reader, config_.shape, spare)) return false;
    const double most = 1.0 + own.value();
    // What a row adds is bounded, so that the sum over any number of gains is.
    if (std::fabs(*spare.mass - own.value()) > kCountError * most ||
        !read_values(reader, &entropy, 1, kMostRowEntropy * own.value()) || entropy < 0.0) {
      return false;
    }
    *rows = *rows + own;
    if (!sound_count(*rows)) return false;
    for (Index j = 0; j < k; ++j) {
      double shared = 0.0;
      if (!read_values(reader, &shared, 1, kMostRowEntropy * rows->value())) return false;
    }
  }
  return true;
}

RowCount Mixture::add_from_table(ByteReader& reader, Index at, Index known, Index into,
                                 double weight, bool apart) {
  const Index spare = config_.max_clusters;
  RowCount rows;
  double entropy = 0.0;
  (void)read_count(reader, rows);
  (void)read_statistics(reader, config_.shape, carried_[spare]);
  (void)read_values(reader, &entropy, 1);
  carried_.add(into, carried_, spare, weight);
  carried_rows_[into] = carried_rows_[into] + rows;
  carried_entropy_[into] += weight * entropy;
  for (Index j = 0; j < at; ++j) {
    double shared = 0.0;
    (void)read_values(reader, &shared, 1);
    if (!apart) {
      carried_pairs_[pair_at(into, j < known ? j : into - at + j)] += weight * shared;
    }
  }
  return rows;
}

}  // namespace adapvae

// Mixture: what rows add while the clusters stand still, as tables that can be added.
#include <algorithm>
#include <cmath>

#include "mixture/mixture.h"
#include "mixture/statistics_io.h"

namespace adapvae {
namespace {

constexpr double kCountError = 1e-9;  // a mass is a rounded number of rows
constexpr double kFarthest = 1e19;    // beyond any feature

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
  const ClusterShape& shape = config_.shape;
  const StatisticsRef spare = carried_[config_.max_clusters];
  const auto within = [](const double* values, Index size, double most) {
    return std::all_of(values, values + size, [most](double x) { return std::fabs(x) <= most; });
  };
  *rows = {};
  for (Index k = 0; k < count; ++k) {
    RowCount own;
    ByteReader ahead = reader;
    if (!read_count(ahead, own) || !read_cluster(reader, k, false)) return false;
    const double most = 1.0 + own.value();
    if (std::fabs(*spare.mass - own.value()) > kCountError * most ||
        !within(spare.mean, shape.dims, kFarthest) ||
        !within(spare.scatter, shape.scatter_size(), kFarthest * kFarthest * most)) {
      return false;
    }
    *rows = *rows + own;
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

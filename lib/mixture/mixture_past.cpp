// Mixture: what is carried between streams, and how it is forgotten, divided, saved and loaded.
#include <algorithm>
#include <cmath>

#include "mixture/mixture.h"
#include "mixture/statistics_io.h"

namespace adapvae {
namespace {

constexpr std::uint32_t kStateVersion = 1;

// Of rows that are divided in units of kResponsibilityUnit, and of pairs of clusters.
constexpr double kMostEntropy = 2.0 * kMostRowEntropy * static_cast<double>(kMostRows);

bool sound_entropy(double entropy) { return entropy >= 0.0 && entropy <= kMostEntropy; }

// About `fraction` of a count, never more: in whole rows where a double cannot hold the units.
RowCount part_of(const RowCount& count, double fraction) {
  constexpr std::int64_t kExact = std::int64_t{1} << 20;
  if (count.whole < kExact) return RowCount::from_mass(count.value() * fraction);
  return {static_cast<std::int64_t>(std::floor(static_cast<double>(count.whole) * fraction)), 0};
}

}  // namespace

void Mixture::fade(double factor) {
  for (Index k = 0; k < clusters_; ++k) {
    const StatisticsRef s = carried_[k];
    *s.mass *= factor;
    for (Index i = 0; i < config_.shape.scatter_size(); ++i) s.scatter[i] *= factor;
    const RowCount kept = part_of(carried_rows_[k], factor);
    faded_rows_ = faded_rows_ + (carried_rows_[k] - kept);
    carried_rows_[k] = kept;
    carried_entropy_[k] *= factor;
    for (Index j = 0; j < k; ++j) carried_pairs_[packed_size(k) + j] *= factor;
  }
  global_step();
}

void Mixture::count_faded(Index rows) { faded_rows_ = faded_rows_ + RowCount{.whole = rows}; }

void Mixture::remove_cluster(Index k) {
  faded_rows_ = faded_rows_ + carried_rows_[k];
  const Index last = clusters_ - 1;
  if (k != last) move_cluster(last, k);
  --clusters_;
  global_step();
}

void Mixture::forget_rows(Index k) {
  faded_rows_ = faded_rows_ + carried_rows_[k];
  carried_rows_[k] = {};
  carried_.clear(k);
  carried_entropy_[k] = 0.0;
  for (Index c = 0; c < clusters_; ++c) {
    if (c != k) carried_pairs_[pair_at(k, c)] = 0.0;
  }
  global_step();
}

void Mixture::divide_past(Index a, Index b, double fraction, const StatisticsRef& rest,
                          const StatisticsRef& part) {
  carried_.assign(b, part);
  carried_.assign(a, rest);
  carried_rows_[b] = part_of(carried_rows_[a], fraction);
  carried_rows_[a] = carried_rows_[a] - carried_rows_[b];
  carried_entropy_[b] = fraction * carried_entropy_[a];
  carried_entropy_[a] -= carried_entropy_[b];
  // Merging the two again would restore what was: it costs nothing. What either shares with others
  // goes with the rows.
  for (Index c = 0; c < clusters_; ++c) {
    if (c == a || c == b) continue;
    double& shared = carried_pairs_[pair_at(a, c)];
    carried_pairs_[pair_at(b, c)] = fraction * shared;
    shared *= 1.0 - fraction;
  }
  carried_pairs_[pair_at(a, b)] = 0.0;
}

std::size_t Mixture::most_bytes(const MixtureConfig& config) {
  const Index m = config.shape.dims;
  const Index scatter = config.shape.scatter_size();
  const Index clusters = config.max_clusters;
  const Index numbers = 8 + m + scatter + clusters * (2 + m + scatter) + packed_size(clusters);
  constexpr Index kCount = 12;
  return static_cast<std::size_t>(numbers * 8 + 5 * 4 + 8 + kCount * (1 + clusters));
}

void Mixture::save(ByteWriter& writer) const {
  const ClusterShape& shape = config_.shape;
  writer.write_u32(kStateVersion);
  writer.write_u32(shape.covariance == FactorShape::kDiagonal ? 1 : 0);
  writer.write_u32(static_cast<std::uint32_t>(shape.dims));
  writer.write_u32(static_cast<std::uint32_t>(clusters_));
  writer.write_u64(repairs_);
  write_count(writer, faded_rows_);
  writer.write_u32(concentration_.learnt ? 1 : 0);
  for (const double value :
       {concentration_.prior_shape, concentration_.prior_rate, concentration_.shape,
        concentration_.rate, concentration_.mean, concentration_.mean_log, base_.beta, base_.nu}) {
    writer.write_f64(value);
  }
  write_values(writer, base_.mean, shape.dims);
  write_values(writer, base_.scale, shape.scatter_size());
  for (Index k = 0; k < clusters_; ++k) write_cluster(writer, k);
}

void Mixture::write_cluster(ByteWriter& writer, Index k) const {
  write_count(writer, carried_rows_[k]);
  write_statistics(writer, config_.shape, carried_[k]);
  writer.write_f64(carried_entropy_[k]);
  write_values(writer, carried_pairs_ + packed_size(k), k);
}

// Once to look, once to take: a state that does not pass leaves this one as it was.
Status Mixture::load(ByteReader& reader) {
  const ClusterShape& shape = config_.shape;
  for (const bool take : {false, true}) {
    ByteReader in = reader;
    bool sound = in.read_u32() == kStateVersion &&
                 in.read_u32() == (shape.covariance == FactorShape::kDiagonal ? 1U : 0U) &&
                 in.read_u32() == static_cast<std::uint32_t>(shape.dims);
    const std::uint32_t clusters = in.read_u32();
    const std::uint64_t repairs = in.read_u64();
    RowCount faded;
    sound = read_count(in, faded) && sound && clusters >= 1 &&
            clusters <= static_cast<std::uint64_t>(config_.max_clusters) && read_prior(in, take);
    RowCount all = faded;
    for (Index k = 0; sound && k < static_cast<Index>(clusters); ++k) {
      ByteReader ahead = in;
      RowCount own;
      sound = read_count(ahead, own) && read_cluster(in, k, take);
      all = all + own;
      sound = sound && sound_count(all);
    }
    if (!sound || !in.ok()) return {StatusCode::kCorruptData, "not a mixture of this shape"};
    if (!take) continue;
    clusters_ = static_cast<Index>(clusters);
    faded_rows_ = faded;
    std::fill_n(stream_pairs_, packed_size(config_.max_clusters), 0.0);
    rebuild_totals();
    refresh_posteriors();
    repairs_ = repairs;
    reader = in;
  }
  return {};
}

bool Mixture::read_prior(ByteReader& reader, bool take) {
  const ClusterShape& shape = config_.shape;
  Concentration concentration;
  concentration.learnt = reader.read_u32() != 0;
  for (double* value : {&concentration.prior_shape, &concentration.prior_rate, &concentration.shape,
                        &concentration.rate, &concentration.mean, &concentration.mean_log}) {
    *value = reader.read_f64();
  }
  // In scratch memory until it has passed.
  BaseMeasure base;
  base.mean = scratch_;
  base.scale = scratch_ + shape.dims;
  if (!read_values(reader, &base.beta, 1) || !read_values(reader, &base.nu, 1) ||
      !read_values(reader, base.mean, shape.dims) ||
      !read_values(reader, base.scale, shape.scatter_size()) ||
      !sound_prior(shape, concentration, base) || !valid_strength(shape, base.beta, base.nu) ||
      !prepare_base_measure(shape, base, base.scale + shape.scatter_size())) {
    return false;
  }
  if (!take) return true;
  concentration_ = concentration;
  base_.beta = base.beta;
  base_.nu = base.nu;
  base_.log_normaliser = base.log_normaliser;
  std::copy_n(base.mean, shape.dims, base_.mean);
  std::copy_n(base.scale, shape.scatter_size(), base_.scale);
  return true;
}

bool Mixture::sound_prior(const ClusterShape& shape, const Concentration& concentration,
                          const BaseMeasure& base) {
  bool sound = within(concentration.mean_log, 1e3);
  for (const double value : {concentration.prior_shape, concentration.prior_rate,
                             concentration.shape, concentration.rate, concentration.mean}) {
    sound = sound && value >= 1.0 / kLargestNumber && value <= kLargestNumber;
  }
  // The scale is about the variance of features: beyond these its determinant leaves a double.
  constexpr double kLargestScale = 1e30;
  for (Index i = 0; i < shape.dims; ++i) {
    sound = sound && within(base.mean[i], 2.0 * kLargestFeature) &&
            base.scale[shape.diagonal_at(i)] >= 1.0 / kLargestScale;
  }
  for (Index i = 0; i < shape.scatter_size(); ++i) {
    sound = sound && within(base.scale[i], kLargestScale);
  }
  return sound && base.beta >= 1e-30 && base.beta <= 1e30 && within(base.nu, 1e30);
}

bool Mixture::sound() const {
  bool sound = sound_prior(config_.shape, concentration_, base_) && sound_count(faded_rows_);
  RowCount all = faded_rows_;
  for (Index k = 0; sound && k < clusters_; ++k) {
    all = all + carried_rows_[k];
    sound = sound_count(carried_rows_[k]) && sound_count(all) &&
            sound_statistics(config_.shape, carried_[k]) && sound_entropy(carried_entropy_[k]);
    for (Index j = 0; j < k; ++j) {
      sound = sound && within(carried_pairs_[packed_size(k) + j], kMostEntropy);
    }
  }
  return sound;
}

bool Mixture::read_cluster(ByteReader& reader, Index k, bool take) {
  const ClusterShape& shape = config_.shape;
  RowCount rows;
  double entropy = 0.0;
  bool sound = read_count(reader, rows);
  sound = read_statistics(reader, shape, carried_[take ? k : config_.max_clusters]) && sound;
  sound = read_values(reader, &entropy, 1) && sound_entropy(entropy) && sound;
  for (Index j = 0; j < k; ++j) {
    double pair = 0.0;
    sound = read_values(reader, &pair, 1, kMostEntropy) && sound;
    if (take) carried_pairs_[packed_size(k) + j] = pair;
  }
  if (take) {
    carried_rows_[k] = rows;
    carried_entropy_[k] = entropy;
  }
  return sound && reader.ok();
}

}  // namespace adapvae

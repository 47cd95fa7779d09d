#include "replay/replay.h"

#include <algorithm>
#include <cmath>

#include "base/sampling.h"
#include "base/special_functions.h"

namespace adapvae {

void Replay::place(Arena& arena, Index max_rows, const VaeConfig& network,
                   const ClusterShape& shape, Index max_clusters) {
  inputs_ = network.inputs;
  shape_ = shape;
  max_rows_ = max_rows;
  pass_ = network.max_rows;
  count_ = 0;
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  take(z_, max_rows * shape.dims);
  take(moved_, max_rows * shape.dims);
  take(r_, pass_ * max_clusters);
  take(cluster_, max_rows);
  take(weight_, max_clusters);
  take(scratch_, 4 * shape.scatter_size() + 4 * shape.dims + 2);
}

Status Replay::draw(Backend& backend, Vae& vae, const Mixture& mixture,
                    const ReplaySettings& settings, std::uint64_t seed, std::uint32_t stream,
                    MatrixView x_out) {
  const Index m = shape_.dims;
  const Index count = std::min(x_out.rows, max_rows_);
  x_ = x_out.data;
  count_ = 0;
  double total = 0.0;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    const double rows = mixture.rows_of(k);
    weight_[k] = rows >= settings.least_rows ? power(rows, settings.balance) : 0.0;
    total += weight_[k];
  }
  if (!(total > 0.0) && !settings.even) return {};
  for (Index i = 0; i < count; ++i) {
    Philox random({.seed = seed,
                   .purpose = RandomPurpose::kReplay,
                   .stream = stream,
                   .index = static_cast<std::uint32_t>(i)});
    cluster_[i] = settings.even ? i % mixture.clusters()
                                : sample_categorical(random, weight_, mixture.clusters());
    double* z = scratch_;
    sample_predictive(shape_, mixture.posterior(cluster_[i]), settings.radius, random, z,
                      scratch_ + m);
    for (Index j = 0; j < m; ++j) z_[i * m + j] = static_cast<float>(z[j]);
  }
  for (Index begin = 0; begin < count; begin += pass_) {
    const Index n = std::min(pass_, count - begin);
    const MatrixView x(x_ + begin * inputs_, n, inputs_);
    const MatrixView z(z_ + begin * m, n, m);
    ADAPVAE_RETURN_IF_ERROR(vae.decode(backend, z, x));
    ADAPVAE_RETURN_IF_ERROR(vae.encode(backend, x, z, MatrixView()));
    const MatrixView r(r_, n, mixture.clusters());
    mixture.responsibilities(backend, z, {}, r, nullptr);
    for (Index i = 0; i < n; ++i) {
      const Index from = begin + i;
      const float* p = r.row(i);
      const bool own = std::max_element(p, p + r.cols) - p == cluster_[from];
      if (settings.filter && !own) continue;
      std::copy_n(x.row(i), inputs_, x_ + count_ * inputs_);
      std::copy_n(z.row(i), m, z_ + count_ * m);
      cluster_[count_++] = cluster_[from];
    }
  }
  return {};
}

void Replay::count_codes(Index k, const float* codes, StatisticsRef out) const {
  const Index m = shape_.dims;
  *out.mass = 0.0;
  std::fill_n(out.mean, m, 0.0);
  std::fill_n(out.scatter, shape_.scatter_size(), 0.0);
  double* row = scratch_;
  double one = 1.0;
  double* flat = scratch_ + m;
  std::fill_n(flat, shape_.scatter_size(), 0.0);
  for (Index i = 0; i < count_; ++i) {
    if (cluster_[i] != k) continue;
    for (Index j = 0; j < m; ++j) row[j] = codes[i * m + j];
    add_statistics(shape_, {&one, row, flat}, 1.0, out);
  }
}

void Replay::measure_drift(ConstMatrixView codes) {
  const Index m = shape_.dims;
  for (Index i = 0; i < count_; ++i) std::copy_n(codes.row(i), m, moved_ + i * m);
}

bool Replay::drift_of(Index k, DriftCorrection correction, const StatisticsRef& carried,
                      double trust, AffineMap* map, double* shift) {
  constexpr double kLeastRows = 5.0;
  const Index m = shape_.dims;
  const Index scatter = shape_.scatter_size();
  // Room for two sets of statistics behind the scratch of count_codes.
  double* place = scratch_ + m + scatter;
  double masses[2] = {0.0, 0.0};
  const StatisticsRef before = {masses, place, place + m};
  const StatisticsRef after = {masses + 1, place + m + scatter, place + 2 * m + scatter};
  count_codes(k, z_, before);
  count_codes(k, moved_, after);
  *shift = 0.0;
  if (masses[0] < kLeastRows) return false;
  double sum = 0.0;
  for (Index j = 0; j < m; ++j) {
    const double d = after.mean[j] - before.mean[j];
    sum += d * d / std::max(before.scatter[shape_.diagonal_at(j)] / masses[0], 1e-12);
  }
  *shift = std::sqrt(sum / static_cast<double>(m));
  if (correction == DriftCorrection::kOff) return false;
  settle_mean(before, carried, 1.0 - trust, after.mean);
  for (Index j = 0; j < m; ++j) after.mean[j] += carried.mean[j] - before.mean[j];
  *map = {.from_mean = carried.mean, .to_mean = after.mean};
  // Below two rows a dimension there is hardly a shape to speak of.
  if (correction < DriftCorrection::kAffine || masses[0] < 2.0 * static_cast<double>(m) ||
      !(*carried.mass > 0.0)) {
    return true;
  }
  // In a direction that the decoder ignores, codes before and after are two small numbers, and
  // their ratio is anything: beside a part of what is carried, which stays, it is 1.
  constexpr double kStill = 0.02;
  for (Index j = 0; j < scatter; ++j) {
    const double still = kStill * masses[0] / *carried.mass * carried.scatter[j];
    before.scatter[j] += still;
    after.scatter[j] += still;
  }
  if (!covariance_root(shape_, before, before.scatter) ||
      !covariance_root(shape_, after, after.scatter)) {
    return true;
  }
  // Roots have replaced the scatters. Few rows say little of a map of so many numbers, and its
  // errors add up from stream to stream: it is believed by the rows that there are.
  constexpr double kDoubtPerDimension = 20.0;
  const double belief =
      trust * masses[0] / (masses[0] + kDoubtPerDimension * static_cast<double>(m));
  for (Index j = 0; j < scatter; ++j) {
    after.scatter[j] = (1.0 - belief) * before.scatter[j] + belief * after.scatter[j];
  }
  map->from_root = before.scatter;
  map->to_root = after.scatter;
  return true;
}

// Codes of decoded rows lie inward of what was drawn, and training takes them back out: that is no
// drift, and a cluster that followed it would run away from its rows, stream by stream. What has
// moved towards the cluster's mean, and no farther, has not moved.
void Replay::settle_mean(const StatisticsRef& before, const StatisticsRef& carried, double weight,
                         double* after) const {
  double along = 0.0;
  double gap = 0.0;
  for (Index j = 0; j < shape_.dims; ++j) {
    const Index at = shape_.diagonal_at(j);
    const double inward = carried.mean[j] - before.mean[j];
    const double variance = std::max(before.scatter[at] / *before.mass, 1e-12);
    along += (after[j] - before.mean[j]) * inward / variance;
    gap += inward * inward / variance;
  }
  if (!(along > 0.0)) return;
  const double part = weight * std::min(1.0, along / gap);
  for (Index j = 0; j < shape_.dims; ++j) after[j] -= part * (carried.mean[j] - before.mean[j]);
}

double Replay::narrowness(Index k, const StatisticsRef& carried) {
  const Index m = shape_.dims;
  const Index scatter = shape_.scatter_size();
  double* place = scratch_ + m + scatter;
  double mass = 0.0;
  const StatisticsRef codes = {&mass, place, place + m};
  double* root = place + m + scatter;
  count_codes(k, z_, codes);
  if (mass < 2.0 * static_cast<double>(m) || !covariance_root(shape_, codes, codes.scatter) ||
      !covariance_root(shape_, carried, root)) {
    return 1.0;
  }
  double sum = 0.0;
  for (Index j = 0; j < m; ++j) {
    const Index at = shape_.diagonal_at(j);
    sum += std::log(codes.scatter[at] / root[at]);
  }
  return std::min(1.0, std::exp(sum / static_cast<double>(m)));
}

void Replay::renumber(const Index* number) {
  for (Index i = 0; i < count_; ++i) {
    if (cluster_[i] >= 0) cluster_[i] = number[cluster_[i]];
  }
}

void Replay::accept_drift() { std::copy_n(moved_, count_ * shape_.dims, z_); }

}  // namespace adapvae

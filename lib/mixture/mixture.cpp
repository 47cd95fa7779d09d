#include "mixture/mixture.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/input_check.h"
#include "base/special_functions.h"

namespace adapvae {
namespace {

// Adds the entropy terms of one row's responsibilities to sums by cluster.
void add_entropy(const double* r, Index first, Index end, double* sum) {
  constexpr Index kScan = 4;
  for (Index k = first; k < end; ++k) {
    if (k + kScan <= end && (r[k] + r[k + 1]) + (r[k + 2] + r[k + 3]) == 0.0) {  // most
      k += kScan - 1;
      continue;
    }
    if (r[k] > 0.0 && r[k] < 1.0) sum[k] -= r[k] * std::log(r[k]);
  }
}

// The same of a row whose shares are listed.
void add_entropy(const double* r, const std::uint32_t* members, Index words, double* sum) {
  for (Index w = 0; w < words; ++w) {
    for (std::uint32_t rest = members[w]; rest != 0; rest &= rest - 1) {
      const Index k = w * kMemberBits + std::countr_zero(rest);
      if (r[k] < 1.0) sum[k] -= r[k] * std::log(r[k]);
    }
  }
}

}  // namespace

double entropy_term(double r) { return r > 0.0 ? -r * std::log(r) : 0.0; }

bool split_into_units(const float* probability, Index count, double budget, double* r) {
  // Adding and taking away 2⁵² units rounds to whole units. From there on every operation is exact.
  constexpr double kRound = 4503599627370496.0 * kResponsibilityUnit;
  constexpr float kLeast = static_cast<float>(0.5 * kResponsibilityUnit);
  constexpr Index kScan = 4;
  double left = budget;
  Index largest = 0;
  for (Index k = 0; k < count; k += kScan) {
    const Index end = std::min(count, k + kScan);
    const float* p = probability + k;
    if (end == k + kScan && (p[0] + p[1]) + (p[2] + p[3]) < kLeast) {  // most: all round to zero
      std::fill_n(r + k, kScan, 0.0);
      continue;
    }
    for (Index j = k; j < end; ++j) {
      r[j] = (static_cast<double>(probability[j]) * budget + kRound) - kRound;
      left -= r[j];
      if (probability[j] > probability[largest]) largest = j;
    }
  }
  // What rounding left over: the probabilities are floats, and sum to 1 only nearly.
  r[largest] += left;
  return r[largest] != budget;
}

void Mixture::place(Arena& arena, const MixtureConfig& config) {
  config_ = config;
  const ClusterShape& shape = config.shape;
  const Index capacity = config.max_clusters;
  const Index m = shape.dims;
  const Index scatter = shape.scatter_size();
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  take(base_.mean, m);
  take(base_.scale, scatter);
  carried_.place(arena, shape, capacity + 1);
  batch_.place(arena, shape, capacity * config.max_batches + 1);
  stream_.place(arena, shape, capacity);
  total_.place(arena, shape, capacity);
  take(carried_rows_, capacity);
  take(carried_entropy_, capacity);
  take(carried_pairs_, packed_size(capacity));
  take(stream_pairs_, packed_size(capacity));
  take(batch_entropy_, capacity * config.max_batches);
  take(stream_entropy_, capacity);
  take(log_weight_, capacity);
  take(weight_, capacity);
  take(predictive_, capacity);
  take(quantile_from_, 2 * capacity);
  take(order_, capacity);
  take(posterior_, capacity);
  double* posterior_mean = nullptr;
  double* posterior_factor = nullptr;
  take(posterior_mean, capacity * m);
  take(posterior_factor, capacity * scatter);
  take(r_, config.max_rows * capacity);
  take(local_mean_, capacity * m);
  take(local_factor_, capacity * scatter);
  take(local_precision_, capacity * m);
  take(local_weight_, capacity);
  take(center_, capacity * m);
  take(sums_, capacity * m);
  take(scatters_, capacity * scatter);
  take(masses_, capacity);
  take(scratch_, 2 * scatter + 2 * m);
  take(local_members_, std::min(kLocalRows, config.max_rows) * member_words(capacity));
  quantile_clusters_ = -1;
  if (arena.counting() || arena.failed()) return;
  for (Index k = 0; k < capacity; ++k) {
    posterior_[k] = Posterior{};
    posterior_[k].mean = posterior_mean + k * m;
    posterior_[k].factor = posterior_factor + k * scatter;
  }
}

void Mixture::reset() {
  const Index m = config_.shape.dims;
  clusters_ = 0;
  repairs_ = 0;
  faded_rows_ = {};
  rows_ = {};
  variance_ = {};
  batches_ = 0;
  concentration_ = fixed_concentration(5.0);
  std::fill_n(base_.mean, m, 0.0);
  std::fill_n(base_.scale, config_.shape.scatter_size(), 0.0);
  for (Index i = 0; i < m; ++i) {
    base_.scale[config_.shape.diagonal_at(i)] = 1.0;
  }
  base_.beta = 0.2;
  base_.nu = static_cast<double>(m) + 2.0;
  prepare_base_measure(config_.shape, base_, scratch_);
  add_cluster();
  global_step();
}

Status Mixture::set_base_measure(double beta, double nu, const double* mean, const double* scale) {
  const ClusterShape& shape = config_.shape;
  if (!valid_strength(shape, beta, nu)) {
    return {StatusCode::kInvalidArgument, "base measure: β must be positive and ν above m - 1"};
  }
  for (Index i = 0; i < shape.dims; ++i) {
    if (!std::isfinite(mean[i])) {
      return {StatusCode::kInvalidArgument, "base measure: mean must be finite", i};
    }
  }
  BaseMeasure candidate = base_;
  candidate.beta = beta;
  candidate.nu = nu;
  candidate.scale = const_cast<double*>(scale);  // only read
  if (!prepare_base_measure(shape, candidate, scratch_)) {
    return {StatusCode::kInvalidArgument, "base measure: scale must be positive definite"};
  }
  base_.beta = beta;
  base_.nu = nu;
  base_.log_normaliser = candidate.log_normaliser;
  std::copy_n(mean, shape.dims, base_.mean);
  std::copy_n(scale, shape.scatter_size(), base_.scale);
  refresh_posteriors();
  return {};
}

// ---- a stream -----------------------------------------------------------------------------------

Status Mixture::begin_stream(ConstMatrixView z, ConstMatrixView variance, double row_weight,
                             Index batches) {
  if (rows_.data != nullptr) {
    return {StatusCode::kInvalidArgument, "the stream before has not been closed"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_shape(z, config_.max_rows, config_.shape.dims));
  if (variance.data != nullptr) {
    ADAPVAE_RETURN_IF_ERROR(check_shape(variance, config_.max_rows, config_.shape.dims));
    if (variance.rows != z.rows) {
      return {StatusCode::kShapeMismatch, "variance must have as many rows as z"};
    }
    ADAPVAE_RETURN_IF_ERROR(check_finite(variance));
  }
  ADAPVAE_RETURN_IF_ERROR(check_finite(z));
  if (!(row_weight > 0.0) || row_weight > 1.0) {
    return {StatusCode::kInvalidArgument, "row_weight must be in (0, 1]"};
  }
  if (batches < 1 || batches > config_.max_batches) {
    return {StatusCode::kInvalidArgument, "batches must be between 1 and max_batches"};
  }
  rows_ = z;
  variance_ = variance;
  row_weight_ = row_weight;
  batches_ = batches;
  std::fill_n(r_, z.rows * config_.max_clusters, 0.0);
  for (Index k = 0; k < clusters_; ++k) {
    for (Index b = 0; b < batches; ++b) {
      batch_.clear(b * config_.max_clusters + k);
      batch_entropy_[b * config_.max_clusters + k] = 0.0;
    }
    sum_levels(k);
  }
  return {};
}

void Mixture::local_step(Backend& backend, Index batch) {
  const Index end = batch_begin(batch + 1);
  double* entropy = batch_entropy_ + batch * config_.max_clusters;
  std::fill_n(entropy, clusters_, 0.0);
  clear_batch(batch);
  for (Index begin = batch_begin(batch); begin < end; begin += kLocalRows) {
    const Index count = std::min(kLocalRows, end - begin);
    const MemberView members(local_members_, count, member_words(clusters_));
    const MatrixViewD r(r_ + begin * config_.max_clusters, count, clusters_, config_.max_clusters);
    const ConstMatrixView variance =
        variance_.data != nullptr ? variance_.row_range(begin, count) : ConstMatrixView();
    backend.divide_rows(rows_.row_range(begin, count), variance, gaussians(), local_weight_,
                        nullptr, r, members);
    for (Index i = 0; i < count; ++i) {
      add_entropy(r.row(i), members.row(i), members.cols, entropy);
    }
    count_rows(backend, batch, begin, count, members);  // while their responsibilities are near
  }
}

void Mixture::clear_batch(Index batch) {
  for (Index k = 0; k < clusters_; ++k) batch_.clear(batch * config_.max_clusters + k);
}

// Adds rows [begin, begin + count) to the statistics of their mini-batch.
void Mixture::count_rows(Backend& backend, Index batch, Index begin, Index count,
                         ConstMemberView members) {
  const ClusterShape& shape = config_.shape;
  const Index m = shape.dims;
  for (Index k = 0; k < clusters_; ++k) std::copy_n(posterior_[k].mean, m, center_ + k * m);
  const ConstMatrixViewD r(r_ + begin * config_.max_clusters, count, clusters_,
                           config_.max_clusters);
  const ConstMatrixView variance =
      variance_.data != nullptr ? variance_.row_range(begin, count) : ConstMatrixView();
  backend.weighted_moments(rows_.row_range(begin, count), variance, r, members,
                           ConstMatrixViewD(center_, clusters_, m), shape.covariance, masses_,
                           MatrixViewD(sums_, clusters_, m),
                           MatrixViewD(scatters_, clusters_, shape.scatter_size()));
  const Index spare = config_.max_batches * config_.max_clusters;
  for (Index k = 0; k < clusters_; ++k) {
    if (masses_[k] == 0.0) continue;
    center_statistics(shape, masses_[k], sums_ + k * m, scatters_ + k * shape.scatter_size(),
                      center_ + k * m, batch_[spare]);
    batch_.add(batch * config_.max_clusters + k, batch_, spare);
  }
}

// Entropies of clusters [first, end) over one mini-batch.
void Mixture::count_entropy(Index batch, Index first, Index end) {
  double* sum = batch_entropy_ + batch * config_.max_clusters;
  std::fill(sum + first, sum + end, 0.0);
  for (Index i = batch_begin(batch); i < batch_begin(batch + 1); ++i) {
    add_entropy(r_ + i * config_.max_clusters, first, end, sum);
  }
}

// Stream and overall level of cluster k, each as a sum of the level below.
void Mixture::sum_levels(Index k) {
  stream_.clear(k);
  stream_entropy_[k] = 0.0;
  for (Index b = 0; b < batches_; ++b) {
    stream_.add(k, batch_, b * config_.max_clusters + k);
    stream_entropy_[k] += batch_entropy_[b * config_.max_clusters + k];
  }
  total_.copy(k, carried_, k);
  total_.add(k, stream_, k, row_weight_);
}

void Mixture::rebuild_totals() {
  for (Index k = 0; k < clusters_; ++k) {
    sum_levels(k);
    masses_[k] = total_.mass(k);
  }
  sort_by_mass(masses_, clusters_, order_);
}

void Mixture::global_step() {
  rebuild_totals();
  update_concentration(masses_, order_, clusters_, concentration_);
  refresh_posteriors();
}

void Mixture::refresh_posteriors() {
  const ClusterShape& shape = config_.shape;
  for (Index k = 0; k < clusters_; ++k) masses_[k] = total_.mass(k);
  log_tail_ = expected_log_weights(masses_, order_, clusters_, concentration_, log_weight_);
  expected_weights(masses_, order_, clusters_, concentration_, weight_);
  for (Index k = 0; k < clusters_; ++k) {
    if (compute_posterior(shape, base_, total_[k], posterior_[k]) > 0) ++repairs_;
    const double constant = fill_local_view(shape, posterior_[k], local_mean_ + k * shape.dims,
                                            local_factor_ + k * shape.scatter_size(),
                                            local_precision_ + k * shape.dims, scratch_);
    local_weight_[k] = static_cast<float>(log_weight_[k] + constant);
    predictive_[k] = predictive_scale(shape, posterior_[k]);
    predictive_[k].log_peak += std::log(weight_[k]);
  }
}

double Mixture::lap(Backend& backend) {
  for (Index b = 0; b < batches_; ++b) local_step(backend, b);
  global_step();
  return bound().total();
}

void Mixture::hold_out(Index row) { std::fill_n(r_ + row * config_.max_clusters, clusters_, 0.0); }

void Mixture::close_stream() {
  if (rows_.data == nullptr) return;
  refresh_pairs();
  for (Index k = 0; k < clusters_; ++k) {
    carried_.copy(k, total_, k);
    carried_rows_[k] = count_of(k);
    carried_entropy_[k] += row_weight_ * stream_entropy_[k];
    for (Index j = 0; j < k; ++j) {
      carried_pairs_[pair_at(k, j)] += row_weight_ * stream_pairs_[pair_at(k, j)];
    }
  }
  abandon_stream();
  std::fill_n(stream_pairs_, packed_size(config_.max_clusters), 0.0);
  for (Index k = 0; k < clusters_; ++k) sum_levels(k);
}

void Mixture::abandon_stream() {
  rows_ = {};
  variance_ = {};
  batches_ = 0;
}

BoundParts Mixture::bound() const {
  BoundParts parts;
  for (Index k = 0; k < clusters_; ++k) {
    masses_[k] = total_.mass(k);
    parts.observation += observation_bound(config_.shape, base_, posterior_[k], total_.mass(k));
    parts.entropy += entropy_of(k);
  }
  parts.allocation = allocation_bound(masses_, order_, clusters_, concentration_) +
                     concentration_bound(concentration_);
  return parts;
}

// ---- clusters -----------------------------------------------------------------------------------

RowCount Mixture::count_of(Index k) const {
  return carried_rows_[k] + RowCount::from_mass(stream_.mass(k));
}

double Mixture::rows_of(Index k) const { return count_of(k).value(); }

double Mixture::rows_faded() const { return faded_rows_.value(); }

double Mixture::rows_learnt() const {
  RowCount sum = faded_rows_;
  for (Index k = 0; k < clusters_; ++k) sum = sum + count_of(k);
  return sum.value();
}

double Mixture::entropy_of(Index k) const {
  return carried_entropy_[k] + row_weight_ * stream_entropy_[k];
}

// Only rows shared by both clusters cost anything, and a row is shared by few.
void Mixture::refresh_pairs() {
  std::fill_n(stream_pairs_, packed_size(config_.max_clusters), 0.0);
  for (Index i = 0; i < rows_.rows; ++i) {
    const double* r = r_ + i * config_.max_clusters;
    for (Index a = 1; a < clusters_; ++a) {
      if (r[a] == 0.0) continue;
      for (Index b = 0; b < a; ++b) {
        if (r[b] == 0.0) continue;
        const double both = r[a] + r[b];
        stream_pairs_[pair_at(a, b)] +=
            entropy_term(both) - entropy_term(r[a]) - entropy_term(r[b]);
      }
    }
  }
}

double Mixture::pair_entropy_loss(Index a, Index b) const {
  return carried_pairs_[pair_at(a, b)] + row_weight_ * stream_pairs_[pair_at(a, b)];
}

void Mixture::drop_last_cluster() { --clusters_; }

Index Mixture::add_cluster() {
  const Index k = clusters_++;
  carried_.clear(k);
  stream_.clear(k);
  total_.clear(k);
  carried_rows_[k] = {};
  carried_entropy_[k] = 0.0;
  stream_entropy_[k] = 0.0;
  order_[k] = k;
  std::copy_n(base_.mean, config_.shape.dims, posterior_[k].mean);
  for (Index b = 0; b < batches_; ++b) {
    batch_.clear(b * config_.max_clusters + k);
    batch_entropy_[b * config_.max_clusters + k] = 0.0;
  }
  // None of the past is a newborn's, so merging with it would cost the past nothing.
  for (Index j = 0; j <= k; ++j) {
    carried_pairs_[packed_size(k) + j] = 0.0;
    stream_pairs_[packed_size(k) + j] = 0.0;
  }
  for (Index i = 0; i < rows_.rows; ++i) r_[i * config_.max_clusters + k] = 0.0;
  return k;
}

void Mixture::merge_clusters(Index a, Index b) {
  carried_.add(a, carried_, b);
  carried_rows_[a] = carried_rows_[a] + carried_rows_[b];
  // Not below zero by rounding: two clusters may share rows with each other alone.
  carried_entropy_[a] =
      std::max(0.0, carried_entropy_[a] + carried_entropy_[b] + carried_pairs_[pair_at(a, b)]);
  for (Index c = 0; c < clusters_; ++c) {
    if (c == a || c == b) continue;
    // A lower bound of the true loss (third difference of -x log x): merges stay safe.
    double& loss = carried_pairs_[pair_at(a, c)];
    loss = std::max(loss + carried_pairs_[pair_at(b, c)],
                    -(carried_entropy_[a] + carried_entropy_[c]));
  }
  for (Index i = 0; i < rows_.rows; ++i) {
    double* r = r_ + i * config_.max_clusters;
    r[a] += r[b];
    r[b] = 0.0;
  }
  for (Index s = 0; s < batches_; ++s) {
    batch_.add(s * config_.max_clusters + a, batch_, s * config_.max_clusters + b);
    count_entropy(s, a, a + 1);
  }
  const Index last = clusters_ - 1;
  if (b != last) move_cluster(last, b);
  --clusters_;
  global_step();
  refresh_pairs();
}

void Mixture::move_cluster(Index from, Index to) {
  carried_.copy(to, carried_, from);
  carried_rows_[to] = carried_rows_[from];
  carried_entropy_[to] = carried_entropy_[from];
  for (Index s = 0; s < batches_; ++s) {
    const Index at = s * config_.max_clusters;
    batch_.copy(at + to, batch_, at + from);
    batch_entropy_[at + to] = batch_entropy_[at + from];
  }
  for (Index c = 0; c < clusters_; ++c) {
    if (c != from && c != to) carried_pairs_[pair_at(to, c)] = carried_pairs_[pair_at(from, c)];
  }
  for (Index i = 0; i < rows_.rows; ++i) {
    double* r = r_ + i * config_.max_clusters;
    r[to] = r[from];
    r[from] = 0.0;
  }
}

void Mixture::recount(Backend& backend) {
  for (Index b = 0; b < batches_; ++b) {
    clear_batch(b);
    for (Index begin = batch_begin(b); begin < batch_begin(b + 1); begin += kLocalRows) {
      count_rows(backend, b, begin, std::min(kLocalRows, batch_begin(b + 1) - begin), {});
    }
    count_entropy(b, 0, clusters_);
  }
  global_step();
}

}  // namespace adapvae

#include "structure/birth.h"

#include <algorithm>
#include <cmath>

#include "base/sampling.h"

namespace adapvae {

void BirthMove::place(Arena& arena, const MixtureConfig& config) {
  shape_ = config.shape;
  capacity_ = kMostFresh + 1;
  const Index rows = config.max_rows;
  const Index m = shape_.dims;
  const Index scatter = shape_.scatter_size();
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  take(row_, rows);
  take(budget_, rows);
  take(z_, rows * m);
  take(variance_, rows * m);
  take(share_, rows * capacity_);
  take(probability_, rows * capacity_);
  take(log_sum_, rows);
  take(distance_, rows);
  fixed_.place(arena, shape_, 1);
  fresh_.place(arena, shape_, capacity_ + 1);  // the last place serves trial merges
  take(posterior_, capacity_ + 1);
  double* mean = nullptr;
  double* factor = nullptr;
  take(mean, (capacity_ + 1) * m);
  take(factor, (capacity_ + 1) * scatter);
  take(entropy_, capacity_);
  take(local_mean_, capacity_ * m);
  take(local_factor_, capacity_ * scatter);
  take(local_precision_, capacity_ * m);
  take(local_weight_, capacity_);
  take(center_, capacity_ * m);
  take(sums_, capacity_ * m);
  take(scatters_, capacity_ * scatter);
  take(piece_mass_, capacity_);
  take(mass_, config.max_clusters + capacity_);
  take(log_weight_, config.max_clusters + capacity_);
  take(order_, config.max_clusters + capacity_);
  take(scratch_, scatter + 2 * m);
  if (arena.counting() || arena.failed()) return;
  for (Index j = 0; j <= capacity_; ++j) {
    posterior_[j] = Posterior{};
    posterior_[j].mean = mean + j * m;
    posterior_[j].factor = factor + j * scatter;
  }
}

// The rows that take part, and what stays with the old cluster whatever happens: its past and its
// hold on the other rows.
void BirthMove::gather(Mixture& mixture, Index target, double least_share) {
  const Index m = shape_.dims;
  const MatrixViewD r = mixture.stream_responsibilities();
  const ConstMatrixView rows = mixture.stream_rows();
  const ConstMatrixView variance = mixture.stream_variance();
  has_variance_ = variance.data != nullptr;
  row_weight_ = mixture.row_weight();
  count_ = 0;
  fixed_.copy(0, mixture.carried(), target);
  for (Index i = 0; i < r.rows; ++i) {
    double held = r(i, target);
    if (held == 0.0) continue;
    if (held >= least_share) {
      row_[count_] = static_cast<std::uint32_t>(i);
      budget_[count_] = held;
      std::copy_n(rows.row(i), m, z_ + count_ * m);
      if (has_variance_) std::copy_n(variance.row(i), m, variance_ + count_ * m);
      ++count_;
      continue;
    }
    double* mean = scratch_;
    double* spread = scratch_ + m;
    std::fill_n(spread, shape_.scatter_size(), 0.0);
    for (Index j = 0; j < m; ++j) {
      mean[j] = rows(i, j);
      const Index at = shape_.covariance == FactorShape::kDiagonal ? j : packed_size(j) + j;
      if (has_variance_) spread[at] = held * static_cast<double>(variance(i, j));
    }
    add_statistics(shape_, {&held, mean, spread}, row_weight_, fixed_[0]);
  }
}

// Seeds far from the old cluster's mean and from each other, in its own metric; every row then
// starts with the nearest.
void BirthMove::seed(const Mixture& mixture, Index fresh, Philox& random) {
  const Index m = shape_.dims;
  const Posterior& old = mixture.posterior(target_);
  pieces_ = 1;
  std::fill_n(share_, count_ * capacity_, 0.0);
  const auto distance_to = [&](Index i, const double* point) {
    double* difference = scratch_;
    for (Index j = 0; j < m; ++j) difference[j] = z_[i * m + j] - point[j];
    if (shape_.covariance == FactorShape::kLower) {
      return squared_distance(old.factor, m, difference, scratch_ + m);
    }
    double sum = 0.0;
    for (Index j = 0; j < m; ++j) sum += difference[j] * difference[j] / old.factor[j];
    return sum;
  };
  for (Index i = 0; i < count_; ++i) {
    distance_[i] = distance_to(i, old.mean);
    share_[i * capacity_] = budget_[i];
  }
  for (Index piece = 1; piece <= fresh; ++piece) {
    double total = 0.0;
    for (Index i = 0; i < count_; ++i) total += budget_[i] * distance_[i];
    if (!(total > 0.0) || !std::isfinite(total)) return;
    double mark = total * random.uniform_double();
    Index chosen = count_ - 1;
    for (Index i = 0; i < count_; ++i) {
      mark -= budget_[i] * distance_[i];
      if (mark <= 0.0) {
        chosen = i;
        break;
      }
    }
    double* point = sums_;
    for (Index j = 0; j < m; ++j) point[j] = z_[chosen * m + j];
    pieces_ = piece + 1;
    for (Index i = 0; i < count_; ++i) {
      const double distance = distance_to(i, point);
      if (distance >= distance_[i]) continue;
      distance_[i] = distance;
      std::fill_n(share_ + i * capacity_, piece, 0.0);
      share_[i * capacity_ + piece] = budget_[i];
    }
  }
}

// Statistics of the pieces from the shares, and their posteriors.
void BirthMove::count(Backend& backend, const Mixture& mixture) {
  const Index m = shape_.dims;
  for (Index j = 0; j < pieces_; ++j) {
    std::copy_n(mixture.posterior(target_).mean, m, center_ + j * m);
  }
  backend.weighted_moments(
      {z_, count_, m}, has_variance_ ? ConstMatrixView(variance_, count_, m) : ConstMatrixView(),
      ConstMatrixViewD(share_, count_, pieces_, capacity_), ConstMatrixViewD(center_, pieces_, m),
      shape_.covariance, piece_mass_, MatrixViewD(sums_, pieces_, m),
      MatrixViewD(scatters_, pieces_, shape_.scatter_size()));
  for (Index j = 0; j < pieces_; ++j) {
    // Through the spare place, so that weighting is one call.
    center_statistics(shape_, piece_mass_[j], sums_ + j * m, scatters_ + j * shape_.scatter_size(),
                      center_ + j * m, fresh_[capacity_]);
    if (j == 0) {
      fresh_.copy(0, fixed_, 0);
    } else {
      fresh_.clear(j);
    }
    fresh_.add(j, fresh_, capacity_, row_weight_);
    compute_posterior(shape_, mixture.base_measure(), fresh_[j], posterior_[j]);
    double sum = 0.0;
    for (Index i = 0; i < count_; ++i) sum += entropy_term(share_[i * capacity_ + j]);
    entropy_[j] = row_weight_ * sum;
  }
}

// Masses of all clusters with the old one's rest in its place and the fresh pieces at the end.
void BirthMove::trial_masses(const Mixture& mixture) {
  const Index clusters = mixture.clusters();
  for (Index k = 0; k < clusters; ++k) mass_[k] = mixture.mass(k);
  mass_[target_] = fresh_.mass(0);
  for (Index j = 1; j < pieces_; ++j) mass_[clusters + j - 1] = fresh_.mass(j);
}

// One local step of the rows that take part, among the pieces.
void BirthMove::refit(Backend& backend, const Mixture& mixture) {
  const Index m = shape_.dims;
  const Index clusters = mixture.clusters();
  const Index all = clusters + pieces_ - 1;
  trial_masses(mixture);
  sort_by_mass(mass_, all, order_);
  expected_log_weights(mass_, order_, all, mixture.concentration(), log_weight_);
  for (Index j = 0; j < pieces_; ++j) {
    const double constant = fill_local_view(shape_, posterior_[j], local_mean_ + j * m,
                                            local_factor_ + j * shape_.scatter_size(),
                                            local_precision_ + j * m, scratch_);
    const double weight = j == 0 ? log_weight_[target_] : log_weight_[clusters + j - 1];
    local_weight_[j] = static_cast<float>(weight + constant);
  }
  const GaussianView gaussians = {.clusters = pieces_,
                                  .dims = m,
                                  .mean = local_mean_,
                                  .factor = local_factor_,
                                  .precision_diagonal = local_precision_,
                                  .shape = shape_.covariance};
  const MatrixView probability(probability_, count_, pieces_);
  backend.mahalanobis({z_, count_, m},
                      has_variance_ ? ConstMatrixView(variance_, count_, m) : ConstMatrixView(),
                      gaussians, probability);
  backend.softmax_rows(probability, local_weight_, -0.5F, probability, log_sum_);
  for (Index i = 0; i < count_; ++i) {
    split_into_units(probability.row(i), pieces_, budget_[i], share_ + i * capacity_);
  }
}

void BirthMove::drop_piece(Index piece) {
  const Index last = --pieces_;
  for (Index i = 0; i < count_; ++i) {
    double* share = share_ + i * capacity_;
    share[0] += share[piece];
    share[piece] = share[last];
    share[last] = 0.0;
  }
}

double BirthMove::bound_of_pieces(const Mixture& mixture) {
  trial_masses(mixture);
  double sum =
      allocation_of(mass_, mixture.clusters() + pieces_ - 1, mixture.concentration(), order_);
  for (Index j = 0; j < pieces_; ++j) {
    sum += observation_bound(shape_, mixture.base_measure(), posterior_[j], fresh_.mass(j)) +
           entropy_[j];
  }
  return sum;
}

// Makes the best merge of two pieces if it raises the bound.
bool BirthMove::merge_pieces(const Mixture& mixture) {
  const BaseMeasure& base = mixture.base_measure();
  trial_masses(mixture);
  const Index clusters = mixture.clusters();
  const Index all = clusters + pieces_ - 1;
  const double before = allocation_of(mass_, all, mixture.concentration(), order_);
  double best = 0.0;
  Index best_a = 0;
  Index best_b = 0;
  for (Index b = 1; b < pieces_; ++b) {
    for (Index a = 0; a < b; ++a) {
      fresh_.copy(capacity_, fresh_, a);
      fresh_.add(capacity_, fresh_, b);
      compute_posterior(shape_, base, fresh_[capacity_], posterior_[capacity_]);
      double gain = observation_bound(shape_, base, posterior_[capacity_], fresh_.mass(capacity_)) -
                    observation_bound(shape_, base, posterior_[a], fresh_.mass(a)) -
                    observation_bound(shape_, base, posterior_[b], fresh_.mass(b));
      trial_masses(mixture);
      mass_[a == 0 ? target_ : clusters + a - 1] = fresh_.mass(capacity_);
      mass_[clusters + b - 1] = mass_[all - 1];
      if (a == pieces_ - 1) mass_[clusters + b - 1] = fresh_.mass(capacity_);
      gain += allocation_of(mass_, all - 1, mixture.concentration(), order_) - before;
      if (gain <= best) continue;  // entropy can only fall: no need to look
      double loss = 0.0;
      for (Index i = 0; i < count_; ++i) {
        const double x = share_[i * capacity_ + a];
        const double y = share_[i * capacity_ + b];
        if (x > 0.0 && y > 0.0) loss += entropy_term(x + y) - entropy_term(x) - entropy_term(y);
      }
      gain += row_weight_ * loss;
      if (gain <= best) continue;
      best = gain;
      best_a = a;
      best_b = b;
    }
  }
  if (best <= 0.0) return false;
  const Index last = --pieces_;
  for (Index i = 0; i < count_; ++i) {
    double* share = share_ + i * capacity_;
    share[best_a] += share[best_b];
    share[best_b] = 0.0;
    if (best_b != last) {
      share[best_b] = share[last];
      share[last] = 0.0;
    }
  }
  return true;
}

MoveRecord BirthMove::try_birth(Backend& backend, Mixture& mixture, Index target, Index fresh,
                                const BirthSettings& settings, Philox& random) {
  MoveRecord record;
  record.cluster = target;
  target_ = target;
  fresh = std::min({fresh, kMostFresh, mixture.config().max_clusters - mixture.clusters()});
  if (fresh < 1) {
    record.outcome = MoveOutcome::kNoRoom;
    return record;
  }
  gather(mixture, target, settings.least_share);
  double held = 0.0;
  double old_entropy = 0.0;
  for (Index i = 0; i < count_; ++i) {
    held += budget_[i];
    old_entropy += entropy_term(budget_[i]);
  }
  record.rows = held;
  if (held < settings.least_rows) {
    record.outcome = MoveOutcome::kTooFewRows;
    return record;
  }

  seed(mixture, fresh, random);
  count(backend, mixture);
  for (int step = 0; step < settings.refinements && pieces_ > 1; ++step) {
    refit(backend, mixture);
    count(backend, mixture);
    if (step < settings.refinements / 2) continue;
    bool changed = false;
    for (Index j = pieces_ - 1; j >= 1; --j) {
      if (piece_mass_[j] >= settings.least_rows) continue;
      drop_piece(j);
      changed = true;
    }
    if (changed) count(backend, mixture);
    while (pieces_ > 1 && merge_pieces(mixture)) count(backend, mixture);
  }
  if (pieces_ < 2) {
    record.outcome = MoveOutcome::kNothingSeparated;
    return record;
  }

  const Index clusters = mixture.clusters();
  for (Index k = 0; k < clusters; ++k) mass_[k] = mixture.mass(k);
  const double before = allocation_of(mass_, clusters, mixture.concentration(), order_) +
                        observation_bound(shape_, mixture.base_measure(), mixture.posterior(target),
                                          mixture.mass(target)) +
                        row_weight_ * old_entropy;
  record.count = pieces_ - 1;
  record.gain = bound_of_pieces(mixture) - before;
  if (!(record.gain > 0.0)) return record;

  for (Index j = 1; j < pieces_; ++j) {
    const Index born = mixture.add_cluster();
    if (j == 1) record.other = born;
  }
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < count_; ++i) {
    const Index at = row_[i];
    r(at, target) = share_[i * capacity_];
    for (Index j = 1; j < pieces_; ++j) r(at, record.other + j - 1) = share_[i * capacity_ + j];
  }
  mixture.recount(backend);
  record.outcome = MoveOutcome::kAccepted;
  return record;
}

}  // namespace adapvae

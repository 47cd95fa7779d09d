#include "structure/proposal.h"

#include <algorithm>
#include <cmath>

namespace adapvae {

void Proposal::place(Arena& arena, const MixtureConfig& config) {
  shape_ = config.shape;
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
  take(rival_density_, rows);
  take(share_, rows * kMostPieces);
  take(members_, rows * member_words(kMostPieces));
  take(probability_, rows * kMostPieces);
  take(distance_, rows);
  take(metric_, scatter);
  take(whitened_, rows * m);
  aside_.place(arena, shape_, 1);
  fixed_.place(arena, shape_, kMostPieces);
  fresh_.place(arena, shape_, kMostPieces + 1);  // the last place serves trial merges
  double* mean = nullptr;
  double* factor = nullptr;
  take(mean, (kMostPieces + 1) * m);
  take(factor, (kMostPieces + 1) * scatter);
  take(local_mean_, kMostPieces * m);
  take(local_factor_, kMostPieces * scatter);
  take(local_precision_, kMostPieces * m);
  take(local_weight_, kMostPieces);
  take(center_, kMostPieces * m);
  take(best_center_, kMostPieces * m);
  take(seeds_, kSeedStride * m);
  take(sums_, kMostPieces * m);
  take(scatters_, kMostPieces * scatter);
  take(piece_mass_, kMostPieces);
  take(mass_, config.max_clusters + kMostPieces);
  take(log_weight_, config.max_clusters + kMostPieces);
  take(order_, config.max_clusters + kMostPieces);
  take(scratch_, scatter + 2 * m);
  if (arena.counting() || arena.failed()) return;
  for (Index j = 0; j <= kMostPieces; ++j) {
    posterior_[j] = Posterior{};
    posterior_[j].mean = mean + j * m;
    posterior_[j].factor = factor + j * scatter;
  }
}

// ---- rows ---------------------------------------------------------------------------------------

// The rows that take part, and what stays with piece 0 whatever happens: the cluster's past (if it
// competes) and its hold on the other rows.
void Proposal::gather_cluster(Mixture& mixture, Index target, Rival rival, Index row_limit,
                              const ProposalSettings& settings) {
  const Index m = shape_.dims;
  const MatrixViewD r = mixture.stream_responsibilities();
  const ConstMatrixView rows = mixture.stream_rows();
  const ConstMatrixView variance = mixture.stream_variance();
  rival_ = rival;
  target_ = target;
  has_variance_ = variance.data != nullptr;
  row_weight_ = mixture.row_weight();
  count_ = 0;
  held_ = 0.0;
  aside_.clear(0);
  for (Index j = 0; j < kMostPieces; ++j) fixed_.clear(j);
  // Every stride-th row first, then the next ones: the first few are a fair sample of all.
  const auto estimate =
      (mixture.mass(target) - mixture.carried().mass(target)) / mixture.row_weight();
  const Index stride = std::max<Index>(1, static_cast<Index>(estimate) / kSampleRows);
  for (Index at = 0, i = 0; at < r.rows; ++at, i += stride) {
    if (i >= r.rows) i = i % stride + 1;
    const double held = r(i, target);
    if (held == 0.0) continue;
    if (held >= settings.least_share && i < row_limit) {
      row_[count_] = static_cast<std::uint32_t>(i);
      budget_[count_] = held;
      held_ += held;
      std::copy_n(rows.row(i), m, z_ + count_ * m);
      if (has_variance_) std::copy_n(variance.row(i), m, variance_ + count_ * m);
      ++count_;
      continue;
    }
    add_row(shape_, rows.row(i), has_variance_ ? variance.row(i) : nullptr, held, row_weight_,
            aside_[0], scratch_);
  }
  if (rival != Rival::kOldCluster) return;
  fixed_.copy(0, mixture.carried(), target);
  fixed_.add(0, aside_, 0);
}

void Proposal::gather_rows(Mixture& mixture, const std::uint32_t* rows, const float* log_density,
                           Index count) {
  const Index m = shape_.dims;
  const ConstMatrixView z = mixture.stream_rows();
  const ConstMatrixView variance = mixture.stream_variance();
  rival_ = Rival::kMixture;
  has_variance_ = variance.data != nullptr;
  row_weight_ = mixture.row_weight();
  count_ = count;
  held_ = static_cast<double>(count);
  for (Index j = 0; j < kMostPieces; ++j) fixed_.clear(j);
  std::fill_n(mass_, mixture.clusters(), 0.0);
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < count; ++i) {
    row_[i] = rows[i];
    budget_[i] = 1.0;
    rival_density_[i] = log_density[i];
    std::copy_n(z.row(rows[i]), m, z_ + i * m);
    if (has_variance_) std::copy_n(variance.row(rows[i]), m, variance_ + i * m);
    for (Index k = 0; k < r.cols; ++k) mass_[k] += r(rows[i], k);
  }
  target_ = std::max_element(mass_, mass_ + mixture.clusters()) - mass_;
}

double Proposal::entropy() const {
  double sum = 0.0;
  for (Index i = 0; i < count_; ++i) {
    for (Index j = 0; j < pieces_; ++j) {
      const double share = share_[i * kMostPieces + j];
      if (share > 0.0 && share < 1.0) sum += entropy_term(share);
    }
  }
  return row_weight_ * sum;
}

double Proposal::entropy_before() const {
  double sum = 0.0;
  for (Index i = 0; i < count_; ++i) sum += entropy_term(budget_[i]);
  return row_weight_ * sum;
}

// ---- pieces -------------------------------------------------------------------------------------

// Statistics of the pieces from the shares, and their posteriors.
void Proposal::count(Backend& backend, const Mixture& mixture, ConstMemberView members) {
  const Index m = shape_.dims;
  const double weight = row_weight_ * static_cast<double>(count_) / static_cast<double>(active_);
  for (Index j = 0; j < pieces_; ++j) {
    std::copy_n(mixture.posterior(target_).mean, m, center_ + j * m);
  }
  backend.weighted_moments(
      {z_, active_, m}, has_variance_ ? ConstMatrixView(variance_, active_, m) : ConstMatrixView(),
      ConstMatrixViewD(share_, active_, pieces_, kMostPieces), members,
      ConstMatrixViewD(center_, pieces_, m), shape_.covariance, piece_mass_,
      MatrixViewD(sums_, pieces_, m), MatrixViewD(scatters_, pieces_, shape_.scatter_size()));
  for (Index j = 0; j < pieces_; ++j) {
    // Through the spare place, so that weighting is one call.
    center_statistics(shape_, piece_mass_[j], sums_ + j * m, scatters_ + j * shape_.scatter_size(),
                      center_ + j * m, fresh_[kMostPieces]);
    fresh_.copy(j, fixed_, j);
    fresh_.add(j, fresh_, kMostPieces, weight);
    compute_posterior(shape_, mixture.base_measure(), fresh_[j], posterior_[j]);
  }
}

Index Proposal::place_in_masses(const Mixture& mixture, Index piece) const {
  return piece == 0 ? target_ : mixture.clusters() + piece - 1;
}

// Masses of all clusters with piece 0 in its place and the fresh pieces at the end; how many.
Index Proposal::trial_masses(const Mixture& mixture) {
  for (Index k = 0; k < mixture.clusters(); ++k) mass_[k] = mixture.mass(k);
  for (Index j = first_real(); j < pieces_; ++j) {
    mass_[place_in_masses(mixture, j)] = fresh_.mass(j);
  }
  return mixture.clusters() + pieces_ - 1;
}

// One local step of the rows that take part, among the pieces, and what it makes of them.
void Proposal::refit(Backend& backend, const Mixture& mixture) {
  const Index m = shape_.dims;
  const Index all = trial_masses(mixture);
  const Index first = first_real();
  sort_by_mass(mass_, all, order_);
  expected_log_weights(mass_, order_, all, mixture.concentration(), log_weight_);
  for (Index j = first; j < pieces_; ++j) {
    const double constant = fill_local_view(shape_, posterior_[j], local_mean_ + j * m,
                                            local_factor_ + j * shape_.scatter_size(),
                                            local_precision_ + j * m, scratch_);
    local_weight_[j] = static_cast<float>(log_weight_[place_in_masses(mixture, j)] + constant);
  }
  const GaussianView gaussians = {.clusters = pieces_ - first,
                                  .dims = m,
                                  .mean = local_mean_ + first * m,
                                  .factor = local_factor_ + first * shape_.scatter_size(),
                                  .precision_diagonal = local_precision_ + first * m,
                                  .shape = shape_.covariance};
  const ConstMatrixView z(z_, active_, m);
  const ConstMatrixView variance =
      has_variance_ ? ConstMatrixView(variance_, active_, m) : ConstMatrixView();
  const MatrixViewD share(share_, active_, pieces_, kMostPieces);
  if (rival_ != Rival::kMixture) {
    const MemberView members(members_, active_, member_words(pieces_));
    backend.divide_rows(z, variance, gaussians, local_weight_, budget_, share, members);
    count(backend, mixture, members);
    return;
  }
  const MatrixView probability(probability_, active_, pieces_);
  backend.mahalanobis(z, variance, gaussians, probability.col_range(first, pieces_ - first));
  bound_distances(probability.col_range(first, pieces_ - first));
  local_weight_[0] = 0.0F;
  for (Index i = 0; i < active_; ++i) probability(i, 0) = -2.0F * rival_density_[i];
  backend.softmax_rows(probability, local_weight_, -0.5F, probability, nullptr);
  for (Index i = 0; i < active_; ++i) {
    split_into_units(probability.row(i), pieces_, budget_[i], share.row(i));
  }
  count(backend, mixture, {});
}

// Piece b's rows join piece a; the last piece takes b's number.
void Proposal::join_pieces(Index a, Index b) {
  const Index last = --pieces_;
  for (Index i = 0; i < count_; ++i) {
    double* share = share_ + i * kMostPieces;
    share[a] += share[b];
    share[b] = 0.0;
    if (b != last) std::swap(share[b], share[last]);
  }
}

double Proposal::bound_of_pieces(const Mixture& mixture) {
  const Index all = trial_masses(mixture);
  double sum = allocation_of(mass_, all, mixture.concentration(), order_) + entropy();
  for (Index j = 0; j < pieces_; ++j) {
    sum += observation_bound(shape_, mixture.base_measure(), posterior_[j], fresh_.mass(j));
  }
  return sum;
}

// Makes the best merge of two pieces if it raises the bound.
bool Proposal::merge_pieces(const Mixture& mixture) {
  const BaseMeasure& base = mixture.base_measure();
  const Index all = trial_masses(mixture);
  const double before = allocation_of(mass_, all, mixture.concentration(), order_);
  double best = 0.0;
  Index best_a = 0;
  Index best_b = 0;
  for (Index b = first_real() + 1; b < pieces_; ++b) {
    for (Index a = first_real(); a < b; ++a) {
      fresh_.copy(kMostPieces, fresh_, a);
      fresh_.add(kMostPieces, fresh_, b);
      Posterior& both = posterior_[kMostPieces];
      compute_posterior(shape_, base, fresh_[kMostPieces], both);
      double gain = observation_bound(shape_, base, both, fresh_.mass(kMostPieces)) -
                    observation_bound(shape_, base, posterior_[a], fresh_.mass(a)) -
                    observation_bound(shape_, base, posterior_[b], fresh_.mass(b));
      trial_masses(mixture);
      mass_[place_in_masses(mixture, a)] = fresh_.mass(kMostPieces);
      mass_[place_in_masses(mixture, b)] = mass_[all - 1];
      gain += allocation_of(mass_, all - 1, mixture.concentration(), order_) - before;
      if (gain <= best) continue;  // entropy can only fall: no need to look
      double loss = 0.0;
      for (Index i = 0; i < count_; ++i) {
        const double x = share_[i * kMostPieces + a];
        const double y = share_[i * kMostPieces + b];
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
  join_pieces(best_a, best_b);
  return true;
}

// Small pieces join the old one; true if there were any. An old cluster without past that has lost
// its rows to a fresh piece is that piece: nothing would be born.
bool Proposal::drop_small_pieces(double least_rows) {
  const Index before = pieces_;
  if (rival_ == Rival::kOldCluster && fresh_.mass(0) < least_rows * row_weight_) {
    const Index heaviest = std::max_element(piece_mass_ + 1, piece_mass_ + pieces_) - piece_mass_;
    swap_shares(0, heaviest);
    std::swap(piece_mass_[0], piece_mass_[heaviest]);
  }
  for (Index j = pieces_ - 1; j >= 1; --j) {
    if (piece_mass_[j] < least_rows) join_pieces(0, j);
  }
  return pieces_ != before;
}

// Rows that were explained when they came are at most a finer division of what is known: a piece
// must hold clearly more novel ones, by three deviations, than chance gives a known kind.
bool Proposal::drop_familiar_pieces(double usual_novelty) {
  if (rival_ != Rival::kOldCluster || novel_ == nullptr || usual_novelty <= 0.0) return false;
  const Index before = pieces_;
  for (Index j = pieces_ - 1; j >= 1; --j) {
    double novel = 0.0;
    for (Index i = 0; i < count_; ++i) novel += novel_[row_[i]] != 0 ? share(i, j) : 0.0;
    const double expected = usual_novelty * piece_mass_[j];
    if (novel < expected + 3.0 * std::sqrt(expected) + 0.5) join_pieces(0, j);
  }
  return pieces_ != before;
}

void Proposal::fit(Backend& backend, const Mixture& mixture, Index fresh,
                   const ProposalSettings& settings, Philox& random) {
  fresh = std::min(fresh, kMostFresh);
  const bool goes_on = rival_ == Rival::kNothing && fixed_.mass(0) > 0.0 && fixed_.mass(1) > 0.0;
  // Of many rows a sample makes the first steps, with the weight of all.
  active_ = std::min(count_, kSampleRows);
  const int steps = std::max(settings.refinements, 1);
  const int late = std::max(1, steps / (active_ < count_ ? 3 : 2));  // on all rows
  const int early = steps - late;
  if (goes_on) {
    // The pieces are known from earlier streams: no seeds are wanted.
    pieces_ = 2;
    std::fill_n(share_, count_ * kMostPieces, 0.0);
  } else {
    seed(mixture, fresh, random);
  }
  count(backend, mixture, {});
  for (int step = 0; step < steps && pieces_ > 1; ++step) {
    if (step >= early) active_ = count_;
    refit(backend, mixture);
    if (rival_ == Rival::kNothing || step < early) continue;
    if (drop_small_pieces(settings.least_rows)) count(backend, mixture, {});
    while (pieces_ > 1 && merge_pieces(mixture)) count(backend, mixture, {});
  }
  active_ = count_;
  if (drop_familiar_pieces(settings.usual_novelty)) count(backend, mixture, {});
}

void Proposal::add_to_piece(const Mixture& mixture, Index piece, const StatisticsRef& more) {
  add_statistics(shape_, more, 1.0, fresh_[piece]);
  compute_posterior(shape_, mixture.base_measure(), fresh_[piece], posterior_[piece]);
}

void Proposal::swap_shares(Index a, Index b) {
  for (Index i = 0; i < count_; ++i) {
    std::swap(share_[i * kMostPieces + a], share_[i * kMostPieces + b]);
  }
}

void Proposal::count_present(Backend& backend, const Mixture& mixture) {
  for (Index j = 0; j < pieces_; ++j) fixed_.clear(j);
  count(backend, mixture, {});
}

void Proposal::make_old(Index piece) {
  if (piece == 0) return;
  swap_shares(0, piece);
  fresh_.copy(kMostPieces, fresh_, 0);
  fresh_.copy(0, fresh_, piece);
  fresh_.copy(piece, fresh_, kMostPieces);
  std::swap(posterior_[0], posterior_[piece]);
}

}  // namespace adapvae

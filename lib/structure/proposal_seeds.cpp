// Proposal: where the pieces start.
#include <algorithm>
#include <cmath>

#include "structure/proposal.h"

namespace adapvae {

// Rows in the metric of the base measure, in which a cluster has about the same size in all
// directions. (The target's own metric would hide the very direction in which it is two clumps.)
void Proposal::whiten(const Mixture& mixture) {
  const Index m = shape_.dims;
  const double* scale = mixture.base_measure().scale;
  std::copy_n(scale, shape_.scatter_size(), metric_);
  // The base measure is positive definite: it was checked when it was set.
  if (shape_.covariance == FactorShape::kLower) cholesky_in_place(metric_, m);
  for (Index i = 0; i < active_; ++i) {
    std::copy_n(z_ + i * m, m, whitened_ + i * m);
    whiten_point(whitened_ + i * m);
  }
}

void Proposal::whiten_point(double* x) const {
  if (shape_.covariance == FactorShape::kLower) {
    solve_lower(metric_, shape_.dims, x);
  } else {
    for (Index j = 0; j < shape_.dims; ++j) x[j] /= std::sqrt(metric_[j]);
  }
}

double Proposal::seed_distance(Index i, Index piece) const {
  const Index m = shape_.dims;
  double sum = 0.0;
  for (Index j = 0; j < m; ++j) {
    const double d = whitened_[i * m + j] - center_[piece * m + j];
    sum += d * d;
  }
  return sum;
}

// Draws the centre of `piece` among the rows, by its squared distance from the centres before;
// false if there is none left.
bool Proposal::draw_seed(Index piece, Philox& random) {
  double total = 0.0;
  for (Index i = 0; i < active_; ++i) total += budget_[i] * distance_[i];
  if (!(total > 0.0) || !std::isfinite(total)) return false;
  double mark = total * random.uniform_double();
  Index chosen = 0;
  for (Index i = 0; i < active_ && mark > 0.0; ++i) {
    mark -= budget_[i] * distance_[i];
    if (distance_[i] > 0.0) chosen = i;
  }
  std::copy_n(whitened_ + chosen * shape_.dims, shape_.dims, center_ + piece * shape_.dims);
  for (Index i = 0; i < active_; ++i) {
    const double distance = seed_distance(i, piece);
    distance_[i] = piece == first_real() ? distance : std::min(distance_[i], distance);
  }
  return true;
}

// Centres by dimension, for nearest_seed.
void Proposal::spread_seeds() {
  std::fill_n(seeds_, shape_.dims * kSeedStride, 0.0);
  for (Index piece = first_real(); piece < pieces_; ++piece) {
    for (Index j = 0; j < shape_.dims; ++j) {
      seeds_[j * kSeedStride + piece] = center_[piece * shape_.dims + j];
    }
  }
}

// The nearest centre to row i, as of the last spread_seeds(). Four centres at a time, each summed
// in the order of dimensions: compilers make vectors of them.
Index Proposal::nearest_seed(Index i, double& least) const {
  const Index m = shape_.dims;
  const double* x = whitened_ + i * m;
  double distance[kSeedStride];
  for (Index first = 0; first < pieces_; first += kSeedGroup) {
    double sum[kSeedGroup] = {};
    for (Index j = 0; j < m; ++j) {
      const double* seed = seeds_ + j * kSeedStride + first;
      for (Index k = 0; k < kSeedGroup; ++k) {
        const double d = x[j] - seed[k];
        sum[k] += d * d;
      }
    }
    std::copy_n(sum, kSeedGroup, distance + first);
  }
  const double* nearest = std::min_element(distance + first_real(), distance + pieces_);
  least = *nearest;
  return nearest - distance;
}

// Every centre to the mean of the rows that are nearest to it, a few times (k-means); the sum of
// squared distances left.
double Proposal::settle_seeds() {
  constexpr int kTimes = 6;
  const Index m = shape_.dims;
  double left = 0.0;
  for (int time = 0; time < kTimes; ++time) {
    std::fill_n(sums_, pieces_ * m, 0.0);
    std::fill_n(piece_mass_, pieces_, 0.0);
    left = 0.0;
    spread_seeds();
    for (Index i = 0; i < active_; ++i) {
      double distance = 0.0;
      const Index nearest = nearest_seed(i, distance);
      left += budget_[i] * distance;
      piece_mass_[nearest] += budget_[i];
      for (Index j = 0; j < m; ++j) sums_[nearest * m + j] += budget_[i] * whitened_[i * m + j];
    }
    for (Index piece = first_real(); piece < pieces_; ++piece) {
      if (piece_mass_[piece] == 0.0) continue;
      for (Index j = 0; j < m; ++j) {
        center_[piece * m + j] = sums_[piece * m + j] / piece_mass_[piece];
      }
    }
  }
  return left;
}

// Centres by k-means, the best of a few starts; every row to the nearest.
void Proposal::seed(const Mixture& mixture, Index fresh, Philox& random) {
  constexpr int kStarts = 3;
  const Index m = shape_.dims;
  whiten(mixture);
  std::fill_n(share_, count_ * kMostPieces, 0.0);
  double least = 1e300;
  Index best_pieces = 0;
  for (int start = 0; start < kStarts; ++start) {
    std::fill_n(distance_, active_, 1.0);
    pieces_ = first_real();
    while (pieces_ <= fresh && draw_seed(pieces_, random)) ++pieces_;
    if (pieces_ <= first_real()) break;  // no two rows differ
    const double left = settle_seeds();
    if (left >= least) continue;
    least = left;
    best_pieces = pieces_;
    std::copy_n(center_, pieces_ * m, best_center_);
  }
  if (best_pieces == 0) {
    pieces_ = 1;
    for (Index i = 0; i < active_; ++i) share_[i * kMostPieces] = budget_[i];
    return;
  }
  pieces_ = best_pieces;
  std::copy_n(best_center_, pieces_ * m, center_);
  spread_seeds();
  for (Index i = 0; i < active_; ++i) {
    double distance = 0.0;
    share_[i * kMostPieces + nearest_seed(i, distance)] = budget_[i];
  }
  if (rival_ != Rival::kOldCluster) return;
  // The old cluster starts with the rows around the centre that is nearest to its past: the present
  // rows may have pulled it away already.
  const bool has_past = mixture.carried().mass(target_) > 0.0;
  std::copy_n(has_past ? mixture.carried()[target_].mean : mixture.posterior(target_).mean, m,
              whitened_);  // row 0 is no longer needed
  whiten_point(whitened_);
  double distance = 0.0;
  swap_shares(0, nearest_seed(0, distance));
}

}  // namespace adapvae

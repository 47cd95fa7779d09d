// Kinds above clusters. The bound keeps several Gaussian clusters for one real kind, because
// features are not Gaussian. Clusters whose rows cannot be told apart belong to one kind.
//
// The overlap of a and b is Σ r_a r_b over rows, r the probability that a row belongs to each,
// divided by the rows of the smaller one: the fraction of its rows that are taken for the other's
// (eq. 18). Probabilities of a kind are the sums of those of its clusters, so that kinds overlap as
// clusters do. The two that overlap most become one until no two overlap enough.
#pragma once

#include "base/arena.h"
#include "base/matrix_view.h"

namespace adapvae {

class KindGrouping {
 public:
  // Kinds that overlap more are one. Two Gaussians of the same size and width do so if their means
  // are less than 3 standard deviations apart.
  static constexpr double kOverlap = 0.1;
  // What has been one kind stays one down to this part of that overlap.
  static constexpr double kHysteresis = 0.5;

  void place(Arena& arena, Index max_clusters);
  void reset(Index clusters);

  // A row that belongs to each cluster with probability r [clusters].
  void add_row(const float* r);

  // kind [clusters]: for every cluster the number of one that stands for its kind. Coming in, it
  // says so of the kinds until now: a cluster of which nothing was seen stays with its own. Higher
  // resolution: smaller kinds. The rows are used up.
  void group(double resolution, Index* kind);

 private:
  double& overlap(Index a, Index b) {
    return overlap_[a > b ? a * clusters_ + b : b * clusters_ + a];
  }
  bool best_pair(double least, const Index* kind, Index* a, Index* b);

  Index clusters_ = 0;
  double* overlap_ = nullptr;  // [K × K] Σ r_a r_b, the lower triangle
  double* rows_ = nullptr;     // [K] Σ r
  Index* before_ = nullptr;    // [K]
  Index* member_ = nullptr;    // [K] the clusters that a row belongs to
};

}  // namespace adapvae

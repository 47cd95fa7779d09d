// Kinds above clusters. The bound keeps several Gaussian clusters for one real kind, because
// features are not Gaussian. Clusters whose rows cannot be told apart belong to one kind.
//
// The overlap of two clusters is the entropy that rows have because they may belong to either, for
// each row of the smaller one (eq. 18). The mixture keeps these entropies for all rows that it has
// learnt. Overlaps of kinds are sums of those of their clusters. The two kinds that overlap most
// become one until no two overlap enough.
#pragma once

#include <algorithm>

#include "base/arena.h"
#include "mixture/mixture.h"

namespace adapvae {

class KindGrouping {
 public:
  // Kinds that overlap more are one. Two Gaussians of the same size and width do so if their means
  // are less than 3 standard deviations apart.
  static constexpr double kOverlap = 1.0 / 3.0;
  // What has been one kind stays one down to this part of that overlap.
  static constexpr double kHysteresis = 0.8;

  void place(Arena& arena, Index max_clusters);

  // kind [clusters]: for every cluster the number of one that stands for its kind. Coming in, it
  // says so of the kinds until now. Higher resolution: smaller kinds. Between streams.
  void group(const Mixture& mixture, double resolution, Index* kind);

 private:
  double& overlap(Index a, Index b) {
    return overlap_[packed_size(std::max(a, b)) + std::min(a, b)];
  }
  bool best_pair(double least, const Index* kind, Index* a, Index* b);

  Index clusters_ = 0;
  double* overlap_ = nullptr;  // [packed K] entropies
  double* mass_ = nullptr;     // [K] of the kind that a cluster stands for
  Index* before_ = nullptr;    // [K]
};

}  // namespace adapvae

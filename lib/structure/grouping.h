// Clusters of components. The bound keeps several Gaussian components for one real cluster, because
// features are not Gaussian. Components whose rows cannot be told apart belong to one cluster.
//
// The overlap of two components is the entropy that rows have because they may belong to either,
// for each row of the smaller one (eq. 18). The mixture keeps these entropies for all rows that it
// has learnt. Overlaps of groups are sums of those of their components. The two groups that overlap
// most become one until no two overlap enough.
#pragma once

#include <algorithm>

#include "base/arena.h"
#include "mixture/mixture.h"
#include "structure/registry.h"

namespace adapvae {

class ComponentGrouping {
 public:
  // Groups that overlap more are one. Two Gaussians of the same size and width do so if their means
  // are less than 3 standard deviations apart.
  static constexpr double kOverlap = 1.0 / 3.0;
  // What has been one cluster stays one down to this part of that overlap.
  static constexpr double kHysteresis = 0.8;
  // Clusters that have been apart, and a newborn and an old cluster, become one only if there is no
  // dip between them: two Gaussians of the same size and width less than 2 standard deviations
  // apart.
  static constexpr double kNoDip = 0.71;

  void place(Arena& arena, Index max_components);

  // group [components]: for every component the number of one that stands for its group. registry
  // knows the clusters until now, and what the user wants whole or apart. first: there have been no
  // clusters before. Higher resolution: smaller groups. Between blocks.
  void group(const Mixture& mixture, const ComponentRegistry& registry, bool first,
             double resolution, Index* group);
  // Nothing is joined but what the user wants whole.
  void keep_apart(const Mixture& mixture, const ComponentRegistry& registry, Index* group);
  // Two groups of the components of a cluster, which has at least two; others are left alone.
  void halve(const Mixture& mixture, const ComponentRegistry& registry, ClusterId cluster,
             Index* group);

 private:
  double& overlap(Index a, Index b) {
    return overlap_[packed_size(std::max(a, b)) + std::min(a, b)];
  }
  void begin(const Mixture& mixture, const ComponentRegistry& registry, Index* group);
  void join_whole(const ComponentRegistry& registry, Index* group);
  bool best_pair(const ComponentRegistry& registry, double least, const Index* group, Index* a,
                 Index* b);
  bool wanted_apart(const ComponentRegistry& registry, const Index* group, Index a, Index b) const;
  void join(Index a, Index b, Index* group);

  static double ease(ClusterId a, ClusterId b, bool first);

  Index components_ = 0;
  bool first_ = false;
  bool any_apart_ = false;
  double* overlap_ = nullptr;  // [packed K] entropies
  double* mass_ = nullptr;     // [K] of the group that a component stands for
};

}  // namespace adapvae

// Clusters of components. The bound keeps several Gaussian components for one real cluster, because
// features are not Gaussian. Components belong to one cluster if the density of rows does not fall
// between them (structure/density_dip.h, eq. 27). This is seen in the rows of a block, for
// components of the first block, for newborns, and for components that are one cluster already.
//
// Components of different clusters, and an old one and a newborn, are compared by their overlap:
// the entropy that rows have because they may belong to either, for each row of the smaller one
// (eq. 18). The mixture keeps these entropies for all rows that it has learnt. Overlaps of groups
// are sums of those of their components.
#pragma once

#include <algorithm>

#include "base/arena.h"
#include "mixture/mixture.h"
#include "structure/density_dip.h"
#include "structure/registry.h"

namespace adapvae {

// Rows of the block that has closed.
struct GroupedRows {
  ConstMatrixView z;                // [n × m]; n = 0: there are none
  const RowScore* score = nullptr;  // [n] their components
  std::uint32_t* order = nullptr;   // [n] scratch
  float* position = nullptr;        // [n] scratch
};

class ComponentGrouping {
 public:
  // Two groups are one if the density between them falls to no less than this part of its lower
  // peak, and to more than two Gaussians of the same moments would let expect: their dip, in
  // logarithms, counts by kGaussian. A dip to kShallow is none.
  static constexpr double kDeep = 0.5;
  static constexpr double kShallow = 0.7;
  static constexpr double kGaussian = 0.6;
  // What has been one cluster stays one unless the dip is certainly deeper, in logarithms by this
  // factor.
  static constexpr double kHysteresis = 2.0;
  // The overlap of two Gaussians of the same size and width that have no dip between them: they are
  // 2 standard deviations apart.
  static constexpr double kOverlap = 0.71;

  void place(Arena& arena, const ClusterShape& shape, Index max_components);

  // group [components]: for every component the number of one that stands for its group. registry
  // knows the clusters until now, and what the user wants whole or apart. first: there have been no
  // clusters before. Higher resolution: smaller groups. Between blocks.
  void group(const Mixture& mixture, const ComponentRegistry& registry, const GroupedRows& rows,
             bool first, double resolution, Index* group);
  // Nothing is joined but what the user wants whole.
  void keep_apart(const Mixture& mixture, const ComponentRegistry& registry, Index* group);
  // Two groups of the components of a cluster, which has at least two; others are left alone.
  void halve(const Mixture& mixture, const ComponentRegistry& registry, ClusterId cluster,
             Index* group);

 private:
  double& overlap(Index a, Index b) {
    return overlap_[packed_size(std::max(a, b)) + std::min(a, b)];
  }
  // How far the density falls from the peak of a on the way to b, in logarithms; negative if that
  // is not known. Of components of one cluster it is known only if they are to be parted.
  float& fall(Index a, Index b) { return fall_[a * components_ + b]; }
  float& limit(Index a, Index b) { return limit_[packed_size(std::max(a, b)) + std::min(a, b)]; }
  void begin(const Mixture& mixture, const ComponentRegistry& registry, Index* group);
  void join_whole(const ComponentRegistry& registry, Index* group);
  void see_dips(const Mixture& mixture, const ComponentRegistry& registry, const GroupedRows& rows,
                bool first);
  bool line_between(const Mixture& mixture, Index a, Index b);
  bool least_dip(const ComponentRegistry& registry, double resolution, const Index* group, Index* a,
                 Index* b);
  bool most_overlap(const ComponentRegistry& registry, double least, const Index* group, bool any,
                    Index* a, Index* b);
  bool wanted_apart(const ComponentRegistry& registry, const Index* group, Index a, Index b) const;
  void join(Index a, Index b, Index* group);

  Index components_ = 0;
  ClusterShape shape_;
  bool any_apart_ = false;
  double* overlap_ = nullptr;  // [packed K] entropies
  double* mass_ = nullptr;     // [K] of the group that a component stands for
  float* fall_ = nullptr;      // [K × K]
  float* limit_ = nullptr;     // [packed K] what fall() must not exceed
  double* depth_ = nullptr;    // [K] how far a component's peak lies below that of its group
  Index* begin_ = nullptr;     // [K + 1] where the rows of a component begin in GroupedRows::order
  double* line_ = nullptr;     // [m]
  double* root_ = nullptr;     // [scatter_size] scratch
};

}  // namespace adapvae

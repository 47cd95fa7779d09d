#include "structure/grouping.h"

#include <algorithm>

namespace adapvae {

void ComponentGrouping::place(Arena& arena, Index max_components) {
  overlap_ = arena.take<double>(static_cast<std::size_t>(packed_size(max_components)));
  mass_ = arena.take<double>(static_cast<std::size_t>(max_components));
}

void ComponentGrouping::begin(const Mixture& mixture, const ComponentRegistry& registry,
                              Index* group) {
  components_ = mixture.clusters();
  first_ = true;
  any_apart_ = false;
  for (Index k = 0; k < components_; ++k) {
    group[k] = k;
    mass_[k] = mixture.mass(k);
    any_apart_ = any_apart_ || registry.info(k).kept_apart != 0;
    for (Index l = 0; l < k; ++l) overlap(k, l) = -mixture.pair_entropy_loss(k, l);
  }
}

void ComponentGrouping::join(Index a, Index b, Index* group) {
  for (Index k = 0; k < components_; ++k) {
    if (k != a && k != b) overlap(a, k) += overlap(b, k);
    if (group[k] == b) group[k] = a;
  }
  mass_[a] += mass_[b];
}

void ComponentGrouping::join_whole(const ComponentRegistry& registry, Index* group) {
  for (Index l = 1; l < components_; ++l) {
    if (registry.info(l).kept_whole == 0) continue;
    for (Index k = 0; k < l; ++k) {
      const bool one =
          registry.info(k).cluster == registry.info(l).cluster && registry.info(k).cluster != kNoId;
      if (!one || group[k] == group[l]) continue;
      join(std::min(group[k], group[l]), std::max(group[k], group[l]), group);
    }
  }
}

void ComponentGrouping::keep_apart(const Mixture& mixture, const ComponentRegistry& registry,
                                   Index* group) {
  begin(mixture, registry, group);
  join_whole(registry, group);
}

void ComponentGrouping::group(const Mixture& mixture, const ComponentRegistry& registry, bool first,
                              double resolution, Index* group) {
  keep_apart(mixture, registry, group);
  first_ = first;
  Index a = 0;
  Index b = 0;
  while (best_pair(registry, kOverlap * resolution, group, &a, &b)) join(a, b, group);
}

void ComponentGrouping::halve(const Mixture& mixture, const ComponentRegistry& registry,
                              ClusterId cluster, Index* group) {
  begin(mixture, registry, group);
  any_apart_ = false;
  Index groups = 0;
  for (Index k = 0; k < components_; ++k) {
    if (registry.info(k).cluster == cluster)
      ++groups;
    else
      mass_[k] = 0.0;  // takes no part
  }
  constexpr double kAny = -1e300;
  Index a = 0;
  Index b = 0;
  for (; groups > 2 && best_pair(registry, kAny, group, &a, &b); --groups) join(a, b, group);
}

// Whether the user wants a component of one group apart from a component of the other.
bool ComponentGrouping::wanted_apart(const ComponentRegistry& registry, const Index* group, Index a,
                                     Index b) const {
  if (!any_apart_) return false;
  for (Index k = 0; k < components_; ++k) {
    const ComponentInfo& x = registry.info(k);
    if (group[k] != a || x.kept_apart == 0) continue;
    for (Index l = 0; l < components_; ++l) {
      const ComponentInfo& y = registry.info(l);
      if (group[l] == b && y.kept_apart == x.kept_apart && y.cluster != x.cluster) return true;
    }
  }
  return false;
}

// How much easier than others components of these clusters (kNoId: newborn) are joined.
double ComponentGrouping::ease(ClusterId a, ClusterId b, bool first) {
  if (first || (a == kNoId && b == kNoId)) return 1.0;
  return a == b ? 1.0 / kHysteresis : kOverlap / kNoDip;
}

// The two groups that overlap most; false if none overlap enough.
bool ComponentGrouping::best_pair(const ComponentRegistry& registry, double least,
                                  const Index* group, Index* a, Index* b) {
  double best = least;
  bool found = false;
  for (Index l = 1; l < components_; ++l) {
    if (group[l] != l) continue;
    for (Index k = 0; k < l; ++k) {
      if (group[k] != k) continue;
      const double smaller = std::min(mass_[k], mass_[l]);
      if (!(smaller > 0.0)) continue;
      const double value = overlap(k, l) / smaller *
                           ease(registry.info(k).cluster, registry.info(l).cluster, first_);
      if (!(value > best) || wanted_apart(registry, group, k, l)) continue;
      best = value;
      found = true;
      *a = k;
      *b = l;
    }
  }
  return found;
}

}  // namespace adapvae

#include "structure/grouping.h"

#include <algorithm>
#include <cmath>

namespace adapvae {
namespace {

constexpr float kUnseen = -1.0F;
constexpr Index kLeastSeen = 3;  // of a component, to see a dip

bool one_cluster(const ComponentRegistry& registry, Index a, Index b) {
  const ClusterId cluster = registry.info(a).cluster;
  return cluster != kNoId && cluster == registry.info(b).cluster;
}

}  // namespace

void ComponentGrouping::place(Arena& arena, const ClusterShape& shape, Index max_components) {
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  shape_ = shape;
  take(overlap_, packed_size(max_components));
  take(mass_, max_components);
  take(fall_, max_components * max_components);
  take(limit_, packed_size(max_components));
  take(depth_, max_components);
  take(begin_, max_components + 1);
  take(line_, shape.dims);
  take(root_, shape.scatter_size());
}

void ComponentGrouping::begin(const Mixture& mixture, const ComponentRegistry& registry,
                              Index* group) {
  components_ = mixture.clusters();
  any_apart_ = false;
  for (Index k = 0; k < components_; ++k) {
    group[k] = k;
    mass_[k] = mixture.mass(k);
    depth_[k] = 0.0;
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

void ComponentGrouping::group(const Mixture& mixture, const ComponentRegistry& registry,
                              const GroupedRows& rows, bool first, double resolution,
                              Index* group) {
  keep_apart(mixture, registry, group);
  see_dips(mixture, registry, rows, first);
  Index a = 0;
  Index b = 0;
  while (least_dip(registry, resolution, group, &a, &b)) {
    // By how much the group of b has the higher peak. (Where nothing is seen both fall alike.)
    const double above = depth_[b] + fall(b, a) - depth_[a] - fall(a, b);
    const Index lower = group[above < 0.0 ? b : a];
    for (Index k = 0; k < components_; ++k) {
      if (group[k] == lower) depth_[k] += std::fabs(above);
    }
    join(std::min(group[a], group[b]), std::max(group[a], group[b]), group);
  }
  const bool seen = rows.z.rows > 0;
  if (first && seen) return;
  while (most_overlap(registry, kOverlap * resolution, group, !seen, &a, &b)) join(a, b, group);
}

// ---- dips ---------------------------------------------------------------------------------------

// The line along which a and b differ most, from a to b: C⁻¹ (μ_b - μ_a), C their common
// covariance.
bool ComponentGrouping::line_between(const Mixture& mixture, Index a, Index b) {
  const Posterior& p = mixture.posterior(a);
  const Posterior& q = mixture.posterior(b);
  const double part = mixture.mass(a) / (mixture.mass(a) + mixture.mass(b));
  const Index m = shape_.dims;
  const auto common = [&](Index i, Index j) {
    return part * covariance_at(shape_, p, i, j) + (1.0 - part) * covariance_at(shape_, q, i, j);
  };
  for (Index i = 0; i < m; ++i) line_[i] = q.mean[i] - p.mean[i];
  if (shape_.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) line_[i] /= common(i, i);
    return true;
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) root_[packed_size(i) + j] = common(i, j);
  }
  if (!cholesky_in_place(root_, m)) return false;
  solve_positive_definite(root_, m, line_);
  return true;
}

void ComponentGrouping::see_dips(const Mixture& mixture, const ComponentRegistry& registry,
                                 const GroupedRows& rows, bool first) {
  std::fill_n(fall_, components_ * components_, kUnseen);
  std::fill_n(begin_, components_ + 1, Index{0});
  for (Index i = 0; i < rows.z.rows; ++i) ++begin_[rows.score[i].cluster + 1];
  for (Index k = 0; k < components_; ++k) begin_[k + 1] += begin_[k];
  for (Index i = rows.z.rows - 1; i >= 0; --i) {
    // Filled from the end: begin_[k + 1] becomes the begin of k's rows.
    rows.order[--begin_[rows.score[i].cluster + 1]] = static_cast<std::uint32_t>(i);
  }
  const auto rows_begin = [&](Index k) { return begin_[k + 1]; };
  const auto rows_end = [&](Index k) { return k + 1 < components_ ? begin_[k + 2] : rows.z.rows; };
  for (Index b = 1; b < components_; ++b) {
    for (Index a = 0; a < b; ++a) {
      if (!first && registry.info(a).cluster != registry.info(b).cluster) continue;
      const Index counts[] = {rows_end(a) - rows_begin(a), rows_end(b) - rows_begin(b)};
      if (std::min(counts[0], counts[1]) < kLeastSeen || !line_between(mixture, a, b)) continue;
      Index next = 0;
      for (const Index k : {a, b}) {
        for (Index at = rows_begin(k); at < rows_end(k); ++at) {
          const float* z = rows.z.row(static_cast<Index>(rows.order[at]));
          double sum = 0.0;
          for (Index j = 0; j < shape_.dims; ++j) sum += line_[j] * static_cast<double>(z[j]);
          rows.position[next++] = static_cast<float>(sum);
        }
      }
      const std::span<const float> all(rows.position, static_cast<std::size_t>(next));
      const DensityDip dip = density_dip(all.first(static_cast<std::size_t>(counts[0])),
                                         all.last(static_cast<std::size_t>(counts[1])));
      const double most =
          std::clamp(kGaussian * dip.of_gaussians, -std::log(kShallow), -std::log(kDeep));
      if (one_cluster(registry, a, b) && !dip.certainly_exceeds(kHysteresis * most)) continue;
      fall(a, b) = static_cast<float>(dip.from_first);
      fall(b, a) = static_cast<float>(dip.from_second);
      limit(a, b) = static_cast<float>(most);
    }
  }
}

// Components of two groups between which the density falls least, from the lower peak of the
// groups; false if it falls too far between all.
bool ComponentGrouping::least_dip(const ComponentRegistry& registry, double resolution,
                                  const Index* group, Index* a, Index* b) {
  double least = 1e300;
  for (Index l = 1; l < components_; ++l) {
    for (Index k = 0; k < l; ++k) {
      if (group[k] == group[l]) continue;
      const bool seen = fall(k, l) != kUnseen;
      if (!seen && !one_cluster(registry, k, l)) continue;
      const double dip = seen ? std::min(static_cast<double>(fall(k, l)) + depth_[k],
                                         static_cast<double>(fall(l, k)) + depth_[l])
                              : 0.0;
      if (!(dip < least) || (seen && dip > static_cast<double>(limit(k, l)) / resolution)) continue;
      if (wanted_apart(registry, group, group[k], group[l])) continue;
      least = dip;
      *a = k;
      *b = l;
    }
  }
  return least < 1e300;
}

// ---- the user's word ----------------------------------------------------------------------------

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
  for (; groups > 2 && most_overlap(registry, kAny, group, true, &a, &b); --groups) {
    join(a, b, group);
  }
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

// ---- overlap ------------------------------------------------------------------------------------

// The two groups that overlap most; false if none overlap enough. any: of all groups; else of
// different clusters, or an old one and newborns.
bool ComponentGrouping::most_overlap(const ComponentRegistry& registry, double least,
                                     const Index* group, bool any, Index* a, Index* b) {
  double best = least;
  bool found = false;
  for (Index l = 1; l < components_; ++l) {
    if (group[l] != l) continue;
    for (Index k = 0; k < l; ++k) {
      if (group[k] != k || (!any && registry.info(k).cluster == registry.info(l).cluster)) continue;
      const double smaller = std::min(mass_[k], mass_[l]);
      if (!(smaller > 0.0)) continue;
      const double value = overlap(k, l) / smaller;
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

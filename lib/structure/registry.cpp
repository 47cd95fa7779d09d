#include "structure/registry.h"

#include <algorithm>

namespace adapvae {

void ComponentRegistry::place(Arena& arena, Index max_components, Index aliases) {
  max_components_ = max_components;
  const auto components = static_cast<std::size_t>(max_components);
  info_ = arena.take<ComponentInfo>(components);
  aliases_.place(arena, alias_room(max_components));
  table_.place(arena, max_components, aliases);
  heir_ = arena.take<Index>(components);
  share_ = arena.take<double>(components);
  owner_ = arena.take<ClusterId>(components);
  change_ = arena.take<ClusterChange>(2 * components);
}

void ComponentRegistry::reset() {
  components_ = 0;
  ids_.reset();
  aliases_.clear();
  table_.reset();
  add(kNoId, 0, 0.0, 0.0);
  publish(0);
  found_cluster(0);
}

Index ComponentRegistry::find(ClusterId id) const {
  if (id == kNoId) return -1;
  for (Index k = 0; k < components_; ++k) {
    if (info_[k].id == id) return k;
  }
  return -1;
}

Index ComponentRegistry::components_of(ClusterId cluster) const {
  return static_cast<Index>(
      std::count_if(info_, info_ + components_,
                    [cluster](const ComponentInfo& info) { return info.cluster == cluster; }));
}

void ComponentRegistry::take_back(const Given& given) {
  ids_.set_highest(given.components);
  table_.ids().set_highest(given.clusters);
}

void ComponentRegistry::add(ClusterId parent, std::uint64_t stream, double gain, double rows) {
  ComponentInfo& info = info_[components_++];
  info = ComponentInfo{};
  info.parent = parent;
  info.born_stream = stream;
  info.seen_stream = stream;
  info.birth_gain = gain;
  info.birth_rows = rows;
}

void ComponentRegistry::publish(Index k) {
  if (info_[k].id == kNoId) info_[k].id = ids_.give();
}

ClusterId ComponentRegistry::found_cluster(Index k) {
  ComponentInfo& info = info_[k];
  info.cluster = table_.add({.parent = info.parent,
                             .born_stream = info.born_stream,
                             .provisional = info.provisional,
                             .birth_gain = info.birth_gain,
                             .birth_rows = info.birth_rows,
                             .name = {}});
  return info.cluster;
}

ClusterId ComponentRegistry::merge(Index survivor, Index lost) {
  ComponentInfo& kept = info_[survivor];
  const ComponentInfo gone = info_[lost];
  const bool whole = kept.kept_whole != 0 || gone.kept_whole != 0;
  const std::uint64_t apart = kept.kept_apart != 0 ? kept.kept_apart : gone.kept_apart;
  // An id that has been seen outside stays with its rows: a newborn's story ends in an old
  // component, a provisional one's in one that was announced.
  const auto standing = [](const ComponentInfo& info) {
    return info.id == kNoId ? 0 : info.provisional != 0 ? 1 : 2;
  };
  const std::uint64_t seen = std::max(kept.seen_stream, gone.seen_stream);
  ClusterId dead = gone.cluster;
  if (standing(kept) < standing(gone)) {
    dead = kept.cluster;
    if (kept.id != kNoId) aliases_.bury(kept.id, gone.id);
    kept = gone;
  } else if (gone.id != kNoId) {
    aliases_.bury(gone.id, kept.id);
  }
  kept.seen_stream = seen;
  kept.kept_whole = whole ? 1 : 0;
  if (kept.kept_apart == 0) kept.kept_apart = apart;
  if (kept.cluster == kNoId) std::swap(kept.cluster, dead);
  const ClusterId cluster = kept.cluster;
  info_[lost] = info_[components_ - 1];
  --components_;
  if (dead == kNoId || dead == cluster || components_of(dead) > 0) return kNoId;
  table_.end(dead, cluster);
  return dead;
}

void ComponentRegistry::remove(Index k) {
  const ComponentInfo gone = info_[k];
  aliases_.bury(gone.id, kNoId);
  info_[k] = info_[components_ - 1];
  --components_;
  if (components_of(gone.cluster) == 0) table_.end(gone.cluster, kNoId);
}

void ComponentRegistry::replace_by_new(Index k, std::uint64_t stream) {
  aliases_.bury(info_[k].id, kNoId);
  table_.end(info_[k].cluster, kNoId);
  info_[k] = ComponentInfo{};
  info_[k].born_stream = stream;
  info_[k].seen_stream = stream;
  publish(k);
  found_cluster(k);
}

bool ComponentRegistry::succeed(Index k, std::uint64_t stream) {
  ComponentInfo& info = info_[k];
  const ClusterId before = info.id;
  info.parent = info.cluster;
  info.born_stream = stream;
  info.provisional = 0;
  info.id = kNoId;
  publish(k);
  aliases_.bury(before, info.id);
  info.cluster = kNoId;
  if (components_of(info.parent) > 0) return false;
  info.cluster = table_.replace(info.parent, {.parent = info.parent,
                                              .born_stream = stream,
                                              .birth_gain = info.birth_gain,
                                              .birth_rows = info.birth_rows,
                                              .name = {}});
  return true;
}

void ComponentRegistry::join(ClusterId cluster, ClusterId other) {
  for (Index k = 0; k < components_; ++k) {
    if (info_[k].cluster == other) info_[k].cluster = cluster;
  }
  table_.end(other, cluster);
}

// ---- clusters follow the components -------------------------------------------------------------

// Where most of the rows of every cluster are.
void ComponentRegistry::find_heirs(const Index* group, const double* rows) {
  for (Index c = 0; c < table_.count(); ++c) {
    std::fill_n(share_, components_, -1.0);
    Index best = -1;
    for (Index k = 0; k < components_; ++k) {
      if (info_[k].cluster != table_[c].id) continue;
      double& share = share_[group[k]];
      share = std::max(share, 0.0) + rows[k];
      if (best < 0 || share > share_[best]) best = group[k];
    }
    heir_[c] = best;
  }
}

// share [clusters]: rows of each.
bool ComponentRegistry::outranks(Index c, Index other, const double* share) const {
  const Cluster& a = table_[c];
  const Cluster& b = table_[other];
  if (a.provisional != b.provisional) return a.provisional == 0;
  if ((a.name[0] != '\0') != (b.name[0] != '\0')) return a.name[0] != '\0';
  if (share[c] != share[other]) return share[c] > share[other];
  return a.id < b.id;
}

// Clusters that continue in the group of another one.
void ComponentRegistry::end_merged(std::size_t& changes) {
  for (Index c = table_.count() - 1; c >= 0; --c) {
    const ClusterId dead = table_[c].id;
    const ClusterId heir = owner_[heir_[c]];
    if (heir == dead) continue;
    change_[changes++] = {
        .what = ClusterChange::What::kMerged, .id = heir, .other = dead, .rows = share_[c]};
    table_.end(dead, heir);
  }
}

std::span<const ClusterChange> ComponentRegistry::regroup(const Index* group, const double* rows,
                                                          std::uint64_t stream) {
  std::size_t changes = 0;
  find_heirs(group, rows);
  std::fill_n(share_, components_, 0.0);
  for (Index k = 0; k < components_; ++k) {
    if (const Index c = cluster_of(k); c >= 0) share_[c] += rows[k];
  }
  std::fill_n(owner_, components_, kNoId);
  for (Index c = 0; c < table_.count(); ++c) {
    ClusterId& owner = owner_[heir_[c]];
    if (owner == kNoId || outranks(c, table_.find(owner), share_)) owner = table_[c].id;
  }
  end_merged(changes);
  for (Index g = 0; g < components_; ++g) {
    if (group[g] != g) continue;
    Index heaviest = g;
    bool announced = false;
    double sum = 0.0;
    for (Index k = 0; k < components_; ++k) {
      if (group[k] != g) continue;
      sum += rows[k];
      announced = announced || info_[k].provisional == 0;
      if (rows[k] > rows[heaviest]) heaviest = k;
    }
    const ComponentInfo& first = info_[heaviest];
    const bool newborn = owner_[g] == kNoId;
    if (newborn) {
      const ClusterId parent = first.cluster != kNoId ? first.cluster : first.parent;
      owner_[g] = table_.add({.parent = parent, .provisional = 1});
    }
    Cluster& cluster = table_[table_.find(owner_[g])];
    if (newborn || (announced && cluster.provisional != 0)) {
      cluster.born_stream = stream;
      cluster.birth_gain = first.birth_gain;
      cluster.birth_rows = sum;
      cluster.provisional = announced ? 0 : 1;
      change_[changes++] = {
          .what = announced ? ClusterChange::What::kBorn : ClusterChange::What::kNoticed,
          .id = cluster.id,
          .other = cluster.parent,
          .gain = cluster.birth_gain,
          .rows = sum};
    }
  }
  for (Index k = 0; k < components_; ++k) info_[k].cluster = owner_[group[k]];
  return {change_, changes};
}

}  // namespace adapvae

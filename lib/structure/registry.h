// What is known of every component of the mixture apart from its statistics: its id, its history,
// and the cluster that it belongs to.
//
// Users see clusters (structure/cluster_table.h): one component, or several whose rows cannot be
// told apart. Components come, merge and go as the evidence bound says; clusters follow them when a
// block closes (regroup()), and keep their ids. A component gets its own id when it has lived to
// the end of its block; until then it is on trial, its id is 0 (kNoId), and it has no cluster.
//
// A few rows apart in the very first block are provisional: their cluster is not announced as a
// birth until more have joined it. They may be outliers of what is there.
#pragma once

#include <algorithm>
#include <span>

#include "structure/cluster_table.h"

namespace adapvae {

struct ComponentInfo {
  ClusterId id = kNoId;
  ClusterId cluster = kNoId;        // kNoId until its block closes
  ClusterId parent = kNoId;         // cluster out of which it was born
  std::uint64_t born_stream = 0;    // number of the block
  std::uint64_t seen_stream = 0;    // last block that gave it rows
  std::uint64_t merged_stream = 0;  // last block in which it took in another; 0 = never
  // The user's word against the evidence: components of a cluster that is to stay one, and
  // components that are not to be of one cluster (those with the same mark, not 0, of different
  // clusters). What takes in a marked component takes over the mark, unless it has its own.
  std::uint64_t kept_whole = 0;
  std::uint64_t kept_apart = 0;
  std::uint64_t provisional = 0;
  double merged_mass = 0.0;  // its mass when it last took in another
  double birth_gain = 0.0;   // of the evidence bound
  double birth_rows = 0.0;
};

// What has become of a cluster.
struct ClusterChange {
  enum class What : std::uint8_t { kBorn, kNoticed, kMerged };
  What what = What::kBorn;
  ClusterId id = kNoId;
  ClusterId other = kNoId;  // its parent, or the one that was merged into it
  double gain = 0.0;
  double rows = 0.0;
};

class ComponentRegistry {
 public:
  void place(Arena& arena, Index max_components, Index aliases);
  // One component of one cluster; both have id 1.
  void reset();

  // ---- components ----
  Index components() const { return components_; }
  ComponentInfo& info(Index k) { return info_[k]; }
  const ComponentInfo& info(Index k) const { return info_[k]; }
  // The component's number, or -1 if no living one has this id.
  Index find(ClusterId id) const;
  // The living component that holds what `id` held. Only merges since the last block or so are
  // remembered.
  ClusterId resolve(ClusterId id) const { return find(id) >= 0 ? id : aliases_.resolve(id); }

  // ---- clusters ----
  const ClusterTable& clusters() const { return table_; }
  ClusterTable& clusters() { return table_; }
  // Of the component, by number in clusters(); -1 for a component on trial.
  Index cluster_of(Index k) const { return table_.find(info_[k].cluster); }
  Index components_of(ClusterId cluster) const;
  // Back to what the counters had given, for ids that nobody has seen.
  struct Given {
    ClusterId components;
    ClusterId clusters;
  };
  Given given() const { return {ids_.highest(), table_.ids().highest()}; }
  void take_back(const Given& given);
  ClusterId most_given() const { return std::max(ids_.next(), table_.ids().next()); }

  // ---- in step with the mixture ----
  void add(ClusterId parent, std::uint64_t stream, double gain, double rows);  // on trial
  void publish(Index k);  // gets its id, and at the next regroup() a cluster
  // A cluster of the component's own, at once; its id.
  ClusterId found_cluster(Index k);
  // As Mixture::merge_clusters and remove_cluster: the last component takes the lost one's number.
  // merge() returns the cluster that is no more because of it, which is merged into that of the
  // survivor; or kNoId.
  ClusterId merge(Index survivor, Index lost);
  void remove(Index k);
  // The component is forgotten and a new one, of a new cluster, has its number.
  void replace_by_new(Index k, std::uint64_t stream);
  // What is there now is something else and outnumbers what was: a new component id. If it was its
  // cluster's only component it founds a new one, for which the old id stands, too (true);
  // otherwise it has none until the next regroup().
  bool succeed(Index k, std::uint64_t stream);
  // All components of `other` belong to `cluster`, and `other` is no more.
  void join(ClusterId cluster, ClusterId other);

  // group [components]: for every component the number of one that stands for its group. Groups
  // become clusters. A cluster continues where most of its rows (rows [components]) are. Where
  // several continue in one group they are merged: what was announced comes before what was not,
  // what has a name before what has none, then the one with most rows. A group in which no cluster
  // continues is a new cluster.
  std::span<const ClusterChange> regroup(const Index* group, const double* rows,
                                         std::uint64_t stream);

  static std::size_t most_bytes(Index max_components, Index aliases);
  void save(ByteWriter& writer) const;
  // Of any format.
  Status load(ByteReader& reader, Index components);
  bool sound() const;  // as ClusterLearner::sound()

 private:
  static Index alias_room(Index max_components) { return 2 * max_components + 64; }
  bool outranks(Index c, Index other, const double* share) const;
  void find_heirs(const Index* group, const double* rows);
  void end_merged(std::size_t& changes);
  void write(const ComponentInfo& info, ByteWriter& writer) const;
  bool read(ByteReader& reader, ComponentInfo& info);
  bool fits(Index k, ClusterId next_cluster) const;
  bool load_components(ByteReader& reader, Index components);
  bool load_format_1(ByteReader& reader, Index components, ClusterId next);

  Index max_components_ = 0;
  Index components_ = 0;
  IdCounter ids_;
  ComponentInfo* info_ = nullptr;  // [K]
  AliasTable aliases_;             // of components
  ClusterTable table_;
  Index* heir_ = nullptr;            // [K] scratch: group in which a cluster continues
  double* share_ = nullptr;          // [K] scratch
  ClusterId* owner_ = nullptr;       // [K] scratch: cluster of a group
  ClusterChange* change_ = nullptr;  // [2K]
};

}  // namespace adapvae

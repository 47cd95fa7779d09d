// Clusters as users count them: ids, names and history, and what became of those that are no more.
//
// A cluster is one component of the mixture, or several whose rows cannot be told apart
// (structure/grouping.h). Which components belong to which cluster is the registry's business
// (structure/registry.h). An id is a number from 1, given once and never used for another cluster.
// resolve() answers for ids of clusters that were merged: a dead id always points straight at a
// living cluster, or at none if the user had it forgotten.
#pragma once

#include "structure/alias_table.h"

namespace adapvae {

struct Cluster {
  static constexpr Index kNameBytes = 32;  // with the final zero

  ClusterId id = kNoId;
  ClusterId parent = kNoId;       // cluster out of which it was born
  std::uint64_t born_stream = 0;  // number of the block
  std::uint64_t provisional = 0;  // 1: a few rows of the first block, not announced yet
  double birth_gain = 0.0;        // of the evidence bound
  double birth_rows = 0.0;
  char name[kNameBytes] = {};
};

class ClusterTable {
 public:
  void place(Arena& arena, Index most_clusters, Index aliases);
  void reset();

  Index count() const { return count_; }
  Cluster& operator[](Index c) { return cluster_[c]; }
  const Cluster& operator[](Index c) const { return cluster_[c]; }
  Index find(ClusterId id) const;  // -1: no living cluster has it
  // The living cluster that holds what `id` held; kNoId if there is none or nobody remembers.
  ClusterId resolve(ClusterId id) const { return find(id) >= 0 ? id : aliases_.resolve(id); }
  IdCounter& ids() { return ids_; }
  const IdCounter& ids() const { return ids_; }

  // A new cluster; its id, which the caller's is not.
  ClusterId add(const Cluster& cluster);
  // The cluster is no more, and a new one, for which its id stands, has its place; the new id.
  ClusterId replace(ClusterId old, const Cluster& cluster);
  // The cluster is no more; what it held is held by `heir` (kNoId: by none). An heir without a name
  // takes that of the other.
  void end(ClusterId dead, ClusterId heir);

  static std::size_t most_bytes(Index most_clusters, Index aliases);
  void save(ByteWriter& writer) const;
  bool load(ByteReader& reader);
  bool sound() const;  // whether load() takes what save() writes

  // ---- for files of format 1, in which each component had an id of its own ----
  void load_nothing(ClusterId next);
  bool add_known(const Cluster& cluster);  // with its id; false if it is not a cluster
  void bury(ClusterId dead, ClusterId heir) { aliases_.bury(dead, heir); }

 private:
  static constexpr Index kBytes = 6 * 8 + Cluster::kNameBytes;  // of a cluster

  static bool possible(const Cluster& cluster, ClusterId next);

  Index most_ = 0;
  Index count_ = 0;
  IdCounter ids_;
  Cluster* cluster_ = nullptr;  // [most]
  AliasTable aliases_;
};

}  // namespace adapvae

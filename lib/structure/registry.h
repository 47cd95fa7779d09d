// Who is who: ids, names and lineage of clusters, and what became of those that are no more.
//
// An id is a number from 1, given once, when a newborn has lived to the end of its stream,
// and never used again; only if a correction that gave one is undone, and the state saved and
// loaded before the next birth, can it come again. While a newborn is on trial its id is 0 (kNoId).
// A handful of rows apart in the very first stream have an id but are provisional, not announced as
// a birth until more have joined them: they may be strays of what is there.
//
// resolve() answers for the last `aliases` clusters that were merged away, however many merges came
// between: a dead id always points straight at a living cluster (or at none, if the user had it
// forgotten), because every merge redirects all that pointed at the one that died. Memory is
// bounded, so the ids that were born first are dropped first when the table is full.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

using ClusterId = std::uint32_t;
constexpr ClusterId kNoId = 0;
// A birth a second for 68 years.
constexpr ClusterId kMostIds = ClusterId{1} << 31;

struct ClusterInfo {
  static constexpr Index kNameBytes = 32;  // with the final zero

  ClusterId id = kNoId;
  ClusterId parent = kNoId;         // out of which it was born
  ClusterId kind = kNoId;           // the lowest id of a cluster of its kind
  std::uint64_t born_stream = 0;    // number of the stream
  std::uint64_t seen_stream = 0;    // last stream that gave it rows
  std::uint64_t merged_stream = 0;  // last stream in which it took in another; 0 = never
  // The user's word against the bound's: a cluster that is to stay one, and pieces (those with the
  // same mark, not 0) that are to stay apart. What takes in a marked one takes over the mark,
  // unless it has its own.
  std::uint64_t kept_whole = 0;
  std::uint64_t kept_apart = 0;
  std::uint64_t provisional = 0;  // 1: not announced yet
  double merged_mass = 0.0;       // its mass when it last took in another
  double birth_gain = 0.0;        // what the bound gained by its birth
  double birth_rows = 0.0;
  char name[kNameBytes] = {};
};

class ClusterRegistry {
 public:
  void place(Arena& arena, Index max_clusters, Index aliases);
  // One cluster, which has id 1.
  void reset();

  Index clusters() const { return clusters_; }
  ClusterInfo& info(Index k) { return info_[k]; }
  const ClusterInfo& info(Index k) const { return info_[k]; }
  // The cluster's number, or -1 if no living cluster has this id.
  Index find(ClusterId id) const;
  // Its kind: the lowest id of the living clusters that are of it, perhaps its own.
  ClusterId kind(Index k) const { return info_[k].kind != kNoId ? info_[k].kind : info_[k].id; }
  // The living cluster that holds what `id` held; kNoId if there is none or nobody remembers.
  ClusterId resolve(ClusterId id) const;
  std::uint64_t ids_given() const { return next_id_ - 1; }
  // The highest that this object ever gave, those that undo took back included; and back to it, for
  // ids that nobody has seen.
  ClusterId highest_given() const { return highest_given_; }
  void take_back(ClusterId highest) { highest_given_ = highest; }

  // ---- in step with the mixture ----
  void add(ClusterId parent, std::uint64_t stream, double gain, double rows);  // on trial
  void publish(Index k);                                                       // gets its id
  // kind [clusters]: for every cluster the number of one that stands for its kind.
  void set_kinds(const Index* kind);
  // As Mixture::merge_clusters and remove_cluster: the last cluster takes the lost one's number.
  void merge(Index survivor, Index lost);
  void remove(Index k);
  void replace_by_new(Index k, std::uint64_t stream);  // a new id for what is there now
  // Another kind came to cluster k's place and outnumbers it: a new id, for which the old one
  // stands, too.
  void succeed(Index k, std::uint64_t stream);

  static std::size_t most_bytes(Index max_clusters, Index aliases);
  void save(ByteWriter& writer) const;
  Status load(ByteReader& reader, Index clusters);
  bool sound() const;  // as ClusterLearner::sound()

 private:
  struct Alias {
    ClusterId dead;
    ClusterId lives;
  };
  static ClusterId read_id(ByteReader& reader);
  void bury(ClusterId dead, ClusterId lives);
  void name_kinds();

  Index max_clusters_ = 0;
  Index max_aliases_ = 0;
  Index clusters_ = 0;
  Index aliases_ = 0;
  ClusterId next_id_ = 1;
  ClusterId highest_given_ = 0;  // by this object: an undone correction's id is not given again
  ClusterInfo* info_ = nullptr;  // [K]
  Alias* alias_ = nullptr;       // [aliases] by dead id, ascending
};

}  // namespace adapvae

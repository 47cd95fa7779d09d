#include "structure/registry.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/bounds.h"
#include "base/utf8.h"

namespace adapvae {

void ClusterRegistry::place(Arena& arena, Index max_clusters, Index aliases) {
  max_clusters_ = max_clusters;
  max_aliases_ = aliases;
  info_ = arena.take<ClusterInfo>(static_cast<std::size_t>(max_clusters));
  alias_ = arena.take<Alias>(static_cast<std::size_t>(aliases));
}

void ClusterRegistry::reset() {
  clusters_ = 0;
  aliases_ = 0;
  next_id_ = 1;
  highest_given_ = 0;
  add(kNoId, 0, 0.0, 0.0);
  publish(0);
}

Index ClusterRegistry::find(ClusterId id) const {
  if (id == kNoId) return -1;
  for (Index k = 0; k < clusters_; ++k) {
    if (info_[k].id == id) return k;
  }
  return -1;
}

ClusterId ClusterRegistry::resolve(ClusterId id) const {
  if (find(id) >= 0) return id;
  const Alias* begin = alias_;
  const Alias* end = alias_ + aliases_;
  const Alias* at =
      std::lower_bound(begin, end, id, [](const Alias& a, ClusterId b) { return a.dead < b; });
  return at != end && at->dead == id ? at->lives : kNoId;
}

void ClusterRegistry::set_kinds(const Index* kind) {
  for (Index k = 0; k < clusters_; ++k) info_[k].kind = info_[kind[k]].id;
  name_kinds();
}

// Clusters of one kind have one mark, which may be anything that no other kind has: the lowest id
// among them takes its place.
void ClusterRegistry::name_kinds() {
  for (Index k = 0; k < clusters_; ++k) {
    const ClusterId mark = info_[k].kind;
    if (mark == kNoId) continue;
    ClusterId lowest = info_[k].id;
    for (Index j = 0; j < clusters_; ++j) {
      if (info_[j].kind == mark) lowest = std::min(lowest, info_[j].id);
    }
    if (lowest == mark) continue;
    for (Index j = 0; j < clusters_; ++j) {
      if (info_[j].kind == mark) info_[j].kind = lowest;
    }
  }
}

void ClusterRegistry::add(ClusterId parent, std::uint64_t stream, double gain, double rows) {
  ClusterInfo& info = info_[clusters_++];
  info = ClusterInfo{};
  info.parent = parent;
  info.born_stream = stream;
  info.seen_stream = stream;
  info.birth_gain = gain;
  info.birth_rows = rows;
}

void ClusterRegistry::publish(Index k) {
  if (info_[k].id != kNoId) return;
  next_id_ = std::max(next_id_, highest_given_ + 1);
  highest_given_ = next_id_;
  info_[k].id = next_id_++;
  info_[k].kind = info_[k].id;
}

void ClusterRegistry::bury(ClusterId dead, ClusterId lives) {
  for (Index i = 0; i < aliases_; ++i) {
    if (alias_[i].lives == dead) alias_[i].lives = lives;
  }
  if (dead == kNoId || max_aliases_ == 0) return;
  if (aliases_ == max_aliases_) {
    if (dead < alias_[0].dead) return;  // itself the oldest
    std::copy(alias_ + 1, alias_ + aliases_, alias_);
    --aliases_;
  }
  Index at = aliases_++;
  for (; at > 0 && alias_[at - 1].dead > dead; --at) alias_[at] = alias_[at - 1];
  alias_[at] = {dead, lives};
}

void ClusterRegistry::merge(Index survivor, Index lost) {
  ClusterInfo& kept = info_[survivor];
  const ClusterInfo& gone = info_[lost];
  const bool whole = kept.kept_whole != 0 || gone.kept_whole != 0;
  const std::uint64_t apart = kept.kept_apart != 0 ? kept.kept_apart : gone.kept_apart;
  // Two kinds that share a cluster are one.
  const ClusterId joined = kept.kind != kNoId ? kept.kind : gone.kind;
  for (Index k = 0; k < clusters_ && gone.kind != kNoId; ++k) {
    if (k != lost && info_[k].kind == gone.kind) info_[k].kind = joined;
  }
  // An id that has been seen outside stays with its rows: a newborn's story ends in an old cluster,
  // a provisional one's in one that was announced.
  const auto standing = [](const ClusterInfo& info) {
    return info.id == kNoId ? 0 : info.provisional != 0 ? 1 : 2;
  };
  if (standing(kept) < standing(gone)) {
    const std::uint64_t seen = std::max(kept.seen_stream, gone.seen_stream);
    const ClusterId dead = kept.id;
    kept = gone;
    kept.seen_stream = seen;
    if (dead != kNoId) bury(dead, kept.id);
  } else {
    if (kept.name[0] == '\0') std::copy_n(gone.name, ClusterInfo::kNameBytes, kept.name);
    kept.seen_stream = std::max(kept.seen_stream, gone.seen_stream);
    if (gone.id != kNoId) bury(gone.id, kept.id);
  }
  kept.kept_whole = whole ? 1 : 0;
  if (kept.kept_apart == 0) kept.kept_apart = apart;
  kept.kind = joined;
  info_[lost] = info_[clusters_ - 1];
  --clusters_;
  name_kinds();
}

void ClusterRegistry::remove(Index k) {
  bury(info_[k].id, kNoId);
  info_[k] = info_[clusters_ - 1];
  --clusters_;
  name_kinds();
}

void ClusterRegistry::replace_by_new(Index k, std::uint64_t stream) {
  bury(info_[k].id, kNoId);
  info_[k] = ClusterInfo{};
  info_[k].born_stream = stream;
  info_[k].seen_stream = stream;
  publish(k);
}

void ClusterRegistry::succeed(Index k, std::uint64_t stream) {
  ClusterInfo& info = info_[k];
  info.parent = info.id;
  info.born_stream = stream;
  info.id = kNoId;
  publish(k);
  bury(info.parent, info.id);
  name_kinds();
}

std::size_t ClusterRegistry::most_bytes(Index max_clusters, Index aliases) {
  constexpr Index kInfo = 12 * 8 + ClusterInfo::kNameBytes;
  return static_cast<std::size_t>(12 + kInfo * max_clusters + 16 * aliases);
}

void ClusterRegistry::save(ByteWriter& writer) const {
  writer.write_u64(next_id_);
  for (Index k = 0; k < clusters_; ++k) {
    const ClusterInfo& info = info_[k];
    for (const std::uint64_t value :
         {std::uint64_t{info.id}, std::uint64_t{info.parent}, info.born_stream, info.seen_stream,
          info.merged_stream, info.kept_whole, info.kept_apart, info.provisional,
          std::uint64_t{info.kind}}) {
      writer.write_u64(value);
    }
    for (const double value : {info.merged_mass, info.birth_gain, info.birth_rows}) {
      writer.write_f64(value);
    }
    writer.write_bytes(info.name, ClusterInfo::kNameBytes);
  }
  writer.write_u32(static_cast<std::uint32_t>(aliases_));
  for (Index i = 0; i < aliases_; ++i) {
    writer.write_u64(alias_[i].dead);
    writer.write_u64(alias_[i].lives);
  }
}

// Files have more room for ids than there are; what no model gave fails the checks below.
ClusterId ClusterRegistry::read_id(ByteReader& reader) {
  return static_cast<ClusterId>(std::min<std::uint64_t>(reader.read_u64(), kMostIds + 1));
}

Status ClusterRegistry::load(ByteReader& reader, Index clusters) {
  const Status bad = {StatusCode::kCorruptData, "cluster registry does not parse"};
  next_id_ = read_id(reader);
  if (next_id_ > kMostIds) return bad;
  clusters_ = clusters;
  for (Index k = 0; k < clusters; ++k) {
    ClusterInfo& info = info_[k];
    info.id = read_id(reader);
    info.parent = read_id(reader);
    for (std::uint64_t* value : {&info.born_stream, &info.seen_stream, &info.merged_stream,
                                 &info.kept_whole, &info.kept_apart, &info.provisional}) {
      *value = reader.read_u64();
    }
    info.kind = read_id(reader);
    for (double* value : {&info.merged_mass, &info.birth_gain, &info.birth_rows}) {
      *value = reader.read_f64();
    }
    reader.read_bytes(info.name, ClusterInfo::kNameBytes);
    if (info.id == kNoId || info.id >= next_id_ || info.parent >= next_id_ ||
        info.born_stream > kMostBlocks || info.seen_stream > kMostBlocks ||
        info.merged_stream > kMostBlocks || info.provisional > 1 ||
        info.name[ClusterInfo::kNameBytes - 1] != '\0' || !is_utf8(info.name)) {
      return bad;
    }
    for (Index j = 0; j < k; ++j) {
      if (info_[j].id == info.id) return bad;
    }
  }
  for (Index k = 0; k < clusters; ++k) {
    const Index lowest = find(info_[k].kind);
    if (lowest < 0 || info_[lowest].kind != info_[k].kind || info_[k].kind > info_[k].id)
      return bad;
  }
  const std::uint32_t aliases = reader.read_u32();
  if (!reader.ok() || aliases > static_cast<std::uint64_t>(max_aliases_)) return bad;
  aliases_ = static_cast<Index>(aliases);
  for (Index i = 0; i < aliases_; ++i) {
    alias_[i].dead = read_id(reader);
    alias_[i].lives = read_id(reader);
    const bool ascending = i == 0 || alias_[i - 1].dead < alias_[i].dead;
    if (!ascending || alias_[i].dead == kNoId || alias_[i].dead >= next_id_ ||
        find(alias_[i].dead) >= 0 || (alias_[i].lives != kNoId && find(alias_[i].lives) < 0)) {
      return bad;
    }
  }
  return reader.ok() && sound() ? Status() : bad;
}

bool ClusterRegistry::sound() const {
  return std::all_of(info_, info_ + clusters_, [](const ClusterInfo& info) {
    return within(info.merged_mass, kLargestNumber) && within(info.birth_gain, kLargestNumber) &&
           within(info.birth_rows, kLargestNumber);
  });
}

}  // namespace adapvae

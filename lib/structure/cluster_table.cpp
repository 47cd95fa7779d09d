#include "structure/cluster_table.h"

#include <algorithm>

#include "base/bounds.h"
#include "base/utf8.h"

namespace adapvae {

void ClusterTable::place(Arena& arena, Index most_clusters, Index aliases) {
  most_ = most_clusters;
  cluster_ = arena.take<Cluster>(static_cast<std::size_t>(most_clusters));
  aliases_.place(arena, aliases);
}

void ClusterTable::reset() {
  count_ = 0;
  ids_.reset();
  aliases_.clear();
}

Index ClusterTable::find(ClusterId id) const {
  if (id == kNoId) return -1;
  for (Index c = 0; c < count_; ++c) {
    if (cluster_[c].id == id) return c;
  }
  return -1;
}

ClusterId ClusterTable::add(const Cluster& cluster) {
  cluster_[count_] = cluster;
  cluster_[count_].id = ids_.give();
  return cluster_[count_++].id;
}

ClusterId ClusterTable::replace(ClusterId old, const Cluster& cluster) {
  const Index at = find(old);
  cluster_[at] = cluster;
  cluster_[at].id = ids_.give();
  aliases_.bury(old, cluster_[at].id);
  return cluster_[at].id;
}

void ClusterTable::end(ClusterId dead, ClusterId heir) {
  const Index at = find(dead);
  if (at < 0) return;
  const Index to = find(heir);
  if (to >= 0 && cluster_[to].name[0] == '\0') {
    std::copy_n(cluster_[at].name, Cluster::kNameBytes, cluster_[to].name);
  }
  std::copy(cluster_ + at + 1, cluster_ + count_, cluster_ + at);
  --count_;
  aliases_.bury(dead, heir);
}

// ---- persistent state ---------------------------------------------------------------------------

std::size_t ClusterTable::most_bytes(Index most_clusters, Index aliases) {
  return 12 + static_cast<std::size_t>(kBytes * most_clusters) + AliasTable::most_bytes(aliases);
}

void ClusterTable::save(ByteWriter& writer) const {
  writer.write_u64(ids_.next());
  writer.write_u32(static_cast<std::uint32_t>(count_));
  for (Index c = 0; c < count_; ++c) {
    const Cluster& cluster = cluster_[c];
    writer.write_u64(cluster.id);
    writer.write_u64(cluster.parent);
    writer.write_u64(cluster.born_stream);
    writer.write_u64(cluster.provisional);
    writer.write_f64(cluster.birth_gain);
    writer.write_f64(cluster.birth_rows);
    writer.write_bytes(cluster.name, Cluster::kNameBytes);
  }
  aliases_.save(writer);
}

bool ClusterTable::possible(const Cluster& cluster, ClusterId next) {
  return cluster.id != kNoId && cluster.id < next && cluster.parent < next &&
         cluster.born_stream <= kMostBlocks && cluster.provisional <= 1 &&
         cluster.name[Cluster::kNameBytes - 1] == '\0' && is_utf8(cluster.name);
}

bool ClusterTable::load(ByteReader& reader) {
  load_nothing(read_id(reader));
  const std::uint32_t count = reader.read_u32();
  if (!reader.ok() || ids_.next() > kMostIds || count > static_cast<std::uint64_t>(most_)) {
    return false;
  }
  for (std::uint32_t c = 0; c < count; ++c) {
    Cluster cluster;
    cluster.id = read_id(reader);
    cluster.parent = read_id(reader);
    cluster.born_stream = reader.read_u64();
    cluster.provisional = reader.read_u64();
    cluster.birth_gain = reader.read_f64();
    cluster.birth_rows = reader.read_f64();
    reader.read_bytes(cluster.name, Cluster::kNameBytes);
    if (!reader.ok() || !add_known(cluster)) return false;
  }
  return aliases_.load(reader, ids_.next(), [this](ClusterId id) { return find(id) >= 0; }) &&
         sound();
}

void ClusterTable::load_nothing(ClusterId next) {
  count_ = 0;
  aliases_.clear();
  ids_.set_next(next);
}

bool ClusterTable::add_known(const Cluster& cluster) {
  if (count_ == most_ || !possible(cluster, ids_.next()) || find(cluster.id) >= 0) return false;
  cluster_[count_++] = cluster;
  return true;
}

bool ClusterTable::sound() const {
  return std::all_of(cluster_, cluster_ + count_, [](const Cluster& cluster) {
    return within(cluster.birth_gain, kLargestNumber) && within(cluster.birth_rows, kLargestNumber);
  });
}

}  // namespace adapvae

// ComponentRegistry: persistent state.
#include <algorithm>
#include <initializer_list>

#include "base/bounds.h"
#include "base/utf8.h"
#include "structure/registry.h"

namespace adapvae {
namespace {

// What states of format 2 begin with; those of format 1 begin with an id.
constexpr std::uint64_t kFormat2 = (std::uint64_t{1} << 63) | 2;

}  // namespace

std::size_t ComponentRegistry::most_bytes(Index max_components, Index aliases) {
  return 16 + static_cast<std::size_t>(12 * 8 * max_components) +
         AliasTable::most_bytes(alias_room(max_components)) +
         ClusterTable::most_bytes(max_components, aliases);
}

void ComponentRegistry::write(const ComponentInfo& info, ByteWriter& writer) const {
  for (const std::uint64_t value :
       {std::uint64_t{info.id}, std::uint64_t{info.parent}, info.born_stream, info.seen_stream,
        info.merged_stream, info.kept_whole, info.kept_apart, info.provisional,
        std::uint64_t{info.cluster}}) {
    writer.write_u64(value);
  }
  for (const double value : {info.merged_mass, info.birth_gain, info.birth_rows}) {
    writer.write_f64(value);
  }
}

void ComponentRegistry::save(ByteWriter& writer) const {
  writer.write_u64(kFormat2);
  writer.write_u64(ids_.next());
  for (Index k = 0; k < components_; ++k) write(info_[k], writer);
  aliases_.save(writer);
  table_.save(writer);
}

// In format 1 info.cluster is the id of the component that stood for the cluster.
bool ComponentRegistry::read(ByteReader& reader, ComponentInfo& info) {
  info.id = read_id(reader);
  info.parent = read_id(reader);
  for (std::uint64_t* value : {&info.born_stream, &info.seen_stream, &info.merged_stream,
                               &info.kept_whole, &info.kept_apart, &info.provisional}) {
    *value = reader.read_u64();
  }
  info.cluster = read_id(reader);
  for (double* value : {&info.merged_mass, &info.birth_gain, &info.birth_rows}) {
    *value = reader.read_f64();
  }
  return reader.ok();
}

// Component k, of which those before are known.
bool ComponentRegistry::fits(Index k, ClusterId next_cluster) const {
  const ComponentInfo& info = info_[k];
  if (info.id == kNoId || info.id >= ids_.next() || info.parent >= next_cluster ||
      info.born_stream > kMostBlocks || info.seen_stream > kMostBlocks ||
      info.merged_stream > kMostBlocks || info.provisional > 1) {
    return false;
  }
  return std::none_of(info_, info_ + k,
                      [&info](const ComponentInfo& other) { return other.id == info.id; });
}

bool ComponentRegistry::load_components(ByteReader& reader, Index components) {
  ids_.set_next(read_id(reader));
  components_ = components;
  for (Index k = 0; k < components; ++k) {
    if (!read(reader, info_[k]) || !fits(k, kMostIds)) return false;
  }
  if (ids_.next() > kMostIds ||
      !aliases_.load(reader, ids_.next(), [this](ClusterId id) { return find(id) >= 0; }) ||
      !table_.load(reader)) {
    return false;
  }
  for (Index k = 0; k < components; ++k) {
    if (cluster_of(k) < 0 || info_[k].parent >= table_.ids().next()) return false;
  }
  for (Index c = 0; c < table_.count(); ++c) {
    if (components_of(table_[c].id) == 0) return false;
  }
  return true;
}

// Every component had an id, and a kind the lowest id of its components. A kind becomes a cluster
// of that id, for which the ids of its other components stand.
bool ComponentRegistry::load_format_1(ByteReader& reader, Index components, ClusterId next) {
  ids_.set_next(next);
  table_.load_nothing(next);
  components_ = components;
  for (Index k = 0; k < components; ++k) {
    Cluster cluster;
    if (!read(reader, info_[k]) || !fits(k, next)) return false;
    reader.read_bytes(cluster.name, Cluster::kNameBytes);
    if (cluster.name[Cluster::kNameBytes - 1] != '\0' || !is_utf8(cluster.name)) return false;
    const ComponentInfo& info = info_[k];
    cluster.id = info.id;
    cluster.parent = info.parent;
    cluster.born_stream = info.born_stream;
    cluster.provisional = info.provisional;
    cluster.birth_gain = info.birth_gain;
    cluster.birth_rows = info.birth_rows;
    if (!table_.add_known(cluster)) return false;
  }
  const std::uint32_t aliases = reader.read_u32();
  ClusterId last = kNoId;
  for (std::uint32_t i = 0; i < aliases; ++i) {
    const ClusterId dead = read_id(reader);
    const ClusterId heir = read_id(reader);
    if (!reader.ok() || dead <= last || dead >= next || find(dead) >= 0 ||
        (heir != kNoId && find(heir) < 0)) {
      return false;
    }
    table_.bury(dead, heir);
    last = dead;
  }
  for (Index k = 0; k < components; ++k) {
    const Index lowest = find(info_[k].cluster);
    if (lowest < 0 || info_[lowest].cluster != info_[k].cluster || info_[k].cluster > info_[k].id) {
      return false;
    }
  }
  for (Index k = 0; k < components; ++k) {
    if (info_[k].cluster != info_[k].id) table_.end(info_[k].id, info_[k].cluster);
  }
  return reader.ok();
}

Status ComponentRegistry::load(ByteReader& reader, Index components) {
  const Status bad = {StatusCode::kCorruptData, "component registry does not parse"};
  aliases_.clear();
  ByteReader start = reader;
  if (start.read_u64() == kFormat2) {
    reader = start;
    if (!load_components(reader, components)) return bad;
  } else {
    const ClusterId next = read_id(reader);
    if (next > kMostIds || !load_format_1(reader, components, next)) return bad;
  }
  return reader.ok() && sound() ? Status() : bad;
}

bool ComponentRegistry::sound() const {
  return table_.sound() && std::all_of(info_, info_ + components_, [](const ComponentInfo& info) {
           return within(info.merged_mass, kLargestNumber) &&
                  within(info.birth_gain, kLargestNumber) &&
                  within(info.birth_rows, kLargestNumber);
         });
}

}  // namespace adapvae

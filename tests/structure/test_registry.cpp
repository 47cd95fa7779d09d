// Ids, names and what became of clusters, beside a naive map that is kept by the test.
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include "base/philox.h"
#include "structure/registry.h"

using namespace adapvae;

namespace {

using Bytes = std::vector<std::uint8_t>;

struct alignas(Arena::kAlignment) Block {
  std::byte byte[Arena::kAlignment];
};

struct Placed {
  Placed(Index max_clusters, Index aliases) : clusters(max_clusters), table(aliases) {
    const auto place = [&](Arena& a) { registry.place(a, max_clusters, aliases); };
    const std::size_t bytes = planned_bytes(place);
    memory.resize(bytes / sizeof(Block) + 1);
    std::memset(memory.data(), 0xFF, bytes);
    Arena arena(memory.data(), bytes);
    place(arena);
    registry.reset();
  }

  // A published newborn with a cluster of its own, whose id it is; its component has the same.
  ClusterId born() {
    registry.add(kNoId, 1, 2.0, 3.0);
    registry.publish(registry.components() - 1);
    const ClusterId id = registry.found_cluster(registry.components() - 1);
    CHECK(registry.info(registry.components() - 1).id == id);
    return id;
  }
  // The only component of a cluster.
  Index number(ClusterId id) const {
    Index k = 0;
    while (registry.info(k).cluster != id) ++k;
    return k;
  }
  void merge_ids(ClusterId survivor, ClusterId lost) {
    registry.merge(number(survivor), number(lost));
  }
  Cluster& cluster(Index k) { return registry.clusters()[registry.cluster_of(k)]; }
  void name(Index k, const char* text) {
    std::snprintf(cluster(k).name, Cluster::kNameBytes, "%s", text);
  }
  std::string name(Index k) { return cluster(k).name; }
  ClusterId resolve(ClusterId id) const { return registry.clusters().resolve(id); }
  ClusterId given() const { return registry.clusters().ids().next() - 1; }
  Bytes saved() const {
    Bytes bytes(ComponentRegistry::most_bytes(clusters, table));
    ByteWriter writer(bytes.data(), bytes.size());
    registry.save(writer);
    REQUIRE(writer.ok());
    bytes.resize(writer.position());
    return bytes;
  }
  StatusCode load(const Bytes& bytes, Index count) {
    ByteReader reader(bytes.data(), bytes.size());
    return registry.load(reader, count).code();
  }

  Index clusters, table;
  ComponentRegistry registry;
  std::vector<Block> memory;
};

// What should be: the id of every cluster by number, and where every id that ever was lives now.
struct Naive {
  std::vector<ClusterId> number = {1};
  std::map<ClusterId, ClusterId> lives = {{1, 1}};

  // All that lived in `dead` lives in `heir`.
  void bury(ClusterId dead, ClusterId heir) {
    for (auto& [id, at] : lives) {
      if (at == dead) at = heir;
    }
  }
  void remove(Index k, ClusterId heir) {
    bury(number[k], heir);
    number[k] = number.back();
    number.pop_back();
  }
};

void check_same(const ComponentRegistry& registry, const Naive& naive) {
  REQUIRE(registry.components() == static_cast<Index>(naive.number.size()));
  REQUIRE(registry.clusters().count() == registry.components());
  for (Index k = 0; k < registry.components(); ++k) {
    REQUIRE(registry.info(k).cluster == naive.number[k]);
  }
  for (const auto& [id, at] : naive.lives) REQUIRE(registry.clusters().resolve(id) == at);
}

// Three clusters with names, two aliases and a removed one.
void live(Placed& placed) {
  for (int i = 0; i < 5; ++i) placed.born();
  placed.name(0, "first");
  placed.name(3, "a name of just thirty-one bytes");
  placed.registry.info(2).merged_stream = 12;
  placed.registry.info(2).merged_mass = 0.125;
  placed.merge_ids(4, 2);
  placed.merge_ids(1, 5);
  placed.registry.remove(placed.number(3));
}

// Where things are in what live() saves: three components, three aliases of components, the table
// of three clusters and three aliases of them.
constexpr std::size_t kComponents = 8 + 8;
constexpr std::size_t kComponent = 12 * 8;
constexpr std::size_t kComponentAliases = kComponents + 3 * kComponent;
constexpr std::size_t kTable = kComponentAliases + 4 + 3 * 16;
constexpr std::size_t kClusters = kTable + 8 + 4;
constexpr std::size_t kCluster = 6 * 8 + Cluster::kNameBytes;
constexpr std::size_t kAliases = kClusters + 3 * kCluster;

// A state of format 1: a component of a kind, with a name.
void write_format_1(ByteWriter& writer, ClusterId id, ClusterId kind, const char* name) {
  for (const std::uint64_t value :
       {std::uint64_t{id}, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{0},
        std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{0}, std::uint64_t{kind}}) {
    writer.write_u64(value);
  }
  for (const double value : {0.0, 2.5, 30.0}) writer.write_f64(value);
  char text[Cluster::kNameBytes] = {};
  std::snprintf(text, sizeof(text), "%s", name);
  writer.write_bytes(text, sizeof(text));
}

}  // namespace

TEST_CASE("a new registry knows one cluster, and newborns have no id until published") {
  Placed placed(4, 4);
  ComponentRegistry& registry = placed.registry;
  CHECK(registry.info(0).id == 1);
  registry.add(1, 9, 4.5, 12.0);
  CHECK(registry.info(1).id == kNoId);
  CHECK(registry.info(1).parent == 1);
  CHECK(registry.info(1).birth_gain == 4.5);
  CHECK(registry.find(kNoId) == -1);
  CHECK(registry.resolve(kNoId) == kNoId);
  registry.publish(1);
  registry.publish(1);  // once and for all
  CHECK(registry.info(1).id == 2);
  CHECK(registry.cluster_of(1) == -1);
  CHECK(registry.found_cluster(1) == 2);
  CHECK(placed.given() == 2);
  // One that never lived long enough takes no id with it.
  registry.add(2, 10, 1.0, 1.0);
  registry.remove(2);
  registry.add(kNoId, 11, 0.0, 0.0);
  registry.publish(2);
  CHECK(registry.info(2).id == 3);
}

TEST_CASE("every id resolves after a thousand merges and many removals; none is given twice") {
  Philox random({.seed = 91});
  Placed placed(16, 5000);
  ComponentRegistry& registry = placed.registry;
  Naive naive;
  const auto given = [&](ClusterId id) {
    REQUIRE(id == naive.lives.size() + 1);
    naive.lives[id] = id;
  };
  for (int merges = 0; merges < 1000;) {
    const Index count = registry.components();
    const std::uint32_t what = count < 3 ? 0 : random.below(10);
    const Index k = random.below(static_cast<std::uint32_t>(count));
    if (what < 5 && count < 16) {
      naive.number.push_back(placed.born());
      given(naive.number.back());
    } else if (what < 8) {
      const Index other = (k + 1 + random.below(static_cast<std::uint32_t>(count - 1))) % count;
      naive.remove(other, naive.number[k]);
      registry.merge(k, other);
      if (++merges % 50 == 0) check_same(registry, naive);
    } else if (what == 8) {
      naive.remove(k, kNoId);
      registry.remove(k);
    } else {
      registry.replace_by_new(k, 77);
      naive.bury(naive.number[k], kNoId);
      naive.number[k] = registry.info(k).cluster;
      given(registry.info(k).cluster);
    }
  }
  check_same(registry, naive);
  CHECK(placed.given() == naive.lives.size());
}

TEST_CASE("a full table drops those that were born first") {
  Philox random({.seed = 92});
  for (const std::size_t room : {0UL, 1UL, 5UL}) {
    CAPTURE(room);
    Placed placed(40, static_cast<Index>(room));
    std::vector<ClusterId> living = {1};
    for (int i = 0; i < 39; ++i) living.push_back(placed.born());
    std::set<ClusterId> remembered;
    Naive naive;
    while (living.size() > 2) {
      const std::size_t at = 1 + random.below(static_cast<std::uint32_t>(living.size() - 1));
      const ClusterId lost = living[at];
      const ClusterId heir = living[random.below(static_cast<std::uint32_t>(at))];
      living.erase(living.begin() + static_cast<std::ptrdiff_t>(at));
      placed.merge_ids(heir, lost);
      naive.lives[lost] = lost;
      naive.bury(lost, heir);
      remembered.insert(lost);
      if (remembered.size() > room) remembered.erase(remembered.begin());
      for (const auto& [id, at_last] : naive.lives) {
        const bool known = id == at_last || remembered.count(id) != 0;
        REQUIRE(placed.resolve(id) == (known ? at_last : kNoId));
      }
    }
  }
}

TEST_CASE("names and times follow merges; the survivor's own name stays") {
  Placed placed(4, 4);
  ComponentRegistry& registry = placed.registry;
  placed.born();
  placed.born();
  placed.name(1, "otters");
  placed.name(2, "weasels");
  registry.info(1).seen_stream = 8;
  placed.merge_ids(1, 2);
  CHECK(placed.name(0) == "otters");
  CHECK(placed.number(3) == 1);  // the last took the lost one's number
  CHECK(placed.name(1) == "weasels");
  placed.merge_ids(1, 3);
  CHECK(placed.name(0) == "otters");
  CHECK(registry.info(0).seen_stream == 8);
}

TEST_CASE("a survivor on trial takes the published id") {
  Placed placed(4, 4);
  ComponentRegistry& registry = placed.registry;
  const ClusterId known = placed.born();
  placed.name(1, "known");
  registry.info(1).seen_stream = 3;
  const ClusterId older = placed.born();
  placed.merge_ids(known, older);  // resolves to known from now on
  registry.add(known, 6, 5.0, 5.0);
  registry.merge(2, 1);
  // The newborn was the last and has taken number 1.
  CHECK(registry.info(1).cluster == known);
  CHECK(placed.name(1) == "known");
  CHECK(registry.info(1).seen_stream == 6);
  CHECK(placed.resolve(known) == known);
  CHECK(placed.resolve(older) == known);
  // Two on trial: still on trial, and nothing is buried.
  registry.add(1, 7, 0.0, 0.0);
  registry.add(1, 7, 0.0, 0.0);
  registry.merge(2, 3);
  CHECK(registry.info(2).id == kNoId);
  registry.merge(0, 2);  // lost on trial: no trace
  CHECK(registry.info(0).id == 1);
  CHECK(placed.given() == older);
}

TEST_CASE("what was announced keeps its id against what is provisional, heavier or not") {
  Placed placed(6, 8);
  ComponentRegistry& registry = placed.registry;
  const ClusterId handful = placed.born();
  registry.info(1).provisional = 1;
  registry.merge(1, 0);  // the provisional one is the survivor by number
  REQUIRE(registry.components() == 1);
  REQUIRE(registry.clusters().count() == 1);
  CHECK(registry.info(0).id == 1);
  CHECK(registry.info(0).provisional == 0);
  CHECK(placed.resolve(handful) == 1);
}

TEST_CASE("a registry is saved and loaded exactly") {
  Placed one(6, 8);
  live(one);
  const Bytes bytes = one.saved();
  REQUIRE(bytes.size() == kAliases + 4 + 3 * 16);
  Placed other(6, 8);
  other.born();
  REQUIRE(other.load(bytes, 3) == StatusCode::kOk);
  CHECK(other.saved() == bytes);
  for (ClusterId id = 0; id < 9; ++id) {
    CHECK(other.resolve(id) == one.resolve(id));
    CHECK(other.registry.resolve(id) == one.registry.resolve(id));
  }
  CHECK(one.resolve(2) == 4);
  // Full in every respect: still within the promised bytes.
  Placed full(6, 3);
  for (int i = 0; i < 5; ++i) full.born();
  for (int i = 0; i < 100; ++i) full.registry.replace_by_new(i % 6, 2);
  CHECK(full.saved().size() <= ComponentRegistry::most_bytes(6, 3));
}

TEST_CASE("bytes that are no registry are refused") {
  Placed one(6, 8);
  live(one);
  const Bytes good = one.saved();
  Placed other(6, 8);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(other.load({good.begin(), good.begin() + size}, 3) == StatusCode::kCorruptData);
  }
  const std::size_t second = kComponents + kComponent;
  const std::size_t third = kComponents + 2 * kComponent;
  const std::tuple<std::size_t, std::uint64_t, const char*> wrong[] = {
      {0, 3, "another format"},
      {8, 3, "a component's id that has not been given"},
      {second, 0, "nobody's id"},
      {second, 1, "an id twice"},
      {second, 7, "an id still to be given"},
      {second + 8, 7, "out of a cluster still to be born"},
      {second + 56, 2, "provisional, or what?"},
      {second + 64, 7, "of a cluster still to be born"},
      {second + 64, 2, "of a cluster that is no more"},
      {second + 64, 1, "of another's cluster, so that one has no component"},
      {third + 72, 0x7FF8000000000000U, "NaN mass"},
      {third + 80, 0x7FF0000000000000U, "infinite gain"},
      {third + 88, 0xFFF0000000000000U, "infinite rows"},
      {kComponentAliases + 4, 1, "a component dead, and lives"},
      {kTable, 3, "a cluster's id that has not been given"},
      {kClusters + kCluster, 1, "a cluster twice"},
      {kClusters + kCluster, 3, "a cluster that is dead"},
      {kClusters + 8, 7, "a parent still to be born"},
      {kClusters + 24, 2, "a cluster provisional, or what?"},
      {kClusters + 32, 0x7FF8000000000000U, "NaN gain"},
      {kClusters + 72, ~std::uint64_t{0}, "a name without end"},
      {kAliases + 4, 1, "dead, and lives"},
      {kAliases + 4, 3, "dead twice"},
      {kAliases + 4, 5, "not ascending"},
      {kAliases + 36, 9, "dead, and never born"},
      {kAliases + 12, 3, "leads to a dead one"},
  };
  for (const auto& w : wrong) {
    INFO(std::get<2>(w));
    Bytes bytes = good;
    ByteWriter(bytes.data() + std::get<0>(w), 8).write_u64(std::get<1>(w));
    CHECK(other.load(bytes, 3) == StatusCode::kCorruptData);
  }
  Placed small(6, 2);
  CHECK(small.load(good, 3) == StatusCode::kCorruptData);  // more aliases than fit
  // Counts that are a negative number where Index has 32 bits.
  for (const std::size_t at : {kComponentAliases, kTable + 8, kAliases}) {
    for (const std::uint32_t count : {0x80000000U, 0x80000002U, 0xFFFFFFFFU}) {
      CAPTURE(at);
      CAPTURE(count);
      Bytes bytes = good;
      ByteWriter(bytes.data() + at, 4).write_u32(count);
      CHECK(other.load(bytes, 3) == StatusCode::kCorruptData);
    }
  }
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    CAPTURE(bit);
    Bytes bytes = good;
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    if (other.load(bytes, 3) != StatusCode::kOk) continue;
    bytes.resize(other.saved().size());  // with fewer aliases the rest is left unread
    REQUIRE(other.saved() == bytes);
  }
}

TEST_CASE("a registry of format 1: kinds become clusters, and every id still leads somewhere") {
  Bytes bytes(2000);
  ByteWriter writer(bytes.data(), bytes.size());
  writer.write_u64(9);  // the next id
  write_format_1(writer, 1, 1, "");
  write_format_1(writer, 5, 1, "pump");  // the same kind
  write_format_1(writer, 7, 7, "fan");
  writer.write_u32(2);
  writer.write_u64(2), writer.write_u64(5);
  writer.write_u64(3), writer.write_u64(0);  // forgotten
  bytes.resize(writer.position());
  Placed placed(6, 8);
  REQUIRE(placed.load(bytes, 3) == StatusCode::kOk);
  REQUIRE(placed.registry.clusters().count() == 2);
  CHECK(placed.registry.info(0).cluster == 1);
  CHECK(placed.registry.info(1).cluster == 1);
  CHECK(placed.registry.info(1).id == 5);
  CHECK(placed.registry.info(2).cluster == 7);
  CHECK(placed.name(0) == "pump");
  CHECK(placed.name(2) == "fan");
  CHECK(placed.cluster(2).birth_rows == 30.0);
  for (const ClusterId id : {1, 2, 5}) CHECK(placed.resolve(id) == 1);
  CHECK(placed.resolve(3) == kNoId);
  CHECK(placed.resolve(7) == 7);
  CHECK(placed.born() == 9);
  // What it saves is of format 2, and is read back.
  const Bytes saved = placed.saved();
  Placed other(6, 8);
  REQUIRE(other.load(saved, 4) == StatusCode::kOk);
  CHECK(other.saved() == saved);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(other.load({bytes.begin(), bytes.begin() + size}, 3) == StatusCode::kCorruptData);
  }
}

namespace {

using What = ClusterChange::What;

// Components of one row each, unless said otherwise, in clusters of their own.
struct Regrouped : Placed {
  explicit Regrouped(Index components) : Placed(8, 8), rows(8, 1.0) {
    while (registry.components() < components) born();
  }
  // A component on trial.
  void newborn(ClusterId parent) {
    registry.add(parent, 3, 4.5, 1.0);
    registry.publish(registry.components() - 1);
  }
  std::vector<ClusterChange> regroup(const std::vector<Index>& group) {
    const auto changes = registry.regroup(group.data(), rows.data(), 3);
    return {changes.begin(), changes.end()};
  }
  std::vector<ClusterId> of() const {
    std::vector<ClusterId> out;
    for (Index k = 0; k < registry.components(); ++k) out.push_back(registry.info(k).cluster);
    return out;
  }
  std::vector<double> rows;
};
using Ids = std::vector<ClusterId>;

}  // namespace

TEST_CASE("a component that is added to a known cluster is no birth; one apart is") {
  Regrouped r(2);
  r.newborn(1);
  r.newborn(2);
  const auto changes = r.regroup({0, 1, 0, 3});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].what == What::kBorn);
  CHECK(changes[0].id == 3);
  CHECK(changes[0].other == 2);
  CHECK(changes[0].gain == 4.5);
  CHECK(r.of() == Ids{1, 2, 1, 3});
  CHECK(r.cluster(3).born_stream == 3);
  CHECK(r.regroup({0, 1, 0, 3}).empty());
}

TEST_CASE("a cluster goes on where most of its rows are") {
  Regrouped r(3);
  REQUIRE(r.regroup({0, 0, 0}).size() == 2);
  CHECK(r.of() == Ids{1, 1, 1});
  r.rows = {1.0, 5.0, 3.0};
  const auto changes = r.regroup({0, 1, 1});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].what == What::kBorn);
  CHECK(changes[0].other == 1);
  CHECK(r.of() == Ids{4, 1, 1});  // ids 2 and 3 are never given again
  for (const ClusterId id : {1, 2, 3}) CHECK(r.resolve(id) == 1);
}

TEST_CASE("of clusters that become one the announced, the named, the largest keeps its id") {
  const auto survivor = [](const std::function<void(Regrouped&)>& change) {
    Regrouped r(2);
    r.rows = {2.0, 1.0};
    change(r);
    const auto changes = r.regroup({0, 0});
    REQUIRE(changes.size() == 1);
    CHECK(changes[0].what == What::kMerged);
    CHECK(r.resolve(changes[0].other) == changes[0].id);
    CHECK(r.of() == Ids{changes[0].id, changes[0].id});
    return changes[0].id;
  };
  CHECK(survivor([](Regrouped&) {}) == 1);
  CHECK(survivor([](Regrouped& r) { r.rows = {1.0, 2.0}; }) == 2);
  CHECK(survivor([](Regrouped& r) { r.name(1, "otter"); }) == 2);
  CHECK(survivor([](Regrouped& r) {
          r.name(1, "otter");
          r.cluster(1).provisional = 1;
          r.registry.info(1).provisional = 1;
        }) == 1);
}

TEST_CASE("a provisional cluster is announced when one of its components is") {
  Regrouped r(1);
  r.newborn(1);
  r.registry.info(1).provisional = 1;
  auto changes = r.regroup({0, 1});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].what == What::kNoticed);
  CHECK(r.cluster(1).provisional == 1);
  r.registry.info(1).provisional = 0;
  changes = r.regroup({0, 1});
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].what == What::kBorn);
  CHECK(changes[0].id == 2);
  CHECK(r.cluster(1).provisional == 0);
}

TEST_CASE("a merge of components ends a cluster only if it has no other") {
  Regrouped r(4);
  r.regroup({0, 0, 2, 3});                 // {1: 1, 2}, {3}, {4}
  CHECK(r.registry.merge(2, 1) == kNoId);  // a component of 1 joins 3
  CHECK(r.of() == Ids{1, 4, 3});
  CHECK(r.registry.merge(0, 1) == 4);
  CHECK(r.resolve(4) == 1);
  CHECK(r.registry.clusters().count() == 2);
}

TEST_CASE("regrouping a thousand times keeps components and clusters in step") {
  Philox random({.seed = 93});
  Placed placed(12, 5000);
  ComponentRegistry& registry = placed.registry;
  std::set<ClusterId> ever = {1};
  for (int turn = 0; turn < 1000; ++turn) {
    const Index count = registry.components();
    if (count < 12 && random.below(2) == 0) {
      registry.add(registry.info(0).cluster, 1, 0.0, 1.0);
      registry.publish(registry.components() - 1);
    } else if (count > 1) {
      const Index k = random.below(static_cast<std::uint32_t>(count));
      const Index other = (k + 1 + random.below(static_cast<std::uint32_t>(count - 1))) % count;
      if (random.below(8) == 0)
        registry.remove(k);
      else
        registry.merge(k, other);
    }
    std::vector<Index> group;
    std::vector<double> rows;
    for (Index k = 0; k < registry.components(); ++k) {
      const Index joins = random.below(static_cast<std::uint32_t>(k + 1));
      group.push_back(random.below(2) == 0 ? k : group.empty() ? 0 : group[joins % k]);
      rows.push_back(random.below(10));
    }
    for (const ClusterChange& change : registry.regroup(group.data(), rows.data(), 1)) {
      REQUIRE(registry.clusters().find(change.id) >= 0);
      if (change.what == What::kBorn) REQUIRE(ever.insert(change.id).second);
      if (change.what == What::kMerged) REQUIRE(placed.resolve(change.other) == change.id);
    }
    for (Index k = 0; k < registry.components(); ++k) {
      REQUIRE(registry.cluster_of(k) >= 0);
      for (Index l = 0; l < k; ++l) {
        REQUIRE((group[k] == group[l]) == (registry.info(k).cluster == registry.info(l).cluster));
      }
    }
    const Bytes saved = placed.saved();
    REQUIRE(placed.load(saved, registry.components()) == StatusCode::kOk);
    REQUIRE(placed.saved() == saved);
  }
}

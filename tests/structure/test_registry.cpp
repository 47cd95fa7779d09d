// Ids, names and what became of clusters, beside a naive map that is kept by the test.
#include <cstdio>
#include <cstring>
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

  // A published newborn; its id.
  ClusterId born() {
    registry.add(kNoId, 1, 2.0, 3.0);
    registry.publish(registry.clusters() - 1);
    return registry.info(registry.clusters() - 1).id;
  }
  void merge_ids(ClusterId survivor, ClusterId lost) {
    registry.merge(registry.find(survivor), registry.find(lost));
  }
  void name(Index k, const char* text) {
    std::snprintf(registry.info(k).name, ComponentInfo::kNameBytes, "%s", text);
  }
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
  REQUIRE(registry.clusters() == static_cast<Index>(naive.number.size()));
  for (Index k = 0; k < registry.clusters(); ++k) REQUIRE(registry.find(naive.number[k]) == k);
  for (const auto& [id, at] : naive.lives) REQUIRE(registry.resolve(id) == at);
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
  placed.registry.remove(placed.registry.find(3));
}

constexpr std::size_t kInfo = 12 * 8 + 32;
constexpr std::size_t kTable = 8 + 3 * kInfo;  // where the number of aliases is

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
  CHECK(registry.ids_given() == 2);
  // One that never lived long enough takes no id with it, and leaves nothing to the next.
  registry.add(2, 10, 1.0, 1.0);
  placed.name(2, "gone");
  registry.remove(2);
  registry.add(kNoId, 11, 0.0, 0.0);
  CHECK(registry.info(2).name[0] == '\0');
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
    const Index count = registry.clusters();
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
      naive.number[k] = registry.info(k).id;
      given(registry.info(k).id);
    }
  }
  check_same(registry, naive);
  CHECK(registry.ids_given() == naive.lives.size());
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
        REQUIRE(placed.registry.resolve(id) == (known ? at_last : kNoId));
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
  CHECK(std::string(registry.info(0).name) == "otters");
  CHECK(registry.find(3) == 1);  // the last took the lost one's number
  CHECK(std::string(registry.info(1).name) == "weasels");
  placed.merge_ids(1, 3);
  CHECK(std::string(registry.info(0).name) == "otters");
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
  CHECK(registry.info(1).id == known);
  CHECK(std::string(registry.info(1).name) == "known");
  CHECK(registry.info(1).seen_stream == 6);
  CHECK(registry.resolve(known) == known);
  CHECK(registry.resolve(older) == known);
  // Two on trial: still on trial, and nothing is buried.
  registry.add(1, 7, 0.0, 0.0);
  registry.add(1, 7, 0.0, 0.0);
  registry.merge(2, 3);
  CHECK(registry.info(2).id == kNoId);
  registry.merge(0, 2);  // lost on trial: no trace
  CHECK(registry.info(0).id == 1);
  CHECK(registry.ids_given() == older);
}

TEST_CASE("what was announced keeps its id against what is provisional, heavier or not") {
  Placed placed(6, 8);
  ComponentRegistry& registry = placed.registry;
  const ClusterId handful = placed.born();
  registry.info(1).provisional = 1;
  registry.merge(1, 0);  // the provisional one is the survivor by number
  REQUIRE(registry.clusters() == 1);
  CHECK(registry.info(0).id == 1);
  CHECK(registry.info(0).provisional == 0);
  CHECK(registry.resolve(handful) == 1);
}

TEST_CASE("a registry is saved and loaded exactly") {
  Placed one(6, 8);
  live(one);
  const Bytes bytes = one.saved();
  REQUIRE(bytes.size() == kTable + 4 + 3 * 16);
  Placed other(6, 8);
  other.born();
  REQUIRE(other.load(bytes, 3) == StatusCode::kOk);
  CHECK(other.saved() == bytes);
  for (ClusterId id = 0; id < 9; ++id) {
    CHECK(other.registry.resolve(id) == one.registry.resolve(id));
  }
  CHECK(one.registry.resolve(2) == 4);
  // Full in every respect: still within the promised bytes.
  Placed full(6, 3);
  for (int i = 0; i < 5; ++i) full.born();
  for (ClusterId id = 1; id < 5; ++id) full.registry.replace_by_new(full.registry.find(id), 2);
  CHECK(full.saved().size() == ComponentRegistry::most_bytes(6, 3));
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
  const std::size_t first = kTable + 4;  // alias
  const std::tuple<std::size_t, std::uint64_t, const char*> wrong[] = {
      {0, 3, "an id that has not been given"},
      {8 + kInfo, 0, "nobody's id"},
      {8 + kInfo, 1, "an id twice"},
      {8 + kInfo, 7, "an id still to be given"},
      {8 + kInfo + 56, 2, "provisional, or what?"},
      {8 + kInfo + 64, 7, "of the kind of one still to be born"},
      {8 + 64, 4, "of the kind of a younger one"},
      {8 + 2 * kInfo + 72, 0x7FF8000000000000U, "NaN mass"},
      {8 + 2 * kInfo + 80, 0x7FF0000000000000U, "infinite gain"},
      {8 + 2 * kInfo + 88, 0xFFF0000000000000U, "infinite rows"},
      {8 + 120, ~std::uint64_t{0}, "a name without end"},
      {first, 1, "dead, and lives"},
      {first, 3, "dead twice"},
      {first, 5, "not ascending"},
      {first + 32, 9, "dead, and never born"},
      {first + 8, 3, "leads to a dead one"},
  };
  for (const auto& w : wrong) {
    INFO(std::get<2>(w));
    Bytes bytes = good;
    ByteWriter(bytes.data() + std::get<0>(w), 8).write_u64(std::get<1>(w));
    CHECK(other.load(bytes, 3) == StatusCode::kCorruptData);
  }
  Placed small(6, 2);
  CHECK(small.load(good, 3) == StatusCode::kCorruptData);  // more aliases than fit
  // So many that they are a negative number where Index has 32 bits.
  for (const std::uint32_t aliases : {0x80000000U, 0x80000002U, 0xFFFFFFFFU}) {
    CAPTURE(aliases);
    Bytes bytes = good;
    ByteWriter(bytes.data() + kTable, 4).write_u32(aliases);
    CHECK(other.load(bytes, 3) == StatusCode::kCorruptData);
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

TEST_CASE("a kind has the lowest id of its clusters, whatever becomes of them") {
  Placed placed(8, 8);
  ComponentRegistry& registry = placed.registry;
  for (int i = 0; i < 5; ++i) placed.born();  // ids 1 to 6
  for (Index k = 0; k < 6; ++k) CHECK(registry.kind(k) == registry.info(k).id);
  // {1, 4}, {2, 3, 6}, {5}; who stands for a kind does not matter.
  const Index kinds[] = {3, 5, 5, 3, 4, 5};
  registry.set_kinds(kinds);
  const auto kind_of = [&](ClusterId id) { return registry.kind(registry.find(id)); };
  const auto check = [&](std::initializer_list<std::pair<ClusterId, ClusterId>> expected) {
    for (const auto& pair : expected) {
      CAPTURE(pair.first);
      CHECK(kind_of(pair.first) == pair.second);
    }
  };
  check({{1, 1}, {4, 1}, {2, 2}, {3, 2}, {6, 2}, {5, 5}});
  // The oldest is gone: the next one gives the name.
  registry.remove(registry.find(2));
  check({{1, 1}, {4, 1}, {3, 3}, {6, 3}, {5, 5}});
  // A merge across kinds joins them.
  placed.merge_ids(6, 4);
  check({{1, 1}, {3, 1}, {6, 1}, {5, 5}});
  // A newborn on trial has none; it gets its own with its id.
  registry.add(5, 9, 1.0, 1.0);
  CHECK(registry.kind(registry.clusters() - 1) == kNoId);
  registry.publish(registry.clusters() - 1);
  CHECK(kind_of(7) == 7);
  // One that is merged into an old cluster leaves no trace.
  registry.add(5, 9, 1.0, 1.0);
  registry.merge(registry.clusters() - 1, registry.find(5));
  check({{1, 1}, {3, 1}, {6, 1}, {5, 5}, {7, 7}});
}

// Kinds above clusters: grouping by overlap.
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "structure/kinds.h"
#include "tools/placed_memory.h"

using namespace adapvae;

namespace {

struct Placed {
  explicit Placed(Index most)
      : clusters(most), memory([&](Arena& arena) { grouping.place(arena, most); }) {
    grouping.reset(most);
  }
  // So many rows that belong to these clusters with these probabilities.
  void add(int count, std::initializer_list<std::pair<Index, float>> parts) {
    std::vector<float> r(static_cast<std::size_t>(clusters), 0.0F);
    for (const auto& [k, part] : parts) r[static_cast<std::size_t>(k)] = part;
    for (int i = 0; i < count; ++i) grouping.add_row(r.data());
  }
  Index clusters;
  KindGrouping grouping;
  const tools::PlacedMemory memory;
};

// Two Gaussians of standard deviation 1 and weight 1/2 at 0 and `distance`: whether they are one
// kind, judged by rows on a grid that are weighted by their density.
bool one_kind(double distance) {
  Placed placed(2);
  for (int i = -600; i <= 1200; ++i) {
    const double x = 0.01 * i;
    const double a = std::exp(-0.5 * x * x);
    const double b = std::exp(-0.5 * (x - distance) * (x - distance));
    const auto part = static_cast<float>(a / (a + b));
    placed.add(static_cast<int>(std::lround(100.0 * (a + b))), {{0, part}, {1, 1.0F - part}});
  }
  Index kind[2] = {0, 1};
  placed.grouping.group(1.0, kind);
  return kind[0] == kind[1];
}

}  // namespace

TEST_CASE("two Gaussians are one kind below 3 standard deviations") {
  for (const double distance : {0.5, 1.0, 2.0, 2.9}) CHECK(one_kind(distance));
  for (const double distance : {3.1, 4.0, 6.0}) CHECK_FALSE(one_kind(distance));
}

TEST_CASE("clusters that share rows become one kind, others stay apart") {
  Placed placed(6);
  for (Index k = 0; k < 6; ++k) placed.add(100, {{k, 1.0F}});
  placed.add(80, {{0, 0.5F}, {3, 0.5F}});  // one kind in three styles, a chain
  placed.add(80, {{3, 0.5F}, {5, 0.5F}});
  placed.add(2, {{1, 0.5F}, {2, 0.5F}});  // a few rows astray
  Index kind[6] = {0, 1, 2, 3, 4, 5};
  placed.grouping.group(1.0, kind);
  const Index expected[] = {0, 1, 2, 0, 4, 0};
  for (Index k = 0; k < 6; ++k) CHECK(kind[k] == expected[k]);
}

TEST_CASE("two large kinds are not joined by a few rows between small parts of them") {
  // Clusters 1 and 2 overlap by 0.11; their kinds, ten times as large, do not.
  Placed placed(4);
  const auto fill = [&] {
    placed.grouping.reset(4);
    placed.add(900, {{0, 1.0F}});
    placed.add(900, {{3, 1.0F}});
    placed.add(44, {{1, 0.5F}, {2, 0.5F}});
    placed.add(60, {{1, 1.0F}});
    placed.add(60, {{2, 1.0F}});
  };
  Index kind[4] = {0, 1, 2, 3};
  fill();
  placed.grouping.group(1.0, kind);
  CHECK(kind[1] == kind[2]);
  fill();
  placed.add(80, {{0, 0.5F}, {1, 0.5F}});
  placed.add(80, {{3, 0.5F}, {2, 0.5F}});
  Index apart[4] = {0, 1, 2, 3};
  placed.grouping.group(1.0, apart);
  CHECK(apart[0] == apart[1]);
  CHECK(apart[2] == apart[3]);
  CHECK(apart[0] != apart[3]);
}

TEST_CASE("what has been one kind is parted at half the overlap; resolution moves both limits") {
  const auto grouped = [](int between, double resolution, bool before) {
    Placed placed(2);
    placed.add(100, {{0, 1.0F}});
    placed.add(100, {{1, 1.0F}});
    placed.add(between, {{0, 0.5F}, {1, 0.5F}});
    Index kind[2] = {0, before ? 0 : 1};
    placed.grouping.group(resolution, kind);
    return kind[0] == kind[1];
  };
  // Overlap: between / 4 over 100 + between / 2.
  CHECK(grouped(60, 1.0, false));        // 0.115
  CHECK_FALSE(grouped(36, 1.0, false));  // 0.076
  CHECK(grouped(36, 1.0, true));
  CHECK_FALSE(grouped(20, 1.0, true));  // 0.045
  CHECK_FALSE(grouped(60, 2.0, false));
  CHECK(grouped(36, 0.5, false));
}

TEST_CASE("clusters of which nothing was seen stay with their kind") {
  Placed placed(6);
  placed.add(50, {{0, 1.0F}});
  placed.add(50, {{4, 1.0F}});
  // 1 was of 4's kind, 2 and 3 of one that was not seen at all, 5 alone.
  Index kind[6] = {0, 1, 3, 3, 1, 5};
  placed.grouping.group(1.0, kind);
  const Index expected[] = {0, 4, 3, 3, 4, 5};
  CHECK(kind[2] == kind[3]);
  for (const Index k : {0, 1, 4, 5}) CHECK(kind[k] == expected[k]);
  // The seen ones become one kind: the unseen one goes along.
  placed.grouping.reset(6);
  placed.add(50, {{0, 0.5F}, {4, 0.5F}});
  placed.add(200, {{2, 1.0F}});
  Index again[6] = {0, 4, 2, 3, 4, 5};
  placed.grouping.group(1.0, again);
  CHECK(again[4] == 0);
  CHECK(again[1] == 0);
  CHECK(again[2] == 2);
}

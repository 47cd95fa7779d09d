// Kinds above clusters: grouping by modularity on a graph of neighbours.
#include <vector>

#include <doctest/doctest.h>

#include "structure/kinds.h"
#include "tools/placed_memory.h"

using namespace adapvae;

namespace {

struct Placed {
  explicit Placed(Index most) : memory([&](Arena& arena) { grouping.place(arena, most); }) {}
  KindGrouping grouping;
  const tools::PlacedMemory memory;
};

}  // namespace

TEST_CASE("clusters whose rows are neighbours become one kind, others stay apart") {
  Placed placed(6);
  KindGrouping& g = placed.grouping;
  g.reset(6);
  for (Index k = 0; k < 6; ++k) g.add_edge(k, k, k % 3 == 0 || k == 5 ? 100.0 : 400.0);
  g.add_edge(0, 3, 60.0);  // one kind in three styles, a chain
  g.add_edge(3, 5, 60.0);
  g.add_edge(1, 2, 2.0);  // a few rows astray
  Index kind[6] = {0, 1, 2, 3, 4, 5};
  g.group(1.0, kind);
  const Index expected[] = {0, 1, 2, 0, 4, 0};
  for (Index k = 0; k < 6; ++k) CHECK(kind[k] == expected[k]);
}

TEST_CASE("neighbourhood by chance alone groups nothing") {
  // Edges exactly as degrees would have it: no pair gains.
  Placed placed(3);
  KindGrouping& g = placed.grouping;
  g.reset(3);
  const double degree[] = {1.0, 2.0, 5.0};
  for (Index a = 0; a < 3; ++a) {
    for (Index b = a; b < 3; ++b) g.add_edge(a, b, degree[a] * degree[b] * (a == b ? 0.5 : 1.0));
  }
  Index kind[3] = {0, 1, 2};
  g.group(1.0 + 1e-9, kind);
  for (Index k = 0; k < 3; ++k) CHECK(kind[k] == k);
  // A lower resolution sees one kind.
  g.reset(3);
  for (Index a = 0; a < 3; ++a) {
    for (Index b = a; b < 3; ++b) g.add_edge(a, b, degree[a] * degree[b] * (a == b ? 0.5 : 1.0));
  }
  g.group(0.5, kind);
  for (Index k = 0; k < 3; ++k) CHECK(kind[k] == 0);
}

TEST_CASE("clusters of which nothing was seen stay with their kind") {
  Placed placed(6);
  KindGrouping& g = placed.grouping;
  g.reset(6);
  g.add_edge(0, 0, 50.0);
  g.add_edge(4, 4, 50.0);
  g.add_edge(0, 4, 1.0);
  // 1 was of 4's kind, 2 and 3 of one that was not seen at all, 5 alone.
  Index kind[6] = {0, 1, 3, 3, 1, 5};
  g.group(1.0, kind);
  const Index expected[] = {0, 4, 3, 3, 4, 5};
  CHECK(kind[2] == kind[3]);
  for (const Index k : {0, 1, 4, 5}) CHECK(kind[k] == expected[k]);
  // The seen ones become one kind: the unseen one goes along.
  g.reset(6);
  g.add_edge(0, 0, 50.0);
  g.add_edge(2, 2, 200.0);
  g.add_edge(4, 4, 50.0);
  g.add_edge(0, 4, 40.0);
  Index again[6] = {0, 4, 2, 3, 4, 5};
  g.group(1.0, again);
  CHECK(again[4] == 0);
  CHECK(again[1] == 0);
  CHECK(again[2] == 2);
}

TEST_CASE("no edges, or one cluster: kinds are as they were") {
  Placed placed(4);
  Index kind[4] = {0, 1, 1, 3};
  placed.grouping.reset(4);
  placed.grouping.group(1.0, kind);
  CHECK(kind[0] == 0);
  CHECK(kind[1] == kind[2]);
  CHECK(kind[3] == 3);
  placed.grouping.reset(1);
  placed.grouping.add_edge(0, 0, 5.0);
  placed.grouping.group(1.0, kind);
  CHECK(kind[0] == 0);
}

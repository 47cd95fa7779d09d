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
  Index kind[6];
  CHECK(g.group(1.0, kind) == 4);
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
  Index kind[3];
  CHECK(g.group(1.0 + 1e-9, kind) == 3);
  // A lower resolution sees one kind.
  g.reset(3);
  for (Index a = 0; a < 3; ++a) {
    for (Index b = a; b < 3; ++b) g.add_edge(a, b, degree[a] * degree[b] * (a == b ? 0.5 : 1.0));
  }
  CHECK(g.group(0.5, kind) == 1);
  for (Index k = 0; k < 3; ++k) CHECK(kind[k] == 0);
}

TEST_CASE("no edges, or one cluster: every cluster is a kind") {
  Placed placed(4);
  Index kind[4];
  placed.grouping.reset(4);
  CHECK(placed.grouping.group(1.0, kind) == 4);
  for (Index k = 0; k < 4; ++k) CHECK(kind[k] == k);
  placed.grouping.reset(1);
  placed.grouping.add_edge(0, 0, 5.0);
  CHECK(placed.grouping.group(1.0, kind) == 1);
  CHECK(kind[0] == 0);
}

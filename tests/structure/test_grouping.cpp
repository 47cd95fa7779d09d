// Kinds above clusters: grouping by overlap.
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "structure/grouping.h"
#include "support/mixture_fixture.h"
#include "tools/placed_memory.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kMostRows = 4000;

// A mixture whose rows belong to clusters as the test says.
class Grouped {
 public:
  explicit Grouped(Index clusters)
      : clusters_(clusters),
        fixture_({.shape = {FactorShape::kLower, 1},
                  .max_clusters = clusters,
                  .max_rows = kMostRows,
                  .max_batches = 1}),
        memory_([&](Arena& arena) {
          grouping_.place(arena, clusters);
          registry_.place(arena, clusters, 0);
        }) {
    registry_.reset();
    while (registry_.components() < clusters) registry_.add(kNoId, 1, 0.0, 0.0);
  }

  // So many rows that belong to these clusters with these probabilities.
  void add(int count, std::initializer_list<std::pair<Index, float>> parts) {
    std::vector<float> r(static_cast<std::size_t>(clusters_), 0.0F);
    for (const auto& [k, part] : parts) r[static_cast<std::size_t>(k)] = part;
    for (int i = 0; i < count; ++i) rows_.push_back(r);
  }
  // The rows become a stream of the mixture.
  void learn() {
    const auto n = static_cast<Index>(rows_.size());
    REQUIRE(n <= kMostRows);
    const std::vector<float> z(rows_.size(), 0.0F);
    Mixture& mixture = fixture_.mixture;
    REQUIRE(mixture.begin_stream({z.data(), n, 1}, {}, 1.0, 1).ok());
    while (mixture.clusters() < clusters_) mixture.add_cluster();
    const MatrixViewD r = mixture.stream_responsibilities();
    for (Index i = 0; i < n; ++i) {
      split_into_units(rows_[static_cast<std::size_t>(i)].data(), clusters_, 1.0, r.row(i));
    }
    mixture.recount(fixture_.backend);
    mixture.close_stream();
    rows_.clear();
  }
  ComponentRegistry& registry() { return registry_; }
  // before: for components that were one cluster the same number.
  // Without `before` there have been no clusters.
  std::vector<Index> kinds(std::vector<Index> before = {}, double resolution = 1.0) {
    const bool first = before.empty();
    for (auto k = static_cast<Index>(before.size()); k < clusters_; ++k) before.push_back(k);
    for (Index k = 0; k < clusters_; ++k) {
      registry_.info(k).cluster = static_cast<ClusterId>(before[static_cast<std::size_t>(k)] + 1);
    }
    grouping_.group(fixture_.mixture, registry_, first, resolution, before.data());
    return before;
  }
  std::vector<Index> halves(ClusterId cluster) {
    std::vector<Index> group(static_cast<std::size_t>(clusters_));
    grouping_.halve(fixture_.mixture, registry_, cluster, group.data());
    return group;
  }

 private:
  Index clusters_;
  MixtureFixture fixture_;
  ComponentGrouping grouping_;
  ComponentRegistry registry_;
  const tools::PlacedMemory memory_;
  std::vector<std::vector<float>> rows_;
};

// Two Gaussians of standard deviation 1 and weight 1/2, so far apart: rows on a grid, as many as
// their density says.
bool one_kind(double distance) {
  Grouped grouped(2);
  for (int i = -60; i <= 120; ++i) {
    const double x = 0.1 * i;
    const double a = std::exp(-0.5 * x * x);
    const double b = std::exp(-0.5 * (x - distance) * (x - distance));
    const auto part = static_cast<float>(a / (a + b));
    grouped.add(static_cast<int>(std::lround(70.0 * (a + b))), {{0, part}, {1, 1.0F - part}});
  }
  grouped.learn();
  const std::vector<Index> kind = grouped.kinds();
  return kind[0] == kind[1];
}

}  // namespace

TEST_CASE("two Gaussians are one kind below 3 standard deviations") {
  for (const double distance : {0.5, 1.0, 2.0, 2.9}) CHECK(one_kind(distance));
  for (const double distance : {3.1, 4.0, 6.0}) CHECK_FALSE(one_kind(distance));
}

TEST_CASE("clusters that share rows become one kind, others stay apart") {
  Grouped grouped(6);
  for (Index k = 0; k < 6; ++k) grouped.add(100, {{k, 1.0F}});
  grouped.add(120, {{0, 0.5F}, {3, 0.5F}});  // one kind in three styles, a chain
  grouped.add(120, {{3, 0.5F}, {5, 0.5F}});
  grouped.add(2, {{1, 0.5F}, {2, 0.5F}});  // a few rows astray
  grouped.learn();
  CHECK(grouped.kinds() == std::vector<Index>{0, 1, 2, 0, 4, 0});
}

TEST_CASE("two large kinds are not joined by rows between small parts of them") {
  const auto grouped = [](bool large) {
    Grouped g(4);
    g.add(900, {{0, 1.0F}});
    g.add(900, {{3, 1.0F}});
    g.add(60, {{1, 1.0F}});
    g.add(60, {{2, 1.0F}});
    g.add(60, {{1, 0.5F}, {2, 0.5F}});
    if (large) {  // 1 is a part of 0 and 2 of 3
      g.add(160, {{0, 0.5F}, {1, 0.5F}});
      g.add(160, {{3, 0.5F}, {2, 0.5F}});
    }
    g.learn();
    return g.kinds();
  };
  CHECK(grouped(false) == std::vector<Index>{0, 1, 1, 3});
  CHECK(grouped(true) == std::vector<Index>{0, 0, 2, 2});
}

TEST_CASE("kinds are parted below the overlap that joins them; resolution moves both limits") {
  // Overlap: 0.69 · between over 100 + between / 2.
  const auto one = [](int between, double resolution, bool before) {
    Grouped g(2);
    g.add(100, {{0, 1.0F}});
    g.add(100, {{1, 1.0F}});
    g.add(between, {{0, 0.5F}, {1, 0.5F}});
    g.learn();
    const std::vector<Index> kind = before ? g.kinds({0, 0}, resolution) : g.kinds({}, resolution);
    return kind[0] == kind[1];
  };
  CHECK(one(70, 1.0, false));        // 0.36
  CHECK_FALSE(one(55, 1.0, false));  // 0.30
  CHECK(one(55, 1.0, true));
  CHECK_FALSE(one(40, 1.0, true));  // 0.23
  CHECK_FALSE(one(70, 2.0, false));
  CHECK(one(40, 0.5, false));
}

TEST_CASE("clusters that have been apart become one only if there is no dip between them") {
  const auto one = [](int between, std::vector<Index> before) {
    Grouped g(2);
    g.add(100, {{0, 1.0F}});
    g.add(100, {{1, 1.0F}});
    g.add(between, {{0, 0.5F}, {1, 0.5F}});
    g.learn();
    const std::vector<Index> kind = g.kinds(std::move(before));
    return kind[0] == kind[1];
  };
  for (const int between : {70, 150, 200}) {  // 0.36, 0.59, 0.69
    CHECK(one(between, {}));
    CHECK_FALSE(one(between, {0, 1}));
    CHECK(one(between, {0, -1}) == false);  // a newborn and an old cluster
    CHECK(one(between, {-1, -1}));          // two newborns
  }
  CHECK(one(260, {0, 1}));  // 0.78
}

TEST_CASE("rows of all streams count") {
  Grouped g(2);
  g.add(100, {{0, 1.0F}});
  g.add(100, {{1, 1.0F}});
  g.add(80, {{0, 0.5F}, {1, 0.5F}});
  g.learn();
  CHECK(g.kinds() == std::vector<Index>{0, 0});
  // A stream that shows cluster 0 alone changes nothing: the other one is as it was.
  g.add(1000, {{0, 1.0F}});
  g.learn();
  CHECK(g.kinds({0, 0}) == std::vector<Index>{0, 0});
  // One that shows both apart does.
  g.add(500, {{1, 1.0F}});
  g.learn();
  CHECK(g.kinds({0, 0}) == std::vector<Index>{0, 1});
}

TEST_CASE("what the user wants whole is one, what is to be apart is not joined") {
  Grouped g(3);
  for (Index k = 0; k < 3; ++k) g.add(100, {{k, 1.0F}});
  g.add(90, {{0, 0.5F}, {1, 0.5F}});
  g.learn();
  CHECK(g.kinds() == std::vector<Index>{0, 0, 2});
  g.registry().info(0).kept_apart = g.registry().info(1).kept_apart = 7;
  CHECK(g.kinds() == std::vector<Index>{0, 1, 2});
  CHECK(g.kinds({0, 0, 2}) == std::vector<Index>{0, 0, 2});  // two components of one part
  g.registry().info(1).kept_whole = g.registry().info(2).kept_whole = 1;
  CHECK(g.kinds({0, 1, 1}) == std::vector<Index>{0, 1, 1});
}

TEST_CASE("a cluster is halved where its components overlap least") {
  Grouped g(5);
  for (Index k = 0; k < 5; ++k) g.add(100, {{k, 1.0F}});
  g.add(90, {{0, 0.5F}, {2, 0.5F}});
  g.add(60, {{2, 0.5F}, {3, 0.5F}});
  g.add(90, {{3, 0.5F}, {4, 0.5F}});
  g.learn();
  g.kinds({0, 1, 0, 0, 0});
  const std::vector<Index> half = g.halves(1);
  CHECK(half[0] == half[2]);
  CHECK(half[3] == half[4]);
  CHECK(half[0] != half[3]);
  CHECK(half[1] == 1);
}

// Clusters of components: grouping by overlap and by dips of the density.
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "structure/grouping.h"
#include "support/mixture_fixture.h"
#include "tools/placed_memory.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kMostRows = 4000;

// A mixture whose rows belong to components as the test says. Where they lie is not known.
class Grouped {
 public:
  explicit Grouped(Index clusters)
      : clusters_(clusters),
        fixture_({.shape = {FactorShape::kLower, 1},
                  .max_clusters = clusters,
                  .max_rows = kMostRows,
                  .max_batches = 1}),
        memory_([&](Arena& arena) {
          grouping_.place(arena, {FactorShape::kLower, 1}, clusters);
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
    grouping_.group(fixture_.mixture, registry_, {}, first, resolution, before.data());
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

TEST_CASE("without rows two Gaussians are one cluster below 2 standard deviations") {
  for (const double distance : {0.5, 1.0, 1.9}) CHECK(one_kind(distance));
  for (const double distance : {2.1, 3.0, 6.0}) CHECK_FALSE(one_kind(distance));
}

TEST_CASE("clusters that share rows become one, others stay apart") {
  Grouped grouped(6);
  for (Index k = 0; k < 6; ++k) grouped.add(100, {{k, 1.0F}});
  grouped.add(300, {{0, 0.5F}, {3, 0.5F}});  // one cluster in three styles, a chain
  grouped.add(300, {{3, 0.5F}, {5, 0.5F}});
  grouped.add(2, {{1, 0.5F}, {2, 0.5F}});  // a few rows astray
  grouped.learn();
  CHECK(grouped.kinds({0, 1, 2, 3, 4, 5}) == std::vector<Index>{0, 1, 2, 0, 4, 0});
}

TEST_CASE("two large clusters are not joined by rows between small parts of them") {
  const auto grouped = [](bool large) {
    Grouped g(4);
    g.add(900, {{0, 1.0F}});
    g.add(900, {{3, 1.0F}});
    g.add(60, {{1, 1.0F}});
    g.add(60, {{2, 1.0F}});
    g.add(150, {{1, 0.5F}, {2, 0.5F}});
    if (large) {  // 1 is a part of 0 and 2 of 3
      g.add(400, {{0, 0.5F}, {1, 0.5F}});
      g.add(400, {{3, 0.5F}, {2, 0.5F}});
    }
    g.learn();
    return g.kinds({0, 1, 2, 3});
  };
  CHECK(grouped(false) == std::vector<Index>{0, 1, 1, 3});
  CHECK(grouped(true) == std::vector<Index>{0, 0, 2, 2});
}

TEST_CASE("the resolution moves the overlap that joins clusters; one cluster stays one") {
  // Overlap: 0.69 · between over 100 + between / 2.
  const auto one = [](int between, std::vector<Index> before, double resolution = 1.0) {
    Grouped g(2);
    g.add(100, {{0, 1.0F}});
    g.add(100, {{1, 1.0F}});
    g.add(between, {{0, 0.5F}, {1, 0.5F}});
    g.learn();
    const std::vector<Index> kind = g.kinds(std::move(before), resolution);
    return kind[0] == kind[1];
  };
  // Different clusters, a newborn and an old one, two newborns.
  for (const std::vector<Index>& before : {std::vector<Index>{0, 1}, {0, -1}, {-1, -1}}) {
    CHECK_FALSE(one(200, before));  // 0.69
    CHECK(one(260, before));        // 0.78
    CHECK_FALSE(one(260, before, 2.0));
    CHECK(one(100, before, 0.5));  // 0.46
  }
  CHECK(one(0, {0, 0}));
}

TEST_CASE("rows of all streams count") {
  Grouped g(2);
  g.add(100, {{0, 1.0F}});
  g.add(100, {{1, 1.0F}});
  g.add(300, {{0, 0.5F}, {1, 0.5F}});
  g.learn();
  CHECK(g.kinds({0, 1}) == std::vector<Index>{0, 0});
  // A stream that shows cluster 0 alone changes nothing: the other one is as it was.
  g.add(1000, {{0, 1.0F}});
  g.learn();
  CHECK(g.kinds({0, 1}) == std::vector<Index>{0, 0});
  // One that shows both apart does.
  g.add(500, {{1, 1.0F}});
  g.learn();
  CHECK(g.kinds({0, 1}) == std::vector<Index>{0, 1});
}

TEST_CASE("what the user wants whole is one, what is to be apart is not joined") {
  Grouped g(3);
  for (Index k = 0; k < 3; ++k) g.add(100, {{k, 1.0F}});
  g.add(300, {{0, 0.5F}, {1, 0.5F}});
  g.learn();
  CHECK(g.kinds({0, 1, 2}) == std::vector<Index>{0, 0, 2});
  g.registry().info(0).kept_apart = g.registry().info(1).kept_apart = 7;
  CHECK(g.kinds({0, 1, 2}) == std::vector<Index>{0, 1, 2});
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

namespace {

// A mixture of two features whose rows belong to one component each, and where they lie.
class Placed {
 public:
  explicit Placed(Index components)
      : components_(components),
        fixture_(
            {.shape = kShape, .max_clusters = components, .max_rows = kMostRows, .max_batches = 1}),
        memory_([&](Arena& arena) {
          grouping_.place(arena, kShape, components);
          registry_.place(arena, components, 0);
        }) {
    registry_.reset();
    while (registry_.components() < components) registry_.add(kNoId, 1, 0.0, 0.0);
  }

  void add(Index component, double x, double y) {
    rows_.push_back(static_cast<float>(x));
    rows_.push_back(static_cast<float>(y));
    RowScore score;
    score.cluster = component;
    score_.push_back(score);
  }
  // So many rows of a Gaussian with this centre and standard deviation.
  void add_gaussian(Index component, int count, double x, double y, double width = 1.0) {
    for (int i = 0; i < count; ++i) {
      const double dx = width * sample_normal(random_);
      add(component, x + dx, y + width * sample_normal(random_));
    }
  }
  double uniform() { return random_.uniform_double(); }

  // before: numbers of the clusters until now, -1 for newborns; empty: this is the first block.
  std::vector<Index> clusters(std::vector<Index> before = {}, double resolution = 1.0) {
    const auto n = static_cast<Index>(score_.size());
    REQUIRE(n <= kMostRows);
    const ConstMatrixView z(rows_.data(), n, 2);
    Mixture& mixture = fixture_.mixture;
    mixture.reset();
    REQUIRE(mixture.begin_stream(z, {}, 1.0, 1).ok());
    while (mixture.clusters() < components_) mixture.add_cluster();
    const MatrixViewD r = mixture.stream_responsibilities();
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < components_; ++k) {
        r(i, k) = k == score_[static_cast<std::size_t>(i)].cluster ? 1.0 : 0.0;
      }
    }
    mixture.recount(fixture_.backend);
    mixture.close_stream();
    const bool first = before.empty();
    before.resize(static_cast<std::size_t>(components_), -1);
    for (Index k = 0; k < components_; ++k) {
      registry_.info(k).cluster = static_cast<ClusterId>(before[static_cast<std::size_t>(k)] + 1);
    }
    std::vector<std::uint32_t> order(score_.size());
    std::vector<float> position(score_.size());
    grouping_.group(mixture, registry_, {z, score_.data(), order.data(), position.data()}, first,
                    resolution, before.data());
    return before;
  }

 private:
  static constexpr ClusterShape kShape = {FactorShape::kLower, 2};
  Index components_;
  MixtureFixture fixture_;
  ComponentGrouping grouping_;
  ComponentRegistry registry_;
  const tools::PlacedMemory memory_;
  Philox random_ = Philox({.seed = 3});
  std::vector<float> rows_;
  std::vector<RowScore> score_;
};

// Eight pieces of a ring, and a point in the middle.
void add_ring(Placed& placed) {
  constexpr double kTurn = 6.283185307179586;
  for (int i = 0; i < 1600; ++i) {
    const double turn = (i + 0.5) / 1600.0;
    const double radius = 5.0 + 0.2 * (placed.uniform() - 0.5);
    placed.add(static_cast<Index>(8.0 * turn), radius * std::cos(kTurn * turn),
               radius * std::sin(kTurn * turn));
  }
  placed.add_gaussian(8, 200, 0.0, 0.0, 0.5);
}

}  // namespace

TEST_CASE("with rows two Gaussians are one cluster below 3.3 standard deviations") {
  for (const double distance : {1.0, 2.0, 3.0, 3.7, 4.0, 5.0, 6.0}) {
    CAPTURE(distance);
    Placed placed(2);
    // Rows go to the nearer component.
    for (int i = 0; i < 2000; ++i) {
      const double centre = i % 2 == 0 ? 0.0 : distance;
      double x = centre;
      double y = 0.0;
      for (int j = 0; j < 12; ++j) {  // nearly Gaussian
        x += placed.uniform() - 0.5;
        y += placed.uniform() - 0.5;
      }
      placed.add(x < 0.5 * distance ? 0 : 1, x, y);
    }
    const bool one = distance < 3.3;
    CHECK((placed.clusters()[1] == 0) == one);                     // in the first block
    CHECK((placed.clusters({-1, -1})[1] == 0) == one);             // two newborns
    CHECK(placed.clusters({0, 1})[1] == 1);                        // no rows of both have been seen
    CHECK((placed.clusters({0, 0})[1] == 0) == (distance < 4.5));  // one until now
  }
}

TEST_CASE("pieces of a ring are one cluster") {
  Placed placed(9);
  add_ring(placed);
  CHECK(placed.clusters() == std::vector<Index>{0, 0, 0, 0, 0, 0, 0, 0, 8});
  CHECK(placed.clusters({}, 100.0) == std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7, 8});
  // What is born together is joined; an old cluster is not.
  CHECK(placed.clusters({0, -1, -1, -1, -1, -1, -1, -1, 8}) ==
        std::vector<Index>{0, 1, 1, 1, 1, 1, 1, 1, 8});
}

TEST_CASE("thin rows on all sides do not join the clusters among them") {
  Placed placed(3);
  placed.add_gaussian(0, 600, -4.0, 0.0);
  placed.add_gaussian(1, 600, 4.0, 0.0);
  placed.add_gaussian(2, 60, 0.0, 0.0, 4.0);
  const std::vector<Index> cluster = placed.clusters();
  CHECK(cluster[0] != cluster[1]);
}

TEST_CASE("one cluster is parted by a certain dip alone") {
  const auto one = [](int count, double distance) {
    Placed placed(2);
    placed.add_gaussian(0, count, 0.0, 0.0);
    placed.add_gaussian(1, count, distance, 0.0);
    return placed.clusters({0, 0})[1] == 0;
  };
  CHECK(one(2, 20.0));  // too few to see anything
  CHECK(one(8, 5.0));
  CHECK_FALSE(one(200, 6.0));
  CHECK_FALSE(one(40, 20.0));
}

// Corners of the cluster learner that once went wrong.
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "support/learner_fixture.h"
#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

LearnerConfig plain(Index dims, Index rows, Index pending = 0) {
  LearnerConfig config;
  config.shape.dims = dims;
  config.max_rows = rows;
  config.max_clusters = 12;
  config.pending_rows = pending;
  config.aliases = 64;
  return config;
}

std::vector<float> normal_rows(Index rows, Index dims, double center, Philox& random) {
  std::vector<float> values(static_cast<std::size_t>(rows * dims));
  for (float& x : values) x = static_cast<float>(center + sample_normal(random));
  return values;
}

}  // namespace

TEST_CASE("a state after merging clusters that overlap loads, and undo works") {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    LearnerFixture f(plain(2, 400));
    Philox random({.seed = 81, .index = seed});
    for (int stream = 0; stream < 3; ++stream) {
      std::vector<float> rows = normal_rows(200, 2, 0.0, random);
      const std::vector<float> more = normal_rows(200, 2, 3.5, random);
      rows.insert(rows.end(), more.begin(), more.end());
      REQUIRE(f.learn(rows).ok());
    }
    const ClusterTable& clusters = f.learner.registry().clusters();
    while (clusters.count() > 1) {
      MoveRecord record;
      REQUIRE(f.learner.merge(clusters[0].id, clusters[1].id, true, record).ok());
    }
    const auto state = f.saved();
    LearnerFixture other(plain(2, 400));
    ByteReader reader(state.data(), state.size());
    REQUIRE(other.learner.load(reader).ok());
    REQUIRE(f.learner.rename(f.learner.registry().info(0).cluster, "x").ok());
    REQUIRE(f.learner.undo().ok());
    REQUIRE(f.saved() == state);
  }
}

TEST_CASE("no row is lost however few steps a proposal makes") {
  for (const int refinements : {0, 1, 2, 3, 12}) {
    CAPTURE(refinements);
    LearnerFixture f(plain(3, 6000));
    f.learner.settings().proposal.refinements = refinements;
    Philox random({.seed = 82});
    for (int stream = 0; stream < 2; ++stream) {
      REQUIRE(f.learn(clumped_rows(6000, 3, 3, 12.0, random)).ok());
      REQUIRE(f.learner.rows_seen() == 6000.0 * (stream + 1));
    }
  }
}

TEST_CASE("pieces that the user cut stay apart, cut again, light or absorbing others") {
  LearnerFixture f(plain(2, 100));
  Philox random({.seed = 83});
  REQUIRE(f.learn(normal_rows(100, 2, 0.0, random)).ok());
  const ClusterId id = f.learner.registry().info(0).cluster;
  MoveRecord record;
  REQUIRE(f.learner.split(id, true, record).ok());
  REQUIRE(f.learner.split(id, true, record).ok());
  CHECK(f.learner.mixture().clusters() == 3);
  for (int stream = 0; stream < 6; ++stream) {
    REQUIRE(f.learn(normal_rows(100, 2, 0.0, random)).ok());
  }
  CHECK(f.learner.mixture().clusters() == 3);

  LearnerFixture light(plain(2, 100));
  REQUIRE(light.learn(normal_rows(8, 2, 0.0, random)).ok());
  REQUIRE(light.learner.split(1, true, record).ok());
  REQUIRE(light.learn(normal_rows(1, 2, 0.0, random)).ok());
  CHECK(light.learner.mixture().clusters() == 2);
}

TEST_CASE("an id that an undone split gave is not given again") {
  LearnerFixture f(plain(2, 300));
  Philox random({.seed = 84});
  REQUIRE(f.learn(normal_rows(100, 2, 0.0, random)).ok());
  const auto before = f.saved();
  MoveRecord record;
  REQUIRE(f.learner.split(1, true, record).ok());
  const ClusterId given = f.events_of(ClusterEventKind::kSplit)[0].other;
  REQUIRE(f.learner.undo().ok());
  CHECK(f.saved() == before);
  std::vector<float> rows = normal_rows(100, 2, 0.0, random);
  const std::vector<float> fresh = normal_rows(100, 2, 40.0, random);
  rows.insert(rows.end(), fresh.begin(), fresh.end());
  REQUIRE(f.learn(rows).ok());
  const auto born = f.events_of(ClusterEventKind::kBorn);
  REQUIRE(born.size() == 1);
  CHECK(born[0].id > given);
}

TEST_CASE("a candidate counts rows, not weights, and fades with the past") {
  LearnerFixture f(plain(6, 3000));
  f.learner.settings().effective_rows = 400.0;
  f.learner.settings().prior.mode = PriorMode::kScaled;
  Philox random({.seed = 85});
  double largest = 0.0;
  for (int stream = 0; stream < 6; ++stream) {
    const Index rows = stream % 2 == 0 ? 390 : 1500;
    REQUIRE(f.learn(normal_rows(rows, 6, 0.0, random)).ok());
    largest = std::max(largest, f.learner.candidates().rows(0));
  }
  CHECK(largest > 2000.0);
  CHECK(largest <= 4000.0);

  LearnerFixture fading(plain(6, 100));
  fading.learner.settings().half_life_rows = 50.0;
  for (int stream = 0; stream < 20; ++stream) {
    REQUIRE(fading.learn(normal_rows(100, 6, 0.0, random)).ok());
  }
  CHECK(fading.learner.candidates().rows(0) <= 134.0);  // 100 / (1 - 1/4), and rounding
}

TEST_CASE("a stream that is opened and closed is learnt") {
  LearnerFixture f(plain(2, 100));
  Philox random({.seed = 86});
  const std::vector<float> rows = normal_rows(100, 2, 0.0, random);
  REQUIRE(f.learner.begin({rows.data(), 100, 2}, {}, 1).ok());
  f.learner.close(f.backend);
  CHECK(f.learner.rows_seen() == 100.0);
  CHECK(f.learner.mixture().rows_learnt() == 100.0);
}

TEST_CASE("a pending row waits as long as it was told, and keeps its variance") {
  for (const int patience : {1, 2, 4}) {
    CAPTURE(patience);
    LearnerFixture f(plain(3, 201, 20));
    f.learner.settings().pending_streams = patience;
    Philox random({.seed = 87});
    std::vector<float> rows = normal_rows(200, 3, 0.0, random);
    std::vector<float> variance(603, 0.25F);
    for (int j = 0; j < 3; ++j) rows.push_back(30.0F);
    REQUIRE(f.learner.learn(f.backend, {rows.data(), 201, 3}, {variance.data(), 201, 3}).ok());
    // Where the wild row waits; -1: no longer.
    const auto find = [&] {
      for (Index i = 0; i < f.learner.pending().count(); ++i) {
        if (f.learner.pending().rows()(i, 0) == 30.0F) return i;
      }
      return Index{-1};
    };
    int waited = 0;
    for (Index at = find(); at >= 0 && waited < 10; at = find()) {
      ++waited;
      CHECK(f.learner.pending().variance()(at, 0) == 0.25F);
      REQUIRE(f.learn(normal_rows(200, 3, 0.0, random)).ok());
    }
    CHECK(waited == patience);
    CHECK(f.learner.rows_seen() == 201.0 + 200.0 * waited);
  }
}

TEST_CASE("settings that make no sense are refused and change nothing") {
  LearnerFixture f(plain(2, 100));
  Philox random({.seed = 88});
  const std::vector<float> rows = normal_rows(100, 2, 0.0, random);
  const auto before = f.saved();
  f.learner.settings().effective_rows = 1e-300;
  CHECK_FALSE(f.learn(rows).ok());
  CHECK(f.saved() == before);
  CHECK(f.learner.streams() == 0);
}

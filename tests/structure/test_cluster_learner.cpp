// The cluster learner on streams: new kinds are born where they come, ids stay, rows are conserved,
// and the same calls give the same bytes.
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "support/learner_fixture.h"
#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

LearnerConfig small_config(Index dims, Index rows) {
  LearnerConfig config;
  config.shape.dims = dims;
  config.max_rows = rows;
  config.max_clusters = 24;
  config.aliases = 256;
  return config;
}

// A world of kinds with fixed centres; rows of any of them on demand.
struct World {
  World(Index dims_in, Index kinds_in, double spread, std::uint64_t seed)
      : dims(dims_in), kinds(kinds_in), random({.seed = seed}) {
    for (Index i = 0; i < dims * kinds; ++i) centers.push_back(spread * sample_normal(random));
  }
  void add(std::vector<float>& rows, Index kind, Index count) {
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < dims; ++j) {
        rows.push_back(static_cast<float>(centers[static_cast<std::size_t>(kind * dims + j)] +
                                          sample_normal(random)));
      }
    }
  }
  std::vector<float> rows(Index first_kind, Index last_kind, Index each) {
    std::vector<float> values;
    for (Index i = 0; i < each; ++i) {
      for (Index k = first_kind; k <= last_kind; ++k) add(values, k, 1);
    }
    return values;
  }

  Index dims, kinds;
  Philox random;
  std::vector<double> centers;
};

}  // namespace

TEST_CASE("scoring is defined before anything is learnt") {
  LearnerFixture f(small_config(3, 50));
  const auto before = f.saved();
  const auto scored = f.score({1.0F, 2.0F, 3.0F, 1e30F, -1e30F, 0.0F});
  for (const float novelty : scored.novelty) CHECK(novelty == 1.0F);
  for (const RowScore& s : scored.score) CHECK(std::isfinite(s.log_density));
  CHECK(f.saved() == before);
}

TEST_CASE("a handful of strays in the first stream does not take its birth from a later kind") {
  LearnerFixture f(small_config(5, 3000));
  World world(5, 3, 8.0, 67);
  std::vector<float> rows = world.rows(0, 1, 1000);
  world.add(rows, 2, 9);  // 0.45 % of the stream, and fewer than a cluster has parameters (20)
  REQUIRE(f.learn(rows).ok());
  const auto noticed = f.events_of(ClusterEventKind::kNoticed);
  REQUIRE(noticed.size() == 1);
  CHECK(noticed[0].rows == doctest::Approx(9.0).epsilon(0.01));
  const ClusterId id = f.score(world.rows(2, 2, 1)).id[0];
  CHECK(noticed[0].id == id);
  CHECK(f.events_of(ClusterEventKind::kBorn).size() == 1);  // the second kind
  // Nothing of it for a while: it waits. What is saved knows that it does.
  REQUIRE(f.learn(world.rows(0, 1, 500)).ok());
  CHECK(f.events_of(ClusterEventKind::kBorn).size() == 1);
  LearnerFixture copy(small_config(5, 3000));
  const auto bytes = f.saved();
  ByteReader reader(bytes.data(), bytes.size());
  REQUIRE(copy.learner.load(reader).ok());

  rows = world.rows(0, 1, 490);
  world.add(rows, 2, 20);
  for (LearnerFixture* one : {&f, &copy}) {
    const auto before = one->events_of(ClusterEventKind::kBorn).size();
    REQUIRE(one->learn(rows).ok());
    const auto born = one->events_of(ClusterEventKind::kBorn);
    REQUIRE(born.size() == before + 1);
    CHECK(born.back().id == id);  // the same id, announced now
    CHECK(born.back().stream == 3);
    CHECK(born.back().rows == doctest::Approx(29.0).epsilon(0.01));
    REQUIRE(one->learn(rows).ok());
    CHECK(one->events_of(ClusterEventKind::kBorn).size() == before + 1);  // once
  }
  // A cluster that the user has named is not announced any more.
  LearnerFixture named(small_config(5, 3000));
  rows = world.rows(0, 1, 1000);
  world.add(rows, 2, 9);
  REQUIRE(named.learn(rows).ok());
  REQUIRE(named.learner.rename(named.score(world.rows(2, 2, 1)).id[0], "mine").ok());
  rows = world.rows(0, 1, 490);
  world.add(rows, 2, 20);
  REQUIRE(named.learn(rows).ok());
  CHECK(named.events_of(ClusterEventKind::kBorn).size() == 1);
}

TEST_CASE("every kind is novel when it comes, is born in its stream, and keeps its id") {
  for (const FactorShape covariance : {FactorShape::kLower, FactorShape::kDiagonal}) {
    LearnerConfig config = small_config(5, 200);
    config.shape.covariance = covariance;
    LearnerFixture f(config);
    World world(5, 8, 6.0, 61);
    std::vector<ClusterId> id_of_kind;
    for (Index kind = 0; kind < world.kinds; ++kind) {
      CAPTURE(kind);
      const std::vector<float> fresh = world.rows(kind, kind, 20);
      const auto scored = f.score(fresh);
      for (const float novelty : scored.novelty) CHECK(novelty > 0.5F);
      std::vector<float> rows = world.rows(0, kind, 15);
      world.add(rows, kind, 20);
      REQUIRE(f.learn(rows).ok());
      CHECK(f.learner.mixture().clusters() == kind + 1);
      id_of_kind.push_back(f.score(world.rows(kind, kind, 1)).id[0]);
    }
    const auto born = f.events_of(ClusterEventKind::kBorn);
    REQUIRE(born.size() == 7);
    for (std::size_t i = 0; i < born.size(); ++i) {
      CHECK(born[i].stream == i + 2);
      CHECK(born[i].gain > 0.0);
      CHECK(born[i].rows > 10.0);
    }
    CHECK(std::set<ClusterId>(id_of_kind.begin(), id_of_kind.end()).size() == 8);
    // Nothing new any more: ids stay, nothing is born.
    for (int stream = 0; stream < 30; ++stream) REQUIRE(f.learn(world.rows(0, 7, 20)).ok());
    CHECK(f.events_of(ClusterEventKind::kBorn).size() == 7);
    for (Index kind = 0; kind < world.kinds; ++kind) {
      const auto scored = f.score(world.rows(kind, kind, 20));
      for (const ClusterId id : scored.id) {
        CHECK(id == id_of_kind[static_cast<std::size_t>(kind)]);
      }
    }
  }
}

TEST_CASE(
    "rows are conserved exactly over 1,000 streams with births, merges, corrections and a pool") {
  LearnerConfig config = small_config(2, 60);
  config.pending_rows = 20;
  LearnerFixture f(config);
  f.learner.settings().row_weight = 0.7;
  World world(2, 12, 20.0, 62);
  double seen = 0.0;
  std::set<ClusterId> alive_once;
  std::set<ClusterId> forgotten;
  for (int stream = 0; stream < 1000; ++stream) {
    std::vector<float> rows;
    const Index n = 1 + world.random.below(60);
    for (Index i = 0; i < n; ++i) {
      if (world.random.below(40) == 0) {  // a stray
        for (int j = 0; j < 2; ++j) rows.push_back(50.0F * world.random.uniform_float());
      } else {
        world.add(rows, (stream / 80 + world.random.below(3)) % 12, 1);
      }
    }
    REQUIRE(f.learn(rows).ok());
    seen += static_cast<double>(n);
    if (stream % 20 == 19 && f.learner.mixture().clusters() > 2) {
      // A heavy hand: two clusters are made one, and two again by a cut; now and then one is
      // forgotten, so that its kind is born again.
      const ComponentRegistry& registry = f.learner.registry();
      const ClusterId id = registry.info(0).cluster;
      MoveRecord record;
      REQUIRE(f.learner.merge(id, registry.info(1).cluster, true, record).ok());
      REQUIRE(f.learner.split(id, true, record).ok());
      if (stream % 40 == 19) {
        REQUIRE(f.learner.forget(id).ok());
        forgotten.insert(id);
      }
    }
    REQUIRE(f.learner.rows_seen() == seen);
    double sum =
        f.learner.mixture().rows_faded() + static_cast<double>(f.learner.pending().count());
    for (Index k = 0; k < f.learner.mixture().clusters(); ++k) {
      sum += f.learner.mixture().rows_of(k);
      const ClusterId id = f.learner.registry().info(k).cluster;
      REQUIRE(id != kNoId);
      alive_once.insert(id);
    }
    REQUIRE(sum == seen);
  }
  // Every id that ever lived still leads to a living one, or to one that was forgotten.
  for (const ClusterId id : alive_once) {
    const ClusterId now = f.learner.registry().clusters().resolve(id);
    const bool lives = f.learner.registry().clusters().find(now) >= 0;
    CHECK((lives || now == kNoId));
    if (forgotten.count(id) != 0) CHECK_FALSE(lives);
  }
  const auto born = f.events_of(ClusterEventKind::kBorn).size();
  const auto merged = f.events_of(ClusterEventKind::kMerged).size();
  MESSAGE(born << " births, " << merged << " merges, " << f.learner.pending().count()
               << " pending, K " << f.learner.mixture().clusters());
  CHECK(born > 11);
  CHECK(merged > 15);
}

TEST_CASE("a few rows of a new kind wait in the pool until there are enough") {
  LearnerConfig config = small_config(6, 200);
  config.pending_rows = 50;
  LearnerFixture with(config);
  config.pending_rows = 0;
  LearnerFixture without(config);
  World world(6, 4, 6.0, 63);
  REQUIRE(with.learn(world.rows(0, 2, 60)).ok());
  REQUIRE(without.learn(world.rows(0, 2, 60)).ok());
  for (int stream = 0; stream < 8; ++stream) {
    std::vector<float> rows = world.rows(0, 2, 60);
    world.add(rows, 3, 2);
    REQUIRE(with.learn(rows).ok());
    REQUIRE(without.learn(rows).ok());
  }
  CHECK(with.events_of(ClusterEventKind::kBorn).size() == 3);
  CHECK(without.events_of(ClusterEventKind::kBorn).size() == 2);
  CHECK(with.learner.pending().count() < 16);
  const auto novel = with.score(world.rows(3, 3, 20));
  const auto known = with.score(world.rows(0, 0, 20));
  for (const ClusterId id : novel.id) CHECK(id != known.id[0]);
}

TEST_CASE("a wide cluster of a few strays does not keep a new kind out of the pool") {
  LearnerConfig config = small_config(6, 2100);
  config.pending_rows = 50;
  for (const std::uint64_t seed : {71, 72, 73, 74}) {
    CAPTURE(seed);
    LearnerFixture f(config);
    World world(6, 3, 8.0, seed);
    std::vector<float> rows = world.rows(0, 1, 1000);
    for (int i = 0; i < 16 * 6; ++i) {  // all over the place
      rows.push_back(static_cast<float>(12.0 * sample_normal(world.random)));
    }
    REQUIRE(f.learn(rows).ok());
    for (int stream = 0; stream < 8; ++stream) {
      rows = world.rows(0, 1, 100);
      world.add(rows, 2, 2);
      REQUIRE(f.learn(rows).ok());
    }
    Index later = 0;
    for (const ClusterEvent& event : f.events_of(ClusterEventKind::kBorn)) {
      later += event.stream > 1 ? 1 : 0;
    }
    CHECK(later == 1);
    std::set<ClusterId> ids;
    for (const ClusterId id : f.score(world.rows(2, 2, 20)).id) ids.insert(id);
    CHECK(ids.size() == 1);
  }
}

TEST_CASE("the false-alarm rate is kept on rows that were not learnt") {
  for (const double rate : {0.01, 0.05}) {
    CAPTURE(rate);
    LearnerFixture f(small_config(6, 1000));
    f.learner.settings().novelty.false_alarm_rate = rate;
    World world(6, 5, 5.0, 64);
    for (int stream = 0; stream < 20; ++stream) REQUIRE(f.learn(world.rows(0, 4, 200)).ok());
    const std::vector<float> rows = world.rows(0, 4, 8000);
    const auto scored = f.score(rows);
    double alarms = 0.0;
    for (const float novelty : scored.novelty) alarms += novelty > 0.5F ? 1.0 : 0.0;
    const double measured = alarms / 40000.0;
    MESSAGE("asked " << rate << ", measured " << measured);
    CHECK(measured > 0.8 * rate);
    CHECK(measured < 1.2 * rate);
    // More sensitive: more alarms.
    f.learner.settings().novelty.sensitivity = 2.0;
    const auto nervous = f.score(rows);
    for (std::size_t i = 0; i < rows.size() / 6; ++i) {
      REQUIRE(nervous.novelty[i] > scored.novelty[i]);
    }
  }
}

TEST_CASE("why a row is novel: nearest cluster, distance, and the dimensions that make it") {
  for (const FactorShape covariance : {FactorShape::kLower, FactorShape::kDiagonal}) {
    LearnerConfig config = small_config(4, 400);
    config.shape.covariance = covariance;
    LearnerFixture f(config);
    World world(4, 2, 8.0, 65);
    REQUIRE(f.learn(world.rows(0, 1, 200)).ok());
    std::vector<float> row = world.rows(1, 1, 1);
    row[2] += 9.0F;  // far out in one dimension
    double contribution[4];
    const NoveltyReason reason = f.learner.explain(row.data(), contribution);
    const auto scored = f.score(row);
    CHECK(reason.nearest == f.score(world.rows(1, 1, 1)).id[0]);
    CHECK(reason.surprise == doctest::Approx(-scored.score[0].log_density).epsilon(1e-4));
    CHECK((reason.surprise > reason.boundary) == (scored.novelty[0] > 0.5F));
    CHECK(reason.squared_distance > 50.0);
    double sum = 0.0;
    for (const double part : contribution) sum += part;
    CHECK(sum == doctest::Approx(reason.squared_distance));
    CHECK(contribution[2] > 0.7 * sum);
  }
}

TEST_CASE("the past fades by rows or by time, and nothing is lost from the books") {
  LearnerFixture f(small_config(3, 100));
  f.learner.settings().half_life_rows = 100.0;
  World world(3, 1, 0.0, 66);
  for (int stream = 0; stream < 40; ++stream) REQUIRE(f.learn(world.rows(0, 0, 100)).ok());
  CHECK(f.learner.mixture().mass(0) == doctest::Approx(200.0).epsilon(1e-6));  // 100/(1 - 1/2)
  CHECK(f.learner.rows_seen() == 4000.0);
  CHECK(f.learner.mixture().rows_of(0) + f.learner.mixture().rows_faded() == 4000.0);

  LearnerFixture timed(small_config(3, 100));
  timed.learner.settings().half_life_time = 10.0;
  const std::vector<float> rows = world.rows(0, 0, 100);
  const ConstMatrixView view(rows.data(), 100, 3);
  REQUIRE(timed.learner.learn(timed.backend, view, {}, 5.0).ok());
  REQUIRE(timed.learner.learn(timed.backend, view, {}, 25.0).ok());
  CHECK(timed.learner.mixture().mass(0) == doctest::Approx(125.0));
  const auto before = timed.saved();
  CHECK_FALSE(timed.learner.learn(timed.backend, view, {}, 24.0).ok());
  CHECK_FALSE(timed.learner.learn(timed.backend, view, {}, NAN).ok());
  CHECK(timed.saved() == before);
}

TEST_CASE("the same calls give the same bytes, over a save and load as well") {
  LearnerConfig config = small_config(4, 150);
  config.pending_rows = 30;
  LearnerFixture a(config);
  LearnerFixture b(config);
  World world(4, 6, 5.0, 67);
  std::vector<std::vector<float>> streams;
  for (int i = 0; i < 12; ++i) streams.push_back(world.rows(0, std::min(i, 5), 20));
  for (int i = 0; i < 12; ++i) {
    REQUIRE(a.learn(streams[static_cast<std::size_t>(i)]).ok());
    REQUIRE(b.learn(streams[static_cast<std::size_t>(i)]).ok());
    const auto state = a.saved();
    REQUIRE(!state.empty());
    REQUIRE(b.saved() == state);
    // b goes on in a new body.
    LearnerFixture c(config);
    ByteReader reader(state.data(), state.size());
    REQUIRE(c.learner.load(reader).ok());
    CHECK(reader.remaining() == 0);
    REQUIRE(c.saved() == state);
    if (i == 11) continue;
    REQUIRE(c.learn(streams[static_cast<std::size_t>(i + 1)]).ok());
    LearnerFixture d(config);
    ByteReader again(state.data(), state.size());
    REQUIRE(d.learner.load(again).ok());
    REQUIRE(d.learn(streams[static_cast<std::size_t>(i + 1)]).ok());
    REQUIRE(c.saved() == d.saved());
  }
}

TEST_CASE("a state that has been tampered with is refused or at least harmless") {
  LearnerConfig config = small_config(3, 100);
  config.pending_rows = 10;
  LearnerFixture f(config);
  World world(3, 4, 6.0, 68);
  for (int i = 0; i < 4; ++i) REQUIRE(f.learn(world.rows(0, i, 20)).ok());
  const auto state = f.saved();
  LearnerFixture target(config);
  REQUIRE(target.learn(world.rows(0, 1, 20)).ok());
  const auto before = target.saved();
  for (std::size_t length = 0; length < state.size(); length += 7) {
    ByteReader reader(state.data(), length);
    REQUIRE_FALSE(target.learner.load(reader).ok());
    REQUIRE(target.saved() == before);
  }
  Philox random({.seed = 69});
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    auto bad = state;
    for (int flips = 0; flips < 3; ++flips) {
      bad[random.below(static_cast<std::uint32_t>(bad.size()))] ^=
          static_cast<std::uint8_t>(1U << random.below(8));
    }
    ByteReader reader(bad.data(), bad.size());
    LearnerFixture victim(config);
    if (!victim.learner.load(reader).ok()) {
      ++refused;
      continue;
    }
    // Numbers may be wrong, but nothing breaks and nothing becomes NaN.
    if (trial % 20 != 0) continue;
    REQUIRE(victim.learn(world.rows(0, 3, 20)).ok());
    const auto scored = victim.score(world.rows(0, 3, 2));
    for (const float novelty : scored.novelty) REQUIRE(novelty >= 0.0F);
  }
  CHECK(refused > 0);
}

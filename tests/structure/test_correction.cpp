// The user's corrections: each does what it says, needs consent unless forced, and can be undone to
// the byte.
#include <cstring>
#include <set>

#include <doctest/doctest.h>

#include "support/learner_fixture.h"
#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kDims = 3;

// Rows around the points 10·e_kind.
std::vector<float> kinds(Index rows, Index count, Philox& random) {
  std::vector<float> values(static_cast<std::size_t>(rows * kDims));
  for (Index i = 0; i < rows; ++i) {
    const Index kind = i % count;
    for (Index j = 0; j < kDims; ++j) {
      values[static_cast<std::size_t>(i * kDims + j)] =
          static_cast<float>((j == kind ? 10.0 : 0.0) + sample_normal(random));
    }
  }
  return values;
}

struct Corrected : LearnerFixture {
  Corrected() : LearnerFixture(configuration()), random({.seed = 51}) {
    REQUIRE(learn(kinds(300, 3, random)).ok());
    REQUIRE(learner.mixture().clusters() == 3);
    for (Index k = 0; k < 3; ++k) ids.push_back(learner.registry().info(k).cluster);
  }
  static LearnerConfig configuration() {
    LearnerConfig config;
    config.shape.dims = kDims;
    config.max_rows = 300;
    config.max_clusters = 6;
    config.undo_steps = 3;
    config.aliases = 64;
    return config;
  }

  Philox random;
  std::vector<ClusterId> ids;
};

}  // namespace

TEST_CASE("a merge needs the bound's consent, or force") {
  Corrected f;
  const auto before = f.saved();
  MoveRecord record;
  REQUIRE(f.learner.merge(f.ids[0], f.ids[1], false, record).ok());
  CHECK(record.outcome == MoveOutcome::kBoundWouldFall);
  CHECK(record.gain < 0.0);
  CHECK(f.saved() == before);

  const double bound = f.learner.mixture().bound().total();
  REQUIRE(f.learner.merge(f.ids[0], f.ids[1], true, record).ok());
  CHECK(record.outcome == MoveOutcome::kAccepted);
  // The evidence is against it: the components stay as they are, and are one cluster.
  CHECK(f.learner.mixture().clusters() == 3);
  CHECK(f.learner.registry().clusters().count() == 2);
  CHECK(f.learner.mixture().bound().total() == bound);
  CHECK(f.learner.mixture().rows_learnt() == 300.0);
  CHECK(f.learner.registry().clusters().resolve(f.ids[1]) == f.ids[0]);
  CHECK(f.learner.registry().clusters().find(f.ids[1]) == -1);

  REQUIRE(f.learner.undo().ok());
  CHECK(f.saved() == before);
  CHECK(f.learner.registry().clusters().resolve(f.ids[1]) == f.ids[1]);
}

TEST_CASE("a split parts a cluster in two and conserves all it holds") {
  Corrected f;
  MoveRecord record;
  const auto before = f.saved();
  // Moments alone are no evidence of two kinds: the bound does not consent.
  REQUIRE(f.learner.split(f.ids[0], false, record).ok());
  CHECK(record.outcome == MoveOutcome::kBoundWouldFall);
  CHECK(f.saved() == before);
  const double bound = f.learner.mixture().bound().total();
  ClusterId part = kNoId;
  REQUIRE(f.learner.split(f.ids[0], true, record, &part).ok());
  REQUIRE(record.outcome == MoveOutcome::kAccepted);
  CHECK(f.learner.mixture().bound().total() - bound == doctest::Approx(record.gain));
  CHECK(f.learner.mixture().clusters() == 4);
  CHECK(f.learner.registry().clusters().count() == 4);
  CHECK(f.learner.mixture().rows_learnt() == 300.0);
  const auto split = f.events_of(ClusterEventKind::kSplit);
  REQUIRE(split.size() == 1);
  CHECK(split[0].id == f.ids[0]);
  CHECK(split[0].other == part);
  CHECK(part > f.ids[2]);  // a new id
  REQUIRE(f.learner.undo().ok());
  CHECK(f.saved() == before);
}

TEST_CASE("a cluster of several components is split between them, and stays so") {
  Corrected f;
  f.learner.settings().group = true;
  MoveRecord record;
  REQUIRE(f.learner.merge(f.ids[0], f.ids[1], true, record).ok());
  REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  REQUIRE(f.learner.registry().clusters().count() == 2);
  const auto before = f.saved();
  ClusterId part = kNoId;
  REQUIRE(f.learner.split(f.ids[0], false, record, &part).ok());
  CHECK(record.outcome == MoveOutcome::kBoundWouldFall);
  CHECK(f.saved() == before);
  REQUIRE(f.learner.split(f.ids[0], true, record, &part).ok());
  CHECK(record.outcome == MoveOutcome::kAccepted);
  CHECK(f.learner.mixture().clusters() == 3);
  CHECK(part > f.ids[2]);
  // Rows of each kind agree on an id.
  for (int stream = 0; stream < 3; ++stream) {
    const auto scored = f.score(kinds(30, 3, f.random));
    for (std::size_t i = 3; i < 30; ++i) CHECK(scored.id[i] == scored.id[i - 3]);
    CHECK(std::set<ClusterId>(scored.id.begin(), scored.id.end()) ==
          std::set<ClusterId>{f.ids[0], f.ids[2], part});
    REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  }
  REQUIRE(f.learner.merge(f.ids[0], part, true, record).ok());
  CHECK(f.learner.registry().clusters().resolve(part) == f.ids[0]);
  REQUIRE(f.learner.undo().ok());
  CHECK(f.learner.registry().clusters().resolve(part) == part);
}

TEST_CASE("what the user forced holds in later streams") {
  Corrected f;
  MoveRecord record;
  REQUIRE(f.learner.merge(f.ids[0], f.ids[1], true, record).ok());
  for (int stream = 0; stream < 8; ++stream) REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  CHECK(f.learner.registry().clusters().count() == 2);
  auto scored = f.score(kinds(3, 3, f.random));
  CHECK(std::set<ClusterId>(scored.id.begin(), scored.id.end()) ==
        std::set<ClusterId>{f.ids[0], f.ids[2]});

  // Not for a kind that is new to it.
  std::vector<float> rows = kinds(270, 3, f.random);
  for (int i = 0; i < 30 * kDims; ++i) {
    rows.push_back(static_cast<float>(-15.0 + sample_normal(f.random)));
  }
  REQUIRE(f.learn(rows).ok());
  CHECK(f.learner.registry().clusters().count() == 3);

  // Two halves of one kind would be merged at once, but for the user's word.
  REQUIRE(f.learner.split(f.ids[2], true, record).ok());
  REQUIRE(record.gain < 0.0);
  for (int stream = 0; stream < 8; ++stream) REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  CHECK(f.learner.registry().clusters().count() == 4);
  const ClusterId half = f.events_of(ClusterEventKind::kSplit)[0].other;
  REQUIRE(f.learner.merge(f.ids[2], half, false, record).ok());
  CHECK(record.outcome == MoveOutcome::kAccepted);
}

TEST_CASE("a forgotten cluster is gone, its rows are novel, and its id is nobody's") {
  Corrected f;
  const auto scored = f.score(kinds(3, 3, f.random));
  const ClusterId gone = scored.id[0];
  const auto before = f.saved();
  REQUIRE(f.learner.forget(gone).ok());
  CHECK(f.learner.mixture().clusters() == 2);
  CHECK(f.learner.registry().clusters().resolve(gone) == kNoId);
  CHECK(f.learner.mixture().rows_faded() == 100.0);
  CHECK(f.learner.rows_seen() == 300.0);
  const auto after = f.score(kinds(3, 3, f.random));
  CHECK(after.novelty[0] > 0.5F);
  CHECK(after.novelty[1] < 0.5F);
  REQUIRE(f.learner.undo().ok());
  CHECK(f.saved() == before);

  // All of them: there is always a cluster, but it holds nothing.
  for (const ClusterId id : f.ids) REQUIRE(f.learner.forget(id).ok());
  CHECK(f.learner.mixture().clusters() == 1);
  CHECK(f.learner.mixture().rows_of(0) == 0.0);
  CHECK(f.learner.registry().info(0).cluster > f.ids[2]);
  REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  CHECK(f.learner.mixture().clusters() == 3);
  CHECK(f.learner.rows_seen() == 600.0);
}

TEST_CASE("names stay with their cluster, and a merge keeps the survivor's") {
  Corrected f;
  REQUIRE(f.learner.rename(f.ids[0], "healthy").ok());
  REQUIRE(f.learner.rename(f.ids[1], "0123456789012345678901234567890").ok());  // 31 bytes
  CHECK_FALSE(f.learner.rename(f.ids[1], "01234567890123456789012345678901").ok());
  REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  const Index at = f.learner.registry().clusters().find(f.ids[0]);
  CHECK(std::strcmp(f.learner.registry().clusters()[at].name, "healthy") == 0);
  MoveRecord record;
  REQUIRE(f.learner.merge(f.ids[2], f.ids[0], true, record).ok());  // the other has the name
  CHECK(std::strcmp(
            f.learner.registry().clusters()[f.learner.registry().clusters().find(f.ids[2])].name,
            "healthy") == 0);
}

TEST_CASE("undo goes back step by step, no further than it remembers, and not over a stream") {
  Corrected f;
  std::vector<std::vector<std::uint8_t>> states;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    states.push_back(f.saved());
    REQUIRE(f.learner.rename(f.ids[0], name).ok());
  }
  CHECK(f.learner.undo_steps() == 3);
  for (std::size_t back = 1; back <= 3; ++back) {
    REQUIRE(f.learner.undo().ok());
    CHECK(f.saved() == states[5 - back]);
  }
  const auto oldest = f.saved();
  CHECK_FALSE(f.learner.undo().ok());
  CHECK(f.saved() == oldest);
  REQUIRE(f.learner.rename(f.ids[0], "z").ok());
  REQUIRE(f.learn(kinds(300, 3, f.random)).ok());
  CHECK_FALSE(f.learner.undo().ok());
}

TEST_CASE("a correction that cannot be made says so and changes nothing") {
  Corrected f;
  const auto before = f.saved();
  MoveRecord record;
  CHECK_FALSE(f.learner.rename(999, "x").ok());
  CHECK_FALSE(f.learner.rename(kNoId, "x").ok());
  CHECK_FALSE(f.learner.merge(f.ids[0], f.ids[0], true, record).ok());
  CHECK_FALSE(f.learner.merge(f.ids[0], 999, true, record).ok());
  CHECK_FALSE(f.learner.split(999, true, record).ok());
  CHECK_FALSE(f.learner.forget(999).ok());
  CHECK(f.saved() == before);

  for (int i = 0; i < 3; ++i) REQUIRE(f.learner.split(f.ids[0], true, record).ok());
  CHECK(f.learner.mixture().clusters() == 6);
  REQUIRE(f.learner.split(f.ids[0], true, record).ok());
  CHECK(record.outcome == MoveOutcome::kNoRoom);

  const std::vector<float> rows = kinds(30, 3, f.random);
  REQUIRE(f.learner.begin({rows.data(), 30, kDims}, {}, 1).ok());
  CHECK_FALSE(f.learner.forget(f.ids[0]).ok());
  CHECK_FALSE(f.learner.undo().ok());
  f.learner.fit(f.backend);
  f.learner.close(f.backend);
}

// Rows that nobody would wish for give a defined result, never a NaN; bad calls change nothing; and
// no call allocates.
#include <cmath>

#include <doctest/doctest.h>

#include "support/allocation_trap.h"
#include "support/learner_fixture.h"
#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

LearnerConfig hostile_config(FactorShape covariance, Index dims) {
  LearnerConfig config;
  config.shape = {covariance, dims};
  config.max_rows = 200;
  config.max_clusters = 5;
  config.pending_rows = 10;
  config.aliases = 32;
  return config;
}

void check_sound(LearnerFixture& f, const std::vector<float>& rows, double seen) {
  const Mixture& mixture = f.learner.mixture();
  REQUIRE(std::isfinite(mixture.bound().total()));
  REQUIRE(f.learner.rows_seen() == seen);
  REQUIRE(std::isfinite(f.learner.boundary()));
  for (Index k = 0; k < mixture.clusters(); ++k) {
    REQUIRE(std::isfinite(mixture.posterior(k).log_determinant));
    for (Index i = 0; i < mixture.config().shape.dims; ++i) {
      REQUIRE(std::isfinite(mixture.posterior(k).mean[i]));
    }
  }
  const auto scored = f.score(rows);
  for (std::size_t i = 0; i < scored.score.size(); ++i) {
    REQUIRE(std::isfinite(scored.score[i].log_density));
    REQUIRE(scored.novelty[i] >= 0.0F);
    REQUIRE(scored.novelty[i] <= 1.0F);
  }
}

}  // namespace

TEST_CASE("identical, flat, lonely, tiny and huge rows") {
  for (const FactorShape covariance : {FactorShape::kLower, FactorShape::kDiagonal}) {
    for (const double scale : {1.0, 1e-15, 1e15, 1e-3, 1e6}) {
      for (int kind = 0; kind < 8; ++kind) {
        CAPTURE(scale);
        CAPTURE(kind);
        constexpr Index kDims = 4;
        LearnerFixture f(hostile_config(covariance, kDims));
        Philox random({.seed = 71, .index = static_cast<std::uint32_t>(kind)});
        double seen = 0.0;
        for (int stream = 0; stream < 4; ++stream) {
          const Index n = kind == 2 ? 1 : 120;
          std::vector<float> rows(static_cast<std::size_t>(n * kDims));
          for (Index i = 0; i < n; ++i) {
            const double base = sample_normal(random);
            for (Index j = 0; j < kDims; ++j) {
              double x = 0.0;
              switch (kind) {
                case 0:
                  x = 3.0;
                  break;  // identical
                case 1:
                  x = base * static_cast<double>(j + 1);
                  break;  // rank one
                case 2:
                  x = sample_normal(random);
                  break;  // one row a stream
                case 3:
                  x = 0.0;
                  break;  // zeros
                case 4:
                  x = i == 0 ? 1e8 : sample_normal(random);
                  break;  // one wild row
                case 5:
                  x = stream < 2 ? 1.0 : sample_normal(random);
                  break;  // dead, then alive
                case 7:
                  x = stream > 0 && i == 5 ? 1e22 : sample_normal(random);
                  break;  // wild, later
                default:
                  x = 1e4 + 1e-3 * sample_normal(random);
                  break;  // far from the origin
              }
              rows[static_cast<std::size_t>(i * kDims + j)] = static_cast<float>(scale * x);
            }
          }
          REQUIRE(f.learn(rows).ok());
          seen += static_cast<double>(n);
          check_sound(f, rows, seen);
        }
      }
    }
  }
}

TEST_CASE("more kinds than clusters: the maximum holds and says so") {
  LearnerFixture f(hostile_config(FactorShape::kLower, 3));
  Philox random({.seed = 72});
  for (int stream = 0; stream < 10; ++stream) {
    const std::vector<float> rows = clumped_rows(200, 3, 9, 30.0, random);
    REQUIRE(f.learn(rows).ok());
    CHECK(f.learner.mixture().clusters() <= 5);
    check_sound(f, rows, 200.0 * (stream + 1));
  }
  bool told = false;
  for (const ClusterEvent& e : f.events_of(ClusterEventKind::kRefused)) {
    told = told || e.outcome == MoveOutcome::kNoRoom;
  }
  CHECK(told);
}

TEST_CASE("an empty stream is nothing; a bad one is refused and changes nothing") {
  LearnerFixture f(hostile_config(FactorShape::kLower, 2));
  Philox random({.seed = 73});
  const std::vector<float> rows = clumped_rows(50, 2, 2, 8.0, random);
  REQUIRE(f.learn(rows).ok());
  const auto before = f.saved();
  ClusterLearner& learner = f.learner;
  REQUIRE(learner.learn(f.backend, {rows.data(), 0, 2}, {}).ok());
  CHECK(f.saved() == before);

  std::vector<float> bad = rows;
  bad[33] = NAN;
  const Status nan = learner.learn(f.backend, {bad.data(), 50, 2}, {});
  CHECK(nan.code() == StatusCode::kNonFinite);
  CHECK(nan.index() == 16);
  CHECK_FALSE(learner.learn(f.backend, {rows.data(), 25, 3}, {}).ok());
  CHECK_FALSE(learner.learn(f.backend, {rows.data(), 201, 2}, {}).ok());
  CHECK_FALSE(learner.learn(f.backend, {rows.data(), 50, 2}, {rows.data(), 49, 2}).ok());
  CHECK_FALSE(learner.learn(f.backend, {rows.data(), 50, 2}, {rows.data(), 50, 2}).ok());  // < 0
  learner.settings().row_weight = 1.5;
  CHECK_FALSE(f.learn(rows).ok());
  learner.settings().row_weight = 1.0;
  CHECK(f.saved() == before);
  REQUIRE(f.learn(rows).ok());
}

TEST_CASE("no call allocates") {
  if (!allocation_trap_active()) return;
  LearnerFixture f(hostile_config(FactorShape::kLower, 3));
  Philox random({.seed = 74});
  std::vector<std::vector<float>> streams;
  for (int i = 0; i < 5; ++i) streams.push_back(clumped_rows(200, 3, 1 + i, 12.0, random));
  std::vector<RowScore> score(200);
  std::vector<float> novelty(200);
  std::vector<float> r(200 * 5);
  std::vector<std::uint8_t> state(ClusterLearner::most_bytes(f.learner.config()));
  int failures = 0;
  const AllocationCount before = allocation_count();
  for (const auto& rows : streams) {
    failures += f.learner.learn(f.backend, {rows.data(), 200, 3}, {}).ok() ? 0 : 1;
    f.learner.score(f.backend, {rows.data(), 200, 3}, {},
                    {r.data(), 200, f.learner.mixture().clusters()}, score.data(), novelty.data());
  }
  MoveRecord record;
  const ClusterId id = f.learner.registry().info(0).cluster;
  failures += f.learner.rename(id, "x").ok() ? 0 : 1;
  failures += f.learner.split(id, true, record).ok() ? 0 : 1;
  failures += f.learner.undo().ok() ? 0 : 1;
  double contribution[3];
  f.learner.explain(streams[0].data(), contribution);
  ByteWriter writer(state.data(), state.size());
  f.learner.save(writer);
  ByteReader reader(state.data(), writer.position());
  failures += f.learner.load(reader).ok() ? 0 : 1;
  const AllocationCount after = allocation_count();
  CHECK(failures == 0);
  CHECK(after.allocations == before.allocations);
}

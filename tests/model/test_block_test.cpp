// Whether a block brings anything new, judged by its rows as they came.
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "model/block_test.h"
#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

NoveltyScale counted(Index rows) {
  NoveltyScale scale;
  scale.reset(2);
  Philox random({.seed = 1});
  for (Index i = 0; i < rows; ++i) scale.count(sample_normal(random), 0.0, {});
  return scale;
}

std::vector<float> surprises(std::uint64_t seed, Index rows, double shift) {
  Philox random({.seed = seed});
  std::vector<float> out;
  for (Index i = 0; i < rows; ++i) out.push_back(static_cast<float>(shift + sample_normal(random)));
  return out;
}

double evidence(const NoveltyScale& scale, const std::vector<float>& rows, double effective = 1.0) {
  const auto n = static_cast<Index>(rows.size());
  BlockTest test(effective * static_cast<double>(n), n);
  test.compare(scale, rows.data());
  CHECK(test.explained() == !(test.evidence() > 7.0));
  return test.evidence();
}

}  // namespace

TEST_CASE("block test: ordinary blocks are explained, whatever their size") {
  const NoveltyScale scale = counted(20000);
  int unexplained = 0;
  for (std::uint64_t seed = 100; seed < 1100; ++seed) {
    for (const Index rows : {1, 20, 300}) {
      unexplained += evidence(scale, surprises(seed, rows, 0.0)) > 7.0 ? 1 : 0;
    }
  }
  CHECK(unexplained <= 6);  // two bets at one in 1,100 each
}

TEST_CASE("block test: rows that are all a little odd, and a few that are very odd, are noticed") {
  const NoveltyScale scale = counted(20000);
  CHECK(evidence(scale, surprises(7, 300, 0.7)) > 7.0);
  std::vector<float> few = surprises(8, 188, 0.0);
  few.insert(few.end(), 12, 30.0F);
  CHECK(evidence(scale, few) > 7.0);
  // Less surprising than usual is nothing new.
  CHECK(evidence(scale, surprises(9, 300, -2.0)) <= 0.0);
  // One row is none.
  std::vector<float> one = surprises(8, 199, 0.0);
  one.push_back(1e6F);
  CHECK(evidence(scale, one) < 7.0);
}

TEST_CASE("block test: rows that resemble each other count less") {
  const NoveltyScale scale = counted(20000);
  const std::vector<float> rows = surprises(7, 300, 0.7);
  CHECK(evidence(scale, rows, 0.05) == doctest::Approx(0.05 * evidence(scale, rows)));
  // Not so rows that are as nothing before them.
  std::vector<float> few = surprises(8, 188, 0.0);
  few.insert(few.end(), 12, 30.0F);
  CHECK(evidence(scale, few, 0.05) > 7.0);
}

TEST_CASE("block test: the network keeps learning while errors of fresh rows fall") {
  const auto improving = [](double deviations, double effective_rows, double usual_rows) {
    BlockTest test(effective_rows, 100);
    test.compare_errors(deviations, 100.0, 1.0 / usual_rows);
    CHECK(test.explained() == !test.improving());
    return test.improving();
  };
  CHECK(improving(-1.0, 100.0, 1000.0));
  CHECK_FALSE(improving(-0.1, 100.0, 1000.0));
  CHECK_FALSE(improving(1.0, 100.0, 1000.0));
  // The same improvement of fewer rows may be chance.
  CHECK_FALSE(improving(-1.0, 2.0, 1000.0));
  CHECK_FALSE(improving(-1.0, 100.0, 2.0));
}

TEST_CASE("a block that brings nothing new adds its rows and changes nothing else") {
  ModelFixture f;
  StreamReport report;
  std::uint32_t number = 0;
  for (; number < 8; ++number) {
    REQUIRE(f.model.learn(f.backend, kinds(0, 2, 400, number).view(), &report).ok());
  }
  const std::vector<float> before(
      f.model.network().parameters(),
      f.model.network().parameters() + f.model.network().parameter_count());
  const Index clusters = report.clusters;
  for (; number < 30; ++number) {
    REQUIRE(f.model.learn(f.backend, kinds(0, 2, 400, number).view(), &report).ok());
    CHECK(report.births == 0);
    CHECK(report.replay_rows == 0);
    CHECK(report.loss.loss != 0.0);
  }
  CHECK(report.clusters == clusters);
  CHECK(std::equal(before.begin(), before.end(), f.model.network().parameters()));
  CHECK(f.model.rows_learnt() == 30 * 400);
  CHECK(f.model.clusters().rows_seen() == 30.0 * 400.0);
  // Something new is learnt at once.
  REQUIRE(f.model.learn(f.backend, kinds(0, 3, 400, number).view(), &report).ok());
  CHECK(report.births >= 1);
  CHECK_FALSE(std::equal(before.begin(), before.end(), f.model.network().parameters()));
}

// Divisions: what is parted sums exactly to what was, and two kinds that shared a cluster from the
// start are told apart once enough rows have come.
#include <cmath>

#include <doctest/doctest.h>

#include "support/learner_fixture.h"
#include "support/mixture_fixture.h"
#include "support/own_statistics.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

OwnStatistics random_statistics(const ClusterShape& shape, Index rows, Philox& random) {
  OwnStatistics s(shape);
  std::vector<double> offset(s.mean.size());
  for (double& x : offset) x = 5.0 * sample_normal(random);
  for (Index i = 0; i < rows; ++i) {
    OwnStatistics row(shape);
    row.mass = 1.0;
    for (std::size_t j = 0; j < offset.size(); ++j) {
      row.mean[j] = offset[j] + sample_normal(random) * static_cast<double>(j + 1);
    }
    add_statistics(shape, row.ref(), 1.0, s.ref());
  }
  return s;
}

void check_sum(const ClusterShape& shape, OwnStatistics& a, OwnStatistics& b,
               OwnStatistics& whole) {
  OwnStatistics sum(shape);
  add_statistics(shape, a.ref(), 1.0, sum.ref());
  add_statistics(shape, b.ref(), 1.0, sum.ref());
  CHECK(sum.mass == doctest::Approx(whole.mass).epsilon(1e-12));
  double scale = 0.0;
  for (const double x : whole.scatter) scale = std::max(scale, std::fabs(x));
  for (std::size_t i = 0; i < sum.mean.size(); ++i) {
    CHECK(std::fabs(sum.mean[i] - whole.mean[i]) <= 1e-11 * (1.0 + std::fabs(whole.mean[i])));
  }
  for (std::size_t i = 0; i < sum.scatter.size(); ++i) {
    CHECK(std::fabs(sum.scatter[i] - whole.scatter[i]) <= 1e-10 * scale);
  }
}

// Rows of two kinds whose centres are `apart` deviations from each other in the first dimension.
std::vector<float> two_kinds(Index rows, Index m, double apart, Philox& random) {
  std::vector<float> values(static_cast<std::size_t>(rows * m));
  for (Index i = 0; i < rows; ++i) {
    const double side = random.below(2) == 0 ? -0.5 : 0.5;
    for (Index j = 0; j < m; ++j) {
      values[static_cast<std::size_t>(i * m + j)] =
          static_cast<float>((j == 0 ? side * apart : 0.0) + sample_normal(random));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("parts of a division sum to the whole") {
  for (const FactorShape covariance : {FactorShape::kLower, FactorShape::kDiagonal}) {
    for (const Index m : {Index{1}, Index{2}, Index{5}, Index{12}}) {
      CAPTURE(m);
      const ClusterShape shape = {covariance, m};
      Philox random({.seed = 41, .index = static_cast<std::uint32_t>(m)});
      std::vector<double> scratch(static_cast<std::size_t>(division_scratch(shape)));
      OwnStatistics whole = random_statistics(shape, 300, random);
      OwnStatistics half_a = random_statistics(shape, 60, random);
      OwnStatistics half_b = random_statistics(shape, 25, random);
      OwnStatistics first(shape);
      OwnStatistics second(shape);
      REQUIRE(divide_statistics(shape, whole.ref(), half_a.ref(), half_b.ref(), first.ref(),
                                second.ref(), scratch.data()));
      CHECK(second.mass / first.mass == doctest::Approx(25.0 / 60.0));
      check_sum(shape, first, second, whole);

      REQUIRE(bisect_statistics(shape, whole.ref(), first.ref(), second.ref(), scratch.data()));
      CHECK(first.mass == second.mass);
      check_sum(shape, first, second, whole);
      for (Index i = 0; i < m; ++i) {
        CHECK(first.scatter[static_cast<std::size_t>(shape.diagonal_at(i))] > 0.0);
      }
    }
  }
}

TEST_CASE("statistics too thin to divide are refused") {
  const ClusterShape shape = {FactorShape::kLower, 3};
  std::vector<double> scratch(static_cast<std::size_t>(division_scratch(shape)));
  Philox random({.seed = 42});
  OwnStatistics thin = random_statistics(shape, 2, random);  // rank 1
  OwnStatistics full = random_statistics(shape, 50, random);
  OwnStatistics empty(shape);
  OwnStatistics a(shape);
  OwnStatistics b(shape);
  const auto divide = [&](OwnStatistics& whole, OwnStatistics& x, OwnStatistics& y) {
    return divide_statistics(shape, whole.ref(), x.ref(), y.ref(), a.ref(), b.ref(),
                             scratch.data());
  };
  CHECK_FALSE(divide(empty, full, full));
  CHECK_FALSE(divide(full, empty, empty));
  CHECK_FALSE(bisect_statistics(shape, empty.ref(), a.ref(), b.ref(), scratch.data()));
  OwnStatistics point(shape);
  point.mass = 10.0;
  CHECK_FALSE(bisect_statistics(shape, point.ref(), a.ref(), b.ref(), scratch.data()));
  CHECK_FALSE(divide(point, full, full));
  static_cast<void>(thin);
}

TEST_CASE("two kinds that shared a cluster are parted, with their past, when rows have come") {
  constexpr Index kDims = 8;
  LearnerConfig config;
  config.shape.dims = kDims;
  config.max_rows = 40;
  config.max_clusters = 20;
  LearnerFixture fixture(config);
  fixture.learner.settings().prior.mode = PriorMode::kScaled;
  Philox random({.seed = 43});
  int parted_at = 0;
  for (int stream = 1; stream <= 80 && parted_at == 0; ++stream) {
    REQUIRE(fixture.learn(two_kinds(40, kDims, 5.5, random)).ok());
    if (fixture.learner.mixture().clusters() > 1) parted_at = stream;
  }
  MESSAGE("parted in stream " << parted_at);
  REQUIRE(parted_at > 1);  // one stream alone does not show it
  REQUIRE(fixture.learner.mixture().clusters() == 2);
  const auto born = fixture.events_of(ClusterEventKind::kBorn);
  REQUIRE(born.size() == 1);
  CHECK(born[0].gain > 0.0);
  // The past went with them: halves of about equal mass, each at its own kind.
  const Mixture& mixture = fixture.learner.mixture();
  const double total = mixture.rows_learnt();
  CHECK(total == 40.0 * parted_at);
  for (Index k = 0; k < 2; ++k) {
    CHECK(mixture.rows_of(k) > 0.35 * total);
    CHECK(std::fabs(std::fabs(mixture.posterior(k).mean[0]) - 2.75) < 0.6);
  }
  const auto scored = fixture.score(two_kinds(400, kDims, 5.5, random));
  int right = 0;
  for (const RowScore& s : scored.score) right += s.probability > 0.5F ? 1 : 0;
  CHECK(right == 400);
}

TEST_CASE("one kind is never parted, however long it comes") {
  LearnerConfig config;
  config.shape.dims = 3;
  config.max_rows = 200;
  config.max_clusters = 20;
  LearnerFixture fixture(config);
  Philox random({.seed = 44});
  for (int stream = 0; stream < 100; ++stream) {
    REQUIRE(fixture.learn(two_kinds(200, 3, 0.0, random)).ok());
  }
  CHECK(fixture.learner.mixture().clusters() == 1);
  CHECK(fixture.events_of(ClusterEventKind::kBorn).empty());
}

// Counts that are exact for ever, and statistics beside a two-pass computation in long double.
#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

#include "support/mixture_fixture.h"
#include "support/own_statistics.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr std::int64_t kUnits = std::int64_t{1} << 32;

// Weighted rows; variance may be empty.
struct Sample {
  Index dims = 0;
  std::vector<double> z, variance, weight;

  Index rows() const { return static_cast<Index>(weight.size()); }
  long double at(Index i, Index j) const { return z[static_cast<std::size_t>(i * dims + j)]; }
  long double weight_of(Index i) const { return weight[static_cast<std::size_t>(i)]; }
  long double variance_of(Index i, Index j) const {
    return variance.empty()
               ? 0.0L
               : static_cast<long double>(variance[static_cast<std::size_t>(i * dims + j)]);
  }
};

Sample random_sample(Index rows, Index dims, double offset, Philox& random) {
  Sample s;
  s.dims = dims;
  for (Index i = 0; i < rows; ++i) {
    s.weight.push_back(random.uniform_double());
    const double common = sample_normal(random);  // so that dimensions are correlated
    for (Index j = 0; j < dims; ++j) s.z.push_back(offset + common + 0.5 * sample_normal(random));
  }
  return s;
}

// Rows [begin, end): the mean first, then the squares about `center`, or about the mean if null.
// With a center, out.mean is Σ w (z - center). Sums are never about 0 but about the first row: a
// long double may be no wider than a double, as on 32-bit Arm, and a sum of large numbers would be
// less exact than what it is compared with.
void two_pass(const ClusterShape& shape, const Sample& s, Index begin, Index end,
              const double* center, StatisticsRef out) {
  long double mass = 0.0L;
  std::vector<long double> mean(static_cast<std::size_t>(s.dims), 0.0L);
  for (Index i = begin; i < end; ++i) mass += s.weight_of(i);
  for (Index j = 0; j < s.dims; ++j) {
    long double sum = 0.0L;
    const long double from =
        center != nullptr ? static_cast<long double>(center[j]) : s.at(begin, j);
    for (Index i = begin; i < end; ++i) sum += s.weight_of(i) * (s.at(i, j) - from);
    mean[static_cast<std::size_t>(j)] = center != nullptr ? from : from + sum / mass;
    out.mean[j] = static_cast<double>(center != nullptr ? sum : from + sum / mass);
  }
  *out.mass = static_cast<double>(mass);
  for (Index a = 0; a < s.dims; ++a) {
    for (Index b = 0; b <= a; ++b) {
      if (shape.covariance == FactorShape::kDiagonal && a != b) continue;
      long double sum = 0.0L;
      for (Index i = begin; i < end; ++i) {
        sum += s.weight_of(i) * ((s.at(i, a) - mean[static_cast<std::size_t>(a)]) *
                                     (s.at(i, b) - mean[static_cast<std::size_t>(b)]) +
                                 (a == b ? s.variance_of(i, a) : 0.0L));
      }
      const Index at = a == b ? shape.diagonal_at(a) : packed_size(a) + b;
      out.scatter[at] = static_cast<double>(sum);
    }
  }
}

// Scatters are compared with their largest diagonal entry, means with a deviation.
void check_same(const ClusterShape& shape, const StatisticsRef& got, const StatisticsRef& expected,
                double tolerance) {
  CHECK(std::fabs(*got.mass - *expected.mass) <= 1e-13 * *expected.mass);
  double largest = 0.0;
  for (Index i = 0; i < shape.dims; ++i) {
    largest = std::max(largest, expected.scatter[shape.diagonal_at(i)]);
  }
  const double deviation = std::sqrt(largest / *expected.mass);
  for (Index i = 0; i < shape.dims; ++i) {
    CHECK(std::fabs(got.mean[i] - expected.mean[i]) <= tolerance * deviation);
  }
  for (Index i = 0; i < shape.scatter_size(); ++i) {
    CHECK(std::fabs(got.scatter[i] - expected.scatter[i]) <= tolerance * largest);
  }
}

const FactorShape kShapes[] = {FactorShape::kLower, FactorShape::kDiagonal};

}  // namespace

TEST_CASE("row counts carry and borrow") {
  CHECK(RowCount{0, kUnits - 1} + RowCount{0, 1} == RowCount{1, 0});
  CHECK(RowCount{5, kUnits / 2} + RowCount{7, kUnits / 2} == RowCount{13, 0});
  CHECK(RowCount{0, kUnits - 1} + RowCount{0, kUnits - 1} == RowCount{1, kUnits - 2});
  CHECK(RowCount{1, 0} - RowCount{0, 1} == RowCount{0, kUnits - 1});
  CHECK(RowCount{9, 4} - RowCount{9, 4} == RowCount{0, 0});
  CHECK(RowCount{3, 1} - RowCount{1, 2} == RowCount{1, kUnits - 1});
  CHECK(RowCount{std::int64_t{1} << 41, kUnits / 2}.value() == 2199023255552.5);
}

TEST_CASE("a million random additions are exact beyond 2^40 rows") {
  Philox random({.seed = 41});
  RowCount sum = {std::int64_t{1} << 40, 12345};
  std::int64_t whole = sum.whole;
  std::int64_t units = sum.units;  // not carried: below 2⁵³
  const RowCount start = sum;
  std::vector<RowCount> added;
  for (int i = 0; i < 1000000; ++i) {
    const RowCount next = {random.below(1U << 22), random.next_u32()};
    whole += next.whole;
    units += next.units;
    sum = sum + next;
    if (i % 1000 == 0) {
      REQUIRE(sum == RowCount{whole + units / kUnits, units % kUnits});
    }
    added.push_back(next);
  }
  CHECK(sum == RowCount{whole + units / kUnits, units % kUnits});
  CHECK(sum.whole > std::int64_t{1} << 41);
  for (const RowCount& next : added) sum = sum - next;
  CHECK(sum == start);
}

TEST_CASE("from_mass takes a sum of responsibilities exactly") {
  CHECK(RowCount::from_mass(0.0) == RowCount{});
  CHECK(RowCount::from_mass(kResponsibilityUnit) == RowCount{0, 1});
  CHECK(RowCount::from_mass(1.0 - kResponsibilityUnit) == RowCount{0, kUnits - 1});
  CHECK(RowCount::from_mass(2000000.0 - kResponsibilityUnit) == RowCount{1999999, kUnits - 1});
  Philox random({.seed = 42});
  for (int i = 0; i < 100000; ++i) {
    const RowCount count = {random.below(2000000), random.next_u32()};
    REQUIRE(RowCount::from_mass(count.value()) == count);
  }
}

TEST_CASE("statistics added in parts equal those of all rows") {
  Philox random({.seed = 43});
  for (const FactorShape covariance : kShapes) {
    for (const double offset : {0.0, 1e3, 1e6}) {
      CAPTURE(offset);
      const ClusterShape shape = {covariance, 5};
      Sample sample = random_sample(300, 5, offset, random);
      OwnStatistics sum(shape);
      // Each part is added with a weight of its own, which its rows then have in the whole.
      const Index cuts[] = {0, 1, 2, 10, 150, 300};
      const double weights[] = {1.0, 0.5, 0.3, 1.0, 0.01};
      for (std::size_t part = 0; part < 5; ++part) {
        OwnStatistics own(shape);
        two_pass(shape, sample, cuts[part], cuts[part + 1], nullptr, own.ref());
        add_statistics(shape, own.ref(), weights[part], sum.ref());
        for (Index i = cuts[part]; i < cuts[part + 1]; ++i) {
          sample.weight[static_cast<std::size_t>(i)] *= weights[part];
        }
      }
      OwnStatistics expected(shape);
      two_pass(shape, sample, 0, 300, nullptr, expected.ref());
      // Means are rounded to 1e-16 of the offset.
      check_same(shape, sum.ref(), expected.ref(), 1e-13 + 1e-15 * offset);
    }
  }
}

TEST_CASE("a part that is taken out leaves the rest; what is no part is refused") {
  Philox random({.seed = 44});
  for (const FactorShape covariance : kShapes) {
    const ClusterShape shape = {covariance, 5};
    const Sample sample = random_sample(300, 5, 1e3, random);
    OwnStatistics whole(shape), part(shape), rest(shape);
    two_pass(shape, sample, 0, 300, nullptr, whole.ref());
    two_pass(shape, sample, 0, 20, nullptr, part.ref());
    two_pass(shape, sample, 20, 300, nullptr, rest.ref());
    REQUIRE(remove_statistics(shape, part.ref(), whole.ref()));
    check_same(shape, whole.ref(), rest.ref(), 1e-11);
    CHECK_FALSE(remove_statistics(shape, rest.ref(), part.ref()));
    OwnStatistics none(shape);
    CHECK_FALSE(remove_statistics(shape, none.ref(), rest.ref()));
    // More spread than there is.
    OwnStatistics wide = part;
    for (double& x : wide.scatter) x *= 1e6;
    CHECK_FALSE(remove_statistics(shape, wide.ref(), rest.ref()));
  }
}

TEST_CASE("adding nothing changes no bit, and adding to nothing is a copy") {
  Philox random({.seed = 44});
  for (const FactorShape covariance : kShapes) {
    const ClusterShape shape = {covariance, 3};
    const Sample sample = random_sample(20, 3, 7.0, random);
    OwnStatistics some(shape), none(shape), copy(shape);
    two_pass(shape, sample, 0, 20, nullptr, some.ref());
    const OwnStatistics before = some;
    none.mean = {1.0, 2.0, 3.0};  // of no rows: must not count
    add_statistics(shape, none.ref(), 1.0, some.ref());
    CHECK(some.mass == before.mass);
    CHECK(some.mean == before.mean);
    CHECK(some.scatter == before.scatter);
    add_statistics(shape, some.ref(), 1.0, copy.ref());
    check_same(shape, copy.ref(), some.ref(), 0.0);
  }
}

TEST_CASE("statistics from sums about a centre equal those about the mean") {
  Philox random({.seed = 45});
  for (const FactorShape covariance : kShapes) {
    for (const double offset : {0.0, 1e3, 1e6, 1e9}) {
      CAPTURE(offset);
      const ClusterShape shape = {covariance, 4};
      Sample sample = random_sample(200, 4, offset, random);
      for (std::size_t i = 0; i < sample.z.size(); ++i) {
        sample.variance.push_back(random.uniform_double());
      }
      const std::vector<double> center = {offset + 0.5, offset - 1.0, offset, offset + 2.0};
      OwnStatistics sums(shape), got(shape), expected(shape);
      two_pass(shape, sample, 0, 200, center.data(), sums.ref());
      center_statistics(shape, sums.mass, sums.mean.data(), sums.scatter.data(), center.data(),
                        got.ref());
      two_pass(shape, sample, 0, 200, nullptr, expected.ref());
      check_same(shape, got.ref(), expected.ref(), 1e-12 + 1e-15 * offset);
    }
  }
}

TEST_CASE("equal rows leave no negative diagonal; no rows leave zeros") {
  Philox random({.seed = 46});
  for (const FactorShape covariance : kShapes) {
    const ClusterShape shape = {covariance, 2};
    for (int trial = 0; trial < 1000; ++trial) {
      const double distance = 100.0 * sample_normal(random);
      const double mass = 50.0 * random.uniform_double();
      const double center[] = {1.0, -1.0};
      const double sum[] = {mass * distance, mass * distance};
      const std::vector<double> scatter(static_cast<std::size_t>(shape.scatter_size()),
                                        sum[0] * distance);
      OwnStatistics got(shape);
      center_statistics(shape, mass, sum, scatter.data(), center, got.ref());
      for (Index i = 0; i < 2; ++i) {
        const double left = got.scatter[static_cast<std::size_t>(shape.diagonal_at(i))];
        REQUIRE(left >= 0.0);
        REQUIRE(left <= 1e-12 * scatter[0]);
      }
    }
    const double zeros[3] = {};
    const double center[] = {5.0, 6.0};
    OwnStatistics got(shape);
    got.mean = {7.0, 7.0};
    center_statistics(shape, 0.0, zeros, zeros, center, got.ref());
    CHECK(got.mass == 0.0);
    CHECK(got.mean == std::vector<double>{0.0, 0.0});
    CHECK(got.scatter == OwnStatistics(shape).scatter);
  }
}

TEST_CASE("a stream's totals equal a direct count of its rows") {
  Philox random({.seed = 47});
  for (const FactorShape covariance : kShapes) {
    for (const double offset : {0.0, 500.0}) {
      CAPTURE(offset);
      constexpr Index kRows = 300;
      MixtureConfig config;
      config.shape = {covariance, 3};
      config.max_clusters = 3;
      config.max_rows = kRows;
      config.max_batches = 4;
      MixtureFixture fixture(config);
      Mixture& mixture = fixture.mixture;
      std::vector<float> z = clumped_rows(kRows, 3, 1, 1.0, random);
      std::vector<float> variance(z.size());
      for (float& x : z) x += static_cast<float>(offset);
      for (float& v : variance) v = random.uniform_float();
      REQUIRE(
          mixture.begin_stream({z.data(), kRows, 3}, {variance.data(), kRows, 3}, 0.25, 4).ok());
      mixture.add_cluster();
      mixture.add_cluster();
      randomise_responsibilities(mixture, random);
      mixture.recount(fixture.backend);
      mixture.recount(fixture.backend);  // now sums are centred where clusters are
      for (Index k = 0; k < 3; ++k) {
        Sample sample;
        sample.dims = 3;
        sample.z.assign(z.begin(), z.end());
        sample.variance.assign(variance.begin(), variance.end());
        for (Index i = 0; i < kRows; ++i) {
          sample.weight.push_back(0.25 * mixture.stream_responsibilities()(i, k));
        }
        OwnStatistics expected(config.shape);
        two_pass(config.shape, sample, 0, kRows, nullptr, expected.ref());
        check_same(config.shape, mixture.totals()[k], expected.ref(), 1e-9);
        CHECK(mixture.rows_of(k) == doctest::Approx(4.0 * expected.mass).epsilon(1e-12));
      }
    }
  }
}

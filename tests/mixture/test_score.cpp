// Scores of rows beside the textbook's Student-t, and the surprise that theory expects.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "support/mixture_fixture.h"
#include "support/rows.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr double kLogPi = 1.1447298858494001741;
const FactorShape kShapes[] = {FactorShape::kLower, FactorShape::kDiagonal};

MixtureConfig config_of(FactorShape covariance, Index dims, Index rows) {
  MixtureConfig config;
  config.shape = {covariance, dims};
  config.max_clusters = 5;
  config.max_rows = rows;
  return config;
}

// Three clusters of very different size and spread, `apart` from each other, learnt and closed.
void feed(MixtureFixture& fixture, Index rows, double apart, Philox& random) {
  Mixture& mixture = fixture.mixture;
  const Index m = mixture.config().shape.dims;
  std::vector<float> z(static_cast<std::size_t>(rows * m));
  const auto kind = [](Index i) {
    return i % 10 < 6 ? Index{0} : i % 10 < 9 ? Index{1} : Index{2};
  };
  for (Index i = 0; i < rows; ++i) {
    const double common = sample_normal(random);
    for (Index j = 0; j < m; ++j) {
      const auto k = static_cast<double>(kind(i));
      z[static_cast<std::size_t>(i * m + j)] =
          static_cast<float>(apart * (k - 1.0) * (j % 2 == 0 ? 1.0 : -0.5) +
                             (0.5 + k) * (sample_normal(random) + 0.6 * common));
    }
  }
  REQUIRE(mixture.begin_stream({z.data(), rows, m}, {}, 1.0, 1).ok());
  mixture.add_cluster();
  mixture.add_cluster();
  for (Index i = 0; i < rows; ++i) mixture.stream_responsibilities()(i, kind(i)) = 1.0;
  mixture.recount(fixture.backend);
  mixture.close_stream();
}

// log t_k at z, by the textbook: B = L Lᵀ is solved by substitution, Γ is the library's of C.
// variance may be null; `distance` false gives the peak.
double reference_log_t(const Mixture& mixture, Index k, const float* z, const float* variance,
                       bool distance) {
  const Index m = mixture.config().shape.dims;
  const auto d = static_cast<double>(m);
  const Posterior& q = mixture.posterior(k);
  const double widen = (q.beta + 1.0) / q.beta;
  if (mixture.config().shape.covariance == FactorShape::kDiagonal) {
    double sum = 0.0;
    for (Index j = 0; j < m; ++j) {
      const double gap = z[j] - q.mean[j];
      const double square = gap * gap + (variance != nullptr ? variance[j] : 0.0F);
      sum += std::lgamma(0.5 * (q.nu + 1.0)) - std::lgamma(0.5 * q.nu) -
             0.5 * (kLogPi + std::log(q.factor[j] * widen));
      if (distance) sum -= 0.5 * (q.nu + 1.0) * std::log1p(square / (q.factor[j] * widen));
    }
    return sum;
  }
  const auto solve = [&](std::vector<double> x) {  // |L⁻¹ x|²
    double squared = 0.0;
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < i; ++j) {
        x[static_cast<std::size_t>(i)] -=
            q.factor[packed_size(i) + j] * x[static_cast<std::size_t>(j)];
      }
      x[static_cast<std::size_t>(i)] /= q.factor[packed_size(i) + i];
      squared += x[static_cast<std::size_t>(i)] * x[static_cast<std::size_t>(i)];
    }
    return squared;
  };
  std::vector<double> gap(static_cast<std::size_t>(m));
  double log_root = 0.0;
  for (Index i = 0; i < m; ++i) {
    gap[static_cast<std::size_t>(i)] = z[i] - q.mean[i];
    log_root += std::log(q.factor[packed_size(i) + i]);
  }
  double squared = solve(gap);
  for (Index i = 0; variance != nullptr && i < m; ++i) {
    std::vector<double> unit(static_cast<std::size_t>(m), 0.0);
    unit[static_cast<std::size_t>(i)] = 1.0;
    squared += variance[i] * solve(unit);  // (B⁻¹)ᵢᵢ
  }
  const double dof = q.nu - d + 1.0;
  double log_t = std::lgamma(0.5 * (dof + d)) - std::lgamma(0.5 * dof) -
                 0.5 * d * (kLogPi + std::log(widen)) - log_root;
  if (distance) log_t -= 0.5 * (dof + d) * std::log1p(squared / widen);
  return log_t;
}

double close_in_float(double a, double b) { return std::fabs(a - b) / (1.0 + std::fabs(b)); }

}  // namespace

TEST_CASE("density and remoteness of a row are those of a mixture of Student-t") {
  for (const FactorShape covariance : kShapes) {
    for (const bool spread : {false, true}) {
      CAPTURE(spread);
      Philox random({.seed = 51});
      constexpr Index kDims = 4;
      MixtureFixture fixture(config_of(covariance, kDims, 400));
      feed(fixture, 60, 3.0, random);  // few rows: tails are heavy
      const Mixture& mixture = fixture.mixture;
      Rows z = random_rows(400, kDims, 52, 3);
      const Rows variance = uniform_rows(400, kDims, 53, 1);
      for (float& x : z.data) x *= 6.0F;
      Rows r(400, 3, 2);
      std::vector<RowScore> score(400);
      mixture.score(fixture.backend, z.view(), spread ? variance.view() : ConstMatrixView(),
                    r.view(), score.data());
      for (Index i = 0; i < 400; ++i) {
        CAPTURE(i);
        const float* row = z.view().row(i);
        const float* own = spread ? variance.view().row(i) : nullptr;
        double sum = 0.0;
        double remoteness = 1e300;
        for (Index k = 0; k < 3; ++k) {
          const double log_t = reference_log_t(mixture, k, row, own, true);
          const double peak = reference_log_t(mixture, k, row, own, false);
          sum += mixture.weight(k) * std::exp(log_t);
          remoteness = std::min(remoteness, peak - log_t);
          if (spread) continue;
          const std::vector<double> exact(row, row + kDims);
          double scratch[2 * kDims];
          CHECK(close_in_float(log_predictive(mixture.config().shape, mixture.posterior(k),
                                              exact.data(), scratch),
                               log_t) < 1e-11);
        }
        const RowScore& got = score[static_cast<std::size_t>(i)];
        CHECK(close_in_float(got.log_density, std::log(sum)) < 3e-6);
        CHECK(close_in_float(got.remoteness, remoteness) < 3e-6);
      }
    }
  }
}

TEST_CASE("score and responsibilities() say the same") {
  for (const FactorShape covariance : kShapes) {
    Philox random({.seed = 54});
    constexpr Index kRows = 2 * Mixture::kLocalRows + 77;
    MixtureFixture fixture(config_of(covariance, 3, kRows));
    feed(fixture, 200, 2.0, random);
    Rows z = random_rows(kRows, 3, 55);
    for (float& x : z.data) x *= 3.0F;
    const Rows variance = uniform_rows(kRows, 3, 56);
    Rows r(kRows, 3), expected(kRows, 3);
    std::vector<RowScore> score(kRows);
    std::vector<float> log_sum(kRows);
    fixture.mixture.score(fixture.backend, z.view(), variance.view(), r.view(), score.data());
    fixture.mixture.responsibilities(fixture.backend, z.view(), variance.view(), expected.view(),
                                     log_sum.data());
    CHECK(r.data == expected.data);
    bool met[3] = {};
    for (Index i = 0; i < kRows; ++i) {
      const float* p = expected.view().row(i);
      const RowScore& got = score[static_cast<std::size_t>(i)];
      REQUIRE(got.cluster >= 0);
      REQUIRE(got.cluster < 3);
      REQUIRE(got.probability == p[got.cluster]);
      REQUIRE(got.probability == std::max({p[0], p[1], p[2]}));
      REQUIRE(std::fabs(p[0] + p[1] + p[2] - 1.0F) < 1e-5F);
      met[got.cluster] = true;
    }
    CHECK((met[0] && met[1] && met[2]));
  }
}

TEST_CASE("far rows stay finite and are the more surprising the farther they are") {
  for (const FactorShape covariance : kShapes) {
    Philox random({.seed = 57});
    constexpr Index kDims = 40;  // enough for a product of terms to overflow
    MixtureFixture fixture(config_of(covariance, kDims, 400));
    feed(fixture, 400, 3.0, random);
    Rows z(6, kDims);
    const float distance[] = {1.0F, 1e2F, 1e4F, 1e6F, 1e9F, 1e12F};
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < kDims; ++j) z(i, j) = distance[i] * (j % 3 == 0 ? -1.0F : 1.0F);
    }
    Rows r(6, 3);
    RowScore score[6];
    fixture.mixture.score(fixture.backend, z.view(), {}, r.view(), score);
    for (Index i = 0; i < 6; ++i) {
      CAPTURE(i);
      CHECK(std::isfinite(score[i].log_density));
      CHECK(std::isfinite(score[i].remoteness));
      CHECK(score[i].probability >= 0.3F);
      CHECK(score[i].probability <= 1.0F);
      const double sum = static_cast<double>(r(i, 0)) + r(i, 1) + r(i, 2);
      CHECK(std::fabs(sum - 1.0) < 1e-5);
      if (i == 0) continue;
      CHECK(score[i].log_density < score[i - 1].log_density);
      CHECK(score[i].remoteness > score[i - 1].remoteness);
    }
  }
}

TEST_CASE("surprise_quantile is where that part of drawn rows lies") {
  for (const FactorShape covariance : kShapes) {
    for (const Index dims : {Index{4}, Index{10}}) {
      CAPTURE(dims);
      Philox random({.seed = 58});
      constexpr Index kDraws = 20000;
      const MixtureConfig config = config_of(covariance, dims, kDraws);
      MixtureFixture fixture(config);
      // Once with much weight left for the unborn, which have no rows.
      if (dims == 10) fixture.mixture.set_concentration(fixed_concentration(4000.0));
      feed(fixture, 20000, 40.0, random);
      const Mixture& mixture = fixture.mixture;
      Rows z(kDraws, dims);
      std::vector<double> draw(static_cast<std::size_t>(dims)), scratch(draw);
      const double weight[] = {mixture.weight(0), mixture.weight(1), mixture.weight(2)};
      for (Index i = 0; i < kDraws; ++i) {
        const Index k = sample_categorical(random, weight, 3);
        sample_predictive(config.shape, mixture.posterior(k), 0.0, random, draw.data(),
                          scratch.data());
        for (Index j = 0; j < dims; ++j) {
          z(i, j) = static_cast<float>(draw[static_cast<std::size_t>(j)]);
        }
      }
      Rows r(kDraws, 3);
      std::vector<RowScore> score(kDraws);
      mixture.score(fixture.backend, z.view(), {}, r.view(), score.data());
      std::vector<double> surprise;
      for (const RowScore& s : score) surprise.push_back(-s.log_density);
      std::sort(surprise.begin(), surprise.end());
      // The spread of the sample's quantile is in the tolerance.
      const double deviation = std::sqrt(0.5 * static_cast<double>(dims));
      const double part[] = {0.5, 0.9, 0.99};
      const double tolerance[] = {0.04, 0.06, 0.15};
      for (int i = 0; i < 3; ++i) {
        CAPTURE(part[i]);
        const double seen = surprise[static_cast<std::size_t>(part[i] * kDraws)];
        CHECK(std::fabs(mixture.surprise_quantile(part[i]) - seen) <= tolerance[i] * deviation);
      }
    }
  }
}

TEST_CASE("surprise_quantile is found anew when anything changed that it was found from") {
  for (const FactorShape covariance : kShapes) {
    const MixtureConfig config = config_of(covariance, 4, 500);
    MixtureFixture asked(config);
    MixtureFixture silent(config);
    Philox random({.seed = 59});
    Philox again({.seed = 59});
    feed(asked, 500, 40.0, random);
    feed(silent, 500, 40.0, again);
    const double first = asked.mixture.surprise_quantile(0.9);
    CHECK(asked.mixture.surprise_quantile(0.9) == first);
    CHECK(asked.mixture.surprise_quantile(0.5) < first);
    CHECK(asked.mixture.surprise_quantile(0.9) == first);
    for (MixtureFixture* fixture : {&asked, &silent}) {
      fixture->mixture.set_concentration(fixed_concentration(4000.0));
      fixture->mixture.global_step();
    }
    CHECK(asked.mixture.surprise_quantile(0.9) != first);
    CHECK(asked.mixture.surprise_quantile(0.9) == silent.mixture.surprise_quantile(0.9));
  }
}

// Where the base measure comes from, and that a mixture survives every change of it.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "mixture/prior.h"
#include "support/mixture_fixture.h"
#include "support/rows.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

const FactorShape kShapes[] = {FactorShape::kLower, FactorShape::kDiagonal};

MixtureConfig config_of(FactorShape covariance, Index dims) {
  MixtureConfig config;
  config.shape = {covariance, dims};
  config.max_clusters = 4;
  config.max_rows = 300;
  config.max_batches = 2;
  return config;
}

std::vector<double> scratch_for(const ClusterShape& shape) {
  return std::vector<double>(static_cast<std::size_t>(shape.dims + 3 * shape.scatter_size()), NAN);
}

// Everything that a mixture reports about its clusters and these rows is a number.
void check_valid(MixtureFixture& fixture, ConstMatrixView z) {
  const Mixture& mixture = fixture.mixture;
  CHECK(std::isfinite(mixture.bound().total()));
  Rows r(z.rows, mixture.clusters());
  std::vector<RowScore> score(static_cast<std::size_t>(z.rows));
  mixture.score(fixture.backend, z, {}, r.view(), score.data());
  for (const RowScore& s : score) {
    REQUIRE(std::isfinite(s.log_density));
    REQUIRE(std::isfinite(s.remoteness));
    REQUIRE(std::isfinite(s.probability));
  }
}

// Two streams of clumped rows in three clusters, closed.
void feed(MixtureFixture& fixture, Philox& random) {
  Mixture& mixture = fixture.mixture;
  const Index m = mixture.config().shape.dims;
  for (int stream = 0; stream < 2; ++stream) {
    const std::vector<float> rows = clumped_rows(300, m, 3, 5.0, random);
    REQUIRE(mixture.begin_stream({rows.data(), 300, m}, {}, 1.0, 2).ok());
    while (mixture.clusters() < 3) mixture.add_cluster();
    randomise_responsibilities(mixture, random);
    mixture.recount(fixture.backend);
    for (int lap = 0; lap < 5; ++lap) mixture.lap(fixture.backend);
    mixture.close_stream();
  }
}

}  // namespace

TEST_CASE("the scaled prior of known rows") {
  // Means 3 and -1; variances 1 and 4, with the encoder's 1.5 and 5.
  const float values[] = {2.0F, -3.0F, 4.0F, 1.0F, 2.0F, 1.0F, 4.0F, -3.0F};
  const float spread[] = {0.5F, 1.0F, 0.5F, 1.0F, 0.5F, 1.0F, 0.5F, 1.0F};
  for (const FactorShape covariance : kShapes) {
    MixtureFixture fixture(config_of(covariance, 2));
    Mixture& mixture = fixture.mixture;
    const ClusterShape& shape = mixture.config().shape;
    std::vector<double> scratch = scratch_for(shape);
    const PriorSettings settings = {.scale = 0.4, .beta = 0.7};
    for (const bool with_variance : {false, true}) {
      const ConstMatrixView variance =
          with_variance ? ConstMatrixView(spread, 4, 2) : ConstMatrixView();
      REQUIRE(set_scaled_prior(mixture, {values, 4, 2}, variance, settings, scratch.data()));
      const BaseMeasure& base = mixture.base_measure();
      CHECK(base.beta == 0.7);
      CHECK(base.nu == 4.0);
      CHECK(base.mean[0] == 3.0);
      CHECK(base.mean[1] == -1.0);
      const double expected = 0.4 * (with_variance ? 3.25 : 2.5);
      for (Index i = 0; i < 2; ++i) {
        CHECK(base.scale[shape.diagonal_at(i)] == doctest::Approx(expected).epsilon(1e-14));
      }
      if (covariance == FactorShape::kLower) CHECK(base.scale[1] == 0.0);
      CHECK(mixture.posterior(0).mean[0] == doctest::Approx(3.0).epsilon(1e-14));  // without rows
    }
  }
}

TEST_CASE("rows that do not differ are told apart from rows that differ little") {
  for (const FactorShape covariance : kShapes) {
    for (const float value : {0.0F, 1.0F, -37.25F, 1e6F, 1e-3F}) {
      CAPTURE(value);
      MixtureFixture fixture(config_of(covariance, 3));
      std::vector<double> scratch = scratch_for(fixture.mixture.config().shape);
      Rows z(50, 3);
      for (float& x : z.data) x = value;
      CHECK_FALSE(set_scaled_prior(fixture.mixture, z.view(), {}, {}, scratch.data()));
      CHECK(fixture.mixture.base_measure().mean[0] == doctest::Approx(value).epsilon(1e-12));
      check_valid(fixture, z.view());
      REQUIRE(fixture.mixture.begin_stream(z.view(), {}, 1.0, 1).ok());
      for (int lap = 0; lap < 3; ++lap) CHECK(std::isfinite(fixture.mixture.lap(fixture.backend)));
      fixture.mixture.close_stream();
      check_valid(fixture, z.view());
      CHECK(fixture.mixture.rows_learnt() == 50.0);
      CHECK(fixture.mixture.repairs() == 0);
      // The last bit of a float is no difference.
      for (Index i = 0; i < 50; i += 2) z(i, 1) = std::nextafter(value, 2.0F * value);
      CHECK_FALSE(set_scaled_prior(fixture.mixture, z.view(), {}, {}, scratch.data()));
      for (Index i = 0; i < 50; i += 2) z(i, 1) = value * 1.0001F + 1e-6F;
      CHECK(set_scaled_prior(fixture.mixture, z.view(), {}, {}, scratch.data()));
    }
  }
}

TEST_CASE("the pooled prior expects the covariance within clusters") {
  for (const FactorShape covariance : kShapes) {
    Philox random({.seed = 81});
    const Index m = 3;
    MixtureFixture fixture(config_of(covariance, m));
    Mixture& mixture = fixture.mixture;
    const ClusterShape& shape = mixture.config().shape;
    feed(fixture, random);
    const std::vector<double> mean(mixture.base_measure().mean, mixture.base_measure().mean + m);
    std::vector<double> pooled(static_cast<std::size_t>(shape.scatter_size()), 0.0);
    double mass = 0.0;
    for (Index k = 0; k < 3; ++k) {
      mass += mixture.mass(k);
      for (Index i = 0; i < shape.scatter_size(); ++i) {
        pooled[static_cast<std::size_t>(i)] += mixture.carried()[k].scatter[i];
      }
    }
    CHECK(mass == doctest::Approx(600.0).epsilon(1e-12));
    std::vector<double> scratch = scratch_for(shape);
    const PriorSettings settings = {.beta = 0.3, .strength = 15.0};
    REQUIRE(set_pooled_prior(mixture, settings, scratch.data()));
    const BaseMeasure& base = mixture.base_measure();
    CHECK(base.beta == 0.3);
    CHECK(base.nu == 18.0);
    // Of a Wishart, and of one Gamma per dimension.
    const double rows = covariance == FactorShape::kLower ? base.nu - m - 1.0 : base.nu - 2.0;
    for (Index i = 0; i < shape.scatter_size(); ++i) {
      CHECK(base.scale[i] / rows ==
            doctest::Approx(pooled[static_cast<std::size_t>(i)] / mass).epsilon(1e-12));
    }
    for (Index i = 0; i < m; ++i) CHECK(base.mean[i] == mean[static_cast<std::size_t>(i)]);
    // Normaliser, posteriors and bound are those of the new prior.
    BaseMeasure again = base;
    REQUIRE(prepare_base_measure(shape, again, scratch.data()));
    CHECK(base.log_normaliser == again.log_normaliser);
    CHECK(mixture.posterior(0).nu == doctest::Approx(18.0 + mixture.mass(0)).epsilon(1e-14));
    const double bound = mixture.bound().total();
    mixture.global_step();
    CHECK(mixture.bound().total() == bound);
  }
}

TEST_CASE("no pooled prior from clusters that hold too little, and nothing changes") {
  for (const FactorShape covariance : kShapes) {
    MixtureFixture fixture(config_of(covariance, 4));
    Mixture& mixture = fixture.mixture;
    std::vector<double> scratch = scratch_for(mixture.config().shape);
    const auto check_refused = [&](const PriorSettings& settings) {
      const std::vector<std::uint8_t> before = saved(mixture);
      const double bound = mixture.bound().total();
      CHECK_FALSE(set_pooled_prior(mixture, settings, scratch.data()));
      CHECK(saved(mixture) == before);
      CHECK(mixture.bound().total() == bound);
    };
    check_refused({});
    const Rows few = random_rows(8, 4, 82);  // 2 m
    REQUIRE(mixture.begin_stream(few.view(), {}, 1.0, 1).ok());
    mixture.lap(fixture.backend);
    mixture.close_stream();
    check_refused({});
    const Rows more = random_rows(100, 4, 83);
    REQUIRE(mixture.begin_stream(more.view(), {}, 1.0, 1).ok());
    mixture.lap(fixture.backend);
    mixture.close_stream();
    check_refused({.strength = -5.0});  // no expected covariance
    CHECK(set_pooled_prior(mixture, {}, scratch.data()));
  }
}

TEST_CASE("the fitted prior is as wide as most clusters, however wide one is") {
  // Four clusters of 200 rows with variance 1, one with variance 100.
  for (const FactorShape covariance : kShapes) {
    CAPTURE(static_cast<int>(covariance));
    MixtureConfig config = config_of(covariance, 2);
    config.max_clusters = 5;
    config.max_rows = 1000;
    MixtureFixture fixture(config);
    Mixture& mixture = fixture.mixture;
    const ClusterShape& shape = mixture.config().shape;
    std::vector<double> scratch = scratch_for(shape);
    CHECK_FALSE(set_fitted_prior(mixture, {}, scratch.data()));  // nothing is there
    Philox random({.seed = 85});
    std::vector<float> rows;
    for (Index i = 0; i < 2000; ++i) {
      const double centre = 100.0 * static_cast<double>(i / 2 % 5);
      const double width = i / 2 % 5 == 4 ? 10.0 : 1.0;
      rows.push_back(static_cast<float>(centre + width * sample_normal(random)));
    }
    REQUIRE(mixture.begin_stream({rows.data(), 1000, 2}, {}, 1.0, 1).ok());
    while (mixture.clusters() < 5) mixture.add_cluster();
    const MatrixViewD r = mixture.stream_responsibilities();
    for (Index i = 0; i < 1000; ++i) {
      for (Index k = 0; k < 5; ++k) r(i, k) = k == i % 5 ? 1.0 : 0.0;
    }
    mixture.recount(fixture.backend);
    const auto width = [&] {
      const BaseMeasure& base = mixture.base_measure();
      return base.scale[shape.diagonal_at(1)] / base.nu;
    };
    const auto fit = [&] {  // until posteriors and prior agree
      for (int time = 0; time < 20; ++time) {
        REQUIRE(set_fitted_prior(mixture, {.beta = 1e-6, .strength = 100.0}, scratch.data()));
      }
    };
    fit();
    CHECK(width() > 0.8);
    CHECK(width() < 1.6);
    // Clusters of different widths make a weak prior, clusters of one width a strong one.
    CHECK(mixture.base_measure().nu < 2.0 + 20.0);
    REQUIRE(set_pooled_prior(mixture, {}, scratch.data()));
    CHECK(width() > 15.0);
    for (Index i = 4; i < 1000; i += 5) {
      for (Index k = 0; k < 5; ++k) r(i, k) = k == 0 ? 1.0 : 0.0;
      rows[static_cast<std::size_t>(2 * i)] = rows[static_cast<std::size_t>(2 * i - 8)];
      rows[static_cast<std::size_t>(2 * i + 1)] = rows[static_cast<std::size_t>(2 * i - 7)];
    }
    mixture.recount(fixture.backend);
    fit();
    CHECK(mixture.base_measure().nu > 2.0 + 50.0);
    CHECK(width() == doctest::Approx(1.0).epsilon(0.15));
  }
}

TEST_CASE("the fitted prior expects means where they are: its beta has the highest bound") {
  for (const FactorShape covariance : kShapes) {
    CAPTURE(static_cast<int>(covariance));
    MixtureConfig config = config_of(covariance, 2);
    config.max_clusters = 5;
    config.max_rows = 500;
    MixtureFixture fixture(config);
    Mixture& mixture = fixture.mixture;
    const ClusterShape& shape = mixture.config().shape;
    std::vector<double> scratch = scratch_for(shape);
    Philox random({.seed = 86});
    std::vector<float> rows;
    for (Index i = 0; i < 1000; ++i) {
      const double centre = 10.0 * static_cast<double>(i / 2 % 5) - 20.0;
      rows.push_back(static_cast<float>(centre + sample_normal(random)));
    }
    REQUIRE(mixture.begin_stream({rows.data(), 500, 2}, {}, 1.0, 1).ok());
    while (mixture.clusters() < 5) mixture.add_cluster();
    const MatrixViewD r = mixture.stream_responsibilities();
    for (Index i = 0; i < 500; ++i) {
      for (Index k = 0; k < 5; ++k) r(i, k) = k == i % 5 ? 1.0 : 0.0;
    }
    mixture.recount(fixture.backend);
    for (int time = 0; time < 20; ++time) {
      REQUIRE(set_fitted_prior(mixture, {.beta = 0.5}, scratch.data()));
    }
    const BaseMeasure& base = mixture.base_measure();
    const double beta = base.beta;
    CHECK(beta < 0.1);  // clusters have variance 1, their means 200
    CHECK(beta > 0.001);
    const std::vector<double> mean(base.mean, base.mean + 2);
    const std::vector<double> scale(base.scale, base.scale + shape.scatter_size());
    const double bound = mixture.bound().total();
    for (const double factor : {0.8, 1.25}) {
      REQUIRE(mixture.set_base_measure(factor * beta, base.nu, mean.data(), scale.data()).ok());
      CHECK(mixture.bound().total() < bound);
    }
    // Later blocks keep it.
    REQUIRE(mixture.set_base_measure(beta, base.nu, mean.data(), scale.data()).ok());
    REQUIRE(set_pooled_prior(mixture, {.mode = PriorMode::kFitted}, scratch.data()));
    CHECK(base.beta == beta);
    REQUIRE(set_pooled_prior(mixture, {.mode = PriorMode::kEmpirical}, scratch.data()));
    CHECK(base.beta == PriorSettings().beta);
  }
}

TEST_CASE("after a change of the prior no lap lowers the bound") {
  for (std::uint32_t trial = 0; trial < 200; ++trial) {
    CAPTURE(trial);
    Philox random({.seed = 84, .index = trial});
    const Index m = 1 + random.below(4);
    MixtureFixture fixture(config_of(kShapes[trial % 2], m));
    Mixture& mixture = fixture.mixture;
    const ClusterShape& shape = mixture.config().shape;
    if (trial % 3 == 0) mixture.set_concentration(learnt_concentration(1.0, 0.2));
    if (trial % 5 == 0) feed(fixture, random);
    const std::vector<float> rows = clumped_rows(200, m, 3, 4.0, random);
    REQUIRE(mixture.begin_stream({rows.data(), 200, m}, {}, 0.7, 2).ok());
    while (mixture.clusters() < 4) mixture.add_cluster();
    randomise_responsibilities(mixture, random);
    mixture.recount(fixture.backend);
    mixture.lap(fixture.backend);
    std::vector<double> scratch = scratch_for(shape);
    for (int change = 0; change < 3; ++change) {
      const double strength = change == 2 ? 40.0 : 5.0;
      const bool changed =
          change == 1 ? set_scaled_prior(mixture, {rows.data(), 200, m}, {}, {}, scratch.data())
                      : set_pooled_prior(mixture, {.strength = strength}, scratch.data());
      REQUIRE(changed);
      double bound = mixture.bound().total();
      for (int lap = 0; lap < 5; ++lap) {
        const double next = mixture.lap(fixture.backend);
        REQUIRE(std::isfinite(next));
        REQUIRE(next >= bound - 1e-9 * std::fabs(bound));
        bound = next;
      }
    }
  }
}

TEST_CASE("an impossible base measure is refused and nothing changes") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const FactorShape covariance : kShapes) {
    Philox random({.seed = 85});
    MixtureFixture fixture(config_of(covariance, 2));
    Mixture& mixture = fixture.mixture;
    feed(fixture, random);
    const bool full = covariance == FactorShape::kLower;
    using Values = std::vector<double>;
    const Values mean = {1.0, 2.0};
    const Values scale = full ? Values{1.0, 0.5, 2.0} : Values{1.0, 2.0};
    const std::vector<std::uint8_t> before = saved(mixture);
    const double bound = mixture.bound().total();
    const auto check_refused = [&](double beta, double nu, const Values& at, const Values& with) {
      CHECK(mixture.set_base_measure(beta, nu, at.data(), with.data()).code() ==
            StatusCode::kInvalidArgument);
      CHECK(saved(mixture) == before);
      CHECK(mixture.bound().total() == bound);
    };
    for (const double bad : {0.0, -1.0, kInfinity, static_cast<double>(NAN)}) {
      check_refused(bad, 5.0, mean, scale);
      check_refused(0.2, bad, mean, scale);
    }
    check_refused(0.2, full ? 1.0 : 0.0, mean, scale);  // ν must be above m - 1, or 0
    check_refused(0.2, 5.0, {1.0, NAN}, scale);
    check_refused(0.2, 5.0, {kInfinity, 1.0}, scale);
    for (const double bad : {0.0, -1.0, kInfinity, static_cast<double>(NAN)}) {
      check_refused(0.2, 5.0, mean, full ? Values{1.0, 0.5, bad} : Values{1.0, bad});
      check_refused(0.2, 5.0, mean, full ? Values{bad, 0.5, 1.0} : Values{bad, 1.0});
    }
    if (full) check_refused(0.2, 5.0, mean, {1.0, 1.5, 2.0});  // 1.5² > 1 · 2
    CHECK(mixture.set_base_measure(0.2, full ? 1.01 : 0.01, mean.data(), scale.data()).ok());
    CHECK(mixture.bound().total() != bound);
    CHECK(saved(mixture) != before);
  }
}

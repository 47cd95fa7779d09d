// The evidence bound: its form from statistics equals the long textbook form, and no coordinate
// step lowers it.
#include <cmath>

#include <doctest/doctest.h>

#include "base/special_functions.h"
#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr double kLogTwoPi = 1.8378770664093454836;
constexpr double kLogPi = 1.1447298858494001741;
constexpr double kLogTwo = 0.6931471805599453094;

using Square = std::vector<double>;  // [m × m]

Square unpack(const double* packed, Index m, bool diagonal) {
  Square full(static_cast<std::size_t>(m * m), 0.0);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const double value = diagonal ? (i == j ? packed[i] : 0.0) : packed[packed_size(i) + j];
      full[static_cast<std::size_t>(i * m + j)] = full[static_cast<std::size_t>(j * m + i)] = value;
    }
  }
  return full;
}

// Inverse and log-determinant by Gauss-Jordan: independent of the library's Cholesky.
double invert(Square& a, Index m) {
  Square inverse(a.size(), 0.0);
  for (Index i = 0; i < m; ++i) inverse[static_cast<std::size_t>(i * m + i)] = 1.0;
  double log_determinant = 0.0;
  for (Index c = 0; c < m; ++c) {
    const double pivot = a[static_cast<std::size_t>(c * m + c)];
    log_determinant += std::log(pivot);
    for (Index j = 0; j < m; ++j) {
      a[static_cast<std::size_t>(c * m + j)] /= pivot;
      inverse[static_cast<std::size_t>(c * m + j)] /= pivot;
    }
    for (Index i = 0; i < m; ++i) {
      if (i == c) continue;
      const double factor = a[static_cast<std::size_t>(i * m + c)];
      for (Index j = 0; j < m; ++j) {
        a[static_cast<std::size_t>(i * m + j)] -= factor * a[static_cast<std::size_t>(c * m + j)];
        inverse[static_cast<std::size_t>(i * m + j)] -=
            factor * inverse[static_cast<std::size_t>(c * m + j)];
      }
    }
  }
  a = inverse;
  return log_determinant;
}

double quadratic(const Square& a, const double* x, Index m) {
  double sum = 0.0;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) sum += x[i] * a[static_cast<std::size_t>(i * m + j)] * x[j];
  }
  return sum;
}

double trace_of_product(const Square& a, const Square& b, Index m) {
  double sum = 0.0;
  for (Index i = 0; i < m * m; ++i) {
    sum += a[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
  }
  return sum;
}

// Bishop, "Pattern Recognition and Machine Learning", 10.71 to 10.77, for one full-covariance
// cluster: E[log p(Z|...)] + E[log p(μ,Λ)] - E[log q(μ,Λ)].
double long_full(const BaseMeasure& base, const StatisticsRef& s, Index m) {
  const double mass = *s.mass;
  const auto d = static_cast<double>(m);
  const double beta = base.beta + mass;
  const double nu = base.nu + mass;
  std::vector<double> mean(static_cast<std::size_t>(m)), offset(mean), gap(mean);
  for (Index i = 0; i < m; ++i) {
    const auto at = static_cast<std::size_t>(i);
    mean[at] = (base.beta * base.mean[i] + mass * s.mean[i]) / beta;
    offset[at] = s.mean[i] - mean[at];
    gap[at] = mean[at] - base.mean[i];
  }
  const Square prior_scale = unpack(base.scale, m, false);
  const Square scatter = unpack(s.scatter, m, false);
  Square w(prior_scale);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) {
      w[static_cast<std::size_t>(i * m + j)] +=
          scatter[static_cast<std::size_t>(i * m + j)] +
          base.beta * mass / beta * (s.mean[i] - base.mean[i]) * (s.mean[j] - base.mean[j]);
    }
  }
  const double log_b = invert(w, m);  // w = B⁻¹
  Square prior_w(prior_scale);
  const double log_b0 = invert(prior_w, m);
  double log_lambda = d * kLogTwo - log_b;
  for (Index i = 1; i <= m; ++i) log_lambda += digamma(0.5 * (nu + 1.0 - static_cast<double>(i)));
  const auto log_wishart = [&](double log_b_of, double nu_of) {
    double sum = 0.5 * nu_of * log_b_of - 0.5 * nu_of * d * kLogTwo - 0.25 * d * (d - 1) * kLogPi;
    for (Index i = 1; i <= m; ++i) sum -= log_gamma(0.5 * (nu_of + 1.0 - static_cast<double>(i)));
    return sum;
  };
  const double likelihood =
      0.5 * (mass * (log_lambda - d / beta - d * kLogTwoPi - nu * quadratic(w, offset.data(), m)) -
             nu * trace_of_product(scatter, w, m));
  const double prior = 0.5 * (d * (std::log(base.beta) - kLogTwoPi) + log_lambda -
                              d * base.beta / beta - base.beta * nu * quadratic(w, gap.data(), m)) +
                       log_wishart(log_b0, base.nu) + 0.5 * (base.nu - d - 1.0) * log_lambda -
                       0.5 * nu * trace_of_product(prior_scale, w, m);
  const double wishart_entropy =
      -log_wishart(log_b, nu) - 0.5 * (nu - d - 1.0) * log_lambda + 0.5 * nu * d;
  const double own =
      0.5 * log_lambda + 0.5 * d * (std::log(beta) - kLogTwoPi - 1.0) - wishart_entropy;
  return likelihood + prior - own;
}

// The same for a diagonal cluster: a sum over dimensions of Normal-Gamma terms.
double long_diagonal(const BaseMeasure& base, const StatisticsRef& s, Index m) {
  const double mass = *s.mass;
  const double beta = base.beta + mass;
  const double nu = base.nu + mass;
  double sum = 0.0;
  for (Index i = 0; i < m; ++i) {
    const double mean = (base.beta * base.mean[i] + mass * s.mean[i]) / beta;
    const double gap = s.mean[i] - base.mean[i];
    const double b = base.scale[i] + s.scatter[i] + base.beta * mass / beta * gap * gap;
    const double precision = nu / b;
    const double log_precision = digamma(0.5 * nu) + kLogTwo - std::log(b);
    const double offset = s.mean[i] - mean;
    sum += 0.5 * mass * (log_precision - kLogTwoPi - 1.0 / beta - precision * offset * offset) -
           0.5 * precision * s.scatter[i];
    const double to_prior = mean - base.mean[i];
    const auto log_gamma_density = [&](double shape, double rate) {
      return shape * std::log(rate) - log_gamma(shape) + (shape - 1.0) * log_precision -
             rate * precision;
    };
    sum += 0.5 * (std::log(base.beta) - kLogTwoPi + log_precision - base.beta / beta -
                  base.beta * precision * to_prior * to_prior) +
           log_gamma_density(0.5 * base.nu, 0.5 * base.scale[i]);
    sum -= 0.5 * (std::log(beta) - kLogTwoPi + log_precision - 1.0) +
           log_gamma_density(0.5 * nu, 0.5 * b);
  }
  return sum;
}

// E[log p(c|v)] + E[log p(v|α)] - E[log q(v)] stick by stick.
double long_allocation(const Mixture& mixture) {
  const double alpha = mixture.concentration().mean;
  double sum = 0.0;
  double behind = 0.0;
  for (Index at = mixture.clusters() - 1; at >= 0; --at) {
    const double mass = mixture.mass(mixture.order()[at]);
    const double a = 1.0 + mass;
    const double b = alpha + behind;
    const double log_v = digamma(a) - digamma(a + b);
    const double log_rest = digamma(b) - digamma(a + b);
    sum += mass * log_v + behind * log_rest;
    sum += mixture.concentration().mean_log + (alpha - 1.0) * log_rest;
    sum -=
        log_gamma(a + b) - log_gamma(a) - log_gamma(b) + (a - 1.0) * log_v + (b - 1.0) * log_rest;
    behind += mass;
  }
  return sum;
}

MixtureConfig random_config(Philox& random) {
  MixtureConfig config;
  config.shape.covariance = random.below(2) == 0 ? FactorShape::kLower : FactorShape::kDiagonal;
  config.shape.dims = 1 + random.below(5);
  config.max_clusters = 8;
  config.max_rows = 80;
  config.max_batches = 3;
  return config;
}

void add_clusters_up_to(Mixture& mixture, Index clusters) {
  while (mixture.clusters() < clusters) mixture.add_cluster();
}

}  // namespace

TEST_CASE("the bound from statistics equals the textbook form") {
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    Philox random({.seed = 11, .index = trial});
    const MixtureConfig config = random_config(random);
    MixtureFixture fixture(config);
    Mixture& mixture = fixture.mixture;
    const Index m = config.shape.dims;
    const std::vector<float> rows = clumped_rows(60, m, 3, 4.0, random);
    const double weight = random.below(2) == 0 ? 1.0 : 0.3;
    REQUIRE(mixture.begin_stream({rows.data(), 60, m}, {}, weight, 2).ok());
    add_clusters_up_to(mixture, 1 + random.below(6));
    randomise_responsibilities(mixture, random);
    mixture.recount(fixture.backend);
    double expected = 0.0;
    for (Index k = 0; k < mixture.clusters(); ++k) {
      const StatisticsRef s = mixture.totals()[k];
      expected += config.shape.covariance == FactorShape::kDiagonal
                      ? long_diagonal(mixture.base_measure(), s, m)
                      : long_full(mixture.base_measure(), s, m);
    }
    const BoundParts parts = mixture.bound();
    CHECK(std::fabs(parts.observation - expected) <= 1e-10 * std::max(1.0, std::fabs(expected)));
    const double allocation = long_allocation(mixture);
    CHECK(std::fabs(parts.allocation - allocation) <= 1e-10 * std::max(1.0, std::fabs(allocation)));
  }
}

TEST_CASE("no step and no accepted merge lowers the bound; rows are conserved exactly") {
  int laps = 0;
  int merges = 0;
  for (std::uint32_t trial = 0; trial < 10000; ++trial) {
    CAPTURE(trial);
    Philox random({.seed = 12, .index = trial});
    const MixtureConfig config = random_config(random);
    MixtureFixture fixture(config);
    Mixture& mixture = fixture.mixture;
    const Index m = config.shape.dims;
    if (random.below(3) == 0) mixture.set_concentration(learnt_concentration(1.0, 0.2));
    const double weight = random.below(2) == 0 ? 1.0 : 0.4;
    Index learnt = 0;
    const Index streams = 1 + random.below(2);
    for (Index stream = 0; stream < streams; ++stream) {
      const Index n = 5 + random.below(70);
      const std::vector<float> rows = clumped_rows(n, m, 1 + random.below(4), 3.0, random);
      std::vector<float> variance(rows.size());
      for (float& v : variance) v = random.uniform_float();
      const ConstMatrixView spread =
          random.below(2) == 0 ? ConstMatrixView(variance.data(), n, m) : ConstMatrixView();
      REQUIRE(mixture.begin_stream({rows.data(), n, m}, spread, weight, 1 + random.below(3)).ok());
      learnt += n;
      if (stream == 0) {
        add_clusters_up_to(mixture, 1 + random.below(6));
        randomise_responsibilities(mixture, random);
        mixture.recount(fixture.backend);
      } else {
        mixture.lap(fixture.backend);
      }
      double bound = mixture.bound().total();
      for (int lap = 0; lap < 6; ++lap, ++laps) {
        const double next = mixture.lap(fixture.backend);
        REQUIRE(std::isfinite(next));
        REQUIRE(next >= bound - 1e-9 * std::fabs(bound));
        bound = next;
      }
      // A merge whose exact gain is known before must deliver it.
      if (mixture.clusters() > 1) {
        mixture.refresh_pairs();
        const double loss = mixture.pair_entropy_loss(0, 1);
        CHECK(loss <= 1e-12);
        const double entropy = mixture.bound().entropy + loss;
        mixture.merge_clusters(0, 1);
        ++merges;
        CHECK(std::fabs(mixture.bound().entropy - entropy) <= 1e-9 * (1.0 + std::fabs(entropy)));
        const double merged = mixture.bound().total();
        const double after = mixture.lap(fixture.backend);
        CAPTURE(after - merged);
        CAPTURE(merged);
        REQUIRE(after >= merged - 1e-9 * std::fabs(merged));
      }
      REQUIRE(mixture.rows_learnt() == static_cast<double>(learnt));
      const double open = mixture.bound().total();
      mixture.close_stream();
      CHECK(mixture.rows_learnt() == static_cast<double>(learnt));
      // Closing carries everything: the bound is the same function of the same statistics.
      CHECK(std::fabs(mixture.bound().total() - open) <= 1e-12 * std::fabs(open));
    }
  }
  MESSAGE(laps << " laps, " << merges << " merges");
}

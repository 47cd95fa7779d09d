// Quantiles of the normal and the χ² distribution beside slow references: bisection on erfc in long
// double, and integration of the density.
#include <cmath>
#include <initializer_list>
#include <limits>

#include <doctest/doctest.h>

#include "base/philox.h"
#include "base/special_functions.h"

using namespace adapvae;

namespace {

// x with ½ erfc(-x / √2) = p, by bisection.
long double reference_normal(double p) {
  long double low = -40.0L;
  long double high = 40.0L;
  for (int step = 0; step < 120; ++step) {
    const long double middle = 0.5L * (low + high);
    // The smaller tail is the accurate one.
    const bool below =
        middle < 0.0L ? 0.5L * std::erfc(-middle / std::sqrt(2.0L)) < static_cast<long double>(p)
                      : 0.5L * std::erfc(middle / std::sqrt(2.0L)) > 1.0L - p;
    (below ? low : high) = middle;
  }
  return 0.5L * (low + high);
}

// The p-quantile of χ²: the density, over s = √x to tame the pole at 0, is summed by Simpson's rule
// until it holds p.
double reference_chi_squared(int dof, double p) {
  constexpr double kStep = 1e-3;
  const double half = 0.5 * dof;
  const double log_scale = std::log(2.0) - half * std::log(2.0) - std::lgamma(half);
  const auto density = [&](double s) {  // of s, where x = s²
    if (s == 0.0) return dof == 1 ? std::exp(log_scale) : 0.0;
    return std::exp(log_scale + (dof - 1) * std::log(s) - 0.5 * s * s);
  };
  double sum = 0.0;
  for (double s = 0.0;; s += kStep) {
    const double part =
        kStep / 6.0 * (density(s) + 4.0 * density(s + 0.5 * kStep) + density(s + kStep));
    if (sum + part >= p) {
      s += kStep * (p - sum) / part;
      return s * s;
    }
    sum += part;
  }
}

void check_normal(double p) {
  CAPTURE(p);
  const auto expected = static_cast<double>(reference_normal(p));
  // Near the median a double holds p, and so x, to 1e-16 only.
  const double error = std::fabs(normal_quantile(p) - expected);
  CHECK(error <= 1e-12 * std::fmax(std::fabs(expected), 1e-3));
}

}  // namespace

TEST_CASE("normal_quantile is the inverse of the distribution function") {
  for (double p = 1e-12; p < 0.5; p *= 1.07) {
    check_normal(p);
    check_normal(1.0 - p);
  }
  check_normal(1.0 - 1e-12);
  Philox random({.seed = 31});
  for (int i = 0; i < 1000; ++i) check_normal(random.uniform_double());
  CHECK(normal_quantile(0.975) == doctest::Approx(1.959963984540054).epsilon(1e-14));
  CHECK(normal_quantile(1e-12) == doctest::Approx(-7.034483825301131).epsilon(1e-13));
}

TEST_CASE("normal_quantile far out") {
  for (const double p : {1e-20, 1e-50, 1e-100, 1e-200, 1e-300}) check_normal(p);
}

TEST_CASE("normal_quantile is odd about the median and rises") {
  CHECK(std::fabs(normal_quantile(0.5)) < 1e-15);
  // Multiples of a power of two: 1 - p is exact.
  double before = -std::numeric_limits<double>::infinity();
  for (int i = 1; i < 4096; ++i) {
    const double p = i / 4096.0;
    const double x = normal_quantile(p);
    CAPTURE(p);
    REQUIRE(x > before);
    if (i != 2048) REQUIRE(normal_quantile(1.0 - p) == -x);
    before = x;
  }
}

TEST_CASE("normal_quantile at the ends and outside") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK(normal_quantile(0.0) == -kInfinity);
  CHECK(normal_quantile(1.0) == kInfinity);
  for (const double p : {-1e-300, -1.0, 1.0 + 1e-15, 2.0, kInfinity, -kInfinity,
                         std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(p);
    CHECK(std::isnan(normal_quantile(p)));
  }
}

TEST_CASE("the χ² reference gives the values of printed tables") {
  CHECK(reference_chi_squared(1, 0.99) == doctest::Approx(6.634897).epsilon(1e-6));
  CHECK(reference_chi_squared(2, 0.5) == doctest::Approx(1.386294).epsilon(1e-6));
  CHECK(reference_chi_squared(10, 0.9) == doctest::Approx(15.987179).epsilon(1e-6));
  CHECK(reference_chi_squared(50, 0.995) == doctest::Approx(79.489978).epsilon(1e-6));
}

TEST_CASE("half_chi_squared_quantile is within one per cent from three degrees of freedom on") {
  for (const int dof : {1, 2, 3, 4, 10, 16, 50, 200}) {
    for (const double p : {0.5, 0.75, 0.9, 0.99, 0.995, 0.999}) {
      CAPTURE(dof);
      CAPTURE(p);
      const double expected = 0.5 * reference_chi_squared(dof, p);
      // The cube root is less good where nothing is promised, and far out.
      double bound = dof >= 3 ? 0.01 : dof == 2 ? 0.015 : 0.04;
      if (p > 0.995) bound = std::fmax(bound, 0.025);
      CHECK(std::fabs(half_chi_squared_quantile(dof, p) - expected) <= bound * expected);
    }
  }
}

TEST_CASE("half_chi_squared_quantile is never negative") {
  for (const int dof : {1, 2, 5}) {
    double before = 0.0;
    for (const double p : {0.0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.6}) {
      const double x = half_chi_squared_quantile(dof, p);
      CAPTURE(dof);
      CAPTURE(p);
      CHECK(x >= before);
      before = x;
    }
  }
}

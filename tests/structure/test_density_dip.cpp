// How far the density of rows falls between two components.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "structure/density_dip.h"

using namespace adapvae;

namespace {

// Rows of a Gaussian that are as even as can be.
std::vector<float> gaussian(int count, double mean, double sigma) {
  Philox random({.seed = 5});
  std::vector<float> rows;
  for (int i = 0; i < count; ++i) {
    const double x = sigma * sample_normal(random);
    rows.push_back(static_cast<float>(mean + x));
    rows.push_back(static_cast<float>(mean - x));
  }
  return rows;
}

std::vector<float> uniform(int count, double begin, double end) {
  std::vector<float> rows;
  for (int i = 0; i < count; ++i) {
    rows.push_back(static_cast<float>(begin + (end - begin) * (i + 0.5) / count));
  }
  return rows;
}

}  // namespace

TEST_CASE("the dip between Gaussians is that of their densities") {
  for (const double distance : {2.5, 3.0, 4.0, 6.0}) {
    CAPTURE(distance);
    const DensityDip dip = density_dip(gaussian(20000, 0.0, 1.0), gaussian(20000, distance, 1.0));
    // Half-way both contribute; the kernel widens them a little.
    const double wide = 1.0 + std::pow(1.06 * std::pow(40000.0, -0.2), 2.0);
    const auto density = [&](double x) {
      return std::exp(-0.5 * x * x / wide) +
             std::exp(-0.5 * (x - distance) * (x - distance) / wide);
    };
    const double expected = std::log(density(0.0) / density(0.5 * distance));
    CHECK(dip.from_first == doctest::Approx(expected).epsilon(0.1));
    CHECK(dip.from_second == doctest::Approx(expected).epsilon(0.1));
    CHECK(dip.of_gaussians == doctest::Approx(expected).epsilon(0.1));
  }
}

TEST_CASE("two halves of a uniform distribution have no dip, though two Gaussians would") {
  const DensityDip dip = density_dip(uniform(1000, 0.0, 1.0), uniform(1000, 1.0, 2.0));
  CHECK(dip.from_first < 0.05);
  CHECK(dip.from_second < 0.05);
  CHECK(dip.of_gaussians > 0.5);
  CHECK_FALSE(dip.certainly_exceeds(0.1));
}

TEST_CASE("a shoulder is no peak: the density falls from one side alone") {
  const DensityDip dip = density_dip(gaussian(1000, 0.0, 1.0), gaussian(60, 2.5, 1.5));
  CHECK(dip.from_first > 1.0);
  CHECK(dip.from_second < 0.1);
}

TEST_CASE("what is far apart or has no width") {
  const DensityDip far = density_dip(gaussian(20, 0.0, 1.0), gaussian(20, 100.0, 1.0));
  CHECK(far.from_first > 10.0);
  CHECK(far.from_second > 10.0);
  CHECK(far.certainly_exceeds(1.0));
  const std::vector<float> point(30, 1.0F);
  CHECK(density_dip(point, gaussian(20, 5.0, 1.0)).from_first > 10.0);
  CHECK(density_dip(point, point).from_first == 0.0);
  CHECK(density_dip(gaussian(20, 5.0, 1.0), point).from_first == 0.0);  // the wrong way round
}

TEST_CASE("few rows make no dip certain") {
  const DensityDip few = density_dip(gaussian(3, 0.0, 1.0), gaussian(3, 6.0, 1.0));
  CHECK(few.from_first > 1.0);
  CHECK_FALSE(few.certainly_exceeds(1.0));
  CHECK(density_dip(gaussian(100, 0.0, 1.0), gaussian(100, 6.0, 1.0)).certainly_exceeds(1.0));
}

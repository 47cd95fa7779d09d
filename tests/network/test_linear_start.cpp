// A network that begins as a projection on principal axes.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "network/linear_start.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kRows = 400;
constexpr Index kInputs = 7;

// Standard deviations 4, 2 and 0.1 along three directions of seven inputs, around a mean that is
// not zero.
Rows tilted_rows() {
  Rows rows(kRows, kInputs);
  Philox random({.seed = 3});
  for (Index i = 0; i < kRows; ++i) {
    const double a = 4.0 * sample_normal(random);
    const double b = 2.0 * sample_normal(random);
    const double c = 0.1 * sample_normal(random);
    for (Index j = 0; j < kInputs; ++j) {
      const double x = static_cast<double>(j);
      rows(i, j) = static_cast<float>(5.0 + (a + c * (j % 2 == 0 ? 1.0 : -1.0)) / std::sqrt(7.0) +
                                      b * (x - 3.0) / std::sqrt(28.0));
    }
  }
  return rows;
}

struct Axes {
  Axes(ConstMatrixView rows, Index m)
      : axes(static_cast<std::size_t>(m * rows.cols)),
        next(axes.size()),
        projection(static_cast<std::size_t>(m * rows.rows)),
        centre(static_cast<std::size_t>(rows.cols)),
        deviation(static_cast<std::size_t>(m)) {
    found = {.axes = {axes.data(), m, rows.cols},
             .deviation = deviation.data(),
             .centre = centre.data()};
    find_principal_axes(rows, 1, found, {projection.data(), rows.rows, m},
                        {next.data(), m, rows.cols});
  }
  std::vector<float> axes, next, projection, centre;
  std::vector<double> deviation;
  PrincipalAxes found;
};

VaeConfig linear_config(int hidden_layers, Index width) {
  VaeConfig config;
  config.inputs = kInputs;
  config.latent = 2;
  config.hidden_layers = hidden_layers;
  for (int i = 0; i < hidden_layers; ++i) config.hidden[i] = width + i;
  config.likelihood.kind = Likelihood::kGaussian;
  config.max_rows = kRows;
  return config;
}

}  // namespace

TEST_CASE("principal axes: orthonormal, along falling variance") {
  const Rows rows = tilted_rows();
  const Axes axes(rows.view(), 3);
  CHECK(axes.deviation[0] == doctest::Approx(4.0).epsilon(0.1));
  CHECK(axes.deviation[1] == doctest::Approx(2.0).epsilon(0.1));
  CHECK(axes.deviation[2] < 0.3);
  for (Index a = 0; a < 3; ++a) {
    for (Index b = 0; b <= a; ++b) {
      double product = 0.0;
      for (Index j = 0; j < kInputs; ++j) product += axes.found.axes(a, j) * axes.found.axes(b, j);
      CHECK(product == doctest::Approx(a == b ? 1.0 : 0.0).epsilon(1e-5));
    }
  }
  for (Index j = 0; j < kInputs; ++j) {
    CHECK(std::fabs(axes.found.axes(0, j)) == doctest::Approx(1.0 / std::sqrt(7.0)).epsilon(0.05));
  }
}

TEST_CASE("principal axes of rows that are all alike, and more axes than inputs, are finite") {
  Rows same(5, 2);
  for (Index i = 0; i < 5; ++i) same(i, 0) = same(i, 1) = 3.0F;
  const Axes axes(same.view(), 3);
  for (const float x : axes.axes) CHECK(std::isfinite(x));
  for (const double x : axes.deviation) CHECK(x == doctest::Approx(0.0));
  CHECK(axes.centre[0] == doctest::Approx(3.0));
}

TEST_CASE("linear start: features are projections, and reconstruction is what they span") {
  const Rows rows = tilted_rows();
  const Axes axes(rows.view(), 2);
  for (const int layers : {0, 1, 2, 3}) {
    CAPTURE(layers);
    NetworkFixture f(linear_config(layers, 9));
    f.vae.initialise(1);
    REQUIRE(start_linear(f.vae, axes.found));
    std::vector<float> z(2 * kRows);
    Rows out(kRows, kInputs);
    REQUIRE(f.vae.encode(f.backend, rows.view(), {z.data(), kRows, 2}, {}).ok());
    REQUIRE(f.vae.reconstruct(f.backend, rows.view(), out.view()).ok());
    double squares[2] = {};
    double error = 0.0;
    for (Index i = 0; i < kRows; ++i) {
      for (Index k = 0; k < 2; ++k) squares[k] += z[2 * i + k] * z[2 * i + k] / kRows;
      for (Index j = 0; j < kInputs; ++j) {
        error += (rows(i, j) - out(i, j)) * (rows(i, j) - out(i, j)) / (kRows * kInputs);
      }
    }
    CHECK(squares[0] == doctest::Approx(1.0).epsilon(1e-3));
    CHECK(squares[1] == doctest::Approx(1.0).epsilon(1e-3));
    CHECK(error < 0.01);  // the third direction, of variance 0.01
  }
}

TEST_CASE("linear start: a network that cannot be linear stays as it was drawn") {
  const Rows rows = tilted_rows();
  const Axes axes(rows.view(), 2);
  VaeConfig narrow = linear_config(1, 3);
  VaeConfig bent = linear_config(1, 9);
  bent.activation = Activation::kTanh;
  VaeConfig unit = linear_config(1, 9);
  unit.likelihood.kind = Likelihood::kBernoulli;
  for (const VaeConfig& config : {narrow, bent, unit}) {
    NetworkFixture f(config);
    f.vae.initialise(1);
    const std::vector<float> before = f.parameters();
    CHECK_FALSE(start_linear(f.vae, axes.found));
    CHECK(f.parameters() == before);
  }
}

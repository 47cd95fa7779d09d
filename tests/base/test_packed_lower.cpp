// Small positive definite matrices: what solves and inverts agrees with the matrix.
#include <vector>

#include <doctest/doctest.h>

#include "base/packed_lower.h"
#include "base/sampling.h"

using namespace adapvae;

TEST_CASE("equations are solved, whatever the size") {
  Philox random({.seed = 7});
  for (Index n = 1; n <= 12; ++n) {
    CAPTURE(n);
    // A sum of outer products and a diagonal.
    std::vector<double> matrix(static_cast<std::size_t>(packed_size(n)), 0.0);
    std::vector<double> x(static_cast<std::size_t>(n));
    for (Index k = 0; k < n; ++k) {
      for (double& value : x) value = sample_normal(random);
      add_outer(1.0, x.data(), n, matrix.data());
      matrix[static_cast<std::size_t>(packed_size(k) + k)] += 0.5;
    }
    const auto at = [&](Index i, Index j) {
      return matrix[static_cast<std::size_t>(i >= j ? packed_size(i) + j : packed_size(j) + i)];
    };
    std::vector<double> right(static_cast<std::size_t>(n), 0.0);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) {
        right[static_cast<std::size_t>(i)] += at(i, j) * x[static_cast<std::size_t>(j)];
      }
    }
    std::vector<double> factor = matrix;
    REQUIRE(cholesky_in_place(factor.data(), n));
    double product = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) product += x[i] * right[i];
    std::vector<double> scratch(x.size());
    const double squared = squared_distance(factor.data(), n, right.data(), scratch.data());
    CHECK(squared == doctest::Approx(product).epsilon(1e-9));
    solve_positive_definite(factor.data(), n, right.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(right[i] == doctest::Approx(x[i]).epsilon(1e-8));
    }
  }
}

TEST_CASE("what is not positive definite has no factor") {
  std::vector<double> matrix = {1.0, 2.0, 1.0};
  CHECK_FALSE(cholesky_in_place(matrix.data(), 2));
}

// A cluster's density at a row that it has learnt, as if it had not.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "mixture/component.h"
#include "support/own_statistics.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

struct Cluster {
  explicit Cluster(const ClusterShape& shape_in)
      : shape(shape_in),
        base_mean(static_cast<std::size_t>(shape.dims), 0.0),
        base_scale(static_cast<std::size_t>(shape.scatter_size()), 0.0),
        mean(base_mean.size()),
        factor(base_scale.size()),
        scratch(static_cast<std::size_t>(2 * shape.dims + shape.scatter_size())),
        statistics(shape) {
    for (Index i = 0; i < shape.dims; ++i) {
      base_scale[static_cast<std::size_t>(shape.diagonal_at(i))] = 0.7;
    }
    base.beta = 0.2;
    base.nu = static_cast<double>(shape.dims) + 2.0;
    base.mean = base_mean.data();
    base.scale = base_scale.data();
    posterior.mean = mean.data();
    posterior.factor = factor.data();
  }
  void add(const float* z) {
    add_row(shape, z, nullptr, 1.0, 1.0, statistics.ref(), scratch.data());
  }
  void finish() { REQUIRE(compute_posterior(shape, base, statistics.ref(), posterior) == 0); }
  double log_density(const std::vector<double>& z) {
    return log_predictive(shape, posterior, z.data(), scratch.data());
  }

  ClusterShape shape;
  std::vector<double> base_mean, base_scale, mean, factor, scratch;
  BaseMeasure base;
  Posterior posterior;
  OwnStatistics statistics;
};

std::vector<float> scattered(Index rows, Index dims, Philox& random) {
  std::vector<float> out(static_cast<std::size_t>(rows * dims));
  for (float& x : out) x = static_cast<float>(2.0 * sample_normal(random) + 1.0);
  return out;
}

}  // namespace

TEST_CASE("the fall is exactly that of a cluster which has not learnt the row") {
  constexpr Index kDims = 3;
  for (const FactorShape covariance : {FactorShape::kLower, FactorShape::kDiagonal}) {
    const ClusterShape shape = {covariance, kDims};
    for (const Index count : {2, 5, 40}) {
      Philox random({.seed = 5, .index = static_cast<std::uint32_t>(count)});
      const std::vector<float> rows = scattered(count, kDims, random);
      Cluster with(shape);
      Cluster without(shape);
      for (Index i = 0; i < count; ++i) {
        with.add(rows.data() + i * kDims);
        if (i > 0) without.add(rows.data() + i * kDims);
      }
      with.finish();
      without.finish();
      const std::vector<double> z(rows.begin(), rows.begin() + kDims);
      CAPTURE(count);
      const double fall = held_out_fall(shape, with.posterior, z.data(), with.scratch.data());
      const double expected = with.log_density(z) - without.log_density(z);
      CHECK(fall == doctest::Approx(std::max(expected, 0.0)).epsilon(1e-6));
      CHECK(fall > 0.0);
    }
  }
}

TEST_CASE("a row that is all of its cluster falls far, but not without end") {
  const ClusterShape shape = {FactorShape::kLower, 2};
  Cluster cluster(shape);
  const float row[] = {1000.0F, -1000.0F};
  cluster.add(row);
  cluster.finish();
  const std::vector<double> z(row, row + 2);
  const double fall = held_out_fall(shape, cluster.posterior, z.data(), cluster.scratch.data());
  CHECK(fall > 5.0);
  CHECK(fall < 100.0);
}

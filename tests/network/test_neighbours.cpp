// The graph of neighbours and the loss that draws neighbours together.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "network/neighbour_loss.h"
#include "network/neighbours.h"
#include "support/network_fixture.h"
#include "support/reference_vae.h"
#include "tools/placed_memory.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

double reference_loss(const std::vector<double>& mean, Index rows, Index m) {
  const Index pairs = rows / 2;
  double loss = 0.0;
  for (Index i = 0; i < pairs; ++i) {
    for (Index l = 0; l < pairs; ++l) {
      double d = 0.0;
      for (Index j = 0; j < m; ++j) {
        const double x = mean[static_cast<std::size_t>(i * m + j)] -
                         mean[static_cast<std::size_t>((pairs + l) * m + j)];
        d += x * x;
      }
      loss += l == i ? std::log(1.0 + d) / static_cast<double>(pairs)
                     : -2.0 * std::log((d + 1e-3) / (1.0 + d)) /
                           static_cast<double>(pairs * (pairs - 1));
    }
  }
  return loss;
}

struct GraphFixture {
  GraphFixture(Index rows, Index dims, Index neighbours, Index tile = NeighbourGraph::kLargestTile)
      : memory([&](Arena& arena) {
          const ComputeLimits limits = {
              .rows = tile, .widest_layer = tile, .dims = dims, .clusters = 1};
          backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
          graph.place(arena, rows, dims, neighbours, tile);
        }) {}
  CpuBackend backend;
  NeighbourGraph graph;
  const tools::PlacedMemory memory;
};

}  // namespace

TEST_CASE("neighbours are the nearest rows, nearest first") {
  constexpr Index kRows = 700;  // more than two tiles, and no multiple
  constexpr Index kDims = 4;
  const Rows z = random_rows(kRows, kDims, 31);
  GraphFixture f(kRows, kDims, 7);
  REQUIRE(f.graph.build(f.backend, z.view()).ok());
  REQUIRE(f.graph.neighbours() == 7);
  for (Index i = 0; i < kRows; ++i) {
    std::vector<std::pair<double, Index>> all;
    for (Index j = 0; j < kRows; ++j) {
      if (j == i) continue;
      double d = 0.0;
      for (Index c = 0; c < kDims; ++c) d += std::pow(double{z(i, c)} - z(j, c), 2);
      all.emplace_back(d, j);
    }
    std::sort(all.begin(), all.end());
    const auto distance = [&](Index j) {
      double d = 0.0;
      for (Index c = 0; c < kDims; ++c) d += std::pow(double{z(i, c)} - z(j, c), 2);
      return d;
    };
    for (Index k = 0; k < 7; ++k) {
      // Float rounding may swap neighbours that are as good as equally far.
      CHECK(distance(f.graph.of(i)[k]) ==
            doctest::Approx(all[static_cast<std::size_t>(k)].first).epsilon(1e-4));
      CHECK(f.graph.of(i)[k] != i);
    }
  }
}

TEST_CASE("the same neighbours whatever the tile") {
  const Rows z = random_rows(300, 4, 33);
  GraphFixture large(300, 4, 7);
  REQUIRE(large.graph.build(large.backend, z.view()).ok());
  for (const Index tile : {1, 16, 100}) {
    GraphFixture small(300, 4, 7, tile);
    REQUIRE(small.graph.build(small.backend, z.view()).ok());
    for (Index i = 0; i < 300; ++i) {
      CHECK(std::equal(small.graph.of(i), small.graph.of(i) + 7, large.graph.of(i)));
    }
  }
}

TEST_CASE("few rows, equal rows, too many rows") {
  GraphFixture f(5, 2, 3);
  const Rows two = random_rows(2, 2, 32);
  REQUIRE(f.graph.build(f.backend, two.view()).ok());
  CHECK(f.graph.neighbours() == 1);
  CHECK(f.graph.of(0)[0] == 1);
  CHECK(f.graph.of(1)[0] == 0);
  const std::vector<float> same(10, 1.5F);
  REQUIRE(f.graph.build(f.backend, {same.data(), 5, 2}).ok());
  for (Index i = 0; i < 5; ++i) {
    for (Index k = 0; k < 3; ++k) CHECK(f.graph.of(i)[k] != i);
  }
  CHECK(f.graph.of(4)[0] == 0);  // ties go to the lower number
  REQUIRE(f.graph.build(f.backend, two.view().row_range(0, 1)).ok());
  CHECK(f.graph.neighbours() == 0);
  const Rows six = random_rows(6, 2, 33);
  CHECK(f.graph.build(f.backend, six.view()).code() == StatusCode::kShapeMismatch);
}

TEST_CASE("the neighbour loss and its gradient agree with the definition and central differences") {
  constexpr Index kDims = 3;
  for (const Index rows : {2, 3, 8, 13}) {
    CAPTURE(rows);
    const Rows mean = random_rows(rows, kDims, 34);
    std::vector<double> at(static_cast<std::size_t>(rows * kDims));
    for (Index i = 0; i < rows * kDims; ++i) at[static_cast<std::size_t>(i)] = mean.view().data[i];
    // Added to what is there, in the first columns of a wider matrix.
    constexpr Index kWide = 2 * kDims;
    std::vector<float> gradient(static_cast<std::size_t>(rows * kWide), 1.0F);
    const double loss = neighbour_loss(mean.view(), 5.0F, {gradient.data(), rows, kWide});
    CHECK(loss == doctest::Approx(reference_loss(at, rows, kDims)).epsilon(1e-5));
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < kWide; ++j) {
        const double had = gradient[static_cast<std::size_t>(i * kWide + j)] - 1.0;
        if (j >= kDims) {
          CHECK(had == 0.0);
          continue;
        }
        const auto p = static_cast<std::size_t>(i * kDims + j);
        std::vector<double> up = at;
        std::vector<double> down = at;
        up[p] += 1e-5;
        down[p] -= 1e-5;
        const double slope =
            5.0 * (reference_loss(up, rows, kDims) - reference_loss(down, rows, kDims)) / 2e-5;
        CHECK(had == doctest::Approx(slope).epsilon(1e-4).scale(0.1));
      }
    }
  }
}

TEST_CASE("rows at one place are pushed apart without an infinity") {
  const std::vector<float> same(8 * 2, 0.25F);
  std::vector<float> gradient(8 * 2, 0.0F);
  const double loss = neighbour_loss({same.data(), 8, 2}, 1.0F, {gradient.data(), 8, 2});
  CHECK(std::isfinite(loss));
  for (const float g : gradient) CHECK(std::isfinite(g));
  CHECK(neighbour_loss({same.data(), 1, 2}, 1.0F, {gradient.data(), 1, 2}) == 0.0);
}

TEST_CASE("the network's loss holds the neighbour term, and training lowers it") {
  VaeConfig config;
  config.inputs = 6;
  config.latent = 2;
  config.hidden_layers = 1;
  config.hidden[0] = 16;
  config.likelihood.kind = Likelihood::kGaussian;
  config.max_rows = 40;
  config.max_clusters = 1;
  constexpr Index kRows = 200;
  NetworkFixture network(config, kRows);
  network.vae.initialise(5);
  const Rows x = random_rows(kRows, config.inputs, 35);
  const MixtureData mixture = random_mixture(1, config.latent, FactorShape::kLower, 36);
  VaeBatch batch;
  batch.input = batch.target = x.view().row_range(0, 40);
  batch.mixture = mixture.view();
  batch.prior_weight = 0.0F;
  batch.sample = false;
  VaeLoss plain;
  VaeLoss with;
  REQUIRE(network.vae.compute_loss(network.backend, batch, &plain).ok());
  batch.neighbour_weight = 3.0F;
  REQUIRE(network.vae.compute_loss(network.backend, batch, &with).ok());
  CHECK(plain.neighbours == 0.0);
  CHECK(with.neighbours > 0.0);
  CHECK(with.loss == doctest::Approx(plain.loss + 3.0 * with.neighbours));

  GraphFixture f(kRows, config.inputs, 5);
  REQUIRE(f.graph.build(f.backend, x.view()).ok());
  TrainingSettings settings;
  settings.batch = 40;
  settings.neighbours = &f.graph;
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  pattern.prior_weight = 0.0F;
  pattern.sample = false;
  pattern.neighbour_weight = 20.0F;
  EpochReport first;
  EpochReport last;
  REQUIRE(network.trainer
              .run_epoch(network.backend, network.vae, settings, 0, x.view(), pattern, &first)
              .ok());
  for (std::uint32_t epoch = 1; epoch < 40; ++epoch) {
    REQUIRE(network.trainer
                .run_epoch(network.backend, network.vae, settings, epoch, x.view(), pattern, &last)
                .ok());
  }
  CHECK(last.loss.neighbours < 0.8 * first.loss.neighbours);
  // A graph of other rows is refused.
  CHECK(network.trainer
            .run_epoch(network.backend, network.vae, settings, 0, x.view().row_range(0, 100),
                       pattern, &last)
            .code() == StatusCode::kShapeMismatch);
}

TEST_CASE("neighbours are rows, whatever the features") {
  constexpr Index kRows = 40;
  for (const float value : {NAN, INFINITY, -INFINITY, 3e38F}) {
    CAPTURE(value);
    Rows z(kRows, 2);
    for (float& number : z.data) number = value;
    GraphFixture f(kRows, 2, 7);
    REQUIRE(f.graph.build(f.backend, z.view()).ok());
    for (Index i = 0; i < kRows; ++i) {
      for (Index k = 0; k < 7; ++k) CHECK(f.graph.of(i)[k] < kRows);
    }
  }
}

// Replay draws from the clusters it should, and the drift it measures is the drift there was.
#include <cmath>

#include <doctest/doctest.h>

#include "replay/replay.h"
#include "support/mixture_fixture.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kDims = 3;
constexpr Index kRows = 600;

VaeConfig network_config() {
  VaeConfig config;
  config.inputs = 12;
  config.latent = kDims;
  config.hidden_layers = 1;
  config.hidden[0] = 16;
  config.activation = Activation::kTanh;
  config.likelihood.kind = Likelihood::kGaussian;
  config.max_rows = 64;
  config.max_clusters = 8;
  return config;
}

// A mixture of three clusters, far apart, of 300, 100 and 3 rows.
struct Setting {
  Setting() : network(network_config()), mixture(mixture_config()) {
    network.vae.initialise(3);
    Philox random({.seed = 91});
    std::vector<float> rows;
    const Index count[] = {300, 100, 3};
    for (Index k = 0; k < 3; ++k) {
      for (Index i = 0; i < count[k]; ++i) {
        for (Index j = 0; j < kDims; ++j) {
          rows.push_back(static_cast<float>((j == k ? 4.0 : 0.0) + 0.3 * sample_normal(random)));
        }
      }
    }
    Mixture& m = mixture.mixture;
    REQUIRE(m.begin_stream({rows.data(), 403, kDims}, {}, 1.0, 1).ok());
    while (m.clusters() < 3) m.add_cluster();
    const MatrixViewD r = m.stream_responsibilities();
    for (Index i = 0; i < 403; ++i) r(i, i < 300 ? 0 : (i < 400 ? 1 : 2)) = 1.0;
    m.recount(mixture.backend);
    m.close_stream();

    const auto place = [&](Arena& arena) {
      replay.place(arena, kRows, network_config(), m.config().shape, 8);
    };
    memory.resize(planned_bytes(place) + Arena::kAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t shift = (Arena::kAlignment - address % Arena::kAlignment) % Arena::kAlignment;
    Arena arena(memory.data() + shift, memory.size() - shift);
    place(arena);
  }
  static MixtureConfig mixture_config() {
    MixtureConfig config;
    config.shape.dims = kDims;
    config.max_clusters = 8;
    config.max_rows = 500;
    return config;
  }
  Status draw(const ReplaySettings& settings) {
    return replay.draw(network.backend, network.vae, mixture.mixture, settings, 1, 1, inputs());
  }

  MatrixView inputs() { return {drawn.data(), kRows, 12}; }

  NetworkFixture network;
  MixtureFixture mixture;
  Replay replay;
  std::vector<float> drawn = std::vector<float>(kRows * 12);
  std::vector<std::byte> memory;
};

}  // namespace

TEST_CASE("clusters are drawn by their size, those with too few rows not at all") {
  for (const double balance : {1.0, 0.0}) {
    Setting s;
    ReplaySettings settings;
    settings.filter = false;
    settings.balance = balance;
    REQUIRE(s.draw(settings).ok());
    REQUIRE(s.replay.rows() == kRows);
    double first = 0.0;
    for (Index i = 0; i < kRows; ++i) {
      REQUIRE(s.replay.cluster(i) < 2);
      first += s.replay.cluster(i) == 0 ? 1.0 : 0.0;
    }
    const double want = balance == 1.0 ? 0.75 : 0.5;
    CHECK(std::fabs(first / kRows - want) < 0.06);
    // The same call gives the same rows.
    const std::vector<float> before(s.replay.inputs().data, s.replay.inputs().data + kRows * 12);
    REQUIRE(s.draw(settings).ok());
    CHECK(same_bytes(before, {s.replay.inputs().data, s.replay.inputs().data + kRows * 12}));
  }
}

TEST_CASE("nothing is drawn from nothing, and the filter only drops") {
  Setting s;
  MixtureFixture empty(Setting::mixture_config());
  REQUIRE(
      s.replay.draw(s.network.backend, s.network.vae, empty.mixture, {}, 1, 1, s.inputs()).ok());
  CHECK(s.replay.rows() == 0);
  REQUIRE(s.draw({}).ok());
  const Index kept = s.replay.rows();
  CHECK(kept <= kRows);
  // What is left is where it should be: the network's own codes fall into their cluster.
  std::vector<float> r(static_cast<std::size_t>(kept * 3));
  if (kept == 0) return;
  s.mixture.mixture.responsibilities(s.mixture.backend, s.replay.latent(), {}, {r.data(), kept, 3},
                                     nullptr);
  for (Index i = 0; i < kept; ++i) {
    const float* p = r.data() + i * 3;
    CHECK(std::max_element(p, p + 3) - p == s.replay.cluster(i));
  }
}

TEST_CASE("a known affine change of the network is found, as far as its rows are believed") {
  Setting s;
  ReplaySettings settings;
  settings.filter = false;
  REQUIRE(s.draw(settings).ok());
  const double center[] = {0.5, -1.0, 2.0};
  const double deviation[] = {2.0, 0.5, 1.5};
  s.network.vae.standardise_latent(center, deviation);  // codes become (z - center) / deviation
  Rows now(s.replay.rows(), 3);
  const Index pass = s.network.vae.config().max_rows;
  for (Index at = 0; at < now.rows; at += pass) {
    const Index n = std::min(pass, now.rows - at);
    REQUIRE(s.network.vae
                .encode(s.network.backend, s.replay.inputs().row_range(at, n),
                        now.view().row_range(at, n), MatrixView())
                .ok());
  }
  s.replay.measure_drift(now.view());
  std::vector<double> scratch(kDims * kDims + kDims);
  const Mixture& mixture = s.mixture.mixture;
  for (Index k = 0; k < 2; ++k) {
    AffineMap map;
    double shift = 0.0;
    CHECK_FALSE(
        s.replay.drift_of(k, DriftCorrection::kOff, mixture.carried()[k], 1.0, &map, &shift));
    CHECK(shift > 0.1);
    // Statistics of the codes themselves, mapped, must be those of the new codes, as far as so many
    // rows are believed: a root on its way from what it was to what it is.
    double rows = 0.0;
    double code[kDims] = {};
    for (Index i = 0; i < s.replay.rows(); ++i) {
      if (s.replay.cluster(i) != k) continue;
      rows += 1.0;
      for (Index j = 0; j < kDims; ++j) code[j] += static_cast<double>(s.replay.latent()(i, j));
    }
    const double belief = rows / (rows + 20.0 * static_cast<double>(kDims));
    std::vector<double> mean(kDims), scatter(packed_size(kDims));
    double mass = 100.0;
    std::copy_n(mixture.carried()[k].mean, kDims, mean.begin());
    std::copy_n(mixture.carried()[k].scatter, packed_size(kDims), scatter.begin());
    std::vector<double> mean_before = mean;
    std::vector<double> scatter_before = scatter;
    double many = 1e9;  // so narrow that nothing of it stands beside the codes
    const StatisticsRef narrow = {&many, mean_before.data(), scatter_before.data()};
    REQUIRE(s.replay.drift_of(k, DriftCorrection::kAffine, narrow, 1.0, &map, &shift));
    REQUIRE(map.from_root != nullptr);
    map_statistics(mixture.config().shape, map, {&mass, mean.data(), scatter.data()},
                   scratch.data());
    for (Index i = 0; i < kDims; ++i) {
      const auto at = static_cast<std::size_t>(i);
      // The mean goes as far as the codes' did, and the shape is stretched about it.
      const double was = code[i] / rows;
      const double moved = (was - center[i]) / deviation[i] - was;
      CHECK(std::fabs(mean[at] - mean_before[at] - moved) < 1e-4);
      for (Index j = 0; j <= i; ++j) {
        const auto cell = static_cast<std::size_t>(packed_size(i) + j);
        const double stretch_i = 1.0 - belief + belief / deviation[i];
        const double stretch_j = 1.0 - belief + belief / deviation[j];
        CHECK(scatter[cell] ==
              doctest::Approx(scatter_before[cell] * stretch_i * stretch_j).epsilon(0.01));
      }
    }
  }
  // A cluster without rows has no drift; accepted drift is gone.
  AffineMap map;
  double shift = 1.0;
  const StatisticsRef first = mixture.carried()[0];
  CHECK_FALSE(s.replay.drift_of(2, DriftCorrection::kAffine, first, 1.0, &map, &shift));
  s.replay.accept_drift();
  CHECK(s.replay.drift_of(0, DriftCorrection::kShift, first, 1.0, &map, &shift));
  CHECK(shift == 0.0);
}

namespace {

// Where the codes of a setting's replay rows lie, changed by `change(code, cluster)`.
template <typename Change>
void move_codes(Setting& s, const Change& change) {
  Rows now(s.replay.rows(), kDims);
  for (Index i = 0; i < now.rows; ++i) {
    std::copy_n(s.replay.latent().row(i), kDims, now.view().row(i));
    change(now.view().row(i), s.replay.cluster(i));
  }
  s.replay.measure_drift(now.view());
}

std::vector<double> code_mean(const Setting& s, Index k) {
  std::vector<double> mean(kDims, 0.0);
  double rows = 0.0;
  for (Index i = 0; i < s.replay.rows(); ++i) {
    if (s.replay.cluster(i) != k) continue;
    rows += 1.0;
    for (std::size_t j = 0; j < kDims; ++j) {
      mean[j] += static_cast<double>(s.replay.latent()(i, static_cast<Index>(j)));
    }
  }
  for (double& x : mean) x /= rows;
  return mean;
}

}  // namespace

TEST_CASE("a direction in which codes hardly differ does not change a cluster's shape") {
  Setting s;
  ReplaySettings settings;
  settings.filter = false;
  REQUIRE(s.draw(settings).ok());
  const std::vector<double> center = code_mean(s, 0);
  move_codes(s, [&](float* code, Index) {
    for (std::size_t j = 0; j < kDims; ++j) {
      code[j] = static_cast<float>(center[j] + 3.0 * (static_cast<double>(code[j]) - center[j]));
    }
  });
  // As wide as the codes: three times as wide, as far as that is believed. A thousand times as
  // wide: the codes are nothing beside it.
  for (const double width : {1e-3, 1e3}) {
    double mass = 100.0;
    std::vector<double> mean = center;
    std::vector<double> scatter(packed_size(kDims), 0.0);
    for (Index j = 0; j < kDims; ++j) {
      scatter[static_cast<std::size_t>(packed_size(j) + j)] = mass * width * width;
    }
    AffineMap map;
    double shift = 0.0;
    REQUIRE(s.replay.drift_of(0, DriftCorrection::kAffine, {&mass, mean.data(), scatter.data()},
                              1.0, &map, &shift));
    REQUIRE(map.from_root != nullptr);
    const double stretch = map.to_root[0] / map.from_root[0];
    if (width < 1.0) CHECK(stretch > 1.5);
    if (width > 1.0) CHECK(stretch == doctest::Approx(1.0).epsilon(0.001));
  }
}

TEST_CASE("an old cluster keeps its shape, and codes that come back to its mean do not move it") {
  Setting s;
  ReplaySettings settings;
  settings.filter = false;
  REQUIRE(s.draw(settings).ok());
  double mass = 100.0;
  std::vector<double> mean = code_mean(s, 0);
  const std::vector<double> codes = mean;
  mean[0] += 0.5;  // codes lie inward of it
  std::vector<double> scatter(packed_size(kDims), 0.0);
  for (Index j = 0; j < kDims; ++j) scatter[static_cast<std::size_t>(packed_size(j) + j)] = mass;
  const StatisticsRef carried = {&mass, mean.data(), scatter.data()};
  const auto shift_of_mean = [&](double by, double trust) {
    move_codes(s, [&](float* code, Index) { code[0] += static_cast<float>(by); });
    AffineMap map;
    double shift = 0.0;
    REQUIRE(s.replay.drift_of(0, DriftCorrection::kAffine, carried, trust, &map, &shift));
    if (trust == 0.0) {
      for (Index j = 0; j < packed_size(kDims); ++j) CHECK(map.to_root[j] == map.from_root[j]);
    }
    return map.to_mean[0] - map.from_mean[0];
  };
  CHECK(shift_of_mean(0.4, 1.0) == doctest::Approx(0.4).epsilon(0.001));  // young: follows
  CHECK(std::fabs(shift_of_mean(0.4, 0.0)) < 1e-4);                       // old: has come back
  CHECK(shift_of_mean(0.8, 0.0) == doctest::Approx(0.3).epsilon(0.001));  // went beyond
  CHECK(shift_of_mean(-0.4, 0.0) == doctest::Approx(-0.4).epsilon(0.001));
}

TEST_CASE("replay rows are narrower than what a cluster carries, by the factor that it is wider") {
  Setting s;
  ReplaySettings settings;
  settings.filter = false;
  REQUIRE(s.draw(settings).ok());
  const ClusterShape& shape = s.mixture.mixture.config().shape;
  std::vector<double> mean(kDims), scatter(packed_size(kDims)), flat(packed_size(kDims));
  double mass = 0.0;
  double one = 1.0;
  const StatisticsRef codes = {&mass, mean.data(), scatter.data()};
  for (Index i = 0; i < s.replay.rows(); ++i) {
    if (s.replay.cluster(i) != 0) continue;
    double row[kDims];
    for (Index j = 0; j < kDims; ++j) row[j] = static_cast<double>(s.replay.latent()(i, j));
    add_statistics(shape, {&one, row, flat.data()}, 1.0, codes);
  }
  REQUIRE(mass > 50.0);
  CHECK(s.replay.narrowness(0, codes) == doctest::Approx(1.0));
  for (double& x : scatter) x *= 9.0;
  CHECK(s.replay.narrowness(0, codes) == doctest::Approx(1.0 / 3.0));
  for (double& x : scatter) x /= 81.0;
  CHECK(s.replay.narrowness(0, codes) == 1.0);  // never wider
  CHECK(s.replay.narrowness(2, codes) == 1.0);  // no rows to say
}

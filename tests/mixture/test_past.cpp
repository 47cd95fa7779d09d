// What a mixture carries between streams, with every row accounted for.
#include <cmath>

#include <doctest/doctest.h>

#include "support/mixture_fixture.h"
#include "support/rows.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

using Bytes = std::vector<std::uint8_t>;
const FactorShape kShapes[] = {FactorShape::kLower, FactorShape::kDiagonal};
constexpr Index kDims = 3;

MixtureConfig config_of(FactorShape covariance, Index max_clusters = 6) {
  MixtureConfig config;
  config.shape = {covariance, kDims};
  config.max_clusters = max_clusters;
  config.max_rows = 200;
  config.max_batches = 2;
  return config;
}

// One stream of overlapping kinds in `clusters` clusters, closed. Responsibilities are soft.
void learn(MixtureFixture& fixture, Index clusters, std::uint32_t seed, double weight = 1.0) {
  Mixture& mixture = fixture.mixture;
  Philox random({.seed = 100, .index = seed});
  const std::vector<float> rows = clumped_rows(200, kDims, 3, 1.5, random);
  const std::vector<float> variance(rows.size(), 0.25F);
  const ConstMatrixView spread(variance.data(), 200, kDims);
  REQUIRE(mixture.begin_stream({rows.data(), 200, kDims}, spread, weight, 2).ok());
  if (mixture.clusters() < clusters) {
    while (mixture.clusters() < clusters) mixture.add_cluster();
    randomise_responsibilities(mixture, random);
    mixture.recount(fixture.backend);
  }
  for (int lap = 0; lap < 3; ++lap) mixture.lap(fixture.backend);
  mixture.close_stream();
}

Status load(Mixture& mixture, const Bytes& bytes) {
  ByteReader reader(bytes.data(), bytes.size());
  return mixture.load(reader);
}

// A copy of what cluster k carries.
struct Carried {
  Carried(const Mixture& mixture, Index k) {
    const StatisticsRef s = mixture.carried()[k];
    mass = *s.mass;
    mean.assign(s.mean, s.mean + kDims);
    scatter.assign(s.scatter, s.scatter + mixture.config().shape.scatter_size());
    rows = mixture.rows_of(k);
    entropy = mixture.entropy_of(k);
  }
  bool operator==(const Carried&) const = default;
  StatisticsRef ref() { return {&mass, mean.data(), scatter.data()}; }

  double mass, rows, entropy;
  std::vector<double> mean, scatter;
};

void check_scaled(const Carried& got, const Carried& from, double factor, double within = 1e-13) {
  CHECK(got.mass == doctest::Approx(factor * from.mass).epsilon(1e-14));
  CHECK(got.entropy == doctest::Approx(factor * from.entropy).epsilon(1e-14));
  for (std::size_t i = 0; i < kDims; ++i) {
    CHECK(got.mean[i] == doctest::Approx(from.mean[i]).epsilon(within));
  }
  CHECK(std::fabs(got.rows - factor * from.rows) <= kResponsibilityUnit);
  for (std::size_t i = 0; i < from.scatter.size(); ++i) {
    CHECK(got.scatter[i] == doctest::Approx(factor * from.scatter[i]).epsilon(within));
  }
}

}  // namespace

TEST_CASE("fading scales what is carried and loses no row") {
  for (const FactorShape covariance : kShapes) {
    MixtureFixture fixture(config_of(covariance));
    Mixture& mixture = fixture.mixture;
    learn(fixture, 3, 1, 0.8);
    learn(fixture, 3, 2, 0.8);
    const Carried before[] = {{mixture, 0}, {mixture, 1}, {mixture, 2}};
    const double shared = mixture.pair_entropy_loss(2, 0);
    REQUIRE(shared < -0.1);
    mixture.fade(0.3);
    for (Index k = 0; k < 3; ++k) {
      check_scaled({mixture, k}, before[k], 0.3);
      CHECK(mixture.posterior(k).beta == mixture.base_measure().beta + mixture.mass(k));
    }
    CHECK(mixture.pair_entropy_loss(2, 0) == doctest::Approx(0.3 * shared).epsilon(1e-14));
    for (int i = 0; i < 300; ++i) {
      mixture.fade(0.97);
      REQUIRE(mixture.rows_learnt() == 400.0);
    }
  }
}

TEST_CASE("fading loses no row of very many either") {
  MixtureFixture fixture(config_of(FactorShape::kLower));
  Mixture& mixture = fixture.mixture;
  learn(fixture, 2, 17);
  // Many more rows into the count of cluster 0, which follows the prior.
  Bytes bytes = saved(mixture);
  ByteWriter writer(bytes.data() + 40 + 8 * (8 + kDims + packed_size(kDims)), 8);
  writer.write_u64(static_cast<std::uint64_t>(mixture.rows_of(0)) + (1ULL << 42));
  REQUIRE(load(mixture, bytes).ok());
  const double all = 200.0 + static_cast<double>(1ULL << 42);
  CHECK(mixture.rows_learnt() == all);
  for (int i = 0; i < 60; ++i) {
    mixture.fade(0.61);
    REQUIRE(mixture.rows_learnt() == all);
  }
  CHECK(mixture.rows_of(0) < 10.0);
}

TEST_CASE("a removed cluster's rows have faded, and the last takes its number") {
  for (const Index k : {Index{0}, Index{1}, Index{3}}) {
    CAPTURE(k);
    MixtureFixture fixture(config_of(kShapes[k % 2]));
    Mixture& mixture = fixture.mixture;
    learn(fixture, 4, 4);
    const double rows = mixture.rows_of(k);
    const Carried last(mixture, 3), second(mixture, 2);
    const double shared = mixture.pair_entropy_loss(3, 2);
    mixture.remove_cluster(k);
    REQUIRE(mixture.clusters() == 3);
    CHECK(mixture.rows_faded() == rows);
    CHECK(mixture.rows_learnt() == 200.0);
    CHECK(Carried(mixture, 2) == second);
    if (k < 3) {
      CHECK(Carried(mixture, k) == last);
      CHECK(mixture.pair_entropy_loss(k, 2) == shared);
    }
  }
}

TEST_CASE("a cluster that forgets its rows is as the prior has it") {
  for (const FactorShape covariance : kShapes) {
    MixtureFixture fixture(config_of(covariance));
    Mixture& mixture = fixture.mixture;
    learn(fixture, 3, 6);
    const double rows = mixture.rows_of(1);
    const Carried other(mixture, 2);
    mixture.forget_rows(1);
    CHECK(mixture.rows_of(1) == 0.0);
    CHECK(mixture.mass(1) == 0.0);
    CHECK(mixture.pair_entropy_loss(1, 0) == 0.0);
    CHECK(mixture.pair_entropy_loss(2, 0) < 0.0);
    CHECK(mixture.posterior(1).log_normaliser == mixture.base_measure().log_normaliser);
    CHECK(mixture.rows_faded() == rows);
    CHECK(mixture.rows_learnt() == 200.0);
    CHECK(Carried(mixture, 2) == other);
  }
}

TEST_CASE("a divided past sums to what it was, and merging restores it") {
  for (const FactorShape covariance : kShapes) {
    MixtureFixture fixture(config_of(covariance));
    Mixture& mixture = fixture.mixture;
    learn(fixture, 2, 7);
    const Carried whole(mixture, 0), other(mixture, 1);
    const double shared = mixture.pair_entropy_loss(0, 1);
    REQUIRE(shared < 0.0);
    Carried part = whole, rest = whole;
    const double fraction = 0.37;
    part.mass *= fraction;
    rest.mass -= part.mass;
    for (std::size_t i = 0; i < whole.scatter.size(); ++i) {
      part.scatter[i] *= fraction;
      rest.scatter[i] -= part.scatter[i];
    }
    const Index fresh = mixture.add_cluster();
    mixture.divide_past(0, fresh, fraction, rest.ref(), part.ref());
    mixture.global_step();
    check_scaled({mixture, fresh}, whole, fraction);
    check_scaled({mixture, 0}, whole, 1.0 - fraction);
    CHECK(Carried(mixture, 1) == other);
    CHECK(mixture.rows_learnt() == 200.0);
    CHECK(mixture.rows_of(0) + mixture.rows_of(fresh) == whole.rows);
    CHECK(mixture.pair_entropy_loss(0, fresh) == 0.0);
    CHECK(mixture.pair_entropy_loss(1, 0) == doctest::Approx((1.0 - fraction) * shared));
    mixture.merge_clusters(0, fresh);
    check_scaled({mixture, 0}, whole, 1.0);
    CHECK(mixture.pair_entropy_loss(1, 0) == doctest::Approx(shared).epsilon(1e-12));
  }
}

TEST_CASE("rows that are held out are not learnt") {
  MixtureFixture fixture(config_of(FactorShape::kLower));
  MixtureFixture without(config_of(FactorShape::kLower));
  Rows z = random_rows(100, kDims, 8);
  Mixture& mixture = fixture.mixture;
  REQUIRE(mixture.begin_stream(z.view(), {}, 1.0, 1).ok());
  mixture.lap(fixture.backend);
  for (Index i = 60; i < 100; ++i) mixture.hold_out(i);
  mixture.recount(fixture.backend);
  mixture.close_stream();
  CHECK(mixture.rows_learnt() == 60.0);
  REQUIRE(without.mixture.begin_stream(z.view().row_range(0, 60), {}, 1.0, 1).ok());
  without.mixture.lap(without.backend);
  without.mixture.close_stream();
  check_scaled({mixture, 0}, {without.mixture, 0}, 1.0, 1e-9);
  // Held out for now only: the next local step has them back.
  REQUIRE(mixture.begin_stream(z.view(), {}, 1.0, 1).ok());
  mixture.lap(fixture.backend);
  mixture.hold_out(0);
  mixture.lap(fixture.backend);
  mixture.close_stream();
  CHECK(mixture.rows_learnt() == 160.0);
}

TEST_CASE("a mixture is saved and loaded exactly, and learns on as if nothing had been") {
  for (const FactorShape covariance : kShapes) {
    for (const bool learnt : {false, true}) {
      MixtureFixture one(config_of(covariance));
      MixtureFixture other(config_of(covariance));
      if (learnt) one.mixture.set_concentration(learnt_concentration(1.0, 0.2));
      learn(one, 4, 9, 0.5);
      one.mixture.fade(0.9);
      learn(other, 6, 10);
      const Bytes bytes = saved(one.mixture);
      ByteReader reader(bytes.data(), bytes.size());
      REQUIRE(other.mixture.load(reader).ok());
      CHECK(reader.remaining() == 0);
      CHECK(saved(other.mixture) == bytes);
      CHECK(other.mixture.bound().total() == one.mixture.bound().total());
      for (MixtureFixture* each : {&one, &other}) {
        learn(*each, 6, 11, 0.7);
        each->mixture.remove_cluster(1);
        learn(*each, 6, 12);
        each->mixture.merge_clusters(0, 2);
      }
      CHECK(saved(one.mixture) == saved(other.mixture));
    }
  }
}

TEST_CASE("a mixture that is full needs no more bytes than promised, and little less") {
  for (const Index clusters : {Index{1}, Index{2}, Index{9}}) {
    const MixtureConfig config = config_of(kShapes[clusters % 2], clusters);
    MixtureFixture fixture(config);
    learn(fixture, clusters, 13);
    CHECK(saved(fixture.mixture).size() >= Mixture::most_bytes(config) * 9 / 10);
  }
}

TEST_CASE("bytes that are no state of this mixture are refused and change nothing") {
  for (const FactorShape covariance : kShapes) {
    MixtureFixture source(config_of(covariance));
    learn(source, 3, 14);
    source.mixture.fade(0.5);
    const Bytes good = saved(source.mixture);
    MixtureFixture target(config_of(covariance));
    learn(target, 2, 15);
    const Bytes own = saved(target.mixture);
    const double bound = target.mixture.bound().total();
    // Whether the bytes were taken; if not, nothing has changed.
    const auto taken = [&](const Bytes& bytes) {
      const Status status = load(target.mixture, bytes);
      if (status.ok()) return true;
      REQUIRE(status.code() == StatusCode::kCorruptData);
      REQUIRE(saved(target.mixture) == own);
      REQUIRE(target.mixture.bound().total() == bound);
      return false;
    };
    for (std::size_t size = 0; size < good.size(); ++size) {
      CAPTURE(size);
      REQUIRE_FALSE(taken({good.begin(), good.begin() + size}));
    }
    int refused = 0;
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      CAPTURE(bit);
      Bytes bytes = good;
      bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
      refused += taken(bytes) ? 0 : 1;
      learn(target, 3, 16);  // in whatever state: no crash
      REQUIRE(load(target.mixture, own).ok());
      REQUIRE(saved(target.mixture) == own);
    }
    CHECK(refused > 100);  // version, shape and the signs and exponents of most numbers
    // So many clusters that they are a negative number where Index has 32 bits.
    for (const std::uint32_t clusters : {0x80000000U, 0x80000003U, 0xFFFFFFFFU}) {
      CAPTURE(clusters);
      Bytes bytes = good;
      ByteWriter(bytes.data() + 12, 4).write_u32(clusters);
      CHECK_FALSE(taken(bytes));
    }
    MixtureFixture small(config_of(covariance, 2));
    CHECK(load(small.mixture, good).code() == StatusCode::kCorruptData);
    MixtureFixture different(config_of(kShapes[covariance == kShapes[0] ? 1 : 0]));
    CHECK(load(different.mixture, good).code() == StatusCode::kCorruptData);
  }
}

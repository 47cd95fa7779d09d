// Tables of what rows add while clusters stand still, beside an ordinary lap over the same rows.
#include <cmath>

#include <doctest/doctest.h>

#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr Index kDims = 3;
constexpr Index kRows = 200;

MixtureConfig config_of(FactorShape covariance) {
  MixtureConfig config;
  config.shape = {covariance, kDims};
  config.max_clusters = 7;
  config.max_rows = kRows;
  return config;
}

// Three overlapping kinds in four clusters: responsibilities are soft, and shared.
void learn(MixtureFixture& fixture) {
  Mixture& mixture = fixture.mixture;
  Philox random({.seed = 110});
  const std::vector<float> rows = clumped_rows(kRows, kDims, 3, 1.5, random);
  REQUIRE(mixture.begin_stream({rows.data(), kRows, kDims}, {}, 1.0, 1).ok());
  while (mixture.clusters() < 4) mixture.add_cluster();
  randomise_responsibilities(mixture, random);
  mixture.recount(fixture.backend);
  for (int lap = 0; lap < 3; ++lap) mixture.lap(fixture.backend);
  mixture.close_stream();
}

// The table of these rows; the mixture is as it was.
Bytes table_of(MixtureFixture& fixture, ConstMatrixView z, ConstMatrixView variance) {
  const Bytes before = saved(fixture.mixture);
  REQUIRE(fixture.mixture.carry_rows_alone(fixture.backend, z, variance).ok());
  Bytes table(static_cast<std::size_t>(Mixture::table_bytes(fixture.mixture.config().shape, 4)));
  ByteWriter writer(table.data(), table.size());
  fixture.mixture.write_table(writer);
  REQUIRE(writer.ok());
  CHECK(writer.position() == table.size());
  ByteReader reader(before.data(), before.size());
  REQUIRE(fixture.mixture.load(reader).ok());
  CHECK(saved(fixture.mixture) == before);
  return table;
}

void add(Mixture& mixture, const Bytes& table, double weight) {
  RowCount rows;
  ByteReader check(table.data(), table.size());
  CHECK(mixture.check_table(check, 4, &rows));
  ByteReader reader(table.data(), table.size());
  for (Index k = 0; k < 4; ++k) (void)mixture.add_from_table(reader, k, 4, k, weight);
  CHECK(reader.remaining() == 0);
  mixture.global_step();
}

}  // namespace

TEST_CASE("to add the tables of parts is a lap over the whole") {
  for (const FactorShape shape : {FactorShape::kLower, FactorShape::kDiagonal}) {
    for (const double weight : {1.0, 0.25}) {
      MixtureFixture lapped(config_of(shape));
      MixtureFixture added(config_of(shape));
      learn(lapped);
      learn(added);
      Philox random({.seed = 111});
      const std::vector<float> rows = clumped_rows(kRows, kDims, 3, 1.5, random);
      const std::vector<float> spread(rows.size(), 0.25F);
      const ConstMatrixView z(rows.data(), kRows, kDims);
      const ConstMatrixView variance(spread.data(), kRows, kDims);
      REQUIRE(lapped.mixture.begin_stream(z, variance, weight, 1).ok());
      lapped.mixture.lap(lapped.backend);
      lapped.mixture.close_stream();
      const Bytes parts[] = {table_of(added, z.row_range(0, 70), variance.row_range(0, 70)),
                             table_of(added, z.row_range(70, 130), variance.row_range(70, 130))};
      for (const Bytes& part : parts) add(added.mixture, part, weight);
      const auto near = [](double a, double b) {
        return std::fabs(a - b) <= 1e-11 * (1.0 + std::fabs(a));
      };
      const Mixture& x = lapped.mixture;
      const Mixture& y = added.mixture;
      CHECK(x.rows_learnt() == 400.0);
      CHECK(y.rows_learnt() == 400.0);
      double shared = 0.0;
      for (Index k = 0; k < 4; ++k) {
        CHECK(x.rows_of(k) == y.rows_of(k));
        CHECK(near(x.mass(k), y.mass(k)));
        for (Index i = 0; i < kDims; ++i) {
          CHECK(near(x.carried()[k].mean[i], y.carried()[k].mean[i]));
        }
        for (Index i = 0; i < x.config().shape.scatter_size(); ++i) {
          CHECK(near(x.carried()[k].scatter[i], y.carried()[k].scatter[i]));
        }
        CHECK(near(x.entropy_of(k), y.entropy_of(k)));
        for (Index j = 0; j < k; ++j) {
          CHECK(near(x.pair_entropy_loss(k, j), y.pair_entropy_loss(k, j)));
          shared += x.pair_entropy_loss(k, j);
        }
      }
      CHECK(shared < -1.0);  // or nothing was shown
      CHECK(near(x.bound().total(), y.bound().total()));
    }
  }
}

TEST_CASE("a newborn of a table keeps what it shares with the base and with its siblings") {
  MixtureFixture from(config_of(FactorShape::kLower));
  MixtureFixture to(config_of(FactorShape::kLower));
  learn(from);
  learn(to);
  Philox random({.seed = 112});
  const std::vector<float> rows = clumped_rows(kRows, kDims, 3, 1.5, random);
  Mixture& source = from.mixture;
  REQUIRE(source.begin_stream({rows.data(), kRows, kDims}, {}, 1.0, 1).ok());
  source.add_cluster();
  source.add_cluster();
  randomise_responsibilities(source, random);
  source.recount(from.backend);
  source.carry_stream_alone();
  Bytes table(static_cast<std::size_t>(Mixture::table_bytes(source.config().shape, 6)));
  ByteWriter writer(table.data(), table.size());
  source.write_table(writer);
  // One by one, with the base's numbers as they are, and the newborns' after another that is there.
  Mixture& mixture = to.mixture;
  CHECK(mixture.add_cluster() == 4);
  const double before = mixture.pair_entropy_loss(3, 1);
  ByteReader reader(table.data(), table.size());
  for (Index k = 0; k < 6; ++k) {
    const Index into = k < 4 ? k : mixture.add_cluster();
    CHECK(into == (k < 4 ? k : k + 1));
    (void)mixture.add_from_table(reader, k, 4, into, 0.5);
  }
  mixture.global_step();
  CHECK(std::fabs(mixture.pair_entropy_loss(3, 1) - before - 0.5 * source.pair_entropy_loss(3, 1)) <
        1e-12);
  for (const Index k : {4, 5}) {
    for (Index j = 0; j < k; ++j) {
      CHECK(source.pair_entropy_loss(k, j) < 0.0);
      CHECK(mixture.pair_entropy_loss(k + 1, j < 4 ? j : j + 1) ==
            0.5 * source.pair_entropy_loss(k, j));
    }
    CHECK(mixture.pair_entropy_loss(k + 1, 4) == 0.0);
    CHECK(mixture.rows_of(k + 1) == source.rows_of(k));
    CHECK(mixture.mass(k + 1) == 0.5 * source.mass(k));
  }
}

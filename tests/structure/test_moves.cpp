// Births and merges: the gain that decides is the gain that is had, rows are conserved, and plain
// mixtures are found from one cluster.
#include <cmath>

#include <doctest/doctest.h>

#include "structure/birth.h"
#include "structure/merge.h"
#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

struct Moves {
  explicit Moves(const MixtureConfig& config) {
    const auto place = [&](Arena& arena) {
      birth.place(arena, config);
      merge.place(arena, config);
      candidates.place(arena, config);
    };
    const std::size_t bytes = planned_bytes(place);
    memory.resize(bytes + Arena::kAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t shift = (Arena::kAlignment - address % Arena::kAlignment) % Arena::kAlignment;
    Arena arena(memory.data() + shift, bytes);
    place(arena);
    candidates.reset();
  }

  BirthMove birth;
  MergeMove merge;
  CandidateDivisions candidates;
  std::vector<std::byte> memory;
};

// A base measure from the rows: mean 0, scale 0.1 · average variance.
void scale_prior(Mixture& mixture, const std::vector<float>& rows) {
  const ClusterShape& shape = mixture.config().shape;
  double sum = 0.0;
  for (const float x : rows) sum += static_cast<double>(x) * x;
  const double scale = 0.1 * sum / static_cast<double>(rows.size());
  std::vector<double> mean(static_cast<std::size_t>(shape.dims), 0.0);
  std::vector<double> matrix(static_cast<std::size_t>(shape.scatter_size()), 0.0);
  for (Index i = 0; i < shape.dims; ++i) {
    const Index at = shape.covariance == FactorShape::kDiagonal ? i : packed_size(i) + i;
    matrix[static_cast<std::size_t>(at)] = scale;
  }
  REQUIRE(
      mixture
          .set_base_measure(0.2, static_cast<double>(shape.dims) + 2.0, mean.data(), matrix.data())
          .ok());
}

struct Counts {
  int births = 0;
  int from_rows = 0;
  int divisions = 0;
  int merges = 0;
};

// Moves until nothing gains, with every gain checked against the bound.
// With `others_first` the first round leaves the field to the other two kinds of birth.
Counts fit(MixtureFixture& fixture, Moves& moves, Philox& random, bool others_first = false) {
  Mixture& mixture = fixture.mixture;
  Counts counts;
  double bound = mixture.lap(fixture.backend);
  const auto lap = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const double next = mixture.lap(fixture.backend);
      REQUIRE(next >= bound - 1e-9 * std::fabs(bound));
      bound = next;
    }
  };
  const auto check_gain = [&](const MoveRecord& record) {
    const double next = mixture.bound().total();
    REQUIRE(record.gain > 0.0);
    REQUIRE(std::fabs(next - bound - record.gain) <= 1e-9 * std::max(1.0, std::fabs(bound)));
    bound = next;
  };
  for (int round = 0; round < 6; ++round) {
    lap(4);
    int accepted = 0;
    const Index targets = others_first && round == 0 ? 0 : mixture.clusters();
    for (Index target = 0; target < targets; ++target) {
      for (const Index fresh : {Index{10}, Index{4}, Index{2}, Index{1}}) {
        const MoveRecord record =
            moves.birth.try_cluster(fixture.backend, mixture, target, fresh, {}, random);
        if (record.outcome != MoveOutcome::kAccepted) {
          REQUIRE(mixture.bound().total() == bound);
          continue;
        }
        check_gain(record);
        accepted += static_cast<int>(record.count);
        break;
      }
    }
    lap(4);
    // Births from rows chosen anywhere: those that fit least.
    const Index n = mixture.stream_rows().rows;
    std::vector<RowScore> score(static_cast<std::size_t>(n));
    std::vector<float> r(static_cast<std::size_t>(n * mixture.clusters()));
    mixture.score(fixture.backend, mixture.stream_rows(), mixture.stream_variance(),
                  {r.data(), n, mixture.clusters()}, score.data());
    std::vector<std::uint32_t> chosen;
    std::vector<float> density;
    for (Index i = 0; i < n; ++i) {
      const RowScore& s = score[static_cast<std::size_t>(i)];
      if (s.remoteness < 3.0F) continue;
      chosen.push_back(static_cast<std::uint32_t>(i));
      density.push_back(s.log_density);
    }
    const MoveRecord from_rows =
        moves.birth.try_rows(fixture.backend, mixture, chosen.data(), density.data(),
                             static_cast<Index>(chosen.size()), 2, {}, random);
    if (from_rows.outcome == MoveOutcome::kAccepted) {
      check_gain(from_rows);
      ++counts.from_rows;
      ++accepted;
      moves.candidates.reset();
    } else {
      REQUIRE(std::fabs(mixture.bound().total() - bound) <= 1e-11 * std::fabs(bound));
      bound = mixture.bound().total();
    }
    const MoveRecord division =
        moves.birth.try_division(fixture.backend, mixture, 0, n, moves.candidates, {}, random);
    if (division.outcome == MoveOutcome::kAccepted) {
      check_gain(division);
      ++counts.divisions;
      ++accepted;
    }
    counts.births += accepted;
    int merged = 0;
    while (true) {
      const MoveRecord record = moves.merge.merge_best(mixture, 0.0);
      if (record.outcome != MoveOutcome::kAccepted) break;
      check_gain(record);
      moves.candidates.reset();
      ++merged;
    }
    counts.merges += merged;
    while (true) {
      const double before = mixture.rows_learnt();
      const MoveRecord record = moves.merge.retire_lightest(mixture, 0.01);
      if (record.outcome != MoveOutcome::kAccepted) break;
      REQUIRE(record.rows < 0.01);
      REQUIRE(mixture.rows_learnt() == before);
      const double next = mixture.bound().total();
      REQUIRE(std::fabs(next - bound - record.gain) <= 1e-9 * std::max(1.0, std::fabs(bound)));
      bound = next;
    }
    if (accepted == 0 && merged == 0) break;
  }
  lap(3);
  return counts;
}

}  // namespace

TEST_CASE("every accepted move has exactly the gain that was promised") {
  Counts total;
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    Philox random({.seed = 21, .index = trial});
    MixtureConfig config;
    config.shape.covariance = trial % 3 == 0 ? FactorShape::kDiagonal : FactorShape::kLower;
    config.shape.dims = 2 + random.below(4);
    config.max_clusters = 12;
    config.max_rows = 400;
    MixtureFixture fixture(config);
    Moves moves(config);
    const Index m = config.shape.dims;
    const double weight = trial % 4 == 0 ? 0.5 : 1.0;
    double learnt = 0.0;
    for (int stream = 0; stream < 3; ++stream) {
      const Index n = 100 + random.below(300);
      const std::vector<float> rows = clumped_rows(n, m, 1 + random.below(4), 4.0, random);
      std::vector<float> variance(rows.size(), 0.1F);
      if (stream == 0) scale_prior(fixture.mixture, rows);
      const ConstMatrixView spread =
          trial % 2 == 0 ? ConstMatrixView(variance.data(), n, m) : ConstMatrixView();
      REQUIRE(fixture.mixture.begin_stream({rows.data(), n, m}, spread, weight, 1).ok());
      const Counts counts = fit(fixture, moves, random, trial % 3 != 0);
      total.births += counts.births;
      total.merges += counts.merges;
      total.from_rows += counts.from_rows;
      total.divisions += counts.divisions;
      learnt += static_cast<double>(n);
      REQUIRE(fixture.mixture.rows_learnt() == learnt);
      fixture.mixture.close_stream();
      REQUIRE(fixture.mixture.rows_learnt() == learnt);
    }
  }
  CHECK(total.births > 100);
  CHECK(total.from_rows > 5);
  CHECK(total.divisions > 5);
  MESSAGE(total.births << " births (" << total.from_rows << " from rows, " << total.divisions
                       << " divisions), " << total.merges << " merges");
}

TEST_CASE("well-separated kinds are found from one cluster") {
  for (const FactorShape covariance : {FactorShape::kLower, FactorShape::kDiagonal}) {
    for (const Index kinds : {Index{1}, Index{3}, Index{6}}) {
      CAPTURE(kinds);
      MixtureConfig config;
      config.shape = {covariance, 4};
      config.max_clusters = 20;
      config.max_rows = 1200;
      MixtureFixture fixture(config);
      Moves moves(config);
      Philox random({.seed = 22, .index = static_cast<std::uint32_t>(kinds)});
      const std::vector<float> rows = clumped_rows(1200, 4, kinds, 12.0, random);
      scale_prior(fixture.mixture, rows);
      REQUIRE(fixture.mixture.begin_stream({rows.data(), 1200, 4}, {}, 1.0, 1).ok());
      fit(fixture, moves, random);
      CHECK(fixture.mixture.clusters() == kinds);
    }
  }
}

TEST_CASE("a move that cannot be made says why and changes nothing") {
  MixtureConfig config;
  config.shape = {FactorShape::kLower, 2};
  config.max_clusters = 1;
  config.max_rows = 50;
  MixtureFixture fixture(config);
  Moves moves(config);
  Philox random({.seed = 23});
  const std::vector<float> rows = clumped_rows(50, 2, 2, 8.0, random);
  REQUIRE(fixture.mixture.begin_stream({rows.data(), 50, 2}, {}, 1.0, 1).ok());
  const double bound = fixture.mixture.lap(fixture.backend);
  CHECK(moves.birth.try_cluster(fixture.backend, fixture.mixture, 0, 4, {}, random).outcome ==
        MoveOutcome::kNoRoom);
  CHECK(moves.merge.merge_best(fixture.mixture, 0.0).outcome == MoveOutcome::kBoundWouldFall);
  CHECK(fixture.mixture.bound().total() == bound);
  fixture.mixture.close_stream();

  config.max_clusters = 5;
  MixtureFixture small(config);
  Moves more(config);
  REQUIRE(small.mixture.begin_stream({rows.data(), 3, 2}, {}, 1.0, 1).ok());
  small.mixture.lap(small.backend);
  CHECK(more.birth.try_cluster(small.backend, small.mixture, 0, 2, {}, random).outcome ==
        MoveOutcome::kTooFewRows);
}

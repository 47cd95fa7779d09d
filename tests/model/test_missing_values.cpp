// Rows with missing values (NaN): learnt around, in every call.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/configuration_for_rows.h"
#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Configuration gap_model(bool scaled) {
  Configuration config = small_model();
  config.missing_values = 1;
  config.scale_inputs = scaled ? 1 : 0;
  return config;
}

// Every cell is missing with this probability, but one of each row.
Rows with_gaps(Rows rows, double part, std::uint32_t seed) {
  Philox random({.seed = 97, .index = seed});
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) {
      if (random.uniform_double() < part && j != i % rows.cols) rows(i, j) = kNaN;
    }
  }
  return rows;
}

Rows scaled_up(Rows rows) {
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) rows(i, j) = 40.0F * rows(i, j) + 300.0F;
  }
  return rows;
}

double agreement(const std::vector<ClusterId>& a, const std::vector<ClusterId>& b) {
  double same = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1.0 : 0.0;
  return same / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("rows with gaps find the clusters of the same rows without gaps") {
  for (const bool scaled : {false, true}) {
    CAPTURE(scaled);
    ModelFixture f(gap_model(scaled));
    const auto units = [scaled](const Rows& rows) { return scaled ? scaled_up(rows) : rows; };
    for (std::uint32_t block = 1; block <= 4; ++block) {
      f.learn(with_gaps(units(kinds(0, 2, 400, block)), 0.15, block));
    }
    CHECK(f.model.cluster_count() == 3);
    const Rows whole = units(kinds(0, 2, 300, 9));
    const std::vector<ClusterId> expected = f.ids(whole);
    for (int kind = 0; kind < 3; ++kind)
      CHECK(expected[static_cast<std::size_t>(kind)] ==
            expected[static_cast<std::size_t>(kind) + 3]);
    CHECK(expected[0] != expected[1]);
    CHECK(agreement(f.ids(with_gaps(whole, 0.15, 10)), expected) > 0.97);
    CHECK(agreement(f.ids(with_gaps(whole, 0.5, 11)), expected) > 0.95);
    // Known rows with gaps are known.
    double novel = 0.0;
    for (const RowResult& row : f.score(with_gaps(whole, 0.15, 12)))
      novel += row.novelty > 0.5F ? 1.0 : 0.0;
    CHECK(novel / 300.0 < 0.05);
    CHECK(f.memory.guards_untouched());
  }
}

TEST_CASE("a missing value is filled with what the others say of it") {
  ModelFixture f(gap_model(true));
  for (std::uint32_t block = 1; block <= 4; ++block) f.learn(scaled_up(kinds(0, 2, 400, block)));
  const Rows whole = scaled_up(kinds(0, 2, 300, 9));
  const Rows gaps = with_gaps(whole, 0.1, 10);
  Rows out(300, kInputs);
  REQUIRE(f.model.reconstruct(f.backend, gaps.view(), out.view()).ok());
  double error = 0.0;
  double spread = 0.0;
  double count = 0.0;
  for (Index i = 0; i < 300; ++i) {
    for (Index j = 0; j < kInputs; ++j) {
      REQUIRE(std::isfinite(out(i, j)));
      if (!std::isnan(gaps(i, j))) continue;
      count += 1.0;
      error += std::pow(static_cast<double>(out(i, j) - whole(i, j)), 2.0);
      spread += std::pow(static_cast<double>(whole(i, j)) - f.model.input_scale().first(j), 2.0);
    }
  }
  REQUIRE(count > 300.0);
  CHECK(error < 0.1 * spread);
}

TEST_CASE("without gaps nothing depends on whether gaps are taken") {
  Configuration config = gap_model(true);
  ModelFixture takes(config);
  config.missing_values = 0;
  ModelFixture refuses(config);
  for (std::uint32_t block = 1; block <= 3; ++block) {
    takes.learn(kinds(0, 2, 400, block));
    refuses.learn(kinds(0, 2, 400, block));
  }
  CHECK(takes.state() == refuses.state());
}

TEST_CASE("gaps are refused where they are not taken, and so is a row without any value") {
  StreamReport report;
  ModelFixture refuses;
  refuses.learn(kinds(0, 2, 400, 1));
  Rows rows = kinds(0, 2, 100, 2);
  rows(31, 4) = kNaN;
  std::vector<RowResult> results(100);
  Status status = refuses.model.learn(refuses.backend, rows.view(), &report);
  CHECK(status.code() == StatusCode::kNonFinite);
  CHECK(status.index() == 31);
  CHECK(refuses.model.score(refuses.backend, rows.view(), results.data()).code() ==
        StatusCode::kNonFinite);

  ModelFixture f(gap_model(false));
  f.learn(kinds(0, 2, 400, 1));
  const std::vector<std::byte> before = f.snapshot();
  for (Index j = 0; j < kInputs; ++j) rows(57, j) = kNaN;
  status = f.model.learn(f.backend, rows.view(), &report);
  CHECK(status.code() == StatusCode::kNonFinite);
  CHECK(status.index() == 57);
  rows(57, 3) = 1.0F;
  rows(58, 3) = std::numeric_limits<float>::infinity();
  status = f.model.score(f.backend, rows.view(), results.data());
  CHECK(status.code() == StatusCode::kNonFinite);
  CHECK(status.index() == 58);
  CHECK(f.snapshot() == before);
}

TEST_CASE("every call takes rows with gaps, before and after anything is learnt") {
  ModelFixture f(gap_model(true));
  const Rows rows = with_gaps(kinds(0, 2, 200, 3), 0.3, 1);
  const auto look = [&] {
    for (const RowResult& row : f.score(rows))
      CHECK(std::isfinite(row.novelty + row.log_density + row.probability));
    Rows mean(200, 4);
    Rows variance(200, 4);
    REQUIRE(f.model.encode(f.backend, rows.view(), mean.view(), variance.view()).ok());
    Rows shares(200, f.model.cluster_count());
    REQUIRE(f.model.probabilities(f.backend, rows.view(), shares.view()).ok());
    double contribution[4];
    float error[kInputs];
    RowReason reason;
    REQUIRE(f.model.explain(f.backend, rows.view().row(0), &reason, contribution, error).ok());
    for (Index j = 0; j < kInputs; ++j) {
      CHECK(std::isfinite(error[j]));
      if (std::isnan(rows(0, j))) CHECK(error[j] == 0.0F);
    }
  };
  look();
  // What is said of a row does not depend on the others.
  Rows alone(1, 4);
  Rows together(200, 4);
  const auto compare = [&] {
    REQUIRE(f.model.encode(f.backend, rows.view(), together.view(), {}).ok());
    for (Index i = 0; i < 200; i += 37) {
      REQUIRE(f.model.encode(f.backend, rows.view().row_range(i, 1), alone.view(), {}).ok());
      for (Index j = 0; j < 4; ++j)
        CHECK(alone(0, j) == doctest::Approx(together(i, j)).epsilon(1e-5));
    }
  };
  compare();
  StreamReport report;
  Index streams = 0;
  REQUIRE(f.model.push(f.backend, rows.view(), 0.0, &report, &streams).ok());
  CHECK(streams == 0);
  // Rows with gaps wait in the file, too.
  ModelFixture again(gap_model(true));
  REQUIRE(again.load(f.snapshot()).ok());
  REQUIRE(f.model.flush(f.backend, &report).ok());
  REQUIRE(again.model.flush(again.backend, &report).ok());
  CHECK(again.snapshot() == f.snapshot());
  look();
  f.learn(with_gaps(kinds(0, 3, 400, 4), 0.2, 2));
  look();
  compare();
}

TEST_CASE("a warning names an input that has no value in a block") {
  ModelFixture f(gap_model(true));
  f.learn(kinds(0, 2, 400, 1));
  Rows rows = with_gaps(kinds(0, 2, 400, 2), 0.2, 1);
  for (Index i = 0; i < 400; ++i) rows(i, 6) = kNaN;
  f.learn(rows);
  std::vector<ModelEvent> events(400);
  const EventRead read = f.model.read_events(0, events.data(), 400);
  int told = 0;
  for (Index i = 0; i < read.count; ++i) {
    const ModelEvent& e = events[static_cast<std::size_t>(i)];
    if (e.reason != EventReason::kMissingInput) continue;
    ++told;
    CHECK(e.input == 6);
    char text[kEventTextBytes];
    CHECK(std::string(format_event(e, text)).find("input 6 has no value in any of the 400 rows") !=
          std::string::npos);
  }
  CHECK(told == 1);
}

TEST_CASE("pretraining takes rows with gaps") {
  ModelFixture f(gap_model(true));
  REQUIRE(f.model.pretrain(f.backend, with_gaps(kinds(0, 2, 300, 1), 0.2, 1).view()).ok());
  f.learn(with_gaps(kinds(0, 2, 400, 2), 0.2, 2));
  CHECK(f.model.cluster_count() == 3);
}

TEST_CASE("a block that fails is given back with its gaps") {
  ModelFixture f(gap_model(false));
  f.learn(kinds(0, 2, 400, 1));
  StreamReport report;
  Index streams = 0;
  Rows rows = with_gaps(kinds(0, 2, 200, 2), 0.2, 3);
  REQUIRE(f.model.push(f.backend, rows.view(), 5.0, &report, &streams).ok());
  const std::vector<std::byte> before = f.snapshot();
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) rows(i, j) = 1e12F;  // training diverges
  }
  Rows wild = rows;
  const Status status = f.model.push(f.backend, wild.view(), 6.0, &report, &streams);
  REQUIRE(status.code() == StatusCode::kDiverged);
  CHECK(f.snapshot() == before);
}

TEST_CASE("a configuration for rows with gaps takes them") {
  Configuration config;
  suit_rows(config, kinds(0, 2, 100, 1).view());
  CHECK(config.missing_values == 1);  // measurements
  Configuration gaps;
  suit_rows(gaps, with_gaps(kinds(0, 2, 100, 1), 0.1, 1).view());
  CHECK(gaps.missing_values == 1);
  CHECK(gaps.likelihood == config.likelihood);
  CHECK(gaps.latent == config.latent);
}

TEST_CASE("the scale of a column with gaps is that of its values") {
  GuardedMemory memory(
      planned_bytes([](Arena& a) { Standardiser().place(a, 2, Scaling::kMeanVariance); }));
  Arena arena(memory.data(), memory.size());
  Standardiser scale;
  scale.place(arena, 2, Scaling::kMeanVariance);
  scale.reset();
  Rows rows(400, 2);
  double sum = 0.0;
  double square = 0.0;
  double count = 0.0;
  for (Index i = 0; i < 400; ++i) {
    rows(i, 0) = static_cast<float>(i);
    const auto value = static_cast<float>(100 + i % 7);
    rows(i, 1) = i % 3 == 0 ? kNaN : value;
    if (i % 3 == 0) continue;
    sum += static_cast<double>(value);
    square += static_cast<double>(value) * static_cast<double>(value);
    count += 1.0;
  }
  scale.update(rows.view().row_range(0, 150));
  scale.update(rows.view().row_range(150, 250));
  CHECK(scale.count() == 400.0);
  CHECK(scale.first(0) == doctest::Approx(199.5));
  CHECK(scale.first(1) == doctest::Approx(sum / count).epsilon(1e-3));
  CHECK(scale.second(1) ==
        doctest::Approx(square / count - sum / count * (sum / count)).epsilon(0.02));
  Rows out(400, 2);
  scale.apply(rows.view(), out.view());
  for (Index i = 0; i < 400; ++i) CHECK(std::isnan(out(i, 1)) == (i % 3 == 0));
}

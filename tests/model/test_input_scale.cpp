// Raw measurements: the first stream fixes the scale of each input, and no input spoils the model.
#include <algorithm>
#include <cmath>
#include <string>

#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

Configuration raw_model() {
  Configuration config = small_model();
  config.scale_inputs = 1;
  return config;
}

// As kinds(), in units of all sizes; input 7 is constant.
Rows raw_kinds(int first, int last, Index rows, std::uint32_t seed) {
  Rows out = kinds(first, last, rows, seed);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < kInputs; ++j) {
      const double unit = std::pow(10.0, static_cast<double>(j % 9) - 4.0);
      out(i, j) = j == 7 ? 21.5F : static_cast<float>(unit * (5.0 + out(i, j)));
    }
  }
  return out;
}

bool finite(const Rows& rows) {
  return std::all_of(rows.data.begin(), rows.data.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

TEST_CASE("raw measurements are clustered, and come back in their units") {
  ModelFixture f(raw_model());
  f.learn(raw_kinds(0, 2, 400, 1));
  std::vector<ClusterId> home;
  for (int kind = 0; kind < 3; ++kind) {
    const std::vector<ClusterId> ids = f.ids(raw_kinds(kind, kind, 100, 5));
    home.push_back(ids[0]);
    CHECK(std::count(ids.begin(), ids.end(), ids[0]) > 80);
  }
  CHECK(home[0] != home[1]);
  CHECK(home[1] != home[2]);
  CHECK(home[0] != home[2]);

  const Rows rows = raw_kinds(0, 2, 130, 6);
  Rows out(130, kInputs), mean(1, kInputs);
  REQUIRE(f.model.reconstruct(f.backend, rows.view(), out.view()).ok());
  for (Index j = 0; j < kInputs; ++j) {
    double error = 0.0;
    for (Index i = 0; i < 130; ++i) error += std::fabs(out(i, j) - rows(i, j)) / 130.0;
    CAPTURE(j);
    if (j == 7) {
      CHECK(error < 0.02 * 21.5);
    } else {
      CHECK(error < 0.5 * std::sqrt(f.model.input_scale().second(j)));
    }
  }
  REQUIRE(f.model.prototype(f.backend, home[1], MatrixView(), mean.view()).ok());
  CHECK(f.ids(mean)[0] == home[1]);
  CHECK(f.memory.guards_untouched());
}

TEST_CASE("later streams do not move the scale") {
  ModelFixture f(raw_model());
  const Rows first = raw_kinds(0, 1, 200, 1);
  f.learn(first);
  std::vector<double> before;
  for (Index j = 0; j < kInputs; ++j) {
    before.push_back(f.model.input_scale().first(j));
    before.push_back(f.model.input_scale().second(j));
  }
  f.learn(raw_kinds(2, 5, 200, 2));
  CHECK(f.model.input_scale().count() == 200.0);
  for (Index j = 0; j < kInputs; ++j) {
    CHECK(f.model.input_scale().first(j) == before[static_cast<std::size_t>(2 * j)]);
    CHECK(f.model.input_scale().second(j) == before[static_cast<std::size_t>(2 * j + 1)]);
  }
}

// Without the clipping the mean squared error below is about 6, and clusters lose their rows.
TEST_CASE("wild numbers in a later stream leave what is known in place") {
  for (const double far : {1e4, 1e20}) {
    CAPTURE(far);
    ModelFixture f(raw_model());
    f.learn(raw_kinds(0, 2, 400, 1));
    const Standardiser& scale = f.model.input_scale();
    const Rows known = raw_kinds(0, 2, 150, 5);
    const std::vector<ClusterId> before = f.ids(known);
    Rows wild = raw_kinds(0, 2, 400, 2);
    for (Index i = 0; i < 400; i += 20) {
      const Index j = i / 20 % kInputs;
      wild(i, j) = static_cast<float>(j == 7 ? far : far * std::sqrt(scale.second(j)));
    }
    f.learn(wild);
    CHECK(f.model.clusters().rows_seen() == 800.0);
    const std::vector<ClusterId> after = f.ids(known);
    int same = 0;
    for (std::size_t i = 0; i < after.size(); ++i) same += after[i] == before[i] ? 1 : 0;
    CHECK(same > 135);
    Rows out(150, kInputs);
    REQUIRE(f.model.reconstruct(f.backend, known.view(), out.view()).ok());
    double error = 0.0;
    for (Index i = 0; i < 150; ++i) {
      for (Index j = 0; j < kInputs; ++j) {
        if (j == 7) continue;
        error += std::pow(out(i, j) - known(i, j), 2.0) / scale.second(j) / (150.0 * kInputs);
      }
    }
    CHECK(error < 0.1);
    REQUIRE(f.model.reconstruct(f.backend, wild.view().row_range(0, 150), out.view()).ok());
    CHECK(finite(out));
  }
}

TEST_CASE("the scale is saved and loaded, and bytes that are none change nothing") {
  ModelFixture f(raw_model());
  f.learn(raw_kinds(0, 1, 200, 1));
  std::vector<std::uint8_t> bytes(Standardiser::most_bytes(kInputs));
  ByteWriter writer(bytes.data(), bytes.size());
  f.model.input_scale().save(writer);
  REQUIRE(writer.ok());
  REQUIRE(writer.position() == bytes.size());

  ModelFixture g(raw_model());
  const auto empty = g.state();
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    ByteReader reader(bytes.data(), size);
    CHECK(g.model.input_scale().load(reader).code() == StatusCode::kCorruptData);
  }
  for (const std::size_t at : {0U, 4U, 15U, 31U}) {  // scaling, inputs, a sign each
    std::vector<std::uint8_t> other = bytes;
    other[at] ^= 0x80;
    ByteReader reader(other.data(), other.size());
    CHECK(g.model.input_scale().load(reader).code() == StatusCode::kCorruptData);
  }
  CHECK(g.state() == empty);
  ByteReader reader(bytes.data(), bytes.size());
  REQUIRE(g.model.input_scale().load(reader).ok());
  const Rows rows = raw_kinds(0, 1, 20, 3);
  Rows a(20, kInputs), b(20, kInputs);
  f.model.input_scale().apply(rows.view(), a.view());
  g.model.input_scale().apply(rows.view(), b.view());
  CHECK(same_bytes(a.data, b.data));
}

TEST_CASE("rows that the likelihood cannot explain are refused before anything changes") {
  Configuration config = small_model();
  config.likelihood = static_cast<std::int32_t>(Likelihood::kBernoulli);
  ModelFixture f(config);
  const auto before = f.state();
  Rows rows = uniform_rows(50, kInputs, 1);
  rows(31, 2) = 1.5F;
  StreamReport report;
  const Status status = f.model.learn(f.backend, rows.view(), &report);
  CHECK(status.code() == StatusCode::kInvalidArgument);
  CHECK(status.index() == 31);
  CHECK(std::string(status.message()).find("gaussian") != std::string::npos);
  CHECK(std::string(status.message()).find("scale") != std::string::npos);
  CHECK(f.state() == before);
  rows(31, 2) = 1.0F;
  CHECK(f.model.learn(f.backend, rows.view(), &report).ok());

  ModelFixture g;
  Rows large = kinds(0, 1, 50, 1);
  large(8, 0) = 1e13F;
  CHECK(g.model.learn(g.backend, large.view(), &report).index() == 8);

  config.scale_inputs = 1;
  CHECK_FALSE(check_configuration(config).ok());
}

TEST_CASE("an input that never moved is seen when it does") {
  ModelFixture f(raw_model());
  f.learn(raw_kinds(0, 2, 300, 1));
  Rows rows = raw_kinds(0, 2, 100, 2);
  const auto novel = [&] {
    const std::vector<RowResult> results = f.score(rows);
    return std::count_if(results.begin(), results.end(),
                         [](const RowResult& row) { return row.novelty > 0.5F; });
  };
  CHECK(novel() < 10);
  for (Index i = 0; i < rows.rows; ++i) rows(i, 7) = 21.5001F;
  CHECK(novel() < 10);
  for (Index i = 0; i < rows.rows; ++i) rows(i, 7) = 60.0F;
  CHECK(novel() > 60);  // how clearly is up to weights that nothing has trained
}

namespace {

// The same rows of a machine that hardly moves: a thousandth of what it does later.
Rows at_rest(Index rows, std::uint32_t seed) {
  Rows out = raw_kinds(0, 0, rows, seed);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < kInputs; ++j) {
      const double unit = std::pow(10.0, static_cast<double>(j % 9) - 4.0);
      if (j != 7) out(i, j) = static_cast<float>(unit * 5.0 + 1e-3 * (out(i, j) - unit * 5.0));
    }
  }
  return out;
}

Index count_events(const ModelFixture& f, ModelEventKind kind, EventReason reason) {
  std::vector<ModelEvent> events(400);
  const EventRead read = f.model.read_events(0, events.data(), 400);
  return std::count_if(events.begin(), events.begin() + read.count,
                       [&](const ModelEvent& e) { return e.kind == kind && e.reason == reason; });
}

}  // namespace

TEST_CASE("a range that was set at rest is set anew, and ids stay") {
  Configuration config = raw_model();
  config.likelihood = static_cast<std::int32_t>(Likelihood::kGaussian);
  ModelFixture f(config);
  for (std::uint32_t i = 1; i <= 3; ++i) f.learn(at_rest(200, i));
  const ClusterId rest = f.ids(at_rest(1, 9))[0];
  const double scale = f.model.input_scale().second(0);
  const std::vector<RowResult> moved = f.score(raw_kinds(0, 2, 100, 10));
  CHECK(
      std::all_of(moved.begin(), moved.end(), [](const RowResult& r) { return r.novelty > 0.5F; }));

  f.learn(raw_kinds(0, 2, 400, 11));
  CHECK(count_events(f, ModelEventKind::kRescaled, EventReason::kBeyondRange) == 1);
  CHECK(f.model.input_scale().second(0) > 1e4 * scale);
  for (std::uint32_t i = 12; i < 16; ++i) f.learn(raw_kinds(0, 2, 400, i));
  CHECK(count_events(f, ModelEventKind::kRescaled, EventReason::kBeyondRange) == 1);
  std::vector<ClusterId> ids = {f.ids(at_rest(1, 20))[0]};
  CHECK(f.model.clusters().registry().clusters().resolve(rest) == ids[0]);
  for (int kind = 0; kind < 3; ++kind) {
    const std::vector<ClusterId> own = f.ids(raw_kinds(kind, kind, 100, 21));
    ids.push_back(own[0]);
    CHECK(std::count(own.begin(), own.end(), own[0]) > 80);
  }
  std::sort(ids.begin(), ids.end());
  CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
  // It is saved as it is, and a copy learns on in the same way.
  ModelFixture again(config);
  const std::vector<std::byte> bytes = f.snapshot();
  REQUIRE(again.model.load(bytes.data(), bytes.size()).ok());
  f.learn(raw_kinds(0, 3, 400, 30));
  again.learn(raw_kinds(0, 3, 400, 30));
  CHECK(again.snapshot() == f.snapshot());
  CHECK(f.memory.guards_untouched());
}

TEST_CASE("rows beyond the range are told of, with the input that is farthest out") {
  ModelFixture f(raw_model());
  f.learn(raw_kinds(0, 2, 400, 1));
  f.learn(raw_kinds(0, 2, 400, 2));
  CHECK(count_events(f, ModelEventKind::kWarned, EventReason::kBeyondRange) == 0);
  Rows rows = raw_kinds(0, 2, 400, 3);
  const double spread = std::sqrt(f.model.input_scale().second(4));
  for (Index i = 0; i < 20; ++i) rows(i, 4) += static_cast<float>(12.0 * spread);
  f.learn(rows);
  REQUIRE(count_events(f, ModelEventKind::kWarned, EventReason::kBeyondRange) == 1);
  std::vector<ModelEvent> events(400);
  const EventRead read = f.model.read_events(0, events.data(), 400);
  for (Index i = 0; i < read.count; ++i) {
    const ModelEvent& e = events[static_cast<std::size_t>(i)];
    if (e.kind != ModelEventKind::kWarned) continue;
    CHECK(e.input == 4);
    CHECK(e.rows >= 15.0);
    char text[kEventTextBytes];
    CHECK(std::string(format_event(e, text)).find("input 4") != std::string::npos);
  }
}

TEST_CASE("an input that stops to vary is told of; one that never varied is not") {
  ModelFixture f(raw_model());
  for (std::uint32_t i = 1; i <= 3; ++i) f.learn(raw_kinds(0, 2, 400, i));
  CHECK(count_events(f, ModelEventKind::kWarned, EventReason::kStuckInput) == 0);
  Rows rows = raw_kinds(0, 2, 400, 4);
  const double spread = std::sqrt(f.model.input_scale().second(3));
  const auto stuck = static_cast<float>(f.model.input_scale().first(3) + 4.0 * spread);
  for (Index i = 0; i < rows.rows; ++i) rows(i, 3) = stuck;
  f.learn(rows);
  REQUIRE(count_events(f, ModelEventKind::kWarned, EventReason::kStuckInput) == 1);
  std::vector<ModelEvent> events(400);
  const EventRead read = f.model.read_events(0, events.data(), 400);
  for (Index i = 0; i < read.count; ++i) {
    const ModelEvent& e = events[static_cast<std::size_t>(i)];
    if (e.reason != EventReason::kStuckInput) continue;
    CHECK(e.input == 3);
    CHECK(e.rows == 400.0);
    char text[kEventTextBytes];
    CHECK(std::string(format_event(e, text)).find("input 3 has the same value in all 400 rows") !=
          std::string::npos);
  }
}

// A backend that fails in the middle of a stream: the model is, byte for byte, as it was before,
// and learns on as if nothing had happened.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "support/counting_backend.h"
#include "support/snapshot_fixture.h"
#include "support/test_size.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

// What snapshots do not hold.
struct Surroundings {
  explicit Surroundings(const ModelFixture& f)
      : undo_steps(f.model.clusters().undo_steps()), pending(f.model.rows_pending()) {
    ModelEvent event[64];
    const EventRead read = f.model.read_events(0, event, 64);
    for (Index i = 0; i < read.count; ++i) events.push_back(event[i].sequence);
  }
  bool operator==(const Surroundings&) const = default;

  Index undo_steps;
  Index pending;
  std::vector<std::uint64_t> events;
};

// All of the first operations and of the last, and some between.
std::vector<std::uint64_t> places_to_fail(std::uint64_t operations) {
  const auto between = static_cast<std::uint64_t>(repeats(7, 23, 23));
  const auto last = static_cast<std::uint64_t>(repeats(4, 12, 12));
  std::vector<std::uint64_t> places;
  for (std::uint64_t n = 1; n <= operations; n += n < 3 ? 1 : 1 + operations / between) {
    places.push_back(n);
  }
  for (std::uint64_t n = 0; n < last; ++n) places.push_back(operations - n);
  return places;
}

// `step(backend)` changes a model in the same state each time: f fails at many places, then does
// what `never` does at once.
template <typename Step>
void fail_everywhere(ModelFixture& f, ModelFixture& never, const Step& step) {
  CountingBackend counting(never.backend);
  REQUIRE(step(never, counting).ok());
  CountingBackend failing(f.backend);
  const Bytes before = f.snapshot();
  const Surroundings around(f);
  for (const std::uint64_t n : places_to_fail(counting.operations())) {
    CAPTURE(n);
    failing.restart(n);
    CHECK(step(f, failing).code() == StatusCode::kUnavailable);
    REQUIRE(f.snapshot() == before);
    REQUIRE(Surroundings(f) == around);
  }
  failing.restart();
  REQUIRE(step(f, failing).ok());
  CHECK(f.snapshot() == never.snapshot());
  CHECK(f.memory.guards_untouched());
}

Status learn_on(ModelFixture& f, Backend& backend, const Rows& rows, double time) {
  StreamReport report;
  return f.model.learn(backend, rows.view(), &report, time);
}

Configuration eventful(bool diagonal) {
  Configuration config = tiny_model();
  config.covariance = diagonal ? 1 : 0;
  config.pending_rows = diagonal ? 20 : 0;
  config.half_life_rows = diagonal ? 1000.0 : 0.0;
  return config;
}

}  // namespace

TEST_CASE("restore: a stream that fails anywhere leaves the model as it was") {
  for (const bool diagonal : {false, true}) {
    CAPTURE(diagonal);
    ModelFixture f(eventful(diagonal));
    ModelFixture never(eventful(diagonal));
    for (int i = 0; i < 3; ++i) {
      CAPTURE(i);
      fail_everywhere(f, never, [&](ModelFixture& on, Backend& backend) {
        return learn_on(on, backend, stream(2 * i), i);
      });
      for (ModelFixture* each : {&f, &never}) {
        REQUIRE(each->model.clusters().rename(1, "the first").ok());
      }
      const auto scored = f.ids(stream(0, 50));
      CHECK(scored == never.ids(stream(0, 50)));
    }
    REQUIRE(f.model.clusters().undo().ok());
    CHECK(f.snapshot() != never.snapshot());
    REQUIRE(never.model.clusters().undo().ok());
    CHECK(f.snapshot() == never.snapshot());
  }
}

TEST_CASE("restore: of events what was overwritten is missing, and no more") {
  Configuration config = tiny_model();
  config.events = 12;
  ModelFixture f(config);
  f.learn(stream(0));
  ModelEvent before[12];
  const EventRead had = f.model.read_events(0, before, 12);
  REQUIRE(had.count > 0);
  const std::uint64_t last = before[had.count - 1].sequence;
  CountingBackend failing(f.backend);
  REQUIRE(learn_on(f, failing, stream(2), 0.0).ok());
  // Once more from there, the last operation failing: all events had been made by then.
  ModelFixture g(config);
  g.learn(stream(0));
  CountingBackend late(g.backend);
  late.restart(failing.operations());
  REQUIRE_FALSE(learn_on(g, late, stream(2), 0.0).ok());
  ModelEvent after[12];
  const EventRead left = g.model.read_events(0, after, 12);
  for (Index i = 0; i < left.count; ++i) CHECK(after[i].sequence <= last);
  CHECK(g.model.read_events(last, after, 12).count == 0);
  g.learn(stream(2));
  const EventRead now = g.model.read_events(last, after, 12);
  REQUIRE(now.count > 0);
  if (!now.missed) CHECK(after[0].sequence == last + 1);
  CHECK(after[0].stream == 2);
}

TEST_CASE("restore: a frozen network, pretraining, rows that wait, raw rows") {
  SUBCASE("a frozen network") {
    Configuration config = tiny_model();
    config.freeze_encoder_after = 1;
    ModelFixture f(config);
    ModelFixture never(config);
    for (ModelFixture* each : {&f, &never}) each->learn(stream(0));
    fail_everywhere(f, never, [](ModelFixture& on, Backend& backend) {
      return learn_on(on, backend, stream(2), 0.0);
    });
  }
  SUBCASE("pretraining") {
    ModelFixture f(tiny_model());
    ModelFixture never(tiny_model());
    fail_everywhere(f, never, [](ModelFixture& on, Backend& backend) {
      return on.model.pretrain(backend, stream(0, 500).view());
    });
  }
  for (const bool scaled : {false, true}) {
    DOCTEST_SUBCASE(scaled ? "rows that wait, raw" : "rows that wait") {
      Configuration config = tiny_model();
      config.scale_inputs = scaled ? 1 : 0;
      ModelFixture f(config);
      ModelFixture never(config);
      for (ModelFixture* each : {&f, &never}) {
        StreamReport report;
        Index streams = 0;
        REQUIRE(
            each->model.push(each->backend, stream(0, 150).view(), 1.0, &report, &streams).ok());
        REQUIRE(streams == 0);
      }
      fail_everywhere(f, never, [](ModelFixture& on, Backend& backend) {
        StreamReport report;
        Index streams = 0;
        const Status status = on.model.push(backend, stream(1, 300).view(), 2.0, &report, &streams);
        CHECK(streams == (status.ok() ? 1 : 0));
        return status;
      });
      CHECK(f.model.rows_pending() == 50);
      fail_everywhere(f, never, [](ModelFixture& on, Backend& backend) {
        StreamReport report;
        return on.model.flush(backend, &report);
      });
      CHECK(f.model.rows_pending() == 0);
    }
  }
}

TEST_CASE("restore: without it, a model whose stream failed takes nothing but a reset") {
  Configuration config = tiny_model();
  const std::size_t with = ModelFixture(config).memory.size();
  config.restore_on_failure = 0;
  ModelFixture f(config);
  const auto parameters = static_cast<std::size_t>(f.model.network().parameter_count());
  // The network's parameters, and at most a place for the clusters' state that births do not share.
  const std::size_t state = ClusterLearner::most_bytes(learner_config(config, ModelUse::kLearn));
  CHECK(with - f.memory.size() >= 4 * parameters);
  CHECK(with - f.memory.size() < 4 * parameters + state + 3 * Arena::kAlignment);
  const Bytes fresh = f.snapshot();
  CountingBackend failing(f.backend);
  REQUIRE(learn_on(f, failing, stream(0), 0.0).ok());
  const std::uint64_t operations = failing.operations();
  f.model.reset();
  for (const std::uint64_t n : {operations / 2, operations}) {
    failing.restart(n);
    REQUIRE(learn_on(f, failing, stream(0), 0.0).code() == StatusCode::kUnavailable);
    Bytes out(2 * fresh.size());
    std::size_t size = 0;
    CHECK(f.model.save(out.data(), out.size(), &size).code() == StatusCode::kInvalidArgument);
    CHECK(f.load(fresh).code() == StatusCode::kInvalidArgument);
    CHECK(learn_on(f, f.backend, stream(0), 0.0).code() == StatusCode::kInvalidArgument);
    f.model.reset();
    CHECK(f.snapshot() == fresh);
    f.learn(stream(0));
    f.model.reset();
  }
}

TEST_CASE("a block whose inputs are scaled anew fails without a trace") {
  Configuration config = small_model();
  config.scale_inputs = 1;
  config.likelihood = static_cast<std::int32_t>(Likelihood::kGaussian);
  Rows rest = kinds(0, 0, 200, 1);
  for (float& x : rest.data) x *= 1e-4F;
  ModelFixture f(config), never(config);
  f.learn(rest);
  never.learn(rest);
  const Rows moved = kinds(0, 2, 200, 2);
  fail_everywhere(f, never, [&](ModelFixture& g, Backend& backend) {
    StreamReport report;
    return g.model.learn(backend, moved.view(), &report);
  });
  ModelEvent events[64];
  const EventRead read = never.model.read_events(0, events, 64);
  CHECK(std::any_of(events, events + read.count,
                    [](const ModelEvent& e) { return e.kind == ModelEventKind::kRescaled; }));
}

// Events: the ring keeps the last, tells of those that are gone, and a model's own tell what
// happened.
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

std::string text_of(const ModelEvent& event) {
  char buffer[kEventTextBytes];
  return std::string(format_event(event, buffer));
}

std::vector<ModelEvent> all_events(const Model& model) {
  std::vector<ModelEvent> out(1000);
  const EventRead read = model.read_events(0, out.data(), 1000);
  CHECK_FALSE(read.missed);
  out.resize(static_cast<std::size_t>(read.count));
  return out;
}

Index count_of(const std::vector<ModelEvent>& events, ModelEventKind kind) {
  Index count = 0;
  for (const ModelEvent& event : events) count += event.kind == kind ? 1 : 0;
  return count;
}

Configuration quick_model() {
  Configuration config = small_model();
  config.pretrain_epochs = 20;
  config.adapt_epochs = 4;
  config.joint_epochs = 3;
  return config;
}

}  // namespace

TEST_CASE("events: the ring keeps the last ones, in order, and tells of those that are gone") {
  GuardedMemory memory(planned_bytes([](Arena& a) { EventRing().place(a, 5); }));
  Arena arena(memory.data(), memory.size());
  EventRing ring;
  ring.place(arena, 5);
  ring.reset();
  ModelEvent out[8];
  CHECK(ring.read(0, out, 8).count == 0);
  CHECK_FALSE(ring.read(0, out, 8).missed);
  for (std::uint64_t i = 1; i <= 12; ++i) {
    ring.add({.kind = ModelEventKind::kBorn, .id = static_cast<ClusterId>(i)});
    const EventRead read = ring.read(0, out, 8);
    REQUIRE(read.count == std::min<Index>(5, static_cast<Index>(i)));
    CHECK(read.missed == (i > 5));
    for (Index j = 0; j < read.count; ++j) {
      CHECK(out[j].sequence == i - static_cast<std::uint64_t>(read.count - 1 - j));
      CHECK(out[j].id == out[j].sequence);
    }
    CHECK(ring.read(i - 1, out, 8).count == 1);
    CHECK_FALSE(ring.read(i - 1, out, 8).missed);
  }
  const EventRead some = ring.read(8, out, 2);
  CHECK(some.count == 2);
  CHECK(out[1].sequence == 10);
  CHECK(ring.read(12, out, 8).count == 0);
  CHECK(ring.read(UINT64_MAX, out, 8).count == 0);
  CHECK(ring.count(ModelEventKind::kBorn) == 12);
  ring.restart(12);
  CHECK(ring.read(12, out, 8).count == 0);
  CHECK_FALSE(ring.read(12, out, 8).missed);
  CHECK(ring.read(3, out, 8).missed);
  ring.add({.kind = ModelEventKind::kMerged});
  const EventRead after = ring.read(3, out, 8);
  CHECK(after.count == 1);
  CHECK(after.missed);
  CHECK(out[0].sequence == 13);
  CHECK(memory.guards_untouched());
}

TEST_CASE("events: a ring without room counts") {
  Arena arena;
  EventRing ring;
  ring.place(arena, 0);
  ring.reset();
  ring.add({.kind = ModelEventKind::kSplit});
  ModelEvent out[1];
  const EventRead read = ring.read(0, out, 1);
  CHECK(read.count == 0);
  CHECK(read.missed);
  CHECK(ring.count(ModelEventKind::kSplit) == 1);
}

TEST_CASE("events: a model tells what happened, and its reports agree") {
  ModelFixture f(quick_model());
  Index births = 0;
  Index merges = 0;
  Index retirements = 0;
  for (int i = 0; i < 3; ++i) {
    const StreamReport report =
        f.learn(kinds(2 * i, 2 * i + 1, 300, static_cast<std::uint32_t>(i)));
    CHECK(report.rows == 300);
    CHECK(report.clusters >= 1);
    CHECK(report.clusters <= report.components);
    CHECK(report.bound == report.bound_parts.total());
    CHECK(report.skipped_steps == 0);
    if (i == 0) CHECK(report.replay_accuracy == 0.0);
    if (i > 0) CHECK(report.replay_accuracy > 0.8);
    CHECK(report.replay_accuracy <= 1.0);
    births += report.births;
    merges += report.merges;
    retirements += report.retirements;
  }
  const std::vector<ModelEvent> events = all_events(f.model);
  CHECK(count_of(events, ModelEventKind::kStreamClosed) == 3);
  CHECK(count_of(events, ModelEventKind::kBorn) == births);
  CHECK(count_of(events, ModelEventKind::kMerged) == merges);
  CHECK(count_of(events, ModelEventKind::kRetired) == retirements);
  CHECK(births >= 4);
  CHECK(count_of(events, ModelEventKind::kRefused) > 0);
  for (std::size_t i = 0; i < events.size(); ++i) CHECK(events[i].sequence == i + 1);
  const ModelEvent& last = events.back();
  CHECK(last.kind == ModelEventKind::kStreamClosed);
  CHECK(last.stream == 3);
  CHECK(last.clusters == static_cast<std::uint64_t>(f.model.clusters().mixture().clusters()));
  CHECK(text_of(last) ==
        "stream 3: closed with 300 rows, " + std::to_string(last.clusters) + " clusters");
}

TEST_CASE("events: the user's corrections are told, and numbers go on after a load") {
  ModelFixture f(quick_model());
  f.learn(kinds(0, 2, 300, 1));
  const auto before = static_cast<std::uint64_t>(all_events(f.model).size());
  ClusterLearner& clusters = f.model.clusters();
  MoveRecord record;
  REQUIRE(clusters.rename(1, "one").ok());
  REQUIRE(clusters.split(1, true, record).ok());
  REQUIRE(clusters.undo().ok());
  ModelEvent out[8];
  REQUIRE(f.model.read_events(before, out, 8).count == 3);
  CHECK(out[0].kind == ModelEventKind::kNamed);
  CHECK(out[0].id == 1);
  CHECK(out[1].kind == ModelEventKind::kSplit);
  CHECK(out[2].kind == ModelEventKind::kUndone);
  ModelFixture other(quick_model());
  REQUIRE(other.load(f.snapshot()).ok());
  CHECK(other.model.read_events(before, out, 8).missed);
  CHECK_FALSE(other.model.read_events(before + 3, out, 8).missed);
  REQUIRE(other.model.clusters().forget(1).ok());
  REQUIRE(other.model.read_events(before + 3, out, 8).count == 1);
  CHECK(out[0].sequence == before + 4);
  CHECK(out[0].kind == ModelEventKind::kForgotten);
}

TEST_CASE("events: a network that is torn away is told as drift") {
  Configuration config = quick_model();
  config.learning_rate = 0.1;
  config.distillation = 0.0;
  ModelFixture f(config);
  f.learn(kinds(0, 1, 300, 1));
  const StreamReport report = f.learn(kinds(2, 5, 300, 2));
  CHECK(report.largest_drift > 1.0);
  CHECK(report.drifted > 0);
  std::vector<ModelEvent> events = all_events(f.model);
  CHECK(count_of(events, ModelEventKind::kDrifted) == report.drifted);
  std::erase_if(events, [](const ModelEvent& e) { return e.kind != ModelEventKind::kDrifted; });
  for (const ModelEvent& event : events) {
    CHECK(event.gain > 1.0);
    CHECK(event.id != kNoId);
  }
}

TEST_CASE("events: training that can take no step is refused, and nothing has changed") {
  ModelFixture f(quick_model());
  const Rows rows = kinds(0, 1, 300, 1);
  // A bias of the decoder's last layer whose square does not fit a float.
  float& bias = f.model.network().parameters()[f.model.network().parameter_count() - 1];
  bias = 3e38F;
  StreamReport report;
  const Status status = f.model.learn(f.backend, rows.view(), &report);
  CHECK(status.code() == StatusCode::kDiverged);
  CHECK(bias == 3e38F);
  CHECK(all_events(f.model).empty());
  CHECK(f.model.streams() == 0);
  CHECK(f.model.rows_learnt() == 0);
  bias = 0.0F;
  CHECK(f.model.learn(f.backend, rows.view(), &report).ok());
}

TEST_CASE("events: a warning says that training left rows worse than before") {
  const auto told = [](double rate) {
    ModelFixture f(quick_model());
    f.model.learn_every_block(true);
    for (std::uint32_t block = 1; block <= 4; ++block) f.learn(kinds(0, 2, 400, block));
    REQUIRE(f.set_live("learning_rate", rate).ok());
    f.learn(kinds(0, 2, 400, 5));
    const std::vector<ModelEvent> events = all_events(f.model);
    Index count = 0;
    for (const ModelEvent& event : events) {
      if (event.reason != EventReason::kTrainingIneffective) continue;
      ++count;
      CHECK(event.kind == ModelEventKind::kWarned);
      CHECK(event.rows > 200.0);
      CHECK(text_of(event).find("training on the block did not help") != std::string::npos);
    }
    return count;
  };
  CHECK(told(1e-3) == 0);
  CHECK(told(0.1) == 1);  // too fast: the network jumps about
}

TEST_CASE("events: each is a line of English") {
  const auto line = [](const ModelEvent& event) { return text_of(event); };
  CHECK(line({.kind = ModelEventKind::kBorn,
              .stream = 3,
              .id = 7,
              .other = 2,
              .gain = 312.46,
              .rows = 140}) ==
        "stream 3: cluster 7 born out of cluster 2 for 140 rows; the evidence bound changes by "
        "312.5");
  CHECK(line({.kind = ModelEventKind::kRefused,
              .reason = EventReason::kNoRoom,
              .stream = 3,
              .id = 7}) == "stream 3: no birth out of cluster 7: max_clusters are there already");
  CHECK(line({.kind = ModelEventKind::kRepaired,
              .reason = EventReason::kStepSkipped,
              .stream = 4,
              .rows = 2}) == "stream 4: 2 training steps skipped: loss or gradient was not finite");
  // All kinds and reasons fit, with the longest numbers, and are cut by a smaller buffer.
  for (int kind = 0; kind < kModelEventKinds; ++kind) {
    for (int reason = 0; reason < kEventReasons; ++reason) {
      const ModelEvent event = {.sequence = 1,
                                .kind = static_cast<ModelEventKind>(kind),
                                .reason = static_cast<EventReason>(reason),
                                .stream = UINT64_MAX,
                                .id = UINT32_MAX,
                                .other = UINT32_MAX,
                                .gain = -1.2345678e-300,
                                .rows = 1.2345678e300,
                                .clusters = UINT64_MAX};
      char large[2 * kEventTextBytes];
      char enough[kEventTextBytes];
      const std::string whole(format_event(event, large));
      CHECK(whole.size() > 30);
      CHECK(format_event(event, enough) == whole);
      for (std::size_t size = 0; size < 40; ++size) {
        std::vector<char> buffer(size);
        const std::string_view text = format_event(event, buffer);
        CHECK(whole.starts_with(text));
        if (size > 0) CHECK(text.size() < size);
      }
    }
  }
}

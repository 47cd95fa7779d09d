// Stopping and budgets: whenever a stream is ended, the model is whole and has counted its rows.
#include <cmath>

#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

// A caller that stops at a question, and a clock that a question moves by a millisecond.
struct Caller {
  Pacing pacing(double budget = 0.0) {
    Pacing pacing;
    pacing.context = this;
    pacing.go_on = [](void* context, const Progress& progress) {
      auto& self = *static_cast<Caller*>(context);
      self.rising = self.rising && progress.fraction >= self.last.fraction &&
                    progress.stage >= self.last.stage && progress.fraction <= 1.0;
      self.last = progress;
      ++self.in_stage[static_cast<int>(progress.stage)];
      return ++self.questions != self.stop_at;
    };
    pacing.seconds = [](void* context) {
      auto& self = *static_cast<Caller*>(context);
      ++self.clock_questions;
      return 1000.0 + 1e-3 * self.clock_questions;
    };
    pacing.seconds_per_stream = budget;
    return pacing;
  }
  void start() {
    const int stop = stop_at;
    *this = {};
    stop_at = stop;
  }

  int stop_at = 0;  // the number of the question, from 1; 0: never
  int questions = 0;
  int clock_questions = 0;
  int in_stage[kStages] = {};
  bool rising = true;
  Progress last;
};

Configuration quick_model() {
  Configuration config = small_model();
  config.pretrain_epochs = 5;
  config.adapt_epochs = 3;
  config.joint_epochs = 3;
  return config;
}

bool finite(const std::vector<RowResult>& results) {
  for (const RowResult& r : results) {
    if (!std::isfinite(r.probability) || !std::isfinite(r.log_density) || r.id == kNoId ||
        !(r.novelty >= 0.0F && r.novelty <= 1.0F)) {
      return false;
    }
  }
  return true;
}

void check_whole(ModelFixture& f, double rows) {
  CHECK(f.model.clusters().rows_seen() == rows);
  CHECK_FALSE(f.model.clusters().mixture().stream_open());
  CHECK(finite(f.score(kinds(0, 5, 50, 9))));
  CHECK(f.memory.guards_untouched());
}

}  // namespace

TEST_CASE("progress rises to one, stage by stage, and asking changes nothing") {
  ModelFixture asked(quick_model());
  ModelFixture silent(quick_model());
  Caller caller;
  REQUIRE(asked.model.set_pacing(caller.pacing()).ok());
  for (int stream = 0; stream < 3; ++stream) {
    caller.start();
    const Rows rows = kinds(stream, stream + 1, 200, static_cast<std::uint32_t>(stream));
    StreamReport report;
    REQUIRE(asked.model.learn(asked.backend, rows.view(), &report).ok());
    silent.learn(rows);
    CAPTURE(stream);
    CHECK_FALSE(report.stopped);
    CHECK(caller.rising);
    CHECK(caller.last.fraction == 1.0);
    CHECK(caller.last.stage == Stage::kClose);
    CHECK(caller.clock_questions == 0);
    CHECK((caller.in_stage[static_cast<int>(Stage::kPretrain)] > 0) == (stream == 0));
    CHECK((caller.in_stage[static_cast<int>(Stage::kAdapt)] > 0) == (stream > 0));
    CHECK(caller.in_stage[static_cast<int>(Stage::kBirths)] > 0);
    CHECK(caller.in_stage[static_cast<int>(Stage::kJoint)] >= 12);
    CHECK(asked.state() == silent.state());
  }
}

TEST_CASE("a stream that is stopped at once is learnt by the mixture alone") {
  ModelFixture f(quick_model());
  Caller caller;
  caller.stop_at = 1;
  REQUIRE(f.model.set_pacing(caller.pacing()).ok());
  for (int stream = 0; stream < 2; ++stream) {
    const float* p = f.model.network().parameters();
    const std::vector<float> before(p, p + f.model.network().parameter_count());
    caller.start();
    StreamReport report;
    REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 1).view(), &report).ok());
    CHECK(report.stopped);
    CHECK(caller.questions == 2);  // and the last call
    CHECK(caller.last.fraction == 1.0);
    check_whole(f, 200.0 * (stream + 1));
    const std::vector<float> after(p, p + f.model.network().parameter_count());
    if (stream > 0) CHECK(same_bytes(before, after));
  }
  REQUIRE(f.model.set_pacing({}).ok());
  f.learn(kinds(0, 3, 200, 2));
  check_whole(f, 600.0);
}

TEST_CASE("a stream may be stopped at any mini-batch or move") {
  for (int stream = 0; stream < 2; ++stream) {
    Caller caller;
    ModelFixture whole(quick_model());
    if (stream > 0) whole.learn(kinds(0, 1, 200, 1));
    REQUIRE(whole.model.set_pacing(caller.pacing()).ok());
    whole.learn(kinds(1, 3, 200, 2));
    const int questions = caller.questions;
    Philox random({.seed = 77, .index = static_cast<std::uint32_t>(stream)});
    for (int trial = 0; trial < 12; ++trial) {
      ModelFixture f(quick_model());
      if (stream > 0) f.learn(kinds(0, 1, 200, 1));
      caller.stop_at =
          2 + static_cast<int>(random.below(static_cast<std::uint32_t>(questions - 2)));
      caller.start();
      CAPTURE(stream);
      CAPTURE(caller.stop_at);
      REQUIRE(f.model.set_pacing(caller.pacing()).ok());
      StreamReport report;
      REQUIRE(f.model.learn(f.backend, kinds(1, 3, 200, 2).view(), &report).ok());
      CHECK(report.stopped);
      CHECK(caller.rising);
      CHECK(caller.questions == caller.stop_at + 1);
      CHECK(caller.last.fraction == 1.0);
      check_whole(f, 200.0 * (stream + 1));
      caller.stop_at = 0;
      caller.start();
      REQUIRE(f.model.learn(f.backend, kinds(2, 4, 200, 3).view(), &report).ok());
      CHECK_FALSE(report.stopped);
      check_whole(f, 200.0 * (stream + 2));
    }
  }
}

TEST_CASE("a budget in time ends the stages in turn") {
  Configuration config = small_model();
  config.pretrain_epochs = 10000;
  config.adapt_epochs = 10000;
  config.joint_epochs = 10000;
  ModelFixture f(config);
  Caller caller;
  REQUIRE(f.model.set_pacing(caller.pacing(0.2)).ok());
  for (int stream = 0; stream < 3; ++stream) {
    caller.start();
    StreamReport report;
    const Rows rows = kinds(stream, stream + 1, 200, static_cast<std::uint32_t>(stream));
    REQUIRE(f.model.learn(f.backend, rows.view(), &report).ok());
    CAPTURE(stream);
    CHECK(report.stopped);
    CHECK(caller.rising);
    CHECK(caller.last.fraction == 1.0);
    CHECK(caller.clock_questions <= 210);
    const Stage first = stream == 0 ? Stage::kPretrain : Stage::kAdapt;
    CHECK(caller.in_stage[static_cast<int>(first)] >= 60);
    CHECK(caller.in_stage[static_cast<int>(first)] <= 80);
    CHECK(caller.in_stage[static_cast<int>(Stage::kBirths)] > 0);
    CHECK(caller.in_stage[static_cast<int>(Stage::kBirths)] <= 40);
    CHECK(caller.in_stage[static_cast<int>(Stage::kJoint)] >= 60);
    check_whole(f, 200.0 * (stream + 1));
  }
}

TEST_CASE("a budget that is not used up changes nothing, one that is hopeless still counts rows") {
  ModelFixture timed(quick_model());
  ModelFixture free(quick_model());
  Caller caller;
  REQUIRE(timed.model.set_pacing(caller.pacing(1000.0)).ok());
  StreamReport report;
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    REQUIRE(timed.model.learn(timed.backend, kinds(0, 2, 200, stream).view(), &report).ok());
    CHECK_FALSE(report.stopped);
    free.learn(kinds(0, 2, 200, stream));
    CHECK(timed.state() == free.state());
  }
  ModelFixture hopeless(quick_model());
  REQUIRE(hopeless.model.set_pacing(caller.pacing(1e-9)).ok());
  for (int stream = 0; stream < 2; ++stream) {
    REQUIRE(hopeless.model.learn(hopeless.backend, kinds(0, 2, 200, 5).view(), &report).ok());
    CHECK(report.stopped);
    check_whole(hopeless, 200.0 * (stream + 1));
  }
}

TEST_CASE("a budget needs a clock and must be a number") {
  ModelFixture f;
  Caller caller;
  Pacing pacing = caller.pacing(0.2);
  pacing.seconds = nullptr;
  CHECK(f.model.set_pacing(pacing).code() == StatusCode::kInvalidArgument);
  for (const double budget : {-1.0, double{NAN}, double{INFINITY}}) {
    CHECK_FALSE(f.model.set_pacing(caller.pacing(budget)).ok());
  }
}

TEST_CASE("the plan's shares are of the stages that a stream has") {
  Configuration config = small_model();
  config.neighbour_weight = 1.0;
  for (const bool timed : {false, true}) {
    for (const std::uint32_t stream : {1U, 2U}) {
      for (const bool frozen : {false, true}) {
        if (frozen && stream == 1) continue;
        const StreamPlan plan = plan_stream(config, stream, 200, frozen, timed);
        double sum = 0.0;
        for (const double share : plan.share) sum += share;
        CHECK(sum == doctest::Approx(1.0));
        CHECK((plan.share[static_cast<int>(Stage::kPretrain)] > 0.0) == (stream == 1));
        CHECK((plan.share[static_cast<int>(Stage::kJoint)] > 0.0) == !frozen);
        CHECK(plan.share[static_cast<int>(Stage::kClose)] > 0.0);
      }
    }
  }
}

// The model end to end on small made-up streams: kinds are born where they come and not forgotten,
// the same calls give the same bytes, and a bad call is refused.
#include <cmath>
#include <set>

#include <doctest/doctest.h>

#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

TEST_CASE("kinds are born where they come, and old ones keep their clusters") {
  ModelFixture f;
  std::vector<ClusterId> home;
  for (int stream = 0; stream < 3; ++stream) {
    StreamReport report;
    const Rows rows = kinds(2 * stream, 2 * stream + 1, 400, static_cast<std::uint32_t>(stream));
    REQUIRE(f.model.learn(f.backend, rows.view(), &report).ok());
    CHECK(std::isfinite(report.loss.loss));
    CHECK(f.model.clusters().rows_seen() == 400.0 * (stream + 1));
    CHECK(report.clusters >= 2 * stream + 2);
    if (stream > 0) CHECK(report.replay_rows > 100);
    for (int kind = 2 * stream; kind <= 2 * stream + 1; ++kind) {
      const std::vector<ClusterId> ids = f.ids(kinds(kind, kind, 50, 50));
      const std::set<ClusterId> different(ids.begin(), ids.end());
      home.push_back(ids[0]);
      CHECK(different.size() <= 2);
    }
  }
  CHECK(std::set<ClusterId>(home.begin(), home.end()).size() == 6);
  // Not forgotten: the first kinds' rows still find the clusters that they had.
  for (int kind = 0; kind < 6; ++kind) {
    int right = 0;
    for (const ClusterId id : f.ids(kinds(kind, kind, 100, 60))) {
      right += id == home[static_cast<std::size_t>(kind)] ? 1 : 0;
    }
    CAPTURE(kind);
    CHECK(right > 80);
  }
  CHECK(f.memory.guards_untouched());
}

TEST_CASE("ways to carry the past: kinds are found, and only rows that came are counted") {
  struct Way {
    const char* field;
    const char* value;
    bool counts_replay;
  };
  for (const Way& way :
       {Way{"drift", "off", false}, Way{"drift", "shift", false}, Way{"drift", "two_stage", false},
        Way{"replay_in_fit", "fit", false}, Way{"replay_in_fit", "counted", true}}) {
    CAPTURE(way.field);
    CAPTURE(way.value);
    Configuration config = small_model();
    REQUIRE(set_field_text(config, way.field, way.value).ok());
    ModelFixture f(config);
    double replayed = 0.0;
    for (int stream = 0; stream < 3; ++stream) {
      StreamReport report;
      const Rows rows = kinds(2 * stream, 2 * stream + 1, 400, static_cast<std::uint32_t>(stream));
      REQUIRE(f.model.learn(f.backend, rows.view(), &report).ok());
      replayed += static_cast<double>(report.replay_rows);
      CHECK(f.model.clusters().rows_seen() ==
            400.0 * (stream + 1) + (way.counts_replay ? replayed : 0.0));
    }
    CHECK(replayed > 500.0);
    std::set<ClusterId> found;
    for (int kind = 0; kind < 6; ++kind) found.insert(f.ids(kinds(kind, kind, 1, 70))[0]);
    CHECK(found.size() >= 5);
    CHECK(f.memory.guards_untouched());
  }
}

TEST_CASE("two-stage drift correction gives old clusters their width back") {
  Configuration config = small_model();
  REQUIRE(set_field_text(config, "drift", "two_stage").ok());
  config.adapt_epochs = 0;
  config.joint_epochs = 0;
  ModelFixture f(config);
  f.model.learn_every_block(true);
  StreamReport report;
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 400, 1).view(), &report).ok());
  const Mixture& mixture = f.model.clusters().mixture();
  const auto variance = [&] {
    double sum = 0.0;
    for (Index k = 0; k < mixture.clusters(); ++k) {
      const StatisticsRef carried = mixture.carried()[k];
      for (Index j = 0; j < config.latent; ++j) {
        sum += carried.scatter[mixture.config().shape.diagonal_at(j)] / *carried.mass;
      }
    }
    return sum;
  };
  const double before = variance();
  for (std::uint32_t stream = 2; stream < 8; ++stream) {
    REQUIRE(f.model.learn(f.backend, kinds(0, 1, 10, stream).view(), &report).ok());
    CHECK(report.replay_rows > 10);
  }
  CHECK(variance() == doctest::Approx(before).epsilon(0.15));
}

TEST_CASE("the same seed gives the same model, and bad rows change nothing") {
  ModelFixture a;
  ModelFixture b;
  for (int stream = 0; stream < 2; ++stream) {
    StreamReport report;
    const Rows rows = kinds(2 * stream, 2 * stream + 1, 200, static_cast<std::uint32_t>(stream));
    REQUIRE(a.model.learn(a.backend, rows.view(), &report).ok());
    REQUIRE(b.model.learn(b.backend, rows.view(), &report).ok());
    REQUIRE(a.state() == b.state());
  }
  const auto before = a.state();
  Rows bad = kinds(0, 1, 50, 9);
  bad(7, 3) = NAN;
  StreamReport report;
  const Status status = a.model.learn(a.backend, bad.view(), &report);
  CHECK(status.code() == StatusCode::kNonFinite);
  CHECK(status.index() == 7);
  CHECK_FALSE(a.model.learn(a.backend, kinds(0, 1, 401, 9).view(), &report).ok());
  CHECK(a.state() == before);
}

TEST_CASE("more rows can be scored at once than a stream may hold") {
  Configuration config = small_model();
  config.block_rows = 10;
  config.batch = 10;
  ModelFixture f(config);
  for (const RowResult& result : f.score(kinds(0, 1, 100, 1))) {
    CHECK(result.id == kNoId);  // nothing is learnt yet
    CHECK(result.novelty == 1.0F);
  }
  CHECK(f.memory.guards_untouched());
}

TEST_CASE("live fields change an existing model, frozen ones are refused") {
  ModelFixture f;
  StreamReport report;
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 1).view(), &report).ok());
  CHECK(f.model.configuration().replay_rows == 800);

  const double boundary = f.model.clusters().boundary();
  REQUIRE(f.set_live("sensitivity", 3.0).ok());
  CHECK(f.model.configuration().sensitivity == 3.0);
  CHECK(f.model.clusters().boundary() < boundary);

  CHECK_FALSE(f.set_live("latent", 5).ok());
  CHECK_FALSE(f.set_live("sensitivity", -1).ok());
  CHECK_FALSE(f.set_live("batch", 101).ok());         // more than pass_rows
  CHECK_FALSE(f.set_live("replay_ratio", 2.1).ok());  // no room
  CHECK(f.model.configuration().latent == 4);
  CHECK(f.model.configuration().sensitivity == 3.0);
  CHECK(f.model.configuration().batch == 50);
  REQUIRE(f.set_live("replay_ratio", 0).ok());
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 2).view(), &report).ok());
  CHECK(report.replay_rows == 0);
  REQUIRE(f.set_live("replay_ratio", 2).ok());  // the room is still there
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 3).view(), &report).ok());
  CHECK(report.replay_rows > 0);
}

TEST_CASE("a model without room for replay learns, and stays without") {
  Configuration config = small_model();
  config.replay_ratio = 0.0;
  ModelFixture f(config);
  StreamReport report;
  for (std::uint32_t stream = 0; stream < 2; ++stream) {
    REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, stream).view(), &report).ok());
    CHECK(report.replay_rows == 0);
  }
  CHECK_FALSE(f.set_live("replay_ratio", 1).ok());
  CHECK(f.memory.guards_untouched());
}

TEST_CASE("a frozen network stays as it is while clusters are learnt") {
  Configuration config = small_model();
  config.freeze_encoder_after = 1;
  ModelFixture f(config);
  StreamReport report;
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 1).view(), &report).ok());
  const float* p = f.model.network().parameters();
  const std::vector<float> before(p, p + f.model.network().parameter_count());
  REQUIRE(f.model.learn(f.backend, kinds(2, 3, 200, 2).view(), &report).ok());
  CHECK(same_bytes(before, std::vector<float>(p, p + f.model.network().parameter_count())));
  CHECK(report.replay_rows == 0);
  CHECK(f.model.clusters().rows_seen() == 400.0);
}

TEST_CASE("time fades the past and does not run backwards") {
  Configuration config = small_model();
  config.half_life_time = 10.0;
  ModelFixture f(config);
  StreamReport report;
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 1).view(), &report, 5.0).ok());
  const auto before = f.state();
  CHECK_FALSE(f.model.learn(f.backend, kinds(0, 1, 200, 2).view(), &report, 4.0).ok());
  CHECK_FALSE(f.model.learn(f.backend, kinds(0, 1, 200, 2).view(), &report, NAN).ok());
  CHECK(f.state() == before);
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 2).view(), &report, 15.0).ok());
  double rows = 0.0;
  for (Index k = 0; k < report.clusters; ++k) rows += f.model.clusters().mixture().rows_of(k);
  CHECK(rows == doctest::Approx(300.0));
}

TEST_CASE("pretraining on rows of its own takes the first stream's place, once") {
  Configuration config = small_model();
  config.joint_epochs = 0;  // the first stream then trains the network by pretraining alone
  ModelFixture f(config);
  const float* p = f.model.network().parameters();
  const auto parameters = [&] {
    return std::vector<float>(p, p + f.model.network().parameter_count());
  };
  const auto fresh = parameters();
  CHECK_FALSE(f.model.pretrain(f.backend, kinds(0, 5, 1201, 1).view()).ok());
  CHECK(same_bytes(fresh, parameters()));
  REQUIRE(f.model.pretrain(f.backend, kinds(0, 5, 1200, 1).view()).ok());  // block and replay room
  const auto pretrained = parameters();
  CHECK_FALSE(same_bytes(fresh, pretrained));
  CHECK(f.model.clusters().rows_seen() == 0.0);
  CHECK_FALSE(f.model.pretrain(f.backend, kinds(0, 5, 200, 1).view()).ok());

  StreamReport report;
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 2).view(), &report).ok());
  CHECK(same_bytes(pretrained, parameters()));
  CHECK(report.clusters >= 2);
  CHECK_FALSE(f.model.pretrain(f.backend, kinds(0, 5, 200, 1).view()).ok());
  CHECK(f.memory.guards_untouched());

  f.model.reset();
  CHECK(same_bytes(fresh, parameters()));
  REQUIRE(f.model.learn(f.backend, kinds(0, 1, 200, 2).view(), &report).ok());
  CHECK_FALSE(same_bytes(fresh, parameters()));
}

// The model end to end on small made-up streams: kinds are born where they come and not forgotten,
// the same calls give the same bytes, and a bad call is refused.
#include <cmath>
#include <memory>
#include <new>
#include <set>

#include <doctest/doctest.h>

#include "model/model.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kInputs = 20;

Configuration small_model() {
  Configuration config;
  config.inputs = kInputs;
  config.latent = 4;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.activation = static_cast<std::int32_t>(Activation::kTanh);
  config.likelihood = static_cast<std::int32_t>(Likelihood::kGaussian);
  config.likelihood_variance = 0.05;
  config.pass_rows = 100;
  config.max_clusters = 12;
  config.block_rows = 400;
  config.batch = 50;
  config.pretrain_epochs = 40;
  config.adapt_epochs = 30;
  config.prior_weight = 0.1;
  config.learning_rate = 3e-3;
  config.pretrain_mask_probability = 0.0;
  config.effective_rows = 0.0;
  config.merge_old_with_new = 1;
  return config;
}

struct ModelFixture {
  explicit ModelFixture(const Configuration& config_in = small_model())
      : config(config_in), memory(bytes()), arena(memory.data(), memory.size()) {
    REQUIRE(check_configuration(config).ok());
    place(arena);
    model.reset();
  }
  std::size_t bytes() {
    return planned_bytes([&](Arena& a) { place(a); });
  }
  void place(Arena& a) {
    backend.place(a, Model::limits(config), *select_kernels(IsaLevel::kAuto));
    model.place(a, config);
  }
  std::vector<ClusterId> ids(const Rows& rows) {
    std::vector<ClusterId> out(static_cast<std::size_t>(rows.rows));
    std::vector<float> novelty(out.size());
    REQUIRE(model.score(backend, rows.view(), out.data(), novelty.data()).ok());
    return out;
  }
  std::vector<std::uint8_t> state() {
    std::vector<std::uint8_t> out(ClusterLearner::most_bytes(model.clusters().config()));
    ByteWriter writer(out.data(), out.size());
    model.clusters().save(writer);
    out.resize(writer.position());
    const auto* p = reinterpret_cast<const std::uint8_t*>(model.network().parameters());
    out.insert(out.end(), p, p + model.network().parameter_count() * 4);
    return out;
  }

  Status set_live(const char* name, double value) {
    return model.set_live(*find_field(name), value);
  }

  Configuration config;
  CpuBackend backend;
  Model model;
  GuardedMemory memory;
  Arena arena;
};

// Rows of kinds [first, last]: each kind is a random pattern that its rows vary along two
// directions.
Rows kinds(int first, int last, Index rows, std::uint32_t seed) {
  Rows out(rows, kInputs);
  Philox random({.seed = 95, .index = seed});
  for (Index i = 0; i < rows; ++i) {
    const int kind = first + static_cast<int>(i) % (last - first + 1);
    Philox pattern({.seed = 96, .index = static_cast<std::uint32_t>(kind)});
    const double a = sample_normal(random);
    const double b = sample_normal(random);
    for (Index j = 0; j < kInputs; ++j) {
      const double center = sample_normal(pattern);
      const double along = 0.2 * sample_normal(pattern) * a + 0.2 * sample_normal(pattern) * b;
      out(i, j) = static_cast<float>(center + along + 0.1 * sample_normal(random));
    }
  }
  return out;
}

}  // namespace

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
  std::vector<ClusterId> id(100);
  std::vector<float> novelty(100);
  REQUIRE(f.model.score(f.backend, kinds(0, 1, 100, 1).view(), id.data(), novelty.data()).ok());
  for (const ClusterId x : id) CHECK(x == kNoId);  // nothing is learnt yet
  for (const float x : novelty) CHECK(x == 1.0F);
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

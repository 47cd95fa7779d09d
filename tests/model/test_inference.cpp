// What the model says without learning: it changes nothing, agrees with itself, is defined before
// the first stream and names what it refuses.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "support/allocation_trap.h"
#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kLatent = 4;

ModelFixture& learnt() {
  static ModelFixture f;
  static const bool once = [] {
    f.learn(kinds(0, 2, 300, 1));
    f.learn(kinds(3, 4, 300, 2));
    return true;
  }();
  static_cast<void>(once);
  return f;
}

std::vector<ClusterId> all_ids(ModelFixture& f) {
  std::vector<ClusterId> ids;
  const ClusterTable& clusters = f.model.clusters().registry().clusters();
  for (Index c = 0; c < clusters.count(); ++c) ids.push_back(clusters[c].id);
  return ids;
}

double largest_difference(const Rows& a, const Rows& b) {
  double worst = 0.0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) {
      worst = std::max<double>(worst, std::fabs(a(i, j) - b(i, j)));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("no inference call changes what the model knows, or allocates") {
  ModelFixture& f = learnt();
  const std::vector<ClusterId> ids = all_ids(f);
  const Rows rows = kinds(0, 6, 257, 3);  // more than two passes
  std::vector<RowResult> first(257), again(257);
  Rows z(257, kLatent), variance(257, kLatent), x(257, kInputs);
  Rows all_z(static_cast<Index>(ids.size()), kLatent), all_x(all_z.rows, kInputs);
  std::vector<ClusterId> from(257);
  const auto before = f.state();

  const AllocationCount count = allocation_count();
  bool ok = f.model.score(f.backend, rows.view(), first.data()).ok();
  ok = ok && f.model.encode(f.backend, rows.view(), z.view(), variance.view()).ok();
  ok = ok && f.model.encode(f.backend, rows.view(), z.view(), MatrixView()).ok();
  ok = ok && f.model.decode(f.backend, z.view(), x.view()).ok();
  ok = ok && f.model.reconstruct(f.backend, rows.view(), x.view()).ok();
  ok = ok && f.model.generate(f.backend, {}, z.view(), x.view(), from.data()).ok();
  ok = ok && f.model.generate(f.backend, {.cluster = ids[1]}, MatrixView(), x.view()).ok();
  ok = ok && f.model.interpolate(f.backend, ids[0], ids[1], z.view(), x.view()).ok();
  ok = ok && f.model.prototype(f.backend, ids[0], MatrixView(), x.view().row_range(0, 1)).ok();
  ok = ok && f.model.prototypes(f.backend, all_z.view(), all_x.view()).ok();
  ok = ok && f.model.score(f.backend, rows.view(), again.data()).ok();
  const AllocationCount after = allocation_count();

  REQUIRE(ok);
  CHECK(after.allocations == count.allocations);
  CHECK(f.state() == before);
  for (std::size_t i = 0; i < first.size(); ++i) {
    REQUIRE(first[i].id == again[i].id);
    REQUIRE(first[i].component == again[i].component);
    REQUIRE(first[i].probability == again[i].probability);
    REQUIRE(first[i].novelty == again[i].novelty);
    REQUIRE(first[i].log_density == again[i].log_density);
    REQUIRE(first[i].flags == again[i].flags);
  }
  CHECK(f.memory.guards_untouched());
}

TEST_CASE("a row's result does not depend on the rows beside it") {
  ModelFixture& f = learnt();
  const Rows rows = kinds(0, 4, 230, 4);
  const std::vector<RowResult> together = f.score(rows);
  const std::vector<ClusterId> ids = all_ids(f);
  for (const Index i : {0, 99, 100, 229}) {
    RowResult alone;
    REQUIRE(f.model.score(f.backend, rows.view().row_range(i, 1), &alone).ok());
    const RowResult& other = together[static_cast<std::size_t>(i)];
    CHECK(alone.id == other.id);
    CHECK(alone.novelty == doctest::Approx(other.novelty).epsilon(1e-4));
    CHECK(alone.log_density == doctest::Approx(other.log_density).epsilon(1e-4));
  }
  int novel = 0;
  for (const RowResult& result : together) {
    CHECK(std::count(ids.begin(), ids.end(), result.id) == 1);
    const ComponentRegistry& registry = f.model.clusters().registry();
    CHECK(registry.info(registry.find(result.component)).cluster == result.id);
    CHECK(result.probability > 0.0F);
    CHECK(result.probability <= 1.0F);
    novel += result.novelty > 0.5F ? 1 : 0;
  }
  CHECK(novel < 30);
  novel = 0;
  for (const RowResult& result : f.score(kinds(8, 8, 100, 5))) novel += result.novelty > 0.5F;
  CHECK(novel > 80);
}

TEST_CASE("decode after encode is reconstruct") {
  ModelFixture& f = learnt();
  const Rows rows = kinds(0, 4, 130, 6);
  Rows z(130, kLatent, 3), x(130, kInputs, 1), out(130, kInputs);
  REQUIRE(f.model.encode(f.backend, rows.view(), z.view(), MatrixView()).ok());
  REQUIRE(f.model.decode(f.backend, z.view(), x.view()).ok());
  REQUIRE(f.model.reconstruct(f.backend, rows.view(), out.view()).ok());
  CHECK(largest_difference(x, out) == 0.0);
  double error = 0.0;
  for (Index i = 0; i < 130; ++i) {
    for (Index j = 0; j < kInputs; ++j) error += std::pow(out(i, j) - rows(i, j), 2.0);
  }
  CHECK(error / (130.0 * kInputs) < 0.1);  // of a variance of about 1
}

TEST_CASE("what is drawn from a cluster goes back into it, and a seed draws the same") {
  ModelFixture& f = learnt();
  const ComponentRegistry& registry = f.model.clusters().registry();
  for (Index k = 0; k < registry.components(); ++k) {
    if (f.model.clusters().mixture().rows_of(k) < 30.0) continue;
    const ClusterId id = registry.info(k).cluster;
    Rows x(200, kInputs);
    REQUIRE(f.model.generate(f.backend, {.cluster = id}, MatrixView(), x.view()).ok());
    int own = 0;
    for (const ClusterId found : f.ids(x)) own += found == id ? 1 : 0;
    CAPTURE(id);
    CHECK(own >= 160);
  }
  Rows z(200, kLatent), fewer(7, kLatent), other(200, kLatent);
  std::vector<ClusterId> from(200);
  REQUIRE(f.model.generate(f.backend, {.seed = 5}, z.view(), MatrixView(), from.data()).ok());
  REQUIRE(f.model.generate(f.backend, {.seed = 5}, fewer.view(), MatrixView()).ok());
  REQUIRE(f.model.generate(f.backend, {.seed = 6}, other.view(), MatrixView()).ok());
  bool same = true;
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < kLatent; ++j) same = same && z(i, j) == fewer(i, j);
  }
  CHECK(same);
  CHECK(largest_difference(z, other) > 0.1);
  // The whole mixture: every kind comes, in about its part.
  CHECK(std::set<ClusterId>(from.begin(), from.end()).size() >= 5);
}

TEST_CASE("an interpolation ends at the prototypes, which are the clusters' means") {
  ModelFixture& f = learnt();
  const std::vector<ClusterId> ids = all_ids(f);
  const Index clusters = static_cast<Index>(ids.size());
  REQUIRE(f.model.cluster_count() == clusters);
  Rows all_z(clusters, kLatent), all_x(clusters, kInputs);
  std::vector<ClusterId> named(ids.size());
  REQUIRE(f.model.prototypes(f.backend, all_z.view(), all_x.view(), named.data()).ok());
  CHECK(named == ids);
  Rows z(9, kLatent), x(9, kInputs), one_z(1, kLatent), one_x(1, kInputs);
  REQUIRE(f.model.interpolate(f.backend, ids[0], ids[2], z.view(), x.view()).ok());
  for (const Index end : {0, 8}) {
    const Index k = end == 0 ? 0 : 2;
    REQUIRE(
        f.model.prototype(f.backend, ids[static_cast<std::size_t>(k)], one_z.view(), one_x.view())
            .ok());
    for (Index j = 0; j < kLatent; ++j) {
      CHECK(z(end, j) == one_z(0, j));
      CHECK(one_z(0, j) == all_z(k, j));
      CHECK(one_z(0, j) == static_cast<float>(f.model.clusters().mixture().posterior(k).mean[j]));
    }
    for (Index j = 0; j < kInputs; ++j) {
      CHECK(x(end, j) == doctest::Approx(one_x(0, j)).epsilon(1e-5));
      CHECK(all_x(k, j) == doctest::Approx(one_x(0, j)).epsilon(1e-5));
    }
  }
  for (Index j = 0; j < kLatent; ++j) {
    CHECK(z(4, j) == doctest::Approx(0.5 * (z(0, j) + z(8, j))).epsilon(1e-5));
  }
  // A cluster's prototype belongs to it.
  const std::vector<ClusterId> back = f.ids(all_x);
  for (Index k = 0; k < clusters; ++k) {
    if (f.model.clusters().mixture().rows_of(k) < 30.0) continue;
    CHECK(back[static_cast<std::size_t>(k)] == ids[static_cast<std::size_t>(k)]);
  }
}

TEST_CASE("before the first stream rows can be looked at, and nothing is made up") {
  ModelFixture f;
  const auto before = f.state();
  const Rows rows = kinds(0, 1, 120, 7);
  for (const RowResult& result : f.score(rows)) {
    CHECK(result.id == kNoId);
    CHECK(result.component == kNoId);
    CHECK(result.novelty == 1.0F);
    CHECK(result.probability == 0.0F);
    CHECK(result.flags == (RowResult::kNothingLearnt | RowResult::kNovel));
    CHECK(std::isfinite(result.log_density));
  }
  Rows z(120, kLatent), x(120, kInputs);
  CHECK(f.model.encode(f.backend, rows.view(), z.view(), MatrixView()).ok());
  CHECK(f.model.decode(f.backend, z.view(), x.view()).ok());
  CHECK(f.model.reconstruct(f.backend, rows.view(), x.view()).ok());
  CHECK(f.model.cluster_count() == 0);
  for (const ClusterId id : {kNoId, ClusterId{1}}) {
    CHECK(f.model.generate(f.backend, {.cluster = id}, z.view(), x.view()).code() ==
          StatusCode::kUnavailable);
  }
  CHECK(f.model.prototype(f.backend, 1, z.view().row_range(0, 1), MatrixView()).code() ==
        StatusCode::kUnavailable);
  CHECK(f.model.interpolate(f.backend, 1, 1, z.view(), MatrixView()).code() ==
        StatusCode::kUnavailable);
  CHECK(f.state() == before);
}

TEST_CASE("bad rows are named, bad ids and shapes refused, and outputs untouched") {
  ModelFixture& f = learnt();
  const auto before = f.state();
  Rows bad = kinds(0, 4, 230, 8);
  bad(205, 3) = INFINITY;
  std::vector<RowResult> out(230);
  Rows z(230, kLatent), x(230, kInputs), short_x(229, kInputs);
  for (const Status& status : {f.model.score(f.backend, bad.view(), out.data()),
                               f.model.encode(f.backend, bad.view(), z.view(), MatrixView()),
                               f.model.reconstruct(f.backend, bad.view(), x.view())}) {
    CHECK(status.code() == StatusCode::kNonFinite);
    CHECK(status.index() == 205);
  }
  for (const RowResult& result : out) CHECK(result.id == kNoId);
  CHECK(largest_difference(z, Rows(230, kLatent)) == 0.0);
  CHECK(f.model.score(f.backend, z.view(), out.data()).code() == StatusCode::kShapeMismatch);
  CHECK(f.model.decode(f.backend, z.view(), short_x.view()).code() == StatusCode::kShapeMismatch);
  CHECK(f.model.decode(f.backend, x.view(), x.view()).code() == StatusCode::kShapeMismatch);
  CHECK_FALSE(f.model.generate(f.backend, {}, z.view(), short_x.view()).ok());
  CHECK_FALSE(f.model.generate(f.backend, {}, MatrixView(), MatrixView()).ok());
  CHECK_FALSE(f.model.generate(f.backend, {.radius = NAN}, z.view(), x.view()).ok());
  CHECK_FALSE(f.model.prototypes(f.backend, z.view(), x.view()).ok());
  const ClusterId nobody = 999;
  CHECK(f.model.generate(f.backend, {.cluster = nobody}, z.view(), x.view()).code() ==
        StatusCode::kInvalidArgument);
  CHECK(f.model.interpolate(f.backend, 1, nobody, z.view(), x.view()).code() ==
        StatusCode::kInvalidArgument);
  CHECK(f.model.prototype(f.backend, nobody, z.view().row_range(0, 1), MatrixView()).code() ==
        StatusCode::kInvalidArgument);
  // No rows are no mistake.
  CHECK(f.model.score(f.backend, ConstMatrixView(), nullptr).ok());
  CHECK(f.state() == before);
}

TEST_CASE("rows at the end of what a float holds are novel, and every number is finite") {
  ModelFixture& f = learnt();
  for (const float huge : {1e9F, 1e20F, 3e38F, -3e38F}) {
    Rows rows = kinds(0, 4, 10, 9);
    for (Index j = 0; j < kInputs; ++j) rows(4, j) = j % 3 == 0 ? -huge : huge;
    const RowResult result = f.score(rows)[4];
    CAPTURE(huge);
    CHECK(result.novelty > 0.5F);
    CHECK(result.novelty <= 1.0F);
    CHECK(std::isfinite(result.probability));
    CHECK(std::isfinite(result.log_density));
  }
}

TEST_CASE("ids of merged clusters are followed") {
  ModelFixture f;
  f.learn(kinds(0, 2, 300, 1));
  const std::vector<ClusterId> ids = all_ids(f);
  REQUIRE(ids.size() >= 3);
  MoveRecord record;
  REQUIRE(f.model.clusters().merge(ids[0], ids[1], true, record).ok());
  Rows a(1, kLatent), b(1, kLatent);
  REQUIRE(f.model.prototype(f.backend, ids[0], a.view(), MatrixView()).ok());
  REQUIRE(f.model.prototype(f.backend, ids[1], b.view(), MatrixView()).ok());
  CHECK(largest_difference(a, b) == 0.0);
  // Clusters have other numbers now; kinds are still those of clusters that live.
  const std::vector<ClusterId> living = all_ids(f);
  for (const RowResult& result : f.score(kinds(0, 2, 60, 10))) {
    CHECK(std::count(living.begin(), living.end(), result.id) == 1);
  }
  REQUIRE(f.model.clusters().forget(ids[2]).ok());
  CHECK(f.model.prototype(f.backend, ids[2], a.view(), MatrixView()).code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("a model that only scores says the same and takes a fraction of the memory") {
  ModelFixture learner;
  learner.learn(kinds(0, 2, 300, 1));
  const Configuration config = learner.config;
  struct {
    CpuBackend backend;
    Model model;
    void place(Arena& arena, const Configuration& of) {
      backend.place(arena, Model::limits(of, ModelUse::kScore), *select_kernels(IsaLevel::kAuto));
      model.place(arena, of, ModelUse::kScore);
    }
  } scorer;
  const std::size_t bytes = planned_bytes([&](Arena& a) { scorer.place(a, config); });
  CHECK(bytes < learner.memory.size() / 3);
  GuardedMemory memory(bytes);
  Arena arena(memory.data(), memory.size());
  scorer.place(arena, config);
  REQUIRE_FALSE(arena.failed());
  scorer.model.reset();
  const std::vector<std::byte> snapshot = learner.snapshot();
  REQUIRE(scorer.model.load(snapshot.data(), snapshot.size()).ok());
  const Rows rows = kinds(0, 3, 250, 2);
  const std::vector<RowResult> expected = learner.score(rows);
  std::vector<RowResult> found(expected.size());
  REQUIRE(scorer.model.score(scorer.backend, rows.view(), found.data()).ok());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].id == expected[i].id);
    CHECK(found[i].novelty == expected[i].novelty);
    CHECK(found[i].log_density == expected[i].log_density);
  }
  StreamReport report;
  CHECK(scorer.model.learn(scorer.backend, rows.view(), &report).code() ==
        StatusCode::kUnavailable);
  std::vector<std::byte> out(snapshot.size());
  std::size_t size = 0;
  CHECK(scorer.model.save(out.data(), out.size(), &size).code() == StatusCode::kUnavailable);
}

TEST_CASE("an explanation agrees with the score") {
  ModelFixture f;
  f.learn(kinds(0, 2, 300, 1));
  const Rows rows = kinds(0, 3, 40, 2);
  const std::vector<RowResult> scores = f.score(rows);
  std::vector<double> contribution(static_cast<std::size_t>(f.config.latent));
  std::vector<float> error(kInputs);
  for (Index i = 0; i < rows.rows; ++i) {
    RowReason reason;
    REQUIRE(
        f.model.explain(f.backend, rows.view().row(i), &reason, contribution.data(), error.data())
            .ok());
    const RowResult& score = scores[static_cast<std::size_t>(i)];
    CHECK(reason.result.id == score.id);
    CHECK(reason.result.novelty == score.novelty);
    CHECK(score.novelty ==
          doctest::Approx(1.0 / (1.0 + std::exp(reason.boundary - reason.surprise))).epsilon(1e-4));
    CHECK((reason.surprise > reason.boundary) == (score.novelty > 0.5F));
    double sum = 0.0;
    for (const double part : reason.contribution) sum += part;
    CHECK(sum == doctest::Approx(reason.squared_distance));
    Rows rebuilt(1, kInputs);
    REQUIRE(f.model.reconstruct(f.backend, rows.view().row_range(i, 1), rebuilt.view()).ok());
    for (Index j = 0; j < kInputs; ++j) {
      CHECK(reason.error[static_cast<std::size_t>(j)] == rows(i, j) - rebuilt(0, j));
    }
  }
}

TEST_CASE("an explanation names the inputs that were changed") {
  for (const bool scaled : {false, true}) {
    CAPTURE(scaled);
    Configuration config = small_model();
    config.scale_inputs = scaled ? 1 : 0;
    ModelFixture f(config);
    for (std::uint32_t block = 1; block <= 3; ++block) f.learn(kinds(0, 2, 400, block));
    std::vector<double> contribution(static_cast<std::size_t>(config.latent));
    std::vector<float> error(kInputs);
    Rows rows = kinds(0, 2, 60, 9);
    int first = 0;
    int both = 0;
    for (Index i = 0; i < 60; ++i) {
      const Index a = i % kInputs;
      const Index b = (i * 7 + 3) % kInputs == a ? (a + 1) % kInputs : (i * 7 + 3) % kInputs;
      RowReason reason;
      const auto explain = [&] {
        REQUIRE(
            f.model
                .explain(f.backend, rows.view().row(i), &reason, contribution.data(), error.data())
                .ok());
      };
      const float before = rows(i, a);
      rows(i, a) += i % 2 == 0 ? 4.0F : -4.0F;
      explain();
      REQUIRE(reason.inputs > 0);
      const InputReason& input = reason.input[0];
      first += input.number == a ? 1 : 0;
      if (input.number == a) {
        CHECK(input.value == rows(i, a));
        CHECK(std::fabs(input.expected - before) < 2.0F);
        CHECK(input.effect > 0.0);
        CHECK((input.deviations != 0.0) == scaled);
        if (scaled) CHECK((input.deviations > 0.0) == (i % 2 == 0));
      }
      rows(i, b) += 4.0F;
      explain();
      const Index named[] = {reason.input[0].number, reason.input[1].number};
      both += reason.inputs > 1 &&
                      ((named[0] == a && named[1] == b) || (named[0] == b && named[1] == a))
                  ? 1
                  : 0;
      // It changes nothing: the same again.
      RowReason again;
      REQUIRE(
          f.model.explain(f.backend, rows.view().row(i), &again, contribution.data(), error.data())
              .ok());
      CHECK(again.input[0].effect == reason.input[0].effect);
    }
    CHECK(first >= 54);
    CHECK(both >= 48);
  }
}

TEST_CASE("kinds are found whatever the network's scale after pretraining") {
  // The variance that rows start with must not depend on how large the features came out.
  for (const Activation activation : {Activation::kTanh, Activation::kRelu}) {
    for (const int epochs : {40, 120}) {
      Configuration config = small_model();
      config.activation = static_cast<std::int32_t>(activation);
      config.pretrain_epochs = epochs;
      ModelFixture f(config);
      CAPTURE(epochs);
      CHECK(f.learn(kinds(0, 2, 300, 1)).clusters == 3);
    }
  }
}

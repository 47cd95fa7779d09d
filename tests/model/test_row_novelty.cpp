// Novelty of rows by features and by what the decoder cannot account for: the contract (0.5 at a
// boundary that as many ordinary rows pass as were allowed), what it is for, and its state.
#include <algorithm>
#include <cmath>

#include "base/sampling.h"
#include "support/model_fixture.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

Configuration weighing(double weight) {
  Configuration config = small_model();
  config.novelty_error_weight = weight;
  config.false_alarm_rate = 0.05;
  return config;
}

void teach(ModelFixture& f) {
  f.learn(kinds(0, 2, 400, 1));
  for (std::uint32_t i = 2; i < 6; ++i) f.learn(kinds(0, 2, 400, i));
}

double novel_part(ModelFixture& f, const Rows& rows) {
  const std::vector<RowResult> results = f.score(rows);
  const auto novel = std::count_if(results.begin(), results.end(),
                                   [](const RowResult& r) { return r.novelty > 0.5F; });
  return static_cast<double>(novel) / static_cast<double>(rows.rows);
}

// `rows` moved by a step of one length each, in a direction that leaves the features where they
// were, as far as the encoder's first order goes.
Rows moved_unseen(ModelFixture& f, const Rows& rows, double length) {
  Rows out = rows;
  const Index m = f.config.latent;
  constexpr float kStep = 1e-2F;
  Rows z(1 + rows.cols, m);
  Rows probe(1 + rows.cols, rows.cols);
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index p = 0; p < probe.rows; ++p) {
      for (Index j = 0; j < rows.cols; ++j) probe(p, j) = rows(i, j) + (p == j + 1 ? kStep : 0.0F);
    }
    REQUIRE(f.model.encode(f.backend, probe.view(), z.view(), MatrixView()).ok());
    // A fixed direction less its part in the span of the features' gradients.
    std::vector<std::vector<double>> span;
    const auto remove = [&](std::vector<double>& v) {
      for (const auto& s : span) {
        double dot = 0.0;
        for (std::size_t j = 0; j < v.size(); ++j) dot += v[j] * s[j];
        for (std::size_t j = 0; j < v.size(); ++j) v[j] -= dot * s[j];
      }
      double norm = 0.0;
      for (const double x : v) norm += x * x;
      for (double& x : v) x /= std::sqrt(norm);
    };
    for (Index k = 0; k < m; ++k) {
      std::vector<double> gradient(static_cast<std::size_t>(rows.cols));
      for (Index j = 0; j < rows.cols; ++j) {
        gradient[static_cast<std::size_t>(j)] = (z(j + 1, k) - z(0, k)) / kStep;
      }
      remove(gradient);
      span.push_back(gradient);
    }
    std::vector<double> direction(static_cast<std::size_t>(rows.cols));
    for (std::size_t j = 0; j < direction.size(); ++j)
      direction[j] = std::sin(1.0 + 2.0 * static_cast<double>(j) + static_cast<double>(i));
    remove(direction);
    for (Index j = 0; j < rows.cols; ++j) {
      out(i, j) += static_cast<float>(length * direction[static_cast<std::size_t>(j)]);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("of ordinary rows about as many are novel as were allowed") {
  for (const double weight : {0.0, 1.0, 4.0}) {
    CAPTURE(weight);
    ModelFixture f(weighing(weight));
    teach(f);
    const double part = novel_part(f, kinds(0, 2, 4000, 99));
    CHECK(part > 0.015);
    CHECK(part < 0.12);
  }
}

TEST_CASE("what the features do not see is novel by what cannot be redrawn") {
  ModelFixture blind(weighing(0.0));
  ModelFixture f(weighing(1.0));
  blind.model.learn_every_block(true);
  f.model.learn_every_block(true);
  teach(blind);
  teach(f);
  const Rows ordinary = kinds(0, 2, 200, 77);
  // The two have learnt the same: novelty is said, not learnt from.
  CHECK(blind.state() == f.state());
  const Rows moved = moved_unseen(f, ordinary, 1.5);
  CHECK(novel_part(blind, moved) < 0.35);
  CHECK(novel_part(f, moved) > 0.9);
}

TEST_CASE("errors count from the first block on, and rows that it has not seen are no more novel") {
  ModelFixture f(weighing(1.0));
  f.learn(kinds(0, 2, 400, 1));
  const Rows ordinary = kinds(0, 2, 1000, 77);
  const double part = novel_part(f, ordinary);
  CHECK(part > 0.01);
  CHECK(part < 0.15);
  const Rows some = kinds(0, 2, 100, 78);
  const Rows moved = moved_unseen(f, some, 1.5);
  CHECK(novel_part(f, moved) > 0.9);
  // What the decoder misses is missing from the row's density, too.
  const std::vector<RowResult> before = f.score(some);
  const std::vector<RowResult> after = f.score(moved);
  Index lower = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    lower += after[i].log_density < before[i].log_density - 1.0F ? 1 : 0;
  }
  CHECK(lower > 90);
}

TEST_CASE("of rows that were learnt, those of a rare kind are known, but rank as rare") {
  ModelFixture f(weighing(1.0));
  Rows rows = kinds(0, 2, 400, 1);
  const Rows rare = kinds(7, 7, 24, 2);
  for (Index i = 0; i < rare.rows; ++i) {
    std::copy_n(rare.view().row(i), kInputs, rows.view().row(16 * i));
  }
  f.learn(rows);
  const Rows later = kinds(7, 7, 100, 3);
  CHECK(novel_part(f, later) < 0.5);
  const std::vector<RowResult> odd = f.score(later);
  const std::vector<RowResult> usual = f.score(kinds(0, 2, 300, 4));
  Index below = 0;
  for (const RowResult& a : odd) {
    for (const RowResult& b : usual) below += a.log_density < b.log_density ? 1 : 0;
  }
  CHECK(below > 0.8 * 100 * 300);
}

TEST_CASE("novelty rises with the error, and every number is finite") {
  ModelFixture f(weighing(1.0));
  teach(f);
  const Rows ordinary = kinds(0, 2, 50, 77);
  double before = 0.0;
  for (const double length : {0.0, 0.5, 1.0, 2.0}) {
    double mean = 0.0;
    for (const RowResult& r : f.score(moved_unseen(f, ordinary, length))) mean += r.novelty / 50.0;
    CHECK(mean > before);
    before = mean;
  }
  Rows wild(3, kInputs);
  std::fill_n(wild.view().row(0), kInputs, 3e38F);
  std::fill_n(wild.view().row(1), kInputs, -1e20F);
  for (const RowResult& r : f.score(wild)) {
    CHECK(std::isfinite(r.log_density));
    CHECK(r.novelty >= 0.0F);
    CHECK(r.novelty <= 1.0F);
  }
}

TEST_CASE("explain tells the error's part, and its numbers give the novelty") {
  ModelFixture f(weighing(1.0));
  teach(f);
  const Rows rows = moved_unseen(f, kinds(0, 2, 20, 7), 1.0);
  std::vector<double> contribution(static_cast<std::size_t>(f.config.latent));
  std::vector<float> error(kInputs);
  for (Index i = 0; i < rows.rows; ++i) {
    RowReason reason;
    REQUIRE(
        f.model.explain(f.backend, rows.view().row(i), &reason, contribution.data(), error.data())
            .ok());
    CHECK(reason.error_surprise != 0.0);
    const double novelty = 1.0 / (1.0 + std::exp(reason.boundary - reason.surprise));
    CHECK(reason.result.novelty == doctest::Approx(novelty).epsilon(1e-4));
  }
}

TEST_CASE("it is in the snapshot; without it features alone judge until the next stream") {
  ModelFixture f(weighing(1.0));
  teach(f);
  const Rows rows = kinds(0, 4, 60, 5);
  ModelFixture again(weighing(1.0));
  const std::vector<std::byte> bytes = f.snapshot();
  REQUIRE(again.model.load(bytes.data(), bytes.size()).ok());
  const auto first = f.score(rows);
  const auto second = again.score(rows);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].novelty == second[i].novelty);
  again.model.reset();
  CHECK(again.score(rows)[0].novelty == 1.0F);
}

TEST_CASE("moments: mean and variance, together and apart, and outliers count less") {
  Moments all;
  Moments first;
  Moments second;
  for (int i = 0; i < 15; ++i) {
    const double x = std::sin(3.0 * i) + (i < 9 ? 0.0 : 2.0);
    all.add(x, 1e9);
    (i < 9 ? first : second).add(x, 1e9);
  }
  first.add(second);
  CHECK(first.rows == 15.0);
  CHECK(first.mean == doctest::Approx(all.mean).epsilon(1e-12));
  CHECK(first.variance == doctest::Approx(all.variance).epsilon(1e-12));
  for (int i = 0; i < 1000; ++i) all.add(std::sin(3.0 * i), 1e9);
  const Moments before = all;
  all.add(1e12, 1e9);
  CHECK(all.mean < before.mean + 0.01);
  CHECK(all.variance < 1.1 * before.variance);
  // What is old fades.
  for (int i = 0; i < 400; ++i) all.add(5.0 + std::sin(3.0 * i), 50.0);
  CHECK(all.rows == 50.0);
  CHECK(all.mean == doctest::Approx(5.0).epsilon(0.05));
}

namespace {

// Clusters with ids 1, 2, 3 and their calibration, by misfits with the given means.
struct Calibrated {
  Calibrated(const std::vector<double>& means, const std::vector<Index>& rows)
      : memory(planned_bytes([this](Arena& arena) { place(arena); })) {
    Arena arena(memory.data(), memory.size());
    place(arena);
    clusters.reset();
    novelty.reset();
    while (clusters.count() < static_cast<Index>(means.size())) clusters.add({});
    Philox random({.seed = 1});
    Index n = 0;
    for (std::size_t k = 0; k < means.size(); ++k) {
      for (Index i = 0; i < rows[k]; ++i, ++n) {
        novelty.note_learnt(n, static_cast<Index>(k), false,
                            static_cast<float>(means[k] + sample_normal(random)), 0.0F);
      }
    }
    novelty.count(clusters, n, false, false, 1e9, settings);
  }
  void place(Arena& arena) {
    clusters.place(arena, 4, 4);
    novelty.place(arena, 8, 0.0, false, kRows, 4);
  }
  // Of a cluster's rows, the fraction that is novel.
  double novel(Index k, double mean) const {
    Philox random({.seed = 2, .index = static_cast<std::uint32_t>(k)});
    const double limit = novelty.boundary(k, clusters[k].id, settings);
    int count = 0;
    for (int i = 0; i < 20000; ++i) {
      const double surprise = novelty.feature_surprise(mean + sample_normal(random));
      count += novelty.novelty(surprise, limit) > 0.5F ? 1 : 0;
    }
    return count / 20000.0;
  }

  static constexpr Index kRows = 40000;
  ClusterTable clusters;
  RowNovelty novelty;
  GuardedMemory memory;
  NoveltySettings settings{.false_alarm_rate = 0.01};
};

}  // namespace

TEST_CASE("the false-alarm rate holds over all clusters, and a rare cluster's rows are known") {
  // The third cluster's rows fit worse than those of the others, and it has few.
  const Calibrated c({0.0, 0.2, 6.0}, {20000, 18000, 60});
  const double first = c.novel(0, 0.0);
  const double second = c.novel(1, 0.2);
  CHECK((20000.0 * first + 18000.0 * second) / 38000.0 == doctest::Approx(0.01).epsilon(0.25));
  CHECK(c.novel(2, 6.0) < 0.06);
  // One boundary for all else: what is known in a cluster that fits badly is novel in the others.
  CHECK(c.novel(0, 6.0) > 0.9);
}

TEST_CASE(
    "clusters keep their calibration when numbers change; what is merged is counted together") {
  Calibrated c({0.0, 2.0, 6.0}, {2000, 2000, 2000});
  const double third = c.novelty.boundary(2, 3, c.settings);
  c.clusters.end(2, 1);  // cluster 3 has number 1 now
  REQUIRE(c.clusters[1].id == 3);
  CHECK(c.novelty.boundary(1, 3, c.settings) == third);
  for (Index i = 0; i < 10; ++i) {
    c.novelty.note_learnt(i, 0, false, 1.0F, 0.0F);
  }
  c.novelty.count(c.clusters, 10, false, false, 1e9, c.settings);
  CHECK(c.novel(1, 6.0) < 0.05);
  CHECK(c.novel(0, 0.0) < 0.05);
  CHECK(c.novel(0, 2.0) < 0.1);
}

TEST_CASE("rows at the thin edge of a cluster are novel, though a component is there") {
  // Heavy tails: 4 % of the rows are spread six times as far.
  Configuration config = small_model();
  config.inputs = 2;
  config.latent = 2;
  config.scale_inputs = 1;
  config.prior_mode = 2;
  config.max_clusters = 20;
  config.block_rows = 1500;
  ModelFixture f(config);
  Philox random({.seed = 9});
  Rows rows(1500, 2);
  for (Index i = 0; i < rows.rows; ++i) {
    const double width = i % 25 == 0 ? 6.0 : 1.0;
    for (Index j = 0; j < 2; ++j) {
      rows(i, j) = static_cast<float>(width * sample_normal(random) + 100.0);
    }
  }
  f.learn(rows);
  REQUIRE(f.model.clusters().registry().components() > 1);
  REQUIRE(f.model.clusters().registry().clusters().count() == 1);
  // Of the rows learnt, two in a thousand lie as far out as these.
  Rows far(32, 2);
  for (Index i = 0; i < far.rows; ++i) {
    const double angle = 6.283185 * static_cast<double>(i) / 32.0;
    far(i, 0) = static_cast<float>(100.0 + 18.0 * std::cos(angle));
    far(i, 1) = static_cast<float>(100.0 + 18.0 * std::sin(angle));
  }
  int novel = 0;
  for (const RowResult& result : f.score(far)) novel += result.novelty > 0.5F ? 1 : 0;
  CHECK(novel >= 28);
  int known = 0;
  for (const RowResult& result : f.score(rows)) known += result.novelty > 0.5F ? 0 : 1;
  CHECK(known >= 1450);
}

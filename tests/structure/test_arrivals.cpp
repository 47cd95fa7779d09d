// Rows as they come: what was novel then decides what is born out of a well-known cluster and
// where the scale of novelty lies; and rows that only stand for the past are never counted.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "support/learner_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kDims = 3;

LearnerConfig config() {
  LearnerConfig config;
  config.shape.dims = kDims;
  config.max_rows = 4000;
  config.max_clusters = 12;
  config.aliases = 16;
  return config;
}

// `count` rows around `at` on the first axis and 0 on the others.
void add_rows(Philox& random, double at, Index count, std::vector<float>& rows) {
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < kDims; ++j) {
      rows.push_back(static_cast<float>((j == 0 ? at : 0.0) + sample_normal(random)));
    }
  }
}

// One kind in two styles, three deviations apart: so few effective rows see a single cluster.
std::vector<float> two_styles(Philox& random, Index each) {
  std::vector<float> rows;
  for (Index i = 0; i < each; ++i) {
    add_rows(random, -1.5, 1, rows);
    add_rows(random, 1.5, 1, rows);
  }
  return rows;
}

ConstMatrixView view(const std::vector<float>& rows) {
  return {rows.data(), static_cast<Index>(rows.size()) / kDims, kDims};
}

// Births in the second stream, which is counted in full.
std::size_t later_births(double usual_novelty, bool something_new, Index each = 1500) {
  LearnerFixture f(config());
  Philox random({.seed = 5});
  f.learner.settings().divisions = false;
  f.learner.settings().unexplained_births = false;
  f.learner.settings().proposal.usual_novelty = usual_novelty;
  f.learner.settings().effective_rows = 20.0;
  REQUIRE(f.learn(two_styles(random, each)).ok());
  REQUIRE(f.learner.mixture().clusters() == 1);
  f.learner.settings().effective_rows = 0.0;
  std::vector<float> rows = two_styles(random, 1500);
  if (something_new) add_rows(random, 9.0, 100, rows);
  REQUIRE(f.learn(rows).ok());
  return f.events_of(ClusterEventKind::kBorn).size();
}

}  // namespace

TEST_CASE("a style of what is known is not born, a new kind is") {
  CHECK(later_births(0.0, false) > 0);
  CHECK(later_births(0.015, false) == 0);
  CHECK(later_births(0.015, true) == 1);
  // Of a cluster that has seen few rows nobody knows what is usual.
  CHECK(later_births(0.015, false, 400) > 0);
}

TEST_CASE("the scale of novelty is set by rows as they were met") {
  LearnerFixture met(config());
  LearnerFixture unmet(config());
  Philox random({.seed = 6});
  const std::vector<float> first = two_styles(random, 500);
  std::vector<float> later = two_styles(random, 1000);
  std::vector<float> wider = later;  // as features were before the network learnt these rows
  for (float& x : wider) x *= 1.5F;
  for (LearnerFixture* f : {&met, &unmet}) {
    REQUIRE(f->learn(first).ok());
    f->learner.fade_novelty(200.0);
    if (f == &met) f->learner.meet(f->backend, view(wider), {});
    REQUIRE(f->learner.begin(view(later), {}, 1).ok());
    f->learner.settle(f->backend, 5);
    f->learner.close(f->backend);
  }
  CHECK(met.learner.novelty_scale().rows() == unmet.learner.novelty_scale().rows());
  CHECK(met.learner.boundary() > unmet.learner.boundary() + 0.5);
  // What was met counts for its own stream only.
  const double before = met.learner.boundary();
  met.learner.fade_novelty(200.0);
  REQUIRE(met.learner.begin(view(later), {}, 1).ok());
  met.learner.close(met.backend);
  CHECK(met.learner.boundary() < before - 0.5);
}

// Strays at 12 come first, announced as a cluster of their own; then a new kind comes to that
// place.
struct Succession {
  explicit Succession(bool named) : f(config()) {
    Philox random({.seed = 9});
    std::vector<float> rows = two_styles(random, 700);
    add_rows(random, 12.0, 60, rows);
    REQUIRE(f.learn(rows).ok());
    strays = home(12.0);
    REQUIRE(strays != home(0.0));
    if (named) REQUIRE(f.learner.rename(strays, "mine").ok());
    // A kind that is wider than the strays: most of it is novel, and it outnumbers them.
    std::vector<float> wide;
    add_rows(random, 0.0, 600, wide);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      wide[i] = 6.0F * wide[i] + (i % kDims == 0 ? 14.0F : 0.0F);
    }
    f.learner.settings().unexplained_births = false;
    f.learner.settings().rounds = 0;  // nothing is born out of anything
    REQUIRE(f.learn(wide).ok());
  }
  ClusterId home(float at) { return f.score({at, 0.0F, 0.0F}).id[0]; }

  LearnerFixture f;
  ClusterId strays = kNoId;
};

TEST_CASE("a new kind that takes over the place of a few strays is announced") {
  Succession s(false);
  const ClusterId now = s.home(12.0);
  CHECK(now != s.strays);
  CHECK(s.f.learner.registry().clusters().resolve(s.strays) == now);
  const auto born = s.f.events_of(ClusterEventKind::kBorn);
  const auto merged = s.f.events_of(ClusterEventKind::kMerged);
  REQUIRE(merged.size() == 1);
  CHECK(born.back().id == now);
  CHECK(born.back().other == s.strays);
  CHECK(born.back().stream == 2);
  CHECK(merged[0].id == now);
  CHECK(merged[0].other == s.strays);
  CHECK(
      s.f.learner.registry().clusters()[s.f.learner.registry().clusters().find(now)].born_stream ==
      2);
  // The scale of novelty is not set by rows of a kind that nobody knew.
  CHECK(s.f.score({60.0F, 60.0F, 60.0F}).novelty[0] > 0.5F);
}

TEST_CASE("a cluster that the user has named keeps its id whatever comes to it") {
  Succession s(true);
  CHECK(s.home(12.0) == s.strays);
  CHECK(s.f.events_of(ClusterEventKind::kMerged).empty());
}

TEST_CASE("a new kind near scattered strays is announced, though most of its rows are not novel") {
  LearnerFixture f(config());
  Philox random({.seed = 10});
  std::vector<float> rows = two_styles(random, 700);
  std::vector<float> strays;
  add_rows(random, 0.0, 60, strays);
  for (std::size_t i = 0; i < strays.size(); ++i) {
    strays[i] = 5.0F * strays[i] + (i % kDims == 0 ? 30.0F : 0.0F);
  }
  rows.insert(rows.end(), strays.begin(), strays.end());
  REQUIRE(f.learn(rows).ok());
  std::vector<float> kind;
  add_rows(random, 38.0, 600, kind);
  const auto scored = f.score(kind);
  const auto novel = std::count_if(scored.novelty.begin(), scored.novelty.end(),
                                   [](float novelty) { return novelty > 0.5F; });
  REQUIRE(novel > 60);
  REQUIRE(novel < 300);
  f.learner.settings().unexplained_births = false;
  f.learner.settings().rounds = 0;
  REQUIRE(f.learn(kind).ok());
  const auto born = f.events_of(ClusterEventKind::kBorn);
  CHECK(born.back().stream == 2);
  CHECK(born.back().id == f.score({38.0F, 0.0F, 0.0F}).id[0]);
}

// Rows of a machine whose noise is smooth: correlation .9 from row to row.
void add_smooth_rows(Philox& random, double at, Index count, double* noise,
                     std::vector<float>& rows) {
  constexpr double kCorrelation = 0.9;
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < kDims; ++j) {
      noise[j] = kCorrelation * noise[j] +
                 std::sqrt(1.0 - kCorrelation * kCorrelation) * sample_normal(random);
      rows.push_back(static_cast<float>((j == 0 ? at : 0.0) + noise[j]));
    }
  }
}

TEST_CASE("the first rows of a state keep their id when many more of them come") {
  int kept = 0;
  int outnumbered = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    LearnerFixture f(config());
    Philox random({.seed = seed});
    double noise[kDims] = {};
    std::vector<float> first;
    add_smooth_rows(random, 0.0, 1000, noise, first);
    REQUIRE(f.learn(first).ok());
    std::vector<float> second;
    add_smooth_rows(random, 0.0, 400, noise, second);
    add_smooth_rows(random, 25.0, 9, noise, second);
    REQUIRE(f.learn(second).ok());
    const ClusterId id = f.score({25.0F, 0.0F, 0.0F}).id[0];
    if (id == f.score({0.0F, 0.0F, 0.0F}).id[0]) continue;  // not born yet
    std::vector<float> third;
    add_smooth_rows(random, 25.0, 600, noise, third);
    const auto scored = f.score(third);
    outnumbered += std::count_if(scored.novelty.begin(), scored.novelty.end(),
                                 [](float novelty) { return novelty > 0.5F; }) > 9
                       ? 1
                       : 0;
    REQUIRE(f.learn(third).ok());
    kept += f.score({25.0F, 0.0F, 0.0F}).id[0] == id ? 1 : 0;
  }
  CHECK(outnumbered >= 10);  // else nothing was asked
  CHECK(kept >= 19);
}

TEST_CASE("what was met is nobody's after a refusal") {
  LearnerFixture f(config());
  Philox random({.seed = 8});
  const std::vector<float> rows = two_styles(random, 200);
  REQUIRE(f.learner.learn(f.backend, view(rows), {}, 5.0).ok());
  LearnerFixture other(config());
  REQUIRE(other.learner.learn(other.backend, view(rows), {}, 5.0).ok());
  std::vector<float> far = rows;
  for (float& x : far) x += 50.0F;
  CHECK_FALSE(f.learner.learn(f.backend, view(far), {}, 4.0).ok());  // time runs backwards
  for (LearnerFixture* each : {&f, &other}) {
    REQUIRE(each->learner.begin(view(rows), {}, 1, 6.0).ok());
    CHECK_FALSE(each->learner.learn(each->backend, view(far), {}, 7.0).ok());  // a stream is open
    each->learner.close(each->backend);
  }
  CHECK(f.saved() == other.saved());
}

TEST_CASE("rows that stand for the past take part in the fit and are never counted") {
  LearnerFixture f(config());
  Philox random({.seed = 7});
  REQUIRE(f.learn(two_styles(random, 200)).ok());
  std::vector<float> rows = two_styles(random, 100);
  add_rows(random, 20.0, 50, rows);
  CHECK(f.learner.begin(view(rows), {}, 1, 0.0, 250).code() == StatusCode::kInvalidArgument);
  CHECK(f.learner.begin(view(rows), {}, 1, 0.0, -1).code() == StatusCode::kInvalidArgument);
  const double counted = f.learner.novelty_scale().rows();
  REQUIRE(f.learner.begin(view(rows), {}, 1, 0.0, 50).ok());
  f.learner.fit(f.backend);
  CHECK(f.learner.mixture().rows_learnt() == 650.0);
  CHECK(f.learner.mixture().clusters() > 1);  // they lie far from everything
  f.learner.close(f.backend);
  CHECK(f.learner.mixture().rows_learnt() == 600.0);
  CHECK(f.learner.novelty_scale().rows() == counted + 200.0);
  // A cluster of stand-ins alone is gone with them: nobody was told of a birth.
  CHECK(f.learner.mixture().clusters() == 1);
  CHECK(f.events_of(ClusterEventKind::kBorn).empty());
}

TEST_CASE("rows that resemble the row before them count as fewer") {
  const auto learn = [](LearnerFixture& f, double correlation, Philox& random) {
    std::vector<float> rows;
    std::vector<double> state(kDims);
    for (Index i = 0; i < 2000; ++i) {
      for (double& x : state) {
        x = correlation * x + std::sqrt(1.0 - correlation * correlation) * sample_normal(random);
        rows.push_back(static_cast<float>(x));
      }
    }
    const ConstMatrixView z(rows.data(), 2000, kDims);
    REQUIRE(f.learner.learn(f.backend, z, {}).ok());
    return f.learner.met_evidence();
  };
  for (const double correlation : {0.0, 0.5, 0.9}) {
    CAPTURE(correlation);
    LearnerFixture f(config());
    Philox random({.seed = 11});
    learn(f, 0.0, random);  // independent rows say how wide the cluster is
    const double evidence = learn(f, correlation, random);
    CHECK(evidence == doctest::Approx((1.0 - correlation) / (1.0 + correlation)).epsilon(0.2));
    CHECK(f.learner.mixture().rows_learnt() == 4000.0);
  }
}

namespace {

// Blocks of 200 ordinary rows, absorbed as they are, with a far row in each but the first ones.
struct RareRun {
  explicit RareRun(const LearnerConfig& config) : fixture(config) {
    Philox random({.seed = 21});
    std::vector<float> rows;
    add_rows(random, 0.0, 1500, rows);
    REQUIRE(fixture.learn(rows).ok());
    fixture.events.clear();
  }
  template <typename Far>
  void absorb(int blocks, const Far& far) {
    for (int b = 0; b < blocks; ++b) {
      Philox random({.seed = 22, .index = static_cast<std::uint32_t>(b)});
      std::vector<float> rows;
      add_rows(random, 0.0, 100, rows);
      far(random, b, rows);
      add_rows(random, 0.0, 99, rows);
      fixture.learner.meet(fixture.backend, view(rows), {});
      REQUIRE(fixture.learner.begin(view(rows), {}, 1).ok());
      fixture.learner.absorb(fixture.backend);
    }
  }
  LearnerFixture fixture;
};

}  // namespace

TEST_CASE("a state that shows one row in a block is born when there are enough of them") {
  RareRun run(config());
  run.absorb(
      12, [](Philox& random, int, std::vector<float>& rows) { add_rows(random, 25.0, 1, rows); });
  const ClusterLearner& learner = run.fixture.learner;
  REQUIRE(learner.mixture().clusters() == 2);
  CHECK(learner.rows_seen() == 1500.0 + 12 * 200.0);
  const auto born = std::count_if(
      run.fixture.events.begin(), run.fixture.events.end(),
      [](const ClusterEvent& event) { return event.kind == ClusterEventKind::kBorn; });
  CHECK(born == 1);
  // Its rows of all blocks, and nothing else, and the other cluster is as narrow as before.
  CHECK(learner.mixture().rows_of(1) == doctest::Approx(12.0).epsilon(0.02));
  const StatisticsRef old = learner.mixture().carried()[0];
  const StatisticsRef rare = learner.mixture().carried()[1];
  CHECK(old.scatter[0] / *old.mass < 1.2);
  CHECK(rare.mean[0] == doctest::Approx(25.0).epsilon(0.05));
}

TEST_CASE("outliers on all sides are no state, however many") {
  RareRun run(config());
  run.absorb(60, [](Philox& random, int b, std::vector<float>& rows) {
    add_rows(random, b % 2 == 0 ? 12.0 : -12.0, 1, rows);
  });
  CHECK(run.fixture.learner.mixture().clusters() == 1);
}

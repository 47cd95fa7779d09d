// Learning and scoring through the C API: results, refusals that change nothing, progress and stop.
#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <thread>

#include "adapvae/adapvae_experimental.h"
#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

adapvae_report make_report() {
  adapvae_report report = {};
  report.struct_size = sizeof report;
  return report;
}

}  // namespace

TEST_CASE("a stream is learnt, a new kind is novel, and then it is known") {
  Handle handle;
  CHECK(handle.info().clusters == 0);
  const auto nothing = handle.score(kinds(0, 0, 3, 9));
  for (const adapvae_result& row : nothing) {
    CHECK(row.id == ADAPVAE_NO_ID);
    CHECK(row.novelty == 1.0F);
    CHECK(row.flags == (ADAPVAE_NOTHING_LEARNT | ADAPVAE_NOVEL));
  }
  adapvae_report report = make_report();
  const auto first = kinds(0, 2, 300, 1);
  REQUIRE(adapvae_learn(handle.model, first.data(), 300, 0, &report) == ADAPVAE_OK);
  CHECK(report.streams == 1);
  CHECK(report.rows == 300);
  CHECK(report.clusters >= 3);
  CHECK(std::isfinite(report.bound));
  CHECK(report.log_likelihood != 0.0);

  int novel = 0;
  for (const adapvae_result& row : handle.score(kinds(3, 3, 100, 2))) {
    novel += row.novelty > 0.5F ? 1 : 0;
    CHECK(((row.flags & ADAPVAE_NOVEL) != 0) == (row.novelty > 0.5F));
  }
  CHECK(novel > 90);
  int known = 0;
  const auto before = handle.score(kinds(0, 2, 300, 3));
  for (const adapvae_result& row : before) known += row.novelty <= 0.5F ? 1 : 0;
  CHECK(known > 280);

  handle.learn(kinds(0, 3, 400, 4));
  novel = 0;
  for (const adapvae_result& row : handle.score(kinds(3, 3, 100, 2))) {
    novel += row.novelty > 0.5F ? 1 : 0;
  }
  CHECK(novel < 20);
  // Ids of what was there are as they were.
  const auto after = handle.score(kinds(0, 2, 300, 3));
  int kept = 0;
  for (size_t i = 0; i < after.size(); ++i) kept += after[i].id == before[i].id ? 1 : 0;
  CHECK(kept > 285);
}

TEST_CASE("a stride is obeyed") {
  const auto packed = kinds(0, 2, 300, 1);
  constexpr int32_t kStride = kInputs + 3;
  std::vector<float> wide(300 * kStride, kNaN);
  for (size_t i = 0; i < 300; ++i) {
    std::copy_n(&packed[i * kInputs], kInputs, &wide[i * kStride]);
  }
  Handle a, b;
  a.learn(packed);
  REQUIRE(adapvae_learn(b.model, wide.data(), 300, kStride, nullptr) == ADAPVAE_OK);
  CHECK(a.save() == b.save());
  std::vector<adapvae_result> results(300);
  REQUIRE(adapvae_score(b.model, wide.data(), 300, kStride, results.data()) == ADAPVAE_OK);
  CHECK(same(results, a.score(packed)));
}

TEST_CASE("probabilities of all clusters have the score's as their largest") {
  Handle handle;
  const auto rows = kinds(0, 3, 300, 1);
  float untouched = 7.0F;
  REQUIRE(adapvae_probabilities(handle.model, rows.data(), 300, 0, &untouched) == ADAPVAE_OK);
  CHECK(untouched == 7.0F);  // nothing is learnt: there are no columns
  handle.learn(rows);
  adapvae_info info = {};
  info.struct_size = sizeof info;
  REQUIRE(adapvae_get_info(handle.model, &info) == ADAPVAE_OK);
  REQUIRE(info.clusters > 1);
  const auto clusters = static_cast<size_t>(info.clusters);
  std::vector<float> all(300 * clusters);
  REQUIRE(adapvae_probabilities(handle.model, rows.data(), 300, 0, all.data()) == ADAPVAE_OK);
  const auto results = handle.score(rows);
  for (size_t i = 0; i < 300; ++i) {
    const float* row = &all[i * clusters];
    CHECK(std::accumulate(row, row + clusters, 0.0) == doctest::Approx(1.0).epsilon(1e-5));
    const float* best = std::max_element(row, row + clusters);
    CHECK(*best == results[i].probability);
    adapvae_cluster cluster = {};
    cluster.struct_size = sizeof cluster;
    REQUIRE(adapvae_cluster_at(handle.model, static_cast<int32_t>(best - row), &cluster) ==
            ADAPVAE_OK);
    CHECK(cluster.id == results[i].id);
  }
}

TEST_CASE("a call that is refused says why and changes nothing") {
  Handle handle;
  handle.learn(kinds(0, 2, 300, 1));
  const auto bytes = handle.save();
  auto rows = kinds(0, 2, 300, 2);
  adapvae_model* const model = handle.model;
  std::vector<adapvae_result> results(300);
  std::vector<float> out(300 * kInputs);

  CHECK(adapvae_learn(nullptr, rows.data(), 300, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_learn(model, nullptr, 300, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_learn(model, rows.data(), -1, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_learn(model, rows.data(), 0, 0, nullptr) == ADAPVAE_SHAPE_MISMATCH);
  CHECK(adapvae_learn(model, rows.data(), 300, kInputs - 1, nullptr) == ADAPVAE_SHAPE_MISMATCH);
  CHECK(adapvae_learn(model, rows.data(), 300, -kInputs, nullptr) == ADAPVAE_SHAPE_MISMATCH);
  CHECK(adapvae_learn(model, rows.data(), 401, 0, nullptr) == ADAPVAE_SHAPE_MISMATCH);
  adapvae_report report = {};  // without its size
  CHECK(adapvae_learn(model, rows.data(), 300, 0, &report) == ADAPVAE_INVALID_ARGUMENT);
  const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(rows.data()) + 1);
  CHECK(adapvae_learn(model, odd, 299, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(handle.message().find("aligned") != std::string::npos);
  CHECK(adapvae_score(model, rows.data(), 300, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_score(model, rows.data(), 0, 0, nullptr) == ADAPVAE_OK);
  CHECK(adapvae_score(model, nullptr, 0, 0, nullptr) == ADAPVAE_OK);
  CHECK(adapvae_encode(model, rows.data(), 300, 0, nullptr, out.data()) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_set_time(model, kNaN) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_set_budget(model, -1.0) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_set_budget(model, kInf) == ADAPVAE_INVALID_ARGUMENT);

  for (const float bad : {kNaN, kInf, -kInf}) {
    rows[217 * kInputs + 5] = bad;
    adapvae_error error = {};
    error.struct_size = sizeof error;
    for (const bool learn : {true, false}) {
      const adapvae_status status = learn
                                        ? adapvae_learn(model, rows.data(), 300, 0, nullptr)
                                        : adapvae_score(model, rows.data(), 300, 0, results.data());
      CHECK(status == ADAPVAE_NON_FINITE);
      REQUIRE(adapvae_last_error(model, &error) == ADAPVAE_OK);
      CHECK(error.status == ADAPVAE_NON_FINITE);
      CHECK(error.index == 217);
    }
    CHECK(adapvae_push(model, rows.data(), 300, 0, nullptr) == ADAPVAE_NON_FINITE);
  }
  CHECK(handle.save() == bytes);
  CHECK(std::string(adapvae_status_name(ADAPVAE_NON_FINITE)) == "ADAPVAE_NON_FINITE");
  CHECK(std::string(adapvae_status_name(-5)) == "unknown status");
}

TEST_CASE("a push whose second block fails says that the first is learnt") {
  adapvae_config config = small_config();
  config.block_rows = config.pass_rows = 60;
  config.learning_rate = 1.0;
  config.pretrain_epochs = config.adapt_epochs = 5;
  auto rows = kinds(0, 2, 150, 1);
  Handle alone(config);
  REQUIRE(adapvae_learn(alone.model, rows.data(), 60, 0, nullptr) == ADAPVAE_OK);
  const auto first = alone.save();
  for (size_t i = 60 * kInputs; i < rows.size(); ++i) rows[i] *= 1e11F;
  REQUIRE(adapvae_learn(alone.model, &rows[60 * kInputs], 60, 0, nullptr) == ADAPVAE_DIVERGED);
  CHECK(alone.save() == first);
  Handle handle(config);
  adapvae_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adapvae_push(handle.model, rows.data(), 150, 0, &report) == ADAPVAE_DIVERGED);
  CHECK(report.streams == 1);
  CHECK(handle.info().rows_waiting == 0);
  CHECK(handle.save() == first);
  // Nothing is learnt, nothing is said.
  report.streams = 7;
  REQUIRE(adapvae_push(handle.model, &rows[60 * kInputs], 60, 0, &report) == ADAPVAE_DIVERGED);
  CHECK(report.streams == 7);
  CHECK(handle.save() == first);
}

TEST_CASE("pushed rows wait for a stream") {
  Handle whole, pieces;
  const auto rows = kinds(0, 2, 1000, 1);
  adapvae_report report = make_report();
  for (int32_t at = 0; at < 800; at += 400) {
    REQUIRE(adapvae_learn(whole.model, &rows[static_cast<size_t>(at) * kInputs], 400, 0, nullptr) ==
            ADAPVAE_OK);
  }
  int streams = 0;
  for (int32_t at = 0; at < 1000; at += 50) {
    REQUIRE(adapvae_push(pieces.model, &rows[static_cast<size_t>(at) * kInputs], 50, 0, &report) ==
            ADAPVAE_OK);
    streams += report.streams;
    CHECK(report.rows == (report.streams > 0 ? 400 : 0));
  }
  CHECK(streams == 2);
  CHECK(pieces.info().rows_waiting == 200);
  CHECK(adapvae_learn(pieces.model, rows.data(), 400, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  // Resumed from a file, with rows that wait.
  Handle resumed;
  const auto bytes = pieces.save();
  REQUIRE(adapvae_load(resumed.model, bytes.data(), bytes.size()) == ADAPVAE_OK);
  for (const Handle* handle : {&pieces, &resumed}) {
    REQUIRE(adapvae_flush(handle->model, &report) == ADAPVAE_OK);
    CHECK(report.streams == 1);
    CHECK(report.rows == 200);
    REQUIRE(adapvae_flush(handle->model, &report) == ADAPVAE_OK);
    CHECK(report.streams == 0);
  }
  CHECK(pieces.save() == resumed.save());
  REQUIRE(adapvae_learn(whole.model, &rows[800 * kInputs], 200, 0, nullptr) == ADAPVAE_OK);
  CHECK(whole.save() == pieces.save());
}

TEST_CASE("time goes on, also over a file") {
  Handle handle;
  REQUIRE(adapvae_set_time(handle.model, 50.0) == ADAPVAE_OK);
  handle.learn(kinds(0, 2, 300, 1));
  CHECK(handle.info().time == 50.0);
  CHECK(adapvae_set_time(handle.model, 49.0) == ADAPVAE_INVALID_ARGUMENT);
  REQUIRE(adapvae_set_time(handle.model, 60.0) == ADAPVAE_OK);
  handle.learn(kinds(0, 2, 300, 2));
  const auto bytes = handle.save();
  Handle other;
  REQUIRE(adapvae_load(other.model, bytes.data(), bytes.size()) == ADAPVAE_OK);
  other.learn(kinds(0, 2, 300, 3));  // at the time of the last stream
  CHECK(other.info().time == 60.0);
}

namespace {

struct Watcher {
  adapvae_model* model = nullptr;
  int calls = 0;
  double fraction = 0.0;
  int stop_at = 0;
  bool by_call = false;  // by adapvae_stop()
  int busy = 0;

  static int32_t watch(void* context, int32_t stage, double fraction) {
    auto* self = static_cast<Watcher*>(context);
    ++self->calls;
    CHECK(fraction >= self->fraction);
    CHECK(stage >= ADAPVAE_STAGE_PRETRAIN);
    CHECK(stage <= ADAPVAE_STAGE_CLOSE);
    self->fraction = fraction;
    // Nothing can be called from here, and nothing breaks.
    float row[kInputs] = {};
    adapvae_result result;
    size_t size = 0;
    if (adapvae_score(self->model, row, 1, 0, &result) == ADAPVAE_BUSY &&
        adapvae_learn(self->model, row, 1, 0, nullptr) == ADAPVAE_BUSY &&
        adapvae_save(self->model, nullptr, 0, &size) == ADAPVAE_BUSY &&
        adapvae_reset(self->model) == ADAPVAE_BUSY && adapvae_resolve(self->model, 1) == 0) {
      ++self->busy;
    }
    adapvae_destroy(self->model);  // is not obeyed either
    if (self->calls != self->stop_at) return 1;
    if (!self->by_call) return 0;
    adapvae_stop(self->model);
    return 1;
  }
};

}  // namespace

TEST_CASE("progress is told, and a stop leaves a model that goes on") {
  const auto rows = kinds(0, 2, 300, 1);
  Handle plain;
  plain.learn(rows);
  for (const bool by_call : {false, true}) {
    Handle handle;
    Watcher watcher;
    watcher.model = handle.model;
    REQUIRE(adapvae_set_progress(handle.model, Watcher::watch, &watcher) == ADAPVAE_OK);
    handle.learn(rows);
    CHECK(watcher.calls > 50);
    CHECK(watcher.busy == watcher.calls);
    CHECK(watcher.fraction == 1.0);
    CHECK(handle.save() == plain.save());

    watcher.calls = 0;
    watcher.fraction = 0.0;
    watcher.stop_at = 10;
    watcher.by_call = by_call;
    adapvae_report report = make_report();
    REQUIRE(adapvae_learn(handle.model, rows.data(), 300, 0, &report) == ADAPVAE_OK);
    CHECK(report.stopped == 1);
    CHECK(watcher.calls < 14);
    CHECK(handle.info().rows == 600);
    watcher.stop_at = 0;
    watcher.fraction = 0.0;
    REQUIRE(adapvae_learn(handle.model, rows.data(), 300, 0, &report) == ADAPVAE_OK);
    CHECK(report.stopped == 0);
  }
}

TEST_CASE("a stop from another thread, and before anything is learnt") {
  adapvae_config config = small_config();
  config.pretrain_epochs = 100000;
  Handle handle(config);
  adapvae_stop(handle.model);  // nothing is being learnt
  adapvae_stop(nullptr);
  std::atomic<bool> started{false};
  REQUIRE(adapvae_set_progress(
              handle.model,
              [](void* context, int32_t, double) -> int32_t {
                *static_cast<std::atomic<bool>*>(context) = true;
                return 1;
              },
              &started) == ADAPVAE_OK);
  std::thread other([&] {
    while (!started) std::this_thread::yield();
    adapvae_stop(handle.model);
  });
  adapvae_report report = make_report();
  const auto rows = kinds(0, 2, 300, 1);
  REQUIRE(adapvae_learn(handle.model, rows.data(), 300, 0, &report) == ADAPVAE_OK);
  other.join();
  CHECK(report.stopped == 1);
}

TEST_CASE("a budget is kept by the caller's clock") {
  double now = 0.0;
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.clock_context = &now;
  options.clock = [](void* context) { return *static_cast<double*>(context) += 0.01; };
  Handle handle(small_config(), &options);
  REQUIRE(adapvae_set_budget(handle.model, 1.0) == ADAPVAE_OK);
  adapvae_report report = make_report();
  const auto rows = kinds(0, 2, 300, 1);
  REQUIRE(adapvae_learn(handle.model, rows.data(), 300, 0, &report) == ADAPVAE_OK);
  CHECK(report.stopped == 1);
  CHECK(now < 1.5);
  CHECK(now > 0.3);
  // The system's clock will do as well.
  Handle other;
  REQUIRE(adapvae_set_budget(other.model, 0.001) == ADAPVAE_OK);
  REQUIRE(adapvae_learn(other.model, rows.data(), 300, 0, &report) == ADAPVAE_OK);
  CHECK(report.stopped == 1);
}

TEST_CASE("features, rows made up, and what comes back") {
  Handle handle;
  const auto rows = kinds(0, 2, 300, 1);
  adapvae_model* const model = handle.model;
  std::vector<float> z(300 * kLatent), variance(z.size()), back(rows.size()), made(rows.size());
  // Before anything is learnt there is a network, but nobody to draw from.
  CHECK(adapvae_encode(model, rows.data(), 300, 0, z.data(), nullptr) == ADAPVAE_OK);
  CHECK(adapvae_generate(model, 0, 1, 10, made.data(), nullptr, nullptr) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_generate(model, 7, 1, 10, made.data(), nullptr, nullptr) == ADAPVAE_UNAVAILABLE);
  handle.learn(rows);
  const auto bytes = handle.save();
  REQUIRE(adapvae_encode(model, rows.data(), 300, 0, z.data(), variance.data()) == ADAPVAE_OK);
  REQUIRE(adapvae_decode(model, z.data(), 300, 0, back.data()) == ADAPVAE_OK);
  REQUIRE(adapvae_reconstruct(model, rows.data(), 300, 0, made.data()) == ADAPVAE_OK);
  CHECK(back == made);
  double error = 0.0;
  for (size_t i = 0; i < rows.size(); ++i) error += std::pow(rows[i] - back[i], 2);
  CHECK(error / static_cast<double>(rows.size()) < 0.3);
  for (const float v : variance) CHECK(v > 0.0F);

  // A draw from a cluster is of that cluster.
  const adapvae_id id = handle.score(rows)[0].id;
  std::vector<adapvae_id> ids(100);
  REQUIRE(adapvae_generate(model, id, 5, 100, made.data(), z.data(), ids.data()) == ADAPVAE_OK);
  int own = 0;
  made.resize(100 * kInputs);
  for (const adapvae_result& row : handle.score(made)) own += row.id == id ? 1 : 0;
  CHECK(own > 80);
  for (const adapvae_id each : ids) CHECK(each == id);
  // Row i of a seed is the same, however many are drawn.
  std::vector<float> few(3 * kInputs);
  REQUIRE(adapvae_generate(model, id, 5, 3, few.data(), nullptr, nullptr) == ADAPVAE_OK);
  CHECK(std::equal(few.begin(), few.end(), made.begin()));
  CHECK(adapvae_generate(model, 999, 5, 3, few.data(), nullptr, nullptr) ==
        ADAPVAE_UNKNOWN_CLUSTER);
  CHECK(adapvae_generate(model, id, 5, 3, nullptr, nullptr, ids.data()) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_generate(model, id, 5, -3, few.data(), nullptr, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);

  // An interpolation begins and ends at the clusters' means.
  std::vector<double> mean(kLatent), covariance(kLatent * kLatent);
  REQUIRE(adapvae_moments(model, id, mean.data(), covariance.data()) == ADAPVAE_OK);
  std::vector<float> path(5 * kLatent);
  const adapvae_id other = handle.score(rows)[1].id;
  REQUIRE(adapvae_interpolate(model, id, other, 5, nullptr, path.data()) == ADAPVAE_OK);
  for (size_t j = 0; j < kLatent; ++j) {
    CHECK(path[j] == doctest::Approx(mean[j]));
    CHECK(covariance[j * kLatent + j] > 0.0);
    CHECK(covariance[j] == covariance[j * kLatent]);
  }
  CHECK(adapvae_interpolate(model, id, 999, 5, nullptr, path.data()) == ADAPVAE_UNKNOWN_CLUSTER);
  CHECK(adapvae_moments(model, 999, mean.data(), nullptr) == ADAPVAE_UNKNOWN_CLUSTER);
  CHECK(handle.save() == bytes);
}

TEST_CASE("features can come from rows given apart") {
  Handle handle;
  const auto rows = kinds(0, 4, 500, 1);
  REQUIRE(adapvae_pretrain(handle.model, rows.data(), 500, 0) == ADAPVAE_OK);
  CHECK(handle.info().clusters == 0);
  CHECK(handle.info().rows == 0);
  handle.learn(kinds(0, 2, 300, 2));
  CHECK(handle.info().rows == 300);
  CHECK(handle.info().clusters >= 3);
  CHECK(adapvae_pretrain(handle.model, rows.data(), 500, 0) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_pretrain(nullptr, rows.data(), 500, 0) == ADAPVAE_INVALID_ARGUMENT);
}

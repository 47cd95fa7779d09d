// What the header promises of every call: a wrong one is refused and changes nothing, structs of
// any size are served, results are finite, text fits.
#include <algorithm>
#include <cfloat>
#include <cstdlib>
#include <functional>
#include <limits>

#include "adapvae/adapvae_experimental.h"
#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

template <typename T>
T sized() {
  T out = {};
  out.struct_size = sizeof out;
  return out;
}

// All that wrong calls may write to, to see that they do not.
struct Outputs {
  Outputs() { std::memset(static_cast<void*>(this), 0x77, sizeof *this); }
  adapvae_result results[8];
  float rows[8 * kInputs];
  float features[8 * kLatent];
  double mean[kLatent];
  double covariance[kLatent * kLatent];
  adapvae_id ids[8];
  char text[64];
  size_t size;
  bool untouched() const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(this);
    return std::all_of(bytes, bytes + sizeof *this, [](unsigned char b) { return b == 0x77; });
  }
};

struct Wrong {
  const char* name;
  adapvae_status expected;
  std::function<adapvae_status(adapvae_model*, Outputs&)> call;
};

template <typename T>
T* odd(T* pointer) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) + 1);
}

// Two clusters, rows that wait, a correction that could be undone.
struct Busy {
  Busy() {
    handle.learn(kinds(0, 2, 300, 1));
    const auto rows = kinds(0, 2, 30, 2);
    REQUIRE(adapvae_set_time(handle.model, 5.0) == ADAPVAE_OK);
    REQUIRE(adapvae_push(handle.model, rows.data(), 7, 0, nullptr) == ADAPVAE_OK);
    id = handle.score(rows)[0].id;
    other = handle.score(rows)[1].id;
    REQUIRE(adapvae_label(handle.model, id, "known") == ADAPVAE_OK);
  }
  Handle handle;
  adapvae_id id = 0;
  adapvae_id other = 0;
};

}  // namespace

TEST_CASE("every call that is wrong is refused, and changes neither the model nor an output") {
  Busy busy;
  const adapvae_id id = busy.id;
  auto good = kinds(0, 2, 8, 3);
  auto bad = good;
  bad[3 * kInputs + 2] = kNaN;
  const float* const rows = good.data();
  const float* const nan = bad.data();
  const auto bytes = busy.handle.save();
  auto damaged = bytes;
  damaged[damaged.size() / 2] ^= 16U;
  adapvae_config other_config = small_config();
  other_config.hidden1 = 33;
  Handle other(other_config);
  const auto other_bytes = other.save();
  const std::vector<float> features(8 * kLatent, 0.5F);
  std::vector<float> nan_features = features;
  nan_features[5] = -std::numeric_limits<float>::infinity();
  adapvae_error no_size = {};
  adapvae_event event = sized<adapvae_event>();
  const std::string long_name(ADAPVAE_NAME_BYTES, 'x');

  std::vector<Wrong> all;
  const auto add = [&all](const char* name, adapvae_status expected, auto call) {
    all.push_back({name, expected, call});
  };
  using M = adapvae_model*;
  using O = Outputs&;
  constexpr auto kArgument = ADAPVAE_INVALID_ARGUMENT;
  constexpr auto kShape = ADAPVAE_SHAPE_MISMATCH;
  constexpr auto kUnknown = ADAPVAE_UNKNOWN_CLUSTER;

  // Rows, by every call that takes them.
  using Take = adapvae_status (*)(M, const float*, int32_t, int32_t, O);
  const std::pair<const char*, Take> takers[] = {
      {"learn", [](M m, const float* r, int32_t n, int32_t s,
                   O) { return adapvae_learn(m, r, n, s, nullptr); }},
      {"push", [](M m, const float* r, int32_t n, int32_t s,
                  O) { return adapvae_push(m, r, n, s, nullptr); }},
      {"pretrain",
       [](M m, const float* r, int32_t n, int32_t s, O) { return adapvae_pretrain(m, r, n, s); }},
      {"score", [](M m, const float* r, int32_t n, int32_t s,
                   O o) { return adapvae_score(m, r, n, s, o.results); }},
      {"probabilities", [](M m, const float* r, int32_t n, int32_t s,
                           O o) { return adapvae_probabilities(m, r, n, s, o.rows); }},
      {"encode", [](M m, const float* r, int32_t n, int32_t s,
                    O o) { return adapvae_encode(m, r, n, s, o.features, nullptr); }},
      {"reconstruct", [](M m, const float* r, int32_t n, int32_t s,
                         O o) { return adapvae_reconstruct(m, r, n, s, o.rows); }},
      {"decode", [](M m, const float* r, int32_t n, int32_t s,
                    O o) { return adapvae_decode(m, r, n, s, o.rows); }},
  };
  for (const auto& [name, take] : takers) {
    const Take t = take;
    const bool latent = std::string(name) == "decode";
    const float* const fine = latent ? features.data() : rows;
    const float* const broken = latent ? nan_features.data() : nan;
    add(name, kArgument, [=](M, O o) { return t(nullptr, fine, 8, 0, o); });
    add(name, kArgument, [=](M m, O o) { return t(m, nullptr, 8, 0, o); });
    add(name, kArgument, [=](M m, O o) { return t(m, fine, -1, 0, o); });
    add(name, kArgument, [=](M m, O o) { return t(m, odd(fine), 7, 0, o); });
    add(name, kArgument, [=](M m, O o) { return t(m, fine, kMost, kMost, o); });
    add(name, kShape, [=](M m, O o) { return t(m, fine, 8, (latent ? kLatent : kInputs) - 1, o); });
    add(name, kShape, [=](M m, O o) { return t(m, fine, 8, -1000, o); });
    if (std::string(name) == "pretrain" || std::string(name) == "learn") continue;  // rows wait
    add(name, ADAPVAE_NON_FINITE, [=](M m, O o) { return t(m, broken, 8, 0, o); });
  }
  add("learn", kArgument,
      [=](M m, O) { return adapvae_learn(m, rows, 8, 0, nullptr); });                   // rows wait
  add("pretrain", kArgument, [=](M m, O) { return adapvae_pretrain(m, rows, 8, 0); });  // too late
  add("push", kArgument, [=](M m, O) {
    adapvae_report report = {};
    return adapvae_push(m, rows, 8, 0, &report);
  });
  add("flush", kArgument, [](M m, O) {
    adapvae_report report = {};
    return adapvae_flush(m, &report);
  });
  add("flush", kArgument, [](M, O) { return adapvae_flush(nullptr, nullptr); });
  add("score", kArgument, [=](M m, O) { return adapvae_score(m, rows, 8, 0, nullptr); });
  add("score", kArgument, [=](M m, O o) { return adapvae_score(m, rows, 7, 0, odd(o.results)); });
  add("probabilities", kArgument,
      [=](M m, O) { return adapvae_probabilities(m, rows, 8, 0, nullptr); });
  add("encode", kArgument,
      [=](M m, O o) { return adapvae_encode(m, rows, 8, 0, nullptr, o.rows); });
  add("encode", kArgument,
      [=](M m, O o) { return adapvae_encode(m, rows, 7, 0, o.features, odd(o.rows)); });
  add("decode", kArgument,
      [&](M m, O) { return adapvae_decode(m, features.data(), 8, 0, nullptr); });
  add("reconstruct", kArgument,
      [=](M m, O o) { return adapvae_reconstruct(m, rows, 7, 0, odd(o.rows)); });

  // Rows made up.
  add("generate", kArgument,
      [=](M, O o) { return adapvae_generate(nullptr, id, 1, 8, o.rows, nullptr, nullptr); });
  add("generate", kArgument,
      [=](M m, O o) { return adapvae_generate(m, id, 1, -8, o.rows, nullptr, nullptr); });
  add("generate", kArgument,
      [=](M m, O o) { return adapvae_generate(m, id, 1, 8, nullptr, nullptr, o.ids); });
  add("generate", kArgument,
      [=](M m, O o) { return adapvae_generate(m, id, 1, 7, odd(o.rows), nullptr, nullptr); });
  add("generate", kArgument,
      [=](M m, O o) { return adapvae_generate(m, id, 1, 7, o.rows, nullptr, odd(o.ids)); });
  add("generate", kUnknown,
      [](M m, O o) { return adapvae_generate(m, 999, 1, 8, o.rows, o.features, o.ids); });
  add("interpolate", kArgument,
      [=](M, O o) { return adapvae_interpolate(nullptr, id, id, 8, o.rows, nullptr); });
  add("interpolate", kArgument,
      [=](M m, O o) { return adapvae_interpolate(m, id, id, -8, o.rows, nullptr); });
  add("interpolate", kArgument,
      [=](M m, O) { return adapvae_interpolate(m, id, id, 8, nullptr, nullptr); });
  add("interpolate", kUnknown,
      [=](M m, O o) { return adapvae_interpolate(m, id, 999, 8, o.rows, nullptr); });
  add("interpolate", kUnknown,
      [=](M m, O o) { return adapvae_interpolate(m, ADAPVAE_NO_ID, id, 8, o.rows, nullptr); });

  // Clusters and corrections.
  adapvae_cluster cluster = sized<adapvae_cluster>();
  add("cluster_at", kArgument, [&](M, O) { return adapvae_cluster_at(nullptr, 0, &cluster); });
  add("cluster_at", kArgument, [&](M m, O) { return adapvae_cluster_at(m, -1, &cluster); });
  add("cluster_at", kArgument, [&](M m, O) { return adapvae_cluster_at(m, kMost, &cluster); });
  add("cluster_at", kArgument, [](M m, O) { return adapvae_cluster_at(m, 0, nullptr); });
  add("cluster_at", kArgument, [](M m, O) {
    adapvae_cluster none = {};
    return adapvae_cluster_at(m, 0, &none);
  });
  add("cluster_of", kUnknown, [&](M m, O) { return adapvae_cluster_of(m, 999, &cluster); });
  add("cluster_of", kUnknown, [&](M m, O) { return adapvae_cluster_of(m, 0, &cluster); });
  add("cluster_of", kArgument, [=](M m, O) { return adapvae_cluster_of(m, id, nullptr); });
  add("moments", kArgument, [=](M, O o) { return adapvae_moments(nullptr, id, o.mean, nullptr); });
  add("moments", kUnknown, [](M m, O o) { return adapvae_moments(m, 999, o.mean, o.covariance); });
  add("moments", kArgument, [=](M m, O o) { return adapvae_moments(m, id, odd(o.mean), nullptr); });
  add("get_info", kArgument, [](M m, O) { return adapvae_get_info(m, nullptr); });
  add("get_info", kArgument, [](M m, O) {
    adapvae_info none = {};
    return adapvae_get_info(m, &none);
  });
  add("label", kArgument, [=](M, O) { return adapvae_label(nullptr, id, "x"); });
  add("label", kArgument, [=](M m, O) { return adapvae_label(m, id, nullptr); });
  add("label", kArgument, [&, id](M m, O) { return adapvae_label(m, id, long_name.c_str()); });
  add("label", kArgument, [=](M m, O) { return adapvae_label(m, id, "\xFF not UTF-8"); });
  add("label", kUnknown, [](M m, O) { return adapvae_label(m, 999, "x"); });
  double gain = 7.0;
  add("merge", kArgument, [=](M, O) { return adapvae_merge(nullptr, id, id, 1, nullptr); });
  add("merge", kArgument, [=](M m, O) { return adapvae_merge(m, id, id, 1, nullptr); });
  add("merge", kUnknown, [&, id](M m, O) { return adapvae_merge(m, id, 999, 1, &gain); });
  add("merge", ADAPVAE_REFUSED,
      [=, second = busy.other](M m, O) { return adapvae_merge(m, id, second, 0, nullptr); });
  add("split", kArgument, [=](M, O) { return adapvae_split(nullptr, id, 1, nullptr, nullptr); });
  add("split", kUnknown, [](M m, O o) { return adapvae_split(m, 999, 1, o.ids, nullptr); });
  add("split", ADAPVAE_REFUSED, [=](M m, O o) { return adapvae_split(m, id, 0, o.ids, nullptr); });
  add("forget", kArgument, [=](M, O) { return adapvae_forget(nullptr, id); });
  add("forget", kUnknown, [](M m, O) { return adapvae_forget(m, 999); });
  add("undo", kArgument, [](M, O) { return adapvae_undo(nullptr); });

  // Settings.
  add("set", kArgument, [](M, O) { return adapvae_set(nullptr, "batch", "3"); });
  add("set", kArgument, [](M m, O) { return adapvae_set(m, "batch", nullptr); });
  add("set", kArgument, [](M m, O) { return adapvae_set(m, "nobody", "1"); });
  add("set", kArgument, [](M m, O) { return adapvae_set(m, "latent", "5"); });
  add("set", kArgument, [](M m, O) { return adapvae_set(m, "batch", "-5"); });
  add("set", kArgument, [](M m, O) { return adapvae_set(m, "replay_ratio", "50"); });
  add("set_sensitivity", kArgument, [](M m, O) { return adapvae_set_sensitivity(m, kNaN); });
  add("set_sensitivity", kArgument, [](M, O) { return adapvae_set_sensitivity(nullptr, 1.0); });
  add("set_time", kArgument, [](M m, O) { return adapvae_set_time(m, 4.0); });
  add("set_time", kArgument, [](M m, O) { return adapvae_set_time(m, kNaN); });
  add("set_time", kArgument, [](M, O) { return adapvae_set_time(nullptr, 9.0); });
  add("set_budget", kArgument, [](M m, O) { return adapvae_set_budget(m, -1.0); });
  add("set_budget", kArgument, [](M, O) { return adapvae_set_budget(nullptr, 1.0); });
  add("set_progress", kArgument,
      [](M, O) { return adapvae_set_progress(nullptr, nullptr, nullptr); });
  add("get_config", kArgument, [](M m, O) { return adapvae_get_config(m, nullptr); });
  add("reset", kArgument, [](M, O) { return adapvae_reset(nullptr); });
  add("last_error", kArgument, [](M m, O) { return adapvae_last_error(m, nullptr); });
  add("last_error", kArgument, [&](M m, O) { return adapvae_last_error(m, &no_size); });

  // Events and explanations.
  add("next_event", kArgument, [&](M, O) { return adapvae_next_event(nullptr, &event); });
  add("next_event", kArgument, [](M m, O) { return adapvae_next_event(m, nullptr); });
  add("next_event", kArgument, [](M m, O) {
    adapvae_event small = sized<adapvae_event>();
    small.struct_size = 16;
    return adapvae_next_event(m, &small);
  });
  add("event_text", kArgument,
      [](M, O o) { return adapvae_event_text(nullptr, 0, o.text, sizeof o.text, &o.size); });
  add("event_text", kArgument,
      [&](M, O) { return adapvae_event_text(&event, 0, nullptr, 9, nullptr); });
  add("explain", kArgument,
      [=](M, O o) { return adapvae_explain(nullptr, rows, 0, o.text, 64, &o.size); });
  add("explain", kArgument,
      [=](M m, O o) { return adapvae_explain(m, rows, 9, o.text, 64, &o.size); });
  add("explain", kArgument,
      [=](M m, O) { return adapvae_explain(m, rows, 0, nullptr, 64, nullptr); });
  add("explain", kArgument,
      [](M m, O o) { return adapvae_explain(m, nullptr, 0, o.text, 64, nullptr); });
  add("explain", ADAPVAE_NON_FINITE,
      [=](M m, O o) { return adapvae_explain(m, nan + 3 * kInputs, 0, o.text, 64, &o.size); });
  add("explain", ADAPVAE_OUT_OF_MEMORY,
      [=](M m, O o) { return adapvae_explain(m, rows, 0, o.text, 64, nullptr); });

  // Files.
  add("save", kArgument, [](M, O o) { return adapvae_save(nullptr, o.rows, 64, &o.size); });
  add("save", kArgument, [](M m, O o) { return adapvae_save(m, o.rows, 64, nullptr); });
  add("save", kArgument, [](M m, O o) { return adapvae_save(m, nullptr, 64, &o.size); });
  add("load", kArgument, [&](M, O) { return adapvae_load(nullptr, bytes.data(), bytes.size()); });
  add("load", kArgument, [&](M m, O) { return adapvae_load(m, nullptr, bytes.size()); });
  add("load", kArgument,
      [&](M m, O) { return adapvae_load(m, other_bytes.data(), other_bytes.size()); });
  add("load", ADAPVAE_CORRUPT_DATA,
      [&](M m, O) { return adapvae_load(m, bytes.data(), bytes.size() - 1); });
  add("load", ADAPVAE_CORRUPT_DATA,
      [&](M m, O) { return adapvae_load(m, damaged.data(), damaged.size()); });
  add("inspect", kArgument, [&](M, O) {
    adapvae_snapshot none = {};
    return adapvae_inspect(bytes.data(), bytes.size(), &none, nullptr, nullptr);
  });
  adapvae_model* made = nullptr;
  add("create_from", kArgument, [&](M, O) {
    return adapvae_create_from(bytes.data(), bytes.size(), nullptr, nullptr, nullptr);
  });
  add("create_from", ADAPVAE_CORRUPT_DATA, [&](M, O) {
    return adapvae_create_from(damaged.data(), damaged.size(), nullptr, &made, nullptr);
  });
  add("create_scorer", kArgument,
      [](M m, O) { return adapvae_create_scorer(m, nullptr, nullptr, nullptr); });
  add("create_scorer_from", kArgument, [&](M, O) {
    return adapvae_create_scorer_from(nullptr, 9, nullptr, &made, nullptr, nullptr);
  });
  add("create_scorer_from", kArgument, [](M, O) {
    return adapvae_create_scorer_from(nullptr, 9, nullptr, nullptr, nullptr, nullptr);
  });
  add("memory_required", kArgument,
      [&](M, O) { return adapvae_memory_required(&other_config, nullptr, nullptr, nullptr); });
  add("evaluate", kArgument, [](M, O o) {
    adapvae_metrics metrics = sized<adapvae_metrics>();
    const int32_t label = 1;
    return adapvae_evaluate(&label, o.ids, -1, nullptr, &metrics, nullptr);
  });

  for (const Wrong& wrong : all) {
    const std::string name = wrong.name;
    CAPTURE(name);
    CAPTURE(&wrong - all.data());
    Outputs outputs;
    CHECK(wrong.call(busy.handle.model, outputs) == wrong.expected);
    CHECK(outputs.untouched());
    CHECK(made == nullptr);
    CHECK(busy.handle.save() == bytes);
  }
  CHECK(gain == 7.0);
  CHECK(busy.handle.info().undo_steps == 1);

  // And all of it leaves a model that goes on as one to which nothing of it happened.
  Busy quiet;
  for (const Handle* handle : {&busy.handle, &quiet.handle}) {
    REQUIRE(adapvae_undo(handle->model) == ADAPVAE_OK);
    REQUIRE(adapvae_flush(handle->model, nullptr) == ADAPVAE_OK);
  }
  CHECK(busy.handle.save() == quiet.handle.save());
}

namespace {

// Every call that takes a model, each as it could be made.
std::vector<adapvae_status> every_call(adapvae_model* m) {
  static float row[kInputs], out[kInputs];
  static double numbers[kLatent];
  adapvae_result result;
  adapvae_info info = sized<adapvae_info>();
  adapvae_cluster cluster = sized<adapvae_cluster>();
  adapvae_event event = sized<adapvae_event>();
  adapvae_config config = sized<adapvae_config>();
  adapvae_model* made = nullptr;
  size_t size = 0;
  return {adapvae_create_scorer(m, nullptr, &made, nullptr),
          adapvae_reset(m),
          adapvae_learn(m, row, 1, 0, nullptr),
          adapvae_push(m, row, 1, 0, nullptr),
          adapvae_flush(m, nullptr),
          adapvae_pretrain(m, row, 1, 0),
          adapvae_set_time(m, 1e9),
          adapvae_set_budget(m, 1.0),
          adapvae_set_progress(m, nullptr, nullptr),
          adapvae_score(m, row, 1, 0, &result),
          adapvae_probabilities(m, row, 1, 0, out),
          adapvae_encode(m, row, 1, 0, out, nullptr),
          adapvae_decode(m, row, 1, 0, out),
          adapvae_reconstruct(m, row, 1, 0, out),
          adapvae_generate(m, 0, 1, 1, out, nullptr, nullptr),
          adapvae_interpolate(m, 1, 1, 1, out, nullptr),
          adapvae_get_info(m, &info),
          adapvae_cluster_at(m, 0, &cluster),
          adapvae_cluster_of(m, 1, &cluster),
          adapvae_moments(m, 1, numbers, nullptr),
          adapvae_label(m, 1, "x"),
          adapvae_merge(m, 1, 2, 1, nullptr),
          adapvae_split(m, 1, 1, nullptr, nullptr),
          adapvae_forget(m, 1),
          adapvae_undo(m),
          adapvae_set(m, "sensitivity", "3"),
          adapvae_get_config(m, &config),
          adapvae_set_sensitivity(m, 3.0),
          adapvae_next_event(m, &event),
          adapvae_explain(m, row, 0, nullptr, 0, &size),
          adapvae_save(m, nullptr, 0, &size),
          adapvae_load(m, row, sizeof row)};
}

struct Inside {
  adapvae_model* model = nullptr;
  int calls = 0;
  int refused = 0;
};

}  // namespace

TEST_CASE("no call is obeyed within a call on the same model") {
  const auto rows = kinds(0, 2, 300, 1);
  Handle plain, handle;
  plain.learn(rows);
  Inside inside = {handle.model};
  REQUIRE(adapvae_set_progress(
              handle.model,
              [](void* context, int32_t, double) -> int32_t {
                auto* self = static_cast<Inside*>(context);
                for (const adapvae_status status : every_call(self->model)) {
                  ++self->calls;
                  self->refused += status == ADAPVAE_BUSY ? 1 : 0;
                }
                return 1;
              },
              &inside) == ADAPVAE_OK);
  handle.learn(rows);
  CHECK(inside.calls > 1000);
  CHECK(inside.refused == inside.calls);
  CHECK(handle.save() == plain.save());
  // A stop outside of a stream has no effect on the next.
  adapvae_stop(handle.model);
  (void)handle.score(rows);
  adapvae_report report = sized<adapvae_report>();
  REQUIRE(adapvae_set_progress(handle.model, nullptr, nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_learn(handle.model, rows.data(), 300, 0, &report) == ADAPVAE_OK);
  CHECK(report.stopped == 0);
  plain.learn(rows);
  CHECK(handle.save() == plain.save());
}

TEST_CASE("a reset model is as new, with the settings that it has") {
  adapvae_config config = small_config();
  config.joint_epochs = 3;
  Handle fresh(config), used;
  used.learn(kinds(0, 2, 300, 1));
  REQUIRE(adapvae_set(used.model, "joint_epochs", "3") == ADAPVAE_OK);
  REQUIRE(adapvae_reset(used.model) == ADAPVAE_OK);
  CHECK(used.info().events == 0);
  CHECK(used.save() == fresh.save());
  for (Handle* handle : {&fresh, &used}) handle->learn(kinds(0, 3, 400, 2));
  CHECK(used.save() == fresh.save());
}

namespace {

// get(T*) fills a struct of every size that an older header could have had, and no byte more.
template <typename T, typename Get>
void check_sizes(const char* name, size_t least, const Get& get) {
  CAPTURE(name);
  T whole = sized<T>();
  REQUIRE(get(&whole) == ADAPVAE_OK);
  union Room {
    T value;
    unsigned char bytes[sizeof(T) + 32];
  };
  for (size_t size = least; size <= sizeof(T) + 24; size += 8) {
    CAPTURE(size);
    Room room;
    std::memset(room.bytes, 0xAB, sizeof room.bytes);
    std::memset(room.bytes, 0, size);
    room.value.struct_size = static_cast<uint32_t>(size);
    REQUIRE(get(&room.value) == ADAPVAE_OK);
    CHECK(room.value.struct_size == size);
    room.value.struct_size = sizeof(T);
    CHECK(std::memcmp(room.bytes, &whole, std::min(size, sizeof(T))) == 0);
    for (size_t i = sizeof(T); i < size; ++i) REQUIRE(room.bytes[i] == 0);
    for (size_t i = size; i < sizeof room.bytes; ++i) REQUIRE(room.bytes[i] == 0xAB);
  }
}

}  // namespace

TEST_CASE("structs of older and newer callers are filled as far as they go") {
  Handle handle;
  handle.learn(kinds(0, 2, 300, 1));
  adapvae_model* const m = handle.model;
  const auto bytes = handle.save();
  const std::vector<int32_t> labels = {1, 1, 2, 2};
  const std::vector<adapvae_id> ids = {1, 1, 2, 3};
  check_sizes<adapvae_info>("info", 8, [&](auto* out) { return adapvae_get_info(m, out); });
  check_sizes<adapvae_cluster>("cluster", 8,
                               [&](auto* out) { return adapvae_cluster_at(m, 1, out); });
  check_sizes<adapvae_event>("event", 24, [&](auto* out) { return adapvae_next_event(m, out); });
  check_sizes<adapvae_report>("report", 8, [&](auto* out) { return adapvae_flush(m, out); });
  check_sizes<adapvae_field>("field", 8, [](auto* out) { return adapvae_config_field(3, out); });
  check_sizes<adapvae_config>("config", 8, [&](auto* out) { return adapvae_get_config(m, out); });
  check_sizes<adapvae_snapshot>("snapshot", 8, [&](auto* out) {
    return adapvae_inspect(bytes.data(), bytes.size(), out, nullptr, nullptr);
  });
  check_sizes<adapvae_metrics>("metrics", 8, [&](auto* out) {
    return adapvae_evaluate(labels.data(), ids.data(), 4, nullptr, out, nullptr);
  });
  (void)adapvae_forget(m, 999);
  check_sizes<adapvae_error>("error", 8, [&](auto* out) { return adapvae_last_error(m, out); });
  // Options are read: what an older caller does not have is zero, what a newer one sets is refused.
  struct Newer {
    adapvae_options options;
    double later;
  } newer = {};
  const adapvae_config config = small_config();
  size_t whole = 0, some = 0;
  REQUIRE(adapvae_memory_required(&config, nullptr, &whole, nullptr) == ADAPVAE_OK);
  for (const size_t size : {size_t{8}, offsetof(adapvae_options, allocate), sizeof newer}) {
    newer.options.struct_size = static_cast<uint32_t>(size);
    CHECK(adapvae_memory_required(&config, &newer.options, &some, nullptr) == ADAPVAE_OK);
    CHECK(some == whole);
  }
  newer.later = 1.0;
  CHECK(adapvae_memory_required(&config, &newer.options, &some, nullptr) == ADAPVAE_UNAVAILABLE);
}

TEST_CASE("results are finite whatever the row") {
  const float extremes[] = {0.0F,     -0.0F,   1.0F,  -1.0F,    FLT_MIN, FLT_TRUE_MIN,
                            -FLT_MAX, FLT_MAX, 1e10F, -1.5e20F, 1e-30F,  0.3F};
  Noise noise(5);
  std::vector<float> rows;
  for (int i = 0; i < 200; ++i) {
    for (int32_t j = 0; j < kInputs; ++j) {
      rows.push_back(i < 12 ? extremes[i]
                            : extremes[static_cast<size_t>(noise.uniform() * 12.0) % 12]);
    }
  }
  for (const int scale : {0, 1}) {
    for (const int likelihood : {1, 2}) {
      for (const int covariance : {0, 1}) {
        adapvae_config config = small_config();
        config.scale_inputs = scale;
        config.likelihood = likelihood;
        config.covariance = covariance;
        Handle handle(config);
        for (int streams = 0; streams < 3; ++streams) {
          for (const adapvae_result& row : handle.score(rows)) {
            CHECK(std::isfinite(row.log_density));
            CHECK(row.novelty >= 0.0F);
            CHECK(row.novelty <= 1.0F);
            CHECK(row.probability >= 0.0F);
            CHECK(row.probability <= 1.0F);
            CHECK(((row.flags & ADAPVAE_NOVEL) != 0) == (row.novelty > 0.5F));
          }
          // For the last lap they are learnt, too.
          const bool learn = streams == 1 && scale == 1;
          handle.learn(learn ? rows : kinds(0, 2, 300, 1));
        }
      }
    }
  }
  // A bernoulli likelihood learns nothing outside [0, 1], and nothing so large is learnt unscaled;
  // but both can be scored.
  for (const int likelihood : {0, 1}) {
    adapvae_config config = small_config();
    config.likelihood = likelihood;
    const Handle handle(config);
    CHECK(adapvae_learn(handle.model, rows.data(), 200, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
    for (const adapvae_result& row : handle.score(rows)) CHECK(std::isfinite(row.log_density));
  }
}

TEST_CASE("text is no longer than the header says") {
  for (int32_t type = ADAPVAE_BORN; type <= ADAPVAE_WARNED; ++type) {
    for (int32_t reason = 0; reason <= ADAPVAE_REASON_MISSING; ++reason) {
      adapvae_event event = sized<adapvae_event>();
      event.type = type;
      event.reason = reason;
      event.sequence = event.stream = std::numeric_limits<uint64_t>::max();
      event.id = event.other = std::numeric_limits<adapvae_id>::max();
      event.gain = event.rows = -2.2250738585072014e-308;
      event.clusters = kMost;
      for (const int32_t format : {ADAPVAE_TEXT, ADAPVAE_JSON}) {
        char text[256];
        CHECK(adapvae_event_text(&event, format, text, sizeof text, nullptr) == ADAPVAE_OK);
      }
    }
  }
  Handle handle;
  handle.learn(kinds(0, 2, 300, 1));
  auto rows = kinds(0, 3, 8, 2);
  for (size_t j = 0; j < kInputs; ++j) rows[7 * kInputs + j] = j % 2 == 0 ? FLT_MAX : -FLT_MAX;
  for (const adapvae_result& row : handle.score(rows)) {
    REQUIRE(adapvae_label(handle.model, row.id,
                          "\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03\x04\x05\x06\x07\x08"
                          "\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03\x04\x05\x06\x07") ==
            ADAPVAE_OK);
  }
  for (size_t i = 0; i < 8; ++i) {
    char text[1024];
    CHECK(adapvae_explain(handle.model, &rows[i * kInputs], ADAPVAE_TEXT, text, sizeof text,
                          nullptr) == ADAPVAE_OK);
  }
}

// Fresh memory is filled, as any reused heap may be: what was not written must not be read.
TEST_CASE("steps that are far too large and rows of any size never take a model out of bounds") {
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.allocate = [](void*, size_t bytes, size_t alignment) -> void* {
    void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory != nullptr) std::memset(memory, 0xA5, bytes);
    return memory;
  };
  options.release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    adapvae_config config = small_config();
    config.latent = 2;
    config.block_rows = config.pass_rows = 60;
    config.batch = 20;
    config.pretrain_epochs = config.adapt_epochs = 5;
    config.learning_rate = seed % 3 == 0 ? 0.03 : 1.0;
    config.seed = seed;
    adapvae_model* model = nullptr;
    REQUIRE(adapvae_create(&config, &options, &model, nullptr) == ADAPVAE_OK);
    Noise noise(seed);
    for (int block = 0; block < 6; ++block) {
      const double scale = block % 2 == 0 ? 1e-3 : 1e11;
      std::vector<float> rows(60 * kInputs);
      for (float& value : rows) value = static_cast<float>(scale * noise.normal());
      const adapvae_status status = adapvae_learn(model, rows.data(), 60, 0, nullptr);
      CHECK((status == ADAPVAE_OK || status == ADAPVAE_DIVERGED));
      std::vector<adapvae_result> results(60);
      REQUIRE(adapvae_score(model, rows.data(), 60, 0, results.data()) == ADAPVAE_OK);
      for (const adapvae_result& row : results) CHECK(std::isfinite(row.log_density));
      size_t size = 0;
      REQUIRE(adapvae_save(model, nullptr, 0, &size) == ADAPVAE_OK);
      std::vector<unsigned char> bytes(size);
      REQUIRE(adapvae_save(model, bytes.data(), size, &size) == ADAPVAE_OK);
      adapvae_destroy(model);
      REQUIRE(adapvae_create_from(bytes.data(), size, &options, &model, nullptr) == ADAPVAE_OK);
    }
    adapvae_destroy(model);
  }
}

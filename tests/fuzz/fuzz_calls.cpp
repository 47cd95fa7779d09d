// Bytes as a program of calls on two models, one of which may be a scorer. After each call the
// models must be whole: a refused call has changed no byte, rows are counted exactly, every id
// resolves.
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "adapvae/adapvae.h"
#include "fuzz_target.h"
#include "program.h"
#include "subject.h"

namespace {

using fuzz::Program;

constexpr int32_t kMostInputs = 3;
constexpr int32_t kLatent = 2;
constexpr int32_t kBlock = 24;

std::vector<unsigned char> bytes_of(adapvae_model* model) {
  size_t size = 0;
  std::vector<unsigned char> out(1U << 16);
  const adapvae_status status = adapvae_save(model, out.data(), out.size(), &size);
  FUZZ_CHECK(status == ADAPVAE_OK || (status == ADAPVAE_UNAVAILABLE && size == 0));  // a scorer
  out.resize(size);
  return out;
}

void check_whole(adapvae_model* model) {
  adapvae_info info = {};
  info.struct_size = sizeof info;
  FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
  FUZZ_CHECK(info.clusters >= 0 && info.clusters <= 5);
  FUZZ_CHECK(info.rows_waiting >= 0 && info.rows_waiting < kBlock);
  double weight = 0.0;
  for (int32_t k = 0; k < info.clusters; ++k) {
    adapvae_cluster cluster = {};
    cluster.struct_size = sizeof cluster;
    FUZZ_CHECK(adapvae_cluster_at(model, k, &cluster) == ADAPVAE_OK);
    FUZZ_CHECK(cluster.id > 0 && cluster.id <= info.ids_given + 64);
    FUZZ_CHECK(adapvae_resolve(model, cluster.id) == cluster.id);
    FUZZ_CHECK(cluster.rows >= 0.0 && std::isfinite(cluster.rows));
    FUZZ_CHECK(std::isfinite(cluster.weight));
    weight += cluster.weight;
    double mean[kLatent], covariance[kLatent * kLatent];
    FUZZ_CHECK(adapvae_moments(model, cluster.id, mean, covariance) == ADAPVAE_OK);
    for (const double x : mean) FUZZ_CHECK(std::isfinite(x));
    for (int i = 0; i < kLatent; ++i) FUZZ_CHECK(covariance[i * (kLatent + 1)] > 0.0);
  }
  FUZZ_CHECK(weight <= 1.0 + 1e-9);
}

uint64_t rows_of(const adapvae_model* model) {
  adapvae_info info = {};
  info.struct_size = sizeof info;
  FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
  return info.rows;
}

int32_t inputs_of(const adapvae_model* model) {
  adapvae_info info = {};
  info.struct_size = sizeof info;
  FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
  return info.inputs;
}

// Gains of one to three workers, merged and applied.
adapvae_status gain(adapvae_model* model, Program& program) {
  const auto before = bytes_of(model);
  const uint64_t learnt = rows_of(model);
  std::vector<unsigned char> set;
  uint64_t rows = 0;
  const int32_t workers = 1 + program.below(3);
  for (int32_t w = 0; w < workers; ++w) {
    const int32_t count = program.below(3 * kBlock);
    std::vector<float> given(static_cast<size_t>(count * inputs_of(model)));
    for (float& x : given) x = program.number();
    size_t size = 0;
    const adapvae_status asked = adapvae_gain(model, nullptr, 0, 0, nullptr, nullptr, 0, &size);
    if (asked != ADAPVAE_OK) return asked;
    std::vector<unsigned char> made(size);
    const adapvae_gain_key key = {static_cast<uint64_t>(w), 0};
    const adapvae_status status =
        adapvae_gain(model, given.data(), count, 0, &key, made.data(), made.size(), &size);
    FUZZ_CHECK(bytes_of(model) == before);
    if (status != ADAPVAE_OK) return status;
    made.resize(size);
    rows += static_cast<uint64_t>(count);
    if (w > 0) {
      std::vector<unsigned char> both(set.size() + made.size());
      FUZZ_CHECK(adapvae_merge_gains(made.data(), made.size(), set.data(), set.size(), both.data(),
                                     both.size(), &size, nullptr) == ADAPVAE_OK);
      both.resize(size);
      made = both;
    }
    set = made;
  }
  adapvae_gains gains = {};
  gains.struct_size = sizeof gains;
  FUZZ_CHECK(adapvae_inspect_gains(set.data(), set.size(), &gains, nullptr) == ADAPVAE_OK);
  FUZZ_CHECK(gains.rows == rows);
  std::vector<adapvae_alias> aliases(static_cast<size_t>(gains.born));
  const adapvae_status status =
      adapvae_apply_gains(model, set.data(), set.size(), aliases.data(), gains.born, nullptr);
  FUZZ_CHECK(status == ADAPVAE_OK);
  FUZZ_CHECK(rows_of(model) == learnt + rows);
  for (const adapvae_alias& alias : aliases) {
    FUZZ_CHECK(alias.id != ADAPVAE_NO_ID && adapvae_resolve(model, alias.id) == alias.id);
  }
  return status;
}

// One call on `model`.
adapvae_status call(adapvae_model* model, adapvae_model* other, Program& program) {
  float rows[2 * kBlock * kMostInputs];
  adapvae_result results[2 * kBlock];
  float features[2 * kBlock * kMostInputs];
  const int32_t inputs = inputs_of(model);
  const auto fill = [&](int32_t count) {
    for (int32_t i = 0; i < count * inputs; ++i) rows[i] = program.number();
    return count;
  };
  const adapvae_id id = program.byte() % 12;
  switch (program.below(20)) {
    case 0:
    case 1:
      return adapvae_learn(model, rows, fill(program.below(kBlock + 2)), 0, nullptr);
    case 2:
      return adapvae_push(model, rows, fill(program.below(2 * kBlock)), 0, nullptr);
    case 3:
      return adapvae_flush(model, nullptr);
    case 4: {
      const int32_t count = fill(program.below(kBlock));
      const adapvae_status status = adapvae_score(model, rows, count, 0, results);
      for (int32_t i = 0; status == ADAPVAE_OK && i < count; ++i) {
        FUZZ_CHECK(results[i].novelty >= 0.0F && results[i].novelty <= 1.0F);
        FUZZ_CHECK(std::isfinite(results[i].log_density));
        FUZZ_CHECK(results[i].id == ADAPVAE_NO_ID || adapvae_resolve(model, results[i].id) != 0);
      }
      return status;
    }
    case 5:
      return adapvae_reconstruct(model, rows, fill(program.below(kBlock)), 0, features);
    case 6:
      return adapvae_generate(model, id, program.byte(), program.below(kBlock), features, nullptr,
                              nullptr);
    case 7:
      return adapvae_label(model, id, "a name");
    case 8:
      return adapvae_merge(model, id, program.byte() % 12, program.below(2), nullptr);
    case 9:
      return adapvae_split(model, id, program.below(2), nullptr, nullptr);
    case 10:
      return adapvae_forget(model, id);
    case 11:
      return adapvae_undo(model);
    case 12: {
      const char* names[] = {"sensitivity",      "joint_epochs", "half_life_rows", "replay_ratio",
                             "false_alarm_rate", "latent",       "row_weight"};
      const char* values[] = {"0", "0.5", "1", "2", "1e9", "x"};
      return adapvae_set(model, names[program.below(7)], values[program.below(6)]);
    }
    case 13: {
      fill(1);
      char text[2048];
      return adapvae_explain(model, rows, program.below(2), text, sizeof text, nullptr);
    }
    case 14: {
      adapvae_event event = {};
      event.struct_size = sizeof event;
      event.sequence = program.byte();
      for (int i = 0; i < 5 && adapvae_next_event(model, &event) == ADAPVAE_OK; ++i) {
        char text[512];
        FUZZ_CHECK(adapvae_event_text(&event, i % 2, text, sizeof text, nullptr) == ADAPVAE_OK);
      }
      return ADAPVAE_OK;
    }
    case 15: {
      const auto bytes = bytes_of(other);
      if (bytes.empty()) return ADAPVAE_OK;
      return adapvae_load(model, bytes.data(), bytes.size());
    }
    case 16:
      return adapvae_set_time(model, static_cast<double>(program.byte()) - 2.0);
    case 17:
      return adapvae_interpolate(model, id, program.byte() % 12, program.below(9), features,
                                 nullptr);
    case 18:
      adapvae_stop(model);
      return ADAPVAE_OK;
    default: {
      const uint8_t what = program.byte();
      if (what >= 128) return gain(model, program);
      if (what < 16) return adapvae_reset(model);
      // More of everything, with rows of all shapes and every field.
      adapvae_info info = {};
      info.struct_size = sizeof info;
      FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
      if (info.scores_only != 0) return ADAPVAE_OK;
      fuzz::Subject subject(model);
      for (int i = 1 + what % 4; i > 0; --i) (void)subject.call(program);
      return ADAPVAE_OK;
    }
  }
}

}  // namespace

void fuzz_calls(const uint8_t* data, size_t size) {
  if (size > 4096) return;
  Program program(data, size);
  const uint8_t flags = program.byte();
  const int32_t inputs = (flags & 32) != 0 ? 1 : kMostInputs;
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = inputs;
  config.latent = kLatent;
  config.hidden1 = 4;
  config.hidden2 = 0;
  config.max_clusters = 5;
  config.block_rows = kBlock;
  config.pass_rows = 8;
  config.batch = 8;
  config.aliases = 3;
  config.undo_steps = 2;
  config.events = 6;
  config.pretrain_epochs = config.adapt_epochs = config.joint_epochs = 2;
  config.neighbour_epochs = 1;
  config.covariance = flags & 1;
  config.scale_inputs = config.likelihood = flags >> 1 & 1;
  config.pending_rows = (flags & 4) != 0 ? 6 : 0;
  config.replay_in_fit = (flags >> 3 & 3) % 3;
  if ((flags & 64) != 0) config.learning_rate = (flags & 32) != 0 ? 1.0 : 0.03;
  adapvae_model* models[2] = {};
  FUZZ_CHECK(adapvae_create(&config, nullptr, &models[0], nullptr) == ADAPVAE_OK);
  if ((flags & 128) != 0) {
    FUZZ_CHECK(adapvae_create_scorer(models[0], nullptr, &models[1], nullptr) == ADAPVAE_OK);
  } else {
    FUZZ_CHECK(adapvae_create(&config, nullptr, &models[1], nullptr) == ADAPVAE_OK);
  }
  // What is saved loads, and is then the same.
  adapvae_model* twin = nullptr;
  FUZZ_CHECK(adapvae_create(&config, nullptr, &twin, nullptr) == ADAPVAE_OK);
  // Saving is most of the work: each model's bytes are kept from its own last call, and what the
  // other one did to them since would show at the next.
  std::vector<unsigned char> kept[2] = {bytes_of(models[0]), bytes_of(models[1])};
  for (int i = 0; i < 40 && !program.done(); ++i) {
    const int which = program.byte() & 1;
    const adapvae_status status = call(models[which], models[1 - which], program);
    auto now = bytes_of(models[which]);
    FUZZ_CHECK(status == ADAPVAE_OK || now == kept[which]);
    if (!now.empty() && now != kept[which]) {
      FUZZ_CHECK(adapvae_load(twin, now.data(), now.size()) == ADAPVAE_OK);
      FUZZ_CHECK(bytes_of(twin) == now);
    }
    kept[which] = std::move(now);
    check_whole(models[which]);
  }
  ++fuzz_accepted;
  for (int which : {0, 1}) FUZZ_CHECK(bytes_of(models[which]) == kept[which]);
  for (adapvae_model* model : {models[0], models[1], twin}) adapvae_destroy(model);
}

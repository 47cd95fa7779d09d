#include "seeds.h"

#include <algorithm>

#include "adapvae/adapvae_experimental.h"
#include "fuzz_target.h"
#include "program.h"

namespace fuzz {
namespace {

constexpr int32_t kBlock = 40;

adapvae_config config_of(int number) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = number == 9 ? 1 : number == 10 ? 9 : 3;
  config.latent = number == 9 ? 1 : 2;
  config.hidden1 = 4;
  config.hidden2 = number == 8 ? 3 : 0;
  config.max_clusters = number == 12 ? 2 : 6;
  config.block_rows = kBlock;
  config.pass_rows = 16;
  config.batch = 16;
  config.aliases = 4;
  config.undo_steps = 2;
  config.events = 16;
  config.pretrain_epochs = config.adapt_epochs = config.joint_epochs = 2;
  config.neighbour_epochs = 1;
  config.covariance = number == 1 || number == 9 ? 1 : 0;
  config.scale_inputs = number == 2 || number == 6 ? 1 : 0;
  config.likelihood = number == 6 ? 2 : number == 2 || number == 11 ? 1 : 0;
  config.pending_rows = number == 3 || number == 6 ? 8 : 0;
  if (number == 6) config.half_life_rows = 100.0;
  if (number == 6) config.half_life_time = 10.0;
  if (number == 8) {
    config.replay_in_fit = 1;
    config.learn_concentration = 1;
    config.prior_mode = 0;
    config.novelty_error_weight = 0.0;
    config.activation = 3;
    config.initialisation = 1;
  }
  if (number == 10) {
    config.image_width = config.image_height = 3;
    config.augment = 1;
    config.freeze_encoder_after = 1;
  }
  if (number == 13) config.restore_on_failure = 0;
  return config;
}

std::vector<float> rows_for(const adapvae_config& config, int32_t count, uint8_t seed) {
  const uint8_t choice[] = {12, seed};
  Program program(choice, sizeof choice);
  return rows_of(program, count, config.inputs);
}

void learn(adapvae_model* model, const adapvae_config& config, uint8_t seed) {
  const auto rows = rows_for(config, kBlock, seed);
  FUZZ_CHECK(adapvae_learn(model, rows.data(), kBlock, 0, nullptr) == ADAPVAE_OK);
}

adapvae_id cluster(adapvae_model* model, int32_t index) {
  adapvae_cluster out = {};
  out.struct_size = sizeof out;
  return adapvae_cluster_at(model, index, &out) == ADAPVAE_OK ? out.id : ADAPVAE_NO_ID;
}

void apply_gain(adapvae_model* model, const adapvae_config& config) {
  const auto rows = rows_for(config, kBlock, 9);
  size_t size = 0;
  FUZZ_CHECK(adapvae_gain(model, nullptr, 0, 0, nullptr, nullptr, 0, &size) == ADAPVAE_OK);
  Bytes bytes(size);
  const adapvae_gain_key key = {1, 1};
  FUZZ_CHECK(adapvae_gain(model, rows.data(), kBlock, 0, &key, bytes.data(), size, &size) ==
             ADAPVAE_OK);
  FUZZ_CHECK(adapvae_apply_gains(model, bytes.data(), size, nullptr, 0, nullptr) == ADAPVAE_OK);
}

// The evidence may refuse some of these.
void correct(adapvae_model* model) {
  (void)adapvae_label(model, cluster(model, 0), "\"quoted\" \\ \xC3\xA9");
  adapvae_id part = ADAPVAE_NO_ID;
  (void)adapvae_split(model, cluster(model, 0), 1, &part, nullptr);
  (void)adapvae_split(model, part, 1, nullptr, nullptr);
  (void)adapvae_merge(model, cluster(model, 0), cluster(model, 1), 1, nullptr);
  (void)adapvae_label(model, part, "part");
}

}  // namespace

adapvae_model* make_seed(int number, const adapvae_options* options) {
  const adapvae_config config = config_of(number);
  adapvae_model* model = nullptr;
  FUZZ_CHECK(adapvae_create(&config, options, &model, nullptr) == ADAPVAE_OK);
  if (number == 7) return model;
  if (number == 11) {
    const auto rows = rows_for(config, kBlock, 5);
    FUZZ_CHECK(adapvae_pretrain(model, rows.data(), kBlock, 0) == ADAPVAE_OK);
  }
  if (number == 6) FUZZ_CHECK(adapvae_set_time(model, 2.0) == ADAPVAE_OK);
  learn(model, config, 1);
  if (number == 6) FUZZ_CHECK(adapvae_set_time(model, 5.0) == ADAPVAE_OK);
  if (number != 11) learn(model, config, 2);
  if (number == 4) apply_gain(model, config);
  if (number == 5) correct(model);
  if (number == 3) {
    const auto rows = rows_for(config, 7, 3);
    FUZZ_CHECK(adapvae_push(model, rows.data(), 7, 0, nullptr) == ADAPVAE_OK);
  }
  return model;
}

}  // namespace fuzz

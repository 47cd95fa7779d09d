/* The least that learns, scores, tells, saves and loads: how large is that? */
#include <adapvae/adapvae.h>

#include "board.h"

static uint64_t memory[8 * 1024];
static uint8_t snapshot[16 * 1024];
static float rows[16][8];

int firmware_run(void) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = 8;
  adapvae_options options = {.struct_size = sizeof options};
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  adapvae_model* model = NULL;
  adapvae_result result;
  adapvae_event event = {.struct_size = sizeof event};
  size_t size = 0;
  if (adapvae_memory_required(&config, &options, &size, NULL) != ADAPVAE_OK) return 1;
  if (adapvae_create(&config, &options, &model, NULL) != ADAPVAE_OK) return 2;
  adapvae_push(model, rows[0], 16, 0, NULL);
  adapvae_score(model, rows[0], 1, 0, &result);
  adapvae_next_event(model, &event);
  adapvae_save(model, snapshot, sizeof snapshot, &size);
  return adapvae_load(model, snapshot, size);
}

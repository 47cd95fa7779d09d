/* The power goes at every flash operation of a save, one after the other; after each a sound model
 * must be found, the one before or the new one. Stands in the firmware's place. */
#include <adapvae/adapvae.h>

#include "board.h"
#include "slots.h"

enum { kRows = 40, kInputs = 4 };

static uint64_t memory[128 * 1024 / 8];
static uint8_t snapshot[kSlotBytes - kPageBytes];

typedef struct State {
  uint32_t magic;
  uint32_t cut;      /* operation */
  uint32_t sequence; /* of the model before the save */
} State;

static adapvae_model* model_from(const adapvae_options* options) {
  uint32_t sequence = 0;
  size_t size = 0;
  const uint8_t* saved;
  adapvae_model* model = NULL;
  while ((saved = slots_newest(sequence, &sequence, &size)) != NULL) {
    if (adapvae_create_from(saved, size, options, &model, NULL) == ADAPVAE_OK) return model;
  }
  return NULL;
}

static int save(const adapvae_model* model) {
  size_t size = 0;
  return adapvae_save(model, snapshot, sizeof snapshot, &size) == ADAPVAE_OK &&
         slots_save(snapshot, size);
}

static int learn(adapvae_model* model, int first) {
  static float rows[kRows][kInputs];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kInputs; ++j) {
      rows[i][j] = 0.2f * (float)((i + first) % 2 == j % 2) + 0.01f * (float)((i * 7 + j * 3) % 11);
    }
  }
  return adapvae_learn(model, rows[0], kRows, 0, NULL) == ADAPVAE_OK;
}

int firmware_run(void) {
  State* state = board_kept();
  adapvae_options options = {.struct_size = sizeof options};
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  adapvae_model* model = NULL;
  uint32_t sequence = 0;
  size_t size = 0;
  if (state->magic != 0x43555421) {
    adapvae_config config;
    adapvae_config_init(&config, sizeof config);
    config.inputs = kInputs;
    config.hidden1 = 8;
    config.hidden2 = 0;
    config.latent = 2;
    config.max_clusters = 4;
    config.block_rows = kRows;
    config.pass_rows = config.batch = 20;
    config.pretrain_epochs = 4;
    config.aliases = config.undo_steps = 0;
    config.restore_on_failure = 0;
    if (adapvae_create(&config, &options, &model, NULL) != ADAPVAE_OK) return 1;
    if (!learn(model, 0) || !save(model)) return 2;
    state->magic = 0x43555421;
    state->cut = 0;
  } else {
    model = model_from(&options);
    if (model == NULL) {
      board_print("no model is left\n");
      return 3;
    }
    slots_newest(0, &sequence, &size);
    if (sequence != state->sequence && sequence != state->sequence + 1) return 4;
  }
  /* A save with a cut; when it gets to its end, there is nothing left to cut. */
  slots_newest(0, &state->sequence, &size);
  flash_cut_at((long)++state->cut);
  if (!save(model)) return 5;
  flash_cut_at(0);
  /* how often, in a line of its own */
  for (uint32_t i = 0; i < state->cut - 1; ++i) board_print(".");
  board_print("\n");
  board_print(state->cut > 10 ? "the power went at every operation: a model was found each time\n"
                              : "too few operations\n");
  return state->cut > 10 ? 0 : 6;
}

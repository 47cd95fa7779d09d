/* What a device engineer asks before anything runs: memory, stack and instructions of the calls, of
 * the network 64-32-4 with 16 clusters. Stands in the firmware's place; run it with -icount
 * shift=0, where a tick of the 25 MHz clock is 40 instructions. Lines are "name number". */
#include <adapvae/adapvae.h>
#include <string.h>

#include "board.h"

enum { kInputs = 64, kRows = 64, kStackBytes = 40000, kPaint = 0xA5 };

static uint64_t memory[240 * 1024 / 8];
static uint8_t snapshot[40 * 1024];
static float rows[kRows][kInputs];

static void print_number(uint32_t number) {
  char text[12];
  char* at = text + sizeof text;
  *--at = 0;
  do *--at = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  board_print(at);
}
static void line(const char* what, const char* name, uint32_t number) {
  board_print(what);
  board_print(name);
  board_print(" ");
  print_number(number);
  board_print("\n");
}

/* ---- ticks of the CMSDK timer of the MPS2 boards, counting down --------------------------------
 */

#define TIMER ((volatile uint32_t*)0x40000000)
static void timer_start(void) {
  TIMER[2] = 0xFFFFFFFFu; /* reload */
  TIMER[1] = 0xFFFFFFFFu; /* value */
  TIMER[0] = 1;
}
static uint32_t ticks(void) { return 0xFFFFFFFFu - TIMER[1]; }

/* ---- the stack below here, painted before a call and looked at after ---------------------------
 */

static uint8_t* below(void) { return (uint8_t*)__builtin_frame_address(0) - 256; }
__attribute__((noinline)) static void paint(void) {
  uint8_t* top = below();
  for (uint32_t i = 0; i < kStackBytes; ++i) top[-(int32_t)i] = kPaint;
}
__attribute__((noinline)) static uint32_t depth(void) {
  uint8_t* top = below();
  uint32_t used = kStackBytes - 64;
  while (used > 0 && top[-(int32_t)used + 1] == kPaint) --used;
  return used + 256;
}

#define MEASURE(name, call)                             \
  do {                                                  \
    paint();                                            \
    uint32_t before = ticks();                          \
    adapvae_status status = (call);                     \
    uint32_t after = ticks();                           \
    if (status != ADAPVAE_OK) {                         \
      line("failed ", name, (uint32_t)status);          \
      return 1;                                         \
    }                                                   \
    line("stack.", name, depth());                      \
    line("instructions.", name, 40 * (after - before)); \
  } while (0)

static void fill(int kinds) {
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kInputs; ++j) {
      rows[i][j] = (j / 16 == i % kinds ? 0.9f : 0.05f) + 0.001f * (float)((i * 13 + j * 7) % 50);
    }
  }
}

int firmware_run(void) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = kInputs;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.latent = 4;
  config.max_clusters = 16;
  config.block_rows = kRows;
  config.pass_rows = config.batch = 16;
  config.replay_ratio = 1.0;
  config.aliases = 64;
  config.undo_steps = 0;
  config.events = 16;
  config.restore_on_failure = 0;
  adapvae_options options = {.struct_size = sizeof options};
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  timer_start();
  size_t bytes = 0;
  size_t size = 0;
  adapvae_model* model = NULL;
  adapvae_result result;
  float features[4];
  /* With half the rows in streams, passes and batches. */
  config.block_rows = kRows / 2;
  config.pass_rows = config.batch = 8;
  if (adapvae_memory_required(&config, &options, &bytes, NULL) != ADAPVAE_OK) return 1;
  line("ram.", "learner_of_short_streams", (uint32_t)bytes);
  config.block_rows = kRows;
  config.pass_rows = config.batch = 16;
  MEASURE("memory_required", adapvae_memory_required(&config, &options, &bytes, NULL));
  line("ram.", "learner", (uint32_t)bytes);
  MEASURE("create", adapvae_create(&config, &options, &model, NULL));
  fill(3);
  MEASURE("learn_first", adapvae_learn(model, rows[0], kRows, 0, NULL));
  /* The first after a stream works out where the boundary of novelty is now. */
  MEASURE("score_first", adapvae_score(model, rows[0], 1, 0, &result));
  MEASURE("score", adapvae_score(model, rows[0], 1, 0, &result));
  MEASURE("encode", adapvae_encode(model, rows[0], 1, 0, features, NULL));
  fill(4);
  MEASURE("learn", adapvae_learn(model, rows[0], kRows, 0, NULL));
  MEASURE("save", adapvae_save(model, snapshot, sizeof snapshot, &size));
  line("flash.", "snapshot", (uint32_t)size);
  MEASURE("load", adapvae_load(model, snapshot, size));
  /* Until a block brings nothing new: its rows join the clusters, and nothing is trained. */
  adapvae_report report = {.struct_size = sizeof report};
  for (int times = 0; report.rows == 0 || report.replay_rows != 0; ++times) {
    if (times == 20 || adapvae_learn(model, rows[0], kRows, 0, &report) != ADAPVAE_OK) return 1;
  }
  MEASURE("learn_known", adapvae_learn(model, rows[0], kRows, 0, &report));
  if (report.replay_rows != 0) return 1;
  adapvae_destroy(model);
  MEASURE("create_from", adapvae_create_from(snapshot, size, &options, &model, NULL));
  adapvae_destroy(model);
  options.in_place = 1;
  MEASURE("create_scorer_from",
          adapvae_create_scorer_from(snapshot, size, &options, &model, &bytes, NULL));
  line("ram.", "scorer", (uint32_t)bytes);
  MEASURE("scorer_score_first", adapvae_score(model, rows[0], 1, 0, &result));
  MEASURE("scorer_score", adapvae_score(model, rows[0], 1, 0, &result));
  return 0;
}

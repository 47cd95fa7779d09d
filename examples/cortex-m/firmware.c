/* A scanner that learns on the device what ground it looks at.
 *
 * Each row is a pixel of a Landsat scanner: four bands, real measurements (rows.c, made from
 * examples/data/landsat.csv). Soil is all there is at first; then cotton comes into view, then red
 * soil. Nobody has told the device about either: it calls the rows novel, learns them with the next
 * stream, and says that a cluster was born. After every stream the model goes to flash; after some
 * the power goes, and the device goes on with what it knew. */
#include <adapvae/adapvae.h>

#include "board.h"
#include "slots.h"

enum { kBands = 4, kStream = 100, kRebootAfter = 14 /* streams */ };
extern const int landsat_rows;
extern const uint8_t landsat[][4];

/* All that the library ever uses (a PC's pointers and vectors take more), and room for a snapshot.
 */
static uint64_t memory[(sizeof(void*) > 4 ? 192 : 137) * 1024 / 8];
static uint8_t snapshot[kSlotBytes - kPageBytes];

/* ---- text without stdio ------------------------------------------------------------------------
 */

static void print_number(uint32_t number) {
  char text[12];
  char* at = text + sizeof text;
  *--at = 0;
  do *--at = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  board_print(at);
}

static void print_line(const char* before, uint32_t number, const char* after) {
  board_print(before);
  print_number(number);
  board_print(after);
}

static int fail(const char* what, adapvae_status status) {
  board_print(what);
  print_line(": status ", (uint32_t)status, "\n");
  return 1;
}

/* ---- the model ---------------------------------------------------------------------------------
 */

static void configure(adapvae_config* config) {
  adapvae_config_init(config, sizeof *config);
  config->inputs = kBands;
  config->hidden1 = 16;
  config->hidden2 = 0;
  config->latent = 3;
  config->likelihood = 1;   /* measurements … */
  config->scale_inputs = 1; /* … in units of their own */
  config->max_clusters = 10;
  config->block_rows = kStream;
  config->pass_rows = 25;
  config->batch = 25;
  config->replay_ratio = 1.0;
  config->pretrain_epochs = 60;
  config->adapt_epochs = 12;
  config->learning_rate = 2e-3;
  config->pretrain_mask_probability = 0.0;
  config->aliases = 32;
  config->undo_steps = 0;
  config->events = 32;
  config->restore_on_failure = 0;
}

/* What was saved last, or a new one; NULL: neither. */
static adapvae_model* start(void) {
  adapvae_options options = {.struct_size = sizeof options};
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  adapvae_model* model = NULL;
  uint32_t sequence = 0;
  size_t size = 0;
  const uint8_t* saved;
  while ((saved = slots_newest(sequence, &sequence, &size)) != NULL) {
    if (adapvae_create_from(saved, size, &options, &model, NULL) == ADAPVAE_OK) {
      print_line("start: model ", sequence, " found\n");
      return model;
    }
    print_line("start: model ", sequence, " is damaged\n");
  }
  adapvae_config config;
  configure(&config);
  size_t bytes = 0;
  adapvae_status status = adapvae_memory_required(&config, &options, &bytes, NULL);
  if (status == ADAPVAE_OK) {
    print_line("start: a new model in ", (uint32_t)bytes, "");
    print_line(" of ", sizeof memory, " bytes\n");
    status = adapvae_create(&config, &options, &model, NULL);
  }
  if (status != ADAPVAE_OK) fail("create", status);
  return model;
}

static adapvae_status save(const adapvae_model* model) {
  size_t size = 0;
  adapvae_status status = adapvae_save(model, snapshot, sizeof snapshot, &size);
  if (status != ADAPVAE_OK) return status;
  return slots_save(snapshot, size) ? ADAPVAE_OK : ADAPVAE_OUT_OF_MEMORY;
}

/* What happened since the last time. */
static void announce(const adapvae_model* model) {
  static adapvae_event event = {.struct_size = sizeof event};
  while (adapvae_next_event(model, &event) == ADAPVAE_OK) {
    char text[256];
    if (event.type != ADAPVAE_BORN && event.type != ADAPVAE_MERGED) continue;
    if (adapvae_event_text(&event, ADAPVAE_TEXT, text, sizeof text, NULL) != ADAPVAE_OK) continue;
    board_print("  ");
    board_print(text);
    board_print("\n");
  }
}

/* The rows of a stream as they come: how many are novel before they are learnt. */
static adapvae_status watch(adapvae_model* model, int first, int count) {
  uint32_t novel = 0;
  adapvae_report report = {.struct_size = sizeof report};
  for (int i = first; i < first + count; ++i) {
    float row[kBands];
    adapvae_result result;
    for (int band = 0; band < kBands; ++band) row[band] = landsat[i][band];
    adapvae_status status = adapvae_score(model, row, 1, 0, &result);
    if (status == ADAPVAE_OK) status = adapvae_push(model, row, 1, 0, &report);
    if (status != ADAPVAE_OK) return status;
    novel += result.novelty > 0.5f;
  }
  print_line("rows to ", (uint32_t)(first + count), "");
  print_line(": novel ", novel, "");
  print_line(", clusters ", (uint32_t)report.clusters, "\n");
  announce(model);
  return ADAPVAE_OK;
}

/* What is known now, in millionths, for comparison with other machines. */
static adapvae_status print_novelty(adapvae_model* model) {
  for (int i = 0; i < landsat_rows; i += landsat_rows / 8) {
    float row[kBands];
    adapvae_result result;
    for (int band = 0; band < kBands; ++band) row[band] = landsat[i][band];
    adapvae_status status = adapvae_score(model, row, 1, 0, &result);
    if (status != ADAPVAE_OK) return status;
    print_line("row ", (uint32_t)i, "");
    print_line(": cluster ", result.id, "");
    print_line(", novelty ", (uint32_t)(result.novelty * 1e6f), " millionths\n");
  }
  return ADAPVAE_OK;
}

int firmware_run(void) {
  adapvae_model* model = start();
  if (model == NULL) return 1;
  adapvae_status status = ADAPVAE_OK;
  for (;;) {
    adapvae_info info = {.struct_size = sizeof info};
    status = adapvae_get_info(model, &info);
    int rows = (int)info.rows;
    if (status != ADAPVAE_OK || rows + kStream > landsat_rows) break;
    status = watch(model, rows, kStream);
    if (status == ADAPVAE_OK) status = save(model);
    if (status != ADAPVAE_OK) break;
    if (rows / kStream + 1 == kRebootAfter) {
      board_print("the power goes\n");
      return kReboot;
    }
  }
  if (status == ADAPVAE_OK) status = print_novelty(model);
  if (status != ADAPVAE_OK) return fail("stopped", status);
  adapvae_destroy(model);
  board_print("done\n");
  return 0;
}

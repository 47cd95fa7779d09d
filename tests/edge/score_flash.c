/* A scorer whose model is in flash, compiled in, its weights used where they lie: the rows that the
 * firmware ends with, scored by the model that it saved. */
#include <adapvae/adapvae.h>

#include "board.h"

extern const int landsat_rows;
extern const uint8_t landsat[][4];
extern const uint8_t model_bytes[];
extern const uint32_t model_size;

static uint64_t memory[64 * 1024 / 8];

static void print_line(const char* before, uint32_t number) {
  char text[12];
  char* at = text + sizeof text;
  *--at = 0;
  do *--at = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  board_print(before);
  board_print(at);
}

int firmware_run(void) {
  adapvae_options options = {.struct_size = sizeof options};
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  options.in_place = 1;
  adapvae_model* model = NULL;
  size_t bytes = 0;
  adapvae_status status =
      adapvae_create_scorer_from(model_bytes, model_size, &options, &model, &bytes, NULL);
  if (status != ADAPVAE_OK) {
    print_line("status ", (uint32_t)status);
    return 1;
  }
  print_line("ram ", (uint32_t)bytes);
  board_print("\n");
  for (int i = 0; i < landsat_rows; i += landsat_rows / 8) {
    float row[4];
    float features[3];
    adapvae_result result;
    for (int band = 0; band < 4; ++band) row[band] = landsat[i][band];
    if (adapvae_score(model, row, 1, 0, &result) != ADAPVAE_OK) return 2;
    if (adapvae_encode(model, row, 1, 0, features, NULL) != ADAPVAE_OK) return 3;
    print_line("row ", (uint32_t)i);
    print_line(": cluster ", result.id);
    print_line(", novelty ", (uint32_t)(result.novelty * 1e6f));
    board_print(" millionths\n");
  }
  return 0;
}

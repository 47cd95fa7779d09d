/* What the C API says of the rows of a CSV file of numbers, learnt in blocks: for each row its
 * cluster and kind, and the bits of its probability and of the novelty that it came with.
 *
 *   golden_lines FILE ROWS_OF_A_BLOCK                                                            */
#include <adapvae/adapvae.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostInputs = 32, kMostRows = 4096 };

static uint32_t bits(float x) {
  uint32_t out;
  memcpy(&out, &x, sizeof out);
  return out;
}

static int learn_block(adapvae_model* model, const float* rows, int32_t count) {
  static adapvae_result met[kMostRows], now[kMostRows];
  if (adapvae_score(model, rows, count, 0, met) != ADAPVAE_OK ||
      adapvae_learn(model, rows, count, 0, NULL) != ADAPVAE_OK ||
      adapvae_score(model, rows, count, 0, now) != ADAPVAE_OK) {
    return 1;
  }
  for (int32_t i = 0; i < count; ++i) {
    printf("%u %u %08x %08x\n", now[i].id, now[i].component, bits(now[i].probability),
           bits(met[i].novelty));
  }
  return 0;
}

int main(int count, char** words) {
  static float rows[kMostRows * kMostInputs];
  if (count != 3) return 2;
  FILE* file = fopen(words[1], "r");
  const int32_t block = (int32_t)atoi(words[2]);
  if (file == NULL || block < 1 || block > kMostRows) return 2;
  adapvae_model* model = NULL;
  int32_t inputs = 0;
  int32_t held = 0;
  char line[4096];
  while (fgets(line, sizeof line, file) != NULL) {
    char* at = line;
    int32_t read = 0;
    for (; read < kMostInputs && *at != '\0' && *at != '\n'; ++read) {
      rows[held * inputs + read] = (float)strtod(at, &at);
      if (*at == ',') ++at;
    }
    if (model == NULL) { /* as the program does for a few columns of measurements */
      adapvae_config config;
      adapvae_config_init(&config, sizeof config);
      inputs = read;
      if (adapvae_config_for_rows(&config, NULL, 0, inputs, 0, NULL, NULL) != ADAPVAE_OK) return 1;
      config.block_rows = block;
      config.pretrain_epochs = 10;
      config.joint_epochs = 3;
      if (adapvae_create(&config, NULL, &model, NULL) != ADAPVAE_OK) return 1;
    }
    if (++held == block) {
      if (learn_block(model, rows, held) != 0) return 1;
      held = 0;
    }
  }
  if (held > 0 && learn_block(model, rows, held) != 0) return 1;
  adapvae_destroy(model);
  fclose(file);
  return 0;
}

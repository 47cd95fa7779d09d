/* No heap at all: the model lives in an array, and the program says how much it would need if the
 * array is too small. */
#include <adapvae/adapvae.h>
#include <stdio.h>

static unsigned char memory[2 << 20];
static float rows[200][64];

int main(void) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  adapvae_config_preset(&config, "edge", NULL);
  adapvae_options options = {.struct_size = sizeof options};
  options.memory = memory;
  options.memory_bytes = sizeof memory;
  adapvae_error error = {.struct_size = sizeof error};
  size_t bytes = 0;
  if (adapvae_memory_required(&config, &options, &bytes, &error) != ADAPVAE_OK) return 1;
  printf("the model takes %zu of %zu bytes\n", bytes, sizeof memory);
  adapvae_model* model = NULL;
  if (adapvae_create(&config, &options, &model, &error) != ADAPVAE_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  /* bars at one of four places */
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 64; ++j) {
      rows[i][j] = (j / 16 == i % 4 ? 0.9f : 0.05f) + 0.001f * (float)((i * 13 + j * 7) % 50);
    }
  }
  if (adapvae_learn(model, rows[0], 200, 0, NULL) != ADAPVAE_OK) return 1;
  adapvae_info info = {.struct_size = sizeof info};
  adapvae_get_info(model, &info);
  printf("%d clusters after %d rows\n", info.clusters, (int)info.rows);
  adapvae_result known, novel;
  adapvae_score(model, rows[0], 1, 0, &known);
  for (int j = 0; j < 64; ++j) rows[0][j] = j % 8 == 3 ? 0.9f : 0.05f; /* never seen */
  adapvae_score(model, rows[0], 1, 0, &novel);
  printf("known row: novelty %.2f; new kind: novelty %.2f\n", known.novelty, novel.novelty);
  adapvae_destroy(model); /* the memory is the program's again */
  return known.novelty < 0.5f && novel.novelty > 0.5f ? 0 : 1;
}

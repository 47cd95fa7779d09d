/* A stream learnt and rows scored with a preset, for a tool that counts instructions inside named
 * functions: adapvae_learn() is called once, for the second stream, adapvae_score() once for each
 * of its rows. The first stream comes by push.
 * usage: instructions PRESET INPUTS ROWS */
#include <adapvae/adapvae.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Blocks of numbers that are high, another block for each kind, and noise. */
static void fill(float* rows, int count, int inputs, int kinds, uint32_t seed) {
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < inputs; ++j) {
      seed = seed * 1664525u + 1013904223u;
      const float noise = (float)(seed >> 8) / 16777216.0f;
      rows[i * inputs + j] = (j * 4 / inputs == i % kinds ? 0.7f : 0.0f) + 0.3f * noise;
    }
  }
}

int main(int count, char** word) {
  if (count != 4) return 2;
  const int inputs = atoi(word[2]);
  const int rows = atoi(word[3]);
  adapvae_error error;
  adapvae_config config;
  adapvae_model* model = NULL;
  adapvae_config_init(&config, sizeof config);
  float* x = malloc((size_t)rows * (size_t)inputs * sizeof *x);
  if (x == NULL || adapvae_config_preset(&config, word[1], &error) != ADAPVAE_OK) return 2;
  config.inputs = inputs;
  if (adapvae_create(&config, NULL, &model, &error) != ADAPVAE_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  fill(x, rows, inputs, 3, 1);
  adapvae_status status = adapvae_push(model, x, rows, 0, NULL);
  if (status == ADAPVAE_OK) status = adapvae_flush(model, NULL);
  fill(x, rows, inputs, 4, 2);
  if (status == ADAPVAE_OK) status = adapvae_learn(model, x, rows, 0, NULL);
  for (int i = 0; i < rows && status == ADAPVAE_OK; ++i) {
    adapvae_result result;
    status = adapvae_score(model, x + (size_t)i * (size_t)inputs, 1, 0, &result);
  }
  adapvae_destroy(model);
  free(x);
  return status == ADAPVAE_OK ? 0 : 1;
}

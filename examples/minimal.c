/* From zero to cluster ids. cc minimal.c $(pkg-config --cflags --libs adapvae) */
#include <adapvae/adapvae.h>
#include <stdio.h>

int main(void) {
  static float rows[600][2]; /* three clumps on a line */
  for (int i = 0; i < 600; ++i)
    for (int j = 0; j < 2; ++j)
      rows[i][j] = 0.15f + 0.35f * (i % 3) + 0.001f * (i * (37 + j) % 100);

  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = 2, config.latent = 2, config.likelihood = 1, config.scale_inputs = 1;
  adapvae_model* model = NULL;
  if (adapvae_create(&config, NULL, &model, NULL) != ADAPVAE_OK) return 1;
  adapvae_learn(model, rows[0], 600, 0, NULL);
  adapvae_result result[4];
  adapvae_score(model, rows[0], 4, 0, result);
  for (int i = 0; i < 4; ++i)
    printf("row %d: cluster %u, novelty %.2f\n", i, result[i].id, result[i].novelty);
  adapvae_destroy(model);
  return 0;
}

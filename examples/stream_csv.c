/* A filter: rows of numbers on standard input, separated by commas, one line of "id novelty" for
 * each. Rows are scored as they come and learnt as soon as there are enough of them.
 *
 *     stream_csv < measurements.csv */
#include <adapvae/adapvae.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostColumns = 4096, kStream = 250 };

/* Numbers of a line; -1 with a message if something in it is not one. */
static int parse(const char* line, long number, float* row) {
  int columns = 0;
  while (*line != '\0' && *line != '\n' && *line != '\r') {
    char* end = NULL;
    if (columns == kMostColumns) {
      fprintf(stderr, "line %ld: more than %d columns\n", number, kMostColumns);
      return -1;
    }
    row[columns++] = strtof(line, &end);
    if (end == line || (*end != ',' && *end != '\n' && *end != '\r' && *end != '\0')) {
      fprintf(stderr, "line %ld, column %d: not a number\n", number, columns);
      return -1;
    }
    line = *end == ',' ? end + 1 : end;
  }
  return columns;
}

int main(void) {
  static char line[1 << 16];
  static float row[kMostColumns];
  adapvae_model* model = NULL;
  int inputs = 0;
  for (long number = 1; fgets(line, sizeof line, stdin) != NULL; ++number) {
    int columns = parse(line, number, row);
    if (columns < 0) return 1;
    if (columns == 0) continue;
    if (model == NULL) {
      adapvae_config config;
      adapvae_config_init(&config, sizeof config);
      config.inputs = inputs = columns;
      config.latent = columns < 10 ? columns : 10;
      config.likelihood = 1;
      config.scale_inputs = 1;
      config.block_rows = kStream;
      adapvae_error error = {.struct_size = sizeof error};
      if (adapvae_create(&config, NULL, &model, &error) != ADAPVAE_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
      }
    }
    if (columns != inputs) {
      fprintf(stderr, "line %ld: %d columns, the first had %d\n", number, columns, inputs);
      return 1;
    }
    adapvae_result result;
    adapvae_status status = adapvae_score(model, row, 1, 0, &result);
    if (status == ADAPVAE_OK) status = adapvae_push(model, row, 1, 0, NULL);
    if (status != ADAPVAE_OK) {
      adapvae_error error = {.struct_size = sizeof error};
      adapvae_last_error(model, &error);
      fprintf(stderr, "line %ld: %s\n", number, error.message);
      return 1;
    }
    printf("%u %.3f\n", result.id, result.novelty);
  }
  adapvae_destroy(model);
  return 0;
}

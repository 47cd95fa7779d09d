/* Seconds that adapvae_score() takes, best of many:  overhead MODEL ROWS COUNT...
 * MODEL: a snapshot; ROWS: little-endian floats, COUNT rows at least. A line a COUNT. */
#define _POSIX_C_SOURCE 200809L
#include <adapvae/adapvae.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(2);
  *size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(2);
  fclose(file);
  return bytes;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  size_t size = 0, row_bytes = 0;
  void* bytes = read_file(argv[1], &size);
  float* rows = read_file(argv[2], &row_bytes);
  adapvae_model* model = NULL;
  if (adapvae_create_from(bytes, size, NULL, &model, NULL) != ADAPVAE_OK) return 1;
  for (int i = 3; i < argc; ++i) {
    const int32_t count = atoi(argv[i]);
    adapvae_result* results = malloc((size_t)count * sizeof *results);
    double best = 1e9;
    const double end = seconds() + 1.0;
    for (double start = seconds(); start < end;) {
      if (adapvae_score(model, rows, count, 0, results) != ADAPVAE_OK) return 1;
      const double now = seconds();
      if (now - start < best) best = now - start;
      start = now;
    }
    printf("%.9f\n", best);
    free(results);
  }
  adapvae_destroy(model);
  free(rows);
  free(bytes);
  return 0;
}

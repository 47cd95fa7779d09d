/* A model that survives the program: save to a file, so that a crash never loses both the old and
 * the new state, load it, and go on exactly where it was. */
#if defined(__unix__) || defined(__APPLE__)
#define _POSIX_C_SOURCE 200809L /* for fsync */
#include <fcntl.h>
#include <unistd.h>
#endif
#include <adapvae/adapvae.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kInputs = 8, kRows = 200 };

static void fill(float* rows, int first) {
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kInputs; ++j) {
      int wave = ((first + i) % 3 * 2 + j) % kInputs;
      rows[i * kInputs + j] = (float)wave / kInputs + 0.001f * (float)((i * 31 + j * 17) % 40);
    }
  }
}

/* The bytes of a model; the caller frees them. */
static unsigned char* bytes_of(const adapvae_model* model, size_t* size) {
  if (adapvae_save(model, NULL, 0, size) != ADAPVAE_OK) return NULL;
  unsigned char* bytes = malloc(*size);
  if (bytes != NULL && adapvae_save(model, bytes, *size, size) == ADAPVAE_OK) return bytes;
  free(bytes);
  return NULL;
}

/* Waits until what was written to a file is on the disk, so that not even a power failure takes it
 * back. Where there is no fsync, it is there a little later. */
static int reach_disk(FILE* file) {
#ifdef _POSIX_C_SOURCE
  return fsync(fileno(file)) == 0;
#else
  (void)file;
  return 1;
#endif
}

/* The same for a rename: it is on the disk when the directory is. */
static int directory_reaches_disk(const char* path) {
#ifdef _POSIX_C_SOURCE
  const char* slash = strrchr(path, '/');
  size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
  char directory[512] = ".";
  if (length >= sizeof directory) return 0;
  if (length > 0) memcpy(directory, path, length), directory[length] = 0;
  int descriptor = open(directory, O_RDONLY);
  if (descriptor < 0) return 0;
  int good = fsync(descriptor) == 0;
  return close(descriptor) == 0 && good;
#else
  (void)path;
  return 1;
#endif
}

/* Beside the old file first: a rename is all or nothing. */
static int write_file(const char* path, const unsigned char* bytes, size_t size) {
  char temporary[512];
  if (snprintf(temporary, sizeof temporary, "%s.new", path) >= (int)sizeof temporary) return 0;
  FILE* file = fopen(temporary, "wb");
  if (file == NULL) return 0;
  int good = fwrite(bytes, 1, size, file) == size;
  good = fflush(file) == 0 && reach_disk(file) && good;
  good = fclose(file) == 0 && good;
  return good && rename(temporary, path) == 0 && directory_reaches_disk(path);
}

static unsigned char* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) return NULL;
  fseek(file, 0, SEEK_END);
  long length = ftell(file);
  rewind(file);
  unsigned char* bytes = length > 0 ? malloc((size_t)length) : NULL;
  *size = bytes != NULL ? fread(bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  return bytes;
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "model.adapvae";
  static float rows[kRows * kInputs];
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = kInputs;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.latent = 4;
  config.block_rows = kRows;
  adapvae_model* model = NULL;
  if (adapvae_create(&config, NULL, &model, NULL) != ADAPVAE_OK) return 1;
  fill(rows, 0);
  if (adapvae_learn(model, rows, kRows, 0, NULL) != ADAPVAE_OK) return 1;

  size_t size = 0;
  unsigned char* bytes = bytes_of(model, &size);
  if (bytes == NULL || !write_file(path, bytes, size)) return 1;
  free(bytes);
  printf("saved %zu bytes to %s\n", size, path);

  /* another day: the configuration comes from the file */
  bytes = read_file(path, &size);
  adapvae_model* resumed = NULL;
  adapvae_error error = {.struct_size = sizeof error};
  if (bytes == NULL || adapvae_create_from(bytes, size, NULL, &resumed, &error) != ADAPVAE_OK) {
    fprintf(stderr, "%s: %s\n", path, bytes == NULL ? "cannot be read" : error.message);
    return 1;
  }
  free(bytes);

  /* both go on, and stay the same */
  fill(rows, 1);
  if (adapvae_learn(model, rows, kRows, 0, NULL) != ADAPVAE_OK) return 1;
  if (adapvae_learn(resumed, rows, kRows, 0, NULL) != ADAPVAE_OK) return 1;
  size_t other_size = 0;
  bytes = bytes_of(model, &size);
  unsigned char* other = bytes_of(resumed, &other_size);
  int same = bytes && other && size == other_size && memcmp(bytes, other, size) == 0;
  printf("resumed and uninterrupted are %s\n", same ? "the same, byte for byte" : "different");
  free(bytes);
  free(other);
  adapvae_destroy(model);
  adapvae_destroy(resumed);
  return same ? 0 : 1;
}

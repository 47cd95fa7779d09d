/* Learns rows stream by stream and tells what came of it, for comparison with the WebAssembly
 * build:
 *
 *   record_stream ROWS STREAM_ROWS MODEL_OUT [--from MODEL] [preset=NAME] [FIELD=VALUE]...
 *
 * ROWS: little-endian floats. One JSON object a line: every stream's report, every cluster, and in
 * the end every row's score. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapvae/adapvae.h"

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(2);
  *size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(*size + 1);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) exit(2);
  fclose(file);
  return bytes;
}

static void demand(adapvae_status status, const adapvae_error* error) {
  if (status == ADAPVAE_OK) return;
  fprintf(stderr, "record_stream: %s: %s\n", adapvae_status_name(status),
          error != NULL ? error->message : "");
  exit(1);
}

static adapvae_model* make(int argc, char** argv) {
  adapvae_error error = {.struct_size = sizeof error};
  adapvae_model* model = NULL;
  adapvae_config config;
  demand(adapvae_config_init(&config, sizeof config), NULL);
  for (int i = 4; i < argc; ++i) {
    if (strcmp(argv[i], "--from") == 0 && i + 1 < argc) {
      size_t size = 0;
      void* bytes = read_file(argv[i + 1], &size);
      demand(adapvae_create_from(bytes, size, NULL, &model, &error), &error);
      free(bytes);
      return model;
    }
    char* value = strchr(argv[i], '=');
    if (value == NULL) exit(2);
    *value++ = '\0';
    demand(strcmp(argv[i], "preset") == 0 ? adapvae_config_preset(&config, value, &error)
                                          : adapvae_config_set(&config, argv[i], value, &error),
           &error);
  }
  demand(adapvae_create(&config, NULL, &model, &error), &error);
  return model;
}

static void check(adapvae_model* model, adapvae_status status) {
  adapvae_error error = {.struct_size = sizeof error};
  if (status != ADAPVAE_OK) adapvae_last_error(model, &error);
  demand(status, &error);
}

static void print_clusters(adapvae_model* model) {
  adapvae_info info = {.struct_size = sizeof info};
  check(model, adapvae_get_info(model, &info));
  for (int32_t i = 0; i < info.clusters; ++i) {
    adapvae_cluster cluster = {.struct_size = sizeof cluster};
    check(model, adapvae_cluster_at(model, i, &cluster));
    printf("{\"cluster\":%u,\"components\":%d,\"parent\":%u,\"rows\":%.17g}\n", cluster.id,
           cluster.components, cluster.parent, cluster.rows);
  }
}

static void save(adapvae_model* model, const char* path) {
  size_t size = 0;
  check(model, adapvae_save(model, NULL, 0, &size));
  void* bytes = malloc(size);
  check(model, adapvae_save(model, bytes, size, &size));
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) exit(2);
  free(bytes);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  size_t size = 0;
  const float* rows = read_file(argv[1], &size);
  const int32_t stream_rows = atoi(argv[2]);
  adapvae_model* model = make(argc, argv);
  adapvae_info info = {.struct_size = sizeof info};
  check(model, adapvae_get_info(model, &info));
  const int32_t count = (int32_t)(size / sizeof(float) / (size_t)info.inputs);
  for (int32_t at = 0; at < count; at += stream_rows) {
    const int32_t n = count - at < stream_rows ? count - at : stream_rows;
    adapvae_report report = {.struct_size = sizeof report};
    check(model, adapvae_learn(model, rows + (size_t)at * (size_t)info.inputs, n, 0, &report));
    printf("{\"stream\":%d,\"clusters\":%d,\"births\":%d,\"bound\":%.17g,\"loss\":%.17g}\n",
           at / stream_rows, report.clusters, report.births, report.bound, report.loss);
  }
  print_clusters(model);
  adapvae_result* results = malloc((size_t)count * sizeof *results);
  check(model, adapvae_score(model, rows, count, 0, results));
  for (int32_t i = 0; i < count; ++i) {
    printf("{\"id\":%u,\"component\":%u,\"novelty\":%.9g}\n", results[i].id, results[i].component,
           (double)results[i].novelty);
  }
  save(model, argv[3]);
  free(results);
  adapvae_destroy(model);
  return 0;
}

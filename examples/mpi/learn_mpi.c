/* One model, many processes: rank 0 has the model, all ranks have rows.
 *
 *     mpirun -n 4 learn_mpi landsat.csv [model]
 *
 * Rank 0 learns the first rows, and the features with them; that is the base, which all ranks get.
 * The other rows come in rounds, in blocks that are dealt out to the ranks. A rank sends what its
 * blocks add to the base: not rows, but gains. Rank 0 adds them up, and has the next base. A gain
 * is known by its block, not by its rank: however many ranks there are, the same model comes of it.
 */
#include <adapvae/adapvae.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBands = 4, kStream = 400, kFirst = 800, kRound = 500, kBlock = 125 };

static void stop(const char* what, const char* why) {
  fprintf(stderr, "learn_mpi: %s: %s\n", what, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static void check(adapvae_model* model, adapvae_status status, const char* what) {
  if (status == ADAPVAE_OK) return;
  adapvae_error error = {.struct_size = sizeof error, .message = ""};
  adapvae_last_error(model, &error);
  stop(what, error.message);
}

/* ---- memory that grows ---- */

typedef struct bytes {
  unsigned char* data;
  size_t size;
} bytes;

static bytes room(size_t size) {
  bytes made = {malloc(size > 0 ? size : 1), size};
  if (made.data == NULL) stop("memory", "there is none");
  return made;
}

/* ---- rows ---- */

static float* read_rows(const char* path, int* count) {
  FILE* file = fopen(path, "r");
  if (file == NULL) stop(path, "cannot be read");
  char line[256];
  float* rows = NULL;
  *count = 0;
  if (fgets(line, sizeof line, file) == NULL) stop(path, "is empty"); /* names */
  while (fgets(line, sizeof line, file) != NULL) {
    rows = realloc(rows, sizeof(float) * kBands * ((size_t)*count + 1));
    if (rows == NULL) stop("memory", "there is none");
    const char* at = line;
    for (int i = 0; i < kBands; ++i) {
      char* end = NULL;
      rows[*count * kBands + i] = strtof(at, &end);
      if (end == at || *end != ',') stop(path, "has a line without four numbers");
      at = end + 1;
    }
    ++*count;
  }
  fclose(file);
  if (*count <= kFirst) stop(path, "has too few rows");
  return rows;
}

/* ---- the base: from rank 0 to all ---- */

static adapvae_model* learn_first(const float* rows) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = kBands;
  config.latent = 4;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.likelihood = 1;
  config.scale_inputs = 1;
  config.block_rows = kStream;
  config.max_clusters = 16;
  config.seed = 2;
  config.freeze_encoder_after = 1; /* gains are sums as long as features stay as they are */
  adapvae_model* model = NULL;
  adapvae_error error = {.struct_size = sizeof error, .message = ""};
  if (adapvae_create(&config, NULL, &model, &error) != ADAPVAE_OK) stop("create", error.message);
  check(model, adapvae_push(model, rows, kFirst, 0, NULL), "learn");
  check(model, adapvae_flush(model, NULL), "learn");
  return model;
}

static adapvae_model* share(adapvae_model* model, int rank) {
  size_t size = 0;
  if (rank == 0) check(model, adapvae_save(model, NULL, 0, &size), "save");
  unsigned long long told = size;
  MPI_Bcast(&told, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  bytes file = room((size_t)told);
  if (rank == 0) check(model, adapvae_save(model, file.data, file.size, &size), "save");
  MPI_Bcast(file.data, (int)file.size, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank != 0) {
    adapvae_error error = {.struct_size = sizeof error, .message = ""};
    adapvae_destroy(model);
    if (adapvae_create_from(file.data, file.size, NULL, &model, &error) != ADAPVAE_OK) {
      stop("load", error.message);
    }
  }
  free(file.data);
  return model;
}

/* ---- gains: from all to rank 0 ---- */

static bytes gain(adapvae_model* base, const float* rows, int count, unsigned block) {
  const adapvae_gain_key key = {.worker = block};
  bytes made = {NULL, 0};
  check(base, adapvae_gain(base, NULL, 0, 0, NULL, NULL, 0, &made.size), "gain");
  made = room(made.size);
  check(base, adapvae_gain(base, rows, count, 0, &key, made.data, made.size, &made.size), "gain");
  return made;
}

/* Takes both. */
static bytes merge(bytes a, bytes b) {
  adapvae_error error = {.struct_size = sizeof error, .message = ""};
  size_t size = 0;
  bytes made = {NULL, 0};
  if (adapvae_merge_gains(a.data, a.size, b.data, b.size, NULL, 0, &size, &error) == ADAPVAE_OK) {
    made = room(size);
    adapvae_merge_gains(a.data, a.size, b.data, b.size, made.data, size, &size, &error);
  }
  if (error.status != ADAPVAE_OK) stop("merge", error.message);
  free(a.data);
  free(b.data);
  return made;
}

/* On rank 0: the sets of all ranks as one. Takes `own`. */
static bytes gather(bytes own, int rank, int ranks) {
  int size = (int)own.size, total = 0;
  int* sizes = calloc((size_t)ranks, sizeof *sizes);
  int* places = calloc((size_t)ranks, sizeof *places);
  if (sizes == NULL || places == NULL) stop("memory", "there is none");
  MPI_Gather(&size, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; ++i) {
    places[i] = total;
    total += sizes[i];
  }
  bytes all = room((size_t)total);
  MPI_Gatherv(own.data, size, MPI_BYTE, all.data, sizes, places, MPI_BYTE, 0, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; ++i) {
    bytes one = room((size_t)sizes[i]);
    memcpy(one.data, all.data + places[i], one.size);
    own = merge(own, one);
  }
  free(all.data);
  free(sizes);
  free(places);
  return own;
}

static void apply(adapvae_model* model, bytes set, int round, uint64_t* seen) {
  adapvae_gains gains = {.struct_size = sizeof gains};
  adapvae_report report = {.struct_size = sizeof report};
  adapvae_inspect_gains(set.data, set.size, &gains, NULL);
  check(model, adapvae_apply_gains(model, set.data, set.size, NULL, 0, &report), "apply");
  printf("round %d: %d rows in %d gains, %d born at workers, %d in the model\n", round, report.rows,
         gains.gains, gains.born, report.births);
  adapvae_event event = {.struct_size = sizeof event, .sequence = *seen};
  while (adapvae_next_event(model, &event) == ADAPVAE_OK) {
    char text[256];
    *seen = event.sequence;
    if (event.type == ADAPVAE_BORN &&
        adapvae_event_text(&event, ADAPVAE_TEXT, text, sizeof text, NULL) == ADAPVAE_OK) {
      printf("  %s\n", text);
    }
  }
}

/* All that there is to know of the clusters, in full. */
static void tell(adapvae_model* model) {
  adapvae_info info = {.struct_size = sizeof info};
  check(model, adapvae_get_info(model, &info), "info");
  printf("%llu rows, %d clusters\n", (unsigned long long)info.rows, info.clusters);
  for (int k = 0; k < info.clusters; ++k) {
    adapvae_cluster cluster = {.struct_size = sizeof cluster};
    double mean[4], covariance[16];
    check(model, adapvae_cluster_at(model, k, &cluster), "cluster");
    check(model, adapvae_moments(model, cluster.id, mean, covariance), "moments");
    printf("cluster %u %.17g %.17g", cluster.id, cluster.rows, cluster.weight);
    for (int i = 0; i < 4; ++i) printf(" %.17g", mean[i]);
    for (int i = 0; i < 16; ++i) printf(" %.17g", covariance[i]);
    puts("");
  }
}

static void write_file(adapvae_model* model, const char* path) {
  size_t size = 0;
  check(model, adapvae_save(model, NULL, 0, &size), "save");
  bytes file = room(size);
  check(model, adapvae_save(model, file.data, file.size, &size), "save");
  FILE* out = fopen(path, "wb");
  const int whole = out != NULL && fwrite(file.data, 1, file.size, out) == file.size;
  if (!whole || fclose(out) != 0) stop(path, "cannot be written");
  free(file.data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1, count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2) stop("usage", "learn_mpi ROWS.csv [MODEL]");
  float* rows = read_rows(argv[1], &count);
  adapvae_model* model = rank == 0 ? learn_first(rows) : NULL;
  uint64_t seen = 0;
  for (int begin = kFirst, round = 1; begin < count; begin += kRound, ++round) {
    const int end = begin + kRound < count ? begin + kRound : count;
    model = share(model, rank);
    bytes set = gain(model, NULL, 0, 0); /* of nothing: where the sum starts */
    for (int b = 0; begin + b * kBlock < end; ++b) {
      if (b % ranks != rank) continue;
      const int first = begin + b * kBlock;
      const int n = first + kBlock < end ? kBlock : end - first;
      set = merge(set, gain(model, rows + (size_t)first * kBands, n, (unsigned)b));
    }
    set = gather(set, rank, ranks);
    if (rank == 0) apply(model, set, round, &seen);
    free(set.data);
  }
  if (rank == 0) tell(model);
  if (rank == 0 && argc > 2) write_file(model, argv[2]);
  adapvae_destroy(model);
  free(rows);
  MPI_Finalize();
  return 0;
}

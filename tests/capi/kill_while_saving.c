/* kill -9 at random moments while a model learns and saves, again and again: the file always loads,
 * as the state that was saved before or the one that was being saved. The file is written by the
 * example's own code, which is what a user would copy.
 *
 *   kill_while_saving DIRECTORY [KILLS] [SEED]
 *
 * That what was written survives a power failure is up to fsync, and is not tried here. */
#define main save_resume_main
#include "../../examples/save_resume.c"
#undef main

#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>

enum { kColumns = 64, kStream = 40 };

/* A state of the model, told before it is saved, and told again when it is. */
typedef struct Notice {
  uint64_t streams;
  uint64_t hash;
  int32_t saved;
  int32_t unused;
} Notice;

static uint64_t hash_of(const unsigned char* bytes, size_t size) { /* FNV-1a */
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static uint64_t streams_of(const adapvae_model* model) {
  adapvae_info info = {.struct_size = sizeof info};
  return adapvae_get_info(model, &info) == ADAPVAE_OK ? info.streams : 0;
}

/* The model in the file; NULL, with a message, if it does not load. */
static adapvae_model* load(const char* path, uint64_t* hash) {
  size_t size = 0;
  unsigned char* bytes = read_file(path, &size);
  adapvae_model* model = NULL;
  adapvae_error error = {.struct_size = sizeof error, .message = "cannot be read"};
  if (bytes == NULL || adapvae_create_from(bytes, size, NULL, &model, &error) != ADAPVAE_OK) {
    fprintf(stderr, "%s, %zu bytes: %s\n", path, size, error.message);
  }
  if (bytes != NULL) *hash = hash_of(bytes, size);
  free(bytes);
  return model;
}

static int save(const adapvae_model* model, const char* path, int notices) {
  size_t size = 0;
  unsigned char* bytes = bytes_of(model, &size);
  if (bytes == NULL) return 0;
  Notice notice = {.streams = streams_of(model), .hash = hash_of(bytes, size)};
  int good = write(notices, &notice, sizeof notice) == sizeof notice;
  good = good && write_file(path, bytes, size);
  notice.saved = 1;
  good = good && write(notices, &notice, sizeof notice) == sizeof notice;
  free(bytes);
  return good;
}

/* What is killed: goes on from the file, for ever. */
static int learn_and_save(const char* path, int notices) {
  static float rows[kStream * kColumns];
  uint64_t hash = 0;
  adapvae_model* model = load(path, &hash);
  if (model == NULL) return 1;
  for (;;) {
    uint64_t number = streams_of(model);
    for (size_t i = 0; i < kStream * kColumns; ++i) {
      rows[i] = (float)((i / kColumns + number) % 3 == i % 3) * 0.6f +
                (float)((i * 37 + number * 11) % 100) * 0.003f;
    }
    if (adapvae_learn(model, rows, kStream, 0, NULL) != ADAPVAE_OK) return 1;
    if (!save(model, path, notices)) return 1;
  }
}

/* A network of 300 kB that is quick to learn: most of the time goes into saving. */
static int begin(const char* path, int notices) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = kColumns;
  config.latent = 4;
  config.hidden1 = 512;
  config.hidden2 = 0;
  config.block_rows = kStream;
  config.batch = 20;
  config.pretrain_epochs = 1;
  config.adapt_epochs = config.joint_epochs = 1;
  config.neighbour_epochs = 1;
  config.freeze_encoder_after = 1;
  adapvae_model* model = NULL;
  if (adapvae_create(&config, NULL, &model, NULL) != ADAPVAE_OK) return 0;
  int good = save(model, path, notices);
  adapvae_destroy(model);
  return good;
}

static uint32_t random_state;
static double random_part(void) {
  random_state = random_state * 1664525u + 1013904223u;
  return (double)(random_state >> 8) / 16777216.0;
}
static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static void wait_for(double duration) {
  struct timespec time = {(time_t)duration, (long)(1e9 * (duration - (double)(time_t)duration))};
  nanosleep(&time, NULL);
}

static int fail(const char* what) {
  fprintf(stderr, "kill_while_saving: %s\n", what);
  return 1;
}

int main(int argc, char** argv) {
  if (argc < 2) return fail("usage: kill_while_saving DIRECTORY [KILLS] [SEED]");
  char path[400];
  if (snprintf(path, sizeof path, "%s/killed.safetensors", argv[1]) >= (int)sizeof path) return 1;
  const int kills = argc > 2 ? atoi(argv[2]) : 20;
  random_state = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;

  int ends[2];
  if (pipe(ends) != 0) return fail("pipe");
  Notice notice, disk; /* disk: what the file must hold, unless the next was being saved */
  double start = seconds();
  if (!begin(path, ends[1])) return fail("the first save failed");
  double span = seconds() - start; /* what a save takes, about */
  if (read(ends[0], &notice, sizeof notice) != sizeof notice ||
      read(ends[0], &disk, sizeof disk) != sizeof disk) {
    return fail("pipe");
  }
  close(ends[0]);
  close(ends[1]);

  int within = 0, old_found = 0, new_found = 0;
  const uint64_t first = disk.streams;
  for (int i = 0; i < kills; ++i) {
    if (pipe(ends) != 0) return fail("pipe");
    pid_t child = fork();
    if (child < 0) return fail("fork");
    if (child == 0) {
      close(ends[0]);
      _exit(learn_and_save(path, ends[1]));
    }
    close(ends[1]);
    /* Every second time not before a save has begun, so that many kills fall into one. */
    Notice next = disk;
    int saving = 0;
    if (i % 2 == 0 && read(ends[0], &next, sizeof next) == sizeof next) saving = 1;
    wait_for(random_part() * (saving ? 1.5 : 6.0) * span);
    if (waitpid(child, NULL, WNOHANG) != 0) return fail("the saving program ended by itself");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    /* What it said before it died. */
    start = seconds();
    while (read(ends[0], &notice, sizeof notice) == sizeof notice) {
      saving = !notice.saved;
      next = notice;
      if (notice.saved) disk = notice;
    }
    close(ends[0]);
    uint64_t hash = 0;
    adapvae_model* model = load(path, &hash);
    if (model == NULL) return fail("what is on the disk does not load");
    const int is_old = hash == disk.hash && streams_of(model) == disk.streams;
    const int is_new = saving && hash == next.hash && streams_of(model) == next.streams;
    adapvae_destroy(model);
    if (!is_old && !is_new) return fail("what is on the disk is neither the old nor the new state");
    within += saving;
    old_found += saving && is_old;
    new_found += saving && is_new;
    if (is_new) disk = next;
  }
  printf(
      "%d kills, %d within a save: %d times the old state, %d the new one; %llu streams learnt\n",
      kills, within, old_found, new_found, (unsigned long long)(disk.streams - first));
  remove(path);
  return 0;
}

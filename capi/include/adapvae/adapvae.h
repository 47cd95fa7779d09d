/* clang-format off */
/* adapvae: clusters an unlabelled stream of rows while it learns their features, finds new kinds by
 * itself, and forgets none although it stores no past row.
 *
 * This header is the manual. What is not in it is not API.
 *
 *     adapvae_config config;
 *     adapvae_config_init(&config, sizeof config);
 *     config.inputs = 64;                                    // numbers in a row, each in [0, 1]
 *
 *     adapvae_model* model = NULL;
 *     if (adapvae_create(&config, NULL, &model, NULL) != ADAPVAE_OK) return 1;
 *     adapvae_learn(model, rows, count, 0, NULL);            // float rows[count][64], a stream
 *     adapvae_result result;
 *     adapvae_score(model, row, 1, 0, &result);              // what is this row?
 *     printf("cluster %u, novelty %.2f\n", result.id, result.novelty);
 *     adapvae_destroy(model);
 *
 * The four verbs are create, learn, score and set_sensitivity; the rest is there when it is needed.
 *
 * Rows.      Row-major float32. `stride` is the distance between rows in floats; 0: they touch. The
 *            memory is the caller's and is borrowed for the call; a float's own alignment is enough.
 *            Infinity is refused, with the row's number, from 0, in the error, and so is NaN unless
 *            missing_values is set: it then stands for a missing value. Numbers outside [0, 1] need
 *            scale_inputs and another likelihood: see the configuration.
 * Streams.   Here "a stream" is a block of rows that is learnt at once, 1 to block_rows of them; an
 *            endless flow of rows is learnt stream by stream.
 * Novelty.   In [0, 1], higher is more novel. A row is novel if and only if its novelty is above 0.5.
 *            Judged by its features, and by what the network cannot redraw of it.
 *            Before anything is learnt it is 1, and the cluster is ADAPVAE_NO_ID.
 * Clusters.  A cluster is what a person would count. It has an id from 1 on, which never changes and
 *            is never used for another cluster. adapvae_resolve() answers for the id of a cluster
 *            that was merged.
 * Components. The mixture is made of Gaussian components. A cluster is one component, or several whose
 *            rows cannot be told apart. A component that is added to a known cluster is not a birth.
 * Errors.    Every call that can fail returns an adapvae_status. A call that fails has changed
 *            nothing: a model is then byte for byte what it was (exceptions: restore_on_failure, and
 *            adapvae_push() of several blocks). Why it failed: adapvae_last_error(),
 *            or the adapvae_error that calls without a model take (NULL: not wanted).
 *            The library never prints, exits, raises a signal or throws; a caller's function must
 *            return, too, without an exception or a longjmp across the library.
 * Memory.    One piece, at create, of adapvae_memory_required() bytes: from malloc, from the caller's
 *            allocator, or given by the caller. After that no call allocates, unless it says so.
 * Devices.   Builds can leave things out: the heap (ADAPVAE_NO_HEAP: memory or an allocator must be
 *            given), texts of errors and fields (ADAPVAE_STRIP_STRINGS: they are empty; numbers stay),
 *            all that learns (ADAPVAE_INFERENCE_ONLY: ADAPVAE_UNAVAILABLE but for scorers). Stack that
 *            calls take, sizes: docs/results/edge.md; a firmware: examples/cortex-m.
 * Threads.   A model is for one thread at a time; different models do not know of each other.
 *            adapvae_stop() alone may be called from anywhere. The library makes no threads: those
 *            that adapvae_options brings are used within a call. To score while a model learns, give
 *            each scoring thread a scorer of its own: adapvae_create_scorer().
 * Sameness.  The same configuration, seed and calls give the same model, byte for byte, on one build
 *            and instruction set, whatever the number of threads; others agree to rounding.
 * Promises.  Within a major version: programs compile against newer headers (API), run with newer
 *            shared libraries (ABI), and files of older versions load (format). Before 1.0 the first
 *            two may still change, and CHANGELOG says so. adapvae_experimental.h promises nothing.
 */
/* clang-format on */
#ifndef ADAPVAE_ADAPVAE_H
#define ADAPVAE_ADAPVAE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) && defined(ADAPVAE_SHARED)
#if defined(ADAPVAE_BUILDING_LIBRARY)
#define ADAPVAE_API __declspec(dllexport)
#else
#define ADAPVAE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ADAPVAE_API __attribute__((visibility("default")))
#else
#define ADAPVAE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and build ---------------------------------------------------------------------- */

#define ADAPVAE_VERSION_MAJOR 0
#define ADAPVAE_VERSION_MINOR 1
#define ADAPVAE_VERSION_PATCH 0

/* Version of the library at run time, as major * 10000 + minor * 100 + patch. */
ADAPVAE_API int32_t adapvae_version_number(void);

/* The same as text, for example "0.1.0". Static storage. */
ADAPVAE_API const char* adapvae_version_string(void);

/* What computes. AUTO is the CPU, or CUDA where it is there and a training step is large enough. */
enum { ADAPVAE_BACKEND_AUTO = 0, ADAPVAE_BACKEND_CPU = 1, ADAPVAE_BACKEND_CUDA = 2 };

/* 1 if this build on this machine has the backend, else 0: adapvae_memory_required() or
 * adapvae_create() with it say why. */
ADAPVAE_API int32_t adapvae_backend_available(int32_t backend);

/* Name of the instruction-set level that the CPU backend will use: "scalar", "baseline", "avx2",
 * "avx512", "neon" or "simd128". The environment variable ADAPVAE_ISA, if set to one of these that
 * is available here, forces it. Static storage. */
ADAPVAE_API const char* adapvae_instruction_set(void);

/* ---- Status --------------------------------------------------------------------------------- */

/* Numbers never change their meaning; new ones are added within their group. */
typedef int32_t adapvae_status;
enum {
  ADAPVAE_OK = 0,

  /* 1 to 19: what was given */
  ADAPVAE_INVALID_ARGUMENT = 1, /* null, out of bounds, unknown name */
  ADAPVAE_SHAPE_MISMATCH = 2,  /* not the size agreed at create; more rows than there is room for */
  ADAPVAE_NON_FINITE = 3,      /* an infinity or, without missing_values, a NaN; index: the row */
  ADAPVAE_UNKNOWN_CLUSTER = 4, /* no cluster has, or had, this id */

  /* 20 to 39: what is needed */
  ADAPVAE_OUT_OF_MEMORY = 20,
  ADAPVAE_UNAVAILABLE = 21, /* this build, machine or handle cannot do it */

  /* 40 to 59: files */
  ADAPVAE_CORRUPT_DATA = 40,
  ADAPVAE_NEWER_FORMAT = 41, /* written by a version that this one cannot read */

  /* 60 to 79: the state of things */
  ADAPVAE_BUSY = 60,    /* called from within a call on the same model */
  ADAPVAE_REFUSED = 61, /* a correction that the evidence speaks against, without force */
  ADAPVAE_NO_MORE = 62, /* no further event */
  ADAPVAE_LATE = 63,    /* gains of a base that the model has gone on from */
  ADAPVAE_FOREIGN = 64, /* gains of another network, or of other clusters */
  ADAPVAE_DIVERGED = 65 /* training diverged; nothing has changed */
};

/* "ADAPVAE_OK" and so on; "unknown status" for other numbers. Static storage. */
ADAPVAE_API const char* adapvae_status_name(adapvae_status status);

/* Of structs with a struct_size: the caller sets it to sizeof before the call, and the library
 * writes, or reads, no more than that. So they can grow. */
typedef struct adapvae_error {
  uint32_t struct_size;
  adapvae_status status;
  int32_t index;       /* row, field of the configuration or byte of a file; -1: none */
  int32_t reserved;    /* 0 */
  const char* message; /* one sentence, static storage, never NULL */
} adapvae_error;

typedef struct adapvae_model adapvae_model;
typedef struct adapvae_options adapvae_options;

/* Of the last call on this model that failed, whatever has succeeded since; error->status is
 * ADAPVAE_OK if none has. */
ADAPVAE_API adapvae_status adapvae_last_error(const adapvae_model* model, adapvae_error* error);

/* ---- Configuration -------------------------------------------------------------------------- */

/* All that can be set. `inputs` must be; the defaults suit rows of some hundred numbers in [0, 1].
 * Raw measurements of any scale: likelihood = 1, scale_inputs = 1; for a handful of channels a
 * smaller network will do (latent = 4, hidden1 = 32, hidden2 = 0). Live fields can be changed
 * later. Presets set `inputs`, too:
 *
 * - "desktop": 28 x 28 images, in seconds a stream on two cores
 * - "paper": 28 x 28 images, the network of the AdapVAE paper
 * - "browser": 28 x 28 images in WebAssembly, streams of 500 rows
 * - "edge": rows of 64 numbers on a small device, streams of 200 rows
 *
 * Bounds and defaults of every field: adapvae_config_field(), docs/configuration.md. */
typedef struct adapvae_config {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */

  /* -- Network -- */
  /* Numbers in a row. Must be given. */
  int32_t inputs;
  /* Features that the network learns; the mixture clusters these. Default 10. */
  int32_t latent;
  /* Width of the encoder's first hidden layer, mirrored in the decoder; 0: none. Default 256. */
  int32_t hidden1;
  /* Width of the second; 0: none. Default 128. */
  int32_t hidden2;
  /* Width of the third; 0: none. Default 0. */
  int32_t hidden3;
  /* Width of the fourth; 0: none. Default 0. */
  int32_t hidden4;
  /* standardise: inputs are measured in standard deviations from the first block's mean. Beyond 5
   * they are compressed. If the range changes they are scaled anew. For a gaussian likelihood. 0
   * off, 1 standardise. Default 0. */
  int32_t scale_inputs;
  /* NaN stands for a missing value: it is filled with what the model expects there, and does not
   * count. off: rows with NaN are refused. 0 or 1. Default 0. */
  int32_t missing_values;
  /* How the decoder explains a row: bernoulli for numbers in [0, 1], gaussian for others, with
   * one variance for all inputs or a learnt one for each. 0 bernoulli, 1 gaussian, 2
   * gaussian_learned. Default 0. */
  int32_t likelihood;
  /* Variance of an input around what the decoder says (gaussian). Default 1. */
  double likelihood_variance;
  /* Activation of the hidden layers. 0 linear, 1 relu, 2 leaky_relu, 3 tanh, 4 sigmoid, 5
   * softplus. Default 1. */
  int32_t activation;
  /* How weights are first drawn: he for relu and leaky_relu, xavier for the others. 0 he, 1
   * xavier. Default 0. */
  int32_t initialisation;

  /* -- Room -- */
  /* Shape of a cluster; diagonal takes less memory and misses tilted clusters. 0 full, 1
   * diagonal. Default 0. */
  int32_t covariance;
  /* Clusters that there is room for. Default 40. */
  int32_t max_clusters;
  /* Most rows of a stream. Default 1000. */
  int32_t block_rows;
  /* Rows that go through the network at once. More take memory and give the same result. Default
   * 500. */
  int32_t pass_rows;
  /* Room for replay rows; 0: replay_ratio times block_rows. More lets replay_ratio be raised
   * later. Default 0. */
  int32_t replay_rows;
  /* Far-out rows that may wait for others of their kind; 0: no past row is ever stored. Default
   * 0. */
  int32_t pending_rows;
  /* Merged clusters whose ids are still answered for. Default 4096. */
  int32_t aliases;
  /* Corrections that can be undone. Default 4. */
  int32_t undo_steps;
  /* Events that are kept until they are read; then the oldest are overwritten. Default 256. */
  int32_t events;
  /* A stream that fails half-way, because a device does, leaves the model as it was, for the
   * memory of the network's parameters once more. off: then only a reset helps. 0 or 1. Default
   * 1. */
  int32_t restore_on_failure;
  /* The same seed and calls give the same model, byte for byte. Default 1. */
  uint64_t seed;

  /* -- Training -- */
  /* Rows of a step of the network's training. Live. Default 100. */
  int32_t batch;
  /* Epochs of reconstruction alone on the first stream. Default 40. */
  int32_t pretrain_epochs;
  /* Epochs of reconstruction alone on later streams, before births. Live. Default 8. */
  int32_t adapt_epochs;
  /* Epochs of a stream with the mixture as prior. Live. Default 8. */
  int32_t joint_epochs;
  /* Laps of the mixture after each joint epoch. Live. Default 3. */
  int32_t sweeps;
  /* After so many streams the network stays as it is and the mixture alone learns; 0: never.
   * Live. Default 0. */
  int32_t freeze_encoder_after;
  /* Epochs of the neighbour embedding on the first stream, after pretraining. Default 4. */
  int32_t neighbour_epochs;
  /* How firmly rows that lie next to each other are then drawn together, for 784 inputs (fewer:
   * less, in proportion); 0: not at all. Default 50. */
  double neighbour_weight;
  /* Step size of the network's training (Adam). Live. Default 0.001. */
  double learning_rate;
  /* Weight of the mixture in the network's loss; 0: inputs / 784. Live. Default 0. */
  double prior_weight;
  /* Part of the inputs that is hidden from the encoder while it learns reconstruction alone.
   * Live. Default 0.2. */
  double pretrain_mask_probability;
  /* Deviation of noise that is added to the inputs then. Live. Default 0. */
  double pretrain_noise;
  /* Part of the inputs that is hidden from the encoder in joint epochs. Live. Default 0. */
  double joint_mask_probability;
  /* Deviation of noise that is added to the inputs then. Live. Default 0. */
  double joint_noise;

  /* -- Images -- */
  /* Width of rows that are images; 0: they are not. Default 0. */
  int32_t image_width;
  /* Height of rows that are images; 0: they are not. Default 0. */
  int32_t image_height;
  /* Planes of an image, one after the other. Default 1. */
  int32_t image_channels;
  /* Show the encoder images that are moved and bent a little, at random. 0 or 1. Live. Default
   * 0. */
  int32_t augment;
  /* They are shifted by up to so many pixels each way. Live. Default 2. */
  double augment_shift;
  /* They are turned by up to so many radians each way. Live. Default 0.3. */
  double augment_rotation;
  /* They are made larger or smaller by up to this part. Live. Default 0.15. */
  double augment_scale;
  /* They are sheared by up to this slope each way. Live. Default 0.1. */
  double augment_shear;

  /* -- Replay -- */
  /* Rows drawn from the clusters for each new row, so that the network does not forget; 0: no
   * replay. Live. Default 2. */
  double replay_ratio;
  /* 1: large clusters are drawn in proportion to their rows; 0: all are drawn alike. Live.
   * Default 0.75. */
  double replay_balance;
  /* Draws lie within so many deviations of their cluster. Live. Default 3. */
  double replay_radius;
  /* Drop draws that the network itself would put into another cluster. 0 or 1. Live. Default
   * 1. */
  int32_t replay_filter;
  /* How clusters follow when training moves the features: where they lie, and (affine) what shape
   * they have. two_stage: births are first judged by clusters as narrow as replay makes them. 0
   * off, 1 shift, 2 affine, 3 two_stage. Live. Default 3. */
  int32_t drift;
  /* How firmly training keeps the features of replay rows where they were. Live. Default 1. */
  double distillation;
  /* fit: replay rows stand beside the new ones while clusters are fitted, and are taken out
   * before the stream closes. counted: they stay, as if they had come. 0 off, 1 fit, 2 counted.
   * Default 0. */
  int32_t replay_in_fit;

  /* -- Mixture -- */
  /* Covariance that a new cluster is expected to have. scaled: a fraction of the first block's
   * variance. empirical: from the second block on, the mean covariance of all clusters. fitted:
   * the same, but in the first block it is estimated together with the clusters, which finds more
   * of them. 0 scaled, 1 empirical, 2 fitted. Default 1. */
  int32_t prior_mode;
  /* Learn the concentration from the data, around the one given. 0 or 1. Live. Default 0. */
  int32_t learn_concentration;
  /* A cluster's variance as a part of the first stream's. Default 0.3. */
  double prior_scale;
  /* How firmly the place of a new cluster is expected, in rows; with prior_mode=fitted at most.
   * Live. Default 0.2. */
  double prior_beta;
  /* How firmly the shape of a new cluster is expected, in rows (empirical). Live. Default 22. */
  double prior_strength;
  /* Higher: more clusters are expected. Live. Default 5. */
  double concentration;
  /* What a row counts as evidence; below 1 for features far from Gaussian. Live. Default 1. */
  double row_weight;
  /* A stream counts as at most so many rows of evidence: more divide clusters finer; 0: as many
   * as it has. Live. Default 1000. */
  double effective_rows;
  /* But a row of it counts at least this much: a long stream shows finer kinds. Live. Default
   * 0.25. */
  double effective_part;

  /* -- Births and merges -- */
  /* Laps of the mixture between moves, at most. Live. Default 8. */
  int32_t laps;
  /* Rounds of births and merges in a stream, at most. Live. Default 6. */
  int32_t rounds;
  /* Divide clusters by evidence that is gathered over several streams. 0 or 1. Live. Default
   * 1. */
  int32_t divisions;
  /* Let a cluster born in this stream merge with an older one. 0 or 1. Live. Default 0. */
  int32_t merge_old_with_new;
  /* Births from rows that no cluster explained when they came. 0 or 1. Live. Default 1. */
  int32_t unexplained_births;
  /* A cluster is born out of an old one that has seen 1000 rows if clearly more than this part of
   * its rows was novel when they came, by three deviations: else it is a style of what is known.
   * Divisions are free of that; 0: so is everything. Live. Default 0.015. */
  double birth_novelty;
  /* For so many streams a merged cluster is not parted again … Live. Default 2. */
  int32_t hysteresis_streams;
  /* … unless it has grown by this factor. Live. Default 1.5. */
  double hysteresis_growth;
  /* Rows farther out than this part of a cluster's own wait, if pending_rows gives room. Live.
   * Default 0.995. */
  double pending_part;
  /* For so many streams a row may wait. Live. Default 10. */
  int32_t pending_streams;

  /* -- Kinds -- */
  /* Components whose rows cannot be told apart are one cluster; else each is a cluster of its
   * own. 0 or 1. Live. Default 1. */
  int32_t kinds;
  /* Components are one cluster if the density of rows hardly falls between them. Higher: a
   * smaller fall parts them, and there are more and smaller clusters. Live. Default 1. */
  double kind_resolution;

  /* -- Forgetting -- */
  /* The past counts half after so many rows; 0: it does not fade. Live. Default 0. */
  double half_life_rows;
  /* The past counts half after so much time, in the unit of the times given; 0: it does not fade.
   * Live. Default 0. */
  double half_life_time;

  /* -- Novelty -- */
  /* Part of ordinary rows that may be called novel. Live. Default 0.01. */
  double false_alarm_rate;
  /* Above 1 more is called novel, below 1 less; a factor of 2.7 moves the boundary by a
   * deviation. Live. Default 1. */
  double sensitivity;
  /* What the decoder cannot account for in a row, beside what its features say; 0: features
   * alone, and scoring, which then need not decode, is up to twice as fast. Default 1. */
  double novelty_error_weight;
} adapvae_config;

/* Defaults. struct_size is the caller's sizeof(adapvae_config): a program that was compiled against
 * an older header gets the fields that it knows, and the library takes defaults for the others. */
ADAPVAE_API adapvae_status adapvae_config_init(adapvae_config* config, uint32_t struct_size);

/* The defaults with a preset's values, after adapvae_config_init(); nothing else of what was there
 * is left. */
ADAPVAE_API adapvae_status adapvae_config_preset(adapvae_config* config, const char* name,
                                                 adapvae_error* error);
/* Name of preset 0, 1, …; NULL: there are no more. Static storage. */
ADAPVAE_API const char* adapvae_preset_name(int32_t index);

/* Settings for rows that nobody has described: likelihood, scaling, size of the network, what the
 * mixture expects. This is what the program and the bindings use if no preset is named. Call it
 * after adapvae_config_init(); set image_width and image_height before if rows are images. Other
 * fields stay as they are. rows: the first block, or a part of it; count 0: `inputs`, the number of
 * columns, alone decides. *why (or NULL): one sentence on what was decided, in static storage. NaN
 * is a missing value; infinity is refused. */
ADAPVAE_API adapvae_status adapvae_config_for_rows(adapvae_config* config, const float* rows,
                                                   int32_t count, int32_t inputs, int32_t stride,
                                                   const char** why, adapvae_error* error);

/* A field by name, from text: a number with a decimal point, whatever the locale; on or off; the
 * name of a choice. The error names the field most like an unknown one. */
ADAPVAE_API adapvae_status adapvae_config_set(adapvae_config* config, const char* name,
                                              const char* value, adapvae_error* error);
/* The same as text that adapvae_config_set() reads back. Text goes to `text` with a final 0;
 * *needed (or NULL) is its size with that 0. Too small: ADAPVAE_OUT_OF_MEMORY, nothing is written.
 * text NULL and capacity 0: only asks. This is so wherever text is given. */
ADAPVAE_API adapvae_status adapvae_config_get(const adapvae_config* config, const char* name,
                                              char* text, size_t capacity, size_t* needed);

typedef struct adapvae_field {
  uint32_t struct_size;
  int32_t type;     /* 0 whole number, 1 real number, 2 switch, 3 choice */
  int32_t live;     /* 1: adapvae_set() can change it */
  int32_t reserved; /* 0 */
  double lowest;    /* bounds, both included */
  double highest;
  double preset;    /* default */
  const char* name; /* static storage, as the others */
  const char* group;
  const char* choices;  /* type 3: names of 0, 1, …, with blanks between; else "" */
  const char* sentence; /* what it is */
} adapvae_field;
/* Field 0, 1, …; ADAPVAE_INVALID_ARGUMENT: there are no more. */
ADAPVAE_API adapvae_status adapvae_config_field(int32_t index, adapvae_field* field);

/* ---- Making and ending a model -------------------------------------------------------------- */

typedef void (*adapvae_task)(void* argument, int32_t index);

/* How a model is made; NULL, or all zero but struct_size, is fine. What it points to is copied;
 * contexts and what functions need must outlive the model. */
struct adapvae_options {
  uint32_t struct_size;
  int32_t backend; /* ADAPVAE_BACKEND_… */

  /* The model's memory, if the caller gives it: at least adapvae_memory_required() bytes, of any
   * alignment, until adapvae_destroy(). Then nothing is ever allocated, but by CUDA's driver when
   * a model that computes there is made. */
  void* memory;
  size_t memory_bytes;

  /* Else it comes from here; both or neither (malloc and free). alignment is a power of two. */
  void* (*allocate)(void* context, size_t bytes, size_t alignment);
  void (*release)(void* context, void* memory, size_t bytes, size_t alignment);
  void* allocate_context;

  /* Runs task(argument, 0) to task(argument, count - 1), in any order, on any threads, and returns
   * when all are done. `threads`: how many it runs at once; each takes memory. Results do not
   * depend on it. */
  void (*parallel_for)(void* context, int32_t count, adapvae_task task, void* argument);
  void* parallel_context;
  int32_t threads;

  /* Of adapvae_create_scorer_from(): 1: the network's weights are read where they lie in the
   * snapshot (flash, a mapped file), which must be aligned as floats are and stay as it is until
   * the scorer is destroyed or another is loaded into it. Else, and for any other call, 0. */
  int32_t in_place;

  /* Seconds since some moment, for budgets; NULL: the system's clock, where there is one. */
  double (*clock)(void* context);
  void* clock_context;

  /* The most bytes that a model may take; ADAPVAE_OUT_OF_MEMORY if it needs more. A small snapshot
   * can ask for a large model: 0 is ADAPVAE_SNAPSHOT_MEMORY for models made of a snapshot, unless
   * `memory` is given, and no limit for the others. SIZE_MAX: no limit. adapvae_inspect() and
   * adapvae_memory_required() say what a snapshot needs. */
  size_t max_memory_bytes;
};
#define ADAPVAE_SNAPSHOT_MEMORY ((size_t)1 << 30) /* 1 GiB */

/* What adapvae_create() will take, exactly. Checks the configuration, too. */
ADAPVAE_API adapvae_status adapvae_memory_required(const adapvae_config* config,
                                                   const adapvae_options* options, size_t* bytes,
                                                   adapvae_error* error);

/* *model is NULL if it fails. */
ADAPVAE_API adapvae_status adapvae_create(const adapvae_config* config,
                                          const adapvae_options* options, adapvae_model** model,
                                          adapvae_error* error);
/* A model of what a snapshot holds, configuration included. It takes at most 1 GiB unless
 * options->max_memory_bytes allows more. */
ADAPVAE_API adapvae_status adapvae_create_from(const void* bytes, size_t size,
                                               const adapvae_options* options,
                                               adapvae_model** model, adapvae_error* error);
/* A copy of what `model` knows now, for another thread, in a fraction of the memory. It scores,
 * encodes, generates and explains, tells of clusters and takes live settings; it does not learn, is
 * not corrected and not saved (ADAPVAE_UNAVAILABLE), and does not depend on `model` any more. To
 * bring it up to date, the learning thread saves, and the scoring thread loads these bytes into its
 * scorer. Allocates room for a snapshot, and frees it. Not with options->memory: see
 * adapvae_create_scorer_from(). */
ADAPVAE_API adapvae_status adapvae_create_scorer(adapvae_model* model,
                                                 const adapvae_options* options,
                                                 adapvae_model** scorer, adapvae_error* error);
/* The same from a snapshot; *bytes_required (or NULL): what it takes. scorer NULL: only asks. */
ADAPVAE_API adapvae_status adapvae_create_scorer_from(const void* bytes, size_t size,
                                                      const adapvae_options* options,
                                                      adapvae_model** scorer,
                                                      size_t* bytes_required, adapvae_error* error);

/* Nothing is learnt, as after adapvae_create(), and events are numbered from 1 again. Live
 * settings, progress and budget stay as they are. */
ADAPVAE_API adapvae_status adapvae_reset(adapvae_model* model);
/* NULL is fine. */
ADAPVAE_API void adapvae_destroy(adapvae_model* model);

/* ---- Learning ------------------------------------------------------------------------------- */

/* What learning a stream came to. */
typedef struct adapvae_report {
  uint32_t struct_size;
  int32_t streams; /* learnt in this call; 0: push() gathered rows, the rest is as before */
  int32_t rows;    /* of the last stream, as all that follows */
  int32_t clusters;
  int32_t components; /* of the mixture; a cluster has one or several */
  int32_t births;     /* of clusters, announced; what happened in detail: events */
  int32_t merges;
  int32_t retirements;
  int32_t refusals;    /* births that the evidence did not carry */
  int32_t replay_rows; /* drawn from the clusters to stand for the past */
  int32_t drifted;     /* times that training moved a cluster by more than its deviation */
  int32_t stopped;     /* 1: ended early, by a budget or a stop */
  double bound;        /* evidence bound of the mixture */
  double loss;         /* of the network's last epoch, per row; its parts: */
  double log_likelihood;
  double mixture;
  double entropy;
  double distillation;
  double replay_accuracy; /* part of the replay rows that still find their cluster */
  double largest_drift;   /* in deviations of the cluster */
  uint64_t skipped_steps; /* of training: something was not finite */
  uint64_t repairs;       /* of covariances */
} adapvae_report;

/* Learns a stream of 1 to block_rows rows. The first stream teaches the network its features: it
 * should be a full one. A stream that brings nothing new only adds its rows to the clusters: the
 * network stays as it is, and the call returns after a forward pass, whatever the budget or a stop.
 * Statistics of the past are carried, rows are not. report may be NULL.
 * Training that diverges (a loss or gradient that is not finite, a weight beyond 1e9, a loss beyond
 * what rows can cost) is undone and repeated with a tenth of the learning rate, at most three
 * times; an event says so (ADAPVAE_REPAIRED, ADAPVAE_REASON_RATE). ADAPVAE_DIVERGED: none of these
 * succeeded; the model is as before. Use scale_inputs, a smaller learning_rate or rows of a smaller
 * range. Without restore_on_failure nothing is repeated, and the model must be reset. */
ADAPVAE_API adapvae_status adapvae_learn(adapvae_model* model, const float* rows, int32_t count,
                                         int32_t stride, adapvae_report* report);

/* Any number of rows: they wait, in the model, until there are block_rows of them, which are then
 * learnt. While rows wait adapvae_learn() is refused. If a block fails, the blocks before it in the
 * same call stay learnt, and report->streams is their number (on failure it is set only then). The
 * rows of the failed block that were given in this call, and all after them, are not kept. */
ADAPVAE_API adapvae_status adapvae_push(adapvae_model* model, const float* rows, int32_t count,
                                        int32_t stride, adapvae_report* report);
/* Learns the rows that wait, however few; nothing happens if none do. */
ADAPVAE_API adapvae_status adapvae_flush(adapvae_model* model, adapvae_report* report);

/* Time of the rows to come, in the unit of half_life_time, which alone uses it; between -1e100 and
 * 1e100. It must not run backwards. Not part of a snapshot, but the time of the last stream is. */
ADAPVAE_API adapvae_status adapvae_set_time(adapvae_model* model, double time);

/* Seconds that learning a stream may take; 0: as long as it takes. Looked at between steps: a
 * stream that is cut short is counted all the same, but learnt less thoroughly: births may not be
 * found, and the result depends on the clock. Not part of a snapshot. */
ADAPVAE_API adapvae_status adapvae_set_budget(adapvae_model* model, double seconds_per_stream);

/* Stages of a stream, in order. */
enum {
  ADAPVAE_STAGE_PRETRAIN = 0, /* first stream: features */
  ADAPVAE_STAGE_ADAPT = 1,    /* later streams */
  ADAPVAE_STAGE_EMBED = 2,    /* neighbours are drawn together */
  ADAPVAE_STAGE_BIRTHS = 3,   /* clusters alone */
  ADAPVAE_STAGE_JOINT = 4,    /* features and clusters in turn */
  ADAPVAE_STAGE_CLOSE = 5
};
/* Called within learn, push and flush, often, by their thread, with the part of the stream that is
 * done (0 to 1; 1 once, at the end). It returns 0 to end the stream early, anything else to go on.
 * It may not call the model (ADAPVAE_BUSY), but for adapvae_stop(). NULL: none. */
typedef int32_t (*adapvae_progress)(void* context, int32_t stage, double fraction);
ADAPVAE_API adapvae_status adapvae_set_progress(adapvae_model* model, adapvae_progress progress,
                                                void* context);
/* From any thread, or a signal handler: the stream that is being learnt ends early, as if progress
 * had returned 0. Has no effect if none is. The model is whole and goes on. */
ADAPVAE_API void adapvae_stop(adapvae_model* model);

/* ---- Rows, without learning ----------------------------------------------------------------- */

typedef uint32_t adapvae_id;
#define ADAPVAE_NO_ID ((adapvae_id)0)

enum {
  ADAPVAE_PROVISIONAL = 1,    /* a handful of rows of the first stream, not announced as born yet */
  ADAPVAE_NOTHING_LEARNT = 2, /* the model knows nothing: id is ADAPVAE_NO_ID, novelty 1 */
  ADAPVAE_NOVEL = 4           /* novelty is above 0.5 */
};

/* This struct does not grow. Every number in it is finite, whatever the row. */
typedef struct adapvae_result {
  adapvae_id id;        /* most probable cluster */
  adapvae_id component; /* most probable component of that cluster; ids of their own */
  float probability;    /* of that cluster, among those that there are */
  float novelty;        /* [0, 1]; novel if above 0.5 */
  float log_density;    /* of the row, rare clusters and values included: higher is more ordinary */
  uint32_t flags;       /* ADAPVAE_PROVISIONAL, … */
} adapvae_result;

/* All of these take any number of rows, 0 included, and leave the model as it is. Outputs are the
 * caller's, without gaps between rows. */

/* results [count] */
ADAPVAE_API adapvae_status adapvae_score(adapvae_model* model, const float* rows, int32_t count,
                                         int32_t stride, adapvae_result* results);
/* Probability of every cluster that there is, in the order of adapvae_cluster_at():
 * out [count × clusters], not NULL. A row's numbers sum to 1. */
ADAPVAE_API adapvae_status adapvae_probabilities(adapvae_model* model, const float* rows,
                                                 int32_t count, int32_t stride, float* out);
/* Features: mean [count × latent]; variance likewise, or NULL. */
ADAPVAE_API adapvae_status adapvae_encode(adapvae_model* model, const float* rows, int32_t count,
                                          int32_t stride, float* mean, float* variance);
/* What the network makes of features: rows [count × inputs]. */
ADAPVAE_API adapvae_status adapvae_decode(adapvae_model* model, const float* features,
                                          int32_t count, int32_t stride, float* rows);
/* decode of encode: out [count × inputs]. */
ADAPVAE_API adapvae_status adapvae_reconstruct(adapvae_model* model, const float* rows,
                                               int32_t count, int32_t stride, float* out);

/* Rows made up, with features and the cluster of each; ids may be NULL, and one of the other two.
 * id: of that cluster; ADAPVAE_NO_ID: of all, by their weight. Row i of a seed is always the same.
 */
ADAPVAE_API adapvae_status adapvae_generate(adapvae_model* model, adapvae_id id, uint32_t seed,
                                            int32_t count, float* rows, float* features,
                                            adapvae_id* ids);
/* From the mean of one cluster's largest component to that of another's, both included; the same id
 * twice: count times its mean. One of the outputs may be NULL. */
ADAPVAE_API adapvae_status adapvae_interpolate(adapvae_model* model, adapvae_id from, adapvae_id to,
                                               int32_t count, float* rows, float* features);

/* ---- Clusters ------------------------------------------------------------------------------- */

/* What there is to know of a model at a glance. Takes as long as scoring some rows, because it
 * works out how large a snapshot would be. */
typedef struct adapvae_info {
  uint32_t struct_size;
  int32_t clusters;     /* 0 before anything is learnt */
  int32_t rows_waiting; /* of push() */
  int32_t undo_steps;   /* corrections that can be undone now */
  uint64_t streams;     /* learnt */
  uint64_t rows;        /* learnt */
  uint64_t ids_given;
  uint64_t events;       /* number of the last event */
  uint64_t memory_bytes; /* of this model, all of it */
  uint64_t snapshot_bytes;
  double time;         /* of the last stream */
  const char* backend; /* what computes: an instruction set, or a device; static storage */
  int32_t scores_only; /* 1: a scorer */
  int32_t latent;      /* features */
  int32_t inputs;
  int32_t block_rows;
  int32_t components; /* of the mixture; a cluster has one or several */
} adapvae_info;
ADAPVAE_API adapvae_status adapvae_get_info(const adapvae_model* model, adapvae_info* info);

#define ADAPVAE_NAME_BYTES 32 /* of a cluster's name, with the final 0 */

typedef struct adapvae_cluster {
  uint32_t struct_size;
  adapvae_id id;
  int32_t components;   /* of the mixture that belong to it */
  adapvae_id parent;    /* cluster out of which it was born; ADAPVAE_NO_ID: none */
  uint64_t born_stream; /* number of the stream, from 1; 0: the one that was there from the start */
  uint64_t seen_stream; /* last stream that gave it rows */
  double rows;          /* that it holds; with half-lives, less than came */
  double weight;        /* expected part of the rows */
  double birth_rows;
  double birth_gain;   /* of the evidence bound */
  int32_t provisional; /* 1: see ADAPVAE_PROVISIONAL */
  char name[ADAPVAE_NAME_BYTES];
} adapvae_cluster;
/* Cluster 0, 1, … of adapvae_info::clusters; the order means nothing and changes. */
ADAPVAE_API adapvae_status adapvae_cluster_at(const adapvae_model* model, int32_t index,
                                              adapvae_cluster* cluster);
/* The one that holds what `id` held. */
ADAPVAE_API adapvae_status adapvae_cluster_of(const adapvae_model* model, adapvae_id id,
                                              adapvae_cluster* cluster);
/* Its id; ADAPVAE_NO_ID if there is none, because the user had it forgotten, or the id was never
 * given, or merged away so long ago that more than `aliases` others were since. */
ADAPVAE_API adapvae_id adapvae_resolve(const adapvae_model* model, adapvae_id id);
/* Of a cluster's features, all its components together: mean [latent] and covariance
 * [latent × latent]; either may be NULL. */
ADAPVAE_API adapvae_status adapvae_moments(const adapvae_model* model, adapvae_id id, double* mean,
                                           double* covariance);

/* ---- The user's corrections ----------------------------------------------------------------- */

/* Between streams; each can be undone until the next stream is learnt. By force against the
 * evidence it also holds in later streams: what was merged stays one, what was split stays two.
 * *gain (or NULL) is the change of the evidence bound that judges it, also if refused: for a merge
 * that of the two most similar components becoming one. */

/* At most ADAPVAE_NAME_BYTES - 1 bytes of UTF-8; "" takes a name away. */
ADAPVAE_API adapvae_status adapvae_label(adapvae_model* model, adapvae_id id, const char* name);
/* `other` goes into `id`. */
ADAPVAE_API adapvae_status adapvae_merge(adapvae_model* model, adapvae_id id, adapvae_id other,
                                         int32_t force, double* gain);
/* In two; *part (or NULL): id of the new one. A cluster of several components needs force: that
 * they are one is what the evidence says. */
ADAPVAE_API adapvae_status adapvae_split(adapvae_model* model, adapvae_id id, int32_t force,
                                         adapvae_id* part, double* gain);
/* All that it holds is gone. */
ADAPVAE_API adapvae_status adapvae_forget(adapvae_model* model, adapvae_id id);
/* The last correction never happened: byte for byte. */
ADAPVAE_API adapvae_status adapvae_undo(adapvae_model* model);

/* ---- Settings of a model -------------------------------------------------------------------- */

/* Changes a live field; text as in adapvae_config_set(). */
ADAPVAE_API adapvae_status adapvae_set(adapvae_model* model, const char* name, const char* value);
/* What the model was made with, and what was changed since. config->struct_size must be set. */
ADAPVAE_API adapvae_status adapvae_get_config(const adapvae_model* model, adapvae_config* config);
/* Above 1: more is called novel; below 1: less. A factor e moves the boundary by a deviation. The
 * same as adapvae_set(model, "sensitivity", …); see also false_alarm_rate. */
ADAPVAE_API adapvae_status adapvae_set_sensitivity(adapvae_model* model, double sensitivity);

/* ---- Events and explanations ---------------------------------------------------------------- */

enum {
  ADAPVAE_BORN = 0,      /* id, out of other; the first cluster of all is there without one */
  ADAPVAE_MERGED = 1,    /* other went into id */
  ADAPVAE_RETIRED = 2,   /* other, nearly empty, went into id */
  ADAPVAE_NOT_BORN = 3,  /* a birth out of id that was not made: reason */
  ADAPVAE_FORGOTTEN = 4, /* by the user: id */
  ADAPVAE_SPLIT = 5,     /* by the user: other out of id */
  ADAPVAE_NOTICED = 6,   /* a handful of rows apart in the first stream: id, provisional */
  ADAPVAE_LABELLED = 7,  /* by the user: id */
  ADAPVAE_UNDONE = 8,    /* the user's last correction */
  ADAPVAE_DRIFTED = 9,   /* training has moved id by `gain` of its deviations */
  ADAPVAE_REPAIRED = 10, /* numbers that went wrong and were caught: reason; rows: how many times */
  ADAPVAE_LEARNT = 11,   /* a stream: rows, clusters */
  ADAPVAE_RESCALED = 12, /* input `input` left its range by a factor `gain`: scaled anew */
  ADAPVAE_WARNED = 13    /* a person should look at it: reason */
};
enum {
  ADAPVAE_REASON_NONE = 0,
  ADAPVAE_REASON_BOUND = 1,      /* the evidence bound would fall */
  ADAPVAE_REASON_ROWS = 2,       /* too few rows */
  ADAPVAE_REASON_ROOM = 3,       /* max_clusters are there */
  ADAPVAE_REASON_ONE = 4,        /* nothing in it stands apart */
  ADAPVAE_REASON_COVARIANCE = 5, /* was not positive definite */
  ADAPVAE_REASON_STEP = 6,       /* loss or gradient of a step was not finite */
  ADAPVAE_REASON_RATE = 7,       /* training diverged; repeated with a smaller learning rate */
  ADAPVAE_REASON_KNOWN = 8,      /* of ADAPVAE_LEARNT: nothing new, the network was not trained */
  ADAPVAE_REASON_RANGE = 9,      /* `rows` rows lie beyond the range of the inputs */
  ADAPVAE_REASON_CAPACITY = 10,  /* of ADAPVAE_WARNED: max_clusters is nearly reached */
  ADAPVAE_REASON_STUCK = 11,     /* of ADAPVAE_WARNED: input `input`, which varied before, has the
                                    same value in all rows of the block (with scale_inputs) */
  ADAPVAE_REASON_TRAINING = 12,  /* of ADAPVAE_WARNED: training on the block did not help; `rows` of
                                    its rows are reconstructed worse than before */
  ADAPVAE_REASON_MISSING = 13    /* of ADAPVAE_WARNED: input `input` has no value in any row of the
                                    block (with missing_values) */
};

typedef struct adapvae_event {
  uint32_t struct_size;
  int32_t type;
  int32_t reason;
  int32_t missed;    /* 1: events between the one before and this are not here any more */
  uint64_t sequence; /* from 1; in: the last that was seen */
  uint64_t stream;   /* number of the stream, from 1; between streams that of the last */
  adapvae_id id;
  adapvae_id other;
  double gain; /* of the evidence bound */
  double rows;
  int32_t clusters; /* of ADAPVAE_LEARNT and ADAPVAE_REASON_CAPACITY; else 0 */
  int32_t input;    /* of ADAPVAE_REASON_RANGE, _STUCK and _MISSING: number from 0; else -1 */
} adapvae_event;
/* The event after event->sequence (0: the oldest that is kept); ADAPVAE_NO_MORE: none yet. The last
 * `events` (configuration) are kept, not over a save and load.
 *
 *     adapvae_event event = {.struct_size = sizeof event};
 *     while (adapvae_next_event(model, &event) == ADAPVAE_OK) ...                                */
ADAPVAE_API adapvae_status adapvae_next_event(const adapvae_model* model, adapvae_event* event);

enum { ADAPVAE_TEXT = 0, ADAPVAE_JSON = 1 };
/* One line of English, or one JSON object; 256 bytes are enough for any. */
ADAPVAE_API adapvae_status adapvae_event_text(const adapvae_event* event, int32_t format,
                                              char* text, size_t capacity, size_t* needed);
/* Why a row is as novel as it is: its cluster, how far it lies, against which boundary, which
 * features take it there, and which inputs the network cannot account for. Some lines, for which
 * 1024 bytes are enough, or one JSON object with a number for every feature and input. */
ADAPVAE_API adapvae_status adapvae_explain(adapvae_model* model, const float* row, int32_t format,
                                           char* text, size_t capacity, size_t* needed);

/* ---- Snapshots ------------------------------------------------------------------------------ */

/* Everything that a model knows, as bytes that every language and platform reads (safetensors, see
 * docs/format.md). A model that was loaded goes on, byte for byte, as the one that was saved. Of
 * events only the number is kept, and corrections can no longer be undone; an id that an undone
 * correction had given may be given again. Bytes are checked before anything is believed;
 * adapvae_options::max_memory_bytes limits what a file can ask for.
 *
 * bytes NULL and capacity 0: only asks for *size. Too small: ADAPVAE_OUT_OF_MEMORY, *size is what
 * it takes, nothing is written. How to put it on a disk so that no crash loses it:
 * examples/save_resume.c. */
ADAPVAE_API adapvae_status adapvae_save(const adapvae_model* model, void* bytes, size_t capacity,
                                        size_t* size);
/* Into a model whose configuration agrees in all that is not live. Live fields become what they
 * were in the one that was saved. */
ADAPVAE_API adapvae_status adapvae_load(adapvae_model* model, const void* bytes, size_t size);

typedef struct adapvae_snapshot {
  uint32_t struct_size;
  int32_t clusters;
  uint64_t format;
  uint64_t streams;
  uint64_t rows;
  uint64_t rows_waiting;
  uint64_t events;
  double time;
  char version[32]; /* of the library that wrote it; "": not known */
} adapvae_snapshot;
/* What is in a snapshot; each of the two may be NULL, config->struct_size must be set. */
ADAPVAE_API adapvae_status adapvae_inspect(const void* bytes, size_t size,
                                           adapvae_snapshot* snapshot, adapvae_config* config,
                                           adapvae_error* error);

/* ---- Gains: one model, many machines -------------------------------------------------------- */

/* While the network stands still, what rows add to clusters are sums, and sums can be made anywhere
 * and added up. Everything starts from a base, a model that has learnt at least a stream, given to
 * all workers as a snapshot:
 *
 *     worker:       adapvae_gain(base, rows, …, key, …)   any rows, each at one worker
 *     on the way:   adapvae_merge_gains(a, b, …)          in any order, any groups
 *     at the base:  adapvae_apply_gains(base, set, …)     the next base
 *
 * Gains come as sets, keyed by worker and sequence. A gain that comes twice counts once, one that
 * is lost is as if its rows had not come, one that is late, for a base that has gone on, is
 * refused: give its rows to the next. A worker that computes a gain again, from the same rows and
 * base, gets the same bytes on the same kind of machine. docs/distributed.md has more, and recipes
 * for Dask, MPI and others.
 *
 * Rows that are not novel to the base are divided among its clusters, as it sees them: however rows
 * are dealt out, the sums agree to rounding and counts exactly. Novel rows are learnt by the worker
 * beside the base, with births; what several workers have found alike is matched by evidence when
 * gains are applied. What is born depends on the rows that one worker sees together, as it does on
 * streams. The network does not learn, and the scale of novelty stays: adapvae_learn() moves both
 * (see freeze_encoder_after). */

/* Who made a gain, and which of its own it is: any numbers, but no two gains of a base have both
 * alike. A block of rows that has the same number wherever it is worked on is a good worker. This
 * struct does not grow. */
typedef struct adapvae_gain_key {
  uint64_t worker;
  uint64_t sequence;
} adapvae_gain_key;
/* What these rows, any number of them, add to the model, which is left as it is: a set of one gain;
 * with count 0 of none, whose key is not looked at and may be NULL. bytes NULL and capacity 0:
 * *size is the most that it can take, whatever the rows; as much must be given. ADAPVAE_UNAVAILABLE
 * before anything is learnt, and without restore_on_failure, whose memory is used. While rows of
 * adapvae_push() wait this and adapvae_apply_gains() are refused. */
ADAPVAE_API adapvae_status adapvae_gain(adapvae_model* model, const float* rows, int32_t count,
                                        int32_t stride, const adapvae_gain_key* key, void* bytes,
                                        size_t capacity, size_t* size);
/* All gains of both sets, which must be of one base (else ADAPVAE_FOREIGN). The same bytes come out
 * whatever the order and grouping, and if a set comes in twice. Two different gains of one worker
 * and sequence are refused. bytes NULL and capacity 0: only asks for *size; it may not overlap with
 * the sets. */
ADAPVAE_API adapvae_status adapvae_merge_gains(const void* a, size_t a_size, const void* b,
                                               size_t b_size, void* bytes, size_t capacity,
                                               size_t* size, adapvae_error* error);

typedef struct adapvae_gains {
  uint32_t struct_size;
  int32_t gains;
  int32_t born;     /* clusters, of all gains: so many aliases come of it */
  int32_t clusters; /* of the base */
  uint64_t rows;
  uint64_t base_streams; /* that the base has learnt */
  uint64_t base_mark;    /* of its clusters, and */
  uint64_t encoder_mark; /* of its network: equal for what fits together */
} adapvae_gains;
/* What is in a set. */
ADAPVAE_API adapvae_status adapvae_inspect_gains(const void* bytes, size_t size,
                                                 adapvae_gains* gains, adapvae_error* error);

/* What became of a cluster that was born at a worker. This struct does not grow. */
typedef struct adapvae_alias {
  uint64_t worker;
  uint64_t sequence;
  adapvae_id local; /* 1, 2, … within the gain */
  adapvae_id id;    /* in the model, after adapvae_apply_gains() */
} adapvae_alias;
/* All gains of the set become one stream of the model, which must be their base. aliases
 * [adapvae_gains::born], in the order of worker, sequence and local; capacity: how many there is
 * room for. aliases NULL: not wanted. report may be NULL. All of it happens, or, if it is refused,
 * nothing. */
ADAPVAE_API adapvae_status adapvae_apply_gains(adapvae_model* model, const void* bytes, size_t size,
                                               adapvae_alias* aliases, int32_t capacity,
                                               adapvae_report* report);

/* ---- Scoring against labels ----------------------------------------------------------------- */

/* Agreement of clusters with labels that the model has never seen; all but rows and the counts are
 * 1 at best. */
typedef struct adapvae_metrics {
  uint32_t struct_size;
  int32_t rows;
  int32_t labels; /* different ones */
  int32_t clusters;
  double nmi; /* normalised mutual information, arithmetic mean */
  double nmi_geometric;
  double ari; /* adjusted Rand index */
  double homogeneity;
  double completeness;
  double v_measure;
  double accuracy; /* best one-to-one match */
  double purity;
} adapvae_metrics;
/* labels [count], ids [count]. Allocates for the call, by options if given: 8 bytes for every pair
 * of a label and a cluster, and a little more. At most 65536 different ones of each. */
ADAPVAE_API adapvae_status adapvae_evaluate(const int32_t* labels, const adapvae_id* ids,
                                            int32_t count, const adapvae_options* options,
                                            adapvae_metrics* metrics, adapvae_error* error);

#ifdef __cplusplus
}
#endif

#endif /* ADAPVAE_ADAPVAE_H */

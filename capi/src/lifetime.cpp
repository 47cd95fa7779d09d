// Making and ending models. A model is one piece of memory:
//
//   memory ─► | slack to 64 | adapvae_model | CPU's scratch | model … | scratch of explain |
#include <new>

#include "handle.h"

using namespace adapvae;
using namespace adapvae::capi;

namespace {

// All that a model takes, in the arena or counted. The handle lies in the arena, too; `counted`
// stands for it while there is no memory.
void place(Arena& arena, const Configuration& config, ModelUse use, std::int32_t threads,
           adapvae_model& handle) {
  ComputeLimits limits = Model::limits(config, use);
  limits.workers = std::max<Index>(threads, 1);
  handle.cpu.place(arena, limits, *select_kernels(IsaLevel::kAuto));
#if defined(ADAPVAE_CUDA)
  constexpr MemoryLayout kLayout = MemoryLayout::kApart;
#else
  constexpr MemoryLayout kLayout = MemoryLayout::kShared;
#endif
  handle.model.place(arena, config, use, kLayout);
  handle.contribution = arena.take<double>(static_cast<std::size_t>(config.latent));
  handle.error_of_row = arena.take<float>(static_cast<std::size_t>(config.inputs));
}

// 0: more than the address space.
std::size_t bytes_of(const Configuration& config, ModelUse use, std::int32_t threads) {
  Arena counter;
  (void)counter.take<adapvae_model>(1);
  adapvae_model handle;
  place(counter, config, use, threads, handle);
  return counter.failed() ? 0 : counter.used() + Arena::kAlignment - 1;
}

void run_tasks(void* context, Index count, ParallelFor::Task task, void* argument) {
  // The core counts in Index, callers in int32_t.
  struct Work {
    ParallelFor::Task task;
    void* argument;
  } work = {task, argument};
  const auto* handle = static_cast<const adapvae_model*>(context);
  handle->options.parallel_for(
      handle->options.parallel_context, static_cast<int32_t>(count),
      [](void* given, int32_t index) {
        const auto* all = static_cast<const Work*>(given);
        all->task(all->argument, index);
      },
      &work);
}

// Where Index has 32 bits, as in WebAssembly, a number of elements may not fit: place() would count
// what is left of it. So the largest products that it comes to, as real numbers, first.
bool countable(const Configuration& config, std::int32_t threads) {
  if constexpr (sizeof(Index) > 4) return true;
  constexpr double kMost = 2147483648.0;
  const double rows = config.block_rows;
  const double all = rows + std::max<double>(config.replay_rows, config.replay_ratio * rows);
  const double dims = config.latent;
  const double clusters = config.max_clusters;
  const double sizes[] = {2.0 * config.inputs,
                          static_cast<double>(config.hidden1),
                          static_cast<double>(config.hidden2),
                          static_cast<double>(config.hidden3),
                          static_cast<double>(config.hidden4),
                          2.0 * dims};
  double widest = clusters;
  double weights = 0.0;
  double below = 0.0;
  for (const double size : sizes) {
    if (size == 0.0) continue;
    widest = std::max(widest, size);
    weights += 2.0 * below * size;
    below = size;
  }
  constexpr double kPanel = 512.0;  // depth of a packed block, at most
  const double passes = std::max(config.pass_rows, config.batch);
  const double most =
      std::max({all * sizes[0], all * clusters, all * dims, weights, passes * widest,
                kPanel * widest * std::max<std::int32_t>(threads, 1),
                config.pending_rows * std::max(dims * 4.0, clusters), clusters * clusters,
                8.0 * clusters * dims * dims});
  return most < kMost;
}

struct Made {
  Configuration config;
  ModelUse use = ModelUse::kLearn;
};

// How a scorer reads its snapshot.
ModelUse scorer_use(const adapvae_options& options) {
  return options.in_place != 0 ? ModelUse::kScoreInPlace : ModelUse::kScore;
}

Status plan(const Made& made, const adapvae_options& options, std::size_t* bytes) {
  if (made.use == ModelUse::kLearn && !learns(made.use)) {
    return {StatusCode::kUnavailable, "this build of the library makes scorers only"};
  }
  if (made.use != ModelUse::kScoreInPlace && options.in_place != 0) {
    return {StatusCode::kInvalidArgument, "in_place is for adapvae_create_scorer_from()"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_configuration(made.config));
  *bytes = countable(made.config, options.threads)
               ? bytes_of(made.config, made.use, options.threads)
               : 0;
  if (*bytes != 0) return {};
  return {StatusCode::kOutOfMemory, "such a model does not fit the address space"};
}

Status create(const Made& made, const adapvae_options& options, adapvae_model** out) {
  std::size_t bytes = 0;
  ADAPVAE_RETURN_IF_ERROR(plan(made, options, &bytes));
  const Allocator allocator = allocator_of(options);
  void* memory = options.memory;
  if (memory != nullptr && options.memory_bytes < bytes) {
    return {StatusCode::kOutOfMemory,
            "the memory given is less than adapvae_memory_required() says"};
  }
  if (options.max_memory_bytes != 0 && bytes > options.max_memory_bytes) {
    return {StatusCode::kOutOfMemory,
            "the model needs more memory than allowed: adapvae_inspect() and "
            "adapvae_memory_required() say how much; raise max_memory_bytes in adapvae_options"};
  }
  if (memory == nullptr) memory = allocator.allocate(allocator.context, bytes, Arena::kAlignment);
  if (memory == nullptr) return {StatusCode::kOutOfMemory, "the allocator gave no memory"};
  const std::size_t slack =
      (Arena::kAlignment - reinterpret_cast<std::uintptr_t>(memory) % Arena::kAlignment) %
      Arena::kAlignment;
  Arena arena(static_cast<std::byte*>(memory) + slack, bytes - (Arena::kAlignment - 1));
  auto* handle = new (arena.take<adapvae_model>(1)) adapvae_model;
  handle->options = options;
  handle->allocator = allocator;
  handle->memory = options.memory == nullptr ? memory : nullptr;
  handle->bytes = bytes;
  place(arena, made.config, made.use, options.threads, *handle);
  if (options.parallel_for != nullptr) {
    handle->cpu.set_parallel_for({run_tasks, handle});
  }
  handle->model.reset();
  const Status status = choose_backend(made.config, made.use, options.backend, *handle);
  if (status.ok())
    *out = handle;
  else
    adapvae_destroy(handle);
  return status;
}

// What the file says it is, if the file is long enough for that: memory is not to be had by a
// claim.
Status inspect(const void* bytes, std::size_t size, Configuration* config) {
  if (bytes == nullptr) return {StatusCode::kInvalidArgument, "bytes is null"};
  SnapshotInfo info;
  ADAPVAE_RETURN_IF_ERROR(inspect_snapshot(static_cast<const std::byte*>(bytes), size, &info));
  Arena counter;
  Vae network;
  network.place(counter, network_config(info.configuration));
  if (counter.failed() || static_cast<std::size_t>(network.parameter_count()) > size / 4) {
    return {StatusCode::kCorruptData, "the file is too short for the network that it describes"};
  }
  *config = info.configuration;
  return {};
}

// The caller has not seen what a file asks for.
adapvae_options limited(const adapvae_options& options) {
  adapvae_options out = options;
  if (out.max_memory_bytes == 0 && out.memory == nullptr) {
    out.max_memory_bytes = ADAPVAE_SNAPSHOT_MEMORY;
  }
  return out;
}

Status create_from(const void* bytes, std::size_t size, ModelUse use,
                   const adapvae_options& options, adapvae_model** out, bool* newer) {
  Made made;
  made.use = use;
  *newer = true;
  ADAPVAE_RETURN_IF_ERROR(inspect(bytes, size, &made.config));
  *newer = false;
  adapvae_model* handle = nullptr;
  ADAPVAE_RETURN_IF_ERROR(create(made, options, &handle));
  const Status status = handle->model.load(static_cast<const std::byte*>(bytes), size);
  if (status.ok())
    *out = handle;
  else
    adapvae_destroy(handle);
  return status;
}

}  // namespace

adapvae_status adapvae_memory_required(const adapvae_config* config, const adapvae_options* options,
                                       size_t* bytes, adapvae_error* error) {
  if (bytes == nullptr) return fail(error, ADAPVAE_INVALID_ARGUMENT, "bytes is null");
  Made made;
  adapvae_options given;
  Status status = read_config(config, &made.config);
  if (status.ok()) status = read_options(options, &given);
  if (status.ok()) status = plan(made, given, bytes);
  return finish(error, status);
}

adapvae_status adapvae_create(const adapvae_config* config, const adapvae_options* options,
                              adapvae_model** model, adapvae_error* error) {
  if (model == nullptr) return fail(error, ADAPVAE_INVALID_ARGUMENT, "model is null");
  *model = nullptr;
  Made made;
  adapvae_options given;
  Status status = read_config(config, &made.config);
  if (status.ok()) status = read_options(options, &given);
  if (status.ok()) status = create(made, given, model);
  return finish(error, status);
}

adapvae_status adapvae_create_from(const void* bytes, size_t size, const adapvae_options* options,
                                   adapvae_model** model, adapvae_error* error) {
  if (model == nullptr) return fail(error, ADAPVAE_INVALID_ARGUMENT, "model is null");
  *model = nullptr;
  adapvae_options given;
  bool newer = false;
  Status status = read_options(options, &given);
  if (status.ok()) {
    status = create_from(bytes, size, ModelUse::kLearn, limited(given), model, &newer);
  }
  return finish(error, status, newer);
}

adapvae_status adapvae_create_scorer_from(const void* bytes, size_t size,
                                          const adapvae_options* options, adapvae_model** scorer,
                                          size_t* bytes_required, adapvae_error* error) {
  if (scorer != nullptr) *scorer = nullptr;
  adapvae_options given;
  bool newer = false;
  Status status = read_options(options, &given);
  if (status.ok() && (bytes_required != nullptr || scorer == nullptr)) {
    Made made;
    std::size_t planned = 0;
    made.use = scorer_use(given);
    newer = true;
    status = inspect(bytes, size, &made.config);
    if (status.ok()) {
      newer = false;
      status = plan(made, given, &planned);
    }
    if (status.ok() && bytes_required != nullptr) *bytes_required = planned;
  }
  if (status.ok() && scorer != nullptr) {
    status = create_from(bytes, size, scorer_use(given), limited(given), scorer, &newer);
  }
  return finish(error, status, newer);
}

adapvae_status adapvae_create_scorer(adapvae_model* model, const adapvae_options* options,
                                     adapvae_model** scorer, adapvae_error* error) {
  if (scorer == nullptr) return fail(error, ADAPVAE_INVALID_ARGUMENT, "scorer is null");
  *scorer = nullptr;
  const Call call(model);
  if (!call.entered()) return fail(error, call.refusal(), "model is null or within a call");
  adapvae_options given;
  Status status = read_options(options, &given);
  if (status.ok() && given.memory != nullptr) {
    status = {StatusCode::kInvalidArgument,
              "a scorer in the caller's memory: save, then adapvae_create_scorer_from()"};
  }
  if (!status.ok()) return finish(error, status);
  const Allocator allocator = allocator_of(given);
  const std::size_t size = model->model.snapshot_bytes();
  void* bytes = allocator.allocate(allocator.context, size, alignof(std::max_align_t));
  if (bytes == nullptr) {
    return fail(error, ADAPVAE_OUT_OF_MEMORY, "the allocator gave no memory for a snapshot");
  }
  std::size_t written = 0;
  bool newer = false;
  status = model->model.save(static_cast<std::byte*>(bytes), size, &written);
  if (status.ok()) {
    status = create_from(bytes, written, ModelUse::kScore, given, scorer, &newer);
  }
  allocator.release(allocator.context, bytes, size, alignof(std::max_align_t));
  return finish(error, status, newer);
}

adapvae_status adapvae_reset(adapvae_model* model) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (!kBuiltToLearn || model->model.use() == ModelUse::kScoreInPlace) {
    return call.fail(ADAPVAE_UNAVAILABLE, "all that it knows is a snapshot's: load another");
  }
  model->model.reset();
  model->time_set = false;
  return ADAPVAE_OK;
}

void adapvae_destroy(adapvae_model* model) {
  if (model == nullptr || model->busy) return;
  const Allocator allocator = model->allocator;
  void* const memory = model->memory;
  const std::size_t bytes = model->bytes;
  model->~adapvae_model();
  if (memory != nullptr) allocator.release(allocator.context, memory, bytes, Arena::kAlignment);
}

adapvae_status adapvae_last_error(const adapvae_model* model, adapvae_error* error) {
  if (model == nullptr || error == nullptr || !sized(error)) return ADAPVAE_INVALID_ARGUMENT;
  put(error, model->last);
  return ADAPVAE_OK;
}

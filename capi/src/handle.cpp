#include "handle.h"

#include <cstdlib>

namespace adapvae::capi {
namespace {

#if defined(ADAPVAE_NO_HEAP)
void* allocate_by_default(void*, std::size_t, std::size_t) { return nullptr; }
void release_by_default(void*, void*, std::size_t, std::size_t) {}
#else
void* allocate_by_default(void*, std::size_t bytes, std::size_t) { return std::malloc(bytes); }
void release_by_default(void*, void* memory, std::size_t, std::size_t) { std::free(memory); }
#endif

// What a newer caller's struct has beyond ours must say nothing.
bool zero_beyond(const void* given, std::size_t size, std::size_t known) {
  const auto* bytes = static_cast<const unsigned char*>(given);
  for (std::size_t i = known; i < size; ++i) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

}  // namespace

adapvae_status code_of(const Status& status, bool newer) {
  switch (status.code()) {
    case StatusCode::kOk:
      return ADAPVAE_OK;
    case StatusCode::kInvalidArgument:
      return ADAPVAE_INVALID_ARGUMENT;
    case StatusCode::kShapeMismatch:
      return ADAPVAE_SHAPE_MISMATCH;
    case StatusCode::kNonFinite:
      return ADAPVAE_NON_FINITE;
    case StatusCode::kOutOfMemory:
      return ADAPVAE_OUT_OF_MEMORY;
    case StatusCode::kCorruptData:
      return ADAPVAE_CORRUPT_DATA;
    case StatusCode::kUnavailable:
      return newer ? ADAPVAE_NEWER_FORMAT : ADAPVAE_UNAVAILABLE;
    case StatusCode::kLate:
      return ADAPVAE_LATE;
    case StatusCode::kForeign:
      return ADAPVAE_FOREIGN;
    case StatusCode::kDiverged:
      return ADAPVAE_DIVERGED;
  }
  return ADAPVAE_INVALID_ARGUMENT;
}

adapvae_status fail(adapvae_error* error, adapvae_status status, Message message,
                    std::ptrdiff_t index) {
  if (error == nullptr || !sized(error)) return status;
  adapvae_error value = {};
  value.status = status;
  value.index = static_cast<std::int32_t>(std::clamp<std::ptrdiff_t>(index, -1, INT32_MAX));
  value.message = message.text();
  put(error, value);
  return status;
}

adapvae_status finish(adapvae_error* error, const Status& status, bool newer) {
  return fail(error, code_of(status, newer), status.message(), status.index());
}

bool aligned(const void* pointer, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

Status view_rows(const float* rows, std::int32_t count, std::int32_t stride, std::int32_t columns,
                 ConstMatrixView* view) {
  if (count < 0) return {StatusCode::kInvalidArgument, "the number of rows is negative"};
  if (rows == nullptr && count > 0) return {StatusCode::kInvalidArgument, "rows is null"};
  if (!aligned(rows, alignof(float))) {
    return {StatusCode::kInvalidArgument, "rows is not aligned as floats are"};
  }
  if (stride != 0 && stride < columns) {
    return {StatusCode::kShapeMismatch, "stride is less than a row: give 0 for rows that touch"};
  }
  const Index step = stride != 0 ? stride : columns;
  if (count > 0 && step > (PTRDIFF_MAX / static_cast<Index>(sizeof(float))) / count) {
    return {StatusCode::kInvalidArgument, "more rows than memory can hold"};
  }
  *view = ConstMatrixView(rows, count, columns, step);
  return {};
}

// ---- configuration ------------------------------------------------------------------------------

// The struct is the core's behind a struct_size; configuration_doc prints it from the same table.
inline constexpr std::size_t kBefore = 2 * sizeof(std::uint32_t);
static_assert(sizeof(adapvae_config) == kBefore + sizeof(Configuration));
static_assert(offsetof(adapvae_config, inputs) == kBefore + offsetof(Configuration, inputs));
static_assert(offsetof(adapvae_config, seed) == kBefore + offsetof(Configuration, seed));
static_assert(offsetof(adapvae_config, sensitivity) ==
              kBefore + offsetof(Configuration, sensitivity));

Status read_config(const adapvae_config* config, Configuration* out) {
  if (config == nullptr) return {StatusCode::kInvalidArgument, "config is null"};
  if (!sized(config)) {
    return {StatusCode::kInvalidArgument,
            "config has no struct_size: call adapvae_config_init() first"};
  }
  if (!zero_beyond(config, config->struct_size, sizeof(adapvae_config))) {
    return {StatusCode::kUnavailable,
            "config sets a field that this version of the library does not have"};
  }
  if (config->reserved != 0) {
    return {StatusCode::kInvalidArgument, "config: reserved must be 0"};
  }
  Configuration result;
  const auto* from = reinterpret_cast<const unsigned char*>(config) + kBefore;
  auto* to = reinterpret_cast<unsigned char*>(&result);
  for (const FieldInfo& field : configuration_fields()) {
    if (kBefore + field.offset + field.size > config->struct_size) continue;
    std::memcpy(to + field.offset, from + field.offset, field.size);
  }
  *out = result;
  return {};
}

void write_config(const Configuration& from, adapvae_config* to) {
  // Field by field: what lies between fields is zero, and structs can be compared.
  const std::uint32_t size = to->struct_size;
  std::memset(static_cast<void*>(to), 0, size);
  to->struct_size = size;
  const auto* source = reinterpret_cast<const unsigned char*>(&from);
  auto* target = reinterpret_cast<unsigned char*>(to) + kBefore;
  for (const FieldInfo& field : configuration_fields()) {
    if (kBefore + field.offset + field.size > size) continue;
    std::memcpy(target + field.offset, source + field.offset, field.size);
  }
}

// ---- reports ------------------------------------------------------------------------------------

void put_report(const StreamReport& from, Index streams, adapvae_report* to) {
  if (to == nullptr) return;
  const auto count = [](Index n) { return static_cast<int32_t>(std::min<Index>(n, INT32_MAX)); };
  adapvae_report value = {};
  value.streams = count(streams);
  value.rows = count(from.rows);
  value.clusters = count(from.clusters);
  value.components = count(from.components);
  value.births = count(from.births);
  value.merges = count(from.merges);
  value.retirements = count(from.retirements);
  value.refusals = count(from.refusals);
  value.replay_rows = count(from.replay_rows);
  value.drifted = count(from.drifted);
  value.stopped = from.stopped ? 1 : 0;
  value.bound = from.bound;
  value.loss = from.loss.loss;
  value.log_likelihood = from.loss.log_likelihood;
  value.mixture = from.loss.mixture;
  value.entropy = from.loss.entropy;
  value.distillation = from.loss.distillation;
  value.replay_accuracy = from.replay_accuracy;
  value.largest_drift = from.largest_drift;
  value.skipped_steps = from.skipped_steps;
  value.repairs = from.repairs;
  put(to, value);
}

// ---- options ------------------------------------------------------------------------------------

Status read_options(const adapvae_options* options, adapvae_options* out) {
  adapvae_options result = {};
  if (options != nullptr) {
    if (!sized(options)) return {StatusCode::kInvalidArgument, "options has no struct_size"};
    if (!zero_beyond(options, options->struct_size, sizeof(adapvae_options))) {
      return {StatusCode::kUnavailable,
              "options sets a field that this version of the library does not have"};
    }
    std::memcpy(&result, options, std::min<std::size_t>(options->struct_size, sizeof(result)));
  }
  result.struct_size = sizeof(result);
  if (result.in_place != 0 && result.in_place != 1) {
    return {StatusCode::kInvalidArgument, "options: in_place must be 0 or 1"};
  }
  if ((result.allocate == nullptr) != (result.release == nullptr)) {
    return {StatusCode::kInvalidArgument, "allocate and release come together"};
  }
  if ((result.memory == nullptr) != (result.memory_bytes == 0)) {
    return {StatusCode::kInvalidArgument, "memory and memory_bytes come together"};
  }
  if (result.threads < 0 || result.threads > 1024) {
    return {StatusCode::kInvalidArgument, "threads must be between 0 and 1024"};
  }
  if ((result.threads > 1) != (result.parallel_for != nullptr)) {
    return {StatusCode::kInvalidArgument, "parallel_for needs threads above 1, and they need it"};
  }
  if (const char* reason = backend_missing(result.backend); reason != nullptr) {
    return {StatusCode::kUnavailable, reason};
  }
  *out = result;
  return {};
}

Allocator allocator_of(const adapvae_options& options) {
  if (options.allocate == nullptr) return {allocate_by_default, release_by_default, nullptr};
  return {options.allocate, options.release, options.allocate_context};
}

}  // namespace adapvae::capi

// What stands behind an adapvae_model, and how the calls of the C API begin and end. This folder
// translates: it checks what comes from outside, calls the core, and turns statuses and structs
// into public ones. No call decides anything about learning.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "adapvae/adapvae.h"
#include "compute/cpu_backend.h"
#if defined(ADAPVAE_CUDA)
#include "compute/cuda/cuda_backend.h"
#endif
#include "model/model.h"

namespace adapvae::capi {

// Where memory comes from and goes back to.
struct Allocator {
  void* (*allocate)(void* context, std::size_t bytes, std::size_t alignment) = nullptr;
  void (*release)(void* context, void* memory, std::size_t bytes, std::size_t alignment) = nullptr;
  void* context = nullptr;
};

}  // namespace adapvae::capi

struct adapvae_model {
  adapvae::CpuBackend cpu;
#if defined(ADAPVAE_CUDA)
  adapvae::CudaBackend cuda;
#endif
  adapvae::Backend* backend = &cpu;  // what computes
  adapvae::Model model;
  double* contribution = nullptr;  // [m] scratch of adapvae_explain
  float* error_of_row = nullptr;   // [d] likewise

  adapvae_options options = {};  // as given, or zero
  adapvae::capi::Allocator allocator;
  void* memory = nullptr;  // to give back; null: the caller's
  std::size_t bytes = 0;   // of it, or planned

  adapvae_progress progress = nullptr;
  void* progress_context = nullptr;
  double budget = 0.0;
  double time = 0.0;  // of adapvae_set_time
  bool time_set = false;
  std::atomic<std::int32_t> stop{0};  // not a bool: RISC-V exchanges no single bytes by itself

  mutable bool busy = false;  // within a call
  mutable adapvae_error last = {sizeof(adapvae_error), ADAPVAE_OK, -1, 0, ""};
};

namespace adapvae::capi {

// ---- statuses -----------------------------------------------------------------------------------

// `newer`: of a file, what cannot be had is a newer version's.
adapvae_status code_of(const Status& status, bool newer = false);

// Structs with a struct_size: what the caller has room for.
inline constexpr std::uint32_t kLeastStruct = 8;
inline constexpr std::uint32_t kMostStruct = 1U << 16;

template <typename T>
bool sized(const T* given) {
  return given->struct_size >= kLeastStruct && given->struct_size <= kMostStruct;
}

// *to becomes `value`, as much of it as the caller knows; what the caller knows more of is zero.
template <typename T>
void put(T* to, T value) {
  const std::uint32_t size = to->struct_size;
  value.struct_size = size;
  std::memset(static_cast<void*>(to), 0, size);
  std::memcpy(static_cast<void*>(to), &value, std::min<std::size_t>(size, sizeof(T)));
}

// Into the caller's adapvae_error, which may be null or have no size; the status.
adapvae_status fail(adapvae_error* error, adapvae_status status, Message message,
                    std::ptrdiff_t index = -1);
adapvae_status finish(adapvae_error* error, const Status& status, bool newer = false);

// A call on a model: refuses null and calls from within calls, and remembers the error.
class Call {
 public:
  explicit Call(const adapvae_model* handle) : handle_(handle) {
    if (handle_ != nullptr && !handle_->busy) entered_ = handle_->busy = true;
  }
  ~Call() {
    if (entered_) handle_->busy = false;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool entered() const { return entered_; }
  // If not entered. The error of the call that is open is not touched.
  adapvae_status refusal() const {
    return handle_ == nullptr ? ADAPVAE_INVALID_ARGUMENT : ADAPVAE_BUSY;
  }
  adapvae_status fail(adapvae_status status, Message message, std::ptrdiff_t index = -1) const {
    handle_->last.struct_size = sizeof(adapvae_error);
    return capi::fail(&handle_->last, status, message, index);
  }
  adapvae_status finish(const Status& status, bool newer = false) const {
    if (status.ok()) return ADAPVAE_OK;
    return fail(code_of(status, newer), status.message(), status.index());
  }

 private:
  const adapvae_model* handle_;
  bool entered_ = false;
};

inline constexpr const char* kUnknownCluster = "no cluster has, or had, this id";

// ---- what comes from outside --------------------------------------------------------------------

// Rows of `columns` numbers as the caller described them. Shape and finiteness are the core's to
// check.
Status view_rows(const float* rows, std::int32_t count, std::int32_t stride, std::int32_t columns,
                 ConstMatrixView* view);

// A caller's output of rows; null if `data` is.
inline MatrixView view_output(float* data, std::int32_t count, std::int32_t columns) {
  return data != nullptr ? MatrixView(data, count, columns) : MatrixView();
}
bool aligned(const void* pointer, std::size_t alignment);

// The fields that the caller's struct has; the others are defaults. Not checked further.
Status read_config(const adapvae_config* config, Configuration* out);
void write_config(const Configuration& from, adapvae_config* to);
// *to may be null.
void put_report(const StreamReport& from, Index streams, adapvae_report* to);
// Zero where the caller's struct ends.
Status read_options(const adapvae_options* options, adapvae_options* out);
Allocator allocator_of(const adapvae_options& options);

// Null if this build on this machine has the backend, else why not; static storage.
const char* backend_missing(std::int32_t backend);
// Whether AUTO takes CUDA, where it is there, for such a model.
bool worth_a_device(const Configuration& config);
// Computes on the device from now on, as the options ask for; AUTO stays on the CPU where it must.
Status choose_backend(const Configuration& config, ModelUse use, std::int32_t wanted,
                      adapvae_model& handle);

// The system's clock that never runs backwards, where there is one.
bool has_system_clock();
double system_seconds();

// Text made by write(TextWriter&) into the caller's memory: see adapvae_config_get().
template <typename Write>
Status put_text(char* text, std::size_t capacity, std::size_t* needed, const Write& write) {
  if (text == nullptr && capacity > 0) {
    return {StatusCode::kInvalidArgument, "text is null: give memory, or capacity 0 to ask"};
  }
  TextWriter counter(nullptr, 0);
  write(counter);
  if (needed != nullptr) *needed = counter.needed();
  if (text == nullptr) return {};
  if (counter.needed() > capacity) {
    return {StatusCode::kOutOfMemory, "the text does not fit: needed says what it takes"};
  }
  TextWriter writer(text, capacity);
  write(writer);
  (void)writer.finish();
  return {};
}

}  // namespace adapvae::capi

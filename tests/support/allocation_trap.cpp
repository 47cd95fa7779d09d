#include "support/allocation_trap.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ADAPVAE_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(leak_sanitizer)
#define ADAPVAE_TEST_SANITIZED 1
#endif
#endif

#if !defined(ADAPVAE_TEST_SANITIZED)
#define ADAPVAE_TEST_TRAP_NEW 1
#if defined(__GLIBC__)
#define ADAPVAE_TEST_TRAP_MALLOC 1
#endif
#endif

namespace {

// Constant-initialised: the loader allocates before any constructor of ours runs.
constinit std::atomic<std::uint64_t> allocations{0};
constinit std::atomic<std::uint64_t> releases{0};

}  // namespace

namespace adapvae::testing {

AllocationCount allocation_count() {
  return {allocations.load(std::memory_order_relaxed), releases.load(std::memory_order_relaxed)};
}

bool allocation_trap_active() {
#if defined(ADAPVAE_TEST_TRAP_NEW)
  return true;
#else
  return false;
#endif
}

bool allocation_trap_sees_malloc() {
#if defined(ADAPVAE_TEST_TRAP_MALLOC)
  return true;
#else
  return false;
#endif
}

}  // namespace adapvae::testing

#if defined(ADAPVAE_TEST_TRAP_NEW)

namespace {

void note_allocation() { allocations.fetch_add(1, std::memory_order_relaxed); }
void note_release(const void* pointer) {
  if (pointer != nullptr) releases.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

#if defined(ADAPVAE_TEST_TRAP_MALLOC)

extern "C" {

// What glibc calls its own functions; the plain names are ours from here on.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* pointer, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* pointer);

__attribute__((visibility("default"))) void* malloc(std::size_t size) noexcept {
  note_allocation();
  return __libc_malloc(size);
}
__attribute__((visibility("default"))) void* calloc(std::size_t count, std::size_t size) noexcept {
  note_allocation();
  return __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void* realloc(void* pointer, std::size_t size) noexcept {
  note_allocation();
  return __libc_realloc(pointer, size);
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment,
                                                      std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment,
                                                           std::size_t size) noexcept {
  note_allocation();
  return __libc_memalign(alignment, size);
}
__attribute__((visibility("default"))) int posix_memalign(void** out, std::size_t alignment,
                                                          std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) {
    return EINVAL;
  }
  note_allocation();
  void* const pointer = __libc_memalign(alignment, size);
  if (pointer == nullptr) return ENOMEM;
  *out = pointer;
  return 0;
}
__attribute__((visibility("default"))) void free(void* pointer) noexcept {
  note_release(pointer);
  __libc_free(pointer);
}

}  // extern "C"

#endif  // ADAPVAE_TEST_TRAP_MALLOC

namespace {

// One count for each operator new: what lies below it is counted only where malloc is ours.
void* counted_new(std::size_t size, std::size_t alignment) {
  if (size == 0) size = 1;
#if defined(ADAPVAE_TEST_TRAP_MALLOC)
  note_allocation();
  void* const pointer = alignment > alignof(std::max_align_t) ? __libc_memalign(alignment, size)
                                                              : __libc_malloc(size);
#else
  note_allocation();
  void* pointer = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    pointer = std::malloc(size);
  } else {
    pointer = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  }
#endif
  if (pointer == nullptr) std::abort();
  return pointer;
}

void counted_delete(void* pointer) noexcept {
  note_release(pointer);
#if defined(ADAPVAE_TEST_TRAP_MALLOC)
  __libc_free(pointer);
#else
  std::free(pointer);
#endif
}

constexpr std::size_t kPlain = alignof(std::max_align_t);

}  // namespace

// The nothrow and array forms of the standard library call these.
void* operator new(std::size_t size) { return counted_new(size, kPlain); }
void* operator new[](std::size_t size) { return counted_new(size, kPlain); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_new(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return counted_new(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept { counted_delete(pointer); }
void operator delete[](void* pointer) noexcept { counted_delete(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { counted_delete(pointer); }
void operator delete[](void* pointer, std::size_t) noexcept { counted_delete(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { counted_delete(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { counted_delete(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
  counted_delete(pointer);
}
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept {
  counted_delete(pointer);
}

#endif  // ADAPVAE_TEST_TRAP_NEW

// Arena: hands out aligned blocks from one piece of memory, in order, and never takes them back.
//
// The same placement code serves twice. With no memory behind it the arena only counts, so that
// the exact number of bytes is known before anything is created; with memory behind it the same
// calls give the same offsets. Plan and use cannot drift apart, because they are one function:
//
//     std::size_t bytes = planned_bytes([&](Arena& a) { vae.place(a, config); });
//     ... obtain `bytes` bytes ...
//     Arena arena(memory, bytes);
//     vae.place(arena, config);
//
//     memory ─► | block 0 | pad | block 1 | pad | ... | last block |
//               ^ every block starts at a multiple of kAlignment
#pragma once

#include <cstddef>
#include <cstdint>

namespace adapvae {

class Arena {
 public:
  // A cache line, and the widest vector; a double where there are neither.
#if UINTPTR_MAX > 0xFFFFFFFF || defined(__wasm__)
  static constexpr std::size_t kAlignment = 64;
#else
  static constexpr std::size_t kAlignment = 8;
#endif

  // Counts only: take() returns null.
  constexpr Arena() = default;
  // memory must be aligned to kAlignment and hold `bytes` bytes; null or misaligned memory makes
  // an arena that has failed already.
  Arena(void* memory, std::size_t bytes)
      : base_(static_cast<std::byte*>(memory)),
        capacity_(bytes),
        failed_(memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % kAlignment != 0) {}

  // A block of `count` uninitialised T. Null while counting, after running out of memory, or
  // when count is 0; failed() tells whether memory ran out.
  template <typename T>
  T* take(std::size_t count) {
    static_assert(alignof(T) <= kAlignment);
    if (count > kMaxBytes / sizeof(T)) {
      failed_ = true;
      return nullptr;
    }
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }

  // Room for two things that are never in use at once: copies of the arena, each given one of them,
  // begin at the same place, and the arena goes on behind the longer.
  void go_on_behind(const Arena& copy) {
    used_ = copy.used_ > used_ ? copy.used_ : used_;
    failed_ = failed_ || copy.failed_;
  }

  constexpr bool counting() const { return base_ == nullptr; }
  constexpr bool failed() const { return failed_; }
  constexpr std::size_t used() const { return used_; }

 private:
  static constexpr std::size_t kMaxBytes = SIZE_MAX / 4;

  std::byte* take_bytes(std::size_t bytes) {
    if (bytes == 0 || failed_) return nullptr;
    const std::size_t start = (used_ + kAlignment - 1) / kAlignment * kAlignment;
    if (start > kMaxBytes - bytes || (base_ != nullptr && start + bytes > capacity_)) {
      failed_ = true;
      return nullptr;
    }
    used_ = start + bytes;
    return base_ != nullptr ? base_ + start : nullptr;
  }

  std::byte* base_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  bool failed_ = false;
};

// Bytes that `place(Arena&)` would take; 0 when they do not fit the address space.
template <typename Place>
std::size_t planned_bytes(Place&& place) {
  Arena counter;
  place(counter);
  return counter.failed() ? 0 : counter.used();
}

}  // namespace adapvae

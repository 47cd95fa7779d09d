// Memory of exactly the planned size, with everything that place(Arena&) puts into it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "base/arena.h"

namespace adapvae::tools {

class PlacedMemory {
 public:
  // place runs twice: to count, and for real.
  template <typename Place>
  explicit PlacedMemory(Place&& place) : bytes_(planned_bytes(place)) {
    memory_.reset(new (std::align_val_t{Arena::kAlignment}) std::byte[bytes_]);
    Arena arena(memory_.get(), bytes_);
    place(arena);
  }

  std::size_t bytes() const { return bytes_; }

 private:
  struct AlignedDelete {
    void operator()(std::byte* memory) const {
      ::operator delete[](memory, std::align_val_t{Arena::kAlignment});
    }
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte[], AlignedDelete> memory_;
};

}  // namespace adapvae::tools

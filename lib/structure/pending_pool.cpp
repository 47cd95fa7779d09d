#include "structure/pending_pool.h"

#include <algorithm>

#include "base/bounds.h"

namespace adapvae {
namespace {

constexpr std::uint32_t kMostAge = 1U << 30U;
constexpr float kMostVariance = 1e30F;

}  // namespace

void PendingPool::place(Arena& arena, Index dims, Index capacity) {
  dims_ = dims;
  capacity_ = capacity;
  z_ = arena.take<float>(static_cast<std::size_t>(capacity * dims));
  variance_ = arena.take<float>(static_cast<std::size_t>(capacity * dims));
  age_ = arena.take<std::uint32_t>(static_cast<std::size_t>(capacity));
  surprise_ = arena.take<float>(static_cast<std::size_t>(capacity));
}

void PendingPool::add(const float* z, const float* variance, std::uint32_t age, float surprise) {
  std::copy_n(z, dims_, z_ + count_ * dims_);
  if (variance != nullptr) {
    std::copy_n(variance, dims_, variance_ + count_ * dims_);
  } else {
    std::fill_n(variance_ + count_ * dims_, dims_, 0.0F);
  }
  surprise_[count_] = surprise;
  age_[count_++] = age;
}

std::size_t PendingPool::most_bytes(Index dims, Index capacity) {
  return static_cast<std::size_t>(4 + capacity * (8 + 8 * dims));
}

void PendingPool::save(ByteWriter& writer) const {
  writer.write_u32(static_cast<std::uint32_t>(count_));
  for (Index i = 0; i < count_; ++i) {
    writer.write_u32(age_[i]);
    writer.write_f32(surprise_[i]);
    for (Index j = 0; j < dims_; ++j) {
      writer.write_f32(z_[i * dims_ + j]);
      writer.write_f32(variance_[i * dims_ + j]);
    }
  }
}

Status PendingPool::load(ByteReader& reader) {
  const Status bad = {StatusCode::kCorruptData, "pending pool does not parse"};
  const std::uint32_t count = reader.read_u32();
  if (!reader.ok() || count > static_cast<std::uint64_t>(capacity_)) return bad;
  count_ = static_cast<Index>(count);
  for (Index i = 0; i < count_; ++i) {
    age_[i] = reader.read_u32();
    surprise_[i] = reader.read_f32();
    for (Index j = 0; j < dims_; ++j) {
      z_[i * dims_ + j] = reader.read_f32();
      variance_[i * dims_ + j] = reader.read_f32();
    }
  }
  return reader.ok() && sound() ? Status() : bad;
}

bool PendingPool::sound() const {
  bool sound = true;
  for (Index i = 0; i < count_; ++i) {
    sound = sound && age_[i] <= kMostAge && within(surprise_[i], kLargestNumber);
  }
  for (Index i = 0; i < count_ * dims_; ++i) {
    sound = sound && within(z_[i], kLargestFeature) && variance_[i] >= 0.0F &&
            variance_[i] <= kMostVariance;
  }
  return sound;
}

}  // namespace adapvae

// The pending pool: rows that no cluster explains and no birth took, held back as latents and
// offered again with the next streams, until they are born or have waited long enough and are
// learnt where they fit best. Optional: with no room in it the past is never stored.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

class PendingPool {
 public:
  void place(Arena& arena, Index dims, Index capacity);
  void reset() { count_ = 0; }

  Index count() const { return count_; }
  Index capacity() const { return capacity_; }
  MatrixView rows() const { return {z_, count_, dims_}; }
  MatrixView variance() const { return {variance_, count_, dims_}; }
  std::uint32_t age(Index i) const { return age_[i]; }    // streams waited
  float surprise(Index i) const { return surprise_[i]; }  // when it came

  // variance may be null: none. There must be room.
  void add(const float* z, const float* variance, std::uint32_t age, float surprise);
  void clear() { count_ = 0; }

  static std::size_t most_bytes(Index dims, Index capacity);
  void save(ByteWriter& writer) const;
  Status load(ByteReader& reader);
  bool sound() const;  // as ClusterLearner::sound()

 private:
  Index dims_ = 0;
  Index capacity_ = 0;
  Index count_ = 0;
  float* z_ = nullptr;            // [capacity × m]
  float* variance_ = nullptr;     // [capacity × m]
  std::uint32_t* age_ = nullptr;  // [capacity]
  float* surprise_ = nullptr;     // [capacity]
};

}  // namespace adapvae

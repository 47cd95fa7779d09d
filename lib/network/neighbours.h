// Which rows of a block lie next to each other: the k nearest of every row, by brute force.
//
// For blocks of a stream (thousands of rows, tens of dimensions), once in a while: the cost is n²
// m.
#pragma once

#include "base/arena.h"
#include "compute/backend.h"
#include "compute/limits.h"

namespace adapvae {

class NeighbourGraph {
 public:
  static constexpr Index kLargestTile = 256;

  // tile: rows and columns that are worked on at once, at most kLargestTile; the backend's rows and
  // widest layer must be at least this. The neighbours do not depend on it.
  void place(Arena& arena, Index max_rows, Index dims, Index neighbours, Index tile);

  // Euclidean neighbours of the rows of z, the row itself excepted. Ties go to the lower number.
  Status build(Backend& backend, ConstMatrixView z);
  void clear() { rows_ = 0; }

  Index rows() const { return rows_; }
  // Neighbours of each row: what was asked for, or all others if there are fewer.
  Index neighbours() const { return found_; }
  const std::uint32_t* of(Index row) const { return index_ + row * neighbours_; }

 private:
  void take_tile(Index first_row, Index count, Index first_column, Index columns);

  Index tile_ = 0;
  Index neighbours_ = 0;
  Index max_rows_ = 0;
  Index rows_ = 0;
  Index found_ = 0;
  std::uint32_t* index_ = nullptr;  // [max_rows × neighbours], nearest first
  float* nearness_ = nullptr;       // [tile × neighbours] of the rows in work: z·z' - ½|z'|²
  float* transposed_ = nullptr;     // [m × tile]
  float* bias_ = nullptr;           // [tile]
  float* product_ = nullptr;        // [tile × tile]
};

}  // namespace adapvae

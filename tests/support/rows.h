// Row-major test data that owns its memory, with a stride.
#pragma once

#include <cstdint>
#include <vector>

#include "base/matrix_view.h"
#include "base/philox.h"
#include "base/sampling.h"

namespace adapvae::testing {

// Rows that own their numbers, with a stride to prove that strides are obeyed.
struct Rows {
  Rows(Index rows_in, Index cols_in, Index padding = 0)
      : rows(rows_in), cols(cols_in), stride(cols_in + padding), data(rows_in * stride, 0.0F) {}

  MatrixView view() { return {data.data(), rows, cols, stride}; }
  ConstMatrixView view() const { return {data.data(), rows, cols, stride}; }
  float& operator()(Index i, Index j) { return data[i * stride + j]; }
  float operator()(Index i, Index j) const { return data[i * stride + j]; }

  Index rows, cols, stride;
  std::vector<float> data;
};

// Standard normal.
inline Rows random_rows(Index rows, Index cols, std::uint64_t seed, Index padding = 0) {
  Rows result(rows, cols, padding);
  Philox random(RandomKey{.seed = seed});
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) result(i, j) = static_cast<float>(sample_normal(random));
  }
  return result;
}

// In (0, 1).
inline Rows uniform_rows(Index rows, Index cols, std::uint64_t seed, Index padding = 0) {
  Rows result(rows, cols, padding);
  Philox random(RandomKey{.seed = seed});
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) result(i, j) = random.uniform_float();
  }
  return result;
}

}  // namespace adapvae::testing

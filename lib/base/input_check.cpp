#include "base/input_check.h"

#include <cstdint>

namespace adapvae {

Status check_finite(ConstMatrixView rows) {
  constexpr std::uint32_t kExponent = 0x7F800000U;
  for (Index i = 0; i < rows.rows; ++i) {
    const float* row = rows.row(i);
    // Integer arithmetic without a branch: compilers vectorise it at any level.
    std::uint32_t bad = 0;
    for (Index j = 0; j < rows.cols; ++j) {
      bad |= (__builtin_bit_cast(std::uint32_t, row[j]) & kExponent) == kExponent ? 1U : 0U;
    }
    if (bad != 0) {
      return {StatusCode::kNonFinite, "input row holds a NaN or an infinity", i};
    }
  }
  return {};
}

Status check_shape(ConstMatrixView rows, Index max_rows, Index cols) {
  if (rows.data == nullptr || rows.rows < 1) {
    return {StatusCode::kShapeMismatch, "no rows given"};
  }
  if (rows.rows > max_rows) {
    return {StatusCode::kShapeMismatch, "more rows than the capacity set at create", rows.rows};
  }
  if (rows.cols != cols || rows.stride < rows.cols) {
    return {StatusCode::kShapeMismatch, "rows do not have the expected number of columns",
            rows.cols};
  }
  return {};
}

}  // namespace adapvae

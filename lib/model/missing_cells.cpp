#include "model/missing_cells.h"

#include <algorithm>
#include <cmath>

#include "base/input_check.h"

namespace adapvae {

void MissingCells::place(Arena& arena, Index rows, Index columns) {
  columns_ = columns;
  row_bytes_ = (columns + 7) / 8;
  any_ = false;
  bits_ = arena.take<std::uint8_t>(static_cast<std::size_t>(rows * row_bytes_));
}

Status MissingCells::check(ConstMatrixView rows) {
  if (check_finite(rows).ok()) return {};
  for (Index i = 0; i < rows.rows; ++i) {
    const float* row = rows.row(i);
    if (std::any_of(row, row + rows.cols, [](float x) { return std::isinf(x); })) {
      return {StatusCode::kNonFinite, "input row holds an infinity", i};
    }
    if (std::all_of(row, row + rows.cols, [](float x) { return std::isnan(x); })) {
      return {StatusCode::kNonFinite, "input row has no value at all: leave it out", i};
    }
  }
  return {};
}

void MissingCells::note(ConstMatrixView rows) {
  any_ = false;
  if (check_finite(rows).ok()) return;
  std::fill_n(bits_, rows.rows * row_bytes_, std::uint8_t{0});
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < columns_; ++j) {
      if (!std::isnan(rows(i, j))) continue;
      bits_[i * row_bytes_ + j / 8] |= static_cast<std::uint8_t>(1U << (j % 8));
      any_ = true;
    }
  }
}

bool MissingCells::any(Index i) const {
  const std::uint8_t* own = bits_ + i * row_bytes_;
  return std::any_of(own, own + row_bytes_, [](std::uint8_t bits) { return bits != 0; });
}

bool MissingCells::completes(Index other, Index i) const {
  const std::uint8_t* own = bits_ + i * row_bytes_;
  const std::uint8_t* others = bits_ + other * row_bytes_;
  for (Index b = 0; b < row_bytes_; ++b) {
    if ((own[b] & others[b]) != 0) return false;
  }
  return true;
}

}  // namespace adapvae

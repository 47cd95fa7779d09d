// Cells of rows that have no value (NaN). They are noted when rows come in; Model::complete() then
// fills them with what the model expects there, so that nothing behind it has to know of them. A
// filled cell is reconstructed as it is: it hardly counts in the loss, in clusters and in novelty.
#pragma once

#include "base/arena.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

class MissingCells {
 public:
  // rows: the most with missing cells that are noted at once. Of rows without any there may be
  // more.
  void place(Arena& arena, Index rows, Index columns);

  // kNonFinite with the row's number for an infinity, and for a row without any value; ok
  // otherwise.
  static Status check(ConstMatrixView rows);

  // From now on the missing cells are those of these rows.
  void note(ConstMatrixView rows);
  // Whether any of the noted rows, or row i of them, has a missing cell.
  bool any() const { return any_; }
  bool any(Index i) const;
  // Whether row `other` has a value in every cell that row i lacks.
  bool completes(Index other, Index i) const;
  bool missing(Index i, Index j) const {
    return (bits_[i * row_bytes_ + j / 8] >> (j % 8) & 1) != 0;
  }

 private:
  Index columns_ = 0;
  Index row_bytes_ = 0;
  bool any_ = false;
  std::uint8_t* bits_ = nullptr;  // [rows × row_bytes_]
};

}  // namespace adapvae

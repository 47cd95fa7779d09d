// The gate for numbers from outside: nothing non-finite passes.
#pragma once

#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

// kNonFinite with the index of the first row that holds a NaN or an infinity; ok otherwise.
Status check_finite(ConstMatrixView rows);

// kShapeMismatch unless rows is [1..max_rows × cols] with a usable stride; ok otherwise.
Status check_shape(ConstMatrixView rows, Index max_rows, Index cols);

}  // namespace adapvae

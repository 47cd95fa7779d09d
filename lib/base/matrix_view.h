// Row-major views with a row stride. A view borrows; it never owns and never checks in release.
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>

namespace adapvae {

using Index = std::ptrdiff_t;

template <typename T>
struct BasicMatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;  // elements from one row to the next, >= cols

  constexpr BasicMatrixView() = default;
  constexpr BasicMatrixView(T* data_in, Index rows_in, Index cols_in)
      : data(data_in), rows(rows_in), cols(cols_in), stride(cols_in) {}
  constexpr BasicMatrixView(T* data_in, Index rows_in, Index cols_in, Index stride_in)
      : data(data_in), rows(rows_in), cols(cols_in), stride(stride_in) {}
  // A view of const elements from a view of mutable ones.
  template <typename U>
  requires(std::is_same_v<T, const U>) constexpr BasicMatrixView(const BasicMatrixView<U>& other)
      : data(other.data), rows(other.rows), cols(other.cols), stride(other.stride) {}

  constexpr T* row(Index i) const {
    assert(i >= 0 && i < rows);
    return data + i * stride;
  }
  constexpr T& operator()(Index i, Index j) const {
    assert(i >= 0 && i < rows && j >= 0 && j < cols);
    return data[i * stride + j];
  }
  // Rows [first, first + count).
  constexpr BasicMatrixView row_range(Index first, Index count) const {
    assert(first >= 0 && count >= 0 && first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  // Columns [first, first + count).
  constexpr BasicMatrixView col_range(Index first, Index count) const {
    assert(first >= 0 && count >= 0 && first + count <= cols);
    return {data + first, rows, count, stride};
  }
  constexpr bool contiguous() const { return stride == cols; }
};

using MatrixView = BasicMatrixView<float>;
using ConstMatrixView = BasicMatrixView<const float>;
using MatrixViewD = BasicMatrixView<double>;
using ConstMatrixViewD = BasicMatrixView<const double>;

}  // namespace adapvae

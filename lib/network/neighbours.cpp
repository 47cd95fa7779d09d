#include "network/neighbours.h"

#include <algorithm>
#include <cmath>

namespace adapvae {

void NeighbourGraph::place(Arena& arena, Index max_rows, Index dims, Index neighbours, Index tile) {
  tile_ = tile;
  max_rows_ = max_rows;
  neighbours_ = neighbours;
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  take(index_, max_rows * neighbours);
  take(nearness_, tile * neighbours);
  take(transposed_, dims * tile);
  take(bias_, tile);
  take(product_, tile * tile);
}

Status NeighbourGraph::build(Backend& backend, ConstMatrixView z) {
  const Index n = z.rows;
  const Index m = z.cols;
  if (n > max_rows_) {
    return {StatusCode::kShapeMismatch, "more rows than the capacity set at create", n};
  }
  rows_ = n;
  found_ = std::min(neighbours_, std::max<Index>(n - 1, 0));
  for (Index row = 0; row < n; row += tile_) {
    const Index count = std::min(tile_, n - row);
    std::fill_n(nearness_, count * neighbours_, -INFINITY);
    // Every place is filled below, for features are bounded; whatever they are, an index is one of
    // a row.
    std::fill_n(index_ + row * neighbours_, count * neighbours_, static_cast<std::uint32_t>(row));
    for (Index column = 0; column < n; column += tile_) {
      const Index columns = std::min(tile_, n - column);
      for (Index j = 0; j < columns; ++j) {
        const float* other = z.row(column + j);
        double square = 0.0;
        for (Index d = 0; d < m; ++d) {
          transposed_[d * columns + j] = other[d];
          square += static_cast<double>(other[d]) * other[d];
        }
        bias_[j] = static_cast<float>(-0.5 * square);
      }
      backend.dense_forward(z.row_range(row, count), ConstMatrixView(transposed_, m, columns),
                            bias_, Activation::kLinear, MatrixView(product_, count, columns));
      take_tile(row, count, column, columns);
    }
  }
  return backend.status();
}

// The rows in work meet the next columns: what is nearer than the farthest kept comes in.
void NeighbourGraph::take_tile(Index first_row, Index count, Index first_column, Index columns) {
  if (found_ == 0) return;
  for (Index i = 0; i < count; ++i) {
    float* kept = nearness_ + i * neighbours_;
    std::uint32_t* index = index_ + (first_row + i) * neighbours_;
    const float* product = product_ + i * columns;
    for (Index j = 0; j < columns; ++j) {
      if (!(product[j] > kept[found_ - 1]) || first_column + j == first_row + i) continue;
      Index at = found_ - 1;
      for (; at > 0 && kept[at - 1] < product[j]; --at) {
        kept[at] = kept[at - 1];
        index[at] = index[at - 1];
      }
      kept[at] = product[j];
      index[at] = static_cast<std::uint32_t>(first_column + j);
    }
  }
}

}  // namespace adapvae

// Compiled twice with different flags; the macro keeps the two copies of Eigen apart.
#if defined(ADAPVAE_EIGEN_NATIVE)
#define Eigen Eigen_native
#define ADAPVAE_EIGEN_FUNCTION eigen_product_native
#else
#define ADAPVAE_EIGEN_FUNCTION eigen_product_portable
#endif
#include "bench/eigen_peer.h"

#include <Eigen/Core>

namespace adapvae {

void ADAPVAE_EIGEN_FUNCTION(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a,
                            int a_row, const float* b, int b_row, float* c, int c_row) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Input = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> out(c, m, n, Eigen::OuterStride<>(c_row));
  const Input left(a, transpose_a ? k : m, transpose_a ? m : k, Eigen::OuterStride<>(a_row));
  const Input right(b, transpose_b ? n : k, transpose_b ? k : n, Eigen::OuterStride<>(b_row));
  if (transpose_a) {
    out.noalias() = left.transpose() * right;
  } else if (transpose_b) {
    out.noalias() = left * right.transpose();
  } else {
    out.noalias() = left * right;
  }
}

}  // namespace adapvae

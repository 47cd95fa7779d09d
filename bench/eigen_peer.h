// Eigen's matrix product as a peer, compiled twice: for this machine's instruction set and for
// plain x86-64.
#pragma once

namespace adapvae {

// c [m × n] = op(a) · op(b), row-major with strides; op transposes if asked.
using EigenProduct = void (*)(bool transpose_a, bool transpose_b, int m, int n, int k,
                              const float* a, int a_row, const float* b, int b_row, float* c,
                              int c_row);
void eigen_product_native(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a,
                          int a_row, const float* b, int b_row, float* c, int c_row);
void eigen_product_portable(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a,
                            int a_row, const float* b, int b_row, float* c, int c_row);

}  // namespace adapvae

// Small symmetric and triangular matrices in double, stored as the packed lower triangle, row by
// row: element (i, j), j <= i, at i(i+1)/2 + j. Dimensions here are latent ones, tens at most, so
// plain loops are fast enough and nothing allocates.
#pragma once

#include "base/matrix_view.h"

namespace adapvae {

constexpr Index packed_size(Index n) { return n * (n + 1) / 2; }

// a becomes its Cholesky factor L, a = L Lᵀ. False, with a spoilt, if a is not positive definite
// (or not finite).
bool cholesky_in_place(double* a, Index n);

// log |a| from its factor.
double log_determinant_of_factor(const double* factor, Index n);

// x becomes L⁻¹ x.
void solve_lower(const double* factor, Index n, double* x);

// x becomes (L Lᵀ)⁻¹ x.
void solve_positive_definite(const double* factor, Index n, double* x);

// out becomes L⁻¹ (packed lower); different memory.
void invert_lower(const double* factor, Index n, double* out);

// a += scale · x xᵀ.
void add_outer(double scale, const double* x, Index n, double* a);

// xᵀ (L Lᵀ)⁻¹ x; scratch [n].
double squared_distance(const double* factor, Index n, const double* x, double* scratch);

}  // namespace adapvae

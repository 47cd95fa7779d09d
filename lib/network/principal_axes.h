// The principal axes of a block of rows, by orthogonal iteration: enough for a linear start of the
// network, without a decomposition of the covariance.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace adapvae {

struct PrincipalAxes {
  MatrixView axes;              // [m × d] orthonormal rows, along falling variance, approximately
  double* deviation = nullptr;  // [m] standard deviation of the rows along each
  float* centre = nullptr;      // [d] mean of the rows
};

// projection [n × m] and next [m × d] are scratch memory. Where rows vary along fewer than m axes,
// the others are any directions, with deviation 0.
void find_principal_axes(ConstMatrixView rows, std::uint64_t seed, const PrincipalAxes& out,
                         MatrixView projection, MatrixView next);

}  // namespace adapvae

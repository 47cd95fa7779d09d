// The operations of Backend once more, as plain loops in double: what every backend is compared
// with. They share no code with the kernels and care for nothing but being obviously right.
//
// Inputs are double, too (a float converts exactly), so that derivatives can be checked by small
// differences. See compute/backend.h for what each operation means.
#pragma once

#include "base/matrix_view.h"
#include "compute/backend.h"

namespace adapvae::reference {

double activate(Activation activation, double a);
// From the output y of the activation, as the backends do it.
double derivative(Activation activation, double y);

// bias may be null.
void dense_forward(ConstMatrixViewD x, ConstMatrixViewD w, const double* bias,
                   Activation activation, MatrixViewD y);
void dense_backward_input(ConstMatrixViewD dy, ConstMatrixViewD w, ConstMatrixViewD x,
                          Activation activation, MatrixViewD dx);
void dense_backward_weights(ConstMatrixViewD x, ConstMatrixViewD dy, MatrixViewD dw, double* dbias);

// gradient may be empty.
void reconstruct(const LikelihoodSettings& likelihood, ConstMatrixViewD output,
                 ConstMatrixViewD target, double scale, MatrixViewD gradient,
                 double* log_likelihood);

// noise may be empty.
void sample_latent(ConstMatrixViewD heads, ConstMatrixViewD noise, LogVarianceClamp clamp,
                   MatrixViewD z, MatrixViewD variance);
void latent_gradient(ConstMatrixViewD heads, ConstMatrixViewD noise, ConstMatrixViewD variance,
                     ConstMatrixViewD dz, ConstMatrixViewD pull, ConstMatrixViewD precision,
                     LogVarianceClamp clamp, double weight, MatrixViewD dheads);

struct Gaussians {
  ConstMatrixViewD mean;                // [K × m]
  ConstMatrixViewD factor;              // [K × factor_size(shape, m)]
  ConstMatrixViewD precision_diagonal;  // [K × m]
  FactorShape shape = FactorShape::kLower;
};
// variance may be empty.
void mahalanobis(ConstMatrixViewD z, ConstMatrixViewD variance, const Gaussians& gaussians,
                 MatrixViewD out);
void mahalanobis_pull(ConstMatrixViewD z, ConstMatrixViewD weight, const Gaussians& gaussians,
                      MatrixViewD pull);

// offset may be null.
void softmax_rows(ConstMatrixViewD in, const double* offset, double scale, MatrixViewD probability,
                  double* log_sum);

// variance may be empty.
void weighted_moments(ConstMatrixViewD z, ConstMatrixViewD variance, ConstMatrixViewD weight,
                      ConstMatrixViewD center, FactorShape shape, double* mass, MatrixViewD sum,
                      MatrixViewD scatter);

double squared_norm(const double* x, Index count);
void adam(const AdamSettings& settings, std::uint32_t step, double gradient_scale, Index count,
          const double* gradient, double* parameter, double* first_moment, double* second_moment);

}  // namespace adapvae::reference

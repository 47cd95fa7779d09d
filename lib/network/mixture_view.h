// What the network's loss needs to know of the mixture: the one place where the two touch. The
// network does not include the mixture; whoever owns both fills this in.
#pragma once

#include "compute/backend.h"

namespace adapvae {

// The expected complete-data log density of a latent row with mean z and variance σ² is
//   log ρ_k = log_weight_k - ½ { |F_k (z - mean_k)|² + Σ_d σ²_d (F_kᵀF_k)_dd }
// with FᵀF = ν W the expected precision and log_weight_k = E[log π_k] + ½ E[log|Λ_k|]
// - ½ m log 2π - ½ m/β_k.
struct MixtureView {
  GaussianView gaussians;             // K components
  const float* log_weight = nullptr;  // [K]
};

}  // namespace adapvae

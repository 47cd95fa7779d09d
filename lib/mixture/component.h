// One cluster as a distribution: prior and posterior over its Gaussian, full (Normal-Wishart) or
// diagonal (Normal-Gamma per dimension), from statistics alone. Equations: docs/math.md.
#pragma once

#include "base/philox.h"
#include "mixture/statistics.h"

namespace adapvae {

// Prior and posterior have one form: mean location, β, ν and the scale B = W⁻¹ (packed lower), or
// b [m] in the diagonal case.
struct BaseMeasure {
  double beta = 0.2;
  double nu = 0.0;
  double* mean = nullptr;       // [m]
  double* scale = nullptr;      // [scatter_size], positive definite
  double log_normaliser = 0.0;  // set by prepare_base_measure
};

struct Posterior {
  double beta = 0.0;
  double nu = 0.0;
  double log_determinant = 0.0;           // log |B|
  double expected_log_determinant = 0.0;  // E log |Λ|
  double log_normaliser = 0.0;
  double* mean = nullptr;    // [m]
  double* factor = nullptr;  // Cholesky factor of B (packed lower), or b itself if diagonal
};

// β > 0, and ν > m - 1 (full) or ν > 0 (diagonal).
bool valid_strength(const ClusterShape& shape, double beta, double nu);

// Completes base.log_normaliser; false if scale is not positive definite. scratch [scatter_size].
bool prepare_base_measure(const ClusterShape& shape, BaseMeasure& base, double* scratch);

// The posterior after `statistics` (mass already weighted). Returns how many times the diagonal of
// B had to be raised before it could be factored: 0 in sound data.
int compute_posterior(const ClusterShape& shape, const BaseMeasure& base,
                      const StatisticsRef& statistics, Posterior& out);

// Logarithm of the normaliser c(β, ν, B).
double log_normaliser(const ClusterShape& shape, double beta, double nu, double log_determinant);

// log c(prior) - log c(posterior) - ½ N m log 2π: this cluster's part of the evidence bound, eq. 9.
double observation_bound(const ClusterShape& shape, const BaseMeasure& base,
                         const Posterior& posterior, double mass);

// What the local step needs, in float: mean [m], factor F of E[Λ] = FᵀF, the diagonal of E[Λ] [m].
// Returns ½ E log|Λ| - ½ m log 2π - ½ m/β. scratch [scatter_size].
double fill_local_view(const ClusterShape& shape, const Posterior& posterior, float* mean,
                       float* factor, float* precision_diagonal, double* scratch);

// Entry of B / ν, the inverse of the expected precision, which unlike the expected covariance
// always exists.
double covariance_at(const ClusterShape& shape, const Posterior& posterior, Index i, Index j);

// The posterior predictive as a function of |F(z - mean)|² (F of fill_local_view), for scoring many
// rows. In the diagonal case, a product of m univariate t, it takes one such term per dimension.
struct PredictiveScale {
  double log_peak = 0.0;    // log density at the centre
  double shrink = 0.0;      // 1 / (ν (β+1)/β)
  double half_power = 0.0;  // log density = log_peak - half_power · Σ log(1 + shrink · distance)
};
PredictiveScale predictive_scale(const ClusterShape& shape, const Posterior& posterior);

// log density of the posterior predictive (Student-t) at z [m]. scratch [2m].
double log_predictive(const ClusterShape& shape, const Posterior& posterior, const double* z,
                      double* scratch);

// How much less the log density at z [m] would be if the cluster had not learnt a row there, which
// it holds all of: exactly, but for the row's own variance. 0 if no distribution would be left.
// scratch [2m].
double held_out_fall(const ClusterShape& shape, const Posterior& posterior, const double* z,
                     double* scratch);

// A draw from the posterior predictive into z [m]; radius > 0 pulls draws beyond that many
// deviations back to it. scratch [m].
void sample_predictive(const ClusterShape& shape, const Posterior& posterior, double radius,
                       Philox& random, double* z, double* scratch);

}  // namespace adapvae

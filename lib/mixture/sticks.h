// Cluster weights: truncated stick breaking with K Beta posteriors and a tail for the unborn.
//
// Clusters have an order, largest first; the k-th in order takes the fraction v_k of what is left.
// q(v_k) = Beta(1 + N_k, α + Σ_{j>k} N_j); what the last leaves over is where unborn clusters live.
#pragma once

#include "base/matrix_view.h"

namespace adapvae {

// α, fixed or with a Gamma hyper-prior and the posterior Gamma(shape, rate).
struct Concentration {
  bool learnt = false;
  double prior_shape = 1.0;
  double prior_rate = 0.2;
  double shape = 1.0;
  double rate = 0.2;
  double mean = 5.0;                     // E[α]
  double mean_log = 1.6094379124341003;  // E[log α]
};

Concentration fixed_concentration(double alpha);
Concentration learnt_concentration(double prior_shape, double prior_rate);

// order [K] = clusters by falling mass, ties by number.
void sort_by_mass(const double* mass, Index clusters, Index* order);

// log_weight [K] (by cluster, not by order) = E[log π_k]; returns E[log] of the tail's weight.
double expected_log_weights(const double* mass, const Index* order, Index clusters,
                            const Concentration& concentration, double* log_weight);

// weight [K] (by cluster) = E[π_k]; returns E of the tail's weight.
double expected_weights(const double* mass, const Index* order, Index clusters,
                        const Concentration& concentration, double* weight);

// The weights' part of the evidence bound, eq. 10, without the term of α.
double allocation_bound(const double* mass, const Index* order, Index clusters,
                        const Concentration& concentration);

// The posterior of α given the weights (nothing if α is fixed).
void update_concentration(const double* mass, const Index* order, Index clusters,
                          Concentration& concentration);
// -KL(q(α) | p(α)); 0 if α is fixed.
double concentration_bound(const Concentration& concentration);

}  // namespace adapvae

#include "mixture/sticks.h"

#include <algorithm>
#include <cmath>

#include "base/special_functions.h"

namespace adapvae {
namespace {

// Calls visit(cluster, η1, η0) in order.
template <typename Visit>
void for_sticks(const double* mass, const Index* order, Index clusters, double alpha,
                const Visit& visit) {
  // Mass behind each stick, summed from the back: small masses first.
  double behind = 0.0;
  for (Index at = clusters - 1; at >= 0; --at) {
    visit(order[at], 1.0 + mass[order[at]], alpha + behind);
    behind += mass[order[at]];
  }
}

double log_beta_normaliser(double a, double b) {
  return log_gamma(a + b) - log_gamma(a) - log_gamma(b);
}

}  // namespace

Concentration fixed_concentration(double alpha) {
  Concentration c;
  c.mean = alpha;
  c.mean_log = std::log(alpha);
  return c;
}

Concentration learnt_concentration(double prior_shape, double prior_rate) {
  Concentration c;
  c.learnt = true;
  c.prior_shape = c.shape = prior_shape;
  c.prior_rate = c.rate = prior_rate;
  c.mean = prior_shape / prior_rate;
  c.mean_log = digamma(prior_shape) - std::log(prior_rate);
  return c;
}

void sort_by_mass(const double* mass, Index clusters, Index* order) {
  // Insertion: nearly sorted already, and there are few.
  for (Index k = 0; k < clusters; ++k) {
    Index at = k;
    for (; at > 0 && mass[order[at - 1]] < mass[k]; --at) order[at] = order[at - 1];
    order[at] = k;
  }
}

double expected_log_weights(const double* mass, const Index* order, Index clusters,
                            const Concentration& concentration, double* log_weight) {
  // From the back, what is behind each stick; then, from the front, what the ones before leave
  // over.
  for_sticks(mass, order, clusters, concentration.mean,
             [&](Index k, double, double left) { log_weight[k] = left; });
  double log_left = 0.0;
  for (Index at = 0; at < clusters; ++at) {
    const Index k = order[at];
    const double taken = 1.0 + mass[k];
    const double left = log_weight[k];
    const double whole = digamma(taken + left);
    log_weight[k] = log_left + digamma(taken) - whole;
    log_left += digamma(left) - whole;
  }
  return log_left;
}

double expected_weights(const double* mass, const Index* order, Index clusters,
                        const Concentration& concentration, double* weight) {
  for_sticks(mass, order, clusters, concentration.mean,
             [&](Index k, double taken, double left) { weight[k] = taken / (taken + left); });
  double rest = 1.0;
  for (Index at = 0; at < clusters; ++at) {
    const Index k = order[at];
    const double taken = rest * weight[k];
    rest -= taken;
    weight[k] = taken;
  }
  return rest;
}

double allocation_bound(const double* mass, const Index* order, Index clusters,
                        const Concentration& concentration) {
  double sum = 0.0;
  for_sticks(mass, order, clusters, concentration.mean, [&](Index, double taken, double left) {
    sum += concentration.mean_log - log_beta_normaliser(taken, left);
  });
  return sum;
}

void update_concentration(const double* mass, const Index* order, Index clusters,
                          Concentration& concentration) {
  if (!concentration.learnt) return;
  double log_left = 0.0;
  for_sticks(mass, order, clusters, concentration.mean, [&](Index, double taken, double left) {
    log_left += digamma(left) - digamma(taken + left);
  });
  concentration.shape = concentration.prior_shape + static_cast<double>(clusters);
  concentration.rate = concentration.prior_rate - log_left;
  concentration.mean = concentration.shape / concentration.rate;
  concentration.mean_log = digamma(concentration.shape) - std::log(concentration.rate);
}

double concentration_bound(const Concentration& c) {
  if (!c.learnt) return 0.0;
  // E log p - E log q of two Gammas.
  const double prior = c.prior_shape * std::log(c.prior_rate) - log_gamma(c.prior_shape) +
                       (c.prior_shape - 1.0) * c.mean_log - c.prior_rate * c.mean;
  const double own = c.shape * std::log(c.rate) - log_gamma(c.shape) +
                     (c.shape - 1.0) * c.mean_log - c.rate * c.mean;
  return prior - own;
}

}  // namespace adapvae

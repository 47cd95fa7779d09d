// Special functions in double, the same on every platform (no libm lgamma: it is neither
// thread-safe everywhere nor equally accurate).
//
// Accuracy, tested: |error| <= 1e-12 * max(1, |value|) for 1e-8 <= x <= 1e8.
#pragma once

#include "base/matrix_view.h"

namespace adapvae {

constexpr double kLogTwoPi = 1.8378770664093454836;

// For x > 0; NaN for any other x. Near its zeros at 1 and 2 log_gamma is accurate relative to its
// own value.
double log_gamma(double x);
double digamma(double x);

// x with P(standard normal < x) = p, 0 < p < 1 (below 1e-300 as for 1e-300); ±infinity at the ends,
// NaN elsewhere.
double normal_quantile(double p);

// Half the p-quantile of χ² with `dof` degrees of freedom (Wilson and Hilferty 1931; within 1 % for
// dof >= 3 and 0.5 <= p <= 0.995).
double half_chi_squared_quantile(Index dof, double p);
// The probability of more than x.
double half_chi_squared_above(Index dof, double x);

// base^exponent for a base above 0, to about 1e-15 · |exponent · log base|: libm's pow brings
// tables of 5 KB that nothing else here needs.
double power(double base, double exponent);

// Of |angle| <= 1000, each within 1 unit in the last place of 1; C libraries agree with it and with
// each other once rounded to float, and theirs bring what takes care of any angle.
struct SinCos {
  double sine;
  double cosine;
};
SinCos sin_cos(double angle);

// log sum_i exp(x_i), without overflow; -infinity for count 0 or all entries -infinity; +infinity
// if any entry is; NaN if any entry is NaN, whatever the others are.
double log_sum_exp(const double* x, Index count);

}  // namespace adapvae

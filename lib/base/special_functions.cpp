#include "base/special_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace adapvae {

namespace {

// All tables are printed by tests/reference/special_functions.py.

// From here on seven terms of the asymptotic series leave an error below 1e-16.
constexpr double kAsymptoticFrom = 10.0;

constexpr double kHalfLogTwoPi = 0.9189385332046728;
constexpr double kOneMinusEulerGamma = 0.42278433509846713;

// (-1)^k (zeta(k) - 1) / k for k = 2 ... 28.
constexpr double kSeriesAtTwo[] = {
    0.3224670334241132,     -0.0673523010531981,     0.020580808427784546,
    -0.007385551028673986,  0.0028905103307415234,   -0.001192753911703261,
    0.0005096695247430425,  -0.00022315475845357939, 9.945751278180853e-05,
    -4.492623673813314e-05, 2.050721277567069e-05,   -9.439488275268397e-06,
    4.374866789907488e-06,  -2.039215753801366e-06,  9.55141213040742e-07,
    -4.492469198764566e-07, 2.1207184805554665e-07,  -1.0043224823968099e-07,
    4.7698101693639804e-08, -2.2711094608943164e-08, 1.0838659214896955e-08,
    -5.183475041970047e-09, 2.4836745438024785e-09,  -1.1921401405860912e-09,
    5.731367241678862e-10,  -2.7595228851242334e-10, 1.330476437424449e-10,
};

// B(2k) / (2k (2k - 1)) for k = 1 ... 7.
constexpr double kStirling[] = {
    0.08333333333333333,   -0.002777777777777778,  0.0007936507936507937, -0.0005952380952380953,
    0.0008417508417508417, -0.0019175269175269176, 0.00641025641025641,
};

// B(2k) / (2k) for k = 1 ... 7.
constexpr double kDigammaTail[] = {
    0.08333333333333333,  -0.008333333333333333, 0.003968253968253968, -0.004166666666666667,
    0.007575757575757576, -0.021092796092796094, 0.08333333333333333,
};

// Taylor: (sin x - x) / x^3 and (cos x - 1 + x^2 / 2) / x^4 in x^2; enough for |x| <= pi / 4.
constexpr double kSine[] = {
    -1.0 / 6.0,        1.0 / 120.0,        -1.0 / 5040.0,          1.0 / 362880.0,
    -1.0 / 39916800.0, 1.0 / 6227020800.0, -1.0 / 1307674368000.0, 1.0 / 355687428096000.0,
};
constexpr double kCosine[] = {
    1.0 / 24.0,        -1.0 / 720.0,         1.0 / 40320.0,          -1.0 / 3628800.0,
    1.0 / 479001600.0, -1.0 / 87178291200.0, 1.0 / 20922789888000.0,
};

// coefficient[0] + coefficient[1] x + coefficient[2] x^2 + ...
template <int kCount>
double polynomial(const double (&coefficient)[kCount], double x) {
  double sum = coefficient[kCount - 1];
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + coefficient[i];
  return sum;
}

// log gamma(2 + z) for |z| <= 1/2. The expansion at 2 and not at 1: its terms fall like (z/2)^k
// instead of z^k, and with z as a factor the result is accurate relative to itself near 0.
double log_gamma_at_two_plus(double z) {
  return z * (kOneMinusEulerGamma + z * polynomial(kSeriesAtTwo, z));
}

}  // namespace

double log_gamma(double x) {
  if (!(x > 0.0)) return NAN;
  if (x >= kAsymptoticFrom) {
    if (std::isinf(x)) return x;
    const double inverse = 1.0 / x;
    const double log_x = std::log(x);
    // x * (log_x - 1) and not x * log_x - x: the latter overflows before the result does.
    return x * (log_x - 1.0) - 0.5 * log_x + kHalfLogTwoPi +
           inverse * polynomial(kStirling, inverse * inverse);
  }
  if (x < 0.5) return log_gamma_at_two_plus(x) - std::log(x * (1.0 + x));
  // Near 1 both terms are proportional to x - 1, which is exact, so that their difference keeps
  // its digits where log_gamma crosses zero.
  if (x < 1.5) return log_gamma_at_two_plus(x - 1.0) - std::log(x);
  // Down to [1.5, 2.5] rather than up to the asymptotic series: every factor is exact and the
  // logarithm of their product is added, not cancelled.
  double product = 1.0;
  while (x > 2.5) {
    x -= 1.0;
    product *= x;
  }
  return log_gamma_at_two_plus(x - 2.0) + std::log(product);
}

double digamma(double x) {
  if (!(x > 0.0)) return NAN;
  // digamma(x) = digamma(x + 1) - 1 / x, until the asymptotic series is good.
  double shift = 0.0;
  while (x < kAsymptoticFrom) {
    shift += 1.0 / x;
    x += 1.0;
  }
  const double inverse = 1.0 / x;
  const double square = inverse * inverse;
  return std::log(x) - 0.5 * inverse - square * polynomial(kDigammaTail, square) - shift;
}

double normal_quantile(double p) {
  if (!(p >= 0.0 && p <= 1.0)) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0.0 || p == 1.0) return (p - 0.5) * std::numeric_limits<double>::infinity();
  if (p > 0.5) return -normal_quantile(1.0 - p);
  // A rational start (Hastings 1955, error below 5e-4), then Halley's steps on the distribution
  // function.
  p = std::max(p, 1e-300);
  const double t = std::sqrt(-2.0 * std::log(p));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) /
                 (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))) -
             t;
  constexpr double kRootTwo = 1.41421356237309504880;
  constexpr double kRootTwoPi = 2.50662827463100050242;
  for (int step = 0; step < 3; ++step) {
    const double error = 0.5 * std::erfc(-x / kRootTwo) - p;
    const double u = error * kRootTwoPi * std::exp(0.5 * x * x);
    x -= u / (1.0 + 0.5 * x * u);
  }
  return x;
}

double half_chi_squared_quantile(Index dof, double p) {
  const auto m = static_cast<double>(dof);
  const double spread = 2.0 / (9.0 * m);
  const double root = std::max(0.0, 1.0 - spread + normal_quantile(p) * std::sqrt(spread));
  return 0.5 * m * root * root * root;
}

double half_chi_squared_above(Index dof, double x) {
  const auto m = static_cast<double>(dof);
  const double spread = 2.0 / (9.0 * m);
  const double normal = (std::cbrt(std::max(2.0 * x / m, 0.0)) - 1.0 + spread) / std::sqrt(spread);
  return 0.5 * std::erfc(normal * 0.70710678118654752440);
}

SinCos sin_cos(double angle) {
  // Quarter turns: pi / 2 in two parts, the first with so few bits that its multiples are exact.
  constexpr double kQuarterTurn = 1.5707963267341256;
  constexpr double kQuarterTurnRest = 6.077100506506192e-11;
  const int nearest = static_cast<int>(angle * 0.6366197723675814 + (angle < 0.0 ? -0.5 : 0.5));
  const auto turns = static_cast<double>(nearest);
  const double coarse = angle - turns * kQuarterTurn;
  const double x = coarse - turns * kQuarterTurnRest;
  const double rest = (coarse - x) - turns * kQuarterTurnRest;  // what x has lost
  const double square = x * x;
  const double sine = x + (rest + x * square * polynomial(kSine, square));
  const double half = 0.5 * square;
  const double most = 1.0 - half;
  const double cosine =
      most + (((1.0 - most) - half) + (square * square * polynomial(kCosine, square) - x * rest));
  switch (nearest & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

double power(double base, double exponent) { return std::exp(exponent * std::log(base)); }

double log_sum_exp(const double* x, Index count) {
  if (count <= 0) return -INFINITY;
  Index largest = 0;
  for (Index i = 0; i < count; ++i) {
    if (std::isnan(x[i])) return NAN;
    if (x[i] > x[largest]) largest = i;
  }
  // Infinity minus infinity is no number: here the largest entry is the answer.
  if (std::isinf(x[largest])) return x[largest];

  // The largest entry contributes exactly 1. Left out of the sum and put back by log1p, a rest
  // that is far smaller than 1 is not rounded away.
  double rest = 0.0;
  for (Index i = 0; i < count; ++i) {
    if (i != largest) rest += std::exp(x[i] - x[largest]);
  }
  return x[largest] + std::log1p(rest);
}

}  // namespace adapvae

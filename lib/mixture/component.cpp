#include "mixture/component.h"

#include <algorithm>
#include <cmath>

#include "base/sampling.h"
#include "base/special_functions.h"

namespace adapvae {
namespace {

constexpr double kLogTwo = 0.69314718055994530942;
constexpr double kLogPi = 1.14472988584940017414;
constexpr int kJitterSteps = 12;

bool diagonal(const ClusterShape& shape) { return shape.covariance == FactorShape::kDiagonal; }

// Factors B in place, raising its diagonal step by step until that works. The unspoilt B is rebuilt
// by `build` for every try.
template <typename Build>
int factor_with_jitter(Index m, double* b, const Build& build) {
  for (int step = 0; step < kJitterSteps; ++step) {
    build(b);
    if (step > 0) {
      double trace = 0.0;
      for (Index i = 0; i < m; ++i) trace += std::fabs(b[packed_size(i) + i]);
      const double unit =
          trace > 0.0 && std::isfinite(trace) ? trace / static_cast<double>(m) : 1.0;
      const double jitter = unit * power(10.0, step - 14);
      for (Index i = 0; i < m; ++i) b[packed_size(i) + i] += jitter;
    }
    if (cholesky_in_place(b, m)) return step;
  }
  // Nothing helped (only absurd input gets here): a unit matrix keeps everything finite.
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) b[packed_size(i) + j] = i == j ? 1.0 : 0.0;
  }
  return kJitterSteps;
}

double diagonal_log_determinant(const double* b, Index m) {
  double sum = 0.0;
  for (Index i = 0; i < m; ++i) sum += std::log(b[i]);
  return sum;
}

}  // namespace

double log_normaliser(const ClusterShape& shape, double beta, double nu, double log_determinant) {
  const auto m = static_cast<double>(shape.dims);
  double sum = -0.5 * m * kLogTwoPi - 0.5 * nu * m * kLogTwo + 0.5 * m * std::log(beta) +
               0.5 * nu * log_determinant;
  if (diagonal(shape)) return sum - m * log_gamma(0.5 * nu);
  sum -= 0.25 * m * (m - 1.0) * kLogPi;
  for (Index i = 1; i <= shape.dims; ++i) {
    sum -= log_gamma(0.5 * (nu + 1.0 - static_cast<double>(i)));
  }
  return sum;
}

bool valid_strength(const ClusterShape& shape, double beta, double nu) {
  const double least = diagonal(shape) ? 0.0 : static_cast<double>(shape.dims) - 1.0;
  return beta > 0.0 && nu > least && std::isfinite(beta) && std::isfinite(nu);
}

bool prepare_base_measure(const ClusterShape& shape, BaseMeasure& base, double* scratch) {
  std::copy_n(base.scale, shape.scatter_size(), scratch);
  double log_determinant = 0.0;
  if (diagonal(shape)) {
    for (Index i = 0; i < shape.dims; ++i) {
      if (!(scratch[i] > 0.0) || !std::isfinite(scratch[i])) return false;
    }
    log_determinant = diagonal_log_determinant(scratch, shape.dims);
  } else {
    if (!cholesky_in_place(scratch, shape.dims)) return false;
    log_determinant = log_determinant_of_factor(scratch, shape.dims);
  }
  base.log_normaliser = log_normaliser(shape, base.beta, base.nu, log_determinant);
  return std::isfinite(base.log_normaliser);
}

int compute_posterior(const ClusterShape& shape, const BaseMeasure& base,
                      const StatisticsRef& statistics, Posterior& out) {
  const Index m = shape.dims;
  const double mass = *statistics.mass;
  out.beta = base.beta + mass;
  out.nu = base.nu + mass;
  const double pull = base.beta * mass / out.beta;
  for (Index i = 0; i < m; ++i) {
    out.mean[i] = (base.beta * base.mean[i] + mass * statistics.mean[i]) / out.beta;
  }
  int jitter = 0;
  if (diagonal(shape)) {
    for (Index i = 0; i < m; ++i) {
      const double offset = statistics.mean[i] - base.mean[i];
      out.factor[i] = base.scale[i] + statistics.scatter[i] + pull * offset * offset;
    }
    out.log_determinant = diagonal_log_determinant(out.factor, m);
    out.expected_log_determinant =
        static_cast<double>(m) * (digamma(0.5 * out.nu) + kLogTwo) - out.log_determinant;
  } else {
    jitter = factor_with_jitter(m, out.factor, [&](double* b) {
      for (Index i = 0; i < m; ++i) {
        const double di = statistics.mean[i] - base.mean[i];
        for (Index j = 0; j <= i; ++j) {
          const Index at = packed_size(i) + j;
          b[at] = base.scale[at] + statistics.scatter[at] +
                  pull * di * (statistics.mean[j] - base.mean[j]);
        }
      }
    });
    out.log_determinant = log_determinant_of_factor(out.factor, m);
    double sum = static_cast<double>(m) * kLogTwo - out.log_determinant;
    for (Index i = 1; i <= m; ++i) sum += digamma(0.5 * (out.nu + 1.0 - static_cast<double>(i)));
    out.expected_log_determinant = sum;
  }
  out.log_normaliser = log_normaliser(shape, out.beta, out.nu, out.log_determinant);
  return jitter;
}

double observation_bound(const ClusterShape& shape, const BaseMeasure& base,
                         const Posterior& posterior, double mass) {
  return base.log_normaliser - posterior.log_normaliser -
         0.5 * mass * static_cast<double>(shape.dims) * kLogTwoPi;
}

double fill_local_view(const ClusterShape& shape, const Posterior& posterior, float* mean,
                       float* factor, float* precision_diagonal, double* scratch) {
  const Index m = shape.dims;
  for (Index i = 0; i < m; ++i) mean[i] = static_cast<float>(posterior.mean[i]);
  if (diagonal(shape)) {
    for (Index i = 0; i < m; ++i) {
      const double precision = posterior.nu / posterior.factor[i];
      factor[i] = static_cast<float>(std::sqrt(precision));
      precision_diagonal[i] = static_cast<float>(precision);
    }
  } else {
    // E[Λ] = ν B⁻¹ = (√ν L⁻¹)ᵀ (√ν L⁻¹).
    invert_lower(posterior.factor, m, scratch);
    const double root = std::sqrt(posterior.nu);
    std::fill_n(precision_diagonal, m, 0.0F);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j <= i; ++j) {
        const double value = root * scratch[packed_size(i) + j];
        factor[packed_size(i) + j] = static_cast<float>(value);
        precision_diagonal[j] += static_cast<float>(value * value);
      }
    }
  }
  const auto dims = static_cast<double>(m);
  return 0.5 * (posterior.expected_log_determinant - dims * kLogTwoPi - dims / posterior.beta);
}

double covariance_at(const ClusterShape& shape, const Posterior& posterior, Index i, Index j) {
  if (shape.covariance == FactorShape::kDiagonal) {
    return i == j ? posterior.factor[i] / posterior.nu : 0.0;
  }
  double sum = 0.0;
  for (Index l = 0; l <= std::min(i, j); ++l) {
    sum += posterior.factor[packed_size(i) + l] * posterior.factor[packed_size(j) + l];
  }
  return sum / posterior.nu;
}

PredictiveScale predictive_scale(const ClusterShape& shape, const Posterior& posterior) {
  const auto dims = static_cast<double>(shape.dims);
  const double spread = (posterior.beta + 1.0) / posterior.beta;
  PredictiveScale scale;
  scale.shrink = 1.0 / (posterior.nu * spread);
  scale.log_peak = -0.5 * (dims * (kLogPi + std::log(spread)) + posterior.log_determinant);
  if (diagonal(shape)) {
    // A product of univariate t: ν degrees of freedom, scale² = b (β+1) / (β ν).
    scale.half_power = 0.5 * (posterior.nu + 1.0);
    scale.log_peak += dims * (log_gamma(scale.half_power) - log_gamma(0.5 * posterior.nu));
  } else {
    const double dof = posterior.nu - dims + 1.0;
    scale.half_power = 0.5 * (dof + dims);
    scale.log_peak += log_gamma(scale.half_power) - log_gamma(0.5 * dof);
  }
  return scale;
}

double log_predictive(const ClusterShape& shape, const Posterior& posterior, const double* z,
                      double* scratch) {
  const Index m = shape.dims;
  const PredictiveScale scale = predictive_scale(shape, posterior);
  const double shrink = scale.shrink * posterior.nu;  // distances below are without ν
  double* difference = scratch;
  for (Index i = 0; i < m; ++i) difference[i] = z[i] - posterior.mean[i];
  double sum = 0.0;
  if (diagonal(shape)) {
    for (Index i = 0; i < m; ++i) {
      sum += std::log1p(shrink * difference[i] * difference[i] / posterior.factor[i]);
    }
  } else {
    sum = std::log1p(shrink * squared_distance(posterior.factor, m, difference, scratch + m));
  }
  return scale.log_peak - scale.half_power * sum;
}

// The row adds to B the outer product of z - m, times β/(β - 1): without it distance and
// determinant follow from the distance with it.
double held_out_fall(const ClusterShape& shape, const Posterior& posterior, const double* z,
                     double* scratch) {
  const Index m = shape.dims;
  constexpr double kLeastLeft = 0.05;
  constexpr double kMostOfScatter = 0.999;  // rounding, and rows that it holds a part of
  const double least = diagonal(shape) ? 0.0 : static_cast<double>(m) - 1.0;
  if (posterior.beta < 1.0 + kLeastLeft || posterior.nu < least + 1.0 + kLeastLeft) return 0.0;
  const double growth = posterior.beta / (posterior.beta - 1.0);
  double* difference = scratch;
  for (Index i = 0; i < m; ++i) difference[i] = z[i] - posterior.mean[i];
  double log_left = 0.0;  // Σ log (1 - part of the scatter that is this row's)
  const auto take_out = [&](double squared) {
    log_left += std::log1p(-std::min(growth * squared, kMostOfScatter));
  };
  if (diagonal(shape)) {
    for (Index i = 0; i < m; ++i) {
      take_out(difference[i] * difference[i] / posterior.factor[i]);
    }
  } else {
    take_out(squared_distance(posterior.factor, m, difference, scratch + m));
  }
  Posterior without = posterior;
  without.beta -= 1.0;
  without.nu -= 1.0;
  without.log_determinant += log_left;
  const PredictiveScale scale = predictive_scale(shape, without);
  const double log_density = scale.log_peak + scale.half_power * log_left;
  return std::max(log_predictive(shape, posterior, z, scratch) - log_density, 0.0);
}

void sample_predictive(const ClusterShape& shape, const Posterior& posterior, double radius,
                       Philox& random, double* z, double* scratch) {
  const Index m = shape.dims;
  const bool each = diagonal(shape);
  const double dof = each ? posterior.nu : posterior.nu - static_cast<double>(m) + 1.0;
  const double scale = std::sqrt((posterior.beta + 1.0) / (posterior.beta * dof));
  // A multivariate t is a normal over the root of one gamma; the diagonal case has one per
  // dimension.
  double squared = 0.0;
  const double shared = each ? 1.0 : std::sqrt(2.0 * sample_gamma(random, 0.5 * dof) / dof);
  for (Index i = 0; i < m; ++i) {
    scratch[i] = each ? sample_student_t(random, dof) : sample_normal(random) / shared;
    squared += scratch[i] * scratch[i];
  }
  const double limit = radius * radius * static_cast<double>(m);
  const double shrink = radius > 0.0 && squared > limit ? std::sqrt(limit / squared) : 1.0;
  for (Index i = 0; i < m; ++i) {
    double value = 0.0;
    if (each) {
      value = std::sqrt(posterior.factor[i]) * scratch[i];
    } else {
      for (Index j = 0; j <= i; ++j) value += posterior.factor[packed_size(i) + j] * scratch[j];
    }
    z[i] = posterior.mean[i] + scale * shrink * value;
  }
}

}  // namespace adapvae

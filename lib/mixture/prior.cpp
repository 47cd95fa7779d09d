#include "mixture/prior.h"

#include <algorithm>
#include <cmath>

namespace adapvae {

namespace {

// The scale whose expected covariance is the pooled one.
bool find_pooled_scale(const Mixture& mixture, double nu, double* scale) {
  const ClusterShape& shape = mixture.config().shape;
  const auto m = static_cast<double>(shape.dims);
  std::fill_n(scale, shape.scatter_size(), 0.0);
  double mass = 0.0;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    const StatisticsRef s = mixture.totals()[k];
    mass += *s.mass;
    for (Index i = 0; i < shape.scatter_size(); ++i) scale[i] += s.scatter[i];
  }
  const double rows = shape.covariance == FactorShape::kDiagonal ? nu - 2.0 : nu - m - 1.0;
  if (!(mass > 2.0 * m) || !(rows > 0.0)) return false;
  for (Index i = 0; i < shape.scatter_size(); ++i) scale[i] *= rows / mass;
  return true;
}

// out += weight · B⁻¹, from the factor of B. work [scatter_size].
void add_inverse(const ClusterShape& shape, const double* factor, double weight, double* work,
                 double* out) {
  const Index m = shape.dims;
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) out[i] += weight / factor[i];
    return;
  }
  invert_lower(factor, m, work);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (Index l = i; l < m; ++l) sum += work[packed_size(l) + i] * work[packed_size(l) + j];
      out[packed_size(i) + j] += weight * sum;
    }
  }
}

// ψ'(x), x > 0.
double trigamma(double x) {
  double sum = 0.0;
  for (; x < 6.0; x += 1.0) sum += 1.0 / (x * x);
  const double y = 1.0 / (x * x);
  return sum + 1.0 / x + 0.5 * y + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y / 42.0));
}

// The variance of log |Λ| under a Wishart distribution, or under m gamma distributions.
double log_determinant_variance(const ClusterShape& shape, double nu) {
  double sum = 0.0;
  for (Index i = 0; i < shape.dims; ++i) {
    const bool diagonal = shape.covariance == FactorShape::kDiagonal;
    sum += trigamma(0.5 * (diagonal ? nu : nu - static_cast<double>(i)));
  }
  return sum;
}

bool holds_enough(const Mixture& mixture, Index k) {
  // A cluster of fewer rows than it has parameters repeats what was assumed of it.
  const ClusterShape& shape = mixture.config().shape;
  return mixture.mass(k) > 0.5 * static_cast<double>(shape.dims + shape.scatter_size());
}

// ν from how differently wide clusters are: the variance of log |Λ| between them, beyond what each
// is uncertain of its own. Clusters of all widths make a weak prior. 0: less than two clusters.
double find_fitted_strength(const Mixture& mixture, double most) {
  const ClusterShape& shape = mixture.config().shape;
  double count = 0.0;
  double mean = 0.0;
  double squares = 0.0;
  double uncertain = 0.0;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    if (!holds_enough(mixture, k)) continue;
    const Posterior& p = mixture.posterior(k);
    const double d = p.expected_log_determinant - mean;
    count += 1.0;
    mean += d / count;
    squares += d * (p.expected_log_determinant - mean);
    uncertain += log_determinant_variance(shape, p.nu);
  }
  if (!(count > 1.0)) return 0.0;
  const double between = squares / (count - 1.0) - uncertain / count;
  double low = static_cast<double>(shape.dims) + 1.1;
  double high = most;
  constexpr int kSteps = 40;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = 0.5 * (low + high);
    (log_determinant_variance(shape, middle) > between ? low : high) = middle;
  }
  return high;
}

// work [2 scatter_size].
bool find_fitted_scale(const Mixture& mixture, double nu, double* scale, double* work) {
  const ClusterShape& shape = mixture.config().shape;
  const Index size = shape.scatter_size();
  std::fill_n(scale, size, 0.0);
  double clusters = 0.0;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    if (!holds_enough(mixture, k)) continue;
    add_inverse(shape, mixture.posterior(k).factor, mixture.posterior(k).nu, work, scale);
    clusters += 1.0;
  }
  if (shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < size; ++i) scale[i] = nu * clusters / scale[i];
    return true;
  }
  if (!cholesky_in_place(scale, shape.dims)) return false;
  // The factor moves to where the inverse is not written.
  std::copy_n(scale, size, work);
  double* inverse = work + size;
  std::fill_n(scale, size, 0.0);
  add_inverse(shape, work, nu * clusters, inverse, scale);
  return true;
}

// β of highest evidence (eq. 28), at most `most`: means that lie far apart, compared with the width
// of clusters, are not expected near the centre. work [m].
double find_fitted_beta(const Mixture& mixture, double most, double* work) {
  const ClusterShape& shape = mixture.config().shape;
  const auto m = static_cast<double>(shape.dims);
  const auto evidence_rises = [&](double beta) {
    double slope = 0.0;
    for (Index k = 0; k < mixture.clusters(); ++k) {
      const StatisticsRef s = mixture.totals()[k];
      const Posterior& p = mixture.posterior(k);
      const double share = *s.mass / (beta + *s.mass);
      for (Index i = 0; i < shape.dims; ++i) work[i] = s.mean[i] - mixture.base_measure().mean[i];
      double square = 0.0;  // dᵀ B⁻¹ d
      if (shape.covariance == FactorShape::kDiagonal) {
        for (Index i = 0; i < shape.dims; ++i) square += work[i] * work[i] / p.factor[i];
      } else {
        solve_lower(p.factor, shape.dims, work);
        for (Index i = 0; i < shape.dims; ++i) square += work[i] * work[i];
      }
      slope += m / beta - m / (beta + *s.mass) - p.nu * share * share * square;
    }
    return slope > 0.0;
  };
  constexpr double kLeast = 1e-3;
  double low = std::log(std::min(kLeast, most));
  double high = std::log(most);
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = 0.5 * (low + high);
    (evidence_rises(std::exp(middle)) ? low : high) = middle;
  }
  return std::exp(high);
}

// scratch [m + scatter_size]: the scale stands behind room for the mean, which stays.
bool set_measure(Mixture& mixture, double beta, double nu, double* scratch) {
  const Index m = mixture.config().shape.dims;
  std::copy_n(mixture.base_measure().mean, m, scratch);
  return mixture.set_base_measure(beta, nu, scratch, scratch + m).ok();
}

}  // namespace

bool set_scaled_prior(Mixture& mixture, ConstMatrixView z, ConstMatrixView variance,
                      const PriorSettings& settings, double* scratch) {
  const ClusterShape& shape = mixture.config().shape;
  const Index m = shape.dims;
  const auto rows = static_cast<double>(z.rows);
  double* mean = scratch;
  double* scale = scratch + m;
  double total = 0.0;
  double largest = 0.0;
  for (Index j = 0; j < m; ++j) {
    double sum = 0.0;
    for (Index i = 0; i < z.rows; ++i) sum += z(i, j);
    mean[j] = sum / rows;
    for (Index i = 0; i < z.rows; ++i) {
      const double d = z(i, j) - mean[j];
      total += d * d;
      if (variance.data != nullptr) total += static_cast<double>(variance(i, j));
    }
    largest = std::max(largest, std::fabs(mean[j]));
  }
  total /= rows * static_cast<double>(m);
  // Differences within the rounding of floats are none: a thousandth of the value stands in.
  const bool differ = total > 1e-13 * largest * largest && total > 1e-34;
  // (Not so small that its inverse would not fit a float.)
  const double stand_in = largest > 0.0 ? std::max(1e-6 * largest * largest, 1e-30) : 1e-6;
  std::fill_n(scale, shape.scatter_size(), 0.0);
  for (Index j = 0; j < m; ++j) {
    scale[shape.diagonal_at(j)] = settings.scale * (differ ? total : stand_in);
  }
  return mixture.set_base_measure(settings.beta, static_cast<double>(m) + 2.0, mean, scale).ok() &&
         differ;
}

bool set_pooled_prior(Mixture& mixture, const PriorSettings& settings, double* scratch) {
  const Index m = mixture.config().shape.dims;
  const double nu = static_cast<double>(m) + settings.strength;
  if (!find_pooled_scale(mixture, nu, scratch + m)) return false;
  const bool fitted = settings.mode == PriorMode::kFitted;
  return set_measure(mixture, fitted ? mixture.base_measure().beta : settings.beta, nu, scratch);
}

bool set_fitted_prior(Mixture& mixture, const PriorSettings& settings, double* scratch) {
  const ClusterShape& shape = mixture.config().shape;
  double* scale = scratch + shape.dims;
  const double most = static_cast<double>(shape.dims) + settings.strength;
  const double nu = find_fitted_strength(mixture, most);
  if (nu == 0.0 || !find_fitted_scale(mixture, nu, scale, scale + shape.scatter_size())) {
    return false;
  }
  const double beta = find_fitted_beta(mixture, settings.beta, scale + shape.scatter_size());
  return set_measure(mixture, beta, nu, scratch);
}

}  // namespace adapvae

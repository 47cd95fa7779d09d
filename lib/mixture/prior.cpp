#include "mixture/prior.h"

#include <algorithm>
#include <cmath>

namespace adapvae {

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
  const ClusterShape& shape = mixture.config().shape;
  const Index m = shape.dims;
  double* mean = scratch;
  double* scale = scratch + m;
  std::copy_n(mixture.base_measure().mean, m, mean);
  std::fill_n(scale, shape.scatter_size(), 0.0);
  double mass = 0.0;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    const StatisticsRef s = mixture.totals()[k];
    mass += *s.mass;
    for (Index i = 0; i < shape.scatter_size(); ++i) scale[i] += s.scatter[i];
  }
  const double nu = static_cast<double>(m) + settings.strength;
  // The scale whose expected covariance is the pooled one.
  const double rows =
      shape.covariance == FactorShape::kDiagonal ? nu - 2.0 : nu - static_cast<double>(m) - 1.0;
  if (!(mass > 2.0 * static_cast<double>(m)) || !(rows > 0.0)) return false;
  for (Index i = 0; i < shape.scatter_size(); ++i) scale[i] *= rows / mass;
  return mixture.set_base_measure(settings.beta, nu, mean, scale).ok();
}

}  // namespace adapvae

// Mixture: rows seen without learning from them.
#include <algorithm>
#include <cmath>

#include "base/special_functions.h"
#include "mixture/mixture.h"

namespace adapvae {
namespace {

constexpr double kLeastWeight = 1e-300;  // so that it has a logarithm

// Σ_d log(1 + shrink · distance_d) of a diagonal cluster, by products: one logarithm for many
// dimensions.
double log_product(const GaussianView& g, Index k, const float* z, const float* variance,
                   double shrink) {
  constexpr double kLarge = 1e250;
  double sum = 0.0;
  double product = 1.0;
  for (Index d = 0; d < g.dims; ++d) {
    const Index at = k * g.dims + d;
    const double x = static_cast<double>(g.factor[at]) * (static_cast<double>(z[d]) - g.mean[at]);
    double distance = x * x;
    if (variance != nullptr) {
      distance += static_cast<double>(variance[d]) * g.precision_diagonal[at];
    }
    product *= 1.0 + shrink * std::min(distance, 1e40);
    if (product < kLarge) continue;
    sum += std::log(product);
    product = 1.0;
  }
  return sum + std::log(product);
}

}  // namespace

void bound_distances(MatrixView distance) {
  for (Index i = 0; i < distance.rows; ++i) {
    float* d = distance.row(i);
    for (Index k = 0; k < distance.cols; ++k) {
      d[k] = d[k] < kFarthestDistance ? d[k] : kFarthestDistance;
    }
  }
}

GaussianView Mixture::gaussians() const {
  return {.clusters = clusters_,
          .dims = config_.shape.dims,
          .mean = local_mean_,
          .factor = local_factor_,
          .precision_diagonal = local_precision_,
          .shape = config_.shape.covariance};
}

void Mixture::responsibilities(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                               MatrixView r, float* log_sum) const {
  backend.mahalanobis(z, variance, gaussians(), r);
  bound_distances(r);
  backend.softmax_rows(r, local_weight_, -0.5F, r, log_sum);
}

void Mixture::score(Backend& backend, ConstMatrixView z, ConstMatrixView variance, MatrixView r,
                    RowScore* out) const {
  const GaussianView view = gaussians();
  const bool diagonal = view.shape == FactorShape::kDiagonal;
  backend.mahalanobis(z, variance, view, r);
  bound_distances(r);
  for (Index i = 0; i < z.rows; ++i) {
    // Densities relative to the largest so far, so that nothing overflows. What is e⁻⁶⁰ of a sum of
    // at least 1 does not change it: no exponential for that.
    constexpr double kNothing = -60.0;
    double largest = -1e300;
    double sum = 0.0;
    double least = 1e300;
    for (Index k = 0; k < clusters_; ++k) {
      const PredictiveScale& scale = predictive_[k];
      const float* spread = variance.data != nullptr ? variance.row(i) : nullptr;
      const double fall =
          scale.half_power * (diagonal ? log_product(view, k, z.row(i), spread, scale.shrink)
                                       : std::log1p(scale.shrink * r(i, k)));
      least = std::min(least, fall);
      const double log_density = scale.log_peak - fall;
      if (log_density > largest) {
        const double fall_of_sum = largest - log_density;
        sum = fall_of_sum > kNothing ? sum * std::exp(fall_of_sum) + 1.0 : 1.0;
        largest = log_density;
      } else if (log_density - largest > kNothing) {
        sum += std::exp(log_density - largest);
      }
    }
    out[i].remoteness = static_cast<float>(least);
    out[i].log_density = static_cast<float>(largest + std::log(sum));
  }
  backend.softmax_rows(r, local_weight_, -0.5F, r, nullptr);
  for (Index i = 0; i < z.rows; ++i) {
    const float* p = r.row(i);
    out[i].cluster = std::max_element(p, p + clusters_) - p;
    out[i].probability = p[out[i].cluster];
    const double weight = std::max(weight_[out[i].cluster], kLeastWeight);
    out[i].misfit = static_cast<float>(std::log(weight)) - out[i].log_density;
  }
}

// To find it takes longer than to score a row: what was found last is kept with all that it was
// found from.
double Mixture::surprise_quantile(double part) const {
  bool known = quantile_part_ == part && quantile_clusters_ == clusters_;
  for (Index k = 0; k < clusters_ && known; ++k) {
    known =
        quantile_from_[2 * k] == weight_[k] && quantile_from_[2 * k + 1] == predictive_[k].log_peak;
  }
  if (known) return quantile_;
  quantile_ = find_surprise_quantile(part);
  quantile_part_ = part;
  quantile_clusters_ = clusters_;
  for (Index k = 0; k < clusters_; ++k) {
    quantile_from_[2 * k] = weight_[k];
    quantile_from_[2 * k + 1] = predictive_[k].log_peak;
  }
  return quantile_;
}

double Mixture::find_surprise_quantile(double part) const {
  const auto m = static_cast<double>(config_.shape.dims);
  double weight = 0.0;
  double low = 1e300;
  double high = -1e300;
  for (Index k = 0; k < clusters_; ++k) {
    weight += weight_[k];
    low = std::min(low, -predictive_[k].log_peak);
    high = std::max(high, -predictive_[k].log_peak);
  }
  // A cluster's rows lie half a χ² of m degrees of freedom above its least surprise; the χ² by
  // Wilson and Hilferty's cube root. Bisection over all clusters.
  const double spread = 2.0 / (9.0 * m);
  const double root = 1.0 - spread + 9.0 * std::sqrt(spread);
  high += 0.5 * m * root * root * root;
  for (int step = 0; step < 60; ++step) {
    const double middle = 0.5 * (low + high);
    double below = 0.0;
    for (Index k = 0; k < clusters_; ++k) {
      const double rise = middle + predictive_[k].log_peak;
      if (rise <= 0.0) continue;
      below += weight_[k] * (1.0 - half_chi_squared_above(config_.shape.dims, rise));
    }
    (below < part * weight ? low : high) = middle;
  }
  return high;
}

}  // namespace adapvae

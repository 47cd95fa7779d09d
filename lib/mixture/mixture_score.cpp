// Mixture: rows seen without learning from them.
#include <algorithm>
#include <cmath>

#include "base/special_functions.h"
#include "mixture/mixture.h"

namespace adapvae {
namespace {

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
    product *= 1.0 + shrink * distance;
    if (product < kLarge) continue;
    sum += std::log(product);
    product = 1.0;
  }
  return sum + std::log(product);
}

}  // namespace

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
  backend.softmax_rows(r, local_weight_, -0.5F, r, log_sum);
}

void Mixture::score(Backend& backend, ConstMatrixView z, ConstMatrixView variance, MatrixView r,
                    RowScore* out) const {
  const GaussianView view = gaussians();
  const bool diagonal = view.shape == FactorShape::kDiagonal;
  backend.mahalanobis(z, variance, view, r);
  for (Index i = 0; i < z.rows; ++i) {
    RowScore& score = out[i];
    // Densities relative to the largest so far, so that nothing overflows.
    double largest = -1e300;
    double sum = 0.0;
    double least = 1e300;
    for (Index k = 0; k < clusters_; ++k) {
      const PredictiveScale& scale = predictive_[k];
      const float* spread = variance.data != nullptr ? variance.row(i) : nullptr;
      const double fall =
          scale.half_power * (diagonal ? log_product(view, k, z.row(i), spread, scale.shrink)
                                       : std::log1p(scale.shrink * r(i, k)));
      if (fall < least) {
        least = fall;
        score.nearest = k;
      }
      const double log_density = scale.log_peak - fall;
      if (log_density > largest) {
        sum = sum * std::exp(largest - log_density) + 1.0;
        largest = log_density;
      } else {
        sum += std::exp(log_density - largest);
      }
    }
    score.surprise = static_cast<float>(least);
    score.log_density = static_cast<float>(largest + std::log(sum));
  }
  // log_sum is not wanted; the backend needs a place for it.
  for (Index begin = 0; begin < z.rows; begin += kLocalRows) {
    const MatrixView part = r.row_range(begin, std::min(kLocalRows, z.rows - begin));
    float log_sum[kLocalRows];
    backend.softmax_rows(part, local_weight_, -0.5F, part, log_sum);
  }
  for (Index i = 0; i < z.rows; ++i) {
    const float* p = r.row(i);
    out[i].cluster = std::max_element(p, p + clusters_) - p;
    out[i].probability = p[out[i].cluster];
  }
}

}  // namespace adapvae

// ClusterLearner: what clusters carry, when the features move or are made anew.
#include <algorithm>

#include "structure/cluster_learner.h"

namespace adapvae {

void ClusterLearner::map_past(Index k, const AffineMap& map) {
  mixture_.map_past(k, map, scratch_);
  if (!candidates_.exists(k)) return;
  for (Index which = 0; which < 2; ++which) {
    map_statistics(config_.shape, map, candidates_.half(k, which), scratch_);
  }
}

void ClusterLearner::move_past(ConstMatrixView z, ConstMatrixView variance, const Index* cluster) {
  const ClusterShape& shape = config_.shape;
  const Index m = shape.dims;
  // The scatter of rows around their own cluster's mean, for clusters of too few rows to show one.
  // Rows were drawn from clusters that contain the variance of features: it is not added again.
  double* pooled = scratch_;
  double* step = scratch_ + shape.scatter_size();
  std::fill_n(pooled, shape.scatter_size(), 0.0);
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    present_[k] = 0.0;
    std::fill_n(mixture_.carried()[k].mean, m, 0.0);
    std::fill_n(mixture_.carried()[k].scatter, shape.scatter_size(), 0.0);
  }
  for (Index i = 0; i < z.rows; ++i) {
    const Index k = cluster[i];
    const StatisticsRef past = mixture_.carried()[k];
    present_[k] += 1.0;
    for (Index j = 0; j < m; ++j) {
      step[j] = static_cast<double>(z(i, j)) - past.mean[j];
      past.mean[j] += step[j] / present_[k];
    }
    const double weight = (present_[k] - 1.0) / present_[k];
    for (double* scatter : {past.scatter, pooled}) {
      if (shape.covariance == FactorShape::kLower) {
        add_outer(weight, step, m, scatter);
      } else {
        for (Index j = 0; j < m; ++j) scatter[j] += weight * step[j] * step[j];
      }
    }
  }
  const auto rows = static_cast<double>(std::max<Index>(z.rows - mixture_.clusters(), 1));
  const double prior = 2.0 * static_cast<double>(m);
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    const StatisticsRef past = mixture_.carried()[k];
    const double factor = *past.mass / (present_[k] + prior);
    for (Index s = 0; s < shape.scatter_size(); ++s) {
      past.scatter[s] = factor * (past.scatter[s] + prior * pooled[s] / rows);
    }
  }
  candidates_.reset();
  mixture_.count_faded(pending_.count());
  pending_.reset();
  novelty_.clear();
  met_rows_ = 0;
  if (settings_.prior.mode != PriorMode::kFixed) {
    prior_set_ = set_scaled_prior(mixture_, z, variance, settings_.prior, scratch_);
  }
  mixture_.global_step();
}

}  // namespace adapvae

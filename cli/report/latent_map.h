// A plane through the features in which clusters lie apart as far as a plane allows: the first two
// linear discriminants of the clusters' moments.
#pragma once

#include <vector>

namespace adapvae::cli {

struct FeatureMoments {
  double weight = 0.0;
  std::vector<double> mean;        // [m]
  std::vector<double> covariance;  // [m × m]
};

class LatentMap {
 public:
  // All of the same m, 1 or more.
  explicit LatentMap(const std::vector<FeatureMoments>& clusters);
  void place(const double* features, double& x, double& y) const;
  // xx, xy, yy of a covariance [m × m].
  void spread(const std::vector<double>& covariance, double out[3]) const;

 private:
  std::size_t m_;
  std::vector<double> axis_[2];  // [m]
};

}  // namespace adapvae::cli

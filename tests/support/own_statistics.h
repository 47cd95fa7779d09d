// Statistics of one cluster that own their memory.
#pragma once

#include <vector>

#include "mixture/statistics.h"

namespace adapvae::testing {

struct OwnStatistics {
  explicit OwnStatistics(const ClusterShape& shape)
      : mean(static_cast<std::size_t>(shape.dims), 0.0),
        scatter(static_cast<std::size_t>(shape.scatter_size()), 0.0) {}
  StatisticsRef ref() { return {&mass, mean.data(), scatter.data()}; }

  double mass = 0.0;
  std::vector<double> mean;
  std::vector<double> scatter;
};

}  // namespace adapvae::testing

#include "structure/kinds.h"

#include <algorithm>

namespace adapvae {

void KindGrouping::place(Arena& arena, Index max_clusters) {
  edges_ = arena.take<double>(static_cast<std::size_t>(max_clusters * max_clusters));
  degree_ = arena.take<double>(static_cast<std::size_t>(max_clusters));
}

void KindGrouping::reset(Index clusters) {
  clusters_ = clusters;
  std::fill_n(edges_, clusters * clusters, 0.0);
}

Index KindGrouping::group(double resolution, Index* kind) {
  const Index K = clusters_;
  double total = 0.0;
  for (Index k = 0; k < K; ++k) {
    kind[k] = k;
    degree_[k] = 0.0;
    for (Index l = 0; l < K; ++l) degree_[k] += edges_[k * K + l];
    total += degree_[k];
  }
  Index kinds = K;
  if (!(total > 0.0)) return kinds;
  while (true) {
    double best = 0.0;
    Index a = -1;
    Index b = -1;
    for (Index k = 0; k < K; ++k) {
      if (kind[k] != k) continue;
      for (Index l = k + 1; l < K; ++l) {
        if (kind[l] != l) continue;
        const double chance = resolution * degree_[k] * degree_[l] / (total * total);
        const double gain = edges_[k * K + l] / total - chance;
        if (gain > best) {
          best = gain;
          a = k;
          b = l;
        }
      }
    }
    if (a < 0) return kinds;
    for (Index l = 0; l < K; ++l) {
      edges_[a * K + l] += edges_[b * K + l];
      edges_[l * K + a] = edges_[a * K + l];
    }
    degree_[a] += degree_[b];
    for (Index k = 0; k < K; ++k) {
      if (kind[k] == b) kind[k] = a;
    }
    --kinds;
  }
}

}  // namespace adapvae

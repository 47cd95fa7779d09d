#include "structure/kinds.h"

#include <algorithm>
#include <numeric>

namespace adapvae {

void KindGrouping::place(Arena& arena, Index max_clusters) {
  edges_ = arena.take<double>(static_cast<std::size_t>(max_clusters * max_clusters));
  degree_ = arena.take<double>(static_cast<std::size_t>(max_clusters));
  before_ = arena.take<Index>(static_cast<std::size_t>(max_clusters));
}

void KindGrouping::reset(Index clusters) {
  clusters_ = clusters;
  std::fill_n(edges_, clusters * clusters, 0.0);
}

void KindGrouping::group(double resolution, Index* kind) {
  const Index n = clusters_;
  double total = 0.0;
  for (Index k = 0; k < n; ++k) {
    before_[k] = kind[k];
    kind[k] = k;
    degree_[k] = std::accumulate(edges_ + k * n, edges_ + (k + 1) * n, 0.0);
    total += degree_[k];
  }
  for (Index k = 0; k < n; ++k) {
    if (degree_[k] > 0.0) continue;
    for (Index l = 0; l < n; ++l) {
      // With one of its kind that was seen, or with the first that was not.
      if (before_[l] == before_[k] && (degree_[l] > 0.0 || kind[k] == k)) kind[k] = kind[l];
      if (kind[k] != k && degree_[kind[k]] > 0.0) break;
    }
  }
  Index a = 0;
  Index b = 0;
  while (best_pair(resolution, total, kind, &a, &b)) {
    for (Index l = 0; l < n; ++l) {
      edges_[a * n + l] += edges_[b * n + l];
      edges_[l * n + a] = edges_[a * n + l];
    }
    degree_[a] += degree_[b];
    for (Index k = 0; k < n; ++k) {
      if (kind[k] == b) kind[k] = a;
    }
  }
}

// The two groups that gain most by becoming one, eq. 18; false if none gains.
bool KindGrouping::best_pair(double resolution, double total, const Index* kind, Index* a,
                             Index* b) const {
  const Index n = clusters_;
  double best = 0.0;
  for (Index k = 0; k < n; ++k) {
    if (kind[k] != k) continue;
    for (Index l = k + 1; l < n; ++l) {
      if (kind[l] != l) continue;
      const double gain = edges_[k * n + l] * total - resolution * degree_[k] * degree_[l];
      if (!(gain > best)) continue;
      best = gain;
      *a = k;
      *b = l;
    }
  }
  return best > 0.0;
}

}  // namespace adapvae

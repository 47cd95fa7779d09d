#include "structure/kinds.h"

#include <algorithm>

namespace adapvae {

void KindGrouping::place(Arena& arena, Index max_clusters) {
  const auto clusters = static_cast<std::size_t>(max_clusters);
  overlap_ = arena.take<double>(static_cast<std::size_t>(packed_size(max_clusters)));
  mass_ = arena.take<double>(clusters);
  before_ = arena.take<Index>(clusters);
}

void KindGrouping::group(const Mixture& mixture, double resolution, Index* kind) {
  clusters_ = mixture.clusters();
  for (Index k = 0; k < clusters_; ++k) {
    before_[k] = kind[k];
    kind[k] = k;
    mass_[k] = mixture.mass(k);
    for (Index l = 0; l < k; ++l) overlap(k, l) = -mixture.pair_entropy_loss(k, l);
  }
  Index a = 0;
  Index b = 0;
  while (best_pair(kOverlap * resolution, kind, &a, &b)) {
    for (Index k = 0; k < clusters_; ++k) {
      if (k != a && k != b) overlap(a, k) += overlap(b, k);
      if (kind[k] == b) kind[k] = a;
    }
    mass_[a] += mass_[b];
  }
}

// The two kinds that overlap most; false if none overlap enough.
bool KindGrouping::best_pair(double least, const Index* kind, Index* a, Index* b) {
  double best = least;
  for (Index l = 1; l < clusters_; ++l) {
    if (kind[l] != l) continue;
    for (Index k = 0; k < l; ++k) {
      if (kind[k] != k) continue;
      const double smaller = std::min(mass_[k], mass_[l]);
      if (!(smaller > 0.0)) continue;
      const double part = overlap(k, l) / smaller;
      const double value = before_[k] == before_[l] ? part / kHysteresis : part;
      if (!(value > best)) continue;
      best = value;
      *a = k;
      *b = l;
    }
  }
  return best > least;
}

}  // namespace adapvae

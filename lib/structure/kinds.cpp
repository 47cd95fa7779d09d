#include "structure/kinds.h"

#include <algorithm>

namespace adapvae {

void KindGrouping::place(Arena& arena, Index max_clusters) {
  const auto clusters = static_cast<std::size_t>(max_clusters);
  overlap_ = arena.take<double>(clusters * clusters);
  rows_ = arena.take<double>(clusters);
  before_ = arena.take<Index>(clusters);
  member_ = arena.take<Index>(clusters);
}

void KindGrouping::reset(Index clusters) {
  clusters_ = clusters;
  std::fill_n(overlap_, clusters * clusters, 0.0);
  std::fill_n(rows_, clusters, 0.0);
}

void KindGrouping::add_row(const float* r) {
  constexpr float kLeast = 1e-4F;  // less adds nothing that counts
  Index members = 0;
  for (Index k = 0; k < clusters_; ++k) {
    if (!(r[k] > kLeast)) continue;
    const auto own = static_cast<double>(r[k]);
    rows_[k] += own;
    for (Index i = 0; i < members; ++i) {
      overlap_[k * clusters_ + member_[i]] += own * static_cast<double>(r[member_[i]]);
    }
    member_[members++] = k;
  }
}

void KindGrouping::group(double resolution, Index* kind) {
  const Index n = clusters_;
  constexpr double kLeastRows = 0.5;
  for (Index k = 0; k < n; ++k) {
    before_[k] = kind[k];
    kind[k] = k;
    if (rows_[k] < kLeastRows) rows_[k] = 0.0;
  }
  for (Index k = 0; k < n; ++k) {
    if (rows_[k] > 0.0) continue;
    // With one of its kind that was seen, or with the first that was not.
    for (Index l = 0; l < n; ++l) {
      if (before_[l] != before_[k] || (rows_[l] == 0.0 && kind[k] != k)) continue;
      kind[k] = kind[l];
      if (rows_[l] > 0.0) break;
    }
  }
  Index a = 0;
  Index b = 0;
  while (best_pair(kOverlap * resolution, kind, &a, &b)) {
    for (Index k = 0; k < n; ++k) {
      if (k != a && k != b) overlap(a, k) += overlap(b, k);
      if (kind[k] == b) kind[k] = a;
    }
    rows_[a] += rows_[b];
  }
}

// The two kinds that overlap most; false if none overlap enough.
bool KindGrouping::best_pair(double least, const Index* kind, Index* a, Index* b) {
  double best = least;
  for (Index l = 1; l < clusters_; ++l) {
    if (kind[l] != l || rows_[l] == 0.0) continue;
    for (Index k = 0; k < l; ++k) {
      if (kind[k] != k || rows_[k] == 0.0) continue;
      const double part = overlap(k, l) / std::min(rows_[k], rows_[l]);
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

// Rows divided among clusters, for one instruction set. Included by kernel_body.h only.

// Distances, exponentials and their sum for a block of rows, one row per lane, so that nothing is
// summed across lanes. Leaves e^(logit - largest logit) [clusters × kRowBlock] in call->weight, a
// row's sum of them in `sum`, and in call->member the clusters that may get something.
ADAPVAE_INLINE void weigh_block(const DivideCall* call, Index i0, Index rows, float* sum) {
  constexpr float kLeast = static_cast<float>(0.5 * kResponsibilityUnit);
  const MahalanobisCall* distance = &call->distance;
  const DistanceBlock block = load_block(distance, i0, rows);
  Vec most[kPair];
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) most[v] = splat(-3.402823466e+38F);
  for (Index k = 0; k < distance->clusters; ++k) {
    const BlockDistances distances = block_distances(distance, k, block);
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
      const Vec squared = distances.of[v];
      const Vec bounded = squared < kFarthestDistance ? squared : splat(kFarthestDistance);
      const Vec logit = bounded * -0.5F + call->log_weight[k];
      most[v] = max_of(logit, most[v]);
      store(call->weight + k * kRowBlock + v * kLanes, logit);
    }
  }
  Vec total[kPair];
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) total[v] = splat(0.0F);
  for (Index k0 = 0; k0 < distance->clusters; k0 += kMemberBits) {
    const Index k1 = distance->clusters - k0 < kMemberBits ? distance->clusters : k0 + kMemberBits;
    VecInt member[kPair] = {};
    for (Index k = k0; k < k1; ++k) {
      const VecInt bit = VecInt{} + static_cast<std::int32_t>(1U << (k - k0));
      ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
        float* at = call->weight + k * kRowBlock + v * kLanes;
        const Vec weight = exp_of(load(at) - most[v]);
        store(at, weight);
        total[v] += weight;
        // The sum is at least 1: what is too small for half a unit here is so in the end.
        member[v] |= weight >= kLeast ? bit : VecInt{};
      }
    }
    std::uint32_t word[kRowBlock];
    __builtin_memcpy(word, member, sizeof word);
    for (Index i = 0; i < rows; ++i) {
      call->member[(i0 + i) * call->member_row + k0 / kMemberBits] = word[i];
    }
  }
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) store(sum + v * kLanes, total[v]);
}

// One row's shares in whole units that sum to exactly its budget. weight: of cluster 0; the next
// cluster's is kRowBlock further on.
ADAPVAE_INLINE void divide_row(const DivideCall* call, const float* weight, double scale,
                               double budget, std::uint32_t* member, double* share) {
  // Adding and taking away 2⁵² units rounds to whole units. From there on every operation is exact.
  constexpr double kRound = 4503599627370496.0 * kResponsibilityUnit;
  const Index clusters = call->distance.clusters;
  for (Index k = 0; k < clusters; ++k) share[k] = 0.0;
  double left = budget;
  Index largest = 0;
  for (Index k0 = 0; k0 < clusters; k0 += kMemberBits) {
    std::uint32_t* word = member + k0 / kMemberBits;
    for (std::uint32_t rest = *word; rest != 0; rest &= rest - 1) {
      const Index k = k0 + __builtin_ctz(rest);
      const double units = (static_cast<double>(weight[k * kRowBlock]) * scale + kRound) - kRound;
      share[k] = units;
      left -= units;
      if (units == 0.0) *word &= ~(rest & -rest);
      if (weight[k * kRowBlock] > weight[largest * kRowBlock]) largest = k;
    }
  }
  share[largest] += left;
  const std::uint32_t bit = 1U << (largest % kMemberBits);
  std::uint32_t* word = member + largest / kMemberBits;
  *word = share[largest] != 0.0 ? *word | bit : *word & ~bit;
}

void divide_rows(const DivideCall* call) {
  for (Index i0 = 0; i0 < call->distance.rows; i0 += kRowBlock) {
    const Index left = call->distance.rows - i0;
    const Index rows = left < kRowBlock ? left : kRowBlock;
    float sum[kRowBlock];
    weigh_block(call, i0, rows, sum);
    for (Index i = 0; i < rows; ++i) {
      const Index n = i0 + i;
      const double budget = call->budget != nullptr ? call->budget[n] : 1.0;
      divide_row(call, call->weight + i, budget / sum[i], budget,
                 call->member + n * call->member_row, call->share + n * call->share_row);
    }
  }
}

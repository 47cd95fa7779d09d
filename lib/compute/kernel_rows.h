// Row-wise and elementwise loops for one instruction set. Included by kernel_body.h only.

void column_sums(const float* x, Index x_row, Index rows, Index cols, float* out) {
  for (Index j = 0; j < cols; ++j) out[j] = 0.0F;
  for (Index i = 0; i < rows; ++i) {
    const float* row = x + i * x_row;
    Index j = 0;
    for (; j + kLanes <= cols; j += kLanes) store(out + j, load(out + j) + load(row + j));
    for (; j < cols; ++j) out[j] += row[j];
  }
}

// ---- decoder likelihoods ------------------------------------------------------------------------

struct Term {
  Vec log_likelihood, gradient;
};
constexpr float kHalfLogTwoPi = 0.918938533204672742F;

// gradient is that of -log p with respect to the decoder output.
ADAPVAE_INLINE Term bernoulli_term(Vec logit, Vec x) {
  const SoftplusSigmoid both = softplus_sigmoid(logit);
  return {x * logit - both.softplus, both.sigmoid - x};
}

struct RowOut {
  const float* output;
  const float* target;
  float* gradient;
};
ADAPVAE_INLINE RowOut row_of(const ReconstructCall* call, Index i) {
  return {call->output + i * call->output_row, call->target + i * call->target_row,
          call->gradient != nullptr ? call->gradient + i * call->gradient_row : nullptr};
}

// Calls one(count, j) for whole vectors and for the cut-off end of a row.
template <typename One>
ADAPVAE_INLINE void for_vectors(Index count, One one) {
  Index j = 0;
  for (; j + kLanes <= count; j += kLanes) one(Index{kLanes}, j);
  if (j < count) one(count - j, j);
}
ADAPVAE_INLINE Vec load_some(const float* p, Index count) {
  return count == kLanes ? load(p) : load_partial(p, count, 0.0F);
}
ADAPVAE_INLINE void store_some(float* p, Vec v, Index count) {
  if (count == kLanes) {
    store(p, v);
  } else {
    store_partial(p, v, count);
  }
}
// The lanes beyond count are zeroed, so that they add nothing to a sum.
ADAPVAE_INLINE Vec keep_some(Vec v, Index count) {
  if (count == kLanes) return v;
  float buffer[kLanes];
  store(buffer, v);
  return load_partial(buffer, count, 0.0F);
}

void reconstruct_bernoulli(const ReconstructCall* call) {
  for (Index i = 0; i < call->rows; ++i) {
    const RowOut row = row_of(call, i);
    Vec sum = splat(0.0F);
    for_vectors(call->inputs, [&](Index count, Index j) ADAPVAE_LAMBDA {
      const Term t =
          bernoulli_term(load_some(row.output + j, count), load_some(row.target + j, count));
      sum += keep_some(t.log_likelihood, count);
      if (row.gradient != nullptr) store_some(row.gradient + j, t.gradient * call->scale, count);
    });
    call->log_likelihood[i] = static_cast<float>(lane_sum(sum));
  }
}

void reconstruct_gaussian(const ReconstructCall* call) {
  const float precision = 1.0F / call->variance;
  const float log_variance = static_cast<float>(__builtin_log(call->variance));
  for (Index i = 0; i < call->rows; ++i) {
    const RowOut row = row_of(call, i);
    Vec sum = splat(0.0F);
    for_vectors(call->inputs, [&](Index count, Index j) ADAPVAE_LAMBDA {
      const Vec error = load_some(row.output + j, count) - load_some(row.target + j, count);
      sum += error * error;
      if (row.gradient != nullptr) {
        store_some(row.gradient + j, error * (precision * call->scale), count);
      }
    });
    const double constant =
        static_cast<double>(call->inputs) * (kHalfLogTwoPi + 0.5 * log_variance);
    call->log_likelihood[i] = static_cast<float>(-0.5 * precision * lane_sum(sum) - constant);
  }
}

void reconstruct_learned(const ReconstructCall* call) {
  const Index d = call->inputs;
  for (Index i = 0; i < call->rows; ++i) {
    const RowOut row = row_of(call, i);
    Vec sum = splat(0.0F);
    for_vectors(d, [&](Index count, Index j) ADAPVAE_LAMBDA {
      const Vec error = load_some(row.output + j, count) - load_some(row.target + j, count);
      const Vec raw = load_some(row.output + d + j, count);
      const Vec log_variance =
          min_of(max_of(raw, splat(call->log_variance_min)), splat(call->log_variance_max));
      const Vec precision = exp_of(-log_variance);
      const Vec scaled = error * error * precision;
      sum += keep_some(log_variance + scaled, count);
      if (row.gradient != nullptr) {
        // Beyond a bound a slope counts only if it leads back.
        const Vec zero = splat(0.0F);
        const Vec slope = (1.0F - scaled) * 0.5F * call->scale;
        const Vec back = call->way_back ? slope : zero;
        const Vec below = back > 0.0F ? zero : back;
        const Vec above = back < 0.0F ? zero : back;
        const Vec inside = raw > call->log_variance_max ? above : slope;
        store_some(row.gradient + j, error * precision * call->scale, count);
        store_some(row.gradient + d + j, raw < call->log_variance_min ? below : inside, count);
      }
    });
    const double constant = static_cast<double>(d) * kHalfLogTwoPi;
    call->log_likelihood[i] = static_cast<float>(-0.5 * lane_sum(sum) - constant);
  }
}

void reconstruct(const ReconstructCall* call) {
  switch (call->likelihood) {
    case Likelihood::kBernoulli:
      return reconstruct_bernoulli(call);
    case Likelihood::kGaussian:
      return reconstruct_gaussian(call);
    case Likelihood::kGaussianLearned:
      return reconstruct_learned(call);
  }
}

// ---- softmax ------------------------------------------------------------------------------------

// A row's last, partial vector stays in a register throughout; its unused lanes weigh nothing.
void softmax_rows(const float* in, Index in_row, Index rows, Index cols, const float* offset,
                  float scale, float* out, Index out_row, float* log_sum) {
  constexpr float kLowest = -3.402823466e+38F;
  const Index rest = cols % kLanes;
  const Index full = cols - rest;
  const Vec last_offset =
      rest > 0 && offset != nullptr ? load_partial(offset + full, rest, kLowest) : splat(0.0F);
  for (Index i = 0; i < rows; ++i) {
    const float* x = in + i * in_row;
    float* y = out + i * out_row;
    Vec most = splat(kLowest);
    for (Index j = 0; j < full; j += kLanes) {
      Vec logit = load(x + j) * scale;
      if (offset != nullptr) logit += load(offset + j);
      store(y + j, logit);
      most = max_of(logit, most);
    }
    Vec last = splat(kLowest);
    if (rest > 0) {
      last = load_partial(x + full, rest, 0.0F) * scale + last_offset;
      if (offset == nullptr) {
        float lanes[kLanes];
        store(lanes, last);
        last = load_partial(lanes, rest, kLowest);
      }
      most = max_of(last, most);
    }
    const float peak = lane_max(most);
    Vec sum = splat(0.0F);
    for (Index j = 0; j < full; j += kLanes) {
      const Vec value = exp_of(load(y + j) - peak);
      store(y + j, value);
      sum += value;
    }
    if (rest > 0) {
      last = exp_of(last - peak);
      sum += keep_some(last, rest);
    }
    const double total = lane_sum(sum);
    const float inverse = static_cast<float>(1.0 / total);
    for (Index j = 0; j < full; j += kLanes) store(y + j, load(y + j) * inverse);
    if (rest > 0) store_partial(y + full, last * inverse, rest);
    if (log_sum != nullptr) log_sum[i] = static_cast<float>(peak + __builtin_log(total));
  }
}

// ---- distances to clusters ----------------------------------------------------------------------

// Rows are handled kPair·kLanes at a time, one row per lane, with the block transposed to
// [dims][kPair vectors]: the triangular products then need no horizontal sum, and a row's result
// does not depend on its neighbours.
constexpr int kPair = kSmallCode ? 1 : 4;
constexpr Index kRowBlock = kPair * kLanes;

ADAPVAE_INLINE void transpose_rows(const float* x, Index x_row, Index rows, Index cols,
                                   float* out) {
  for (Index j = 0; j < cols; ++j) {
    for (Index i = 0; i < kRowBlock; ++i) {
      out[j * kRowBlock + i] = i < rows ? x[i * x_row + j] : 0.0F;
    }
  }
}

// Calls use(i, v, y) with vector v of row i of F (z - mean), i ascending, for a block of rows.
// z_block and difference (scratch memory) are [dims × kRowBlock].
template <typename Use>
ADAPVAE_INLINE void whiten(const MahalanobisCall* call, Index k, const float* z_block,
                           float* difference, const Use& use) {
  const Index m = call->dims;
  const float* mean = call->mean + k * m;
  if (call->shape == FactorShape::kDiagonal) {
    const float* f = call->factor + k * m;
    for (Index j = 0; j < m; ++j) {
      ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
        use(j, v, (load(z_block + j * kRowBlock + v * kLanes) - mean[j]) * f[j]);
      }
    }
    return;
  }
  for (Index j = 0; j < m; ++j) {
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
      const Index at = j * kRowBlock + v * kLanes;
      store(difference + at, load(z_block + at) - mean[j]);
    }
  }
  // Two rows of the factor at a time: more sums at once than one would keep busy.
  const float* f = call->factor + k * (m * (m + 1) / 2);
  Index i = 0;
  for (; i + 2 <= m; i += 2) {
    const float* g = f + i + 1;  // the next row
    Vec sum[kPair];
    Vec next[kPair];
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) sum[v] = next[v] = splat(0.0F);
    for (Index j = 0; j <= i; ++j) {
      ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
        const Vec d = load(difference + j * kRowBlock + v * kLanes);
        sum[v] += f[j] * d;
        next[v] += g[j] * d;
      }
    }
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
      next[v] += g[i + 1] * load(difference + (i + 1) * kRowBlock + v * kLanes);
    }
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) use(i, v, sum[v]);
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) use(i + 1, v, next[v]);
    f = g + i + 2;
  }
  if (i == m) return;
  Vec sum[kPair];
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) sum[v] = splat(0.0F);
  for (Index j = 0; j <= i; ++j) {
    ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
      sum[v] += f[j] * load(difference + j * kRowBlock + v * kLanes);
    }
  }
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) use(i, v, sum[v]);
}

struct DistanceBlock {
  const float* z;         // [dims × kRowBlock]
  const float* variance;  // the same, or null
  float* difference;      // scratch of the same size
};
ADAPVAE_INLINE DistanceBlock load_block(const MahalanobisCall* call, Index i0, Index rows) {
  const Index size = call->dims * kRowBlock;
  float* z = call->scratch;
  float* variance = call->variance != nullptr ? z + 2 * size : nullptr;
  transpose_rows(call->z + i0 * call->z_row, call->z_row, rows, call->dims, z);
  if (variance != nullptr) {
    transpose_rows(call->variance + i0 * call->variance_row, call->variance_row, rows, call->dims,
                   variance);
  }
  return {z, variance, z + size};
}

// Squared distances of a block's rows from cluster k. By value: sums whose address is taken need
// not stay in registers, and then not every vector of them is summed by the same instructions.
struct BlockDistances {
  Vec of[kPair];
};
ADAPVAE_INLINE BlockDistances block_distances(const MahalanobisCall* call, Index k,
                                              const DistanceBlock& block) {
  Vec sum[kPair];
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) sum[v] = splat(0.0F);
  whiten(call, k, block.z, block.difference, [&](Index, int v, Vec y) { sum[v] += y * y; });
  if (block.variance != nullptr) {
    const float* diagonal = call->precision_diagonal + k * call->dims;
    for (Index j = 0; j < call->dims; ++j) {
      ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
        sum[v] += diagonal[j] * load(block.variance + j * kRowBlock + v * kLanes);
      }
    }
  }
  BlockDistances distances;
  ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) distances.of[v] = sum[v];
  return distances;
}

void mahalanobis(const MahalanobisCall* call) {
  for (Index i0 = 0; i0 < call->rows; i0 += kRowBlock) {
    const Index rows = call->rows - i0 < kRowBlock ? call->rows - i0 : kRowBlock;
    const DistanceBlock block = load_block(call, i0, rows);
    for (Index k = 0; k < call->clusters; ++k) {
      const BlockDistances distances = block_distances(call, k, block);
      float distance[kRowBlock];
      ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) store(distance + v * kLanes, distances.of[v]);
      for (Index i = 0; i < rows; ++i) call->out[(i0 + i) * call->out_row + k] = distance[i];
    }
  }
}

// pull(n) = sum_k w_nk FᵀF (z_n - mean_k): half the gradient of the weighted distances.
void mahalanobis_pull(const MahalanobisCall* call) {
  const Index m = call->dims;
  float* z_block = call->scratch;
  float* difference = z_block + m * kRowBlock;
  float* whitened = difference + m * kRowBlock;
  float* pull = whitened + m * kRowBlock;
  for (Index i0 = 0; i0 < call->rows; i0 += kRowBlock) {
    const Index rows = call->rows - i0 < kRowBlock ? call->rows - i0 : kRowBlock;
    transpose_rows(call->z + i0 * call->z_row, call->z_row, rows, m, z_block);
    for (Index j = 0; j < m * kRowBlock; ++j) pull[j] = 0.0F;
    for (Index k = 0; k < call->clusters; ++k) {
      float weight_block[kRowBlock];
      bool any = false;
      for (Index i = 0; i < kRowBlock; ++i) {
        weight_block[i] = i < rows ? call->weight[(i0 + i) * call->weight_row + k] : 0.0F;
        any = any || weight_block[i] != 0.0F;
      }
      if (!any) continue;
      whiten(call, k, z_block, difference,
             [&](Index i, int v, Vec y) { store(whitened + i * kRowBlock + v * kLanes, y); });
      const bool diagonal = call->shape == FactorShape::kDiagonal;
      const float* f = call->factor + k * (diagonal ? m : m * (m + 1) / 2);
      for (Index i = 0; i < m; ++i) {
        Vec y[kPair];
        ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
          // A weight of zero means "not at all", even of an infinity.
          const Vec w = load(weight_block + v * kLanes);
          y[v] = w == 0.0F ? splat(0.0F) : load(whitened + i * kRowBlock + v * kLanes) * w;
        }
        const Index from = diagonal ? i : 0;
        for (Index j = from; j <= i; ++j) {
          const float value = diagonal ? f[i] : f[j];
          ADAPVAE_UNROLL for (int v = 0; v < kPair; ++v) {
            float* at = pull + j * kRowBlock + v * kLanes;
            store(at, load(at) + value * y[v]);
          }
        }
        if (!diagonal) f += i + 1;
      }
    }
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < m; ++j) {
        call->out[(i0 + i) * call->out_row + j] = pull[j * kRowBlock + i];
      }
    }
  }
}

// ---- weighted moments ---------------------------------------------------------------------------

// Everything in double, weights of exactly zero skipped: most responsibilities are. Every sum is
// over the rows in order, one after the other; rows are taken in groups only so that a running sum
// is loaded and stored once for several of them.
// scratch: per cluster dims rows of `padded` doubles, then kMomentGroup padded rows of differences.
constexpr Index kMomentRows = kLanes > 1 ? 256 : 64;  // small devices have small stacks
constexpr Index kMomentClusters = 32;

struct MomentGroup {
  double weight[kMomentGroup];
  const float* variance[kMomentGroup];
  int count = 0;
};

// Rows i and, if kBoth, i + 1 of the square: each difference is then loaded once for both. The
// upper row may run over its end; what stands there is never read.
template <bool kBoth>
ADAPVAE_INLINE void add_scatter_rows(const MomentGroup& group, Index i, Index padded,
                                     const double* difference, double* scatter) {
  double scaled[kMomentGroup];
  double next[kMomentGroup];
  ADAPVAE_UNROLL for (int g = 0; g < kMomentGroup; ++g) {
    scaled[g] = group.weight[g] * difference[g * padded + i];
    if (kBoth) next[g] = group.weight[g] * difference[g * padded + i + 1];
  }
  for (Index j = 0; j <= i + (kBoth ? 1 : 0); j += kDoubleLanes) {
    double* at = scatter + i * padded + j;
    VecDouble total = load_double(at);
    VecDouble below = kBoth ? load_double(at + padded) : total;
    ADAPVAE_UNROLL for (int g = 0; g < kMomentGroup; ++g) {
      const VecDouble d = load_double(difference + g * padded + j);
      total = total + scaled[g] * d;
      if (kBoth) below = below + next[g] * d;
    }
    store_double(at, total);
    if (kBoth) store_double(at + padded, below);
  }
}

// A group that is not full is filled up with rows of weight and difference zero, which change
// nothing.
ADAPVAE_INLINE void add_moment_group(const MomentsCall* call, MomentGroup& group, Index k,
                                     Index padded, double* difference, double* scatter) {
  const Index m = call->dims;
  const bool diagonal = call->shape == FactorShape::kDiagonal;
  double* sum = call->sum + k * m;
  for (int g = group.count; g < kMomentGroup; ++g) {
    group.weight[g] = 0.0;
    for (Index j = 0; j < m; ++j) difference[g * padded + j] = 0.0;
  }
  ADAPVAE_UNROLL for (int g = 0; g < kMomentGroup; ++g) call->mass[k] += group.weight[g];
  for (Index j = 0; j < m; ++j) {
    double total = sum[j];
    ADAPVAE_UNROLL for (int g = 0; g < kMomentGroup; ++g) {
      total = total + group.weight[g] * difference[g * padded + j];
    }
    sum[j] = total;
  }
  if (diagonal) {
    for (Index j = 0; j < m; ++j) {
      double total = scatter[j];
      ADAPVAE_UNROLL for (int g = 0; g < kMomentGroup; ++g) {
        const double d = difference[g * padded + j];
        total = total + group.weight[g] * d * d;
      }
      scatter[j] = total;
    }
  } else {
    Index i = 0;
    if constexpr (!kSmallCode) {
      for (; i + 2 <= m; i += 2) add_scatter_rows<true>(group, i, padded, difference, scatter);
    }
    for (; i < m; ++i) add_scatter_rows<false>(group, i, padded, difference, scatter);
  }
  if (call->variance == nullptr) return;
  for (int g = 0; g < group.count; ++g) {
    for (Index j = 0; j < m; ++j) {
      scatter[diagonal ? j : j * padded + j] +=
          group.weight[g] * static_cast<double>(group.variance[g][j]);
    }
  }
}

// Which rows of [n0, end) each of `width` clusters from k0 on takes part in.
struct MomentLists {
  std::uint16_t row[kMomentClusters][kMomentRows];
  std::uint32_t count[kMomentClusters] = {};
};
static_assert(kMomentClusters == kMemberBits);

ADAPVAE_INLINE void list_members(const MomentsCall* call, Index n0, Index end, Index k0,
                                 Index width, MomentLists& lists) {
  // The clusters' bits may lie in two words.
  const Index word = (call->first + k0) / kMemberBits;
  const Index shift = (call->first + k0) % kMemberBits;
  const bool two = shift + width > kMemberBits;
  const std::uint32_t wanted = width == kMemberBits ? ~0U : (1U << width) - 1U;
  for (Index n = n0; n < end; ++n) {
    const std::uint32_t* at = call->member + n * call->member_row + word;
    std::uint32_t rest = at[0] >> shift;
    if (two) rest |= at[1] << (kMemberBits - shift);
    for (rest &= wanted; rest != 0; rest &= rest - 1) {
      const int k = __builtin_ctz(rest);
      lists.row[k][lists.count[k]++] = static_cast<std::uint16_t>(n - n0);
    }
  }
}

// The same from the weights alone, row by row as memory lies, four at a time.
ADAPVAE_INLINE void find_members(const MomentsCall* call, Index n0, Index end, Index k0,
                                 Index width, MomentLists& lists) {
  constexpr Index kScan = 4;
  for (Index n = n0; n < end; ++n) {
    const double* weight = call->weight + n * call->weight_row + k0;
    for (Index k = 0; k < width; k += kScan) {
      const Index last = width - k < kScan ? width : k + kScan;
      // Weights are not negative: all four are zero iff their sum is.
      if (last == k + kScan &&
          (weight[k] + weight[k + 1]) + (weight[k + 2] + weight[k + 3]) == 0.0) {
        continue;
      }
      for (Index one = k; one < last; ++one) {
        if (weight[one] != 0.0) {
          lists.row[one][lists.count[one]++] = static_cast<std::uint16_t>(n - n0);
        }
      }
    }
  }
}

// Rows [n0, end), at most kMomentRows, of clusters [k0, k1), at most kMomentClusters.
ADAPVAE_INLINE void add_moment_block(const MomentsCall* call, Index n0, Index end, Index k0,
                                     Index k1, Index padded, Index square, double* difference) {
  const Index m = call->dims;
  MomentLists lists;
  if (call->member != nullptr) {
    list_members(call, n0, end, k0, k1 - k0, lists);
  } else {
    find_members(call, n0, end, k0, k1 - k0, lists);
  }
  for (Index k = k0; k < k1; ++k) {
    const double* center = call->center + k * m;
    double* scatter = call->scratch + k * square;
    MomentGroup group;
    for (std::uint32_t at = 0; at < lists.count[k - k0]; ++at) {
      const Index n = n0 + lists.row[k - k0][at];
      const float* z = call->z + n * call->z_row;
      double* d = difference + group.count * padded;
      for (Index j = 0; j < m; ++j) d[j] = z[j] - center[j];
      group.weight[group.count] = call->weight[n * call->weight_row + k];
      group.variance[group.count] =
          call->variance != nullptr ? call->variance + n * call->variance_row : nullptr;
      if (++group.count < kMomentGroup) continue;
      add_moment_group(call, group, k, padded, difference, scatter);
      group.count = 0;
    }
    if (group.count > 0) add_moment_group(call, group, k, padded, difference, scatter);
  }
}

void weighted_moments(const MomentsCall* call) {
  const Index m = call->dims;
  const bool diagonal = call->shape == FactorShape::kDiagonal;
  const Index padded = (m + kDoubleLanes - 1) / kDoubleLanes * kDoubleLanes;
  const Index square = diagonal ? padded : m * padded;
  double* difference = call->scratch + call->clusters * square;
  for (Index j = 0; j < call->clusters * square + kMomentGroup * padded; ++j) {
    call->scratch[j] = 0.0;
  }
  for (Index j = 0; j < call->clusters * m; ++j) call->sum[j] = 0.0;
  for (Index k = 0; k < call->clusters; ++k) call->mass[k] = 0.0;

  for (Index n0 = 0; n0 < call->rows; n0 += kMomentRows) {
    const Index end = call->rows - n0 < kMomentRows ? call->rows : n0 + kMomentRows;
    for (Index k0 = 0; k0 < call->clusters; k0 += kMomentClusters) {
      const Index k1 =
          call->clusters - k0 < kMomentClusters ? call->clusters : k0 + kMomentClusters;
      add_moment_block(call, n0, end, k0, k1, padded, square, difference);
    }
  }
  for (Index k = 0; k < call->clusters; ++k) {
    const double* scatter = call->scratch + k * square;
    if (diagonal) {
      for (Index j = 0; j < m; ++j) call->scatter[k * m + j] = scatter[j];
    } else {
      double* out = call->scatter + k * (m * (m + 1) / 2);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j <= i; ++j) *out++ = scatter[i * padded + j];
      }
    }
  }
}

// ---- optimiser and checks -----------------------------------------------------------------------

// Plain loop: both compilers vectorise it, square root and division included.
void adam(const AdamCall* call) {
  float* __restrict parameter = call->parameter;
  const float* __restrict gradient = call->gradient;
  float* __restrict first = call->first_moment;
  float* __restrict second = call->second_moment;
  const float beta1 = call->beta1;
  const float beta2 = call->beta2;
  const float rest1 = 1.0F - beta1;
  const float rest2 = 1.0F - beta2;
  const float scale = call->gradient_scale;
  const float step = call->step_size;
  const float correction = call->inverse_root_correction;
  const float epsilon = call->epsilon;
  const float decay = call->decay;
  for (Index i = 0; i < call->count; ++i) {
    const float g = gradient[i] * scale;
    const float m = beta1 * first[i] + rest1 * g;
    const float v = beta2 * second[i] + rest2 * g * g;
    first[i] = m;
    second[i] = v;
    // One subtraction: 1 - decay would round to 1 when the decay is small.
    const float p = parameter[i];
    parameter[i] = p - (decay * p + step * m / (__builtin_sqrtf(v) * correction + epsilon));
  }
}

double squared_norm(const float* x, Index count) {
#if ADAPVAE_LANES == 1
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
#else
  VecDouble sum[4] = {};
  Index i = 0;
  for (; i + 4 * kDoubleLanes <= count; i += 4 * kDoubleLanes) {
    ADAPVAE_UNROLL for (int v = 0; v < 4; ++v) {
      VecHalf narrow;
      __builtin_memcpy(&narrow, x + i + v * kDoubleLanes, sizeof narrow);
      const VecDouble wide = __builtin_convertvector(narrow, VecDouble);
      sum[v] += wide * wide;
    }
  }
  const VecDouble all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  double total = 0.0;
  for (int l = 0; l < kDoubleLanes; ++l) total += all[l];
  for (; i < count; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
#endif
}

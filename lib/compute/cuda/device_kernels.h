// The device's kernels and how they are launched, written once and compiled twice: by nvcc into the
// plug-in (cuda_device.cu), and as plain C++ into the tests (tests/support/host_device.cpp), where
// the conformance tests of the seam and the address sanitizer run them without a device.
//
// The including file defines, before it includes this inside a namespace of its own,
//   ADAPVAE_KERNEL                what stands before a kernel
//   ADAPVAE_DEVICE                what stands before a function that kernels call
//   ADAPVAE_SHARED(type, name, n) an array that the threads of a block share
//   ADAPVAE_SHARED_BYTES(name)    float* to the shared memory asked for at launch
//   ADAPVAE_BARRIER()             waits for the block's other threads
//   ADAPVAE_LAUNCH(kernel, stream, grid_x, grid_y, threads_x, threads_y, shared_bytes, call)
//   ADAPVAE_LAUNCH_FREE(kernel, stream, grid_x, threads, call)   for kernels without a barrier
//   Stream                        a type
// and the names threadIdx, blockIdx, blockDim and gridDim exist.
//
// Rules: a number of the result has one order of summation, which depends on the shape of its own
// row alone. No atomic operations, no warp-wide tricks. Threads of a block that meet barriers meet
// all of them.

using Index = std::ptrdiff_t;

ADAPVAE_DEVICE Index thread_index() {
  return static_cast<Index>(blockIdx.x) * static_cast<Index>(blockDim.x) +
         static_cast<Index>(threadIdx.x);
}

// ---- sums over a block --------------------------------------------------------------------------

struct Sum {
  template <typename T>
  ADAPVAE_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  ADAPVAE_DEVICE float operator()(float a, float b) const { return a < b ? b : a; }
};
// The largest weight, and the first cluster that has it.
struct Largest {
  float weight;
  Index cluster;
};
struct LargestOf {
  ADAPVAE_DEVICE Largest operator()(Largest a, Largest b) const {
    if (b.weight > a.weight) return b;
    return b.weight == a.weight && b.cluster < a.cluster ? b : a;
  }
};

// What all threads of a one-dimensional block of 2^i threads have, joined; every thread gets it.
// shared: one T per thread.
template <typename T, typename Join>
ADAPVAE_DEVICE T block_join(T value, T* shared, Join join) {
  const unsigned at = threadIdx.x;
  shared[at] = value;
  ADAPVAE_BARRIER();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (at < half) shared[at] = join(shared[at], shared[at + half]);
    ADAPVAE_BARRIER();
  }
  const T joined = shared[0];
  ADAPVAE_BARRIER();  // the memory may be used again
  return joined;
}

// ---- elementary functions -----------------------------------------------------------------------

// Nothing below the range of normal results, like the CPU's.
ADAPVAE_DEVICE float exp_of(float x) { return x < -87.0F ? 0.0F : expf(x); }

struct SoftplusSigmoid {
  float softplus, sigmoid;
};
ADAPVAE_DEVICE SoftplusSigmoid softplus_sigmoid(float x) {
  const float small = exp_of(x < 0.0F ? x : -x);
  const float larger = 1.0F / (small + 1.0F);
  return {(x < 0.0F ? 0.0F : x) + log1pf(small), x < 0.0F ? small * larger : larger};
}

// NaN passes through all of these.
ADAPVAE_DEVICE float activate(Activation kind, float a) {
  switch (kind) {
    case Activation::kRelu:
      return a < 0.0F ? 0.0F : a;
    case Activation::kLeakyRelu:
      return a < 0.0F ? a * kLeakySlope : a;
    case Activation::kTanh:
      return tanhf(a);
    case Activation::kSigmoid:
      return softplus_sigmoid(a).sigmoid;
    case Activation::kSoftplus:
      return softplus_sigmoid(a).softplus;
    case Activation::kLinear:
      break;
  }
  return a;
}

ADAPVAE_DEVICE float derivative(Activation kind, float y) {
  switch (kind) {
    case Activation::kRelu:
      return y > 0.0F ? 1.0F : (y <= 0.0F ? 0.0F : y);
    case Activation::kLeakyRelu:
      return y > 0.0F ? 1.0F : (y <= 0.0F ? kLeakySlope : y);
    case Activation::kTanh:
      return 1.0F - y * y;
    case Activation::kSigmoid:
      return y * (1.0F - y);
    case Activation::kSoftplus:
      return -expm1f(-y);
    case Activation::kLinear:
      break;
  }
  return 1.0F;
}

// ---- products -----------------------------------------------------------------------------------

constexpr int kTile = 32;        // rows and columns of C per block
constexpr int kTileThreads = 8;  // in each direction
constexpr int kThreadTile = kTile / kTileThreads;
constexpr int kTileRow = kTile + 1;  // one more: columns of it lie in different banks

ADAPVAE_DEVICE float finished(const GemmCall& call, Index i, Index j, float sum) {
  if (call.bias != nullptr) sum += call.bias[j];
  sum = activate(call.activation, sum);
  if (call.gate != nullptr) {
    sum *= derivative(call.gate_activation, call.gate[i * call.gate_row + j]);
  }
  return sum;
}

// A [kTile × kTile] part of a matrix into shared memory, as [column][row] if `flip`; zero beyond
// its end. Neighbouring threads read neighbouring numbers, whichever way the matrix lies.
ADAPVAE_DEVICE void load_tile(const float* x, Index row, Index col, Index row_step, Index col_step,
                              Index rows, Index cols, bool flip, float* tile) {
  const int thread = static_cast<int>(threadIdx.y) * kTileThreads + static_cast<int>(threadIdx.x);
  for (int e = thread; e < kTile * kTile; e += kTileThreads * kTileThreads) {
    const int i = col_step == 1 ? e / kTile : e % kTile;
    const int j = col_step == 1 ? e % kTile : e / kTile;
    const bool inside = row + i < rows && col + j < cols;
    const float value = inside ? x[(row + i) * row_step + (col + j) * col_step] : 0.0F;
    tile[flip ? j * kTileRow + i : i * kTileRow + j] = value;
  }
}

ADAPVAE_KERNEL gemm_kernel(const GemmCall call) {
  ADAPVAE_SHARED(float, a, kTile* kTileRow);
  ADAPVAE_SHARED(float, b, kTile* kTileRow);
  const Index i0 = static_cast<Index>(blockIdx.y) * kTile;
  const Index j0 = static_cast<Index>(blockIdx.x) * kTile;
  const int ty = static_cast<int>(threadIdx.y);
  const int tx = static_cast<int>(threadIdx.x);
  float sum[kThreadTile][kThreadTile] = {};
  for (Index p0 = 0; p0 < call.k; p0 += kTile) {
    load_tile(call.a, i0, p0, call.a_row, call.a_col, call.m, call.k, true, a);
    load_tile(call.b, p0, j0, call.b_row, call.b_col, call.k, call.n, false, b);
    ADAPVAE_BARRIER();
    for (int p = 0; p < kTile; ++p) {
      float left[kThreadTile];
      float right[kThreadTile];
      for (int u = 0; u < kThreadTile; ++u) left[u] = a[p * kTileRow + ty + u * kTileThreads];
      for (int v = 0; v < kThreadTile; ++v) right[v] = b[p * kTileRow + tx + v * kTileThreads];
      for (int u = 0; u < kThreadTile; ++u) {
        for (int v = 0; v < kThreadTile; ++v) sum[u][v] += left[u] * right[v];
      }
    }
    ADAPVAE_BARRIER();
  }
  for (int u = 0; u < kThreadTile; ++u) {
    for (int v = 0; v < kThreadTile; ++v) {
      const Index i = i0 + ty + u * kTileThreads;
      const Index j = j0 + tx + v * kTileThreads;
      if (i < call.m && j < call.n) call.c[i * call.c_row + j] = finished(call, i, j, sum[u][v]);
    }
  }
}

// After a product that another library made.
ADAPVAE_KERNEL finish_kernel(const GemmCall call) {
  const Index at = thread_index();
  if (at >= call.m * call.n) return;
  const Index i = at / call.n;
  const Index j = at % call.n;
  float* c = call.c + i * call.c_row + j;
  *c = finished(call, i, j, *c);
}

ADAPVAE_KERNEL column_sums_kernel(const ColumnSumsCall call) {
  const Index j = thread_index();
  if (j >= call.cols) return;
  float sum = 0.0F;
  for (Index i = 0; i < call.rows; ++i) sum += call.x[i * call.x_row + j];
  call.out[j] = sum;
}

// ---- decoder likelihoods, a block per row -------------------------------------------------------

constexpr int kRowThreads = 128;
constexpr double kHalfLogTwoPiOf = 0.918938533204672742;

ADAPVAE_KERNEL reconstruct_kernel(const ReconstructCall call) {
  ADAPVAE_SHARED(double, shared, kRowThreads);
  const Index n = static_cast<Index>(blockIdx.x);
  const Index d = call.inputs;
  const float* output = call.output + n * call.output_row;
  const float* target = call.target + n * call.target_row;
  float* gradient = call.gradient != nullptr ? call.gradient + n * call.gradient_row : nullptr;
  const float fixed_precision = 1.0F / call.variance;
  float sum = 0.0F;
  for (Index j = static_cast<Index>(threadIdx.x); j < d; j += kRowThreads) {
    const float a = output[j];
    const float x = target[j];
    switch (call.likelihood) {
      case Likelihood::kBernoulli: {
        const SoftplusSigmoid both = softplus_sigmoid(a);
        sum += x * a - both.softplus;
        if (gradient != nullptr) gradient[j] = (both.sigmoid - x) * call.scale;
        break;
      }
      case Likelihood::kGaussian: {
        const float error = a - x;
        sum += error * error;
        if (gradient != nullptr) gradient[j] = error * (fixed_precision * call.scale);
        break;
      }
      case Likelihood::kGaussianLearned: {
        const float error = a - x;
        const float raw = output[d + j];
        const bool low = raw < call.log_variance_min;
        const bool high = raw > call.log_variance_max;
        const float log_variance =
            low ? call.log_variance_min : (high ? call.log_variance_max : raw);
        const float precision = expf(-log_variance);
        const float scaled = error * error * precision;
        sum += log_variance + scaled;
        if (gradient != nullptr) {
          gradient[j] = error * precision * call.scale;
          // Beyond a bound a slope counts only if it leads back.
          const float slope = (1.0F - scaled) * 0.5F * call.scale;
          const bool away = (low && slope > 0.0F) || (high && slope < 0.0F);
          gradient[d + j] = away || ((low || high) && !call.way_back) ? 0.0F : slope;
        }
        break;
      }
    }
  }
  const double total = block_join(static_cast<double>(sum), shared, Sum());
  if (threadIdx.x != 0) return;
  const double inputs = static_cast<double>(d);
  double result = total;
  if (call.likelihood == Likelihood::kGaussian) {
    result = -0.5 * fixed_precision * total -
             inputs * (kHalfLogTwoPiOf + 0.5 * log(static_cast<double>(call.variance)));
  } else if (call.likelihood == Likelihood::kGaussianLearned) {
    result = -0.5 * total - inputs * kHalfLogTwoPiOf;
  }
  call.log_likelihood[n] = static_cast<float>(result);
}

// ---- latent -------------------------------------------------------------------------------------

ADAPVAE_KERNEL sample_kernel(const SampleCall call) {
  const Index at = thread_index();
  if (at >= call.rows * call.dims) return;
  const Index i = at / call.dims;
  const Index j = at % call.dims;
  const float* head = call.heads + i * call.heads_row;
  const float raw = head[call.dims + j];
  const float log_variance = raw < call.log_variance_min
                                 ? call.log_variance_min
                                 : (raw > call.log_variance_max ? call.log_variance_max : raw);
  call.variance[i * call.variance_row + j] = expf(log_variance);
  float z = head[j];
  if (call.noise != nullptr) z += expf(0.5F * log_variance) * call.noise[i * call.noise_row + j];
  call.z[i * call.z_row + j] = z;
}

ADAPVAE_KERNEL latent_gradient_kernel(const LatentGradientCall call) {
  const Index at = thread_index();
  if (at >= call.rows * call.dims) return;
  const Index i = at / call.dims;
  const Index j = at % call.dims;
  const float raw = call.heads[i * call.heads_row + call.dims + j];
  const float variance = call.variance[i * call.variance_row + j];
  const float dz = call.dz[i * call.dz_row + j];
  float slope = call.weight * 0.5F * (variance * call.precision[i * call.precision_row + j] - 1.0F);
  if (call.noise != nullptr) {
    slope += 0.5F * sqrtf(variance) * call.noise[i * call.noise_row + j] * dz;
  }
  float* dheads = call.dheads + i * call.dheads_row;
  dheads[j] = dz + call.weight * call.pull[i * call.pull_row + j];
  dheads[call.dims + j] = raw < call.log_variance_min || raw > call.log_variance_max ? 0.0F : slope;
}

// ---- distances to clusters ----------------------------------------------------------------------

ADAPVAE_DEVICE Index factor_numbers(FactorShape shape, Index m) {
  return shape == FactorShape::kDiagonal ? m : m * (m + 1) / 2;
}

// Row i of F_k (z - mean_k).
ADAPVAE_DEVICE float whitened(const MahalanobisCall& call, const float* z, Index k, Index i) {
  const Index m = call.dims;
  const float* mean = call.mean + k * m;
  const float* f = call.factor + k * factor_numbers(call.shape, m);
  if (call.shape == FactorShape::kDiagonal) return (z[i] - mean[i]) * f[i];
  f += i * (i + 1) / 2;
  float y = 0.0F;
  for (Index j = 0; j <= i; ++j) y += f[j] * (z[j] - mean[j]);
  return y;
}

ADAPVAE_DEVICE float squared_distance(const MahalanobisCall& call, Index n, Index k) {
  const Index m = call.dims;
  const float* z = call.z + n * call.z_row;
  float sum = 0.0F;
  for (Index i = 0; i < m; ++i) {
    const float y = whitened(call, z, k, i);
    sum += y * y;
  }
  if (call.variance != nullptr) {
    const float* variance = call.variance + n * call.variance_row;
    const float* diagonal = call.precision_diagonal + k * m;
    for (Index j = 0; j < m; ++j) sum += diagonal[j] * variance[j];
  }
  return sum;
}

// Threads of a block have one cluster and neighbouring rows: they read the same factor at once.
constexpr int kDistanceThreads = 64;

ADAPVAE_KERNEL mahalanobis_kernel(const MahalanobisCall call) {
  const Index block = static_cast<Index>(blockIdx.x);
  const Index k = block % call.clusters;
  const Index n = block / call.clusters * kDistanceThreads + static_cast<Index>(threadIdx.x);
  if (n < call.rows) call.out[n * call.out_row + k] = squared_distance(call, n, k);
}

// A row per threadIdx.y; its threads share F (z - mean) of one cluster after the other.
constexpr int kPullThreads = 32;
constexpr int kPullRows = 4;

ADAPVAE_KERNEL pull_kernel(const MahalanobisCall call) {
  ADAPVAE_SHARED_BYTES(shared);
  const Index m = call.dims;
  float* y = shared + static_cast<Index>(threadIdx.y) * 2 * m;
  float* pull = y + m;
  const Index first = static_cast<Index>(threadIdx.x);
  const Index n = static_cast<Index>(blockIdx.x) * kPullRows + static_cast<Index>(threadIdx.y);
  const bool inside = n < call.rows;
  const float* z = inside ? call.z + n * call.z_row : nullptr;
  for (Index j = first; j < m; j += kPullThreads) pull[j] = 0.0F;
  for (Index k = 0; k < call.clusters; ++k) {
    // A weight of zero is none, however far the cluster.
    const float weight = inside ? call.weight[n * call.weight_row + k] : 0.0F;
    const bool any = weight != 0.0F;
    for (Index i = first; any && i < m; i += kPullThreads) {
      y[i] = weight * whitened(call, z, k, i);
    }
    ADAPVAE_BARRIER();
    const float* f = call.factor + k * factor_numbers(call.shape, m);
    for (Index j = first; any && j < m; j += kPullThreads) {
      if (call.shape == FactorShape::kDiagonal) {
        pull[j] += f[j] * y[j];
        continue;
      }
      float sum = 0.0F;
      for (Index i = j; i < m; ++i) sum += f[i * (i + 1) / 2 + j] * y[i];
      pull[j] += sum;
    }
    ADAPVAE_BARRIER();
  }
  for (Index j = first; inside && j < m; j += kPullThreads)
    call.out[n * call.out_row + j] = pull[j];
}

// ---- softmax and shares, a block per row --------------------------------------------------------

constexpr float kLowestFloat = -3.402823466e+38F;

ADAPVAE_KERNEL softmax_kernel(const SoftmaxCall call) {
  ADAPVAE_SHARED(float, shared, kRowThreads);
  ADAPVAE_SHARED(double, shared_sum, kRowThreads);
  const Index n = static_cast<Index>(blockIdx.x);
  const float* in = call.in + n * call.in_row;
  float* out = call.out + n * call.out_row;
  float most = kLowestFloat;
  for (Index j = static_cast<Index>(threadIdx.x); j < call.cols; j += kRowThreads) {
    float logit = in[j] * call.scale;
    if (call.offset != nullptr) logit += call.offset[j];
    out[j] = logit;
    most = most < logit ? logit : most;
  }
  const float peak = block_join(most, shared, Max());
  float sum = 0.0F;
  for (Index j = static_cast<Index>(threadIdx.x); j < call.cols; j += kRowThreads) {
    const float value = exp_of(out[j] - peak);
    out[j] = value;
    sum += value;
  }
  const double total = block_join(static_cast<double>(sum), shared_sum, Sum());
  const float inverse = static_cast<float>(1.0 / total);
  for (Index j = static_cast<Index>(threadIdx.x); j < call.cols; j += kRowThreads) {
    out[j] *= inverse;
  }
  if (threadIdx.x == 0 && call.log_sum != nullptr) {
    call.log_sum[n] = static_cast<float>(peak + log(total));
  }
}

constexpr int kDivideThreads = 64;

ADAPVAE_KERNEL divide_kernel(const DivideCall call) {
  ADAPVAE_SHARED(float, shared, kDivideThreads);
  ADAPVAE_SHARED(double, shared_units, kDivideThreads);
  ADAPVAE_SHARED(Largest, shared_largest, kDivideThreads);
  constexpr float kLeast = static_cast<float>(0.5 * kResponsibilityUnit);
  // Adding and taking away 2⁵² units rounds to whole units, whose sums are exact in any order.
  constexpr double kRound = 4503599627370496.0 * kResponsibilityUnit;
  const Index clusters = call.distance.clusters;
  const Index n = static_cast<Index>(blockIdx.x);
  const Index first = static_cast<Index>(threadIdx.x);
  float* weight = call.weight + n * clusters;
  double* share = call.share + n * call.share_row;
  float most = kLowestFloat;
  for (Index k = first; k < clusters; k += kDivideThreads) {
    const float squared = squared_distance(call.distance, n, k);
    const float bounded = squared < kFarthestDistance ? squared : kFarthestDistance;
    const float logit = bounded * -0.5F + call.log_weight[k];
    weight[k] = logit;
    most = most < logit ? logit : most;
  }
  most = block_join(most, shared, Max());
  float part = 0.0F;
  for (Index k = first; k < clusters; k += kDivideThreads) {
    weight[k] = exp_of(weight[k] - most);
    part += weight[k];
  }
  const float sum = block_join(part, shared, Sum());
  const double budget = call.budget != nullptr ? call.budget[n] : 1.0;
  const double scale = budget / sum;
  double used = 0.0;
  Largest largest = {-1.0F, clusters};
  for (Index k = first; k < clusters; k += kDivideThreads) {
    const double units =
        weight[k] >= kLeast ? (static_cast<double>(weight[k]) * scale + kRound) - kRound : 0.0;
    share[k] = units;
    used += units;
    largest = LargestOf()(largest, Largest{weight[k], k});
  }
  used = block_join(used, shared_units, Sum());
  largest = block_join(largest, shared_largest, LargestOf());
  if (threadIdx.x == 0) share[largest.cluster] += budget - used;
  ADAPVAE_BARRIER();
  for (Index word = first; word * kMemberBits < clusters; word += kDivideThreads) {
    std::uint32_t bits = 0;
    for (Index k = word * kMemberBits; k < clusters && k < (word + 1) * kMemberBits; ++k) {
      if (share[k] != 0.0) bits |= 1U << (k % kMemberBits);
    }
    call.member[n * call.member_row + word] = bits;
  }
}

// ---- moments: a thread per number, which goes through the rows in order -------------------------

constexpr int kMomentThreads = 64;

ADAPVAE_DEVICE Index moment_numbers(FactorShape shape, Index m) {
  return 1 + m + factor_numbers(shape, m);
}

// Row of a packed lower triangle that its number `at` is in.
ADAPVAE_DEVICE Index packed_row(Index at) {
  Index i = static_cast<Index>((sqrt(8.0 * static_cast<double>(at) + 1.0) - 1.0) * 0.5);
  while (i * (i + 1) / 2 > at) --i;
  while ((i + 1) * (i + 2) / 2 <= at) ++i;
  return i;
}

ADAPVAE_KERNEL moments_kernel(const MomentsCall call) {
  const Index m = call.dims;
  const Index numbers = moment_numbers(call.shape, m);
  const Index blocks = (numbers + kMomentThreads - 1) / kMomentThreads;
  const Index block = static_cast<Index>(blockIdx.x);
  const Index k = block / blocks;
  const Index at = block % blocks * kMomentThreads + static_cast<Index>(threadIdx.x);
  if (at >= numbers) return;
  // Number `at` is the mass, a sum (i), or an entry of the scatter (i, j).
  Index i = at - 1;
  Index j = -1;
  const bool is_scatter = at > m;
  if (is_scatter) {
    const Index entry = at - 1 - m;
    i = call.shape == FactorShape::kDiagonal ? entry : packed_row(entry);
    j = call.shape == FactorShape::kDiagonal ? entry : entry - i * (i + 1) / 2;
  }
  const double* center = call.center + k * m;
  double sum = 0.0;
  for (Index n = 0; n < call.rows; ++n) {
    if (call.member != nullptr) {
      const std::uint32_t word = call.member[n * call.member_row + k / kMemberBits];
      if ((word >> (k % kMemberBits) & 1U) == 0) continue;
    }
    const double weight = call.weight[n * call.weight_row + k];
    if (weight == 0.0) continue;
    if (at == 0) {
      sum += weight;
      continue;
    }
    const float* z = call.z + n * call.z_row;
    const double scaled = weight * (z[i] - center[i]);
    if (!is_scatter) {
      sum += scaled;
      continue;
    }
    sum += scaled * (z[j] - center[j]);
    if (i == j && call.variance != nullptr) {
      sum += weight * call.variance[n * call.variance_row + i];
    }
  }
  if (at == 0) {
    call.mass[k] = sum;
  } else if (!is_scatter) {
    call.sum[k * m + i] = sum;
  } else {
    call.scatter[k * factor_numbers(call.shape, m) + at - 1 - m] = sum;
  }
}

// ---- parameters ---------------------------------------------------------------------------------

constexpr int kNormThreads = 128;

ADAPVAE_KERNEL squared_norm_kernel(const SquaredNormCall call) {
  ADAPVAE_SHARED(double, shared, kNormThreads);
  double sum = 0.0;
  const Index step = static_cast<Index>(gridDim.x) * kNormThreads;
  for (Index i = thread_index(); i < call.count; i += step) {
    sum += static_cast<double>(call.x[i]) * call.x[i];
  }
  sum = block_join(sum, shared, Sum());
  if (threadIdx.x == 0) call.partial[blockIdx.x] = sum;
}

// One thread: there are at most kNormBlocks numbers. count: how many.
ADAPVAE_KERNEL add_partial_kernel(const SquaredNormCall call) {
  double sum = 0.0;
  for (Index i = 0; i < call.count; ++i) sum += call.partial[i];
  *call.out = sum;
}

ADAPVAE_KERNEL adam_kernel(const AdamCall call) {
  const Index i = thread_index();
  if (i >= call.count) return;
  const float g = call.gradient[i] * call.gradient_scale;
  const float first = call.beta1 * call.first_moment[i] + (1.0F - call.beta1) * g;
  const float second = call.beta2 * call.second_moment[i] + (1.0F - call.beta2) * g * g;
  call.first_moment[i] = first;
  call.second_moment[i] = second;
  const float p = call.parameter[i];
  call.parameter[i] =
      p - (call.decay * p +
           call.step_size * first / (sqrtf(second) * call.inverse_root_correction + call.epsilon));
}

// ---- launches -----------------------------------------------------------------------------------

constexpr int kThreads = 256;  // of kernels with a number per thread

inline unsigned blocks_of(Index count, Index per_block) {
  return static_cast<unsigned>((count + per_block - 1) / per_block);
}

inline void launch_gemm(Stream stream, const GemmCall& call) {
  if (call.m <= 0 || call.n <= 0) return;
  ADAPVAE_LAUNCH(gemm_kernel, stream, blocks_of(call.n, kTile), blocks_of(call.m, kTile),
                 kTileThreads, kTileThreads, 0, call);
}
inline void launch_finish(Stream stream, const GemmCall& call) {
  if (call.bias == nullptr && call.activation == Activation::kLinear &&
      (call.gate == nullptr || call.gate_activation == Activation::kLinear)) {
    return;
  }
  ADAPVAE_LAUNCH_FREE(finish_kernel, stream, blocks_of(call.m * call.n, kThreads), kThreads, call);
}
inline void launch_column_sums(Stream stream, const ColumnSumsCall& call) {
  if (call.cols <= 0) return;
  ADAPVAE_LAUNCH_FREE(column_sums_kernel, stream, blocks_of(call.cols, kDistanceThreads),
                      kDistanceThreads, call);
}
inline void launch_reconstruct(Stream stream, const ReconstructCall& call) {
  if (call.rows <= 0) return;
  ADAPVAE_LAUNCH(reconstruct_kernel, stream, static_cast<unsigned>(call.rows), 1, kRowThreads, 1, 0,
                 call);
}
inline void launch_sample(Stream stream, const SampleCall& call) {
  if (call.rows * call.dims <= 0) return;
  ADAPVAE_LAUNCH_FREE(sample_kernel, stream, blocks_of(call.rows * call.dims, kThreads), kThreads,
                      call);
}
inline void launch_latent_gradient(Stream stream, const LatentGradientCall& call) {
  if (call.rows * call.dims <= 0) return;
  ADAPVAE_LAUNCH_FREE(latent_gradient_kernel, stream, blocks_of(call.rows * call.dims, kThreads),
                      kThreads, call);
}
inline void launch_mahalanobis(Stream stream, const MahalanobisCall& call) {
  if (call.rows * call.clusters <= 0) return;
  const Index blocks = (call.rows + kDistanceThreads - 1) / kDistanceThreads * call.clusters;
  ADAPVAE_LAUNCH_FREE(mahalanobis_kernel, stream, static_cast<unsigned>(blocks), kDistanceThreads,
                      call);
}
inline void launch_pull(Stream stream, const MahalanobisCall& call) {
  if (call.rows <= 0) return;
  const std::size_t shared =
      static_cast<std::size_t>(kPullRows * 2 * call.dims) * sizeof(float);  // at most 32 KB
  ADAPVAE_LAUNCH(pull_kernel, stream, blocks_of(call.rows, kPullRows), 1, kPullThreads, kPullRows,
                 shared, call);
}
inline void launch_softmax(Stream stream, const SoftmaxCall& call) {
  if (call.rows <= 0) return;
  ADAPVAE_LAUNCH(softmax_kernel, stream, static_cast<unsigned>(call.rows), 1, kRowThreads, 1, 0,
                 call);
}
inline void launch_divide(Stream stream, const DivideCall& call) {
  if (call.distance.rows * call.distance.clusters <= 0) return;
  ADAPVAE_LAUNCH(divide_kernel, stream, static_cast<unsigned>(call.distance.rows), 1,
                 kDivideThreads, 1, 0, call);
}
inline void launch_moments(Stream stream, const MomentsCall& call) {
  if (call.clusters <= 0) return;
  const Index m = call.dims;
  const Index numbers = 1 + m + (call.shape == FactorShape::kDiagonal ? m : m * (m + 1) / 2);
  ADAPVAE_LAUNCH_FREE(moments_kernel, stream,
                      blocks_of(numbers, kMomentThreads) * static_cast<unsigned>(call.clusters),
                      kMomentThreads, call);
}
inline void launch_squared_norm(Stream stream, const SquaredNormCall& call) {
  constexpr Index kPerThread = 8;
  unsigned blocks = blocks_of(call.count, kPerThread * kNormThreads);
  blocks = blocks < kNormBlocks ? blocks : static_cast<unsigned>(kNormBlocks);
  if (blocks > 0) {
    ADAPVAE_LAUNCH(squared_norm_kernel, stream, blocks, 1, kNormThreads, 1, 0, call);
  }
  SquaredNormCall rest = call;
  rest.count = static_cast<Index>(blocks);
  ADAPVAE_LAUNCH_FREE(add_partial_kernel, stream, 1, 1, rest);
}
inline void launch_adam(Stream stream, const AdamCall& call) {
  if (call.count <= 0) return;
  ADAPVAE_LAUNCH_FREE(adam_kernel, stream, blocks_of(call.count, kThreads), kThreads, call);
}

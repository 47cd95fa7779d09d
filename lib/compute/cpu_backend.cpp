#include "compute/cpu_backend.h"

#include <algorithm>
#include <cmath>

#include "base/special_functions.h"

namespace adapvae {
namespace {

// Products of fewer multiply-adds than this are not worth packing.
constexpr Index kSmallProduct = 48 * 48 * 48;
// Fewer rows than this do not repay packing B.
constexpr Index kFewRows = 12;
// With fewer columns than this many tiles, A is used too seldom to repay packing it.
constexpr Index kNarrowTiles = 3;
// Work is cut into tasks of about this many multiply-adds or elements; below, it runs in place.
constexpr Index kTaskProduct = 4 << 20;
constexpr Index kTaskElements = 32 << 10;
// Row-wise operations with scratch are cut into at most this many tasks, each with its own.
constexpr Index kRowTasks = 8;
constexpr Index kMomentTasks = 8;
// Long sums are made of this many partial sums at most, added in order.
constexpr Index kPartialSums = 64;

constexpr Index round_up(Index value, Index multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
// Tasks for `work` elements; a function of the work alone, so that results are, too.
constexpr Index task_count(std::int64_t work, Index most) {
  return static_cast<Index>(std::clamp<std::int64_t>(work / kTaskElements, 1, most));
}
// Part `task` of `count` things cut into `tasks` parts, boundaries at multiples of `multiple`.
struct Range {
  Index begin, end;
};
constexpr Range part(Index count, Index task, Index tasks, Index multiple = 1) {
  const Index size = round_up((count + tasks - 1) / tasks, multiple);
  return {std::min(count, task * size), std::min(count, (task + 1) * size)};
}
// Rows that a kernel takes at once.
Index rows_at_once(const KernelTable& kernels) {
  return kernels.lanes * (kMahalanobisRows / kMaxLanes);
}
// A row of doubles with room for whole vectors.
Index padded_dims(const KernelTable& kernels, Index dims) {
  return round_up(dims, std::max<Index>(1, kernels.lanes / 2));
}

float clamp_keeping_nan(float value, LogVarianceClamp clamp) {
  return value < clamp.min ? clamp.min : (value > clamp.max ? clamp.max : value);
}

// Narrows a product to some of its rows or columns.
void take_rows(GemmCall& call, Range range) {
  call.m = range.end - range.begin;
  call.a += range.begin * call.a_row;
  call.c += range.begin * call.c_row;
  if (call.gate != nullptr) call.gate += range.begin * call.gate_row;
}
void take_cols(GemmCall& call, Range range) {
  call.n = range.end - range.begin;
  call.b += range.begin * call.b_col;
  call.c += range.begin;
  if (call.bias != nullptr) call.bias += range.begin;
  if (call.gate != nullptr) call.gate += range.begin;
}

MahalanobisCall distance_call(ConstMatrixView z, Index begin, Index end,
                              const GaussianView& gaussians) {
  MahalanobisCall call = {};
  call.rows = end - begin;
  call.dims = z.cols;
  call.clusters = gaussians.clusters;
  call.z = z.data + begin * z.stride;
  call.z_row = z.stride;
  call.mean = gaussians.mean;
  call.factor = gaussians.factor;
  call.precision_diagonal = gaussians.precision_diagonal;
  call.shape = gaussians.shape;
  return call;
}

}  // namespace

void CpuBackend::place(Arena& arena, const ComputeLimits& limits, const KernelTable& kernels) {
  kernels_ = &kernels;
  limits_ = limits;
  // A product has a dimension of at most max(rows, widest_layer); the three shapes of a layer have
  // A of [rows × wide] or [wide × rows] and B of [wide × wide] or [rows × wide].
  const Index longest = std::max<Index>(1, std::max(limits.rows, limits.widest_layer));
  const Index deep = std::min(kernels.depth_block, longest);
  packed_a_size_ = deep * round_up(std::min(kernels.row_block, longest), kernels.tile_rows);
  packed_b_size_ = deep * round_up(limits.widest_layer, kernels.tile_cols);
  // On small devices no product is worth packing.
  if (kSmallCode ||
      std::int64_t{limits.rows} * limits.widest_layer * limits.widest_layer <= kSmallProduct) {
    packed_a_size_ = 0;
    packed_b_size_ = deep * kernels.tile_cols;
  }
  packed_a_ = arena.take<float>(static_cast<std::size_t>(limits.workers * packed_a_size_));
  packed_b_ = arena.take<float>(static_cast<std::size_t>(limits.workers * packed_b_size_));
  row_scratch_size_ = (4 * limits.dims + limits.clusters) * rows_at_once(kernels);
  const Index tasks_at_once = limits.workers > 1 ? kRowTasks : 1;
  row_scratch_ = arena.take<float>(static_cast<std::size_t>(tasks_at_once * row_scratch_size_));
  // Every cluster's padded square, and a group of padded rows per task.
  const Index moment_tasks = limits.workers > 1 ? kMomentTasks : 1;
  moment_scratch_ = arena.take<double>(
      static_cast<std::size_t>((limits.clusters * limits.dims + moment_tasks * kMomentGroup) *
                               padded_dims(kernels, limits.dims)));
  partial_sums_ = arena.take<double>(kPartialSums);
}

template <typename Body>
void CpuBackend::run_tasks(Index count, const Body& body) {
  if (!parallel() || count < 2) {
    for (Index task = 0; task < count; ++task) body(task);
    return;
  }
  parallel_for_.run(
      parallel_for_.context, count,
      [](void* argument, Index task) { (*static_cast<const Body*>(argument))(task); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// ---- dense layers -------------------------------------------------------------------------------

void CpuBackend::gemm(GemmCall call) {
  if (call.m == 0 || call.n == 0) return;
  const KernelTable& kernels = *kernels_;
  // Equal blocks, none larger than the table's: a short last block would waste its packing.
  const Index depth_blocks =
      std::max<Index>(1, (call.k + kernels.depth_block - 1) / kernels.depth_block);
  call.depth = (call.k + depth_blocks - 1) / depth_blocks;
  if (call.k == 0) {  // an empty sum is zero
    for (Index i = 0; i < call.m; ++i) std::fill_n(call.c + i * call.c_row, call.n, 0.0F);
  }
  const std::int64_t products = std::int64_t{call.m} * call.n * call.k;
  if (kSmallCode || call.m <= kFewRows || products <= kSmallProduct) {
    kernels.gemm_small(&call, packed_b_);
    return;
  }
  // Cut along the longer side into as many parts as there are workers. Each part packs for itself:
  // that costs less than handing packed memory from core to core.
  const Index parts = parallel() && products > kTaskProduct ? limits_.workers : 1;
  const bool by_rows = call.m >= call.n;
  run_tasks(parts, [&](Index task) {
    GemmCall part_call = call;
    if (by_rows) {
      take_rows(part_call, part(call.m, task, parts, kernels.tile_rows));
    } else {
      take_cols(part_call, part(call.n, task, parts, kernels.tile_cols));
    }
    gemm_part(part_call, task);
  });
}

// One part with the scratch memory of one worker.
void CpuBackend::gemm_part(const GemmCall& call, Index slot) {
  if (call.m <= 0 || call.n <= 0) return;
  const KernelTable& kernels = *kernels_;
  float* packed_a = packed_a_ + slot * packed_a_size_;
  float* packed_b = packed_b_ + slot * packed_b_size_;
  const Index row_blocks = (call.m + kernels.row_block - 1) / kernels.row_block;
  const bool pack_a = call.n > kNarrowTiles * kernels.tile_cols;
  for (Index p0 = 0; p0 < call.k; p0 += call.depth) {
    const Index p1 = std::min(call.k, p0 + call.depth);
    kernels.pack_b(&call, 0, call.n, p0, p1, packed_b);
    for (Index task = 0; task < row_blocks; ++task) {
      GemmCall rows = call;
      take_rows(rows, part(call.m, task, row_blocks, kernels.tile_rows));
      if (rows.m <= 0) continue;
      // Packed right before use: it is then still in the cache.
      if (pack_a) kernels.pack_a(&rows, 0, rows.m, p0, p1, packed_a);
      const GemmBlock block = {.i0 = 0,
                               .i1 = rows.m,
                               .j0 = 0,
                               .j1 = call.n,
                               .p0 = p0,
                               .p1 = p1,
                               .packed_a = pack_a ? packed_a : nullptr,
                               .packed_b = packed_b,
                               .first = p0 == 0,
                               .last = p1 == call.k};
      kernels.gemm_block(&rows, &block);
    }
  }
}

void CpuBackend::dense_forward(ConstMatrixView x, ConstMatrixView w, const float* bias,
                               Activation activation, MatrixView y) {
  assert(x.cols == w.rows && y.rows == x.rows && y.cols == w.cols);
  gemm({.m = x.rows,
        .n = w.cols,
        .k = x.cols,
        .a = x.data,
        .a_row = x.stride,
        .a_col = 1,
        .b = w.data,
        .b_row = w.stride,
        .b_col = 1,
        .c = y.data,
        .c_row = y.stride,
        .bias = bias,
        .activation = activation});
}

void CpuBackend::dense_backward_input(ConstMatrixView dy, ConstMatrixView w, ConstMatrixView x,
                                      Activation activation, MatrixView dx) {
  if (!kBuiltToLearn) return;
  assert(dy.cols == w.cols && dx.cols == w.rows && dx.rows == dy.rows);
  assert(x.rows == dx.rows && x.cols == dx.cols);
  gemm({.m = dy.rows,
        .n = w.rows,
        .k = dy.cols,
        .a = dy.data,
        .a_row = dy.stride,
        .a_col = 1,
        .b = w.data,
        .b_row = 1,
        .b_col = w.stride,
        .c = dx.data,
        .c_row = dx.stride,
        .gate = x.data,
        .gate_row = x.stride,
        .gate_activation = activation});
}

void CpuBackend::dense_backward_weights(ConstMatrixView x, ConstMatrixView dy, MatrixView dw,
                                        float* dbias) {
  if (!kBuiltToLearn) return;
  assert(x.rows == dy.rows && dw.rows == x.cols && dw.cols == dy.cols);
  gemm({.m = x.cols,
        .n = dy.cols,
        .k = x.rows,
        .a = x.data,
        .a_row = 1,
        .a_col = x.stride,
        .b = dy.data,
        .b_row = dy.stride,
        .b_col = 1,
        .c = dw.data,
        .c_row = dw.stride});
  const Index tasks = task_count(std::int64_t{dy.rows} * dy.cols, kRowTasks);
  run_tasks(tasks, [&](Index task) {
    const Range cols = part(dy.cols, task, tasks, kMaxLanes);
    kernels_->column_sums(dy.data + cols.begin, dy.stride, dy.rows, cols.end - cols.begin,
                          dbias + cols.begin);
  });
}

// ---- rows ---------------------------------------------------------------------------------------

void CpuBackend::reconstruct(const LikelihoodSettings& likelihood, ConstMatrixView output,
                             ConstMatrixView target, float scale, MatrixView gradient,
                             float* log_likelihood) {
  assert(output.cols == target.cols * (likelihood.kind == Likelihood::kGaussianLearned ? 2 : 1));
  const Index tasks = task_count(std::int64_t{output.rows} * output.cols, kRowTasks);
  run_tasks(tasks, [&](Index task) {
    const Range rows = part(output.rows, task, tasks);
    const ReconstructCall call = {.likelihood = likelihood.kind,
                                  .rows = rows.end - rows.begin,
                                  .inputs = target.cols,
                                  .output = output.data + rows.begin * output.stride,
                                  .output_row = output.stride,
                                  .target = target.data + rows.begin * target.stride,
                                  .target_row = target.stride,
                                  .variance = likelihood.variance,
                                  .log_variance_min = likelihood.log_variance_min,
                                  .log_variance_max = likelihood.log_variance_max,
                                  .way_back = likelihood.way_back,
                                  .scale = scale,
                                  .gradient = gradient.data != nullptr
                                                  ? gradient.data + rows.begin * gradient.stride
                                                  : nullptr,
                                  .gradient_row = gradient.stride,
                                  .log_likelihood = log_likelihood + rows.begin};
    kernels_->reconstruct(&call);
  });
}

// n × m numbers: too few for kernels of their own.
void CpuBackend::sample_latent(ConstMatrixView heads, ConstMatrixView noise, LogVarianceClamp clamp,
                               MatrixView z, MatrixView variance) {
  const Index m = z.cols;
  assert(heads.cols == 2 * m && variance.cols == m && z.rows == heads.rows);
  for (Index i = 0; i < z.rows; ++i) {
    const float* head = heads.row(i);
    for (Index j = 0; j < m; ++j) {
      const float log_variance = clamp_keeping_nan(head[m + j], clamp);
      variance(i, j) = std::exp(log_variance);
      z(i, j) = head[j];
      if (noise.data != nullptr) z(i, j) += std::exp(0.5F * log_variance) * noise(i, j);
    }
  }
}

void CpuBackend::latent_gradient(ConstMatrixView heads, ConstMatrixView noise,
                                 ConstMatrixView variance, ConstMatrixView dz, ConstMatrixView pull,
                                 ConstMatrixView precision, LogVarianceClamp clamp, float weight,
                                 MatrixView dheads) {
  if (!kBuiltToLearn) return;
  const Index m = dz.cols;
  assert(heads.cols == 2 * m && dheads.cols == 2 * m && pull.cols == m && precision.cols == m);
  for (Index i = 0; i < dz.rows; ++i) {
    for (Index j = 0; j < m; ++j) {
      const float raw = heads(i, m + j);
      float slope = weight * 0.5F * (variance(i, j) * precision(i, j) - 1.0F);
      if (noise.data != nullptr) {
        slope += 0.5F * std::sqrt(variance(i, j)) * noise(i, j) * dz(i, j);
      }
      dheads(i, j) = dz(i, j) + weight * pull(i, j);
      dheads(i, m + j) = raw < clamp.min || raw > clamp.max ? 0.0F : slope;
    }
  }
}

void CpuBackend::mahalanobis(ConstMatrixView z, ConstMatrixView variance,
                             const GaussianView& gaussians, MatrixView out) {
  assert(z.cols == gaussians.dims && out.rows == z.rows && out.cols == gaussians.clusters);
  assert(gaussians.dims <= limits_.dims);
  const Index tasks = task_count(
      std::int64_t{z.rows} * gaussians.clusters * factor_size(gaussians.shape, z.cols), kRowTasks);
  run_tasks(tasks, [&](Index task) {
    const Range rows = part(z.rows, task, tasks, kMahalanobisRows);
    MahalanobisCall call = distance_call(z, rows.begin, rows.end, gaussians);
    if (variance.data != nullptr) call.variance = variance.data + rows.begin * variance.stride;
    call.variance_row = variance.stride;
    call.out = out.data + rows.begin * out.stride;
    call.out_row = out.stride;
    call.scratch = row_scratch(task);
    kernels_->mahalanobis(&call);
  });
}

void CpuBackend::mahalanobis_pull(ConstMatrixView z, ConstMatrixView weight,
                                  const GaussianView& gaussians, MatrixView pull) {
  if (!kBuiltToLearn) return;
  assert(z.cols == gaussians.dims && weight.cols == gaussians.clusters && pull.cols == z.cols);
  assert(gaussians.dims <= limits_.dims);
  const Index tasks = task_count(
      std::int64_t{z.rows} * gaussians.clusters * factor_size(gaussians.shape, z.cols), kRowTasks);
  run_tasks(tasks, [&](Index task) {
    const Range rows = part(z.rows, task, tasks, kMahalanobisRows);
    MahalanobisCall call = distance_call(z, rows.begin, rows.end, gaussians);
    call.weight = weight.data + rows.begin * weight.stride;
    call.weight_row = weight.stride;
    call.out = pull.data + rows.begin * pull.stride;
    call.out_row = pull.stride;
    call.scratch = row_scratch(task);
    kernels_->mahalanobis_pull(&call);
  });
}

void CpuBackend::softmax_rows(ConstMatrixView in, const float* offset, float scale,
                              MatrixView probability, float* log_sum) {
  assert(in.rows == probability.rows && in.cols == probability.cols);
  const Index tasks = task_count(std::int64_t{in.rows} * in.cols, kRowTasks);
  run_tasks(tasks, [&](Index task) {
    const Range rows = part(in.rows, task, tasks);
    kernels_->softmax_rows(in.data + rows.begin * in.stride, in.stride, rows.end - rows.begin,
                           in.cols, offset, scale,
                           probability.data + rows.begin * probability.stride, probability.stride,
                           log_sum != nullptr ? log_sum + rows.begin : nullptr);
  });
}

void CpuBackend::divide_rows(ConstMatrixView z, ConstMatrixView variance,
                             const GaussianView& gaussians, const float* log_weight,
                             const double* budget, MatrixViewD share, MemberView members) {
  if (!kBuiltToLearn) return;
  assert(z.cols == gaussians.dims && share.rows == z.rows && share.cols == gaussians.clusters);
  assert(members.rows == z.rows && members.cols == member_words(gaussians.clusters));
  assert(gaussians.dims <= limits_.dims && gaussians.clusters <= limits_.clusters);
  const Index tasks = task_count(
      std::int64_t{z.rows} * gaussians.clusters * factor_size(gaussians.shape, z.cols), kRowTasks);
  run_tasks(tasks, [&](Index task) {
    const Range rows = part(z.rows, task, tasks, kMahalanobisRows);
    DivideCall call = {};
    call.distance = distance_call(z, rows.begin, rows.end, gaussians);
    if (variance.data != nullptr) {
      call.distance.variance = variance.data + rows.begin * variance.stride;
    }
    call.distance.variance_row = variance.stride;
    call.distance.scratch = row_scratch(task);
    call.log_weight = log_weight;
    call.budget = budget != nullptr ? budget + rows.begin : nullptr;
    call.share = share.data + rows.begin * share.stride;
    call.share_row = share.stride;
    call.member = members.data + rows.begin * members.stride;
    call.member_row = members.stride;
    call.weight = call.distance.scratch + 4 * z.cols * rows_at_once(*kernels_);
    kernels_->divide_rows(&call);
  });
}

// Split by clusters, not rows: each sum then has one order.
void CpuBackend::weighted_moments(ConstMatrixView z, ConstMatrixView variance,
                                  ConstMatrixViewD weight, ConstMemberView members,
                                  ConstMatrixViewD center, FactorShape shape, double* mass,
                                  MatrixViewD sum, MatrixViewD scatter) {
  if (!kBuiltToLearn) return;
  const Index clusters = weight.cols;
  assert(z.rows == weight.rows && center.rows == clusters && center.cols == z.cols);
  assert(center.contiguous() && sum.contiguous() && scatter.contiguous());
  assert(clusters <= limits_.clusters && z.cols <= limits_.dims);
  const Index padded = padded_dims(*kernels_, z.cols);
  // A cluster's sums do not depend on the task that they are made in: one is best for one thread.
  const Index most = parallel() ? kMomentTasks : 1;
  const Index tasks =
      std::min(clusters, task_count(std::int64_t{z.rows} * clusters * z.cols, most));
  run_tasks(tasks, [&](Index task) {
    const Range range = part(clusters, task, tasks);
    const Index k = range.begin;
    if (k == range.end) return;
    const MomentsCall call = {
        .rows = z.rows,
        .dims = z.cols,
        .clusters = range.end - k,
        .z = z.data,
        .z_row = z.stride,
        .variance = variance.data,
        .variance_row = variance.stride,
        .weight = weight.data + k,
        .weight_row = weight.stride,
        .member = members.data,
        .member_row = members.stride,
        .first = k,
        .center = center.data + k * z.cols,
        .shape = shape,
        .mass = mass + k,
        .sum = sum.data + k * z.cols,
        .scatter = scatter.data + k * factor_size(shape, z.cols),
        .scratch = moment_scratch_ + (k * z.cols + task * kMomentGroup) * padded};
    kernels_->weighted_moments(&call);
  });
}

// ---- parameters ---------------------------------------------------------------------------------

double CpuBackend::squared_norm(const float* x, Index count) {
  if (!kBuiltToLearn) return 0.0;
  const Index parts = task_count(count, kPartialSums);
  run_tasks(parts, [&](Index task) {
    const Range range = part(count, task, parts);
    partial_sums_[task] = kernels_->squared_norm(x + range.begin, range.end - range.begin);
  });
  double total = 0.0;
  for (Index task = 0; task < parts; ++task) total += partial_sums_[task];
  return total;
}

void CpuBackend::adam(const AdamSettings& settings, std::uint32_t step, float gradient_scale,
                      Index count, const float* gradient, float* parameter, float* first_moment,
                      float* second_moment) {
  if (!kBuiltToLearn) return;
  const double correction1 = 1.0 - power(settings.beta1, step);
  const double correction2 = 1.0 - power(settings.beta2, step);
  const Index parts = task_count(count, kPartialSums);
  run_tasks(parts, [&](Index task) {
    const Range range = part(count, task, parts);
    const AdamCall call = {
        .count = range.end - range.begin,
        .parameter = parameter + range.begin,
        .gradient = gradient + range.begin,
        .first_moment = first_moment + range.begin,
        .second_moment = second_moment + range.begin,
        .gradient_scale = gradient_scale,
        .beta1 = settings.beta1,
        .beta2 = settings.beta2,
        .step_size = static_cast<float>(settings.learning_rate / correction1),
        .inverse_root_correction = static_cast<float>(1.0 / std::sqrt(correction2)),
        .epsilon = settings.epsilon,
        .decay = settings.learning_rate * settings.weight_decay};
    kernels_->adam(&call);
  });
}

}  // namespace adapvae

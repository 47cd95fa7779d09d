#include "compute/cuda/cuda_backend.h"

#include <algorithm>
#include <cmath>

namespace adapvae {
namespace {

constexpr std::size_t kAlignment = 256;  // of every operand on the device
constexpr std::size_t kMostOperands = 10;
// Operations that may be staged before the host waits for the first.
constexpr std::size_t kStagedOperations = 2;

constexpr Status kTooLarge = {StatusCode::kOutOfMemory,
                              "an operation larger than the device was made ready for"};

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The most that the operands of one operation take, but for weights: see Room::more_bytes.
std::size_t operand_bytes(const ComputeLimits& limits, Index most_rows) {
  const auto layer_rows = static_cast<std::size_t>(limits.rows);
  const auto rows = static_cast<std::size_t>(most_rows);
  const auto wide = static_cast<std::size_t>(limits.widest_layer);
  const auto m = static_cast<std::size_t>(limits.dims);
  const auto clusters = static_cast<std::size_t>(limits.clusters);
  const std::size_t gaussians = clusters * (2 * m + m * (m + 1) / 2);
  const std::size_t dense = 4 * (3 * layer_rows * wide + 2 * wide + layer_rows);
  const std::size_t latent = 4 * rows * 9 * m;
  const std::size_t distance = 4 * (rows * (3 * m + 2 * clusters + 1) + gaussians + clusters);
  const std::size_t divide =
      4 * (rows * 2 * m + gaussians + clusters) + rows * (8 * clusters + 8 + clusters / 8 + 4);
  const std::size_t moments = 4 * rows * 2 * m + rows * (8 * clusters + clusters / 8 + 4) +
                              8 * clusters * (1 + 2 * m + m * (m + 1) / 2);
  return std::max({dense, latent, distance, divide, moments});
}

}  // namespace

// ---- one operation ------------------------------------------------------------------------------

// in() and out() give the device's address of an operand, and bring it there; put the result of the
// device's call into run(), which also brings back what is not kept.
class CudaBackend::Operation {
 public:
  template <typename T>
  struct Matrix {
    T* data = nullptr;
    Index stride = 0;
  };

  explicit Operation(CudaBackend& backend) : backend_(backend), ready_(backend.status_.ok()) {
    if (!ready_) return;
    if (backend_.staged_ + backend_.operation_bytes_ > backend_.staging_bytes_) {
      ready_ = backend_.check(backend_.table_->finish(backend_.device_));
      backend_.staged_ = 0;
    }
    most_ = backend_.staged_ + backend_.operation_bytes_;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  template <typename T>
  Matrix<const T> in(BasicMatrixView<const T> view) {
    return place<const T>(view, true, false);
  }
  template <typename T>
  Matrix<T> out(BasicMatrixView<T> view) {
    return place<T>(view, false, true);
  }
  template <typename T>
  const T* in(const T* data, Index count) {
    return place<const T>(BasicMatrixView<const T>(data, 1, count), true, false).data;
  }
  template <typename T>
  T* out(T* data, Index count) {
    return place<T>(BasicMatrixView<T>(data, 1, count), false, true).data;
  }
  template <typename T>
  T* in_out(T* data, Index count) {
    return place<T>(BasicMatrixView<T>(data, 1, count), true, true).data;
  }

  template <typename Call>
  void run(int (*operation)(void*, const Call*), const Call& call) {
    if (ready_) ready_ = backend_.check(operation(backend_.device_, &call));
  }
  // What is not kept comes back to where it was asked for. Whether all went well.
  bool finish() {
    const DeviceTable& table = *backend_.table_;
    for (int i = 0; ready_ && i < back_count_; ++i) {
      const Back& b = back_[i];
      ready_ = backend_.check(table.copy_out(backend_.device_, backend_.pinned_ + b.offset,
                                             backend_.staging_ + b.offset, b.rows * b.row_bytes));
    }
    if (ready_ && back_count_ > 0) {
      ready_ = backend_.check(table.finish(backend_.device_));
      backend_.staged_ = 0;  // nothing is on its way any more
    }
    for (int i = 0; ready_ && i < back_count_; ++i) {
      const Back& b = back_[i];
      for (std::size_t row = 0; row < b.rows; ++row) {
        std::memcpy(b.host + row * b.stride, backend_.pinned_ + b.offset + row * b.row_bytes,
                    b.row_bytes);
      }
    }
    return ready_;
  }

 private:
  struct Back {
    std::byte* host;
    std::size_t offset, rows, row_bytes, stride;
  };

  template <typename T>
  Matrix<T> place(BasicMatrixView<T> view, bool bring, bool take_back) {
    if (!ready_ || view.data == nullptr || view.rows == 0 || view.cols == 0) return {};
    std::byte* kept = backend_.device_copy(view.data);
    if (kept != nullptr) return {reinterpret_cast<T*>(kept), view.stride};
    const auto rows = static_cast<std::size_t>(view.rows);
    const std::size_t row_bytes = static_cast<std::size_t>(view.cols) * sizeof(T);
    const std::size_t bytes = round_up(rows * row_bytes);
    const std::size_t offset = backend_.staged_;
    if (bytes > most_ - offset) {
      backend_.status_ = kTooLarge;
      ready_ = false;
      return {};
    }
    backend_.staged_ += bytes;
    if (bring) {
      std::byte* to = backend_.pinned_ + offset;
      for (std::size_t i = 0; i < rows; ++i) {
        std::memcpy(to + i * row_bytes, view.row(static_cast<Index>(i)), row_bytes);
      }
      ready_ = backend_.check(backend_.table_->copy_in(backend_.device_, backend_.staging_ + offset,
                                                       to, rows * row_bytes));
    }
    if constexpr (!std::is_const_v<T>) {
      if (take_back) {
        back_[back_count_++] = {reinterpret_cast<std::byte*>(view.data), offset, rows, row_bytes,
                                static_cast<std::size_t>(view.stride) * sizeof(T)};
      }
    }
    return {reinterpret_cast<T*>(backend_.staging_ + offset), view.cols};
  }

  CudaBackend& backend_;
  bool ready_;
  std::size_t most_ = 0;
  int back_count_ = 0;
  Back back_[4] = {};
};

// ---- memory -------------------------------------------------------------------------------------

Status CudaBackend::open(const DeviceTable& table, const Room& room) {
  close();
  assert(room.kept.size() <= kMostKept);
  table_ = &table;
  status_ = {};
  if (!check(table.open(&device_))) {
    device_ = nullptr;
    return status_;
  }
  const Index rows = std::max(room.limits.rows, room.stream_rows);
  operation_bytes_ =
      round_up(operand_bytes(room.limits, rows) + room.more_bytes) + kMostOperands * kAlignment;
  staging_bytes_ = kStagedOperations * operation_bytes_;
  weight_count_ = rows * room.limits.clusters;
  const std::size_t weight_bytes = round_up(static_cast<std::size_t>(weight_count_) * 4);
  std::size_t bytes = staging_bytes_ + weight_bytes + kNormBlocks * sizeof(double);
  for (const MemoryRange& range : room.kept) bytes += round_up(range.bytes);
  void* memory = nullptr;
  void* pinned = nullptr;
  if (check(table.allocate(device_, bytes, &memory))) {
    memory_ = static_cast<std::byte*>(memory);
    if (check(table.allocate_host(device_, staging_bytes_, &pinned))) {
      pinned_ = static_cast<std::byte*>(pinned);
    }
  }
  if (!status_.ok()) {
    const Status failure = status_;
    close();
    return failure;
  }
  device_bytes_ = bytes;
  staging_ = memory_;
  std::byte* next = staging_ + staging_bytes_;
  weight_ = reinterpret_cast<float*>(next);
  next += weight_bytes;
  for (std::size_t i = 0; i < room.kept.size(); ++i) {
    kept_[i] = {static_cast<const std::byte*>(room.kept[i].begin), room.kept[i].bytes, next};
    next += round_up(room.kept[i].bytes);
  }
  partial_ = reinterpret_cast<double*>(next);
  staged_ = 0;
  return {};
}

void CudaBackend::close() {
  if (device_ != nullptr) {
    (void)table_->finish(device_);
    if (pinned_ != nullptr) table_->release_host(device_, pinned_);
    if (memory_ != nullptr) table_->release(device_, memory_);
    table_->close(device_);
  }
  device_ = nullptr;
  memory_ = nullptr;
  pinned_ = nullptr;
  device_bytes_ = 0;
  for (Kept& kept : kept_) kept = {};
}

bool CudaBackend::check(int error) {
  if (error == 0) return true;
  if (status_.ok()) {
    status_ = {
        table_->is_memory_error(error) != 0 ? StatusCode::kOutOfMemory : StatusCode::kUnavailable,
        table_->text(error)};
  }
  return false;
}

std::byte* CudaBackend::device_copy(const void* data) const {
  const auto* at = static_cast<const std::byte*>(data);
  for (const Kept& kept : kept_) {
    if (at >= kept.begin && at < kept.begin + kept.bytes) return kept.device + (at - kept.begin);
  }
  return nullptr;
}

// Through pinned memory, piece by piece: the caller's memory need not be pinned.
void CudaBackend::fetch(const float* data, Index count) {
  const std::byte* from = device_copy(data);
  if (from == nullptr || !status_.ok()) return;
  // The copy is of memory that the caller owns and lets be written.
  auto* to = reinterpret_cast<std::byte*>(const_cast<float*>(data));
  std::size_t left = static_cast<std::size_t>(count) * sizeof(float);
  if (left > 0 && !check(table_->finish(device_))) return;
  staged_ = 0;
  while (left > 0) {
    const std::size_t part = std::min(left, staging_bytes_);
    if (!check(table_->copy_out(device_, pinned_, from, part))) return;
    if (!check(table_->finish(device_))) return;
    std::memcpy(to, pinned_, part);
    from += part;
    to += part;
    left -= part;
  }
}

void CudaBackend::changed(const float* data, Index count) {
  std::byte* to = device_copy(data);
  if (to == nullptr || !status_.ok()) return;
  const auto* from = reinterpret_cast<const std::byte*>(data);
  std::size_t left = static_cast<std::size_t>(count) * sizeof(float);
  while (left > 0) {
    if (staged_ == staging_bytes_) {
      if (!check(table_->finish(device_))) return;
      staged_ = 0;
    }
    const std::size_t part = std::min(left, staging_bytes_ - staged_);
    std::memcpy(pinned_ + staged_, from, part);
    if (!check(table_->copy_in(device_, to, pinned_ + staged_, part))) return;
    staged_ += std::min(round_up(part), staging_bytes_ - staged_);
    from += part;
    to += part;
    left -= part;
  }
}

// ---- dense layers -------------------------------------------------------------------------------

void CudaBackend::dense_forward(ConstMatrixView x, ConstMatrixView w, const float* bias,
                                Activation activation, MatrixView y) {
  assert(x.cols == w.rows && y.rows == x.rows && y.cols == w.cols);
  Operation operation(*this);
  const auto a = operation.in(x);
  const auto b = operation.in(w);
  const float* bias_there = operation.in(bias, w.cols);
  const auto c = operation.out(y);
  operation.run(table_->gemm, {.m = x.rows,
                               .n = w.cols,
                               .k = x.cols,
                               .a = a.data,
                               .a_row = a.stride,
                               .a_col = 1,
                               .b = b.data,
                               .b_row = b.stride,
                               .b_col = 1,
                               .c = c.data,
                               .c_row = c.stride,
                               .bias = bias_there,
                               .activation = activation});
  operation.finish();
}

void CudaBackend::dense_backward_input(ConstMatrixView dy, ConstMatrixView w, ConstMatrixView x,
                                       Activation activation, MatrixView dx) {
  assert(dy.cols == w.cols && dx.cols == w.rows && dx.rows == dy.rows);
  assert(x.rows == dx.rows && x.cols == dx.cols);
  Operation operation(*this);
  const auto a = operation.in(dy);
  const auto b = operation.in(w);
  const auto gate = operation.in(x);
  const auto c = operation.out(dx);
  operation.run(table_->gemm, {.m = dy.rows,
                               .n = w.rows,
                               .k = dy.cols,
                               .a = a.data,
                               .a_row = a.stride,
                               .a_col = 1,
                               .b = b.data,
                               .b_row = 1,
                               .b_col = b.stride,
                               .c = c.data,
                               .c_row = c.stride,
                               .gate = gate.data,
                               .gate_row = gate.stride,
                               .gate_activation = activation});
  operation.finish();
}

void CudaBackend::dense_backward_weights(ConstMatrixView x, ConstMatrixView dy, MatrixView dw,
                                         float* dbias) {
  assert(x.rows == dy.rows && dw.rows == x.cols && dw.cols == dy.cols);
  Operation operation(*this);
  const auto a = operation.in(x);
  const auto b = operation.in(dy);
  const auto c = operation.out(dw);
  float* sums = operation.out(dbias, dy.cols);
  operation.run(table_->gemm, {.m = x.cols,
                               .n = dy.cols,
                               .k = x.rows,
                               .a = a.data,
                               .a_row = 1,
                               .a_col = a.stride,
                               .b = b.data,
                               .b_row = b.stride,
                               .b_col = 1,
                               .c = c.data,
                               .c_row = c.stride});
  operation.run(table_->column_sums,
                {.rows = dy.rows, .cols = dy.cols, .x = b.data, .x_row = b.stride, .out = sums});
  operation.finish();
}

// ---- rows ---------------------------------------------------------------------------------------

void CudaBackend::reconstruct(const LikelihoodSettings& likelihood, ConstMatrixView output,
                              ConstMatrixView target, float scale, MatrixView gradient,
                              float* log_likelihood) {
  assert(output.cols == target.cols * (likelihood.kind == Likelihood::kGaussianLearned ? 2 : 1));
  Operation operation(*this);
  const auto from = operation.in(output);
  const auto want = operation.in(target);
  const auto slope = operation.out(gradient);
  float* result = operation.out(log_likelihood, output.rows);
  operation.run(table_->reconstruct, {.likelihood = likelihood.kind,
                                      .rows = output.rows,
                                      .inputs = target.cols,
                                      .output = from.data,
                                      .output_row = from.stride,
                                      .target = want.data,
                                      .target_row = want.stride,
                                      .variance = likelihood.variance,
                                      .log_variance_min = likelihood.log_variance_min,
                                      .log_variance_max = likelihood.log_variance_max,
                                      .way_back = likelihood.way_back,
                                      .scale = scale,
                                      .gradient = slope.data,
                                      .gradient_row = slope.stride,
                                      .log_likelihood = result});
  operation.finish();
}

void CudaBackend::sample_latent(ConstMatrixView heads, ConstMatrixView noise,
                                LogVarianceClamp clamp, MatrixView z, MatrixView variance) {
  assert(heads.cols == 2 * z.cols && variance.cols == z.cols && z.rows == heads.rows);
  Operation operation(*this);
  const auto from = operation.in(heads);
  const auto draws = operation.in(noise);
  const auto to = operation.out(z);
  const auto sigma2 = operation.out(variance);
  operation.run(table_->sample_latent, {.rows = z.rows,
                                        .dims = z.cols,
                                        .heads = from.data,
                                        .heads_row = from.stride,
                                        .noise = draws.data,
                                        .noise_row = draws.stride,
                                        .log_variance_min = clamp.min,
                                        .log_variance_max = clamp.max,
                                        .z = to.data,
                                        .z_row = to.stride,
                                        .variance = sigma2.data,
                                        .variance_row = sigma2.stride});
  operation.finish();
}

void CudaBackend::latent_gradient(ConstMatrixView heads, ConstMatrixView noise,
                                  ConstMatrixView variance, ConstMatrixView dz,
                                  ConstMatrixView pull, ConstMatrixView precision,
                                  LogVarianceClamp clamp, float weight, MatrixView dheads) {
  assert(heads.cols == 2 * dz.cols && dheads.cols == 2 * dz.cols);
  Operation operation(*this);
  const auto from = operation.in(heads);
  const auto draws = operation.in(noise);
  const auto sigma2 = operation.in(variance);
  const auto through = operation.in(dz);
  const auto pulled = operation.in(pull);
  const auto precise = operation.in(precision);
  const auto to = operation.out(dheads);
  operation.run(table_->latent_gradient, {.rows = dz.rows,
                                          .dims = dz.cols,
                                          .heads = from.data,
                                          .heads_row = from.stride,
                                          .noise = draws.data,
                                          .noise_row = draws.stride,
                                          .variance = sigma2.data,
                                          .variance_row = sigma2.stride,
                                          .dz = through.data,
                                          .dz_row = through.stride,
                                          .pull = pulled.data,
                                          .pull_row = pulled.stride,
                                          .precision = precise.data,
                                          .precision_row = precise.stride,
                                          .log_variance_min = clamp.min,
                                          .log_variance_max = clamp.max,
                                          .weight = weight,
                                          .dheads = to.data,
                                          .dheads_row = to.stride});
  operation.finish();
}

MahalanobisCall CudaBackend::distance_call(Operation& operation, ConstMatrixView z,
                                           ConstMatrixView variance,
                                           const GaussianView& gaussians) {
  assert(z.cols == gaussians.dims);
  const Index numbers = gaussians.clusters * gaussians.dims;
  const auto from = operation.in(z);
  const auto sigma2 = operation.in(variance);
  MahalanobisCall call = {};
  call.rows = z.rows;
  call.dims = gaussians.dims;
  call.clusters = gaussians.clusters;
  call.z = from.data;
  call.z_row = from.stride;
  call.variance = sigma2.data;
  call.variance_row = sigma2.stride;
  call.mean = operation.in(gaussians.mean, numbers);
  call.factor = operation.in(gaussians.factor,
                             gaussians.clusters * factor_size(gaussians.shape, gaussians.dims));
  if (variance.data != nullptr) {
    call.precision_diagonal = operation.in(gaussians.precision_diagonal, numbers);
  }
  call.shape = gaussians.shape;
  return call;
}

void CudaBackend::mahalanobis(ConstMatrixView z, ConstMatrixView variance,
                              const GaussianView& gaussians, MatrixView out) {
  assert(out.rows == z.rows && out.cols == gaussians.clusters);
  Operation operation(*this);
  MahalanobisCall call = distance_call(operation, z, variance, gaussians);
  const auto to = operation.out(out);
  call.out = to.data;
  call.out_row = to.stride;
  operation.run(table_->mahalanobis, call);
  operation.finish();
}

void CudaBackend::mahalanobis_pull(ConstMatrixView z, ConstMatrixView weight,
                                   const GaussianView& gaussians, MatrixView pull) {
  assert(weight.cols == gaussians.clusters && pull.cols == z.cols);
  Operation operation(*this);
  MahalanobisCall call = distance_call(operation, z, ConstMatrixView(), gaussians);
  const auto shares = operation.in(weight);
  const auto to = operation.out(pull);
  call.weight = shares.data;
  call.weight_row = shares.stride;
  call.out = to.data;
  call.out_row = to.stride;
  operation.run(table_->mahalanobis_pull, call);
  operation.finish();
}

void CudaBackend::softmax_rows(ConstMatrixView in, const float* offset, float scale,
                               MatrixView probability, float* log_sum) {
  assert(in.rows == probability.rows && in.cols == probability.cols);
  Operation operation(*this);
  const auto from = operation.in(in);
  const float* offset_there = operation.in(offset, in.cols);
  const auto to = operation.out(probability);
  float* sums = operation.out(log_sum, in.rows);
  operation.run(table_->softmax_rows, {.rows = in.rows,
                                       .cols = in.cols,
                                       .in = from.data,
                                       .in_row = from.stride,
                                       .offset = offset_there,
                                       .scale = scale,
                                       .out = to.data,
                                       .out_row = to.stride,
                                       .log_sum = sums});
  operation.finish();
}

void CudaBackend::divide_rows(ConstMatrixView z, ConstMatrixView variance,
                              const GaussianView& gaussians, const float* log_weight,
                              const double* budget, MatrixViewD share, MemberView members) {
  assert(share.rows == z.rows && share.cols == gaussians.clusters);
  assert(members.rows == z.rows && members.cols == member_words(gaussians.clusters));
  if (z.rows * gaussians.clusters > weight_count_ && status_.ok()) status_ = kTooLarge;
  Operation operation(*this);
  DivideCall call = {};
  call.distance = distance_call(operation, z, variance, gaussians);
  call.log_weight = operation.in(log_weight, gaussians.clusters);
  call.budget = operation.in(budget, z.rows);
  const auto shares = operation.out(share);
  const auto bits = operation.out(members);
  call.share = shares.data;
  call.share_row = shares.stride;
  call.member = bits.data;
  call.member_row = bits.stride;
  call.weight = weight_;
  operation.run(table_->divide_rows, call);
  operation.finish();
}

void CudaBackend::weighted_moments(ConstMatrixView z, ConstMatrixView variance,
                                   ConstMatrixViewD weight, ConstMemberView members,
                                   ConstMatrixViewD center, FactorShape shape, double* mass,
                                   MatrixViewD sum, MatrixViewD scatter) {
  const Index clusters = weight.cols;
  assert(z.rows == weight.rows && center.rows == clusters && center.cols == z.cols);
  assert(center.contiguous() && sum.contiguous() && scatter.contiguous());
  Operation operation(*this);
  const auto from = operation.in(z);
  const auto sigma2 = operation.in(variance);
  const auto weights = operation.in(weight);
  const auto bits = operation.in(members);
  const auto centers = operation.in(center);
  double* mass_there = operation.out(mass, clusters);
  const auto sums = operation.out(sum);
  const auto scatters = operation.out(scatter);
  operation.run(table_->weighted_moments, {.rows = z.rows,
                                           .dims = z.cols,
                                           .clusters = clusters,
                                           .z = from.data,
                                           .z_row = from.stride,
                                           .variance = sigma2.data,
                                           .variance_row = sigma2.stride,
                                           .weight = weights.data,
                                           .weight_row = weights.stride,
                                           .member = bits.data,
                                           .member_row = bits.stride,
                                           .first = 0,
                                           .center = centers.data,
                                           .shape = shape,
                                           .mass = mass_there,
                                           .sum = sums.data,
                                           .scatter = scatters.data,
                                           .scratch = nullptr});
  operation.finish();
}

// ---- parameters ---------------------------------------------------------------------------------

// A failure is not a finite norm: no step is made of it.
double CudaBackend::squared_norm(const float* x, Index count) {
  double result = 0.0;
  Operation operation(*this);
  const float* from = operation.in(x, count);
  double* to = operation.out(&result, 1);
  operation.run(table_->squared_norm, {.count = count, .x = from, .partial = partial_, .out = to});
  return operation.finish() ? result : static_cast<double>(NAN);
}

void CudaBackend::adam(const AdamSettings& settings, std::uint32_t step, float gradient_scale,
                       Index count, const float* gradient, float* parameter, float* first_moment,
                       float* second_moment) {
  const double correction1 = 1.0 - std::pow(static_cast<double>(settings.beta1), step);
  const double correction2 = 1.0 - std::pow(static_cast<double>(settings.beta2), step);
  Operation operation(*this);
  const float* slope = operation.in(gradient, count);
  float* to = operation.in_out(parameter, count);
  float* first = operation.in_out(first_moment, count);
  float* second = operation.in_out(second_moment, count);
  operation.run(table_->adam,
                {.count = count,
                 .parameter = to,
                 .gradient = slope,
                 .first_moment = first,
                 .second_moment = second,
                 .gradient_scale = gradient_scale,
                 .beta1 = settings.beta1,
                 .beta2 = settings.beta2,
                 .step_size = static_cast<float>(settings.learning_rate / correction1),
                 .inverse_root_correction = static_cast<float>(1.0 / std::sqrt(correction2)),
                 .epsilon = settings.epsilon,
                 .decay = settings.learning_rate * settings.weight_decay});
  operation.finish();
}

}  // namespace adapvae

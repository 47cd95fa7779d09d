// The compute seam: the thirteen batch-level operations that cost O(n · …). Everything above this
// line (network, mixture, model) is written against Backend; everything below it is replaceable.
//
// Contract of every operation
// - Shapes are the caller's duty; they were checked when the model was created. Debug builds
//   assert them.
// - An operation overwrites its whole output and reads none of it first, unless it says so.
// - Float in and out; sums over rows that become statistics are double.
// - A NaN in the input of a row reaches that row's output: callers detect it there.
// - The bits of a row's result depend neither on the other rows of the batch nor on the number of
//   threads.
// - No operation allocates. A backend that can fail (a device) remembers the first failure;
//   status() tells.
// - A device may keep a copy of memory that was named to it when it was opened, and writes nothing
//   but the copy: whoever reads or writes such memory itself says so by fetch() and changed().
#pragma once

#include "base/matrix_view.h"
#include "base/status.h"
#include "compute/kernels.h"

namespace adapvae {

// A caller's way to run tasks 0..count-1 in any order, on any threads, returning when all are
// done. The library makes no threads of its own; without a ParallelFor it runs tasks in turn.
struct ParallelFor {
  using Task = void (*)(void* argument, Index index);
  void (*run)(void* context, Index count, Task task, void* argument) = nullptr;
  void* context = nullptr;
};

// K Gaussians as the local step needs them: means and factors F of the expected precisions.
struct GaussianView {
  Index clusters = 0;                         // K
  Index dims = 0;                             // m
  const float* mean = nullptr;                // [K × m]
  const float* factor = nullptr;              // [K × factor_size(shape, m)]
  const float* precision_diagonal = nullptr;  // [K × m] diagonal of FᵀF
  FactorShape shape = FactorShape::kLower;
};
constexpr Index factor_size(FactorShape shape, Index dims) {
  return shape == FactorShape::kDiagonal ? dims : dims * (dims + 1) / 2;
}

// Bits, a row of words per row of data: see kMemberBits.
using MemberView = BasicMatrixView<std::uint32_t>;
using ConstMemberView = BasicMatrixView<const std::uint32_t>;
constexpr Index member_words(Index clusters) { return (clusters + kMemberBits - 1) / kMemberBits; }

// Memory whose copy a device may keep.
struct MemoryRange {
  const void* begin = nullptr;
  std::size_t bytes = 0;
};

struct LikelihoodSettings {
  Likelihood kind = Likelihood::kBernoulli;
  float variance = 1.0F;            // kGaussian
  float log_variance_min = -10.0F;  // kGaussianLearned
  float log_variance_max = 4.0F;
  // Whether a log-variance beyond a bound has a gradient that leads back to it. For inputs that are
  // limited: on others variances that follow every error make training diverge.
  bool way_back = false;
};

struct AdamSettings {
  float learning_rate = 1e-3F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  float weight_decay = 0.0F;  // decoupled: parameters shrink by learning_rate · weight_decay
};

// Bounds of the encoder's log-variance; outside them its gradient is zero.
struct LogVarianceClamp {
  float min = -10.0F;
  float max = 4.0F;
};

class Backend {
 public:
  virtual const char* name() const = 0;
  virtual Status status() const = 0;

  // Before the host reads what an operation wrote, and after the host wrote what an operation will
  // read. Nothing happens for memory that the backend keeps no copy of; a CPU keeps none.
  virtual void fetch(const float* data, Index count) { (void)data, (void)count; }
  virtual void changed(const float* data, Index count) { (void)data, (void)count; }

  // y [n × out] = activation(x [n × in] · w [in × out] + bias [out]). bias may be null.
  virtual void dense_forward(ConstMatrixView x, ConstMatrixView w, const float* bias,
                             Activation activation, MatrixView y) = 0;
  // dx [n × in] = (dy [n × out] · wᵀ) ⊙ activation'(x), where x [n × in] is the output of the
  // layer below and `activation` that layer's: the gradient arrives before its activation.
  virtual void dense_backward_input(ConstMatrixView dy, ConstMatrixView w, ConstMatrixView x,
                                    Activation activation, MatrixView dx) = 0;
  // dw [in × out] = xᵀ · dy, dbias [out] = column sums of dy.
  virtual void dense_backward_weights(ConstMatrixView x, ConstMatrixView dy, MatrixView dw,
                                      float* dbias) = 0;

  // log p(target | output) per row; gradient (of -log p, times scale) like output, may be the same
  // memory as output, or empty when not wanted. A log-variance beyond its bounds counts as the
  // bound. Its gradient is zero, or with way_back that of the bound where it leads back.
  virtual void reconstruct(const LikelihoodSettings& likelihood, ConstMatrixView output,
                           ConstMatrixView target, float scale, MatrixView gradient,
                           float* log_likelihood) = 0;

  // heads [n × 2m] = mean | raw log-variance. z = mean + σ·noise, variance = σ² = exp(clamped).
  // noise may be empty: then z = mean.
  virtual void sample_latent(ConstMatrixView heads, ConstMatrixView noise, LogVarianceClamp clamp,
                             MatrixView z, MatrixView variance) = 0;
  // Gradient of the loss with respect to heads:
  //   d mean    = dz + weight · pull
  //   d log-var = ½ σ ε dz + weight · ½ (σ² · precision - 1), zero where clamped
  // dz [n × m] is the loss gradient through the decoder, pull and precision [n × m] come from the
  // mixture (Σ_k r FᵀF(z-mean), Σ_k r diag FᵀF). noise empty: its term is absent.
  virtual void latent_gradient(ConstMatrixView heads, ConstMatrixView noise,
                               ConstMatrixView variance, ConstMatrixView dz, ConstMatrixView pull,
                               ConstMatrixView precision, LogVarianceClamp clamp, float weight,
                               MatrixView dheads) = 0;

  // out [n × K] = |F_k (z - mean_k)|² (+ Σ_d variance_d · precision_diagonal_kd if not empty).
  virtual void mahalanobis(ConstMatrixView z, ConstMatrixView variance,
                           const GaussianView& gaussians, MatrixView out) = 0;
  // pull [n × m] = Σ_k weight_nk F_kᵀF_k (z_n - mean_k).
  virtual void mahalanobis_pull(ConstMatrixView z, ConstMatrixView weight,
                                const GaussianView& gaussians, MatrixView pull) = 0;

  // probability [n × K] = softmax of offset[k] + scale · in(n,k) per row; log_sum [n] its
  // logarithmic normaliser. in and probability may be the same memory; offset and log_sum may be
  // null.
  virtual void softmax_rows(ConstMatrixView in, const float* offset, float scale,
                            MatrixView probability, float* log_sum) = 0;

  // share [n × K] = budget[n] (1 if null) · softmax over k of log_weight[k] - ½ distance_nk, in
  // whole kResponsibilityUnits that sum to exactly the budget, itself whole units: the most
  // probable cluster takes up what rounding left. Distances as of mahalanobis, but
  // kFarthestDistance where they are more or not a number. members [n × member_words(K)]: which
  // shares are not zero.
  virtual void divide_rows(ConstMatrixView z, ConstMatrixView variance,
                           const GaussianView& gaussians, const float* log_weight,
                           const double* budget, MatrixViewD share, MemberView members) = 0;

  // Per cluster k, about center_k: mass Σ w, sum Σ w (z-c), scatter Σ w {(z-c)(z-c)ᵀ + diag
  // variance}, as packed lower triangle or diagonal. variance may be empty. members:
  // which weights are not zero, if that is known; else empty.
  virtual void weighted_moments(ConstMatrixView z, ConstMatrixView variance,
                                ConstMatrixViewD weight, ConstMemberView members,
                                ConstMatrixViewD center, FactorShape shape, double* mass,
                                MatrixViewD sum, MatrixViewD scatter) = 0;

  // Sum of squares in double; NaN or infinite iff some entry is not finite.
  virtual double squared_norm(const float* x, Index count) = 0;
  // One step of Adam, number `step` counting from 1. Reads and writes parameter and both moments.
  virtual void adam(const AdamSettings& settings, std::uint32_t step, float gradient_scale,
                    Index count, const float* gradient, float* parameter, float* first_moment,
                    float* second_moment) = 0;

 protected:
  // Backends live in memory that others own: nobody deletes one through this.
  ~Backend() = default;
};

}  // namespace adapvae

// The CPU backend: the kernels of one instruction-set level, blocked for the caches and, if the
// caller supplies a ParallelFor, split into tasks.
#pragma once

#include "base/arena.h"
#include "compute/backend.h"
#include "compute/isa.h"
#include "compute/limits.h"

namespace adapvae {

class CpuBackend final : public Backend {
 public:
  CpuBackend() = default;

  // Takes scratch memory from the arena (or counts it) and fixes level and limits.
  void place(Arena& arena, const ComputeLimits& limits, const KernelTable& kernels);
  // Optional; may be changed between operations; used if the limits have more than one worker.
  // Results do not depend on it.
  void set_parallel_for(ParallelFor parallel_for) { parallel_for_ = parallel_for; }

  const char* name() const override { return kernels_->name; }
  Status status() const override { return {}; }

  void dense_forward(ConstMatrixView x, ConstMatrixView w, const float* bias, Activation activation,
                     MatrixView y) override;
  void dense_backward_input(ConstMatrixView dy, ConstMatrixView w, ConstMatrixView x,
                            Activation activation, MatrixView dx) override;
  void dense_backward_weights(ConstMatrixView x, ConstMatrixView dy, MatrixView dw,
                              float* dbias) override;
  void reconstruct(const LikelihoodSettings& likelihood, ConstMatrixView output,
                   ConstMatrixView target, float scale, MatrixView gradient,
                   float* log_likelihood) override;
  void sample_latent(ConstMatrixView heads, ConstMatrixView noise, LogVarianceClamp clamp,
                     MatrixView z, MatrixView variance) override;
  void latent_gradient(ConstMatrixView heads, ConstMatrixView noise, ConstMatrixView variance,
                       ConstMatrixView dz, ConstMatrixView pull, ConstMatrixView precision,
                       LogVarianceClamp clamp, float weight, MatrixView dheads) override;
  void mahalanobis(ConstMatrixView z, ConstMatrixView variance, const GaussianView& gaussians,
                   MatrixView out) override;
  void mahalanobis_pull(ConstMatrixView z, ConstMatrixView weight, const GaussianView& gaussians,
                        MatrixView pull) override;
  void softmax_rows(ConstMatrixView in, const float* offset, float scale, MatrixView probability,
                    float* log_sum) override;
  void divide_rows(ConstMatrixView z, ConstMatrixView variance, const GaussianView& gaussians,
                   const float* log_weight, const double* budget, MatrixViewD share,
                   MemberView members) override;
  void weighted_moments(ConstMatrixView z, ConstMatrixView variance, ConstMatrixViewD weight,
                        ConstMemberView members, ConstMatrixViewD center, FactorShape shape,
                        double* mass, MatrixViewD sum, MatrixViewD scatter) override;
  double squared_norm(const float* x, Index count) override;
  void adam(const AdamSettings& settings, std::uint32_t step, float gradient_scale, Index count,
            const float* gradient, float* parameter, float* first_moment,
            float* second_moment) override;

 private:
  bool parallel() const { return parallel_for_.run != nullptr && limits_.workers > 1; }
  float* row_scratch(Index task) const {
    return row_scratch_ + (parallel() ? task * row_scratch_size_ : 0);
  }
  void gemm(GemmCall call);
  void gemm_part(const GemmCall& call, Index slot);
  // Runs body(task) for task in [0, count), in parallel if there is a way.
  template <typename Body>
  void run_tasks(Index count, const Body& body);

  const KernelTable* kernels_ = nullptr;
  ParallelFor parallel_for_;
  ComputeLimits limits_;
  Index packed_a_size_ = 0;  // of one worker
  Index packed_b_size_ = 0;
  Index row_scratch_size_ = 0;    // of one task
  float* packed_a_ = nullptr;     // [workers × packed_a_size]
  float* packed_b_ = nullptr;     // [workers × packed_b_size]
  float* row_scratch_ = nullptr;  // [kRowTasks, or 1 with one worker × row_scratch_size]
  double* moment_scratch_ = nullptr;
  double* partial_sums_ = nullptr;
};

}  // namespace adapvae

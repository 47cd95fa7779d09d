// The seam on a device (docs/adr/0018-the-device-keeps-a-copy.md). It speaks to the device through
// a DeviceTable and knows no CUDA itself.
//
// Some memory of the caller's has a copy on the device, at the same offsets:
//
//   host    | layer outputs | parameters | gradients | moments | …      kept: two pieces of the
//   arena
//              │ same offsets; operations write the copy alone
//   device  | layer outputs | parameters | gradients | moments | … | staging | scratch |
//                                                                       ▲
//   pinned                                                          | staging |
//                                                                       ▲
//   host    rows of the caller, mixture, results ───────────────────────┘   all other memory
//
// Operands in kept memory stay where they are: fetch() and changed() are the only traffic. All
// other operands go through staging, as much of it as they need, and the operation then waits if
// something comes back.
//
// One promise of the seam is not kept where the device has cuBLAS: a row's bits in a product may
// depend on the batch.
//
// The first failure is remembered; from then on nothing is done and no output is written.
#pragma once

#include <cstring>
#include <span>

#include "compute/backend.h"
#include "compute/cuda/device.h"
#include "compute/limits.h"

namespace adapvae {

class CudaBackend final : public Backend {
 public:
  static constexpr std::size_t kMostKept = 2;

  struct Room {
    ComputeLimits limits;
    Index stream_rows = 0;  // most rows of operations on codes and clusters, if above limits.rows
    std::span<const MemoryRange> kept = {};  // at most kMostKept
    // Operands beyond what the limits tell: of matrices of weights outside kept memory.
    std::size_t more_bytes = 0;
  };

  CudaBackend() = default;
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;
  ~CudaBackend() { close(); }

  // Takes all memory of the device and all pinned memory that it will ever need.
  Status open(const DeviceTable& device, const Room& room);
  void close();
  bool is_open() const { return device_ != nullptr; }
  std::size_t device_bytes() const { return device_bytes_; }

  const char* name() const override { return table_->name(device_); }
  Status status() const override { return status_; }
  void fetch(const float* data, Index count) override;
  void changed(const float* data, Index count) override;

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
  class Operation;  // one call: where its operands are, and how they come back
  struct Kept {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    std::byte* device = nullptr;
  };

  // Remembers the first error; whether all is well.
  bool check(int error);
  // Null if the memory is not kept.
  std::byte* device_copy(const void* data) const;
  MahalanobisCall distance_call(Operation& operation, ConstMatrixView z, ConstMatrixView variance,
                                const GaussianView& gaussians);

  const DeviceTable* table_ = nullptr;
  void* device_ = nullptr;
  Status status_;
  Kept kept_[kMostKept];
  std::byte* memory_ = nullptr;  // of the device
  std::size_t device_bytes_ = 0;
  std::byte* pinned_ = nullptr;
  std::byte* staging_ = nullptr;  // of the device, as large as pinned_
  std::size_t staging_bytes_ = 0;
  std::size_t operation_bytes_ = 0;  // most of one operation
  std::size_t staged_ = 0;           // in use, perhaps still on its way
  float* weight_ = nullptr;          // [rows × clusters] scratch of divide_rows
  Index weight_count_ = 0;
  double* partial_ = nullptr;  // [kNormBlocks] scratch of squared_norm
};

}  // namespace adapvae

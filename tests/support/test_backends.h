// The backends that the conformance tests run, plain and poisoned. test_backends_cpu.cpp: a
// CpuBackend for every instruction-set level that this machine can run, each with memory of its
// own. test_backends_device.cpp: a CudaBackend on the device under test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "compute/backend.h"
#include "compute/limits.h"
#include "support/sanitizer.h"

namespace adapvae {

#if defined(ADAPVAE_TEST_WIDE16)
const KernelTable* kernels_wide16();  // tests/compute/kernels_wide16.cpp
#endif

// A NaN as float, and twice in a row a NaN as double. No kernel writes this one by itself.
constexpr std::uint32_t kPoison = 0x7FF5A5A5;

// Memory with NaN in every float and double of it, and NaN behind its end: who reads what was
// never written, or writes beyond the end, is seen.
class PoisonedMemory {
 public:
  explicit PoisonedMemory(std::size_t bytes);
  PoisonedMemory(const PoisonedMemory&) = delete;
  PoisonedMemory& operator=(const PoisonedMemory&) = delete;

  void* data() { return words_.get(); }
  std::size_t size() const { return bytes_; }
  void poison();
  bool end_intact() const;

 private:
  struct Delete {
    void operator()(std::uint32_t* words) const {
      ::operator delete (words, std::align_val_t{Arena::kAlignment});
    }
  };
  std::size_t bytes_;
  std::size_t words_used_;
  std::unique_ptr<std::uint32_t, Delete> words_;
};

// Passes everything on to another backend, but first fills all outputs and the other's scratch
// memory with NaN: an operation that reads either before writing it gives NaN. An output that the
// caller may make the same memory as an input is left alone if it is.
class PoisonedBackend final : public Backend {
 public:
  PoisonedBackend(Backend& inner, PoisonedMemory& scratch);

  const char* name() const override { return name_.c_str(); }
  Status status() const override { return inner_.status(); }

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
  Backend& inner_;
  PoisonedMemory& scratch_;
  std::string name_;
};

// One backend to test, with its memory.
class TestBackend {
 public:
  TestBackend(const KernelTable& kernels, const ComputeLimits& limits, bool poisoned);
  ~TestBackend();
  TestBackend(const TestBackend&) = delete;
  TestBackend& operator=(const TestBackend&) = delete;

  Backend& operator*();
  Backend* operator->() { return &**this; }
  const char* name() const;
  const char* level() const;
  void set_parallel_for(ParallelFor parallel_for);
  // Whether the backend took exactly the planned memory, wrote nothing behind it and has no
  // failure.
  bool memory_intact() const;

 private:
  struct Inner;
  std::unique_ptr<Inner> inner_;
};
using TestBackends = std::vector<std::unique_ptr<TestBackend>>;

// Every level that can run here; on x86-64 with AVX2 also the 16-lane kernels in two halves. Or a
// stand-in for the device, which has sizes of tiles only.
std::vector<const KernelTable*> test_kernels();
// Whether a row of a product has the same bits in every batch; cuBLAS does not promise it.
bool products_keep_bits();
// Those of them that split their work into tasks.
std::vector<const KernelTable*> task_kernels();

// A level's plain backend with room for exactly `limits`, and a poisoned one with room to spare.
TestBackends make_test_backends(const KernelTable& kernels, const ComputeLimits& limits);

}  // namespace adapvae

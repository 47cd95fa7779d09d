#include "support/test_backends.h"

#include <cstring>
#include <new>

namespace adapvae {
namespace {

// AddressSanitizer guards the end better than marks do, if nothing is behind it.
constexpr std::size_t kEndWords = testing::kAddressSanitizer ? 0 : 64;

template <typename T>
void poison(T* data, Index count) {
  const std::uint32_t words[2] = {kPoison, kPoison};
  for (Index i = 0; data != nullptr && i < count; ++i) std::memcpy(data + i, words, sizeof(T));
}
template <typename T>
void poison(BasicMatrixView<T> view) {
  for (Index i = 0; view.data != nullptr && i < view.rows; ++i) poison(view.row(i), view.cols);
}

ComputeLimits with_room(ComputeLimits limits) {
  limits.rows += 37;
  limits.widest_layer += 41;
  limits.dims += 3;
  limits.clusters += 5;
  return limits;
}

}  // namespace

// ---- memory -------------------------------------------------------------------------------------

PoisonedMemory::PoisonedMemory(std::size_t bytes)
    : bytes_(bytes),
      words_used_((bytes + 3) / 4),
      words_(static_cast<std::uint32_t*>(
          ::operator new ((words_used_ + kEndWords) * 4, std::align_val_t{Arena::kAlignment}))) {
  for (std::size_t i = 0; i < words_used_ + kEndWords; ++i) words_.get()[i] = kPoison;
}

void PoisonedMemory::poison() {
  for (std::size_t i = 0; i < words_used_; ++i) words_.get()[i] = kPoison;
}

bool PoisonedMemory::end_intact() const {
  for (std::size_t i = words_used_; i < words_used_ + kEndWords; ++i) {
    if (words_.get()[i] != kPoison) return false;
  }
  return true;
}

// ---- the poisoned backend -----------------------------------------------------------------------

PoisonedBackend::PoisonedBackend(Backend& inner, PoisonedMemory& scratch)
    : inner_(inner), scratch_(scratch), name_(std::string(inner.name()) + ", poisoned") {}

void PoisonedBackend::dense_forward(ConstMatrixView x, ConstMatrixView w, const float* bias,
                                    Activation activation, MatrixView y) {
  scratch_.poison();
  poison(y);
  inner_.dense_forward(x, w, bias, activation, y);
}

void PoisonedBackend::dense_backward_input(ConstMatrixView dy, ConstMatrixView w, ConstMatrixView x,
                                           Activation activation, MatrixView dx) {
  scratch_.poison();
  poison(dx);
  inner_.dense_backward_input(dy, w, x, activation, dx);
}

void PoisonedBackend::dense_backward_weights(ConstMatrixView x, ConstMatrixView dy, MatrixView dw,
                                             float* dbias) {
  scratch_.poison();
  poison(dw);
  poison(dbias, dy.cols);
  inner_.dense_backward_weights(x, dy, dw, dbias);
}

void PoisonedBackend::reconstruct(const LikelihoodSettings& likelihood, ConstMatrixView output,
                                  ConstMatrixView target, float scale, MatrixView gradient,
                                  float* log_likelihood) {
  scratch_.poison();
  if (gradient.data != output.data) poison(gradient);
  poison(log_likelihood, output.rows);
  inner_.reconstruct(likelihood, output, target, scale, gradient, log_likelihood);
}

void PoisonedBackend::sample_latent(ConstMatrixView heads, ConstMatrixView noise,
                                    LogVarianceClamp clamp, MatrixView z, MatrixView variance) {
  scratch_.poison();
  poison(z);
  poison(variance);
  inner_.sample_latent(heads, noise, clamp, z, variance);
}

void PoisonedBackend::latent_gradient(ConstMatrixView heads, ConstMatrixView noise,
                                      ConstMatrixView variance, ConstMatrixView dz,
                                      ConstMatrixView pull, ConstMatrixView precision,
                                      LogVarianceClamp clamp, float weight, MatrixView dheads) {
  scratch_.poison();
  poison(dheads);
  inner_.latent_gradient(heads, noise, variance, dz, pull, precision, clamp, weight, dheads);
}

void PoisonedBackend::mahalanobis(ConstMatrixView z, ConstMatrixView variance,
                                  const GaussianView& gaussians, MatrixView out) {
  scratch_.poison();
  poison(out);
  inner_.mahalanobis(z, variance, gaussians, out);
}

void PoisonedBackend::mahalanobis_pull(ConstMatrixView z, ConstMatrixView weight,
                                       const GaussianView& gaussians, MatrixView pull) {
  scratch_.poison();
  poison(pull);
  inner_.mahalanobis_pull(z, weight, gaussians, pull);
}

void PoisonedBackend::softmax_rows(ConstMatrixView in, const float* offset, float scale,
                                   MatrixView probability, float* log_sum) {
  scratch_.poison();
  if (probability.data != in.data) poison(probability);
  poison(log_sum, in.rows);
  inner_.softmax_rows(in, offset, scale, probability, log_sum);
}

void PoisonedBackend::divide_rows(ConstMatrixView z, ConstMatrixView variance,
                                  const GaussianView& gaussians, const float* log_weight,
                                  const double* budget, MatrixViewD share, MemberView members) {
  scratch_.poison();
  poison(share);
  poison(members);
  inner_.divide_rows(z, variance, gaussians, log_weight, budget, share, members);
}

void PoisonedBackend::weighted_moments(ConstMatrixView z, ConstMatrixView variance,
                                       ConstMatrixViewD weight, ConstMemberView members,
                                       ConstMatrixViewD center, FactorShape shape, double* mass,
                                       MatrixViewD sum, MatrixViewD scatter) {
  scratch_.poison();
  poison(mass, weight.cols);
  poison(sum);
  poison(scatter);
  inner_.weighted_moments(z, variance, weight, members, center, shape, mass, sum, scatter);
}

double PoisonedBackend::squared_norm(const float* x, Index count) {
  scratch_.poison();
  return inner_.squared_norm(x, count);
}

// Has no pure output: parameter and moments are read.
void PoisonedBackend::adam(const AdamSettings& settings, std::uint32_t step, float gradient_scale,
                           Index count, const float* gradient, float* parameter,
                           float* first_moment, float* second_moment) {
  scratch_.poison();
  inner_.adam(settings, step, gradient_scale, count, gradient, parameter, first_moment,
              second_moment);
}

// ---- the list -----------------------------------------------------------------------------------

TestBackends make_test_backends(const KernelTable& kernels, const ComputeLimits& limits) {
  TestBackends backends;
  backends.push_back(std::make_unique<TestBackend>(kernels, limits, false));
  backends.push_back(std::make_unique<TestBackend>(kernels, with_room(limits), true));
  return backends;
}

}  // namespace adapvae

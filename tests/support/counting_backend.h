// Passes everything on to another backend and counts it: operations, and the work in them. It can
// fail, as a device does: from a given operation on nothing is done any more, and status() tells.
#pragma once

#include "compute/backend.h"

namespace adapvae::testing {

class CountingBackend final : public Backend {
 public:
  explicit CountingBackend(Backend& inner) : inner_(inner) {}

  std::uint64_t operations() const { return operations_; }
  // About the multiplications and additions.
  double work() const { return work_; }
  // Counts from 0 again. The operation of this number, the first being 1, is not done, and none
  // after it; 0: all are.
  void restart(std::uint64_t fail_at = 0) {
    operations_ = 0;
    work_ = 0.0;
    fail_at_ = fail_at;
  }
  CountingBackend(const CountingBackend&) = delete;
  CountingBackend& operator=(const CountingBackend&) = delete;

  const char* name() const override { return "counting"; }
  Status status() const override {
    return failed() ? Status(StatusCode::kUnavailable, "the device is gone") : inner_.status();
  }

  void dense_forward(ConstMatrixView x, ConstMatrixView w, const float* bias, Activation activation,
                     MatrixView y) override {
    if (count(x.rows * w.rows * w.cols)) inner_.dense_forward(x, w, bias, activation, y);
  }
  void dense_backward_input(ConstMatrixView dy, ConstMatrixView w, ConstMatrixView x,
                            Activation activation, MatrixView dx) override {
    if (count(dy.rows * w.rows * w.cols)) {
      inner_.dense_backward_input(dy, w, x, activation, dx);
    }
  }
  void dense_backward_weights(ConstMatrixView x, ConstMatrixView dy, MatrixView dw,
                              float* dbias) override {
    if (count(x.rows * dw.rows * dw.cols)) inner_.dense_backward_weights(x, dy, dw, dbias);
  }
  void reconstruct(const LikelihoodSettings& likelihood, ConstMatrixView output,
                   ConstMatrixView target, float scale, MatrixView gradient,
                   float* log_likelihood) override {
    if (count(output.rows * output.cols)) {
      inner_.reconstruct(likelihood, output, target, scale, gradient, log_likelihood);
    }
  }
  void sample_latent(ConstMatrixView heads, ConstMatrixView noise, LogVarianceClamp clamp,
                     MatrixView z, MatrixView variance) override {
    if (count(heads.rows * heads.cols)) inner_.sample_latent(heads, noise, clamp, z, variance);
  }
  void latent_gradient(ConstMatrixView heads, ConstMatrixView noise, ConstMatrixView variance,
                       ConstMatrixView dz, ConstMatrixView pull, ConstMatrixView precision,
                       LogVarianceClamp clamp, float weight, MatrixView dheads) override {
    if (count(heads.rows * heads.cols)) {
      inner_.latent_gradient(heads, noise, variance, dz, pull, precision, clamp, weight, dheads);
    }
  }
  void mahalanobis(ConstMatrixView z, ConstMatrixView variance, const GaussianView& gaussians,
                   MatrixView out) override {
    if (count(factors(z.rows, gaussians))) inner_.mahalanobis(z, variance, gaussians, out);
  }
  void mahalanobis_pull(ConstMatrixView z, ConstMatrixView weight, const GaussianView& gaussians,
                        MatrixView pull) override {
    if (count(factors(z.rows, gaussians))) inner_.mahalanobis_pull(z, weight, gaussians, pull);
  }
  void softmax_rows(ConstMatrixView in, const float* offset, float scale, MatrixView probability,
                    float* log_sum) override {
    if (count(in.rows * in.cols)) inner_.softmax_rows(in, offset, scale, probability, log_sum);
  }
  void divide_rows(ConstMatrixView z, ConstMatrixView variance, const GaussianView& gaussians,
                   const float* log_weight, const double* budget, MatrixViewD share,
                   MemberView members) override {
    if (count(factors(z.rows, gaussians))) {
      inner_.divide_rows(z, variance, gaussians, log_weight, budget, share, members);
    }
  }
  void weighted_moments(ConstMatrixView z, ConstMatrixView variance, ConstMatrixViewD weight,
                        ConstMemberView members, ConstMatrixViewD center, FactorShape shape,
                        double* mass, MatrixViewD sum, MatrixViewD scatter) override {
    if (count(z.rows * center.rows * factor_size(shape, z.cols))) {
      inner_.weighted_moments(z, variance, weight, members, center, shape, mass, sum, scatter);
    }
  }
  double squared_norm(const float* x, Index n) override {
    return count(n) ? inner_.squared_norm(x, n) : 0.0;
  }
  void adam(const AdamSettings& settings, std::uint32_t step, float gradient_scale, Index n,
            const float* gradient, float* parameter, float* first_moment,
            float* second_moment) override {
    if (count(n)) {
      inner_.adam(settings, step, gradient_scale, n, gradient, parameter, first_moment,
                  second_moment);
    }
  }

 private:
  static Index factors(Index rows, const GaussianView& gaussians) {
    return rows * gaussians.clusters * factor_size(gaussians.shape, gaussians.dims);
  }
  bool failed() const { return fail_at_ != 0 && operations_ >= fail_at_; }
  // Whether it is to be done.
  bool count(Index work) {
    ++operations_;
    work_ += static_cast<double>(work);
    return !failed();
  }

  Backend& inner_;
  std::uint64_t operations_ = 0;
  std::uint64_t fail_at_ = 0;
  double work_ = 0.0;
};

}  // namespace adapvae::testing

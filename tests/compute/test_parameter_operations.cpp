// squared_norm and adam beside their reference.
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

std::vector<Index> lengths() {
  std::vector<Index> result;
  for (Index count = 1; count <= 70; ++count) result.push_back(count);
  for (const Index count : {1000, 32767, 32768, 65541, 200003}) result.push_back(count);
  return result;
}

void check_adam(const AdamSettings& settings, Index count, double parameter_size,
                double gradient_size, float gradient_scale) {
  CAPTURE(count);
  CAPTURE(gradient_size);
  constexpr std::uint32_t kSteps = 5;
  TestRandom random(static_cast<std::uint64_t>(count));
  const Matrix start = random.uniform_matrix(1, count, -parameter_size, parameter_size);
  const Matrix gradients = random.uniform_matrix(kSteps, count, -gradient_size, gradient_size);

  MatrixD zero(1, count);
  for (Index i = 0; i < count; ++i) zero(0, i) = 0.0;
  MatrixD want = to_double(start);
  MatrixD want_first = zero;
  MatrixD want_second = zero;
  const MatrixD exact_gradients = to_double(gradients);
  for (std::uint32_t step = 1; step <= kSteps; ++step) {
    reference::adam(settings, step, gradient_scale, count, exact_gradients.view().row(step - 1),
                    want.data(), want_first.data(), want_second.data());
  }
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {})) {
      Matrix parameter = start;
      Matrix first = to_float(zero);
      Matrix second = to_float(zero);
      for (std::uint32_t step = 1; step <= kSteps; ++step) {
        (*backend)->adam(settings, step, gradient_scale, count, gradients.view().row(step - 1),
                         parameter.data(), first.data(), second.data());
      }
      check_close(Quantity::kAdamParameter, *backend, parameter, want);
      check_close(Quantity::kAdamFirstMoment, *backend, first, want_first);
      check_close(Quantity::kAdamSecondMoment, *backend, second, want_second);
    }
  }
}

}  // namespace

TEST_CASE("squared_norm is right for every length and magnitude") {
  for (const Index count : lengths()) {
    for (const double magnitude : {1.0, 1e15, 1e-15, 3e38, 1e-40}) {
      CAPTURE(count);
      CAPTURE(magnitude);
      TestRandom random(static_cast<std::uint64_t>(count));
      const Matrix x = random.uniform_matrix(1, count, -magnitude, magnitude);
      const double want = reference::squared_norm(to_double(x).data(), count);
      for (const KernelTable* kernels : test_kernels()) {
        for (const auto& backend : make_test_backends(*kernels, {})) {
          const double got = (*backend)->squared_norm(x.data(), count);
          const double error = std::fabs(got - want) / want;
          check_error(Quantity::kSquaredNorm, *backend, {error, error});
        }
      }
    }
  }
}

TEST_CASE("squared_norm of nothing is zero") {
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {})) {
      CHECK((*backend)->squared_norm(nullptr, 0) == 0.0);
    }
  }
}

// Parameters start small, or at zero, so that the steps are what is compared.
TEST_CASE("adam follows the steps of its reference") {
  const AdamSettings plain = {.learning_rate = 0.01F};
  const AdamSettings decaying = {.learning_rate = 0.02F,
                                 .beta1 = 0.8F,
                                 .beta2 = 0.99F,
                                 .epsilon = 1e-3F,
                                 .weight_decay = 0.5F};
  for (const Index count : lengths()) {
    check_adam(plain, count, 0.02, 1.0, 1.0F);
    check_adam(decaying, count, 0.05, 2.0, 0.3F);
  }
  for (const Index count : {1, 19, 100}) {
    check_adam(plain, count, 0.0, 1e15, 1.0F);
    check_adam(plain, count, 0.0, 1e15, 1e-15F);
    check_adam(plain, count, 0.0, 1e-15, 1.0F);
    check_adam(decaying, count, 1e15, 1.0, 1.0F);
  }
}

TEST_CASE("adam without a gradient leaves a parameter alone") {
  Matrix zero(1, 37);
  for (Index i = 0; i < 37; ++i) zero(0, i) = 0.0F;
  TestRandom random(3);
  const Matrix start = random.uniform_matrix(1, 37, -1.0, 1.0);
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {})) {
      Matrix parameter = start;
      Matrix first = zero;
      Matrix second = zero;
      (*backend)->adam({}, 1, 1.0F, 37, zero.data(), parameter.data(), first.data(), second.data());
      CHECK(same_bytes(parameter.data(), start.data(), 37));
      CHECK(same_bytes(first.data(), zero.data(), 37));
      CHECK(same_bytes(second.data(), zero.data(), 37));
    }
  }
}

// The factor 1 - learning_rate · weight_decay would round to 1 in float.
TEST_CASE("adam does not lose a small weight decay") {
  constexpr Index kCount = 64;
  constexpr std::uint32_t kSteps = 2000;
  const AdamSettings settings = {.learning_rate = 1e-3F, .weight_decay = 2e-5F};
  Matrix start(1, kCount);
  Matrix zero(1, kCount);
  for (Index i = 0; i < kCount; ++i) {
    start(0, i) = 0.75F;
    zero(0, i) = 0.0F;
  }
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {})) {
      CAPTURE(backend->name());
      TestRandom random(51);
      Matrix parameter = start;
      Matrix first = zero;
      Matrix second = zero;
      MatrixD want = to_double(start);
      MatrixD want_first = to_double(zero);
      MatrixD want_second = to_double(zero);
      for (std::uint32_t step = 1; step <= kSteps; ++step) {
        const Matrix gradient = random.uniform_matrix(1, kCount, -1.0, 1.0);
        (*backend)->adam(settings, step, 1.0F, kCount, gradient.data(), parameter.data(),
                         first.data(), second.data());
        reference::adam(settings, step, 1.0, kCount, to_double(gradient).data(), want.data(),
                        want_first.data(), want_second.data());
      }
      // The decay moves parameters by about 3e-5; the mean over all of them hides the rounding of
      // single steps.
      double mean_error = 0.0;
      for (Index i = 0; i < kCount; ++i) mean_error += (parameter(0, i) - want(0, i)) / kCount;
      CHECK(std::fabs(mean_error) < 3e-6);
    }
  }
}

// sample_latent and latent_gradient beside their reference.
#include <initializer_list>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

struct Shape {
  Index rows, dims;
};
constexpr Shape kShapes[] = {{1, 1}, {5, 1}, {1, 6}, {7, 10}, {33, 17}};
constexpr LogVarianceClamp kClamp = {-3.0F, 2.0F};

// mean | raw log-variance, some of it beyond the clamps.
Matrix make_heads(TestRandom& random, Shape shape, double magnitude) {
  Matrix heads = random.uniform_matrix(shape.rows, 2 * shape.dims, -magnitude, magnitude, 3);
  for (Index i = 0; i < shape.rows; ++i) {
    for (Index j = 0; j < shape.dims; ++j) {
      heads(i, shape.dims + j) = static_cast<float>(random.uniform(-5.0, 4.0));
    }
  }
  return heads;
}

}  // namespace

TEST_CASE("sample_latent is right with noise and without, clamped or not") {
  for (const Shape shape : kShapes) {
    for (const double magnitude : {1.0, 1e-15, 1e15}) {
      for (const bool with_noise : {true, false}) {
        CAPTURE(shape.rows);
        CAPTURE(shape.dims);
        CAPTURE(with_noise);
        TestRandom random(static_cast<std::uint64_t>(shape.rows + 100 * shape.dims));
        const Matrix heads = make_heads(random, shape, magnitude);
        const Matrix noise =
            with_noise ? random.uniform_matrix(shape.rows, shape.dims, -3.0, 3.0, 2) : Matrix();
        MatrixD want(shape.rows, shape.dims);
        MatrixD want_variance(shape.rows, shape.dims);
        reference::sample_latent(to_double(heads).view(), to_double(noise).view(), kClamp,
                                 want.view(), want_variance.view());
        for (const KernelTable* kernels : test_kernels()) {
          for (const auto& backend : make_test_backends(*kernels, {.rows = shape.rows})) {
            Matrix z(shape.rows, shape.dims, 1);
            Matrix variance(shape.rows, shape.dims, 4);
            (*backend)->sample_latent(heads.view(), noise.view(), kClamp, z.view(),
                                      variance.view());
            check_close(Quantity::kLatent, *backend, z, want);
            check_close(Quantity::kLatentVariance, *backend, variance, want_variance);
          }
        }
      }
    }
  }
}

TEST_CASE("sample_latent without noise gives the mean, bit for bit") {
  TestRandom random(1);
  const Matrix heads = make_heads(random, {9, 5}, 1.0);
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {.rows = 9})) {
      Matrix z(9, 5);
      Matrix variance(9, 5);
      (*backend)->sample_latent(heads.view(), {}, kClamp, z.view(), variance.view());
      for (Index i = 0; i < 9; ++i) CHECK(same_bytes(z.view().row(i), heads.view().row(i), 5));
    }
  }
}

TEST_CASE("latent_gradient is right with noise and without, and zero where clamped") {
  for (const Shape shape : kShapes) {
    for (const double magnitude : {1.0, 1e-15, 1e15}) {
      for (const bool with_noise : {true, false}) {
        CAPTURE(shape.rows);
        CAPTURE(shape.dims);
        CAPTURE(with_noise);
        const Index n = shape.rows;
        const Index m = shape.dims;
        constexpr float kWeight = 0.37F;
        TestRandom random(static_cast<std::uint64_t>(n + 100 * m));
        const Matrix heads = make_heads(random, shape, 1.0);
        const Matrix noise = with_noise ? random.uniform_matrix(n, m, -3.0, 3.0, 2) : Matrix();
        const Matrix dz = random.uniform_matrix(n, m, -magnitude, magnitude, 5);
        const Matrix pull = random.uniform_matrix(n, m, -magnitude, magnitude);
        const Matrix precision = random.uniform_matrix(n, m, 0.1, 3.0, 1);
        MatrixD z(n, m);
        MatrixD exact_variance(n, m);
        reference::sample_latent(to_double(heads).view(), {}, kClamp, z.view(),
                                 exact_variance.view());
        const Matrix variance = to_float(exact_variance, 3);
        MatrixD want(n, 2 * m);
        reference::latent_gradient(to_double(heads).view(), to_double(noise).view(),
                                   to_double(variance).view(), to_double(dz).view(),
                                   to_double(pull).view(), to_double(precision).view(), kClamp,
                                   kWeight, want.view());
        for (const KernelTable* kernels : test_kernels()) {
          for (const auto& backend : make_test_backends(*kernels, {.rows = n})) {
            Matrix dheads(n, 2 * m, 6);
            (*backend)->latent_gradient(heads.view(), noise.view(), variance.view(), dz.view(),
                                        pull.view(), precision.view(), kClamp, kWeight,
                                        dheads.view());
            check_close(Quantity::kLatentGradient, *backend, dheads, want);
            Index wrong_zeros = 0;
            for (Index i = 0; i < n; ++i) {
              for (Index j = 0; j < m; ++j) {
                const float raw = heads(i, m + j);
                const bool clamped = raw < kClamp.min || raw > kClamp.max;
                wrong_zeros += (dheads(i, m + j) == 0.0F) != clamped;
              }
            }
            CHECK(wrong_zeros == 0);
          }
        }
      }
    }
  }
}

// CudaBackend: memory that the device keeps, staging, and what it does beyond its limits.
#include <algorithm>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "compute/cuda/cuda_backend.h"
#include "compute/operation_check.h"
#include "support/host_device.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr ComputeLimits kLimits = {.rows = 16, .widest_layer = 24, .dims = 4, .clusters = 5};

struct KeptFixture {
  KeptFixture() : memory(1000, 7.0F) {
    const MemoryRange kept[] = {{memory.data(), 600 * sizeof(float)}};
    status = backend.open(device_under_test(), {.limits = kLimits, .kept = kept});
    REQUIRE(status.ok());
  }
  std::vector<float> memory;  // the first 600 are kept
  CudaBackend backend;
  Status status;
};

}  // namespace

TEST_CASE("kept memory changes on the device alone until it is fetched") {
  KeptFixture f;
  const Index n = 8;
  float* x = f.memory.data();
  float* y = x + 300;
  for (Index i = 0; i < n * n; ++i) x[i] = static_cast<float>(i % 7);
  const std::vector<float> one(static_cast<std::size_t>(n), 1.0F);
  Matrix unit(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) unit(i, j) = i == j ? 1.0F : 0.0F;
  }
  f.backend.changed(x, n * n);
  f.backend.dense_forward(ConstMatrixView(x, n, n), unit.view(), one.data(), Activation::kLinear,
                          MatrixView(y, n, n));
  CHECK(std::all_of(y, y + n * n, [](float value) { return value == 7.0F; }));
  f.backend.fetch(y, n * n);
  for (Index i = 0; i < n * n; ++i) CHECK(y[i] == x[i] + 1.0F);
  // A kept result is an operand of the next operation where it is.
  std::vector<float> out(static_cast<std::size_t>(n * n));
  f.backend.dense_forward(ConstMatrixView(y, n, n), unit.view(), one.data(), Activation::kLinear,
                          MatrixView(out.data(), n, n));
  for (Index i = 0; i < n * n; ++i) CHECK(out[static_cast<std::size_t>(i)] == x[i] + 2.0F);
  // Memory beyond the kept range is the host's.
  f.backend.fetch(f.memory.data() + 600, 400);
  f.backend.changed(f.memory.data() + 600, 400);
  CHECK(f.memory[999] == 7.0F);
  CHECK(f.backend.status().ok());
}

TEST_CASE("pieces larger than the staging memory come and go whole") {
  std::vector<float> memory(300000);
  const MemoryRange kept[] = {{memory.data(), memory.size() * sizeof(float)}};
  CudaBackend backend;
  REQUIRE(
      backend
          .open(device_under_test(),
                {.limits = {.rows = 1, .widest_layer = 4, .dims = 1, .clusters = 1}, .kept = kept})
          .ok());
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  backend.changed(memory.data(), static_cast<Index>(memory.size()));
  std::fill(memory.begin(), memory.end(), 0.0F);
  backend.fetch(memory.data(), static_cast<Index>(memory.size()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) wrong += memory[i] != static_cast<float>(i);
  CHECK(wrong == 0);
}

TEST_CASE("an operation beyond the limits is refused, and nothing is written") {
  KeptFixture f;
  Matrix x(100, 24);
  Matrix w(24, 24);
  Matrix y(100, 24);
  for (Index i = 0; i < 24; ++i) {
    for (Index j = 0; j < 24; ++j) w(i, j) = 0.0F;
  }
  const Matrix before = y;
  f.backend.dense_forward(x.view(), w.view(), nullptr, Activation::kLinear, y.view());
  CHECK(f.backend.status().code() == StatusCode::kOutOfMemory);
  CHECK(same_bytes(y.data(), before.data(), 100 * 24));
  // Opened anew, it is as new.
  REQUIRE(f.backend.open(device_under_test(), {.limits = kLimits, .kept = {}}).ok());
  CHECK(f.backend.status().ok());
}

// Every operation with the largest operands that the limits allow, all of them outside kept memory.
TEST_CASE("operations as large as the limits fit") {
  constexpr Index n = 16;
  constexpr Index m = 4;
  constexpr Index K = 5;
  constexpr Index wide = 24;
  CudaBackend backend;
  REQUIRE(backend
              .open(device_under_test(),
                    {.limits = kLimits, .kept = {}, .more_bytes = wide * wide * sizeof(float)})
              .ok());
  TestRandom random(1);
  const Matrix x = random.uniform_matrix(n, wide, 0.0, 1.0, 3);
  const Matrix w = random.uniform_matrix(wide, wide, -1.0, 1.0, 2);
  const Matrix bias = random.uniform_matrix(1, wide, -1.0, 1.0);
  const Matrix z = random.uniform_matrix(n, m, -1.0, 1.0);
  const Matrix variance = random.uniform_matrix(n, m, 0.1, 1.0);
  const Matrix heads = random.uniform_matrix(n, 2 * m, -1.0, 1.0);
  const TestGaussians gaussians(random, K, m, FactorShape::kLower);
  const Matrix log_weight = random.uniform_matrix(1, K, -1.0, 0.0);
  const std::vector<double> budget(n, 1.0);
  Matrix y(n, wide, 1);
  Matrix dw(wide, wide);
  Matrix row(1, n);
  Matrix out_z(n, m);
  Matrix out_variance(n, m);
  Matrix dheads(n, 2 * m);
  Matrix r(n, K);
  MatrixD share(n, K);
  MatrixD center(K, m);
  MatrixD sum(K, m);
  MatrixD scatter(K, m * (m + 1) / 2);
  std::vector<double> mass(K);
  std::vector<std::uint32_t> members(n);
  for (Index k = 0; k < K; ++k) {
    for (Index j = 0; j < m; ++j) center(k, j) = 0.0;
  }
  const auto still_well = [&](const char* operation) {
    CAPTURE(operation);
    CHECK(backend.status().ok());
  };
  backend.dense_forward(x.view(), w.view(), bias.data(), Activation::kTanh, y.view());
  still_well("dense_forward");
  backend.dense_backward_input(x.view(), w.view(), x.view(), Activation::kTanh, y.view());
  still_well("dense_backward_input");
  Matrix dbias(1, wide);
  backend.dense_backward_weights(x.view(), x.view(), dw.view(), dbias.data());
  still_well("dense_backward_weights");
  backend.reconstruct({}, x.view(), x.view(), 1.0F, y.view(), row.data());
  still_well("reconstruct");
  backend.sample_latent(heads.view(), z.view(), {}, out_z.view(), out_variance.view());
  still_well("sample_latent");
  backend.latent_gradient(heads.view(), z.view(), variance.view(), z.view(), z.view(),
                          variance.view(), {}, 1.0F, dheads.view());
  still_well("latent_gradient");
  backend.mahalanobis(z.view(), variance.view(), gaussians.view(), r.view());
  still_well("mahalanobis");
  backend.softmax_rows(r.view(), log_weight.data(), -0.5F, r.view(), row.data());
  still_well("softmax_rows");
  backend.mahalanobis_pull(z.view(), r.view(), gaussians.view(), out_z.view());
  still_well("mahalanobis_pull");
  backend.divide_rows(z.view(), variance.view(), gaussians.view(), log_weight.data(), budget.data(),
                      share.view(), {members.data(), n, 1});
  still_well("divide_rows");
  const MatrixD& shares = share;
  const MatrixD& centers = center;
  backend.weighted_moments(z.view(), variance.view(), shares.view(),
                           ConstMemberView(members.data(), n, 1), centers.view(),
                           FactorShape::kLower, mass.data(), sum.view(), scatter.view());
  still_well("weighted_moments");
  double total = 0.0;
  for (const double part : mass) total += part;
  CHECK(total == static_cast<double>(n));  // shares are whole units: exact
}

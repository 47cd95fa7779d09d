#include "support/network_fixture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

#include "base/sampling.h"
#include "support/sanitizer.h"

namespace adapvae::testing {
namespace {

constexpr std::size_t kGuard = kAddressSanitizer ? 0 : 4096;
constexpr std::byte kGuardByte{0xA5};
constexpr std::byte kUnwritten{0xFF};
constexpr double kLogTwoPi = 1.8378770664093454836;

bool all_guard(const std::byte* from, const std::byte* to) {
  return std::all_of(from, to, [](std::byte value) { return value == kGuardByte; });
}

void place_all(Arena& arena, CpuBackend& backend, Vae& vae, Trainer& trainer,
               const VaeConfig& config, Index block_rows, IsaLevel level, Index workers) {
  ComputeLimits limits = compute_limits(config);
  limits.workers = workers;
  backend.place(arena, limits, *select_kernels(level));
  vae.place(arena, config);
  trainer.place(arena, block_rows, config);
}

std::size_t plan(const VaeConfig& config, Index block_rows, IsaLevel level, Index workers) {
  CpuBackend backend;
  Vae vae;
  Trainer trainer;
  return planned_bytes([&](Arena& counter) {
    place_all(counter, backend, vae, trainer, config, block_rows, level, workers);
  });
}

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes)
    : size_(bytes),
      block_(static_cast<std::byte*>(
          ::operator new (bytes + 2 * kGuard, std::align_val_t{Arena::kAlignment}))),
      data_(block_ + kGuard) {
  static_assert(kGuard % Arena::kAlignment == 0);
  std::fill_n(block_, kGuard, kGuardByte);
  std::fill_n(data_, size_, kUnwritten);
  std::fill_n(data_ + size_, kGuard, kGuardByte);
}

GuardedMemory::~GuardedMemory() { ::operator delete (block_, std::align_val_t{Arena::kAlignment}); }

bool GuardedMemory::guards_untouched() const {
  return all_guard(block_, data_) && all_guard(data_ + size_, data_ + size_ + kGuard);
}

std::vector<std::byte> GuardedMemory::snapshot() const { return {data_, data_ + size_}; }

NetworkFixture::NetworkFixture(const VaeConfig& config, Index block_rows, IsaLevel level,
                               Index workers)
    : memory(planned(config, block_rows, level, workers)), arena(memory.data(), memory.size()) {
  place_all(arena, backend, vae, trainer, config, block_rows, level, workers);
}

std::size_t NetworkFixture::planned(const VaeConfig& config, Index block_rows, IsaLevel level,
                                    Index workers) {
  return plan(config, block_rows, level, workers);
}

std::vector<float> NetworkFixture::parameters() const {
  return {vae.parameters(), vae.parameters() + vae.parameter_count()};
}

void NetworkFixture::set_parameters(const std::vector<float>& values) {
  std::copy(values.begin(), values.end(), vae.parameters());
}

std::vector<float> NetworkFixture::gradients() const {
  return {vae.gradients(), vae.gradients() + vae.parameter_count()};
}

std::vector<IsaLevel> available_levels() {
  std::vector<IsaLevel> levels;
  for (int i = 1; i < kIsaLevelCount; ++i) {
    const auto level = static_cast<IsaLevel>(i);
    if (select_kernels(level) != nullptr) levels.push_back(level);
  }
  return levels;
}

std::vector<float> random_normals(Index count, std::uint64_t seed, double deviation) {
  Philox random(RandomKey{.seed = seed});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(deviation * sample_normal(random));
  return values;
}

Rows random_responsibilities(Index rows, Index clusters, std::uint64_t seed) {
  Rows result = uniform_rows(rows, clusters, seed);
  for (Index i = 0; i < rows; ++i) {
    if (clusters > 1 && i % 3 == 0) result(i, i % clusters) = 0.0F;
    float sum = 0.0F;
    for (Index k = 0; k < clusters; ++k) sum += result(i, k);
    for (Index k = 0; k < clusters; ++k) result(i, k) /= sum;
  }
  return result;
}

MixtureView MixtureData::view() const {
  MixtureView result;
  result.gaussians.clusters = clusters;
  result.gaussians.dims = dims;
  result.gaussians.mean = mean.data();
  result.gaussians.factor = factor.data();
  result.gaussians.precision_diagonal = precision_diagonal.data();
  result.gaussians.shape = shape;
  result.log_weight = log_weight.data();
  return result;
}

MixtureData random_mixture(Index clusters, Index dims, FactorShape shape, std::uint64_t seed) {
  const Index size = factor_size(shape, dims);
  MixtureData result;
  result.clusters = clusters;
  result.dims = dims;
  result.shape = shape;
  result.mean = random_normals(clusters * dims, seed, 1.5);
  result.factor = random_normals(clusters * size, seed + 1000, 0.6);
  result.log_weight = random_normals(clusters, seed + 2000, 0.5);
  result.precision_diagonal.assign(clusters * dims, 0.0F);
  for (Index k = 0; k < clusters; ++k) {
    float* entry = result.factor.data() + k * size;
    for (Index i = 0; i < dims; ++i) {
      for (Index j = shape == FactorShape::kDiagonal ? i : 0; j <= i; ++j, ++entry) {
        // A diagonal away from zero, as a Cholesky factor has.
        if (i == j) *entry = 0.7F + std::fabs(*entry);
        result.precision_diagonal[k * dims + j] += *entry * *entry;
      }
    }
  }
  return result;
}

MixtureData standard_normal(Index dims, FactorShape shape) {
  MixtureData result;
  result.clusters = 1;
  result.dims = dims;
  result.shape = shape;
  result.mean.assign(dims, 0.0F);
  result.precision_diagonal.assign(dims, 1.0F);
  for (Index i = 0; i < dims; ++i) {
    for (Index j = shape == FactorShape::kDiagonal ? i : 0; j <= i; ++j) {
      result.factor.push_back(i == j ? 1.0F : 0.0F);
    }
  }
  result.log_weight.assign(1, static_cast<float>(-0.5 * static_cast<double>(dims) * kLogTwoPi));
  return result;
}

bool same_bytes(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

bool same_bytes(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace adapvae::testing

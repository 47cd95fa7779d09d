// What the tests of the network share: memory with guards, a network placed in it, and small random
// rows and mixtures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "compute/cpu_backend.h"
#include "network/training.h"
#include "network/vae.h"
#include "support/rows.h"

namespace adapvae::testing {

// `bytes` bytes for an arena, every one 0xFF (as floats: NaN, so that reading what was never
// written shows), with guard bytes before and behind. Under AddressSanitizer the guards are its
// own.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() { return data_; }
  std::size_t size() const { return size_; }
  bool guards_untouched() const;
  // A copy of all bytes, to compare later ones with.
  std::vector<std::byte> snapshot() const;

 private:
  std::size_t size_;
  std::byte* block_;
  std::byte* data_;
};

// Backend, network and trainer in one arena of exactly the planned size. Parameters are not drawn.
class NetworkFixture {
 public:
  // block_rows: most rows of an epoch. The level must exist here (see available_levels).
  explicit NetworkFixture(const VaeConfig& config, Index block_rows = 1,
                          IsaLevel level = IsaLevel::kAuto, Index workers = 1);

  static std::size_t planned(const VaeConfig& config, Index block_rows,
                             IsaLevel level = IsaLevel::kAuto, Index workers = 1);

  std::vector<float> parameters() const;
  void set_parameters(const std::vector<float>& values);
  std::vector<float> gradients() const;

  GuardedMemory memory;
  Arena arena;
  CpuBackend backend;
  Vae vae;
  Trainer trainer;
};

// Every instruction-set level that this build and this machine have, the scalar one first.
std::vector<IsaLevel> available_levels();

std::vector<float> random_normals(Index count, std::uint64_t seed, double deviation = 1.0);
// Rows of responsibilities: positive but for a few zeros, each row with sum 1.
Rows random_responsibilities(Index rows, Index clusters, std::uint64_t seed);

// A mixture that owns its numbers.
struct MixtureData {
  MixtureView view() const;

  Index clusters = 0;
  Index dims = 0;
  FactorShape shape = FactorShape::kLower;
  std::vector<float> mean, factor, precision_diagonal, log_weight;
};

MixtureData random_mixture(Index clusters, Index dims, FactorShape shape, std::uint64_t seed);
// One cluster: the prior of a plain VAE.
MixtureData standard_normal(Index dims, FactorShape shape = FactorShape::kLower);

// Whether two buffers hold the same bytes.
bool same_bytes(const std::vector<float>& a, const std::vector<float>& b);
bool same_bytes(const std::vector<std::byte>& a, const std::vector<std::byte>& b);

}  // namespace adapvae::testing

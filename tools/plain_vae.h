// A network with its backend, trainer and memory, and the standard normal prior: what the demo and
// the benchmarks train.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compute/cpu_backend.h"
#include "network/training.h"
#include "tools/placed_memory.h"

namespace adapvae::tools {

class PlainVae {
 public:
  // config must have passed check_config. block_rows: most rows given to trainer() at once;
  // workers: threads that a ParallelFor will bring.
  PlainVae(const VaeConfig& config, Index block_rows, Index workers = 1);
  PlainVae(const PlainVae&) = delete;
  PlainVae& operator=(const PlainVae&) = delete;

  CpuBackend& backend() { return backend_; }
  Vae& vae() { return vae_; }
  Trainer& trainer() { return trainer_; }
  std::size_t bytes() const { return memory_->bytes(); }
  // The plain VAE's objective: standard normal prior, sampling on. Borrows from this object.
  VaeBatch objective() const;

 private:
  CpuBackend backend_;
  Vae vae_;
  Trainer trainer_;
  std::optional<PlacedMemory> memory_;
  std::vector<float> zero_, one_;
  float log_weight_ = 0.0F;
};

}  // namespace adapvae::tools

#include "tools/plain_vae.h"

#include <cmath>
#include <numbers>

namespace adapvae::tools {

PlainVae::PlainVae(const VaeConfig& config, Index block_rows, Index workers)
    : zero_(static_cast<std::size_t>(config.latent), 0.0F),
      one_(static_cast<std::size_t>(config.latent), 1.0F),
      log_weight_(static_cast<float>(-0.5 * std::log(2.0 * std::numbers::pi) *
                                     static_cast<double>(config.latent))) {
  ComputeLimits limits = compute_limits(config);
  limits.workers = workers;
  memory_.emplace([&](Arena& arena) {
    backend_.place(arena, limits, *select_kernels(IsaLevel::kAuto));
    vae_.place(arena, config);
    trainer_.place(arena, block_rows, config);
  });
}

VaeBatch PlainVae::objective() const {
  VaeBatch batch;
  batch.mixture.gaussians = {.clusters = 1,
                             .dims = static_cast<Index>(zero_.size()),
                             .mean = zero_.data(),
                             .factor = one_.data(),
                             .precision_diagonal = one_.data(),
                             .shape = FactorShape::kDiagonal};
  batch.mixture.log_weight = &log_weight_;
  return batch;
}

}  // namespace adapvae::tools

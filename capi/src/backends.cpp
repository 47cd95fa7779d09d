// Which backend computes.
#include "handle.h"
#if defined(ADAPVAE_CUDA)
#include "compute/cuda/plugin.h"
#endif

namespace adapvae::capi {

const char* backend_missing(std::int32_t backend) {
  switch (backend) {
    case ADAPVAE_BACKEND_AUTO:
    case ADAPVAE_BACKEND_CPU:
      return nullptr;
    case ADAPVAE_BACKEND_CUDA:
#if defined(ADAPVAE_CUDA)
      return cuda_plugin().reason;
#else
      return "this library was built without CUDA";
#endif
    default:
      return "options: no such backend";
  }
}

// By the cost model of docs/results/cuda.md, not by measurement: a training step of so many
// multiply-adds is three times as fast on a device as on eight threads, or more.
bool worth_a_device(const Configuration& config) {
  constexpr double kLeastProducts = 4e8;
  const double widths[] = {static_cast<double>(config.inputs),  static_cast<double>(config.hidden1),
                           static_cast<double>(config.hidden2), static_cast<double>(config.hidden3),
                           static_cast<double>(config.hidden4), 2.0 * config.latent};
  double weights = 0.0;
  double below = 0.0;
  for (const double width : widths) {
    if (width == 0.0) continue;
    weights += below * width;
    below = width;
  }
  // Encoder and decoder, and three products with each weight of both.
  return 2.0 * 3.0 * weights * config.batch >= kLeastProducts;
}

Status choose_backend(const Configuration& config, ModelUse use, std::int32_t wanted,
                      adapvae_model& handle) {
#if defined(ADAPVAE_CUDA)
  const bool automatic = wanted == ADAPVAE_BACKEND_AUTO;
  if (wanted == ADAPVAE_BACKEND_CPU || (automatic && !worth_a_device(config))) return {};
  const CudaPlugin plugin = cuda_plugin();
  if (plugin.table == nullptr) {
    return automatic ? Status() : Status(StatusCode::kUnavailable, plugin.reason);
  }
  const auto kept = handle.model.device_memory();
  const Status status =
      handle.cuda.open(*plugin.table, {.limits = Model::limits(config, use),
                                       .stream_rows = Model::stream_rows(config),
                                       .kept = kept,
                                       .more_bytes = Model::loose_weight_bytes(config)});
  if (status.ok()) handle.backend = &handle.cuda;
  return automatic ? Status() : status;
#else
  (void)config, (void)use, (void)wanted, (void)handle;  // refused before
  return {};
#endif
}

}  // namespace adapvae::capi

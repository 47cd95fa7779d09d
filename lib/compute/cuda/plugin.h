// Finds the plug-in libadapvae_cuda.so and what it offers. Only in builds with ADAPVAE_CUDA.
#pragma once

#include "compute/cuda/device.h"

namespace adapvae {

struct CudaPlugin {
  const DeviceTable* table = nullptr;  // null: CUDA cannot be used
  const char* reason = nullptr;        // and why; static storage
};

// Looked for once per process: the file that the environment variable ADAPVAE_CUDA_PLUGIN names, or
// else beside the file that this code is in, then where the system looks. Never unloaded.
CudaPlugin cuda_plugin();

}  // namespace adapvae

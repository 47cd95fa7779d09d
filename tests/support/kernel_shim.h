// Lets lib/compute/cuda/device_kernels.h be compiled as plain C++ and run on the CPU: one block
// after the other, its threads as fibers that change at barriers. A barrier that only some threads
// of a block meet, or that a kernel launched as free of them has, ends the program. Shared memory
// asked for at launch comes from the heap, exactly as much, so that the address sanitizer sees its
// ends. For one thread of the host at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace adapvae::shim {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};
inline Dim3 threadIdx, blockIdx, blockDim, gridDim;

void barrier();
float* shared_bytes();
// Launches with a grid or a block that no device takes are refused.
void launch(Dim3 grid, Dim3 block, std::size_t shared, bool barriers,
            const std::function<void()>& body);
// Whether a launch was refused since the last question.
bool launch_refused();

}  // namespace adapvae::shim

#define ADAPVAE_KERNEL void
#define ADAPVAE_DEVICE inline
#define ADAPVAE_SHARED(type, name, n) static type name[n]
#define ADAPVAE_SHARED_BYTES(name) float* name = shim::shared_bytes()
#define ADAPVAE_BARRIER() shim::barrier()
#define ADAPVAE_LAUNCH(kernel, stream, grid_x, grid_y, threads_x, threads_y, shared, call) \
  (void)stream;                                                                            \
  shim::launch({grid_x, grid_y}, {threads_x, threads_y}, shared, true, [&] { kernel(call); })
#define ADAPVAE_LAUNCH_FREE(kernel, stream, grid_x, threads, call) \
  (void)stream;                                                    \
  shim::launch({grid_x}, {threads}, 0, false, [&] { kernel(call); })

// What a device must do for CudaBackend: memory, copies, and the operations of the seam on memory
// of its own. A table of plain functions, because it crosses from one shared object to another: the
// plug-in libadapvae_cuda.so has one made by nvcc, the tests have one that runs the same kernels on
// the CPU.
//
// Every int is 0 or an error number for text(). Operations and copies are queued in order; finish()
// waits for all of them. Pointers in calls are the device's; strides and sizes are as on the host.
#pragma once

#include "compute/kernels.h"

namespace adapvae {

// Goes up with every change of this file or of the structs of kernels.h: a plug-in of another
// number is not used.
constexpr std::uint32_t kDeviceVersion = 2;

// heads [rows × 2·dims] = mean | log-variance; noise may be null. See Backend::sample_latent.
struct SampleCall {
  std::ptrdiff_t rows, dims;
  const float* heads;
  std::ptrdiff_t heads_row;
  const float* noise;
  std::ptrdiff_t noise_row;
  float log_variance_min, log_variance_max;
  float* z;
  std::ptrdiff_t z_row;
  float* variance;
  std::ptrdiff_t variance_row;
};

// See Backend::latent_gradient. noise may be null.
struct LatentGradientCall {
  std::ptrdiff_t rows, dims;
  const float* heads;
  std::ptrdiff_t heads_row;
  const float* noise;
  std::ptrdiff_t noise_row;
  const float* variance;
  std::ptrdiff_t variance_row;
  const float* dz;
  std::ptrdiff_t dz_row;
  const float* pull;
  std::ptrdiff_t pull_row;
  const float* precision;
  std::ptrdiff_t precision_row;
  float log_variance_min, log_variance_max;
  float weight;
  float* dheads;
  std::ptrdiff_t dheads_row;
};

struct ColumnSumsCall {
  std::ptrdiff_t rows, cols;
  const float* x;
  std::ptrdiff_t x_row;
  float* out;  // [cols]
};

struct SoftmaxCall {
  std::ptrdiff_t rows, cols;
  const float* in;
  std::ptrdiff_t in_row;
  const float* offset;  // [cols] or null
  float scale;
  float* out;  // may be in
  std::ptrdiff_t out_row;
  float* log_sum;  // [rows] or null
};

struct SquaredNormCall {
  std::ptrdiff_t count;
  const float* x;
  double* partial;  // [kNormBlocks] scratch
  double* out;      // [1]
};
constexpr std::ptrdiff_t kNormBlocks = 64;

struct DeviceTable {
  std::uint32_t version;
  // Null if a device can be used, else why not. Static storage, like all text here.
  const char* (*unavailable)();
  const char* (*text)(int error);
  // Whether the error says that there is not enough memory.
  int (*is_memory_error)(int error);

  int (*open)(void** device);
  void (*close)(void* device);
  const char* (*name)(void* device);

  int (*allocate)(void* device, std::size_t bytes, void** memory);
  void (*release)(void* device, void* memory);
  // Page-locked memory of the host, which copies need.
  int (*allocate_host)(void* device, std::size_t bytes, void** memory);
  void (*release_host)(void* device, void* memory);
  int (*copy_in)(void* device, void* to_device, const void* from_host, std::size_t bytes);
  int (*copy_out)(void* device, void* to_host, const void* from_device, std::size_t bytes);
  int (*finish)(void* device);

  // As in KernelTable, but whole; `depth` of a product and scratch memory of distances and moments
  // are not used. DivideCall::weight is [rows × clusters].
  int (*gemm)(void* device, const GemmCall* call);
  int (*column_sums)(void* device, const ColumnSumsCall* call);
  int (*reconstruct)(void* device, const ReconstructCall* call);
  int (*sample_latent)(void* device, const SampleCall* call);
  int (*latent_gradient)(void* device, const LatentGradientCall* call);
  int (*mahalanobis)(void* device, const MahalanobisCall* call);
  int (*mahalanobis_pull)(void* device, const MahalanobisCall* call);
  int (*softmax_rows)(void* device, const SoftmaxCall* call);
  int (*divide_rows)(void* device, const DivideCall* call);
  int (*weighted_moments)(void* device, const MomentsCall* call);
  int (*squared_norm)(void* device, const SquaredNormCall* call);
  int (*adam)(void* device, const AdamCall* call);
};

}  // namespace adapvae

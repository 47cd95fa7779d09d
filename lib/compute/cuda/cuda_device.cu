// The plug-in libadapvae_cuda.so: a DeviceTable over the CUDA runtime (linked statically) and,
// where it can be loaded, cuBLAS. One stream; device 0 of those that CUDA_VISIBLE_DEVICES leaves.
#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "compute/cuda/device.h"

namespace adapvae {
namespace {

#define ADAPVAE_KERNEL __global__ void
#define ADAPVAE_DEVICE __device__ __forceinline__
#define ADAPVAE_SHARED(type, name, n) __shared__ type name[n]
#define ADAPVAE_SHARED_BYTES(name) extern __shared__ float name[]
#define ADAPVAE_BARRIER() __syncthreads()
#define ADAPVAE_LAUNCH(kernel, stream, grid_x, grid_y, threads_x, threads_y, shared_bytes, call) \
  kernel<<<dim3(grid_x, grid_y), dim3(threads_x, threads_y), shared_bytes, stream>>>(call)
#define ADAPVAE_LAUNCH_FREE(kernel, stream, grid_x, threads, call) \
  kernel<<<grid_x, threads, 0, stream>>>(call)
using Stream = cudaStream_t;

#include "compute/cuda/device_kernels.h"

// ---- cuBLAS, found at run time ------------------------------------------------------------------

struct Blas {
  void* library = nullptr;
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&cublasSgemm_v2) sgemm = nullptr;
};

#define ADAPVAE_TEXT_(x) #x
#define ADAPVAE_TEXT(x) ADAPVAE_TEXT_(x)

template <typename Function>
bool find(void* library, const char* name, Function* to) {
  *to = reinterpret_cast<Function>(dlsym(library, name));
  return *to != nullptr;
}

// Never unloaded: CUDA libraries do not like to be.
bool load_blas(Blas* blas) {
  blas->library = dlopen("libcublas.so." ADAPVAE_TEXT(CUBLAS_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);
  return blas->library != nullptr && find(blas->library, "cublasCreate_v2", &blas->create) &&
         find(blas->library, "cublasDestroy_v2", &blas->destroy) &&
         find(blas->library, "cublasSetStream_v2", &blas->set_stream) &&
         find(blas->library, "cublasSetWorkspace_v2", &blas->set_workspace) &&
         find(blas->library, "cublasSgemm_v2", &blas->sgemm);
}

// With a workspace of its own cuBLAS allocates nothing later.
constexpr std::size_t kBlasWorkspace = std::size_t{8} << 20;
// Products of fewer multiply-adds than this take the time of their launches: one, by our kernel.
constexpr double kBlasProduct = 4e6;
// Error numbers of cuBLAS, apart from CUDA's.
constexpr int kBlasError = 100000;

struct CudaDevice {
  cudaStream_t stream = nullptr;
  Blas blas;
  cublasHandle_t handle = nullptr;  // null: no cuBLAS, all products by our kernel
  void* workspace = nullptr;
};

// Of device 0, the only one used: it outlives every CudaDevice.
char device_name[300];

CudaDevice& of(void* device) { return *static_cast<CudaDevice*>(device); }

// ---- the table ----------------------------------------------------------------------------------

const char* unavailable() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count > 0 ? nullptr : "no CUDA device";
  (void)cudaGetLastError();
  if (error == cudaErrorInsufficientDriver) {
    return "no CUDA driver, or one too old for this build";
  }
  return cudaGetErrorString(error);
}

const char* text(int error) {
  return error >= kBlasError ? "cuBLAS failed"
                             : cudaGetErrorString(static_cast<cudaError_t>(error));
}

int is_memory_error(int error) {
  return error == cudaErrorMemoryAllocation || error == kBlasError + CUBLAS_STATUS_ALLOC_FAILED;
}

void close(void* device) {
  CudaDevice& d = of(device);
  if (d.handle != nullptr) (void)d.blas.destroy(d.handle);
  if (d.workspace != nullptr) (void)cudaFree(d.workspace);
  if (d.stream != nullptr) (void)cudaStreamDestroy(d.stream);
  std::free(device);
}

cudaError_t open_parts(CudaDevice& d) {
  cudaError_t error = cudaStreamCreateWithFlags(&d.stream, cudaStreamNonBlocking);
  cudaDeviceProp properties;
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error != cudaSuccess) return error;
  std::snprintf(device_name, sizeof(device_name), "cuda: %s", properties.name);
  if (!load_blas(&d.blas)) return cudaSuccess;
  error = cudaMalloc(&d.workspace, kBlasWorkspace);
  if (error != cudaSuccess) return error;
  // Whatever keeps cuBLAS from starting, our own kernel does the products.
  if (d.blas.create(&d.handle) != CUBLAS_STATUS_SUCCESS) {
    d.handle = nullptr;
  } else if (d.blas.set_stream(d.handle, d.stream) != CUBLAS_STATUS_SUCCESS ||
             d.blas.set_workspace(d.handle, d.workspace, kBlasWorkspace) != CUBLAS_STATUS_SUCCESS) {
    (void)d.blas.destroy(d.handle);
    d.handle = nullptr;
  }
  return cudaSuccess;
}

int open(void** device) {
  auto* d = static_cast<CudaDevice*>(std::malloc(sizeof(CudaDevice)));
  if (d == nullptr) return cudaErrorMemoryAllocation;
  *d = CudaDevice();
  const cudaError_t error = open_parts(*d);
  if (error != cudaSuccess) {
    close(d);
    (void)cudaGetLastError();
    return error;
  }
  *device = d;
  return 0;
}

const char* name(void*) { return device_name; }

int allocate(void*, std::size_t bytes, void** memory) { return cudaMalloc(memory, bytes); }
void release(void*, void* memory) { (void)cudaFree(memory); }
int allocate_host(void*, std::size_t bytes, void** memory) { return cudaMallocHost(memory, bytes); }
void release_host(void*, void* memory) { (void)cudaFreeHost(memory); }
int copy_in(void* device, void* to, const void* from, std::size_t bytes) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, of(device).stream);
}
int copy_out(void* device, void* to, const void* from, std::size_t bytes) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, of(device).stream);
}
int finish(void* device) { return cudaStreamSynchronize(of(device).stream); }

// Row-major C = A·B is column-major Cᵀ = Bᵀ·Aᵀ; each of A and B lies one way or the other.
int blas_gemm(CudaDevice& d, const GemmCall& call) {
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto lies = [](std::ptrdiff_t col_step) {
    return col_step == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
  };
  const auto leading = [](std::ptrdiff_t row_step, std::ptrdiff_t col_step) {
    return static_cast<int>(col_step == 1 ? row_step : col_step);
  };
  const cublasStatus_t status =
      d.blas.sgemm(d.handle, lies(call.b_col), lies(call.a_col), static_cast<int>(call.n),
                   static_cast<int>(call.m), static_cast<int>(call.k), &one, call.b,
                   leading(call.b_row, call.b_col), call.a, leading(call.a_row, call.a_col), &zero,
                   call.c, static_cast<int>(call.c_row));
  if (status != CUBLAS_STATUS_SUCCESS) return kBlasError + status;
  launch_finish(d.stream, call);
  return cudaGetLastError();
}

int gemm(void* device, const GemmCall* call) {
  const double products =
      static_cast<double>(call->m) * static_cast<double>(call->n) * static_cast<double>(call->k);
  if (of(device).handle != nullptr && products >= kBlasProduct) {
    return blas_gemm(of(device), *call);
  }
  launch_gemm(of(device).stream, *call);
  return cudaGetLastError();
}

// An operation that is one launch function.
template <auto Launch, typename Call>
int run(void* device, const Call* call) {
  Launch(of(device).stream, *call);
  return cudaGetLastError();
}

constexpr DeviceTable kTable = {
    kDeviceVersion,
    unavailable,
    text,
    is_memory_error,
    open,
    close,
    name,
    allocate,
    release,
    allocate_host,
    release_host,
    copy_in,
    copy_out,
    finish,
    gemm,
    run<launch_column_sums, ColumnSumsCall>,
    run<launch_reconstruct, ReconstructCall>,
    run<launch_sample, SampleCall>,
    run<launch_latent_gradient, LatentGradientCall>,
    run<launch_mahalanobis, MahalanobisCall>,
    run<launch_pull, MahalanobisCall>,
    run<launch_softmax, SoftmaxCall>,
    run<launch_divide, DivideCall>,
    run<launch_moments, MomentsCall>,
    run<launch_squared_norm, SquaredNormCall>,
    run<launch_adam, AdamCall>,
};

}  // namespace
}  // namespace adapvae

// The plug-in's one exported name.
extern "C" __attribute__((visibility("default"))) const adapvae::DeviceTable*
adapvae_cuda_device_table() {
  return &adapvae::kTable;
}

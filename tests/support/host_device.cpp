#include "support/host_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/kernel_shim.h"
#include "support/test_backends.h"
#if defined(ADAPVAE_CUDA)
#include "compute/cuda/plugin.h"
#endif

namespace adapvae {
namespace {

using shim::blockDim;
using shim::blockIdx;
using shim::gridDim;
using shim::threadIdx;
struct Stream {};

#include "compute/cuda/device_kernels.h"

using testing::DeviceCall;
using testing::DeviceCounts;

constexpr int kFault = 1;
constexpr int kMemoryFault = 2;

DeviceCounts counts;
DeviceCall fault_kind = DeviceCall::kCount;
std::uint64_t fault_in = 0;
bool broken = false;

// 0, or an error if this call is to fail.
int count(DeviceCall kind) {
  ++counts.of[static_cast<int>(kind)];
  if (kind == fault_kind && fault_in > 0 && --fault_in == 0) broken = true;
  if (!broken) return 0;
  return kind == DeviceCall::kAllocate || kind == DeviceCall::kAllocateHost ? kMemoryFault : kFault;
}

const char* unavailable() { return nullptr; }
const char* text(int error) {
  return error == kMemoryFault ? "out of memory (made up)" : "the device is gone (made up)";
}
int is_memory_error(int error) { return error == kMemoryFault; }
int open(void** device) {
  const int error = count(DeviceCall::kOpen);
  static int anything = 0;
  if (error == 0) *device = &anything;
  return error;
}
void close(void*) {}
const char* name(void*) { return "cuda: host"; }

// Memory starts as NaN: what was never sent shows.
int take(DeviceCall kind, std::size_t bytes, void** memory) {
  const int error = count(kind);
  if (error != 0) return error;
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*memory, 0xFF, bytes);
  ++counts.open_blocks;
  return 0;
}
int allocate(void*, std::size_t bytes, void** memory) {
  return take(DeviceCall::kAllocate, bytes, memory);
}
int allocate_host(void*, std::size_t bytes, void** memory) {
  return take(DeviceCall::kAllocateHost, bytes, memory);
}
void release(void*, void* memory) {
  std::free(memory);
  --counts.open_blocks;
}
int copy_in(void*, void* to, const void* from, std::size_t bytes) {
  const int error = count(DeviceCall::kCopyIn);
  counts.bytes_in += bytes;
  if (error == 0) std::memcpy(to, from, bytes);
  return error;
}
int copy_out(void*, void* to, const void* from, std::size_t bytes) {
  const int error = count(DeviceCall::kCopyOut);
  counts.bytes_out += bytes;
  if (error == 0) std::memcpy(to, from, bytes);
  return error;
}
int finish(void*) { return count(DeviceCall::kFinish); }

template <auto Launch, typename Call>
int run(void*, const Call* call) {
  const int error = count(DeviceCall::kLaunch);
  if (error != 0) return error;
  Launch(Stream(), *call);
  return shim::launch_refused() ? kFault : 0;
}

// Large products are made as with cuBLAS: the bare product, then the kernel that finishes it.
void two_part_gemm(Stream stream, const GemmCall& call) {
  constexpr Index kOnePart = 64 * 64 * 64;
  if (call.m * call.n * call.k < kOnePart) {
    launch_gemm(stream, call);
    return;
  }
  GemmCall bare = call;
  bare.bias = nullptr;
  bare.activation = Activation::kLinear;
  bare.gate = nullptr;
  launch_gemm(stream, bare);
  launch_finish(stream, call);
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
    release,
    copy_in,
    copy_out,
    finish,
    run<two_part_gemm, GemmCall>,
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

namespace testing {

const DeviceTable& host_device() { return kTable; }
bool is_host_device(const DeviceTable& table) { return &table == &kTable; }

const DeviceTable& device_under_test() {
  const char* wanted = std::getenv("ADAPVAE_TEST_DEVICE");
  if (wanted == nullptr || std::strcmp(wanted, "cuda") != 0) return kTable;
  const char* reason = "this build has no CUDA: configure with the preset cuda";
#if defined(ADAPVAE_CUDA)
  if (cuda_plugin().table != nullptr) return *cuda_plugin().table;
  reason = cuda_plugin().reason;
#endif
  std::fprintf(stderr, "skipped, no CUDA: %s\n", reason);
  std::exit(kNoDevice);
}

DeviceCounts& device_counts() { return counts; }
void fail_device_at(DeviceCall kind, std::uint64_t number) {
  fault_kind = kind;
  fault_in = number;
  broken = false;
}

}  // namespace testing
}  // namespace adapvae

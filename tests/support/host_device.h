// A device that is the CPU: the kernels of lib/compute/cuda/device_kernels.h under the shim, memory
// of its own, and faults on demand.
#pragma once

#include "compute/cuda/device.h"

namespace adapvae::testing {

const DeviceTable& host_device();

// What the tests run against: the host device or, with ADAPVAE_TEST_DEVICE=cuda in the environment,
// the plug-in's. Ends the program with kNoDevice and says why if that cannot be had.
const DeviceTable& device_under_test();
bool is_host_device(const DeviceTable& table);
inline constexpr int kNoDevice = 77;  // ctest: skipped

// Of the host device.
enum class DeviceCall : int {
  kOpen,
  kAllocate,
  kAllocateHost,
  kCopyIn,
  kCopyOut,
  kLaunch,
  kFinish,
  kCount
};
struct DeviceCounts {
  std::uint64_t of[static_cast<int>(DeviceCall::kCount)] = {};
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::int64_t open_blocks = 0;  // allocated and not released
};
DeviceCounts& device_counts();
// The call of that kind and number (from 1, counted from now) fails, and all that follow; 0: none
// does.
void fail_device_at(DeviceCall kind, std::uint64_t number);

}  // namespace adapvae::testing

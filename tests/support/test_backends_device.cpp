#include <cstdlib>

#include "compute/cuda/cuda_backend.h"
#include "support/host_device.h"
#include "support/test_backends.h"

namespace adapvae {
namespace {

// Tiles of the device's product kernel; the rest only tells the tests which shapes to try.
constexpr KernelTable sizes() {
  KernelTable table = {};
  table.name = "device";
  table.tile_rows = 32;
  table.tile_cols = 32;
  table.depth_block = 96;
  table.row_block = 64;
  return table;
}
constexpr KernelTable kSizes = sizes();

// One for all tests, with room for the largest of them: nothing is kept, all goes through staging.
CudaBackend& device_backend() {
  static CudaBackend backend;
  if (!backend.is_open()) {
    constexpr std::size_t kMostOperands = std::size_t{32} << 20;
    const Status status =
        backend.open(testing::device_under_test(),
                     {.limits = {.rows = 4096, .widest_layer = 512, .dims = 64, .clusters = 512},
                      .kept = {},
                      .more_bytes = kMostOperands});
    if (!status.ok()) std::abort();
  }
  return backend;
}

}  // namespace

struct TestBackend::Inner {
  CudaBackend& device = device_backend();
  PoisonedMemory no_scratch{0};
  std::unique_ptr<PoisonedBackend> poisoned;
};

TestBackend::TestBackend(const KernelTable&, const ComputeLimits&, bool poisoned)
    : inner_(std::make_unique<Inner>()) {
  if (poisoned) {
    inner_->poisoned = std::make_unique<PoisonedBackend>(inner_->device, inner_->no_scratch);
  }
}
TestBackend::~TestBackend() = default;

Backend& TestBackend::operator*() {
  return inner_->poisoned ? static_cast<Backend&>(*inner_->poisoned) : inner_->device;
}
const char* TestBackend::name() const {
  return inner_->poisoned ? inner_->poisoned->name() : inner_->device.name();
}
const char* TestBackend::level() const { return inner_->device.name(); }
void TestBackend::set_parallel_for(ParallelFor) {}
bool TestBackend::memory_intact() const { return inner_->device.status().ok(); }

std::vector<const KernelTable*> test_kernels() { return {&kSizes}; }
bool products_keep_bits() { return testing::is_host_device(testing::device_under_test()); }
std::vector<const KernelTable*> task_kernels() { return {}; }

}  // namespace adapvae

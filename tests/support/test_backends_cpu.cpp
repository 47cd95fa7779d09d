#include "compute/cpu_backend.h"
#include "compute/isa.h"
#include "support/test_backends.h"

namespace adapvae {
namespace {

std::size_t backend_bytes(const KernelTable& kernels, const ComputeLimits& limits) {
  return planned_bytes([&](Arena& arena) { CpuBackend().place(arena, limits, kernels); });
}

}  // namespace

struct TestBackend::Inner {
  Inner(const KernelTable& kernels, const ComputeLimits& limits)
      : memory(backend_bytes(kernels, limits)) {}
  CpuBackend cpu;
  PoisonedMemory memory;
  bool as_planned = false;
  std::unique_ptr<PoisonedBackend> poisoned;
};

TestBackend::TestBackend(const KernelTable& kernels, const ComputeLimits& limits, bool poisoned)
    : inner_(std::make_unique<Inner>(kernels, limits)) {
  Arena arena(inner_->memory.data(), inner_->memory.size());
  inner_->cpu.place(arena, limits, kernels);
  inner_->as_planned = !arena.failed() && arena.used() == inner_->memory.size();
  if (poisoned) {
    inner_->poisoned = std::make_unique<PoisonedBackend>(inner_->cpu, inner_->memory);
  }
}
TestBackend::~TestBackend() = default;

Backend& TestBackend::operator*() {
  return inner_->poisoned ? static_cast<Backend&>(*inner_->poisoned) : inner_->cpu;
}
const char* TestBackend::name() const {
  return inner_->poisoned ? inner_->poisoned->name() : inner_->cpu.name();
}
const char* TestBackend::level() const { return inner_->cpu.name(); }
void TestBackend::set_parallel_for(ParallelFor parallel_for) {
  inner_->cpu.set_parallel_for(parallel_for);
}
bool TestBackend::memory_intact() const {
  return inner_->as_planned && inner_->memory.end_intact();
}

std::vector<const KernelTable*> test_kernels() {
  std::vector<const KernelTable*> tables;
  for (int i = 1; i < kIsaLevelCount; ++i) {
    const KernelTable* kernels = select_kernels(static_cast<IsaLevel>(i));
    if (kernels != nullptr) tables.push_back(kernels);
  }
#if defined(ADAPVAE_TEST_WIDE16)
  if (select_kernels(IsaLevel::kAvx2) != nullptr) tables.push_back(kernels_wide16());
#endif
  return tables;
}

bool products_keep_bits() { return true; }
std::vector<const KernelTable*> task_kernels() { return test_kernels(); }

}  // namespace adapvae

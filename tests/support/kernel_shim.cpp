#include "support/kernel_shim.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <ucontext.h>

#include "support/test_backends.h"
#if defined(ADAPVAE_TEST_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace adapvae::shim {
namespace {

constexpr std::size_t kStack = 64 << 10;
constexpr unsigned kMostThreads = 1024;
constexpr std::size_t kMostShared = 48 << 10;

// A place to go on at, for __builtin_setjmp: many times faster than swapcontext.
using Place = void* [5];

// Lives as long as the program and runs one thread of a kernel after the other.
struct Fiber {
  Place place = {};
  std::unique_ptr<std::byte[]> stack;
  Dim3 index;
  bool done = false;
};

// What runs now. Volatile: a compiler cannot see that a jump to another stack reads and writes
// them.
Place scheduler = {};
std::vector<std::unique_ptr<Fiber>> fibers;
Fiber* volatile current = nullptr;
const std::function<void()>* volatile kernel = nullptr;
float* volatile shared = nullptr;
bool refused = false;

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "kernel shim: %s\n", what);
  std::abort();
}

// The address sanitizer is told when stacks change.
void before_switch(void** fake, const void* bottom, std::size_t size) {
#if defined(ADAPVAE_TEST_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(fake, bottom, size);
#else
  (void)fake, (void)bottom, (void)size;
#endif
}
void after_switch(void* fake, const void** bottom, std::size_t* size) {
#if defined(ADAPVAE_TEST_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fake, bottom, size);
#else
  (void)fake, (void)bottom, (void)size;
#endif
}
const void* scheduler_stack = nullptr;
std::size_t scheduler_stack_size = 0;

// Callers must think that these change all registers, as they do in the end. The address sanitizer
// would clean the whole stack before every jump.
#if defined(__clang__)
#define ADAPVAE_OPAQUE __attribute__((noinline, no_sanitize("address")))
#else
#define ADAPVAE_OPAQUE __attribute__((noipa, no_sanitize("address")))
#endif
[[noreturn]] ADAPVAE_OPAQUE void jump(void** to) { __builtin_longjmp(to, 1); }
ADAPVAE_OPAQUE void leave(void** from, void** to) {
  if (__builtin_setjmp(from) == 0) jump(to);
}

void back_to_scheduler() {
  void* fake = nullptr;
  before_switch(&fake, scheduler_stack, scheduler_stack_size);
  leave(current->place, scheduler);
  after_switch(fake, &scheduler_stack, &scheduler_stack_size);
}

void fiber_main() {
  after_switch(nullptr, &scheduler_stack, &scheduler_stack_size);
  back_to_scheduler();  // made; the first kernel comes later
  for (;;) {
    (*kernel)();
    current->done = true;
    back_to_scheduler();
  }
}

// Enters the new stack once; from then on it is a place like any other.
ADAPVAE_OPAQUE void make_fiber(Fiber& fiber) {
  fiber.stack = std::make_unique<std::byte[]>(kStack);
  ucontext_t context = {};
  getcontext(&context);
  context.uc_stack.ss_sp = fiber.stack.get();
  context.uc_stack.ss_size = kStack;
  context.uc_link = nullptr;
  makecontext(&context, fiber_main, 0);
  current = &fiber;
  void* fake = nullptr;
  before_switch(&fake, fiber.stack.get(), kStack);
  if (__builtin_setjmp(scheduler) == 0) setcontext(&context);
  after_switch(fake, nullptr, nullptr);
  current = nullptr;
}

void resume(Fiber& fiber) {
  current = &fiber;
  threadIdx = fiber.index;
  void* fake = nullptr;
  before_switch(&fake, fiber.stack.get(), kStack);
  leave(scheduler, fiber.place);
  after_switch(fake, nullptr, nullptr);
  current = nullptr;
}

void run_block_with_barriers(unsigned threads) {
  for (unsigned t = 0; t < threads; ++t) {
    fibers[t]->index = {t % blockDim.x, t / blockDim.x};
    fibers[t]->done = false;
  }
  for (unsigned done = 0; done < threads;) {
    done = 0;
    for (unsigned t = 0; t < threads; ++t) {
      resume(*fibers[t]);
      done += fibers[t]->done;
    }
    // Threads that end early must not leave others at a barrier.
    if (done != 0 && done != threads) stop("not all threads of a block met a barrier");
  }
}

}  // namespace

void barrier() {
  if (current == nullptr) stop("a barrier in a kernel that was launched as free of them");
  back_to_scheduler();
}

float* shared_bytes() { return shared; }

bool launch_refused() {
  const bool was = refused;
  refused = false;
  return was;
}

void launch(Dim3 grid, Dim3 block, std::size_t shared_size, bool barriers,
            const std::function<void()>& body) {
  const unsigned threads = block.x * block.y;
  if (grid.x == 0 || grid.x > 2147483647U || grid.y == 0 || grid.y > 65535 || threads == 0 ||
      threads > kMostThreads || shared_size > kMostShared) {
    refused = true;
    return;
  }
  while (fibers.size() < threads && barriers) {
    fibers.push_back(std::make_unique<Fiber>());
    make_fiber(*fibers.back());
  }
  gridDim = grid;
  blockDim = block;
  kernel = &body;
  for (unsigned y = 0; y < grid.y; ++y) {
    for (unsigned x = 0; x < grid.x; ++x) {
      blockIdx = {x, y};
      const std::unique_ptr<float[]> memory(new float[shared_size / sizeof(float)]);
      shared = memory.get();
      for (std::size_t i = 0; i < shared_size / sizeof(float); ++i) shared[i] = NAN;
      if (barriers) {
        run_block_with_barriers(threads);
        continue;
      }
      for (unsigned t = 0; t < threads; ++t) {
        threadIdx = {t % block.x, t / block.x};
        body();
      }
    }
  }
  kernel = nullptr;
  shared = nullptr;
}

}  // namespace adapvae::shim

#include "tools/thread_pool.h"

namespace adapvae::tools {
namespace {

// Runs follow each other within microseconds while a network trains: wait a moment before
// sleeping.
constexpr int kSpins = 2000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

ThreadPool::ThreadPool(int workers) {
  for (int i = 1; i < workers; ++i) threads_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    ++generation_;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(void* context, std::ptrdiff_t count, Task task, void* argument) {
  auto& pool = *static_cast<ThreadPool*>(context);
  if (pool.threads_.empty()) {
    for (std::ptrdiff_t i = 0; i < count; ++i) task(argument, i);
    return;
  }
  {
    const std::lock_guard lock(pool.mutex_);
    pool.count_ = count;
    pool.task_ = task;
    pool.argument_ = argument;
    pool.next_ = 0;
    pool.busy_ = static_cast<int>(pool.threads_.size());
    ++pool.generation_;
  }
  pool.wake_.notify_all();
  pool.take_tasks();
  for (int spin = 0; pool.busy_.load() != 0; ++spin) {
    // On a busy machine the others may be waiting for this very core.
    spin < kSpins ? pause_briefly() : std::this_thread::yield();
  }
}

void ThreadPool::take_tasks() {
  for (std::ptrdiff_t i = next_++; i < count_; i = next_++) task_(argument_, i);
}

void ThreadPool::work() {
  std::uint64_t seen = 0;
  while (true) {
    for (int spin = 0; spin < kSpins && generation_.load() == seen; ++spin) pause_briefly();
    if (generation_.load() == seen) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return generation_.load() != seen; });
    }
    ++seen;
    if (stop_.load()) return;
    take_tasks();
    --busy_;
  }
}

}  // namespace adapvae::tools

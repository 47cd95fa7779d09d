// A small pool of threads for tools, benchmarks and tests. The library itself makes no threads; an
// application brings its own, for example these.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace adapvae::tools {

class ThreadPool {
 public:
  // workers >= 1 counts the calling thread: 1 makes no thread at all.
  explicit ThreadPool(int workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  using Task = void (*)(void* argument, std::ptrdiff_t index);
  // Calls task(argument, i) for i from 0 to count - 1 and returns when all are done. `pool` is a
  // ThreadPool; one run at a time. The core's ParallelFor is {&ThreadPool::run, &pool}.
  static void run(void* pool, std::ptrdiff_t count, Task task, void* argument);

 private:
  void work();
  void take_tasks();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_{0};  // number of the current run
  std::atomic<std::ptrdiff_t> next_{0};
  std::atomic<int> busy_{0};  // threads that have not finished the current run
  std::atomic<bool> stop_{false};
  std::ptrdiff_t count_ = 0;
  Task task_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace adapvae::tools

// A small pool of threads behind the library's ParallelFor, for tools, benchmarks and tests. The
// library itself makes no threads; an application brings its own way, for example this one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "compute/backend.h"

namespace adapvae::tools {

class ThreadPool {
 public:
  // workers >= 1 counts the calling thread: 1 makes no thread at all.
  explicit ThreadPool(int workers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Valid while the pool lives; one run at a time.
  ParallelFor parallel_for() { return {&ThreadPool::run, this}; }

 private:
  static void run(void* context, Index count, ParallelFor::Task task, void* argument);
  void work();
  void take_tasks();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> generation_{0};  // number of the current run
  std::atomic<Index> next_{0};
  std::atomic<int> busy_{0};  // threads that have not finished the current run
  std::atomic<bool> stop_{false};
  Index count_ = 0;
  ParallelFor::Task task_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace adapvae::tools

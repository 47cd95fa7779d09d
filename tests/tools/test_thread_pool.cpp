// The pool runs every task exactly once, for any number of workers, run after run.
#include <vector>

#include <doctest/doctest.h>

#include "tools/thread_pool.h"

using namespace adapvae;

TEST_CASE("every task of every run is done once, and all before run returns") {
  for (const int workers : {1, 2, 5}) {
    CAPTURE(workers);
    tools::ThreadPool pool(workers);
    std::vector<int> done(64, 0);
    constexpr int kRuns = 500;
    for (int run = 1; run <= kRuns; ++run) {
      tools::ThreadPool::run(
          &pool, 64,
          [](void* argument, std::ptrdiff_t task) {
            ++(*static_cast<std::vector<int>*>(argument))[static_cast<std::size_t>(task)];
          },
          &done);
      int behind = 0;
      for (const int count : done) behind += count == run ? 0 : 1;
      REQUIRE(behind == 0);
    }
    tools::ThreadPool::run(
        &pool, 0, [](void*, std::ptrdiff_t) { FAIL("there is no task"); }, nullptr);
  }
}

// A thread, or where there are none (WebAssembly without them) a call in turn.
#pragma once

#include <thread>

namespace adapvae {

#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
class TestThread {
 public:
  template <typename Work>
  explicit TestThread(const Work& work) {
    work();
  }
  void join() {}
};
#else
using TestThread = std::thread;
#endif

}  // namespace adapvae

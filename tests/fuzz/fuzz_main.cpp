// One target for libFuzzer: FUZZ_TARGET is its name.
#include <cstdlib>

#include "fuzz_target.h"

namespace {
void print_accepted() { std::fprintf(stderr, "accepted: %ld\n", fuzz_accepted); }
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int kAtExit = std::atexit(print_accepted);
  (void)kAtExit;
  FUZZ_TARGET(data, size);
  return 0;
}

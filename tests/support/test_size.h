// How often a test repeats itself. Tests whose strength is repetition have a usual size, which
// still finds the fault that they are for, and a full one for `./run test full`. Under
// AddressSanitizer, which finds faults of memory whatever the numbers are, the usual size may be
// smaller.
#pragma once

#include <cstdlib>

#include "support/sanitizer.h"

namespace adapvae::testing {

inline bool full_size() {
  const char* text = std::getenv("ADAPVAE_TEST_FULL");
  return text != nullptr && text[0] == '1';
}

inline int repeats(int usual, int full) { return full_size() ? full : usual; }
inline int repeats(int usual, int full, int sanitized) {
  return repeats(kAddressSanitizer ? sanitized : usual, full);
}

}  // namespace adapvae::testing

// How often a test repeats itself. Tests whose strength is repetition have three sizes:
// - usual: still finds the fault that the test is for.
// - brief: for AddressSanitizer and emulators, which look at memory and instructions. Their faults
//   do not depend on repetition.
// - full: for `./run test full`.
// The environment variable ADAPVAE_TEST_SIZE chooses one. Default: brief under AddressSanitizer,
// else usual.
#pragma once

#include <cstdlib>
#include <string_view>

#include "support/sanitizer.h"

namespace adapvae::testing {

enum class TestSize { kBrief, kUsual, kFull };

inline TestSize test_size() {
  const char* text = std::getenv("ADAPVAE_TEST_SIZE");
  const std::string_view name = text != nullptr ? text : "";
  if (name == "full") return TestSize::kFull;
  if (name == "usual") return TestSize::kUsual;
  return name == "brief" || kAddressSanitizer ? TestSize::kBrief : TestSize::kUsual;
}

inline bool full_size() { return test_size() == TestSize::kFull; }
inline bool brief_size() { return test_size() == TestSize::kBrief; }

inline int repeats(int brief, int usual, int full) {
  return full_size() ? full : brief_size() ? brief : usual;
}

}  // namespace adapvae::testing

// One call that does with bytes, whatever they are, all that a user of TensorReader could do, and
// says whether its promises held: for mutation tests, and for a fuzzer's entry point.
#pragma once

#include <cstddef>
#include <span>

namespace adapvae::testing {

enum class FileVerdict {
  kRefused,      // by open()
  kBadChecksum,  // opened, verify_checksum() refused
  kGood,
  kBroken,  // a promise of the reader was broken: always a mistake in the library
};

FileVerdict check_one(std::span<const std::byte> bytes);

}  // namespace adapvae::testing

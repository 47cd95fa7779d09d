#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "base/crc64.h"

using namespace adapvae;

namespace {

// From the definition, bit by bit.
std::uint64_t slow_crc64(const std::uint8_t* data, std::size_t size) {
  std::uint64_t value = ~std::uint64_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    value ^= data[i];
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1u) != 0 ? 0xC96C5795D7870F42u : 0u);
    }
  }
  return ~value;
}

}  // namespace

TEST_CASE("CRC-64/XZ of the known text") {
  CHECK(crc64("123456789", 9) == 0x995DC9BBDF1939FAu);
  CHECK(crc64("", 0) == 0);
  CHECK(crc64(nullptr, 0) == 0);
}

TEST_CASE("CRC-64 is that of its definition at every length, alignment and cut") {
  std::vector<std::uint8_t> data(80);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 151 + 7);
  for (std::size_t start = 0; start < 9; ++start) {
    for (std::size_t size = 0; start + size <= data.size(); ++size) {
      const std::uint8_t* at = data.data() + start;
      const std::uint64_t want = slow_crc64(at, size);
      REQUIRE(crc64(at, size) == want);
      const std::size_t cut = size / 3;
      REQUIRE(crc64(at + cut, size - cut, crc64(at, cut)) == want);
    }
  }
}

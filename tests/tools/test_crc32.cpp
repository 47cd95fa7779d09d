#include <cstdint>
#include <cstring>

#include <doctest/doctest.h>

#include "tools/crc32.h"

using adapvae::tools::crc32;

namespace {

std::uint32_t crc32_of(const char* text) { return crc32(text, std::strlen(text)); }

}  // namespace

TEST_CASE("crc32 gives the known values") {
  CHECK(crc32_of("123456789") == 0xCBF43926u);
  CHECK(crc32_of("") == 0u);
  CHECK(crc32_of("a") == 0xE8B7BE43u);
  CHECK(crc32_of("The quick brown fox jumps over the lazy dog") == 0x414FA339u);
  CHECK(crc32(nullptr, 0) == 0u);
  CHECK(crc32(nullptr, 0, 0x12345678u) == 0x12345678u);
  const std::uint8_t zeros[32] = {};
  CHECK(crc32(zeros, 32) == 0x190A55ADu);
}

TEST_CASE("crc32 in parts is crc32 of the whole") {
  std::uint8_t data[61];
  for (std::size_t i = 0; i < sizeof(data); ++i) data[i] = static_cast<std::uint8_t>(i * 37 + 11);
  const std::uint32_t whole = crc32(data, sizeof(data));
  for (std::size_t split = 0; split <= sizeof(data); ++split) {
    CAPTURE(split);
    CHECK(crc32(data + split, sizeof(data) - split, crc32(data, split)) == whole);
  }
  std::uint32_t running = 0;
  for (const std::uint8_t& byte : data) running = crc32(&byte, 1, running);
  CHECK(running == whole);
}

TEST_CASE("crc32 notices every single flipped bit") {
  std::uint8_t data[40] = {};
  for (std::size_t i = 0; i < sizeof(data); ++i) data[i] = static_cast<std::uint8_t>(i * i);
  const std::uint32_t whole = crc32(data, sizeof(data));
  for (std::size_t bit = 0; bit < 8 * sizeof(data); ++bit) {
    data[bit / 8] = static_cast<std::uint8_t>(data[bit / 8] ^ (1u << (bit % 8)));
    CHECK(crc32(data, sizeof(data)) != whole);
    data[bit / 8] = static_cast<std::uint8_t>(data[bit / 8] ^ (1u << (bit % 8)));
  }
}

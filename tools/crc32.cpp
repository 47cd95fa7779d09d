#include "tools/crc32.h"

namespace adapvae::tools {

namespace {

struct CrcTable {
  std::uint32_t entry[256];
};

// 0x04C11DB7 with its bits reversed, because the low bit goes first.
constexpr std::uint32_t kCrcPolynomial = 0xEDB88320u;

// One kilobyte. Slicing tables would
// be faster, but four to sixteen times the size.
constexpr CrcTable make_crc_table() {
  CrcTable table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) {
      value = (value >> 1) ^ ((value & 1u) != 0 ? kCrcPolynomial : 0u);
    }
    table.entry[byte] = value;
  }
  return table;
}

constexpr CrcTable kCrcTable = make_crc_table();

}  // namespace

std::uint32_t crc32(const void* data, std::size_t size, std::uint32_t crc) {
  const std::uint8_t* byte = static_cast<const std::uint8_t*>(data);
  // The running register is the inverse of the result, at the start and at the end; so the inverse
  // of a previous result is its register, and a sum can be continued.
  std::uint32_t value = ~crc;
  for (std::size_t i = 0; i < size; ++i) {
    value = (value >> 8) ^ kCrcTable.entry[(value ^ byte[i]) & 0xFFu];
  }
  return ~value;
}

}  // namespace adapvae::tools

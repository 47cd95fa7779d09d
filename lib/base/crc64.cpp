#include "base/crc64.h"

#include <utility>

namespace adapvae {

namespace {

// 0x42F0E1EBA9EA3693 (ECMA-182) with its bits reversed, because the low bit goes first.
constexpr std::uint64_t kPolynomial = 0xC96C5795D7870F42u;

#if defined(ADAPVAE_SMALL_CODE)
constexpr int kNibblesAtOnce = 2;
#else
constexpr int kNibblesAtOnce = 16;
#endif

// entry[i][v]: the register that nibble v leaves behind when kNibblesAtOnce − i nibbles' worth of
// shifts, its own included, have been made. With sixteen, two kilobytes: no more than one table
// over whole bytes, and the look-ups for eight bytes do not wait for each other as byte-by-byte
// steps do.
struct NibbleTable {
  std::uint64_t entry[kNibblesAtOnce][16];
};

constexpr NibbleTable make_table() {
  NibbleTable table{};
  for (std::uint64_t nibble = 0; nibble < 16; ++nibble) {
    std::uint64_t value = nibble;
    for (int i = kNibblesAtOnce - 1; i >= 0; --i) {
      for (int bit = 0; bit < 4; ++bit) {
        value = (value >> 1) ^ ((value & 1u) != 0 ? kPolynomial : 0u);
      }
      table.entry[i][nibble] = value;
    }
  }
  return table;
}

constexpr NibbleTable kTable = make_table();

#if !defined(ADAPVAE_SMALL_CODE)
std::uint64_t load_little_endian(const std::uint8_t* source) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(source[i]) << (8 * i);
  return value;
}

// Written out by the compiler: as a loop gcc leaves it rolled up, at a third of the speed.
template <std::size_t... kNibble>
std::uint64_t look_up(std::uint64_t word, std::index_sequence<kNibble...> /*nibbles*/) {
  return (kTable.entry[kNibble][(word >> (4 * kNibble)) & 15u] ^ ...);
}
#endif

}  // namespace

std::uint64_t crc64(const void* data, std::size_t size, std::uint64_t crc) {
  const std::uint8_t* byte = static_cast<const std::uint8_t*>(data);
  std::uint64_t value = ~crc;  // the inverse of a result is its register
#if !defined(ADAPVAE_SMALL_CODE)
  for (; size >= 8; size -= 8, byte += 8) {
    value = look_up(value ^ load_little_endian(byte), std::make_index_sequence<kNibblesAtOnce>());
  }
#endif
  for (; size > 0; --size, ++byte) {
    const std::uint64_t low = value ^ *byte;
    value = (value >> 8) ^ kTable.entry[kNibblesAtOnce - 2][low & 15u] ^
            kTable.entry[kNibblesAtOnce - 1][(low >> 4) & 15u];
  }
  return ~value;
}

}  // namespace adapvae

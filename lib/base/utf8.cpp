#include "base/utf8.h"

namespace adapvae {

std::size_t utf8_size(const char* text, std::size_t size) {
  const auto byte_at = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte_at(0);
  if (first < 0x80) return 1;
  const std::size_t need = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || size < need) return 0;
  for (std::size_t i = 1; i < need; ++i) {
    if ((byte_at(i) & 0xC0u) != 0x80u) return 0;  // not a continuation
  }
  const std::uint8_t second = byte_at(1);
  if (first == 0xE0 && second < 0xA0) return 0;  // overlong
  if (first == 0xED && second > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && second < 0x90) return 0;  // overlong
  if (first == 0xF4 && second > 0x8F) return 0;  // beyond U+10FFFF
  return need;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = utf8_size(text.data(), text.size());
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace adapvae

#include "cli/plain_text.h"

#include <cstdio>

namespace adapvae::cli {
namespace {

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return 1;
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text, at + i)) return 0;
  }
  const auto second = static_cast<unsigned char>(text[at + 1]);
  // Too long a form, a surrogate, or beyond the last character.
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return bytes;
}

char32_t character_code(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7FU >> character.size());
  for (const char c : character.substr(1)) {
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return code;
}

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code <= 0x9F); }

bool is_unsafe(char32_t code) {
  // Separators of lines and paragraphs; embeddings, overrides and isolates of direction, with which
  // text is shown in another order than it is in.
  return is_control(code) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = character_bytes(text, at);
    const std::string_view character = text.substr(at, bytes == 0 ? 1 : bytes);
    const char32_t code =
        bytes == 0 ? static_cast<unsigned char>(text[at]) : character_code(character);
    char escape[16];
    if (bytes == 0 || is_unsafe(code)) {
      std::snprintf(escape, sizeof escape, bytes <= 1 ? "\\x%02x" : "\\u%04x",
                    static_cast<unsigned>(code));
      out += escape;
    } else {
      out += character;
    }
    at += character.size();
  }
  return out;
}

}  // namespace adapvae::cli

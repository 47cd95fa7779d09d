#include "base/text_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/decimal.h"

namespace adapvae {

TextWriter& TextWriter::operator<<(std::string_view text) {
  const bool fits = written_ == needed_ && text.size() < capacity_ - std::min(capacity_, written_);
  needed_ += text.size();
  if (!fits) return *this;
  std::copy(text.begin(), text.end(), out_ + written_);
  written_ += text.size();
  return *this;
}

TextWriter& TextWriter::operator<<(std::uint64_t number) {
  char digits[24];
  const char* end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  return *this << std::string_view(digits, static_cast<std::size_t>(end - digits));
}

TextWriter& TextWriter::operator<<(double number) {
  char digits[kDecimalBytes];
  return *this << std::string_view(digits, format_rounded(number, 4, digits));
}

TextWriter& TextWriter::exact(double number) {
  if (!std::isfinite(number)) return *this << "null";
  char digits[kDecimalBytes];
  return *this << std::string_view(digits, format_shortest(number, digits));
}

TextWriter& TextWriter::rounded(double number, int count) {
  if (!std::isfinite(number)) return *this << "null";
  char digits[kDecimalBytes];
  return *this << std::string_view(digits, format_rounded(number, count, digits));
}

TextWriter& TextWriter::quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  *this << "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      const char escape[] = {'\\', c};
      *this << std::string_view(escape, 2);
    } else if (byte < 0x20) {
      const char escape[] = {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
      *this << std::string_view(escape, 6);
    } else {
      *this << std::string_view(&c, 1);
    }
  }
  return *this << "\"";
}

std::string_view TextWriter::finish() {
  if (capacity_ == 0) return {};
  out_[written_] = '\0';
  return {out_, written_};
}

}  // namespace adapvae

#include "model/json_text.h"

#include <cstring>

namespace adapvae {

namespace {

std::uint8_t byte_at(const char* text, std::size_t i) { return static_cast<std::uint8_t>(text[i]); }

std::size_t write_utf8(std::uint32_t code, char* out) {
  const auto continuation = [code](int shift) {
    return static_cast<char>(0x80u | ((code >> shift) & 0x3Fu));
  };
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0u | (code >> 6));
    out[1] = continuation(0);
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0u | (code >> 12));
    out[1] = continuation(6);
    out[2] = continuation(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0u | (code >> 18));
  out[1] = continuation(12);
  out[2] = continuation(6);
  out[3] = continuation(0);
  return 4;
}

// Four hex digits, or a negative number.
std::int32_t hex4(const char* text, std::size_t size) {
  if (size < 4) return -1;
  std::int32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const char c = text[i];
    std::int32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;
    }
    value = value * 16 + digit;
  }
  return value;
}

constexpr char kEscaped[] = "\"\\/bfnrt";
constexpr char kPlain[] = "\"\\/\b\f\n\r\t";

// One character of a string's inside.
struct Character {
  std::size_t taken = 0;  // bytes of the text; 0: it is wrong
  std::size_t size = 0;   // bytes of utf8
  char utf8[4] = {};
  const char* mistake = nullptr;
};

constexpr const char* kBadEscape = "header: an escape that JSON does not have";
constexpr const char* kBadSurrogate = "header: half of a surrogate pair";

Character wrong(const char* mistake) {
  Character c;
  c.mistake = mistake;
  return c;
}

// text: after the backslash and the u.
Character decode_unicode_escape(const char* text, std::size_t size) {
  const std::int32_t first = hex4(text, size);
  if (first < 0) return wrong(kBadEscape);
  std::uint32_t code = static_cast<std::uint32_t>(first);
  Character c;
  c.taken = 6;
  if (code >= 0xDC00 && code <= 0xDFFF) return wrong(kBadSurrogate);
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (size < 10 || text[4] != '\\' || text[5] != 'u') return wrong(kBadSurrogate);
    const std::int32_t second = hex4(text + 6, 4);
    if (second < 0xDC00 || second > 0xDFFF) return wrong(kBadSurrogate);
    code = 0x10000u + ((code - 0xD800u) << 10) + (static_cast<std::uint32_t>(second) - 0xDC00u);
    c.taken = 12;
  }
  c.size = write_utf8(code, c.utf8);
  return c;
}

// size > 0, and text does not start with the closing quote.
Character decode(const char* text, std::size_t size) {
  if (byte_at(text, 0) < 0x20) return wrong("header: a control character in a string");
  Character c;
  if (text[0] != '\\') {
    c.taken = c.size = utf8_size(text, size);
    if (c.taken == 0) return wrong("header: not UTF-8");
    std::memcpy(c.utf8, text, c.size);
    return c;
  }
  if (size < 2) return wrong("header: a string without an end");
  if (text[1] == 'u') return decode_unicode_escape(text + 2, size - 2);
  const char* which = text[1] != '\0' ? std::strchr(kEscaped, text[1]) : nullptr;
  if (which == nullptr) return wrong(kBadEscape);
  c.taken = 2;
  c.size = 1;
  c.utf8[0] = kPlain[which - kEscaped];
  return c;
}

// FNV-1a: only to tell most different names apart quickly, equality is always looked at.
constexpr std::uint32_t kHashStart = 2166136261u;

std::uint32_t hash_step(std::uint32_t hash, const char* text, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ byte_at(text, i)) * 16777619u;
  return hash;
}

}  // namespace

std::uint32_t text_hash(std::string_view plain) {
  return hash_step(kHashStart, plain.data(), plain.size());
}

void write_json_string(ByteWriter& writer, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  writer.write_u8('"');
  for (const char c : text) {
    const std::uint8_t byte = static_cast<std::uint8_t>(c);
    const char* which = c != '\0' && c != '/' ? std::strchr(kPlain, c) : nullptr;
    if (which != nullptr) {
      writer.write_u8('\\');
      writer.write_u8(static_cast<std::uint8_t>(kEscaped[which - kPlain]));
    } else if (byte < 0x20) {
      writer.write_bytes("\\u00", 4);
      writer.write_u8(static_cast<std::uint8_t>(kDigits[byte >> 4]));
      writer.write_u8(static_cast<std::uint8_t>(kDigits[byte & 15u]));
    } else {
      writer.write_u8(byte);
    }
  }
  writer.write_u8('"');
}

void write_json_number(ByteWriter& writer, std::uint64_t value) {
  char digit[20];
  std::size_t first = sizeof(digit);
  do {
    digit[--first] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  writer.write_bytes(digit + first, sizeof(digit) - first);
}

bool JsonString::equals(std::string_view plain) const {
  if (plain.size() != plain_size) return false;
  std::size_t matched = 0;
  for (std::size_t i = 0; i < size;) {
    const Character c = decode(text + i, size - i);
    if (std::memcmp(c.utf8, plain.data() + matched, c.size) != 0) return false;
    matched += c.size;
    i += c.taken;
  }
  return true;
}

bool JsonString::equals(const JsonString& other) const {
  if (hash != other.hash || plain_size != other.plain_size) return false;
  for (std::size_t i = 0, j = 0; i < size;) {
    const Character a = decode(text + i, size - i);
    const Character b = decode(other.text + j, other.size - j);
    if (a.size != b.size || std::memcmp(a.utf8, b.utf8, a.size) != 0) return false;
    i += a.taken;
    j += b.taken;
  }
  return true;
}

std::size_t JsonString::copy(char* out, std::size_t capacity) const {
  std::size_t written = 0;
  for (std::size_t i = 0; i < size;) {
    const Character c = decode(text + i, size - i);
    if (c.size > capacity - written) break;
    std::memcpy(out + written, c.utf8, c.size);
    written += c.size;
    i += c.taken;
  }
  return written;
}

void JsonCursor::fail(Message message, std::size_t position, StatusCode code) {
  if (ok()) status_ = Status(code, message, static_cast<std::ptrdiff_t>(origin_ + position));
}

void JsonCursor::skip_space() {
  while (position_ < size_) {
    const char c = text_[position_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    ++position_;
  }
}

bool JsonCursor::take(char c) {
  if (!ok()) return false;
  skip_space();
  if (position_ >= size_ || text_[position_] != c) return false;
  ++position_;
  return true;
}

void JsonCursor::expect(char c, Message message) {
  if (!take(c)) fail(message, position_);
}

JsonString JsonCursor::string() {
  expect('"', "header: a string must stand here");
  if (!ok()) return {};
  JsonString found;
  found.text = text_ + position_;
  found.hash = kHashStart;
  while (position_ < size_) {
    if (text_[position_] == '"') {
      found.size = position_ - position_of(found);
      ++position_;
      return found;
    }
    const Character c = decode(text_ + position_, size_ - position_);
    if (c.taken == 0) {
      fail(c.mistake, position_);
      return {};
    }
    found.hash = hash_step(found.hash, c.utf8, c.size);
    found.plain_size += c.size;
    position_ += c.taken;
  }
  fail("header: a string without an end", position_);
  return {};
}

std::uint64_t JsonCursor::number() {
  if (!ok()) return 0;
  skip_space();
  const std::size_t start = position_;
  std::uint64_t value = 0;
  while (position_ < size_ && text_[position_] >= '0' && text_[position_] <= '9') {
    const std::uint64_t digit = static_cast<std::uint64_t>(text_[position_] - '0');
    if (value > (static_cast<std::uint64_t>(INT64_MAX) - digit) / 10) {
      fail("header: a number that is too large", start);
      return 0;
    }
    value = value * 10 + digit;
    ++position_;
  }
  if (position_ == start) fail("header: a whole number, 0 or more, must stand here", start);
  if (position_ - start > 1 && text_[start] == '0') {
    fail("header: a number with a leading zero", start);
  }
  return ok() ? value : 0;
}

void JsonCursor::expect_padding() {
  for (; ok() && position_ < size_; ++position_) {
    if (text_[position_] != ' ') fail("header: something after its end", position_);
  }
}

}  // namespace adapvae

// The little JSON that the header of a tensor file needs: strings, plain numbers and single
// characters, read strictly and without recursion or memory of its own. Not a JSON library: what
// may stand where is the business of tensor_reader.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"

namespace adapvae {

// A string with its quotes; text must be UTF-8. Quotes, backslashes and control characters are
// escaped, everything else stands as it is.
void write_json_string(ByteWriter& writer, std::string_view text);
void write_json_number(ByteWriter& writer, std::uint64_t value);

// A string in JSON text, found to be right by JsonCursor::string(), still escaped.
struct JsonString {
  const char* text = nullptr;  // after the opening quote
  std::size_t size = 0;        // up to the closing quote
  std::size_t plain_size = 0;  // unescaped
  std::uint32_t hash = 0;      // of the unescaped bytes

  bool equals(std::string_view plain) const;
  bool equals(const JsonString& other) const;
  // Unescapes up to `capacity` bytes, never a part of a character; the number written.
  std::size_t copy(char* out, std::size_t capacity) const;
};

// The hash of JsonString, of plain text.
std::uint32_t text_hash(std::string_view plain);

// Walks through JSON text from front to back. Sticky: after the first mistake everything fails, and
// status() says what was wrong and at which byte, counted from `origin` before the text.
class JsonCursor {
 public:
  JsonCursor(const char* text, std::size_t size, std::size_t origin)
      : text_(text), size_(size), origin_(origin) {}

  // White space is skipped before each of these.
  bool take(char c);  // false, and not a mistake, if something else comes
  void expect(char c, Message message);
  JsonString string();
  // 0 … 2⁶³ − 1: digits alone, no sign, fraction, exponent or leading zero.
  std::uint64_t number();
  // Nothing but spaces may follow.
  void expect_padding();

  // Notes a mistake at `position`, unless there has been one.
  void fail(Message message, std::size_t position, StatusCode code = StatusCode::kCorruptData);

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  std::size_t position() const { return position_; }  // in the text, origin not included
  std::size_t position_of(const JsonString& string) const {
    return static_cast<std::size_t>(string.text - text_);
  }

 private:
  void skip_space();

  const char* text_;
  std::size_t size_;
  std::size_t origin_;
  std::size_t position_ = 0;
  Status status_;
};

}  // namespace adapvae

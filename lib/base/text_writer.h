// Text into memory of a fixed size: counts what would be written and writes what fits. For people
// and for JSON; locales have no say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adapvae {

class TextWriter {
 public:
  // capacity counts the final zero; out may be null if it is 0.
  TextWriter(char* out, std::size_t capacity) : out_(out), capacity_(capacity) {}

  // A piece that does not fit is left out whole, and all after it: nothing ends within a character.
  TextWriter& operator<<(std::string_view text);
  TextWriter& operator<<(const char* text) { return *this << std::string_view(text); }
  TextWriter& operator<<(std::uint64_t number);
  TextWriter& operator<<(std::uint32_t number) { return *this << std::uint64_t{number}; }
  // To four digits: for people.
  TextWriter& operator<<(double number);
  // So that it reads back to the same; null if it is not finite, which JSON has no word for.
  TextWriter& exact(double number);
  // To so many digits; else likewise.
  TextWriter& rounded(double number, int digits);
  // In quotes, with the escapes of JSON. Bytes that are not ASCII go through as they are.
  TextWriter& quoted(std::string_view text);

  // Bytes that everything takes, the final zero included.
  std::size_t needed() const { return needed_ + 1; }
  bool complete() const { return needed() <= capacity_; }
  // What fitted, with a zero after it; empty if not even that fits.
  std::string_view finish();

 private:
  char* out_;
  std::size_t capacity_;
  std::size_t needed_ = 0;
  std::size_t written_ = 0;
};

}  // namespace adapvae

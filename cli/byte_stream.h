// Bytes of a file or a pipe, as they come: what has arrived is handed on at once, also if the other
// side is slow. A signal that asks the program to end (stop_requested) ends the stream, too.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adapvae::cli {

// Set by the signal handler.
extern std::atomic<bool> stop_requested;

class ByteStream {
 public:
  ByteStream() = default;
  ~ByteStream();
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // path "-": standard input.
  bool open(const std::string& path, std::string& error);
  // Up to `count` bytes that come next, without taking them; fewer only at the end.
  std::span<const char> peek(std::size_t count);
  // A line without its end, good until the next call; false: there is none, or error().
  bool line(std::string_view& text);
  // The same with the carriage return in front of the line's end, if there is one.
  bool raw_line(std::string_view& text);
  // All the rest; false: error().
  bool rest(std::vector<std::uint8_t>& bytes);
  const std::string& error() const { return error_; }
  const std::string& name() const { return name_; }
  // Part of a file that is read, 0 to 1; below 0: not known, because it is a pipe.
  double fraction() const;

 private:
  bool fill();  // more bytes; false: end or error

  int file_ = -1;
  bool ended_ = false;
  double size_ = 0.0;  // of a file; 0: not known
  double read_ = 0.0;
  std::string name_;
  std::string error_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
};

}  // namespace adapvae::cli

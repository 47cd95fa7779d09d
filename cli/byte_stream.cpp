#include "cli/byte_stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/memory_limit.h"
#include "cli/terminal.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;
// Of a file that must be read as a whole: its readers count in int.
constexpr std::size_t kLargestFile = (std::size_t{1} << 31) - 1;

}  // namespace

std::atomic<bool> stop_requested{false};

ByteStream::~ByteStream() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

bool ByteStream::open(const std::string& path, std::string& error) {
  name_ = path == "-" ? "standard input" : path;
  file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ >= 0) {
    struct stat found;
    if (::fstat(file_, &found) == 0 && S_ISREG(found.st_mode)) {
      size_ = static_cast<double>(found.st_size);
    }
    return true;
  }
  error = name_ + ": " + std::strerror(errno);
  return false;
}

bool ByteStream::fill() {
  if (ended_) return false;
  if (begin_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kPiece);
  ssize_t count = -1;
  do {
    if (stop_requested) count = 0;
    if (!stop_requested) count = ::read(file_, buffer_.data() + held, kPiece);
  } while (count < 0 && errno == EINTR);
  if (count < 0) error_ = name_ + ": " + std::strerror(errno);
  buffer_.resize(held + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  read_ += static_cast<double>(std::max<ssize_t>(count, 0));
  ended_ = count <= 0;
  return !ended_;
}

double ByteStream::fraction() const {
  if (!(size_ > 0.0)) return -1.0;
  return std::min(1.0, (read_ - static_cast<double>(buffer_.size() - begin_)) / size_);
}

std::span<const char> ByteStream::peek(std::size_t count) {
  while (buffer_.size() - begin_ < count && fill()) {
  }
  return {buffer_.data() + begin_, std::min(count, buffer_.size() - begin_)};
}

bool ByteStream::line(std::string_view& text) {
  if (!raw_line(text)) return false;
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return true;
}

bool ByteStream::raw_line(std::string_view& text) {
  std::size_t looked = 0;
  for (;;) {
    const char* begin = buffer_.data() + begin_;
    const std::size_t held = buffer_.size() - begin_;
    const void* end = held > looked ? std::memchr(begin + looked, '\n', held - looked) : nullptr;
    if (end != nullptr) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(end) - begin);
      text = {begin, size};
      begin_ += size + 1;
      break;
    }
    looked = held;
    if (held > longest_line()) {
      error_ = name_ + ": a line of more than " + short_bytes(static_cast<double>(longest_line())) +
               "; if this is text, a larger --max-memory allows longer lines";
      return false;
    }
    if (fill()) continue;
    // A stop in the middle of a line: the rest of it may still be on its way.
    if (!error_.empty() || stop_requested || buffer_.size() == begin_) return false;
    text = {buffer_.data() + begin_, buffer_.size() - begin_};
    begin_ = buffer_.size();
    break;
  }
  return true;
}

bool ByteStream::rest(std::vector<std::uint8_t>& bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(buffer_.data()) + begin_;
  bytes.assign(begin, begin + (buffer_.size() - begin_));
  begin_ = buffer_.size();
  const std::size_t most = std::min(kLargestFile, memory_limit);
  const auto refuse = [&] {
    error_ = most == kLargestFile ? name_ + ": larger than 2 GiB; give it in pieces"
             : size_ > 0.0        ? too_large(name_ + ":", size_)
                                  : too_large(name_ + ":");
    return false;
  };
  if (size_ > static_cast<double>(most)) return refuse();
  bytes.reserve(static_cast<std::size_t>(size_));
  while (fill()) {
    const auto* piece = reinterpret_cast<const std::uint8_t*>(buffer_.data());
    // Doubled, but not beyond the limit.
    if (bytes.capacity() < bytes.size() + buffer_.size()) {
      bytes.reserve(std::max(bytes.size() + buffer_.size(), std::min(2 * bytes.size(), most)));
    }
    bytes.insert(bytes.end(), piece, piece + buffer_.size());
    begin_ = buffer_.size();
    if (bytes.size() > most) return refuse();
  }
  if (stop_requested && error_.empty()) error_ = name_ + ": stopped while it was read";
  return error_.empty();
}

}  // namespace adapvae::cli

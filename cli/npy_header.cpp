#include "cli/npy_header.h"

#include <cstring>
#include <limits>
#include <string_view>

namespace adapvae::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicSize = 6;
constexpr std::size_t kLongestHeader = 65535;  // NumPy itself takes no more than 10,000
constexpr std::size_t kMostDimensions = 64;

// Reads the Python dictionary that the header is: three keys, each once, in any order.
class Dictionary {
 public:
  explicit Dictionary(std::string_view text) : text_(text) {}

  bool read(NpyHeader& header, std::string& error) {
    error_ = &error;
    bool descr = false;
    bool order = false;
    bool shape = false;
    if (!take('{')) return refuse("'{' is missing");
    while (!take('}')) {
      std::string_view key;
      if (!string(key)) return refuse("a key in quotes is missing");
      if (!take(':')) return refuse("':' is missing behind a key");
      bool* seen = key == "descr" ? &descr : key == "fortran_order" ? &order : &shape;
      if (seen == &shape && key != "shape") {
        return refuse("the key '" + std::string(key) + "' is not known");
      }
      if (*seen) return refuse("the key '" + std::string(key) + "' occurs twice");
      *seen = true;
      if (seen == &descr && !read_type(header)) return false;
      if (seen == &order && !truth(header.fortran_order)) {
        return refuse("'fortran_order' is neither True nor False");
      }
      if (seen == &shape && !read_shape(header)) return false;
      if (!take(',') && next() != '}') return refuse("',' is missing behind a value");
    }
    if (next() != '\0') return refuse("something follows the dictionary");
    if (!descr) return refuse("'descr' is missing");
    if (!order) return refuse("'fortran_order' is missing");
    return shape || refuse("'shape' is missing");
  }

 private:
  bool refuse(const std::string& what) {
    *error_ = "damaged NPY header: " + what;
    return false;
  }
  // The next character that is no blank; '\0' at the end. A '\0' of the text itself is none.
  char next() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr &&
           text_[at_] != '\0') {
      ++at_;
    }
    if (at_ >= text_.size()) return '\0';
    return text_[at_] == '\0' ? '\x01' : text_[at_];
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view expected) {
    next();
    if (text_.substr(at_, expected.size()) != expected) return false;
    at_ += expected.size();
    return true;
  }
  bool truth(bool& value) {
    value = word("True");
    return value || word("False");
  }
  // Without escapes: no key and no type has any.
  bool string(std::string_view& value) {
    const char quote = next();
    if (quote != '\'' && quote != '"') return false;
    const std::size_t begin = ++at_;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) return false;
    value = text_.substr(begin, end - begin);
    at_ = end + 1;
    return value.find('\\') == std::string_view::npos;
  }

  bool read_type(NpyHeader& header) {
    std::string_view type;
    if (next() == '[' || next() == '(') {
      *error_ = "an array of records; save one array of numpy.float32";
      return false;
    }
    if (!string(type)) return refuse("'descr' is not a type in quotes");
    const auto unknown = [&] {
      *error_ = "numbers of type '" + std::string(type.substr(0, 20)) +
                "' cannot be read; save numpy.float32";
      return false;
    };
    if (type.size() != 3) return unknown();
    header.kind = type[1];
    header.bytes = static_cast<std::size_t>(type[2] - '0');
    header.big_endian = type[0] == '>';
    const bool one = header.bytes == 1;
    const bool size = one || header.bytes == 2 || header.bytes == 4 || header.bytes == 8;
    const bool order = type[0] == '<' || type[0] == '>' || (one && type[0] == '|');
    if (!size || !order) return unknown();
    switch (header.kind) {
      case 'b':
        return one || unknown();
      case 'i':
      case 'u':
        return true;
      case 'f':
        return header.bytes >= 4 || unknown();
      default:
        return unknown();
    }
  }

  // A tuple: (), (2,) or (2, 3), with a comma behind the last or without.
  bool read_shape(NpyHeader& header) {
    if (!take('(')) return refuse("'shape' is not a tuple");
    bool comma = true;
    while (!take(')')) {
      if (!comma) return refuse("',' is missing in 'shape'");
      std::int64_t size = 0;
      std::size_t digits = 0;
      next();
      for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
        const int digit = text_[at_] - '0';
        if (size > (std::numeric_limits<std::int64_t>::max() - digit) / 10) {
          return refuse("a size in 'shape' is too large");
        }
        size = size * 10 + digit;
      }
      if (digits == 0) return refuse("'shape' does not consist of whole numbers");
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote them
      if (header.shape.size() == kMostDimensions) return refuse("'shape' has too many sizes");
      header.shape.push_back(size);
      comma = take(',');
    }
    return (header.shape.size() != 1 || comma) || refuse("'shape' is not a tuple");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string* error_ = nullptr;
};

}  // namespace

std::uint64_t NpyHeader::count() const {
  std::uint64_t product = 1;
  for (const std::int64_t size : shape) product *= static_cast<std::uint64_t>(size);
  return product;
}

bool read_npy_header(std::span<const std::uint8_t> file, NpyHeader& header, std::string& error) {
  const auto refuse = [&error](const std::string& what) {
    error = what;
    return false;
  };
  if (file.size() < kMagicSize || std::memcmp(file.data(), kMagic, kMagicSize) != 0) {
    return refuse("not an NPY file");
  }
  const std::string cut = "truncated: shorter than the header of an NPY file";
  if (file.size() < kMagicSize + 2) return refuse(cut);
  const int major = file[6];
  const int minor = file[7];
  if (major < 1 || major > 3 || minor != 0) {
    return refuse("NPY version " + std::to_string(major) + "." + std::to_string(minor) +
                  "; versions 1.0, 2.0 and 3.0 can be read");
  }
  const std::size_t digits = major == 1 ? 2 : 4;
  std::size_t length = 0;
  header.begin = kMagicSize + 2 + digits;
  if (file.size() < header.begin) return refuse(cut);
  for (std::size_t i = 0; i < digits; ++i) {
    length |= static_cast<std::size_t>(file[kMagicSize + 2 + i]) << (8 * i);
  }
  if (length > kLongestHeader) return refuse("damaged NPY header: longer than 64 KiB");
  if (length > file.size() - header.begin) return refuse(cut);
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + header.begin, length);
  header.begin += length;
  header.shape.clear();
  if (!Dictionary(text).read(header, error)) return false;
  // Zeros last: they must not hide sizes that overflow.
  std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) /
                       static_cast<std::uint64_t>(header.bytes);
  for (const std::int64_t size : header.shape) {
    if (size == 0) continue;
    most /= static_cast<std::uint64_t>(size);
    if (most == 0) return refuse("the NPY shape asks for more numbers than a file can hold");
  }
  return true;
}

}  // namespace adapvae::cli

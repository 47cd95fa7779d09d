// Reads IDX files (the format of MNIST) into memory, plain or gzipped.
//
// An IDX file is two zero bytes, the element type, the number of dimensions, one big-endian size
// per dimension and then the values, row-major. Whether it is gzipped is seen from its first bytes,
// not from its name. Every size is checked before it is used, and a file that holds too little, too
// much or something that does not match its checksum is refused as a whole.
//
// Not done here: writing, gzip files of more than one member, files of 2 GiB or more (packed or
// unpacked). Running out of memory ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace adapvae::tools {

enum class IdxElementType : std::uint8_t {
  kUnsignedByte = 0x08,
  kInt32 = 0x0C,
  kFloat32 = 0x0D,
};

struct IdxData {
  IdxElementType element_type = IdxElementType::kUnsignedByte;
  std::vector<std::int64_t> shape;  // 1 to 4 sizes, each at least 1
  // [rows() × row_size()], row-major, unscaled: bytes stay 0..255, a NaN stays a NaN. An int32
  // beyond ±2^24 is rounded to the nearest float.
  std::vector<float> values;

  // shape[0]: how many images or labels there are.
  std::int64_t rows() const;
  // The product of the other sizes; 1 for a file of labels.
  std::int64_t row_size() const;
};

// On failure gives nothing and sets error to one sentence that starts with the path; on success
// leaves error alone.
std::optional<IdxData> read_idx_file(const std::string& path, std::string& error);

// A file's elements as they are, not yet numbers: what is large is held once.
struct IdxElements {
  IdxElementType type = IdxElementType::kUnsignedByte;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;  // of the whole file, unpacked
  std::size_t begin = 0;            // of the elements in it
};
// Takes the bytes of a file, packed by gzip or not; all that they say of themselves is checked. One
// that needs more memory than `most` bytes, unpacked and as numbers, is refused.
std::optional<IdxElements> unpack_idx(std::vector<std::uint8_t> bytes, std::string& error,
                                      std::size_t most = SIZE_MAX);
// All of them as numbers.
std::vector<float> idx_values(const IdxElements& elements);

// The same for the bytes of such a file, plain or gzipped; the error names no path.
std::optional<IdxData> parse_idx(std::span<const std::uint8_t> bytes, std::string& error,
                                 std::size_t most = SIZE_MAX);

// Whether a file that begins with these kIdxStart bytes can be an IDX file, packed or not. Fewer
// bytes: it is as long as this.
constexpr std::size_t kIdxStart = 4;
bool may_be_idx(std::span<const std::uint8_t> start, std::string& error);

}  // namespace adapvae::tools

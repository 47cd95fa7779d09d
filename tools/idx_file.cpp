#include "tools/idx_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>

#include <stb/stb_image.h>  // its inflate; compiled in image_file.cpp

#include "tools/crc32.h"

namespace adapvae::tools {
namespace {

using Bytes = std::span<const std::uint8_t>;

// stb counts bytes in int, so this bounds packed and unpacked sizes alike.
constexpr std::size_t kLargestSize = std::numeric_limits<int>::max();

constexpr std::size_t kGzipHeaderSize = 10;
constexpr std::size_t kGzipTrailerSize = 8;  // CRC-32 and length of the payload
constexpr std::uint8_t kGzipDeflate = 8;
constexpr std::uint8_t kGzipHasHeaderCrc = 0x02;
constexpr std::uint8_t kGzipHasExtra = 0x04;
constexpr std::uint8_t kGzipHasName = 0x08;
constexpr std::uint8_t kGzipHasComment = 0x10;
constexpr std::uint8_t kGzipReservedFlags = 0xE0;
// Deflate's best case: 258 bytes from two bits.
constexpr std::size_t kLargestExpansion = 1032;

// Unpacked to see the header: no stored block of deflate is larger.
constexpr std::size_t kFirstBytes = 65536;

constexpr std::size_t kLargestDimensionCount = 4;

std::uint32_t read_big_endian_u32(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

bool is_gzip(Bytes bytes) { return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B; }

std::uint32_t read_little_endian(Bytes bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= std::uint32_t{bytes[at + i]} << (8 * i);
  return value;
}

// The position behind a zero-terminated string of the gzip header, or beyond the end.
std::size_t skip_string(Bytes bytes, std::size_t at) {
  while (at < bytes.size() && bytes[at] != 0) ++at;
  return at + 1;
}

// Where the deflate stream starts, or nothing with error set. `bytes` is the file without its
// trailer, so the header cannot reach into it.
std::optional<std::size_t> parse_gzip_header(Bytes bytes, std::string& error) {
  if (bytes.size() < kGzipHeaderSize) {
    error = "truncated gzip header";
    return std::nullopt;
  }
  const std::uint8_t flags = bytes[3];
  if (bytes[2] != kGzipDeflate || (flags & kGzipReservedFlags) != 0) {
    error = "not a gzip file that can be read: unknown method or flags";
    return std::nullopt;
  }
  std::size_t at = kGzipHeaderSize;
  if ((flags & kGzipHasExtra) != 0) {
    at += at + 2 <= bytes.size() ? 2 + read_little_endian(bytes, at, 2) : bytes.size();
  }
  if ((flags & kGzipHasName) != 0) at = skip_string(bytes, at);
  if ((flags & kGzipHasComment) != 0) at = skip_string(bytes, at);
  if ((flags & kGzipHasHeaderCrc) != 0) {
    at += 2;
    if (at <= bytes.size() &&
        read_little_endian(bytes, at - 2, 2) != (crc32(bytes.data(), at - 2) & 0xFFFFU)) {
      error = "damaged gzip header: its checksum does not match";
      return std::nullopt;
    }
  }
  if (at > bytes.size()) {
    error = "truncated gzip header";
    return std::nullopt;
  }
  return at;
}

// Bytes per element; 0 for a type that is not read here.
std::size_t element_size(std::uint8_t type) {
  switch (static_cast<IdxElementType>(type)) {
    case IdxElementType::kUnsignedByte:
      return 1;
    case IdxElementType::kInt32:
    case IdxElementType::kFloat32:
      return 4;
  }
  return 0;
}

// The first four bytes of an unpacked file.
bool check_start(Bytes bytes, std::string& error) {
  if (bytes.size() < kIdxStart) {
    error = "truncated: shorter than the header of an IDX file";
    return false;
  }
  if (bytes[0] != 0 || bytes[1] != 0) {
    error = "not an IDX file: it does not start with two zero bytes";
    return false;
  }
  if (element_size(bytes[2]) == 0) {
    error = "IDX element type " + std::to_string(bytes[2]) +
            " is not one of 8 (ubyte), 12 (int32), 13 (float32)";
    return false;
  }
  if (bytes[3] == 0 || bytes[3] > kLargestDimensionCount) {
    error = "IDX file of " + std::to_string(bytes[3]) + " dimensions; 1 to 4 can be read";
    return false;
  }
  return true;
}

// Header and size of an unpacked file, of which `bytes` are the first; data.bytes is left as it is.
bool read_header(Bytes bytes, std::size_t file_size, IdxElements& data, std::string& error) {
  if (!check_start(bytes, error)) return false;
  const std::size_t value_size = element_size(bytes[2]);
  const std::size_t dimension_count = bytes[3];
  const std::size_t header_size = 4 + 4 * dimension_count;
  if (bytes.size() < header_size) {
    error = "truncated: shorter than the header of an IDX file";
    return false;
  }

  data.type = static_cast<IdxElementType>(bytes[2]);
  data.begin = header_size;
  const std::size_t element_bytes = file_size - header_size;
  const std::size_t available = element_bytes / value_size;
  std::size_t count = 1;
  for (std::size_t i = 0; i < dimension_count; ++i) {
    const std::size_t size = read_big_endian_u32(&bytes[4 + 4 * i]);
    if (size == 0) {
      error = "empty: dimension " + std::to_string(i) + " of the IDX shape is zero";
      return false;
    }
    // Dividing instead of multiplying: the product of four sizes can overflow 64 bits.
    if (size > available / count) {
      error = "truncated, or a damaged shape: the IDX shape asks for more than the " +
              std::to_string(available) + " values that are there";
      return false;
    }
    count *= size;
    data.shape.push_back(static_cast<std::int64_t>(size));
  }
  if (element_bytes != count * value_size) {
    error = std::to_string(element_bytes - count * value_size) +
            " bytes too many after the last value of the IDX file";
    return false;
  }
  return true;
}

// The payload of a gzip file of one member, checked against its trailer.
std::optional<std::vector<std::uint8_t>> unpack_gzip(Bytes bytes, std::size_t most,
                                                     std::string& error) {
  if (bytes.size() < kGzipHeaderSize + kGzipTrailerSize) {
    error = "truncated gzip file";
    return std::nullopt;
  }
  const Bytes trailer = bytes.last(kGzipTrailerSize);
  const Bytes body = bytes.first(bytes.size() - kGzipTrailerSize);
  const std::optional<std::size_t> start = parse_gzip_header(body, error);
  if (!start) return std::nullopt;
  const Bytes packed = body.subspan(*start);

  const std::uint32_t expected_crc = read_little_endian(trailer, 0, 4);
  const std::size_t expected_size = read_little_endian(trailer, 4, 4);
  // A cut or damaged trailer gives an arbitrary size: ask for memory only if the stream could fill
  // it.
  if (expected_size == 0 || expected_size > kLargestSize ||
      expected_size / kLargestExpansion > packed.size()) {
    error = "truncated or damaged gzip file: the length in its trailer cannot be right";
    return std::nullopt;
  }
  if (expected_size > most) {
    error = "it unpacks to " + std::to_string(expected_size) + " bytes, more than the limit of " +
            std::to_string(most) + " (--max-memory)";
    return std::nullopt;
  }
  // The last eight bytes belong to the last member, and stb does not say where the first one ended.
  // Members that differ fail the checksum below; equal ones would pass, and this finds them.
  if (std::search(packed.begin(), packed.end(), trailer.begin(), trailer.end()) != packed.end()) {
    error = "the gzip file has more than one member or bytes after its end";
    return std::nullopt;
  }

  // Little data may unpack to much: its first bytes must be a header that announces as much.
  if (expected_size > kFirstBytes) {
    std::vector<std::uint8_t> first(kFirstBytes);
    IdxElements announced;
    stbi_zlib_decode_noheader_buffer(reinterpret_cast<char*>(first.data()),
                                     static_cast<int>(first.size()),
                                     reinterpret_cast<const char*>(packed.data()),
                                     static_cast<int>(packed.size() + kGzipTrailerSize));
    if (!read_header(first, expected_size, announced, error)) return std::nullopt;
  }
  std::vector<std::uint8_t> payload(expected_size);
  // The trailer goes along as slack: stb 2.27 gives up when fewer than 16 bits are left before it
  // has seen the end-of-block code, although that code may be shorter.
  const int unpacked_size = stbi_zlib_decode_noheader_buffer(
      reinterpret_cast<char*>(payload.data()), static_cast<int>(payload.size()),
      reinterpret_cast<const char*>(packed.data()),
      static_cast<int>(packed.size() + kGzipTrailerSize));
  if (unpacked_size < 0) {
    error = "truncated or damaged gzip file: it does not unpack to the length in its trailer";
    return std::nullopt;
  }
  if (static_cast<std::size_t>(unpacked_size) != payload.size()) {
    error = "truncated or damaged gzip file: it unpacks to " + std::to_string(unpacked_size) +
            " bytes, its trailer says " + std::to_string(payload.size());
    return std::nullopt;
  }
  if (crc32(payload.data(), payload.size()) != expected_crc) {
    error = "truncated or damaged gzip file: its checksum does not match";
    return std::nullopt;
  }
  return payload;
}

// Fills values, whose size is already right, from as many big-endian elements.
void decode_values(IdxElementType type, const std::uint8_t* source, std::vector<float>& values) {
  for (float& value : values) {
    switch (type) {
      case IdxElementType::kUnsignedByte:
        value = *source++;
        break;
      case IdxElementType::kInt32:
        value = static_cast<float>(static_cast<std::int32_t>(read_big_endian_u32(source)));
        source += 4;
        break;
      case IdxElementType::kFloat32:
        value = std::bit_cast<float>(read_big_endian_u32(source));
        source += 4;
        break;
    }
  }
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::optional<std::vector<std::uint8_t>> read_bytes(const std::string& path, std::string& error) {
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    error = "cannot be opened: " + std::generic_category().message(errno);
    return std::nullopt;
  }
  // In pieces, not by asking for the size first: that also works for a pipe.
  std::vector<std::uint8_t> bytes;
  std::array<std::uint8_t, 65536> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get())) {
    if (size > kLargestSize - bytes.size()) {
      error = "too large: files of 2 GiB or more are not read";
      return std::nullopt;
    }
    bytes.insert(bytes.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(size));
  }
  if (std::ferror(file.get()) != 0) {
    error = "cannot be read: " + std::generic_category().message(errno);
    return std::nullopt;
  }
  return bytes;
}

}  // namespace

std::int64_t IdxData::rows() const { return shape.empty() ? 0 : shape[0]; }

std::int64_t IdxData::row_size() const {
  if (shape.empty()) return 0;
  std::int64_t product = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) product *= shape[i];
  return product;
}

bool may_be_idx(std::span<const std::uint8_t> start, std::string& error) {
  return is_gzip(start) || check_start(start, error);
}

std::optional<IdxElements> unpack_idx(std::vector<std::uint8_t> bytes, std::string& error,
                                      std::size_t most) {
  if (bytes.size() > kLargestSize) {
    error = "too large: files of 2 GiB or more are not read";
    return std::nullopt;
  }
  IdxElements data;
  if (is_gzip(bytes)) {
    std::optional<std::vector<std::uint8_t>> payload = unpack_gzip(bytes, most, error);
    if (!payload) return std::nullopt;
    bytes = std::move(*payload);
  }
  if (!read_header(bytes, bytes.size(), data, error)) return std::nullopt;
  // Bytes can stay what they are; others become floats of the same size.
  const bool twice = data.type != IdxElementType::kUnsignedByte;
  if (bytes.size() > most / (twice ? 2 : 1)) {
    error = "it takes " + std::to_string(bytes.size() * (twice ? 2 : 1)) +
            " bytes of memory, more than the limit of " + std::to_string(most) + " (--max-memory)";
    return std::nullopt;
  }
  data.bytes = std::move(bytes);
  return data;
}

std::vector<float> idx_values(const IdxElements& elements) {
  std::size_t count = 1;
  for (const std::int64_t size : elements.shape) count *= static_cast<std::size_t>(size);
  std::vector<float> values(count);
  decode_values(elements.type, elements.bytes.data() + elements.begin, values);
  return values;
}

std::optional<IdxData> parse_idx(std::span<const std::uint8_t> bytes, std::string& error,
                                 std::size_t most) {
  std::optional<IdxElements> elements = unpack_idx({bytes.begin(), bytes.end()}, error, most);
  if (!elements) return std::nullopt;
  IdxData data;
  data.element_type = elements->type;
  data.shape = elements->shape;
  data.values = idx_values(*elements);
  return data;
}

std::optional<IdxData> read_idx_file(const std::string& path, std::string& error) {
  std::string reason;
  const std::optional<std::vector<std::uint8_t>> bytes = read_bytes(path, reason);
  std::optional<IdxData> data;
  if (bytes) data = parse_idx(*bytes, reason);
  if (!data) error = path + ": " + reason;
  return data;
}

}  // namespace adapvae::tools

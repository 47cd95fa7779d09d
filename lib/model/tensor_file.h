// A file of named tensors: the container of a model's snapshot, in the safetensors format, so that
// other tools can look into it (docs/format.md). Types shared by tensor_writer.h and
// tensor_reader.h; what the tensors mean is not known here.
//
//     | header length N: u64 | header: N bytes of JSON, padded by spaces | data, without holes |
//
// Numbers are little-endian on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace adapvae {

// The element types of safetensors that are whole bytes long.
enum class TensorType : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kU16,
  kI16,
  kF16,
  kBF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64,
};
inline constexpr int kTensorTypes = 15;

struct TensorTypeInfo {
  std::string_view name;     // in the header
  std::size_t element_size;  // bytes
};
const TensorTypeInfo& tensor_type_info(TensorType type);

// What the reader accepts, and so what the writer keeps to.
struct TensorFileLimits {
  static constexpr std::size_t kHeaderBytes = std::size_t{1} << 20;
  static constexpr std::size_t kNameBytes = 255;  // of a tensor's name or a key, unescaped
  static constexpr std::size_t kTensors = 1024;
  static constexpr std::size_t kMetadata = 1024;  // entries
  static constexpr int kDims = 4;
};

inline constexpr std::size_t kHeaderLengthBytes = 8;
inline constexpr std::string_view kMetadataName = "__metadata__";
// Metadata entry: 16 lower-case hex digits, CRC-64/XZ of the whole file with '0' for each of them.
inline constexpr std::string_view kChecksumKey = "adapvae.checksum";
inline constexpr std::size_t kChecksumDigits = 16;
void write_checksum_digits(std::uint64_t checksum, char* out);

// Bytes of a tensor of this shape; false if they do not fit 63 bits.
bool tensor_bytes(TensorType type, const std::uint64_t* shape, int dims, std::uint64_t* bytes);

// Copies elements from the machine's order of bytes into the file's or back: a plain copy on a
// little-endian machine, reverse_elements() on any other. No alignment is needed; the two pieces of
// memory must not overlap.
void copy_elements(void* destination, const void* source, std::size_t bytes,
                   std::size_t element_size);
void reverse_elements(void* destination, const void* source, std::size_t bytes,
                      std::size_t element_size);

}  // namespace adapvae

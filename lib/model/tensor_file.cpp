#include "model/tensor_file.h"

#include <bit>
#include <cstring>

namespace adapvae {

namespace {

// In the order of TensorType.
constexpr TensorTypeInfo kTypes[kTensorTypes] = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1},
    {"U16", 2},  {"I16", 2}, {"F16", 2}, {"BF16", 2},    {"U32", 4},
    {"I32", 4},  {"F32", 4}, {"U64", 8}, {"I64", 8},     {"F64", 8},
};

}  // namespace

const TensorTypeInfo& tensor_type_info(TensorType type) { return kTypes[static_cast<int>(type)]; }

void write_checksum_digits(std::uint64_t checksum, char* out) {
  for (std::size_t i = 0; i < kChecksumDigits; ++i) {
    out[i] = "0123456789abcdef"[(checksum >> (60 - 4 * i)) & 15u];
  }
}

bool tensor_bytes(TensorType type, const std::uint64_t* shape, int dims, std::uint64_t* bytes) {
  // A dimension of 0 makes the tensor empty, whatever the others are.
  for (int i = 0; i < dims; ++i) {
    if (shape[i] == 0) {
      *bytes = 0;
      return true;
    }
  }
  std::uint64_t product = tensor_type_info(type).element_size;
  for (int i = 0; i < dims; ++i) {
    if (shape[i] > static_cast<std::uint64_t>(INT64_MAX) / product) return false;
    product *= shape[i];
  }
  *bytes = product;
  return true;
}

void reverse_elements(void* destination, const void* source, std::size_t bytes,
                      std::size_t element_size) {
  const std::byte* from = static_cast<const std::byte*>(source);
  std::byte* to = static_cast<std::byte*>(destination);
  for (std::size_t start = 0; start + element_size <= bytes; start += element_size) {
    for (std::size_t i = 0; i < element_size; ++i) {
      to[start + i] = from[start + element_size - 1 - i];
    }
  }
}

void copy_elements(void* destination, const void* source, std::size_t bytes,
                   std::size_t element_size) {
  if (bytes == 0) return;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(destination, source, bytes);
  } else {
    reverse_elements(destination, source, bytes, element_size);
  }
}

}  // namespace adapvae

#include "base/bytes.h"

#include <cstring>

namespace adapvae {

namespace {

// Shifts instead of a copy of the object: right on either endianness and on any alignment, and
// compilers turn them into one load or store where that is the same.
template <typename Unsigned>
Unsigned load_little_endian(const std::uint8_t* source) {
  if (source == nullptr) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    value |= static_cast<std::uint64_t>(source[i]) << (8 * i);
  }
  return static_cast<Unsigned>(value);
}

template <typename Unsigned>
void store_little_endian(ByteWriter& writer, Unsigned value) {
  std::uint8_t byte[sizeof(Unsigned)];
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
    byte[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
  writer.write_bytes(byte, sizeof(Unsigned));
}

}  // namespace

// A null pointer with a size is a caller's mistake: it fails at once instead of being read.
ByteReader::ByteReader(const void* data, std::size_t size)
    : data_(static_cast<const std::uint8_t*>(data)),
      size_(data != nullptr ? size : 0),
      ok_(data != nullptr || size == 0) {}

std::uint8_t ByteReader::read_u8() { return load_little_endian<std::uint8_t>(view(1)); }
std::uint16_t ByteReader::read_u16() { return load_little_endian<std::uint16_t>(view(2)); }
std::uint32_t ByteReader::read_u32() { return load_little_endian<std::uint32_t>(view(4)); }
std::uint64_t ByteReader::read_u64() { return load_little_endian<std::uint64_t>(view(8)); }
float ByteReader::read_f32() { return __builtin_bit_cast(float, read_u32()); }
double ByteReader::read_f64() { return __builtin_bit_cast(double, read_u64()); }

void ByteReader::read_bytes(void* destination, std::size_t size) {
  const std::uint8_t* source = view(size);
  if (size == 0) return;  // memcpy must not see a null pointer, not even for no bytes
  if (source != nullptr) {
    std::memcpy(destination, source, size);
  } else {
    std::memset(destination, 0, size);
  }
}

const std::uint8_t* ByteReader::view(std::size_t size) {
  // Compared with what is left, not position + size with the end: that sum could wrap.
  if (size > remaining()) ok_ = false;
  if (!ok_) return nullptr;
  const std::size_t start = position_;
  position_ += size;
  return data_ + start;
}

// As in the reader: null with a size is a mistake and not a wish to count.
ByteWriter::ByteWriter(void* data, std::size_t size)
    : data_(static_cast<std::uint8_t*>(data)), size_(size), ok_(data != nullptr || size == 0) {}

void ByteWriter::write_u8(std::uint8_t value) { store_little_endian(*this, value); }
void ByteWriter::write_u16(std::uint16_t value) { store_little_endian(*this, value); }
void ByteWriter::write_u32(std::uint32_t value) { store_little_endian(*this, value); }
void ByteWriter::write_u64(std::uint64_t value) { store_little_endian(*this, value); }
void ByteWriter::write_f32(float value) { write_u32(__builtin_bit_cast(std::uint32_t, value)); }
void ByteWriter::write_f64(double value) { write_u64(__builtin_bit_cast(std::uint64_t, value)); }

void ByteWriter::write_bytes(const void* source, std::size_t size) {
  const std::size_t limit = data_ != nullptr ? size_ : SIZE_MAX;
  if (size > limit - position_) ok_ = false;
  if (!ok_) return;
  if (data_ != nullptr && size > 0) std::memcpy(data_ + position_, source, size);
  position_ += size;
}

}  // namespace adapvae

// Little-endian byte I/O with every access checked.
//
// Both classes are sticky: after the first access that does not fit, ok() is false, reads give
// zero and writes do nothing. So a parser can read a record and check once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adapvae {

class ByteReader {
 public:
  // data must stay alive. Null is allowed with size 0 only; with another size ok() starts false.
  ByteReader(const void* data, std::size_t size);

  std::uint8_t read_u8();
  std::uint16_t read_u16();
  std::uint32_t read_u32();
  std::uint64_t read_u64();
  float read_f32();
  double read_f64();
  // Copies `size` bytes; on failure the destination is zero-filled.
  void read_bytes(void* destination, std::size_t size);
  // A pointer to the next `size` bytes, which are skipped; null on failure.
  const std::uint8_t* view(std::size_t size);

  bool ok() const { return ok_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return size_ - position_; }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

class ByteWriter {
 public:
  // data may be null with size 0: then nothing is stored but position() still counts, which
  // answers "how large would it be"; ok() stays true while counting. Null with another size is a
  // mistake: ok() starts false.
  ByteWriter(void* data, std::size_t size);

  void write_u8(std::uint8_t value);
  void write_u16(std::uint16_t value);
  void write_u32(std::uint32_t value);
  void write_u64(std::uint64_t value);
  void write_f32(float value);
  void write_f64(double value);
  void write_bytes(const void* source, std::size_t size);

  bool ok() const { return ok_; }
  std::size_t position() const { return position_; }

 private:
  std::uint8_t* data_;
  std::size_t size_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace adapvae

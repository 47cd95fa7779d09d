#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "base/bytes.h"

using namespace adapvae;

namespace {

constexpr std::uint8_t kRecord[] = {
    0x01,                                            // u8
    0x34, 0x12,                                      // u16
    0xEF, 0xBE, 0xAD, 0xDE,                          // u32
    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // u64
    0x00, 0x00, 0xC0, 0xBF,                          // f32, -1.5
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x40,  // f64, 2.5
    0x61, 0x62, 0x63,                                // bytes
};

void write_record(ByteWriter& writer) {
  writer.write_u8(0x01);
  writer.write_u16(0x1234);
  writer.write_u32(0xDEADBEEFu);
  writer.write_u64(0x1122334455667788u);
  writer.write_f32(-1.5f);
  writer.write_f64(2.5);
  writer.write_bytes("abc", 3);
}

}  // namespace

TEST_CASE("the writer stores little-endian bytes") {
  std::uint8_t out[sizeof(kRecord)] = {};
  ByteWriter writer(out, sizeof(out));
  write_record(writer);
  CHECK(writer.ok());
  CHECK(writer.position() == sizeof(kRecord));
  CHECK(std::memcmp(out, kRecord, sizeof(kRecord)) == 0);
}

TEST_CASE("the reader reads them back, at any alignment") {
  for (std::size_t offset = 0; offset < 8; ++offset) {
    CAPTURE(offset);
    std::vector<std::uint8_t> shifted(offset + sizeof(kRecord));
    std::memcpy(shifted.data() + offset, kRecord, sizeof(kRecord));
    ByteReader reader(shifted.data() + offset, sizeof(kRecord));
    CHECK(reader.read_u8() == 0x01);
    CHECK(reader.read_u16() == 0x1234);
    CHECK(reader.read_u32() == 0xDEADBEEFu);
    CHECK(reader.read_u64() == 0x1122334455667788u);
    CHECK(reader.read_f32() == -1.5f);
    CHECK(reader.read_f64() == 2.5);
    CHECK(reader.remaining() == 3);
    char text[3];
    reader.read_bytes(text, 3);
    CHECK(std::memcmp(text, "abc", 3) == 0);
    CHECK(reader.ok());
    CHECK(reader.position() == sizeof(kRecord));
    CHECK(reader.remaining() == 0);
  }
}

TEST_CASE("floating-point bits survive a round trip") {
  const std::uint32_t single_bits[] = {0x00000000u, 0x80000000u, 0x00000001u, 0x7F7FFFFFu,
                                       0x7F800000u, 0xFF800000u, 0x7FC12345u};
  const std::uint64_t double_bits[] = {0x8000000000000000u, 0x0000000000000001u,
                                       0x7FEFFFFFFFFFFFFFu, 0xFFF0000000000000u,
                                       0x7FF8123456789ABCu};
  for (const std::uint32_t bits : single_bits) {
    std::uint8_t out[4];
    ByteWriter(out, 4).write_f32(std::bit_cast<float>(bits));
    CHECK(ByteReader(out, 4).read_u32() == bits);
    CHECK(std::bit_cast<std::uint32_t>(ByteReader(out, 4).read_f32()) == bits);
  }
  for (const std::uint64_t bits : double_bits) {
    std::uint8_t out[8];
    ByteWriter(out, 8).write_f64(std::bit_cast<double>(bits));
    CHECK(ByteReader(out, 8).read_u64() == bits);
    CHECK(std::bit_cast<std::uint64_t>(ByteReader(out, 8).read_f64()) == bits);
  }
}

TEST_CASE("a reader that ran out stays failed and gives zeros") {
  const std::uint8_t data[] = {1, 2, 3};
  ByteReader reader(data, 3);
  CHECK(reader.read_u16() == 0x0201);
  CHECK(reader.read_u32() == 0);
  CHECK_FALSE(reader.ok());
  // One byte is left and would fit, but the failure sticks and nothing moves.
  CHECK(reader.read_u8() == 0);
  CHECK(reader.read_u16() == 0);
  CHECK(reader.read_u64() == 0);
  CHECK(reader.read_f32() == 0.0f);
  CHECK(reader.read_f64() == 0.0);
  CHECK(reader.view(1) == nullptr);
  CHECK(reader.view(0) == nullptr);
  std::uint8_t destination[2] = {7, 7};
  reader.read_bytes(destination, 1);
  CHECK(destination[0] == 0);
  CHECK(destination[1] == 7);
  CHECK(reader.position() == 2);
  CHECK(reader.remaining() == 1);
  CHECK_FALSE(reader.ok());
}

TEST_CASE("read_bytes fills with zeros when it does not fit") {
  const std::uint8_t data[] = {1, 2, 3};
  ByteReader reader(data, 3);
  std::uint8_t destination[5] = {9, 9, 9, 9, 9};
  reader.read_bytes(destination, 4);
  CHECK_FALSE(reader.ok());
  for (int i = 0; i < 4; ++i) CHECK(destination[i] == 0);
  CHECK(destination[4] == 9);
}

TEST_CASE("every type fails exactly when a byte is missing") {
  std::uint8_t data[8] = {};
  const auto check_sizes = [&](std::size_t needed, auto read) {
    for (std::size_t size = 0; size <= 8; ++size) {
      ByteReader reader(data, size);
      read(reader);
      CAPTURE(needed);
      CAPTURE(size);
      CHECK(reader.ok() == (size >= needed));
      CHECK(reader.position() == (size >= needed ? needed : 0));
    }
  };
  check_sizes(1, [](ByteReader& r) { r.read_u8(); });
  check_sizes(2, [](ByteReader& r) { r.read_u16(); });
  check_sizes(4, [](ByteReader& r) { r.read_u32(); });
  check_sizes(8, [](ByteReader& r) { r.read_u64(); });
  check_sizes(4, [](ByteReader& r) { r.read_f32(); });
  check_sizes(8, [](ByteReader& r) { r.read_f64(); });
  check_sizes(5, [](ByteReader& r) { r.view(5); });
}

TEST_CASE("view skips and cannot be fooled by a size that wraps around") {
  const std::uint8_t data[] = {1, 2, 3, 4};
  ByteReader reader(data, 4);
  CHECK(reader.view(3) == data);
  CHECK(reader.position() == 3);
  CHECK(reader.view(0) == data + 3);
  CHECK(reader.view(SIZE_MAX) == nullptr);
  CHECK_FALSE(reader.ok());
  ByteReader again(data, 4);
  again.read_u8();
  CHECK(again.view(SIZE_MAX - 1) == nullptr);
  CHECK_FALSE(again.ok());
}

TEST_CASE("null with no bytes is empty; null with a size is an error") {
  ByteReader empty(nullptr, 0);
  empty.read_bytes(nullptr, 0);
  CHECK(empty.ok());
  CHECK(empty.remaining() == 0);
  CHECK(empty.read_u8() == 0);
  CHECK_FALSE(empty.ok());

  ByteReader broken(nullptr, 8);
  CHECK_FALSE(broken.ok());
  CHECK(broken.remaining() == 0);
  CHECK(broken.read_u32() == 0);

  ByteWriter writer(nullptr, 8);
  CHECK_FALSE(writer.ok());
  writer.write_u8(1);
  CHECK(writer.position() == 0);
}

TEST_CASE("a writer without memory counts what the real one stores") {
  ByteWriter counter(nullptr, 0);
  write_record(counter);
  counter.write_bytes(nullptr, 0);
  CHECK(counter.ok());
  CHECK(counter.position() == sizeof(kRecord));
  counter.write_bytes(kRecord, SIZE_MAX);
  CHECK_FALSE(counter.ok());
  CHECK(counter.position() == sizeof(kRecord));
}

TEST_CASE("a writer that ran out stays failed and writes nothing more") {
  for (std::size_t size = 0; size < sizeof(kRecord); ++size) {
    CAPTURE(size);
    std::vector<std::uint8_t> out(size + 16, 0xA5);
    ByteWriter writer(out.data(), size);
    write_record(writer);
    CHECK_FALSE(writer.ok());
    const std::size_t written = writer.position();
    CHECK(written <= size);
    CHECK(std::memcmp(out.data(), kRecord, written) == 0);
    bool rest_untouched = true;
    for (std::size_t i = written; i < out.size(); ++i) {
      rest_untouched = rest_untouched && out[i] == 0xA5;
    }
    CHECK(rest_untouched);
    writer.write_bytes(nullptr, 0);
    CHECK_FALSE(writer.ok());
  }
}

// A small tensor file with everything odd in it, for tests.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model/tensor_reader.h"
#include "model/tensor_writer.h"

namespace adapvae::testing {

using namespace std::string_literals;

using Bytes = std::vector<std::byte>;

inline const std::string kOddName = "quote\" back\\slash /\b\f\n\r\t\x01\x1f\x7f é 漢 😀"s;
inline const std::string kOddKey = "\0key\n"s;
inline const std::string kOddValue = "line 1\nline 2\t\"quoted\" \\ \0 end, ½ 𝄞"s;

// Numbers of every size of element, with an empty tensor and a single number among them.
struct Sample {
  std::vector<float> floats = {1.5F,   -0.0F, std::numeric_limits<float>::infinity(),
                               1e-42F, 3.0F,  -7.25F};
  std::vector<double> doubles = {0.1, -2.5e300, std::nan("")};
  std::uint64_t whole = 0xFEDCBA9876543210u;
  std::vector<std::uint8_t> bytes = {0, 1, 127, 128, 255};
  std::vector<std::uint16_t> shorts = {1, 0x8000, 65535};
  std::vector<TensorSource> tensors = {
      {"bytes", TensorType::kU8, 1, {5}, bytes.data()},
      {kOddName, TensorType::kF32, 3, {1, 2, 3}, floats.data()},
      {"empty", TensorType::kI64, 2, {0, 7}, nullptr},
      {"shorts", TensorType::kU16, 1, {3}, shorts.data()},
      {"doubles", TensorType::kF64, 1, {3}, doubles.data()},
      {"whole", TensorType::kU64, 0, {}, &whole},
  };
  std::vector<MetadataEntry> metadata = {{"k", "v"}, {kOddKey, kOddValue}, {"", ""}};

  Bytes write() const { return write(tensors, metadata); }
  static Bytes write(std::span<const TensorSource> tensors,
                     std::span<const MetadataEntry> metadata) {
    std::size_t size = 0;
    REQUIRE(tensor_file_size({tensors, metadata}, &size).ok());
    Bytes out(size + 64, std::byte{0xA5});
    std::size_t written = 0;
    REQUIRE(write_tensor_file({tensors, metadata}, out.data(), size, &written).ok());
    REQUIRE(written == size);
    for (std::size_t i = size; i < out.size(); ++i) REQUIRE(out[i] == std::byte{0xA5});
    out.resize(size);
    return out;
  }
};

struct Opened {
  explicit Opened(const Bytes& bytes) : status(reader.open(bytes.data(), bytes.size(), room)) {}
  std::string metadata(std::string_view key) const {
    char text[200];
    std::size_t length = 0;
    REQUIRE(reader.metadata(key, text, sizeof(text), &length).ok());
    return {text, length};
  }
  TensorView room[16];
  TensorReader reader;
  Status status;
};

// A file of this header and so many bytes of data.
inline Bytes file_of(std::string_view header, std::size_t data_bytes) {
  Bytes out(8 + header.size() + data_bytes);
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<std::byte>(header.size() >> (8 * i));
  std::memcpy(out.data() + 8, header.data(), header.size());
  return out;
}

}  // namespace adapvae::testing

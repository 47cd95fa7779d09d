// The bytes of a fuzz input, read as a program: choices, numbers and rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace fuzz {

using Bytes = std::vector<unsigned char>;

class Program {
 public:
  Program(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}
  bool done() const { return data_ == end_; }
  // 0 behind the end.
  uint8_t byte() { return done() ? uint8_t{0} : *data_++; }
  int32_t below(int32_t limit) { return byte() % limit; }
  uint32_t word() {
    const uint32_t low = byte();
    return low | static_cast<uint32_t>(byte()) << 8U;
  }
  size_t place(size_t limit) { return limit == 0 ? 0 : word() % limit; }
  uint64_t bits() {
    uint64_t out = 0;
    for (int i = 0; i < 8; ++i) out |= static_cast<uint64_t>(byte()) << (8 * i);
    return out;
  }
  // Mostly in [0, 1], in clumps; now and then something that is not.
  float number() {
    const uint8_t b = byte();
    switch (b) {
      case 255:
        return std::numeric_limits<float>::quiet_NaN();
      case 254:
        return std::numeric_limits<float>::infinity();
      case 253:
        return -1e30F;
      case 252:
        return 1e-40F;
      default:
        return static_cast<float>(b / 84) / 3.0F + static_cast<float>(b % 84) / 1000.0F;
    }
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

// The nearest float; beyond the largest it is infinite.
inline float to_float(double number) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isfinite(number) && std::fabs(number) > kLargest) {
    return std::copysign(std::numeric_limits<float>::infinity(),
                         static_cast<float>(number > 0) - 0.5F);
  }
  return static_cast<float>(number);
}

// Numbers at the ends of their range and at the bounds of docs/format.md, and their neighbours.
inline double extreme(Program& program) {
  constexpr double kNumbers[] = {0.0,
                                 4.9406564584124654e-324,
                                 2.2250738585072014e-308,
                                 1e-300,
                                 1e-100,
                                 1e-45,
                                 1.1754943508222875e-38,
                                 1e-30,
                                 1e-20,
                                 1e-12,
                                 1e-6,
                                 1e-3,
                                 0.5,
                                 1.0,
                                 1.5,
                                 2.0,
                                 3.0,
                                 10.0,
                                 64.0,
                                 1000.0,
                                 1e6,
                                 1e9,
                                 2e9,
                                 2147483647.0,
                                 2147483648.0,
                                 4294967280.0,
                                 4294967295.0,
                                 1e12,
                                 4503599627370495.0,
                                 4503599627370496.0,
                                 9007199254740992.0,
                                 9.3e18,
                                 1.6e19,
                                 1e25,
                                 1e30,
                                 3.4028234663852886e38,
                                 3.5e38,
                                 1e60,
                                 1e99,
                                 1e100,
                                 1e154,
                                 1.7976931348623157e308,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  double number = kNumbers[program.below(std::size(kNumbers))];
  const uint8_t change = program.byte();
  if ((change & 1U) != 0) number = -number;
  if ((change & 6U) == 2) number = std::nextafter(number, 1e308);
  if ((change & 6U) == 4) number = std::nextafter(number, 0.0);
  if ((change & 24U) == 8) number = static_cast<double>(std::nextafter(to_float(number), 1e38F));
  return number;
}

inline float extreme_float(Program& program) { return to_float(extreme(program)); }

inline uint64_t extreme_count(Program& program) {
  constexpr uint64_t kNumbers[] = {0,
                                   1,
                                   2,
                                   3,
                                   16,
                                   127,
                                   128,
                                   255,
                                   65535,
                                   65536,
                                   0x3FFFFFFF,
                                   0x40000000,
                                   0x7FFFFFFF,
                                   0x80000000,
                                   0xFFFFFFEF,
                                   0xFFFFFFF0,
                                   0xFFFFFFFF,
                                   0x100000000,
                                   (uint64_t{1} << 52) - 1,
                                   uint64_t{1} << 52,
                                   uint64_t{1} << 53,
                                   uint64_t{1} << 62,
                                   (uint64_t{1} << 63) - 1,
                                   uint64_t{1} << 63,
                                   ~uint64_t{0}};
  const uint64_t number = kNumbers[program.below(std::size(kNumbers))];
  switch (program.below(4)) {
    case 0:
      return number - 1;
    case 1:
      return number + 1;
    default:
      return number;
  }
}

// Rows of one of many shapes: clumps, constant, tiny, huge, one column that explodes.
inline std::vector<float> rows_of(Program& program, int32_t count, int32_t columns) {
  std::vector<float> rows(static_cast<size_t>(count) * static_cast<size_t>(columns));
  const uint8_t style = program.byte();
  uint64_t state = program.byte();
  const auto draw = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state >> 40U) / 16777216.0F;
  };
  const float level = style % 16 == 4 ? extreme_float(program) : 0.5F;
  for (int32_t i = 0; i < count; ++i) {
    const float clump = static_cast<float>(static_cast<int32_t>(3.0F * draw())) / 3.0F;
    for (int32_t j = 0; j < columns; ++j) {
      float& x =
          rows[static_cast<size_t>(i) * static_cast<size_t>(columns) + static_cast<size_t>(j)];
      const float usual = clump + 0.1F * draw();
      switch (style % 16) {
        case 0:
          x = program.number();
          break;
        case 1:
          x = 0.5F;
          break;
        case 2:
          x = 0.0F;
          break;
        case 3:
          x = extreme_float(program);
          break;
        case 4:
          x = level;
          break;
        case 5:
          x = usual * 1e30F;
          break;
        case 6:
          x = usual * 1e-30F;
          break;
        case 7:
          x = usual * 1e-40F;
          break;
        case 8:
          x = j == 0 ? std::ldexp(usual, i % 100) : usual;
          break;
        case 9:
          x = usual * 1e6F - 5e5F;
          break;
        case 10:
          x = static_cast<float>(i % 2);
          break;
        case 11:
          x = i == 0 ? 1e12F : usual;
          break;
        default:
          x = usual;
      }
    }
  }
  return rows;
}

}  // namespace fuzz

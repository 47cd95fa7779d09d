// Decimal text against the standard library's, which this build has.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/decimal.h"
#include "base/philox.h"

using namespace adapvae;

namespace {

std::string shortest(double value) {
  char out[kDecimalBytes];
  return {out, format_shortest(value, out)};
}

std::string standard(double value) {
  char out[400];
  return {out, std::to_chars(out, out + sizeof(out), value).ptr};
}

// Of all magnitudes, and of those that people use.
std::vector<double> numbers() {
  std::vector<double> out = {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             0.1,
                             0.001,
                             1e-8,
                             1e21,
                             1e22,
                             1e23,
                             123456,
                             0.3,
                             1e15,
                             1e16,
                             1e17,
                             5e-324,
                             1e-310,
                             2.5,
                             1e6,
                             9007199254740992.0,
                             9007199254740993.0,
                             1e300,
                             1e-5,
                             1e-4,
                             std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::min(),
                             std::numeric_limits<double>::epsilon()};
  Philox random({.seed = 5});
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t bits = (std::uint64_t{random.next_u32()} << 32) | random.next_u32();
    const auto value = std::bit_cast<double>(bits);
    if (std::isfinite(value)) out.push_back(value);
    out.push_back((static_cast<double>(random.next_u32()) - 2e9) / 1000.0);
    out.push_back(static_cast<double>(random.uniform_float()));
    out.push_back(std::bit_cast<double>(bits >> 12));  // below the normal ones
    // Of few digits and few places, up to and beyond where one division is exact.
    out.push_back(static_cast<double>(bits >> (10 + i % 50)) / std::pow(10.0, i % 26));
  }
  return out;
}

}  // namespace

TEST_CASE("shortest text is the standard library's, and reads back") {
  int longer = 0;
  for (const double value : numbers()) {
    const std::string text = shortest(value);
    CAPTURE(text);
    double back = -7.0;
    REQUIRE(parse_decimal(text, &back));
    REQUIRE(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
    // Beyond 2^53 the standard library fills up with digits, not zeros: as many.
    const std::string expected = standard(value);
    const bool same = std::fabs(value) < 9e15 ? text == expected : text.size() == expected.size();
    longer += same ? 0 : 1;
  }
  // But for powers of two, where the nearest of the shortest may lie on the other side.
  CHECK(longer <= 3);
  CHECK(shortest(std::nan("")) == "nan");
  CHECK(shortest(-INFINITY) == "-inf");
}

TEST_CASE("rounded text is that of %g") {
  for (const double value : numbers()) {
    for (const int digits : {1, 4, 6, 9, 17}) {
      char out[kDecimalBytes];
      char expected[64];
      std::snprintf(expected, sizeof(expected), "%.*g", digits, value);
      REQUIRE(std::string(out, format_rounded(value, digits, out)) == expected);
    }
  }
}

TEST_CASE("text is read as the standard library reads it") {
  Philox random({.seed = 6});
  const auto agree = [](const std::string& text) {
    double expected = 0.0;
    double found = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), expected);
    const bool good = error == std::errc() && end == text.data() + text.size();
    CAPTURE(text);
    REQUIRE(parse_decimal(text, &found) == good);
    if (good)
      REQUIRE(std::bit_cast<std::uint64_t>(found) == std::bit_cast<std::uint64_t>(expected));
  };
  for (const char* text : {"",
                           "-",
                           ".",
                           "-.",
                           "e5",
                           ".e5",
                           "1e",
                           "1e+",
                           "1e-",
                           "+1",
                           " 1",
                           "1 ",
                           "1.",
                           ".5",
                           "-.5",
                           "00012.500",
                           "0x10",
                           "1e5",
                           "1E+5",
                           "1e-05",
                           "1e400",
                           "1e-400",
                           "-1e400",
                           "1..2",
                           "1.2.3",
                           "1e5.5",
                           "0e999999999999",
                           "123456789012345678901234567890",
                           "0.1e1",
                           "1e308",
                           "1.8e308",
                           "2.4703282292062327e-324",
                           "2.4703282292062328e-324",
                           "4.9406564584124654e-324",
                           "2.2250738585072011e-308",
                           "9007199254740993",
                           "9007199254740993.0000000000000000000000001",
                           "0.000000000000000000000000000000000000000000000000001",
                           "1,5",
                           "1_000"}) {
    agree(text);
  }
  for (int i = 0; i < 30000; ++i) {
    std::string text = random.below(2) != 0 ? "-" : "";
    const std::uint32_t before = random.below(22);
    const std::uint32_t after = random.below(18);
    for (std::uint32_t j = 0; j < before; ++j) text += static_cast<char>('0' + random.below(10));
    if (after > 0) text += '.';
    for (std::uint32_t j = 0; j < after; ++j) text += static_cast<char>('0' + random.below(10));
    if (random.below(2) != 0) {
      text.append("e").append(std::to_string(static_cast<int>(random.below(660)) - 330));
    }
    agree(text);
  }
  double value = 3.0;
  CHECK_FALSE(parse_decimal("nan", &value));
  CHECK_FALSE(parse_decimal("inf", &value));
  CHECK(value == 3.0);
}

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "base/philox.h"

using namespace adapvae;

namespace {

// The chi-square value that a right generator exceeds once in a thousand times (Wilson-Hilferty).
double chi_square_bound(double degrees) {
  const double spread = 2.0 / (9.0 * degrees);
  return degrees * std::pow(1.0 - spread + 3.09 * std::sqrt(spread), 3.0);
}

// Chi-square of counts against equal probabilities.
double chi_square_uniform(const std::vector<int>& count) {
  double total = 0.0;
  for (const int value : count) total += value;
  const double expected = total / static_cast<double>(count.size());
  double sum = 0.0;
  for (const int value : count) sum += (value - expected) * (value - expected) / expected;
  return sum;
}

void check_words(Philox& random, const std::vector<std::uint32_t>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(random.next_u32() == expected[i]);
  }
}

}  // namespace

TEST_CASE("philox4x32 gives the known answers of Random123") {
  struct KnownAnswer {
    PhiloxBlock counter;
    std::uint32_t key0, key1;
    PhiloxBlock expected;
  };
  const KnownAnswer answers[] = {
      {{{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}}},
      {{{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}},
       0xffffffffu,
       0xffffffffu,
       {{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}}},
      {{{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}},
       0xa4093822u,
       0x299f31d0u,
       {{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}},
  };
  for (const KnownAnswer& answer : answers) {
    const PhiloxBlock block = philox4x32(answer.counter, answer.key0, answer.key1);
    for (int i = 0; i < 4; ++i) CHECK(block.word[i] == answer.expected.word[i]);
  }
}

// The values come from an independent implementation of the definition in philox.h. They are what
// "same seed, same numbers" means: a change here breaks every stored result.
TEST_CASE("Philox sequences are pinned") {
  Philox zero(RandomKey{});
  check_words(zero, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});

  Philox rows(
      RandomKey{.seed = 2024, .purpose = RandomPurpose::kInitialise, .stream = 0, .index = 5});
  check_words(rows, {0xeb2514ecu, 0xeb059ef2u, 0xc9250891u, 0x069bf775u, 0x185cd01au, 0x917c4db0u});

  Philox full(RandomKey{.seed = 0x0123456789abcdefu,
                        .purpose = RandomPurpose::kLatentNoise,
                        .stream = 7,
                        .epoch = 11,
                        .index = 13});
  check_words(full, {0x08adfd0bu, 0x5c4c1b95u, 0x318ce01bu, 0xba22ea7bu, 0x6cd30aa5u, 0x6decf35eu,
                     0xd38f47a2u, 0xffc3bdd1u, 0xd16c58f2u, 0xc0dfbed4u});
}

TEST_CASE("a key maps to the documented counter and cipher key") {
  const RandomKey key{.seed = 0xfedcba9876543210u,
                      .purpose = RandomPurpose::kCorruption,
                      .stream = 3,
                      .epoch = 2,
                      .index = 0xffffffffu};
  Philox random(key);
  for (std::uint32_t block_number = 0; block_number < 3; ++block_number) {
    const PhiloxBlock block = philox4x32({{block_number, 0xffffffffu, 2, 3}}, 0x76543210u,
                                         0xfedcba98u ^ (4u * 0x9E3779B9u));
    for (int i = 0; i < 4; ++i) CHECK(random.next_u32() == block.word[i]);
  }
}

TEST_CASE("every field of the key selects another sequence") {
  std::vector<RandomKey> keys{RandomKey{}};
  keys.push_back({.seed = 1});
  keys.push_back({.seed = std::uint64_t{1} << 32});
  for (std::uint32_t purpose = 1; purpose <= 5; ++purpose) {
    keys.push_back({.purpose = static_cast<RandomPurpose>(purpose)});
  }
  keys.push_back({.stream = 1});
  keys.push_back({.epoch = 1});
  keys.push_back({.index = 1});
  std::set<std::uint64_t> first_words;
  for (const RandomKey& key : keys) {
    Philox random(key);
    const std::uint64_t high = random.next_u32();
    first_words.insert((high << 32) | random.next_u32());
  }
  CHECK(first_words.size() == keys.size());
}

TEST_CASE("a copy of a cursor goes on by itself") {
  Philox random(RandomKey{.seed = 9});
  random.next_u32();
  random.next_u32();
  Philox copy = random;
  for (int i = 0; i < 10; ++i) CHECK(random.next_u32() == copy.next_u32());
}

TEST_CASE("uniform_float and uniform_double are the midpoints of the bits") {
  // 0.5 + 2^-24 needs the last bit of a float; the pinned values hold only if nothing is rounded.
  Philox random(RandomKey{.seed = 1});
  const float expected[] = {0.8902592062950134f, 0.8946847319602966f, 0.5857259631156921f,
                            0.7112681269645691f, 0.6719983220100403f, 0.8741119503974915f};
  for (const float value : expected) CHECK(random.uniform_float() == value);

  Philox words(RandomKey{.seed = 4});
  Philox floats = words;
  Philox doubles = words;
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t first = words.next_u32();
    const std::uint32_t second = words.next_u32();
    CHECK(static_cast<double>(floats.uniform_float()) == ((first >> 9) + 0.5) / 8388608.0);
    CHECK(static_cast<double>(floats.uniform_float()) == ((second >> 9) + 0.5) / 8388608.0);
    const std::uint64_t bits = ((std::uint64_t{first} << 32) | second) >> 12;
    const double value = doubles.uniform_double();
    CHECK(value == (static_cast<double>(bits) + 0.5) / 4503599627370496.0);
  }
}

TEST_CASE("uniform numbers are uniform and stay inside (0, 1)") {
  constexpr int kBins = 256;
  constexpr int kDraws = 50000;
  Philox random(RandomKey{.seed = 17});
  std::vector<int> float_count(kBins), double_count(kBins), pair_count(kBins);
  bool inside = true;
  double sum = 0.0;
  double square_sum = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const float single = random.uniform_float();
    const double first = random.uniform_double();
    const double second = random.uniform_double();
    inside = inside && single > 0.0f && single < 1.0f && first > 0.0 && first < 1.0;
    ++float_count[static_cast<std::size_t>(single * kBins)];
    ++double_count[static_cast<std::size_t>(first * kBins)];
    ++pair_count[static_cast<std::size_t>(first * 16) * 16 + static_cast<std::size_t>(second * 16)];
    sum += first;
    square_sum += first * first;
  }
  CHECK(inside);
  CHECK(chi_square_uniform(float_count) < chi_square_bound(kBins - 1));
  CHECK(chi_square_uniform(double_count) < chi_square_bound(kBins - 1));
  CHECK(chi_square_uniform(pair_count) < chi_square_bound(kBins - 1));
  const double mean = sum / kDraws;
  const double variance = square_sum / kDraws - mean * mean;
  CHECK(std::fabs(mean - 0.5) < 4.0 * std::sqrt(1.0 / 12.0 / kDraws));
  CHECK(std::fabs(variance - 1.0 / 12.0) < 4.0 * std::sqrt(1.0 / 180.0 / kDraws));
}

TEST_CASE("neighbouring rows are not correlated") {
  constexpr int kRows = 20000;
  double product_sum = 0.0;
  double previous = 0.0;
  for (int row = 0; row < kRows; ++row) {
    Philox random(RandomKey{.seed = 23, .index = static_cast<std::uint32_t>(row)});
    const double value = random.uniform_double() - 0.5;
    product_sum += value * previous;
    previous = value;
  }
  // The product of two independent centred uniforms has variance 1 / 144.
  CHECK(std::fabs(product_sum / kRows) < 4.0 * std::sqrt(1.0 / 144.0 / kRows));
}

TEST_CASE("below is pinned, in range and uniform") {
  Philox ten(RandomKey{.seed = 1});
  for (const std::uint32_t expected : {8u, 8u, 5u, 7u, 6u, 8u}) CHECK(ten.below(10) == expected);

  Philox random(RandomKey{.seed = 31});
  for (int i = 0; i < 100; ++i) CHECK(random.below(1) == 0);
  for (const std::uint32_t bound : {2u, 3u, 10u, 64u, 100u}) {
    CAPTURE(bound);
    std::vector<int> count(bound);
    bool in_range = true;
    for (int i = 0; i < 20000; ++i) {
      const std::uint32_t value = random.below(bound);
      in_range = in_range && value < bound;
      if (value < bound) ++count[value];
    }
    CHECK(in_range);
    CHECK(chi_square_uniform(count) < chi_square_bound(bound - 1.0));
  }
}

// With a bound of 3/4 of 2^32, multiplying without refusing hits every third value twice as often,
// and a remainder hits the lowest third twice as often.
TEST_CASE("below is unbiased for a bound that does not divide 2^32") {
  constexpr std::uint32_t kBound = 3u << 30;
  Philox random(RandomKey{.seed = 37});
  std::vector<int> by_remainder(3), by_third(3);
  bool in_range = true;
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t value = random.below(kBound);
    in_range = in_range && value < kBound;
    ++by_remainder[value % 3];
    ++by_third[(value >> 30) % 3];
  }
  CHECK(in_range);
  CHECK(chi_square_uniform(by_remainder) < chi_square_bound(2));
  CHECK(chi_square_uniform(by_third) < chi_square_bound(2));
}

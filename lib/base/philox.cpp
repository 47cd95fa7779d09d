#include "base/philox.h"

namespace adapvae {

namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53u;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57u;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9u;  // golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85u;  // sqrt(3) - 1
constexpr int kRounds = 10;

std::uint32_t high_word(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  PhiloxBlock x = counter;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * x.word[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * x.word[2];
    x = {{high_word(product1) ^ x.word[1] ^ key0, low_word(product1),
          high_word(product0) ^ x.word[3] ^ key1, low_word(product0)}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return x;
}

// The purpose goes into the key because all four counter words are taken. The multiplication
// spreads it over the word, so that a small purpose does not meet a small change of the seed.
Philox::Philox(const RandomKey& key)
    : counter_{{0, key.index, key.epoch, key.stream}},
      output_{},
      key0_(low_word(key.seed)),
      key1_(high_word(key.seed) ^ (static_cast<std::uint32_t>(key.purpose) * kWeyl0)) {}

std::uint32_t Philox::next_u32() {
  if (next_ == 4) {
    output_ = philox4x32(counter_, key0_, key1_);
    // Only the block number moves. It wraps instead of carrying into the index: a sequence may
    // repeat itself after 2^34 words, but it never runs into the sequence of the next row.
    ++counter_.word[0];
    next_ = 0;
  }
  return output_.word[next_++];
}

// 23 bits and the half need 24 bits of mantissa, exactly what float has: nothing is rounded, so
// the largest value cannot become 1.
float Philox::uniform_float() { return (static_cast<float>(next_u32() >> 9) + 0.5f) * 0x1p-23f; }

// The same with 52 bits and the 53 of double.
double Philox::uniform_double() {
  const std::uint64_t high = next_u32();
  const std::uint64_t low = next_u32();
  return (static_cast<double>(((high << 32) | low) >> 12) + 0.5) * 0x1p-52;
}

// Lemire 2019. The high word of random * bound is the result; the low word tells where in the
// interval of that result we fell. Intervals hold either floor or ceil of 2^32 / bound values, and
// refusing the first 2^32 mod bound of each makes them equal. The division is needed only in the
// rare case low < bound.
std::uint32_t Philox::below(std::uint32_t bound) {
  std::uint64_t product = std::uint64_t{next_u32()} * bound;
  if (low_word(product) < bound) {
    const std::uint32_t refused = (0u - bound) % bound;
    while (low_word(product) < refused) product = std::uint64_t{next_u32()} * bound;
  }
  return high_word(product);
}

}  // namespace adapvae

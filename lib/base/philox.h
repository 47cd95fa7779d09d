// Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011): a counter-based random generator.
//
// A draw is a pure function of (seed, purpose, stream, epoch, index, position): nothing has to be
// remembered between calls, and the numbers of row 17 do not depend on how rows were split into
// batches or over threads. The `std::` distributions differ between standard libraries, so the
// samplers in sampling.h are our own.
#pragma once

#include <cstdint>

namespace adapvae {

// What random numbers are for. Each purpose is a sequence of its own. Values are part of the
// reproducibility promise: append, never renumber.
enum class RandomPurpose : std::uint32_t {
  kTest = 0,
  kInitialise = 1,
  kShuffle = 2,
  kLatentNoise = 3,
  kCorruption = 4,
  kAugmentation = 5,
  kProposal = 6,
  kReplay = 7,
  kNeighbour = 8,
  kGenerate = 9,
  kMissing = 10,
};

struct PhiloxBlock {
  std::uint32_t word[4];
};

// The raw bijection: ten rounds. Known-answer tested.
PhiloxBlock philox4x32(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1);

// Where a sequence lives. index is usually the row. The key is {low half of seed, high half of seed
// ^ purpose * 0x9E3779B9}, the counter {block number from 0, index, epoch, stream}.
struct RandomKey {
  std::uint64_t seed = 0;
  RandomPurpose purpose = RandomPurpose::kTest;
  std::uint32_t stream = 0;
  std::uint32_t epoch = 0;
  std::uint32_t index = 0;
};

// A cursor over one sequence of 2^34 words.
class Philox {
 public:
  explicit Philox(const RandomKey& key);

  std::uint32_t next_u32();
  // Uniform on the open interval (0, 1): never 0, never 1.
  float uniform_float();    // (k + 1/2) / 2^23 with 23 random bits k, exact; takes one word
  double uniform_double();  // (k + 1/2) / 2^52 with 52 random bits k, exact; takes two words
  // Uniform on {0, ..., bound - 1}, unbiased. bound >= 1.
  std::uint32_t below(std::uint32_t bound);

 private:
  PhiloxBlock counter_;
  PhiloxBlock output_;
  std::uint32_t key0_;
  std::uint32_t key1_;
  int next_ = 4;  // next unused word of output_; 4 = none
};

}  // namespace adapvae

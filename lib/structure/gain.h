// A gain: the statistics that a block of rows adds to a base, clusters that stand still meanwhile,
// and the clusters that were born of it. Gains of one base add up; ClusterLearner makes and adds
// them.
//
// Its table, as bytes:  a cluster of the base and a newborn after another (Mixture::write_table),
// then a parent's id and the gain in the bound of each newborn. Statistics are unweighted: what a
// row counts is decided when all rows are known.
#pragma once

#include <cstddef>

#include "structure/registry.h"

namespace adapvae {

// A table that is being made, in the caller's memory, which must have most_gain_bytes().
struct GainTable {
  std::byte* bytes = nullptr;
  std::size_t capacity = 0;
  std::size_t size = 0;
  Index born = 0;
};

// One that was made.
struct GainView {
  std::uint64_t worker = 0;
  std::uint64_t sequence = 0;
  std::uint64_t rows = 0;
  Index born = 0;
  const std::byte* table = nullptr;
  std::size_t bytes = 0;
};

struct GainBirth {
  static constexpr std::size_t kBytes = 4 + 8;
  ClusterId parent = kNoId;
  double gain = 0.0;  // of the bound
};

// What became of a cluster that was born with a gain.
struct GainAlias {
  std::uint64_t worker = 0;
  std::uint64_t sequence = 0;
  std::uint32_t local = 0;  // 1, 2, … in the order of the table
  ClusterId id = kNoId;
};

}  // namespace adapvae

// The largest numbers that a model holds. docs/format.md lists them.
//
// Everything that enters the core is checked against these bounds: rows, files, gains, settings and
// times. What the core computes is clamped where it arises (features, decoded rows) or checked
// before it is kept (ClusterLearner::sound()). So a model that can be reached can always be saved
// and loaded, and no sum, product or index built from its numbers overflows.
#pragma once

#include <cmath>
#include <cstdint>

namespace adapvae {

// A feature, and so the mean of a cluster. Squares of these, summed over all dimensions and scaled
// by any precision, stay within the range of a float. (Features have a standard deviation of
// about 1.)
inline constexpr double kLargestFeature = 1e9;
// An input without scale_inputs, and a decoded row in the network's units.
inline constexpr double kLargestInput = 1e12;
// A weight or bias of the network.
inline constexpr double kLargestWeight = 1e9;
// Rows that a model, or one cluster of it, has learnt.
inline constexpr std::int64_t kMostRows = std::int64_t{1} << 52;
// Blocks that a model has learnt: they are numbered with 32 bits, and the next number must exist.
inline constexpr std::uint64_t kMostBlocks = 0xFFFFFFF0U;
// Entropy that one row adds to a cluster: the logarithm of the number of clusters is far below.
inline constexpr double kMostRowEntropy = 64.0;
// Other numbers of a state: gains of the bound, the origin of a scale, a concentration.
inline constexpr double kLargestNumber = 1e100;

// False for a NaN.
inline bool within(double value, double largest) { return std::fabs(value) <= largest; }

}  // namespace adapvae

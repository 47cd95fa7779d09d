// A set of gains of one base, as bytes (docs/format.md): sorted by worker and sequence, each pair
// once. Sets are joined as sets are, so that gains may come in any order, in any groups, and twice.
#pragma once

#include "base/status.h"
#include "mixture/statistics.h"
#include "structure/gain.h"

namespace adapvae {

// What gains must have in common to be added.
struct GainBase {
  std::uint64_t encoder = 0;   // mark of all that decides a row's features
  std::uint64_t clusters = 0;  // mark of the clusters
  std::uint64_t sequence = 0;  // streams that the base has learnt
  std::uint32_t known = 0;     // clusters of the base
  ClusterShape shape;

  bool operator==(const GainBase& other) const;
};

class GainSet {
 public:
  // Checks all that can be known without the base, every byte by the checksum. The bytes are
  // borrowed. kCorruptData, or kUnavailable for a newer version's.
  Status open(const std::byte* bytes, std::size_t size);

  const GainBase& base() const { return base_; }
  Index gains() const { return gains_; }
  std::uint64_t rows() const { return rows_; }  // of all gains
  Index born() const { return born_; }

  // One gain after another:  GainSet::Place at; while (set.next(at, &gain)) …
  struct Place {
    std::size_t position = 0;
    Index number = 0;
  };
  bool next(Place& at, GainView* gain) const;
  // The same as it lies there, its key included.
  struct Record {
    GainView gain;
    const std::byte* bytes = nullptr;
    std::size_t size = 0;
  };
  bool next(Place& at, Record* record) const;

 private:
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;  // without the checksum
  GainBase base_;
  Index gains_ = 0;
  Index born_ = 0;
  std::uint64_t rows_ = 0;
};

// Bytes before and after the table of a set of one gain.
inline constexpr std::size_t kGainHeadBytes = 56;
inline constexpr std::size_t kGainKeyBytes = 32;
inline constexpr std::size_t kGainTailBytes = 8;

// A set of the one gain, whose table lies at out + kGainHeadBytes + kGainKeyBytes already; without
// rows, a set of none. Its size.
std::size_t close_gain(const GainBase& base, const GainView& gain, std::byte* out);

// The union of two sets into out, which may be null with capacity 0: then only *size is found.
// kForeign if they are of different bases, kInvalidArgument if they have different gains of one
// worker and sequence or too many rows, kOutOfMemory, *size then says what it takes.
Status merge_gain_sets(const GainSet& a, const GainSet& b, std::byte* out, std::size_t capacity,
                       std::size_t* size);

}  // namespace adapvae

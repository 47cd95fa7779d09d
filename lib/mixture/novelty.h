// Novelty: one contract everywhere. A number in [0, 1], higher is more novel, 0.5 is the boundary:
// a row is novel iff its novelty is above 0.5.
//
// What is judged is a row's surprise, -log density under the whole mixture. The boundary lies where
// a chosen part of ordinary rows (the false-alarm rate) would be called novel. It follows the
// stream: surprises of rows of known kinds are counted in a histogram of fixed size whose old
// counts fade. Before much has been counted, theory speaks as well: where the boundary would
// lie if clusters were as they are believed to be.
#pragma once

#include "base/bytes.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

struct NoveltySettings {
  double false_alarm_rate = 0.01;  // (0, 0.5]
  double sensitivity = 1.0;        // > 1: more is novel; a factor e moves the boundary a deviation
  double memory_rows = 50000.0;    // the histogram's old counts are halved after so many
};

class NoveltyScale {
 public:
  static constexpr Index kBuckets = 1024;

  void reset(Index dims);
  void clear();  // for the same dims

  // Counts the surprise of a row that came. `expected` is about what ordinary rows have;
  // the first one sets where the histogram is finest.
  void count(double surprise, double expected, const NoveltySettings& settings);
  // Takes a count back: the row turned out to be of a new kind.
  void uncount(double surprise);
  // What was counted weighs at most so many rows from now on: it is of features that have moved.
  void fade_to(double rows);
  // The surprise of a row at the boundary; `theory` is what the mixture believes (1 -
  // false_alarm_rate quantile).
  double boundary(double theory, const NoveltySettings& settings) const;
  // Surprise below which `part` of the counted rows lie. At least one must have been counted.
  double quantile(double part) const;
  double rows() const { return rows_; }
  // Of the counted rows, the fraction with a larger surprise. At least one must have been counted.
  double fraction_above(double surprise) const;

  // In [0, 1]: 0.5 where surprise is boundary, rising with it.
  float novelty(double surprise, double boundary) const;

  static constexpr std::size_t most_bytes() { return 16 + 4 * kBuckets; }
  void save(ByteWriter& writer) const;
  static Status check(ByteReader reader);  // whether load() would take it
  Status load(ByteReader& reader);
  bool sound() const;  // whether load() takes what save() writes

 private:
  Index bucket_of(double surprise) const;

  // Deviation of the surprise within a Gaussian cluster: √(m/2).
  double deviation_ = 1.0;
  double rows_ = 0.0;
  double origin_ = 0.0;
  float counts_[kBuckets] = {};
};

}  // namespace adapvae

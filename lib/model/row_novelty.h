// How novel rows are, as those who use the model see it: what their features surprise the mixture
// by, and, with a weight, what the decoder cannot account for. Early on the features know only what
// few kinds needed: a new kind may then look like an old one there, but cannot be redrawn.
//
// Both are counted like the mixture's surprise alone (mixture/novelty.h), which goes on judging
// births: equations 15 and 19 of docs/math.md.
#pragma once

#include "base/arena.h"
#include "mixture/novelty.h"

namespace adapvae {

class RowNovelty {
 public:
  // Of a Gaussian's numbers so many lie below its mean and a deviation.
  static constexpr double kDeviationPart = 0.841;
  static constexpr double kLeastRows = 20.0;

  // weight 0: features alone. rows: the most of a stream, 0 for a model that only scores.
  void place(Arena& arena, Index dims, double weight, Index rows);
  void reset();

  bool wanted() const { return weight_ > 0.0; }
  // Whether enough rows have been counted; until then features alone must do.
  bool ready() const { return wanted() && rows_ >= kLeastRows; }

  // A row's surprise by features and by error, in the unit of the former; both may be any number.
  double surprise(double features, double error) const { return features + error_surprise(error); }
  double error_surprise(double error) const;
  // The surprise at novelty 0.5; `theory` is the features' (1 - false_alarm_rate) quantile.
  double boundary(double theory, const NoveltySettings& settings) const;
  float novelty(double surprise, double boundary) const {
    return scale_.novelty(surprise, boundary);
  }

  // ---- a stream ----
  float* features() { return features_; }  // [rows] to be filled for count()
  float* errors() { return errors_; }      // [rows]
  // usual, spread: the median of the features' surprise, and what kDeviationPart lies above it.
  // What was counted before weighs at most `most` rows.
  void count(Index rows, double usual, double spread, double most, const NoveltySettings& settings);

  static constexpr std::size_t bytes() { return 5 * 8 + NoveltyScale::most_bytes(); }
  void save(ByteWriter& writer) const;
  static Status check(ByteReader reader);  // whether load() would take it
  Status load(ByteReader& reader);

 private:
  double weight_ = 0.0;
  // Of the errors that were counted: how many, their median, and what kDeviationPart lies above it.
  double rows_ = 0.0;
  double middle_ = 0.0;
  double spread_ = 0.0;
  double features_middle_ = 0.0;
  double features_spread_ = 0.0;
  NoveltyScale scale_;
  float* features_ = nullptr;
  float* errors_ = nullptr;
  float* sorted_ = nullptr;
};

}  // namespace adapvae

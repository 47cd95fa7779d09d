// Per-feature scaling of inputs, learnt from the rows seen so far: off, mean and variance, or
// minimum and maximum.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

enum class Scaling : std::int32_t {
  kOff = 0,
  // (x - mean) / deviation; of a constant feature a tenth of its value (1 if that is 0) stands for
  // the deviation.
  kMeanVariance = 1,
  kMinMax = 2,  // (x - min) / (max - min), clipped to [0, 1]; a constant feature becomes 0
};

class Standardiser {
 public:
  // Memory is not initialised: call reset() before anything else. range > 0: kMeanVariance
  // compresses what lies beyond ± range, so that nothing lies beyond twice the range.
  void place(Arena& arena, Index features, Scaling scaling, double range = 0.0);
  // Forgets every row.
  void reset();

  // Takes rows into the running statistics. Cells must be finite or, with kMeanVariance, NaN: those
  // are missing, and stay NaN in apply().
  void update(ConstMatrixView rows);

  // out = scaled rows; may be the same memory. Before the first update: a plain copy.
  void apply(ConstMatrixView rows, MatrixView out) const;
  // Rows that lie beyond the range, by their number that is farthest out.
  struct Beyond {
    Index rows = 0;
    Index feature = 0;    // that is farthest out of all
    double ranges = 0.0;  // how far, in ranges
    // Whether a part of the rows shows another range: they lie far beyond this one, and about as
    // far as each other. Single wild numbers, and numbers of all magnitudes, show none.
    bool another_range = false;
  };
  Beyond beyond(ConstMatrixView rows) const;
  // Whether a row has a number so far out that it is no measurement. row [features].
  bool is_wild(const float* row) const { return farthest(row).wild; }
  // Back to the units of the input, finite; compression and clipping are not undone.
  void invert(ConstMatrixView scaled, MatrixView out) const;

  double count() const { return count_; }
  // kMeanVariance: mean and variance (divided by n); kMinMax: minimum and maximum; kOff: 0.
  double first(Index feature) const { return first_ != nullptr ? first_[feature] : 0.0; }
  double second(Index feature) const;
  // What counts as a standard deviation of the feature, in units of the input; kOff: 1.
  double unit(Index feature) const;
  bool is_constant(Index feature) const;  // kMeanVariance: in all rows so far

  // ---- persistent state ----
  static std::size_t most_bytes(Index features) {
    return 16 + 16 * static_cast<std::size_t>(features);
  }
  void save(ByteWriter& writer) const;
  // kCorruptData, and nothing changed, unless the bytes are a state of a standardiser with as many
  // features and the same scaling.
  Status load(ByteReader& reader);

 private:
  void refresh();
  void update_moments(ConstMatrixView rows, Index j, double count);
  double limit(double scaled) const;
  struct Farthest {
    Index feature = 0;
    double ranges = 0.0;
    bool wild = false;
  };
  Farthest farthest(const float* row) const;

  Scaling scaling_ = Scaling::kOff;
  Index features_ = 0;
  double range_ = 0.0;  // 0: none
  double count_ = 0.0;
  double* first_ = nullptr;   // mean or minimum
  double* second_ = nullptr;  // sum of squared deviations, or maximum
  double* factor_ = nullptr;  // scaled = (x - first) · factor
};

}  // namespace adapvae

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
  // Memory is not initialised: call reset() before anything else. clip > 0: kMeanVariance gives
  // numbers within ± clip.
  void place(Arena& arena, Index features, Scaling scaling, double clip = 0.0);
  // Forgets every row.
  void reset();

  // Takes rows into the running statistics; rows must be finite (see input_check.h).
  void update(ConstMatrixView rows);

  // out = scaled rows; may be the same memory. Before the first update: a plain copy.
  void apply(ConstMatrixView rows, MatrixView out) const;
  // Back to the units of the input, finite; clipping is not undone.
  void invert(ConstMatrixView scaled, MatrixView out) const;

  double count() const { return count_; }
  // kMeanVariance: mean and variance (divided by n); kMinMax: minimum and maximum; kOff: 0.
  double first(Index feature) const { return first_ != nullptr ? first_[feature] : 0.0; }
  double second(Index feature) const;

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

  Scaling scaling_ = Scaling::kOff;
  Index features_ = 0;
  double clip_ = 0.0;  // 0: none
  double count_ = 0.0;
  double* first_ = nullptr;   // mean or minimum
  double* second_ = nullptr;  // sum of squared deviations, or maximum
  double* factor_ = nullptr;  // scaled = (x - first) · factor
};

}  // namespace adapvae

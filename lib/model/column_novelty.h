// What is usual of each column of the rows, as the network gets them: how large errors of the
// reconstruction are, and which values occur. Equations 25 and 26 of docs/math.md.
//
// Errors of a column count by the column's own variance: what the decoder misses is then a density
// of the row around its reconstruction. Rare values count although clusters have learnt them: a
// tight group of odd rows is a cluster like others, but its values are rare in the columns.
#pragma once

#include "base/arena.h"
#include "base/matrix_view.h"
#include "base/status.h"
#include "model/moments.h"

namespace adapvae {

class ColumnNovelty {
 public:
  enum class Kind : std::int32_t {
    kInk,     // numbers in [0, 1], Bernoulli likelihood
    kScaled,  // standardised, compressed to at most ±10
    kRaw,     // in their own units: errors, but no values
  };

  // learns: false for a model that only scores.
  void place(Arena& arena, Index columns, Kind kind, bool learns);
  void reset();

  // Whether rows have been counted.
  bool ready() const { return rows_ > 0.0; }

  // ---- errors ----
  // Of a row and the decoder's means of it, in nats; squares count `inflation` times.
  double error(const float* row, const float* decoded, double inflation) const;
  // kInk, from log p(x|z): the deviance, per root of what there was to draw.
  double ink_error(const float* row, double log_likelihood, double inflation) const;

  // ---- values ----
  // How much less usual the values of a row are than those of ordinary rows, in nats. It is of the
  // spread `deviation` in ordinary rows, the standard deviation of another view, and the less the
  // more columns repeat each other. 0 if nothing is known of values.
  double rarity(const float* row, double deviation) const;

  // ---- a block ----
  void begin_block();
  // A row and the decoder's means of it; kInk does not need those.
  void note(const float* row, const float* decoded);
  // Until the block is counted or abandoned, errors are by the rows noted alone.
  void begin_anew();
  // The rows noted are counted, and their values; alone, if begun anew. What was counted before
  // weighs at most `memory` rows, of errors `most`. inflation: of squared errors that were noted
  // after the network was trained on the rows.
  void count(ConstMatrixView rows, double most, double memory, double inflation);
  void abandon_block() { use(usual_); }

  std::size_t bytes() const;
  void save(ByteWriter& writer) const;
  // Whether load() would take the bytes.
  Status check(ByteReader reader) const;
  void load(ByteReader& reader);

 private:
  // Standardised values in steps of a half up to ±5, where compression begins, and one bin beyond.
  static constexpr Index kScaledBins = 22;
  static constexpr Index kInkBins = 2;  // 0 and 1; grey is a part of both

  struct Cost {
    double sum = 0.0;     // -log of how often values occur
    double spread = 0.0;  // of each column's from its mean, squared and summed
  };
  static Index bin_of(float value);
  Cost cost_of(const float* row) const;
  bool counts_values() const { return kind_ != Kind::kRaw; }
  void reset_counts();
  void count_costs(ConstMatrixView rows, double memory);
  void use(const float* usual);
  void refresh();

  Kind kind_ = Kind::kRaw;
  Index columns_ = 0;
  Index bins_ = 0;
  double rows_ = 0.0;
  Moments costs_;                  // of ordinary rows before their values were counted
  double spread_ = 0.0;            // mean of Cost::spread
  float* usual_ = nullptr;         // [d] variance of errors; kInk: mean of the values
  float* counts_ = nullptr;        // [d × bins], but kInk
  float* cost_ = nullptr;          // [d × bins] -log of how often
  float* mean_cost_ = nullptr;     // [d]
  const float* active_ = nullptr;  // usual_ or fresh_
  double least_variance_ = 0.0;
  double noted_ = 0.0;
  double* sum_ = nullptr;   // [d] of the rows noted
  float* fresh_ = nullptr;  // [d] by them alone
};

}  // namespace adapvae

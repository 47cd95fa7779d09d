#include "model/column_novelty.h"

#include <algorithm>
#include <cmath>

#include "base/bounds.h"

namespace adapvae {
namespace {

// An error beyond it is not distinguished from it: decoded numbers may have left all ranges.
constexpr float kLargestSquare = 1e12F;
// The variance of errors that counts as none, in variances of the input. Kinds that come later are
// not reconstructed to more than that.
constexpr float kLeastVariance = 1e-3F;
// Errors have heavy tails: those of a column follow a t distribution.
constexpr float kFreedom = 10.0F;
// A square beyond this number of variances counts as if it were there.
constexpr double kMostSquares = 16.0;
constexpr double kLeastRowsToLimit = 20.0;
constexpr float kBinWidth = 0.5F;
constexpr float kBinsEnd = 5.0F;  // and as wide is the last
constexpr double kMostRarity = 1e6;
constexpr double kMostDeviance = 1e12;  // nats
constexpr double kMostInflation = 4.0;
constexpr double kMostUsual = kMostInflation * static_cast<double>(kLargestSquare);

// Devices compute floats alone in hardware, and this is done for every column of every row.
float squared(float x, float mean) {
  const float d = x - mean;
  const float square = d * d;
  return square <= kLargestSquare ? square : kLargestSquare;  // not a number, too
}

// -x log x - (1 - x) log (1 - x), what a perfect reconstruction costs: within 0.006 of it.
float entropy(float x) {
  if (!(x > 0.0F && x < 1.0F)) return 0.0F;
  constexpr float kLog2 = 0.693147181F;
  const float root = std::sqrt(4.0F * x * (1.0F - x));
  return kLog2 * root * std::sqrt(root);
}

}  // namespace

void ColumnNovelty::place(Arena& arena, Index columns, Kind kind, bool learns) {
  kind_ = kind;
  columns_ = columns;
  bins_ = kind == Kind::kScaled ? kScaledBins : (kind == Kind::kInk ? kInkBins : 0);
  const auto d = static_cast<std::size_t>(columns);
  const auto table = static_cast<std::size_t>(columns * bins_);
  usual_ = arena.take<float>(d);
  counts_ = arena.take<float>(kind == Kind::kScaled ? table : 0);
  cost_ = arena.take<float>(table);
  mean_cost_ = arena.take<float>(counts_values() ? d : 0);
  sum_ = arena.take<double>(learns ? d : 0);
  fresh_ = arena.take<float>(learns ? d : 0);
}

void ColumnNovelty::reset() {
  reset_counts();
  noted_ = 0.0;
  refresh();
}

void ColumnNovelty::reset_counts() {
  rows_ = 0.0;
  costs_ = {};
  spread_ = 0.0;
  std::fill_n(usual_, columns_, 0.0F);
  if (kind_ == Kind::kScaled) std::fill_n(counts_, columns_ * bins_, 0.0F);
}

// ---- errors -------------------------------------------------------------------------------------

// Σ ½(ν+1) log(1 + e²/(ν v)), by products: one logarithm for many columns.
double ColumnNovelty::error(const float* row, const float* decoded, double inflation) const {
  // A factor is at most some 1e26 (raw inputs: squares of 1e12, variances of 1e-12).
  constexpr float kLarge = 1e12F;
  const auto least = static_cast<float>(least_variance_);
  const auto factor = static_cast<float>(inflation) / kFreedom;
  double sum = 0.0;
  float product = 1.0F;
  for (Index j = 0; j < columns_; ++j) {
    product *= 1.0F + factor * squared(row[j], decoded[j]) / (active_[j] + least);
    if (product < kLarge) continue;
    sum += std::log(static_cast<double>(product));
    product = 1.0F;
  }
  return 0.5 * static_cast<double>(kFreedom + 1.0F) *
         (sum + std::log(static_cast<double>(product)));
}

double ColumnNovelty::ink_error(const float* row, double log_likelihood, double inflation) const {
  float least = 0.0F;
  float drawn = 0.0F;
  for (Index j = 0; j < columns_; ++j) {
    least += entropy(row[j]);
    drawn += squared(row[j], active_[j]);
  }
  // The decoder of a hostile file may give no number.
  double deviance = std::max(-log_likelihood - static_cast<double>(least), 0.0);
  if (!(deviance <= kMostDeviance)) deviance = kMostDeviance;
  return std::log1p(inflation * deviance / static_cast<double>(std::sqrt(std::max(drawn, 1.0F))));
}

// ---- values -------------------------------------------------------------------------------------

Index ColumnNovelty::bin_of(float value) {
  constexpr float kLast = static_cast<float>(kScaledBins - 1);
  const float place = (value + kBinsEnd) / kBinWidth + 1.0F;
  return static_cast<Index>(std::clamp(place, 0.0F, kLast));
}

ColumnNovelty::Cost ColumnNovelty::cost_of(const float* row) const {
  float sum = 0.0F;
  float spread = 0.0F;
  for (Index j = 0; j < columns_; ++j) {
    const float* own = cost_ + j * bins_;
    const float here =
        kind_ == Kind::kInk ? own[0] + row[j] * (own[1] - own[0]) : own[bin_of(row[j])];
    const float above = here - mean_cost_[j];
    sum += here;
    spread += above * above;
  }
  return {static_cast<double>(sum), static_cast<double>(spread)};
}

double ColumnNovelty::rarity(const float* row, double deviation) const {
  if (!ready() || !counts_values()) return 0.0;
  // The variance of a sum of columns that say the same is larger than the sum of their variances.
  const double own = std::min(spread_ / (costs_.deviation() * costs_.deviation()), 1.0);
  const double above = costs_.deviations(cost_of(row).sum);
  return deviation * std::sqrt(own) * std::min(above, kMostRarity);
}

void ColumnNovelty::use(const float* usual) {
  active_ = usual;
  least_variance_ = static_cast<double>(kLeastVariance);
  if (kind_ != Kind::kRaw) return;
  constexpr double kSmallest = 1e-12;
  double sum = 0.0;
  for (Index j = 0; j < columns_; ++j) sum += static_cast<double>(usual[j]);
  least_variance_ = kSmallest + static_cast<double>(kLeastVariance) * sum /
                                    std::max(static_cast<double>(columns_), 1.0);
}

// What follows from what was counted.
void ColumnNovelty::refresh() {
  use(usual_);
  if (!counts_values()) return;
  const auto bins = static_cast<double>(bins_);
  for (Index j = 0; j < columns_; ++j) {
    double mean = 0.0;
    for (Index b = 0; b < bins_; ++b) {
      double count = 0.0;
      if (kind_ == Kind::kScaled) {
        count = static_cast<double>(counts_[j * bins_ + b]);
      } else {
        const auto ones = static_cast<double>(usual_[j]);
        count = rows_ * (b == 0 ? 1.0 - ones : ones);
      }
      const double part = (count + 1.0) / (rows_ + bins);
      const bool outer = kind_ == Kind::kScaled && (b == 0 || b == bins_ - 1);
      const double width = outer ? static_cast<double>(kBinsEnd / kBinWidth) : 1.0;
      const double cost = std::log(width) - std::log(part);
      cost_[j * bins_ + b] = static_cast<float>(cost);
      mean += part * cost;
    }
    mean_cost_[j] = static_cast<float>(mean);
  }
}

// ---- a block ------------------------------------------------------------------------------------

void ColumnNovelty::begin_block() {
  noted_ = 0.0;
  std::fill_n(sum_, columns_, 0.0);
}

void ColumnNovelty::note(const float* row, const float* decoded) {
  for (Index j = 0; j < columns_; ++j) {
    if (kind_ == Kind::kInk) {
      sum_[j] += static_cast<double>(row[j]);
      continue;
    }
    auto square = static_cast<double>(squared(row[j], decoded[j]));
    if (noted_ >= kLeastRowsToLimit) {
      const double least = static_cast<double>(kLeastVariance);
      square = std::min(square, kMostSquares * (sum_[j] / noted_ + least));
    }
    sum_[j] += square;
  }
  noted_ += 1.0;
}

void ColumnNovelty::begin_anew() {
  for (Index j = 0; j < columns_; ++j) {
    fresh_[j] = static_cast<float>(sum_[j] / std::max(noted_, 1.0));
  }
  use(fresh_);
}

void ColumnNovelty::count(ConstMatrixView rows, double most, double memory, double inflation) {
  if (active_ != usual_) reset_counts();
  const bool first = !ready();
  const auto n = static_cast<double>(rows.rows);
  const double kept = std::min(rows_, std::max(memory - n, 0.0));
  if (noted_ > 0.0) {
    const bool ink = kind_ == Kind::kInk;
    const double weight = ink ? kept : std::min(kept, most);
    const double factor = ink ? 1.0 : std::min(inflation, kMostInflation);
    for (Index j = 0; j < columns_; ++j) {
      const double mean = factor * sum_[j] / noted_;
      const auto usual = static_cast<double>(usual_[j]);
      usual_[j] = static_cast<float>((weight * usual + n * mean) / (weight + n));
    }
  }
  if (!first) count_costs(rows, memory);
  if (kind_ == Kind::kScaled) {
    const auto factor = static_cast<float>(rows_ > 0.0 ? kept / rows_ : 0.0);
    for (Index k = 0; k < columns_ * bins_; ++k) counts_[k] *= factor;
    for (Index i = 0; i < rows.rows; ++i) {
      for (Index j = 0; j < columns_; ++j) counts_[j * bins_ + bin_of(rows(i, j))] += 1.0F;
    }
  }
  rows_ = kept + n;
  refresh();
  if (first) count_costs(rows, memory);
  noted_ = 0.0;
}

void ColumnNovelty::count_costs(ConstMatrixView rows, double memory) {
  if (!counts_values()) return;
  for (Index i = 0; i < rows.rows; ++i) {
    const Cost cost = cost_of(rows.row(i));
    costs_.add(cost.sum, memory);
    spread_ += (cost.spread - spread_) / costs_.rows;
  }
}

// ---- persistent state ---------------------------------------------------------------------------

std::size_t ColumnNovelty::bytes() const {
  const auto counted = static_cast<std::size_t>(kind_ == Kind::kScaled ? columns_ * bins_ : 0);
  return 16 + Moments::kBytes + 4 * (static_cast<std::size_t>(columns_) + counted);
}

void ColumnNovelty::save(ByteWriter& writer) const {
  writer.write_f64(rows_);
  writer.write_f64(spread_);
  costs_.write(writer);
  for (Index j = 0; j < columns_; ++j) writer.write_f32(usual_[j]);
  if (kind_ != Kind::kScaled) return;
  for (Index k = 0; k < columns_ * bins_; ++k) writer.write_f32(counts_[k]);
}

Status ColumnNovelty::check(ByteReader reader) const {
  const Status wrong = {StatusCode::kCorruptData, "novelty.columns does not parse"};
  if (reader.remaining() != bytes()) return wrong;
  constexpr auto kMost = static_cast<double>(kMostRows);
  const double rows = reader.read_f64();
  const double spread = reader.read_f64();
  Moments costs;
  bool sound = costs.read(reader) && rows >= 0.0 && within(rows, kMost) && spread >= 0.0 &&
               within(spread, kLargestNumber);
  const double largest = kind_ == Kind::kInk ? 1.0 : kMostUsual;
  for (Index j = 0; j < columns_; ++j) {
    const float usual = reader.read_f32();
    sound = sound && usual >= 0.0F && within(usual, largest);
  }
  for (Index k = 0; kind_ == Kind::kScaled && k < columns_ * bins_; ++k) {
    const float count = reader.read_f32();
    sound = sound && count >= 0.0F && within(count, kMost);
  }
  return sound ? Status() : wrong;
}

void ColumnNovelty::load(ByteReader& reader) {
  rows_ = reader.read_f64();
  spread_ = reader.read_f64();
  (void)costs_.read(reader);
  for (Index j = 0; j < columns_; ++j) usual_[j] = reader.read_f32();
  for (Index k = 0; kind_ == Kind::kScaled && k < columns_ * bins_; ++k) {
    counts_[k] = reader.read_f32();
  }
  refresh();
}

}  // namespace adapvae

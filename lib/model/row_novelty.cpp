#include "model/row_novelty.h"

#include <algorithm>
#include <cmath>

#include "base/bounds.h"

namespace adapvae {
namespace {

// An error far below the usual one says little: a blank row is easily redrawn.
constexpr double kLeastDeviations = -3.0;
constexpr double kFarthestDeviation = 1e6;

// The number that `part` of values [rows] stay below; their order is lost.
double quantile_of(float* values, Index rows, double part) {
  const auto at = static_cast<Index>(part * static_cast<double>(rows - 1));
  std::nth_element(values, values + at, values + rows);
  return static_cast<double>(values[at]);
}

}  // namespace

void RowNovelty::place(Arena& arena, Index dims, double weight, Index rows) {
  weight_ = weight;
  scale_.reset(dims);
  const auto size = static_cast<std::size_t>(wanted() ? rows : 0);
  features_ = arena.take<float>(size);
  errors_ = arena.take<float>(size);
  sorted_ = arena.take<float>(size);
}

void RowNovelty::reset() {
  scale_.clear();
  rows_ = middle_ = spread_ = features_middle_ = features_spread_ = 0.0;
}

double RowNovelty::error_surprise(double error) const {
  if (!(spread_ > 0.0)) return 0.0;
  const double deviations = (error - middle_) / spread_;
  return weight_ * features_spread_ * std::clamp(deviations, kLeastDeviations, kFarthestDeviation);
}

double RowNovelty::boundary(double theory, const NoveltySettings& settings) const {
  // Two deviations add up as the sides of a right angle do.
  const double wider = std::sqrt(1.0 + weight_ * weight_);
  return scale_.boundary(features_middle_ + wider * (theory - features_middle_), settings);
}

void RowNovelty::count(Index rows, double usual, double spread, double most,
                       const NoveltySettings& settings) {
  if (rows == 0) return;
  std::copy_n(errors_, rows, sorted_);
  const double middle = quantile_of(sorted_, rows, 0.5);
  const double above = quantile_of(sorted_, rows, kDeviationPart) - middle;
  rows_ = std::min(rows_, most);
  const double part = static_cast<double>(rows) / (rows_ + static_cast<double>(rows));
  middle_ += part * (middle - middle_);
  spread_ += part * (above - spread_);
  rows_ += static_cast<double>(rows);
  features_middle_ = usual;
  features_spread_ = std::max(spread, 0.0);
  scale_.fade_to(most);
  for (Index i = 0; i < rows; ++i) {
    scale_.count(surprise(features_[i], errors_[i]), usual, settings);
  }
}

void RowNovelty::save(ByteWriter& writer) const {
  for (const double value : {rows_, middle_, spread_, features_middle_, features_spread_}) {
    writer.write_f64(value);
  }
  scale_.save(writer);
}

Status RowNovelty::check(ByteReader reader) {
  bool sound = true;
  for (const bool signed_number : {false, true, false, true, false}) {
    const double value = reader.read_f64();
    sound = sound && within(value, kLargestNumber) && (signed_number || value >= 0.0);
  }
  if (!reader.ok() || !sound) return {StatusCode::kCorruptData, "novelty.state does not parse"};
  return NoveltyScale::check(reader);
}

Status RowNovelty::load(ByteReader& reader) {
  ADAPVAE_RETURN_IF_ERROR(check(reader));
  for (double* value : {&rows_, &middle_, &spread_, &features_middle_, &features_spread_}) {
    *value = reader.read_f64();
  }
  return scale_.load(reader);
}

}  // namespace adapvae

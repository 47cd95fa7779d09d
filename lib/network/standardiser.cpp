#include "network/standardiser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bounds.h"

namespace adapvae {
namespace {

// Below this fraction of its magnitude a spread is rounding noise: the feature is constant.
constexpr double kRelativeFloor = 1e-7;
// A constant feature has moved by a deviation if it has by this part of its value.
constexpr double kMovedPart = 0.1;

bool too_narrow(double spread, double magnitude) {
  return !(spread > kRelativeFloor * magnitude) || !(spread > 1e-30);
}

struct Sample {
  double count = 0.0;
  double mean = 0.0;
  double square = 0.0;  // sum of squared deviations
  void add(double value) {
    const double step = value - mean;
    count += 1.0;
    mean += step / count;
    square += step * (value - mean);
  }
  double variance() const { return square / count; }
};

float to_float(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

}  // namespace

void Standardiser::place(Arena& arena, Index features, Scaling scaling, double range) {
  scaling_ = scaling;
  range_ = range;
  features_ = features;
  if (scaling == Scaling::kOff) return;
  const auto count = static_cast<std::size_t>(features);
  first_ = arena.take<double>(count);
  second_ = arena.take<double>(count);
  factor_ = arena.take<double>(count);
}

void Standardiser::reset() {
  count_ = 0.0;
  if (scaling_ == Scaling::kOff) return;
  std::fill_n(first_, features_, 0.0);
  std::fill_n(second_, features_, 0.0);
  std::fill_n(factor_, features_, 1.0);
}

double Standardiser::second(Index feature) const {
  if (second_ == nullptr) return 0.0;
  if (scaling_ == Scaling::kMinMax || count_ == 0.0) return second_[feature];
  return second_[feature] / count_;
}

void Standardiser::update(ConstMatrixView rows) {
  if (scaling_ == Scaling::kOff || rows.rows == 0) return;
  for (Index i = 0; i < rows.rows; ++i) {
    const float* row = rows.row(i);
    count_ += 1.0;
    if (scaling_ == Scaling::kMinMax) {
      for (Index j = 0; j < features_; ++j) {
        const double x = row[j];
        first_[j] = count_ > 1.0 ? std::min(first_[j], x) : x;
        second_[j] = count_ > 1.0 ? std::max(second_[j], x) : x;
      }
    }
  }
  if (scaling_ == Scaling::kMeanVariance) {
    for (Index j = 0; j < features_; ++j)
      update_moments(rows, j, count_ - static_cast<double>(rows.rows));
  }
  refresh();
}

// Welford: exact for the rows seen, in one pass. A column with missing cells counts as if they were
// like its others.
void Standardiser::update_moments(ConstMatrixView rows, Index j, double count) {
  double seen = 0.0;
  for (Index i = 0; i < rows.rows; ++i) seen += std::isnan(rows(i, j)) ? 0.0 : 1.0;
  const auto n = static_cast<double>(rows.rows);
  if (seen == n) {
    for (Index i = 0; i < rows.rows; ++i) {
      const double before = rows(i, j) - first_[j];
      count += 1.0;
      first_[j] += before / count;
      second_[j] += before * (rows(i, j) - first_[j]);
    }
    return;
  }
  if (seen == 0.0) {
    if (count > 0.0) second_[j] *= (count + n) / count;
    return;
  }
  Sample own;
  for (Index i = 0; i < rows.rows; ++i) {
    if (!std::isnan(rows(i, j))) own.add(static_cast<double>(rows(i, j)));
  }
  const double step = own.mean - first_[j];
  first_[j] += step * n / (count + n);
  second_[j] += own.variance() * n + step * step * count * n / (count + n);
}

void Standardiser::refresh() {
  for (Index j = 0; j < features_; ++j) {
    const bool range = scaling_ == Scaling::kMinMax;
    const double spread = range ? second_[j] - first_[j] : std::sqrt(second_[j] / count_);
    const double magnitude =
        range ? std::max(std::fabs(first_[j]), std::fabs(second_[j])) : std::fabs(first_[j]);
    // What never moved tells nothing now, but must be seen when it does.
    const double moved = range ? 0.0 : 1.0 / (magnitude > 0.0 ? kMovedPart * magnitude : 1.0);
    factor_[j] = too_narrow(spread, magnitude) ? moved : 1.0 / spread;
  }
}

double Standardiser::unit(Index feature) const {
  return scaling_ == Scaling::kOff || count_ == 0.0 ? 1.0 : 1.0 / factor_[feature];
}

bool Standardiser::is_constant(Index feature) const {
  return too_narrow(std::sqrt(second(feature)), std::fabs(first_[feature]));
}

void Standardiser::apply(ConstMatrixView rows, MatrixView out) const {
  const bool copy = scaling_ == Scaling::kOff || count_ == 0.0;
  for (Index i = 0; i < rows.rows; ++i) {
    const float* in = rows.row(i);
    float* to = out.row(i);
    for (Index j = 0; j < rows.cols; ++j) {
      to[j] = copy ? in[j] : to_float(limit((in[j] - first_[j]) * factor_[j]));
    }
  }
}

double Standardiser::limit(double scaled) const {
  if (scaling_ == Scaling::kMinMax) return std::clamp(scaled, 0.0, 1.0);
  const double excess = std::fabs(scaled) - range_;
  if (range_ == 0.0 || !(excess > 0.0)) return scaled;
  return std::copysign(range_ + (excess < 1e15 ? range_ * excess / (range_ + excess) : range_),
                       scaled);
}

// What was constant has no scale to be too far away by.
Standardiser::Farthest Standardiser::farthest(const float* row) const {
  constexpr double kWild = 2e4;  // ranges
  Farthest found;
  if (scaling_ != Scaling::kMeanVariance || count_ == 0.0 || range_ == 0.0) return found;
  for (Index j = 0; j < features_; ++j) {
    const double ranges = std::fabs((row[j] - first_[j]) * factor_[j]) / range_;
    found.wild = found.wild || (ranges > kWild && !is_constant(j));
    if (!(ranges > found.ranges)) continue;
    found.ranges = ranges;
    found.feature = j;
  }
  return found;
}

Standardiser::Beyond Standardiser::beyond(ConstMatrixView rows) const {
  constexpr double kFar = 20.0;  // ranges; nearer, compression leaves enough to tell rows apart
  constexpr double kMagnitude = 0.75;  // standard deviation of the logarithm
  constexpr double kLeastRows = 10.0;
  constexpr double kPart = 0.1;
  Beyond found;
  Sample magnitude;
  for (Index i = 0; i < rows.rows; ++i) {
    const Farthest row = farthest(rows.row(i));
    found.rows += row.ranges > 1.0 ? 1 : 0;
    if (row.ranges > found.ranges) {
      found.ranges = row.ranges;
      found.feature = row.feature;
    }
    if (row.ranges > kFar && !row.wild) magnitude.add(std::log(row.ranges));
  }
  found.another_range = magnitude.count >= kLeastRows &&
                        magnitude.count >= kPart * static_cast<double>(rows.rows) &&
                        magnitude.variance() < kMagnitude * kMagnitude;
  return found;
}

void Standardiser::invert(ConstMatrixView scaled, MatrixView out) const {
  const bool copy = scaling_ == Scaling::kOff || count_ == 0.0;
  for (Index i = 0; i < scaled.rows; ++i) {
    const float* in = scaled.row(i);
    float* to = out.row(i);
    for (Index j = 0; j < scaled.cols; ++j) {
      if (copy) {
        to[j] = in[j];
      } else {
        to[j] = to_float(first_[j] + (factor_[j] > 0.0 ? in[j] / factor_[j] : 0.0));
      }
    }
  }
}

void Standardiser::save(ByteWriter& writer) const {
  writer.write_u32(static_cast<std::uint32_t>(scaling_));
  writer.write_u32(static_cast<std::uint32_t>(features_));
  writer.write_f64(count_);
  if (scaling_ == Scaling::kOff) return;
  for (Index j = 0; j < features_; ++j) {
    writer.write_f64(first_[j]);
    writer.write_f64(second_[j]);
  }
}

Status Standardiser::load(ByteReader& reader) {
  const Status bad = {StatusCode::kCorruptData, "input scaling does not parse"};
  if (reader.read_u32() != static_cast<std::uint32_t>(scaling_) ||
      reader.read_u32() != static_cast<std::uint32_t>(features_)) {
    return bad;
  }
  const double count = reader.read_f64();
  if (!reader.ok() || !(count >= 0.0) || !within(count, static_cast<double>(kMostRows))) return bad;
  if (scaling_ == Scaling::kOff) {
    count_ = count;
    return {};
  }
  // Read twice: once to look, once to take.
  ByteReader look = reader;
  for (Index j = 0; j < features_; ++j) {
    const double first = look.read_f64();
    const double second = look.read_f64();
    const double least = scaling_ == Scaling::kMinMax ? first : 0.0;
    if (!within(first, kLargestNumber) || !within(second, kLargestNumber) || second < least) {
      return bad;
    }
  }
  if (!look.ok()) return bad;
  for (Index j = 0; j < features_; ++j) {
    first_[j] = reader.read_f64();
    second_[j] = reader.read_f64();
  }
  count_ = count;
  if (count_ > 0.0) refresh();
  return {};
}

}  // namespace adapvae

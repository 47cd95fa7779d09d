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

float to_float(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

}  // namespace

void Standardiser::place(Arena& arena, Index features, Scaling scaling, double clip) {
  scaling_ = scaling;
  clip_ = clip;
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
    } else {
      // Welford: exact for the rows seen, in one pass.
      for (Index j = 0; j < features_; ++j) {
        const double before = row[j] - first_[j];
        first_[j] += before / count_;
        second_[j] += before * (row[j] - first_[j]);
      }
    }
  }
  refresh();
}

void Standardiser::refresh() {
  for (Index j = 0; j < features_; ++j) {
    const bool range = scaling_ == Scaling::kMinMax;
    const double spread = range ? second_[j] - first_[j] : std::sqrt(second_[j] / count_);
    const double magnitude =
        range ? std::max(std::fabs(first_[j]), std::fabs(second_[j])) : std::fabs(first_[j]);
    const bool constant = !(spread > kRelativeFloor * magnitude) || !(spread > 1e-30);
    // What never moved tells nothing now, but must be seen when it does.
    const double moved = range ? 0.0 : 1.0 / (magnitude > 0.0 ? kMovedPart * magnitude : 1.0);
    factor_[j] = constant ? moved : 1.0 / spread;
  }
}

void Standardiser::apply(ConstMatrixView rows, MatrixView out) const {
  const bool copy = scaling_ == Scaling::kOff || count_ == 0.0;
  const bool range = scaling_ == Scaling::kMinMax;
  const double high = range ? 1.0 : clip_ > 0.0 ? clip_ : std::numeric_limits<float>::max();
  const double low = range ? 0.0 : -high;
  for (Index i = 0; i < rows.rows; ++i) {
    const float* in = rows.row(i);
    float* to = out.row(i);
    for (Index j = 0; j < rows.cols; ++j) {
      to[j] = copy ? in[j]
                   : static_cast<float>(std::clamp((in[j] - first_[j]) * factor_[j], low, high));
    }
  }
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

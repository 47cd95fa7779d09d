#include "network/standardiser.h"

#include <algorithm>
#include <cmath>

namespace adapvae {
namespace {

// Below this fraction of its magnitude a spread is rounding noise: the feature is constant.
constexpr double kRelativeFloor = 1e-7;

}  // namespace

void Standardiser::place(Arena& arena, Index features, Scaling scaling) {
  scaling_ = scaling;
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
    factor_[j] = constant ? 0.0 : 1.0 / spread;
  }
}

void Standardiser::apply(ConstMatrixView rows, MatrixView out) const {
  const bool copy = scaling_ == Scaling::kOff || count_ == 0.0;
  for (Index i = 0; i < rows.rows; ++i) {
    const float* in = rows.row(i);
    float* to = out.row(i);
    for (Index j = 0; j < rows.cols; ++j) {
      const float scaled = copy ? in[j] : static_cast<float>((in[j] - first_[j]) * factor_[j]);
      to[j] = scaling_ == Scaling::kMinMax && !copy ? std::clamp(scaled, 0.0F, 1.0F) : scaled;
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
        to[j] = static_cast<float>(first_[j] + (factor_[j] > 0.0 ? in[j] / factor_[j] : 0.0));
      }
    }
  }
}

}  // namespace adapvae

#include "network/optimiser.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace adapvae {
namespace {

// A gradient beyond this is as good as infinite: its square would not fit Adam's second moment.
constexpr double kLargestNorm = 1e18;

}  // namespace

void Optimiser::place(Arena& arena, Index parameter_count) {
  count_ = parameter_count;
  first_moment_ = arena.take<float>(static_cast<std::size_t>(parameter_count));
  second_moment_ = arena.take<float>(static_cast<std::size_t>(parameter_count));
}

void Optimiser::reset() {
  forget_moments();
  range_count_ = 0;
  decay_ = 1.0;
}

void Optimiser::forget_moments() {
  std::fill_n(first_moment_, count_, 0.0F);
  std::fill_n(second_moment_, count_, 0.0F);
  moments_changed_ = true;
  steps_ = 0;
}

bool Optimiser::same_ranges(std::span<const ParameterRange> ranges) const {
  return std::equal(ranges.begin(), ranges.end(), ranges_, ranges_ + range_count_,
                    [](const ParameterRange& a, const ParameterRange& b) {
                      return a.begin == b.begin && a.end == b.end;
                    });
}

StepReport Optimiser::step(Backend& backend, double loss, float* parameters, const float* gradients,
                           std::span<const ParameterRange> ranges) {
  StepReport report;
  double squared = 0.0;
  for (const ParameterRange& range : ranges) {
    squared += backend.squared_norm(gradients + range.begin, range.end - range.begin);
  }
  report.gradient_norm = std::sqrt(squared);
  if (!std::isfinite(loss) || !(report.gradient_norm <= kLargestNorm)) {
    ++skipped_;
    return report;
  }
  const double limit = settings_.clip_norm;
  const bool clip = limit > 0.0 && report.gradient_norm > limit;
  const float scale = clip ? static_cast<float>(limit / report.gradient_norm) : 1.0F;
  if (!same_ranges(ranges)) {
    assert(ranges.size() <= kMaxRanges);
    if (range_count_ > 0) forget_moments();
    range_count_ = std::min(ranges.size(), kMaxRanges);
    std::copy_n(ranges.begin(), range_count_, ranges_);
  }
  if (moments_changed_) {
    backend.changed(first_moment_, count_);
    backend.changed(second_moment_, count_);
    moments_changed_ = false;
  }
  AdamSettings adam = settings_.adam;
  adam.learning_rate = learning_rate();
  ++steps_;
  ++taken_;
  for (const ParameterRange& range : ranges) {
    backend.adam(adam, steps_, scale, range.end - range.begin, gradients + range.begin,
                 parameters + range.begin, first_moment_ + range.begin,
                 second_moment_ + range.begin);
  }
  decay_ *= settings_.step_decay;
  report.applied = true;
  return report;
}

}  // namespace adapvae

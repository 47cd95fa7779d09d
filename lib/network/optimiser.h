// Adam over the flat parameter buffer, with what a long-running stream needs around it: clipping,
// learning-rate decay, and a guard that lets nothing non-finite through.
#pragma once

#include <span>

#include "base/arena.h"
#include "compute/backend.h"

namespace adapvae {

struct OptimiserSettings {
  AdamSettings adam;
  float clip_norm = 0.0F;    // gradients with a larger norm are scaled to it; 0 = off
  float step_decay = 1.0F;   // learning rate is multiplied by this after every step
  float epoch_decay = 1.0F;  // and by this at every end_epoch()
};

// Entries [begin, end) of the flat buffers.
struct ParameterRange {
  Index begin = 0;
  Index end = 0;
};

struct StepReport {
  bool applied = false;        // false: loss or gradient was not finite; parameters untouched
  double gradient_norm = 0.0;  // before clipping
};

class Optimiser {
 public:
  // Memory is not initialised: call reset() before the first step.
  void place(Arena& arena, Index parameter_count);
  // Forgets moments, decay and step number; keeps the settings.
  void reset();

  OptimiserSettings& settings() { return settings_; }

  // One step on the given ranges (at most kMaxRanges) of the buffers. A non-finite loss or gradient
  // norm skips the step and is counted: neither parameters nor moments change. When the ranges are
  // not those of the step before, moments and step number start afresh: Adam's bias correction is
  // only right for parameters that took part in every step.
  StepReport step(Backend& backend, double loss, float* parameters, const float* gradients,
                  std::span<const ParameterRange> ranges);
  void end_epoch() { decay_ *= settings_.epoch_decay; }

  std::uint32_t steps() const { return steps_; }
  std::uint64_t skipped_steps() const { return skipped_; }
  std::uint64_t taken_steps() const { return taken_; }
  float learning_rate() const { return settings_.adam.learning_rate * static_cast<float>(decay_); }

 private:
  static constexpr std::size_t kMaxRanges = 2;
  void forget_moments();
  bool same_ranges(std::span<const ParameterRange> ranges) const;

  OptimiserSettings settings_;
  ParameterRange ranges_[kMaxRanges];  // of the last step
  std::size_t range_count_ = 0;
  Index count_ = 0;
  float* first_moment_ = nullptr;   // laid out like the parameters
  float* second_moment_ = nullptr;  // likewise
  bool moments_changed_ = true;     // since a backend saw them
  std::uint32_t steps_ = 0;
  std::uint64_t skipped_ = 0;
  std::uint64_t taken_ = 0;
  double decay_ = 1.0;
};

}  // namespace adapvae

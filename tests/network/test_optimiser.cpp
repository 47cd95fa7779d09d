// The optimiser against AdamW in double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "network/optimiser.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Index kCount = 203;

// An optimiser alone in its memory: every byte of it is a moment.
struct OptimiserFixture {
  explicit OptimiserFixture(IsaLevel level = IsaLevel::kAuto)
      : backend_memory(planned_bytes([&](Arena& arena) { place_backend(arena, level); })),
        memory(planned_bytes([](Arena& arena) { Optimiser().place(arena, kCount); })) {
    Arena backend_arena(backend_memory.data(), backend_memory.size());
    place_backend(backend_arena, level);
    Arena arena(memory.data(), memory.size());
    optimiser.place(arena, kCount);
    optimiser.reset();
  }

  void place_backend(Arena& arena, IsaLevel level) {
    backend.place(arena, {.rows = 1, .widest_layer = 1, .dims = 1, .clusters = 1},
                  *select_kernels(level));
  }
  StepReport step(const std::vector<float>& gradient, double loss = 1.0) {
    const ParameterRange everything = {0, kCount};
    return optimiser.step(backend, loss, parameters.data(), gradient.data(), {&everything, 1});
  }

  CpuBackend backend;
  GuardedMemory backend_memory;
  GuardedMemory memory;
  Optimiser optimiser;
  std::vector<float> parameters = random_normals(kCount, 1);
};

double norm_of(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

// Loshchilov and Hutter 2019, algorithm 2, with clipping and decay of the learning rate.
class ReferenceAdam {
 public:
  ReferenceAdam(const OptimiserSettings& settings, const std::vector<float>& parameters)
      : parameters_(parameters.begin(), parameters.end()),
        first_(parameters.size(), 0.0),
        second_(parameters.size(), 0.0),
        settings_(settings) {}

  void step(const std::vector<float>& gradient) {
    const AdamSettings& adam = settings_.adam;
    const double beta1 = adam.beta1;
    const double beta2 = adam.beta2;
    const double rate = adam.learning_rate * decay_;
    const double norm = norm_of(gradient);
    const double limit = settings_.clip_norm;
    const double scale = limit > 0.0 && norm > limit ? limit / norm : 1.0;
    ++steps_;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double g = gradient[i] * scale;
      first_[i] = beta1 * first_[i] + (1.0 - beta1) * g;
      second_[i] = beta2 * second_[i] + (1.0 - beta2) * g * g;
      const double mean = first_[i] / (1.0 - std::pow(beta1, steps_));
      const double square = second_[i] / (1.0 - std::pow(beta2, steps_));
      parameters_[i] -= rate * adam.weight_decay * parameters_[i] +
                        rate * mean / (std::sqrt(square) + adam.epsilon);
    }
    decay_ *= settings_.step_decay;
  }
  void end_epoch() { decay_ *= settings_.epoch_decay; }

  double worst_difference(const std::vector<float>& parameters) const {
    double worst = 0.0;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const double difference = std::fabs(parameters[i] - parameters_[i]);
      worst = difference <= worst ? worst : difference;
    }
    return worst;
  }

 private:
  std::vector<double> parameters_, first_, second_;
  OptimiserSettings settings_;
  double decay_ = 1.0;
  int steps_ = 0;
};

// 50 steps of a gradient that pulls towards zero, with noise; every tenth ends an epoch. Returns
// the worst difference from the reference, which moves the parameters by about 1.
double difference_after_steps(const OptimiserSettings& settings, IsaLevel level) {
  OptimiserFixture fixture(level);
  fixture.optimiser.settings() = settings;
  ReferenceAdam reference(settings, fixture.parameters);
  for (int i = 0; i < 50; ++i) {
    std::vector<float> gradient = random_normals(kCount, 100 + static_cast<std::uint64_t>(i));
    for (Index j = 0; j < kCount; ++j) gradient[j] += fixture.parameters[j];
    const StepReport report = fixture.step(gradient);
    CHECK(report.applied);
    CHECK(report.gradient_norm == doctest::Approx(norm_of(gradient)).epsilon(1e-12));
    reference.step(gradient);
    if (i % 10 == 9) {
      fixture.optimiser.end_epoch();
      reference.end_epoch();
    }
  }
  CHECK(fixture.optimiser.steps() == 50);
  CHECK(fixture.optimiser.skipped_steps() == 0);
  CHECK(fixture.memory.guards_untouched());
  return reference.worst_difference(fixture.parameters);
}

constexpr double kTolerance = 5e-6;  // 50 roundings of numbers of order 1

}  // namespace

TEST_CASE("50 steps agree with AdamW in double") {
  for (const IsaLevel level : available_levels()) {
    CAPTURE(isa_level_name(level));
    OptimiserSettings plain;
    plain.adam.learning_rate = 0.02F;
    CHECK(difference_after_steps(plain, level) <= kTolerance);

    OptimiserSettings decoupled = plain;
    decoupled.adam.weight_decay = 0.5F;
    CHECK(difference_after_steps(decoupled, level) <= kTolerance);

    OptimiserSettings unusual = decoupled;
    unusual.adam.beta1 = 0.5F;
    unusual.adam.beta2 = 0.9F;
    unusual.adam.epsilon = 0.3F;
    CHECK(difference_after_steps(unusual, level) <= kTolerance);

    // With a large epsilon Adam feels the size of a gradient, and so the clipping.
    OptimiserSettings clipped = unusual;
    clipped.clip_norm = 1.5F;
    CHECK(difference_after_steps(clipped, level) <= kTolerance);

    OptimiserSettings decaying = unusual;
    decaying.step_decay = 0.97F;
    decaying.epoch_decay = 0.7F;
    CHECK(difference_after_steps(decaying, level) <= kTolerance);
  }
}

TEST_CASE("clipping scales a gradient to the norm and leaves smaller ones alone") {
  // The step of a clipped gradient is that of the gradient scaled by hand.
  std::vector<float> gradient = random_normals(kCount, 5, 3.0);
  const double norm = norm_of(gradient);
  std::vector<float> scaled = gradient;
  for (float& value : scaled) value = static_cast<float>(value * (0.25 / norm));
  const auto moved = [](const std::vector<float>& by, float clip_norm, double* norm_seen) {
    OptimiserFixture fixture;
    fixture.optimiser.settings().clip_norm = clip_norm;
    fixture.optimiser.settings().adam.epsilon = 0.5F;
    fixture.optimiser.settings().adam.learning_rate = 0.1F;
    *norm_seen = fixture.step(by).gradient_norm;
    return fixture.parameters;
  };
  double seen = 0.0;
  const std::vector<float> clipped = moved(gradient, 0.25F, &seen);
  CHECK(seen == doctest::Approx(norm).epsilon(1e-12));  // before clipping
  const std::vector<float> by_hand = moved(scaled, 0.0F, &seen);
  double worst = 0.0;
  for (Index i = 0; i < kCount; ++i) {
    worst = std::max<double>(worst, std::fabs(clipped[i] - by_hand[i]));
  }
  CHECK(worst <= 2e-7);
  const std::vector<float> free = moved(gradient, 0.0F, &seen);
  CHECK_FALSE(same_bytes(free, clipped));
  CHECK(same_bytes(moved(gradient, static_cast<float>(norm * 1.01), &seen), free));
}

TEST_CASE("the learning rate decays with every step and every epoch") {
  OptimiserFixture fixture;
  OptimiserSettings& settings = fixture.optimiser.settings();
  settings.adam.learning_rate = 0.5F;
  settings.step_decay = 0.9F;
  settings.epoch_decay = 0.5F;
  const std::vector<float> gradient = random_normals(kCount, 6);
  CHECK(fixture.optimiser.learning_rate() == 0.5F);
  for (int i = 1; i <= 4; ++i) {
    fixture.step(gradient);
    CHECK(fixture.optimiser.learning_rate() == doctest::Approx(0.5 * std::pow(0.9, i)));
  }
  fixture.optimiser.end_epoch();
  CHECK(fixture.optimiser.learning_rate() == doctest::Approx(0.25 * std::pow(0.9, 4)));
  fixture.optimiser.end_epoch();
  CHECK(fixture.optimiser.learning_rate() == doctest::Approx(0.125 * std::pow(0.9, 4)));
  CHECK(fixture.optimiser.steps() == 4);
  fixture.optimiser.reset();
  CHECK(fixture.optimiser.steps() == 0);
  CHECK(fixture.optimiser.learning_rate() == 0.5F);
}

TEST_CASE("reset makes the next steps those of a new optimiser") {
  OptimiserFixture used;
  OptimiserFixture fresh;
  const std::vector<float> start = used.parameters;
  for (std::uint64_t i = 0; i < 5; ++i) used.step(random_normals(kCount, i));
  used.parameters = start;
  used.optimiser.reset();
  for (std::uint64_t i = 20; i < 25; ++i) {
    used.step(random_normals(kCount, i));
    fresh.step(random_normals(kCount, i));
  }
  CHECK(same_bytes(used.parameters, fresh.parameters));
  CHECK(same_bytes(used.memory.snapshot(), fresh.memory.snapshot()));
}

TEST_CASE("only the given ranges move, as if they were the whole") {
  OptimiserFixture part;
  OptimiserFixture whole;
  const ParameterRange ranges[] = {{10, 47}, {100, 160}};
  const auto inside = [&](Index i) { return (i >= 10 && i < 47) || (i >= 100 && i < 160); };
  const std::vector<float> start = part.parameters;
  for (std::uint64_t step = 0; step < 3; ++step) {
    const std::vector<float> gradient = random_normals(kCount, 40 + step);
    std::vector<float> masked = gradient;
    // What lies outside is not even looked at.
    std::vector<float> with_nan = gradient;
    for (Index i = 0; i < kCount; ++i) {
      if (inside(i)) continue;
      masked[i] = 0.0F;
      with_nan[i] = std::numeric_limits<float>::quiet_NaN();
    }
    const StepReport report =
        part.optimiser.step(part.backend, 0.0, part.parameters.data(), with_nan.data(), ranges);
    CHECK(report.applied);
    CHECK(report.gradient_norm == doctest::Approx(norm_of(masked)).epsilon(1e-12));
    whole.step(gradient);
  }
  bool right = true;
  for (Index i = 0; i < kCount; ++i) {
    const float expected = inside(i) ? whole.parameters[i] : start[i];
    right = right && part.parameters[i] == expected;
  }
  CHECK(right);
}

TEST_CASE("a loss or gradient that is not finite changes no byte of parameters and moments") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const IsaLevel level : available_levels()) {
    CAPTURE(isa_level_name(level));
    OptimiserFixture fixture(level);
    OptimiserSettings& settings = fixture.optimiser.settings();
    settings.clip_norm = 1.0F;
    settings.step_decay = 0.9F;
    for (std::uint64_t i = 0; i < 3; ++i) fixture.step(random_normals(kCount, i));
    const std::vector<float> parameters = fixture.parameters;
    const std::vector<std::byte> moments = fixture.memory.snapshot();
    const float learning_rate = fixture.optimiser.learning_rate();
    std::uint64_t skipped = 0;
    const auto check_skipped = [&](const std::vector<float>& gradient, double loss) {
      const StepReport report = fixture.step(gradient, loss);
      CHECK_FALSE(report.applied);
      CHECK(same_bytes(fixture.parameters, parameters));
      CHECK(same_bytes(fixture.memory.snapshot(), moments));
      CHECK(fixture.optimiser.steps() == 3);
      CHECK(fixture.optimiser.skipped_steps() == ++skipped);
      CHECK(fixture.optimiser.learning_rate() == learning_rate);
    };
    const std::vector<float> good = random_normals(kCount, 9);
    for (const double loss : {static_cast<double>(kNan), static_cast<double>(kInfinity),
                              -static_cast<double>(kInfinity)}) {
      check_skipped(good, loss);
    }
    for (const Index place : {Index{0}, Index{100}, kCount - 1}) {
      for (const float value : {kNan, kInfinity, -kInfinity, 1e30F, -1e19F}) {
        std::vector<float> bad = good;
        bad[place] = value;
        check_skipped(bad, 1.0);
      }
    }
    // Large is not too large.
    std::vector<float> large = good;
    large[5] = 9e17F;
    CHECK(fixture.step(large).applied);
    bool finite = true;
    for (const float value : fixture.parameters) finite = finite && std::isfinite(value);
    CHECK(finite);
  }
}

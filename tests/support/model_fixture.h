// A small model in memory of exactly the planned size, and rows of made-up kinds for it.
#pragma once

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "model/model.h"
#include "support/network_fixture.h"

namespace adapvae::testing {

inline constexpr Index kInputs = 20;

inline Configuration small_model() {
  Configuration config;
  config.inputs = kInputs;
  config.latent = 4;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.activation = static_cast<std::int32_t>(Activation::kTanh);
  config.likelihood = static_cast<std::int32_t>(Likelihood::kGaussian);
  config.likelihood_variance = 0.05;
  config.pass_rows = 100;
  config.max_clusters = 12;
  config.block_rows = 400;
  config.batch = 50;
  config.pretrain_epochs = 40;
  config.adapt_epochs = 30;
  config.prior_weight = 0.1;
  config.learning_rate = 3e-3;
  config.pretrain_mask_probability = 0.0;
  config.effective_rows = 0.0;
  config.merge_old_with_new = 1;
  return config;
}

struct ModelFixture {
  explicit ModelFixture(const Configuration& config_in = small_model())
      : config(config_in), memory(bytes()), arena(memory.data(), memory.size()) {
    REQUIRE(check_configuration(config).ok());
    place(arena);
    model.reset();
  }
  std::size_t bytes() {
    return planned_bytes([&](Arena& a) { place(a); });
  }
  void place(Arena& a) {
    backend.place(a, Model::limits(config), *select_kernels(IsaLevel::kAuto));
    model.place(a, config);
  }
  std::vector<ClusterId> ids(const Rows& rows) {
    std::vector<ClusterId> out;
    for (const RowResult& result : score(rows)) out.push_back(result.id);
    return out;
  }
  std::vector<RowResult> score(const Rows& rows) {
    std::vector<RowResult> out(static_cast<std::size_t>(rows.rows));
    REQUIRE(model.score(backend, rows.view(), out.data()).ok());
    return out;
  }
  // All that the model knows.
  std::vector<std::uint8_t> state() {
    std::vector<std::uint8_t> out(ClusterLearner::most_bytes(model.clusters().config()));
    ByteWriter writer(out.data(), out.size());
    model.clusters().save(writer);
    std::vector<std::uint8_t> scale(Standardiser::most_bytes(config.inputs));
    ByteWriter scale_writer(scale.data(), scale.size());
    model.input_scale().save(scale_writer);
    out.resize(writer.position());
    out.insert(out.end(), scale.begin(), scale.end());
    const auto* p = reinterpret_cast<const std::uint8_t*>(model.network().parameters());
    out.insert(out.end(), p, p + model.network().parameter_count() * 4);
    return out;
  }

  std::vector<std::byte> snapshot() const {
    std::vector<std::byte> out(model.snapshot_bytes());
    std::size_t size = 0;
    REQUIRE(model.save(out.data(), out.size(), &size).ok());
    REQUIRE(size == out.size());
    return out;
  }
  Status load(const std::vector<std::byte>& bytes) {
    return model.load(bytes.data(), bytes.size());
  }

  StreamReport learn(const Rows& rows, double time = 0.0) {
    StreamReport report;
    REQUIRE(model.learn(backend, rows.view(), &report, time).ok());
    return report;
  }

  Status set_live(const char* name, double value) {
    return model.set_live(*find_field(name), value);
  }

  Configuration config;
  CpuBackend backend;
  Model model;
  GuardedMemory memory;
  Arena arena;
};

// Rows of kinds [first, last]: each kind is a random pattern that its rows vary along two
// directions.
inline Rows kinds(int first, int last, Index rows, std::uint32_t seed) {
  Rows out(rows, kInputs);
  Philox random({.seed = 95, .index = seed});
  for (Index i = 0; i < rows; ++i) {
    const int kind = first + static_cast<int>(i) % (last - first + 1);
    Philox pattern({.seed = 96, .index = static_cast<std::uint32_t>(kind)});
    const double a = sample_normal(random);
    const double b = sample_normal(random);
    for (Index j = 0; j < kInputs; ++j) {
      const double center = sample_normal(pattern);
      const double along = 0.2 * sample_normal(pattern) * a + 0.2 * sample_normal(pattern) * b;
      out(i, j) = static_cast<float>(center + along + 0.1 * sample_normal(random));
    }
  }
  return out;
}

}  // namespace adapvae::testing

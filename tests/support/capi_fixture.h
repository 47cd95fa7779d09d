// A small model through the C API, as a user has it: nothing of the core is included here.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "adapvae/adapvae.h"

namespace adapvae_test {

inline constexpr int32_t kInputs = 20;
inline constexpr int32_t kLatent = 4;

inline adapvae_config small_config() {
  adapvae_config config;
  REQUIRE(adapvae_config_init(&config, sizeof config) == ADAPVAE_OK);
  config.inputs = kInputs;
  config.latent = kLatent;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.likelihood = 1;
  config.likelihood_variance = 0.05;
  config.pass_rows = 100;
  config.max_clusters = 12;
  config.block_rows = 400;
  config.batch = 50;
  config.adapt_epochs = 30;
  config.prior_weight = 0.1;
  config.learning_rate = 3e-3;
  config.pretrain_mask_probability = 0.0;
  config.effective_rows = 0.0;
  config.merge_old_with_new = 1;
  return config;
}

// Numbers that every platform makes alike.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U) {}
  double uniform() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<double>((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
  }
  double normal() {
    double sum = 0.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum - 6.0;
  }

 private:
  uint64_t state_;
};

// Rows of kinds [first, last], in turn: each kind is a pattern that its rows vary along one
// direction.
inline std::vector<float> kinds(int first, int last, int32_t rows, uint64_t seed) {
  std::vector<float> out;
  Noise noise((seed + 1) << 48);
  for (int32_t i = 0; i < rows; ++i) {
    Noise pattern(static_cast<uint64_t>(first + i % (last - first + 1) + 1) << 32);
    const double along = noise.normal();
    for (int32_t j = 0; j < kInputs; ++j) {
      const double center = pattern.normal();
      out.push_back(
          static_cast<float>(center + 0.2 * pattern.normal() * along + 0.1 * noise.normal()));
    }
  }
  return out;
}

// Owns a handle.
struct Handle {
  explicit Handle(const adapvae_config& config = small_config(),
                  const adapvae_options* options = nullptr) {
    adapvae_error error = {};
    error.struct_size = sizeof error;
    const adapvae_status status = adapvae_create(&config, options, &model, &error);
    INFO(error.message);
    REQUIRE(status == ADAPVAE_OK);
  }
  explicit Handle(adapvae_model* owned) : model(owned) {}
  ~Handle() { adapvae_destroy(model); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  void learn(const std::vector<float>& rows) {
    const adapvae_status status =
        adapvae_learn(model, rows.data(), static_cast<int32_t>(rows.size()) / kInputs, 0, nullptr);
    INFO(message());
    REQUIRE(status == ADAPVAE_OK);
  }
  std::vector<adapvae_result> score(const std::vector<float>& rows) const {
    std::vector<adapvae_result> out(rows.size() / kInputs);
    REQUIRE(adapvae_score(model, rows.data(), static_cast<int32_t>(out.size()), 0, out.data()) ==
            ADAPVAE_OK);
    return out;
  }
  std::vector<unsigned char> save() const {
    size_t size = 0;
    REQUIRE(adapvae_save(model, nullptr, 0, &size) == ADAPVAE_OK);
    std::vector<unsigned char> out(size);
    REQUIRE(adapvae_save(model, out.data(), out.size(), &size) == ADAPVAE_OK);
    REQUIRE(size == out.size());
    return out;
  }
  adapvae_info info() const {
    adapvae_info out = {};
    out.struct_size = sizeof out;
    REQUIRE(adapvae_get_info(model, &out) == ADAPVAE_OK);
    return out;
  }
  std::string message() const {
    adapvae_error error = {};
    error.struct_size = sizeof error;
    REQUIRE(adapvae_last_error(model, &error) == ADAPVAE_OK);
    return error.message;
  }

  adapvae_model* model = nullptr;
};

inline bool same(const std::vector<adapvae_result>& a, const std::vector<adapvae_result>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0);
}

}  // namespace adapvae_test

// Masking and noise of inputs.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "network/corruption.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr RandomKey kKey = {.seed = 5, .purpose = RandomPurpose::kCorruption, .stream = 1};
constexpr double kStandardErrors = 4.0;

Rows constant_rows(Index rows, Index cols, float value) {
  Rows result(rows, cols);
  std::fill(result.data.begin(), result.data.end(), value);
  return result;
}

}  // namespace

TEST_CASE("the masked share is the probability, the rest is untouched") {
  for (const float probability : {0.001F, 0.1F, 0.3F, 0.75F, 0.999F}) {
    CAPTURE(probability);
    Rows rows = constant_rows(400, 500, 3.0F);
    corrupt_rows({.mask_probability = probability}, kKey, nullptr, rows.view());
    const auto masked = std::count(rows.data.begin(), rows.data.end(), 0.0F);
    CHECK(masked + std::count(rows.data.begin(), rows.data.end(), 3.0F) == 200000);
    const double p = probability;
    const double n = 200000.0;
    CHECK(std::fabs(static_cast<double>(masked) - n * p) <=
          kStandardErrors * std::sqrt(n * p * (1.0 - p)));
    // No column and no row is spared.
    if (probability == 0.3F) {
      for (const Index i : {Index{0}, Index{399}}) {
        const float* row = rows.view().row(i);
        const auto zeros = std::count(row, row + 500, 0.0F);
        CHECK(std::fabs(static_cast<double>(zeros) - 150.0) <= 45.0);
      }
      for (const Index j : {Index{0}, Index{499}}) {
        Index zeros = 0;
        for (Index i = 0; i < 400; ++i) zeros += rows(i, j) == 0.0F ? 1 : 0;
        CHECK(std::fabs(static_cast<double>(zeros) - 120.0) <= 40.0);
      }
    }
  }
}

TEST_CASE("noise has mean zero and the given deviation") {
  for (const float probability : {0.0F, 0.4F}) {
    CAPTURE(probability);
    Rows rows = constant_rows(400, 500, 10.0F);
    corrupt_rows({.mask_probability = probability, .noise_deviation = 0.5F}, kKey, nullptr,
                 rows.view());
    double count = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    for (const float value : rows.data) {
      if (value == 0.0F) continue;  // masked: noise of 20 deviations does not happen
      const double noise = value - 10.0;
      count += 1.0;
      sum += noise;
      squares += noise * noise;
    }
    const double kept = 200000.0 * (1.0 - static_cast<double>(probability));
    CHECK(std::fabs(count - kept) <= kStandardErrors * std::sqrt(kept));
    CHECK(std::fabs(sum / count) <= kStandardErrors * 0.5 / std::sqrt(count));
    CHECK(std::fabs(squares / count / 0.25 - 1.0) <= kStandardErrors * std::sqrt(2.0 / count));
  }
}

TEST_CASE("no corruption changes no bit") {
  Rows rows = random_rows(20, 30, 1);
  const Rows before = rows;
  corrupt_rows({}, kKey, nullptr, rows.view());
  CHECK(same_bytes(rows.data, before.data));
  CHECK_FALSE(CorruptionSettings{}.active());
  CHECK(CorruptionSettings{.mask_probability = 0.1F}.active());
  CHECK(CorruptionSettings{.noise_deviation = 0.1F}.active());
}

TEST_CASE("the corruption of a row depends on its id and the key, not on its place") {
  const CorruptionSettings settings = {.mask_probability = 0.3F, .noise_deviation = 0.2F};
  const std::uint32_t ids[] = {4, 0, 4, 1, 2};
  Rows by_id = constant_rows(5, 40, 1.0F);
  Rows by_place(5, 40, 3);
  for (Index i = 0; i < 5; ++i) std::fill_n(by_place.view().row(i), 40, 1.0F);
  corrupt_rows(settings, kKey, ids, by_id.view());
  corrupt_rows(settings, kKey, nullptr, by_place.view());
  const auto same = [](const Rows& a, Index i, const Rows& b, Index j) {
    return std::equal(a.view().row(i), a.view().row(i) + a.cols, b.view().row(j));
  };
  CHECK(same(by_id, 0, by_id, 2));
  for (Index i = 0; i < 5; ++i) CHECK(same(by_id, i, by_place, ids[i]));
  CHECK_FALSE(same(by_place, 0, by_place, 1));
  // The padding between rows belongs to somebody else.
  for (Index i = 0; i < 5; ++i) CHECK(by_place.data[i * 43 + 41] == 0.0F);
  RandomKey later = kKey;
  later.epoch = 1;
  Rows other = constant_rows(5, 40, 1.0F);
  corrupt_rows(settings, later, ids, other.view());
  CHECK_FALSE(same(other, 0, by_id, 0));
}

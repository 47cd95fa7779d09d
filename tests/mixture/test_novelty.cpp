// The scale of novelty: quantiles of what was counted, the boundary, and the number in [0, 1].
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "base/philox.h"
#include "base/sampling.h"
#include "base/special_functions.h"
#include "mixture/novelty.h"

using namespace adapvae;

namespace {

constexpr Index kDims = 8;
constexpr double kDeviation = 2.0;  // √(8/2)
const NoveltySettings kLongMemory = {.memory_rows = 1e6};

NoveltyScale fresh() {
  NoveltyScale scale;
  scale.reset(kDims);
  return scale;
}

// Counts normal surprises of this mean and the scale's deviation.
void count_normal(NoveltyScale& scale, int rows, double mean, double expected,
                  const NoveltySettings& settings, std::uint64_t seed) {
  Philox random({.seed = seed});
  for (int i = 0; i < rows; ++i) {
    scale.count(mean + kDeviation * sample_normal(random), expected, settings);
  }
}

std::vector<std::uint8_t> saved(const NoveltyScale& scale) {
  std::vector<std::uint8_t> bytes(NoveltyScale::most_bytes());
  ByteWriter writer(bytes.data(), bytes.size());
  scale.save(writer);
  REQUIRE(writer.ok());
  bytes.resize(writer.position());
  return bytes;
}

StatusCode load(NoveltyScale& scale, const std::vector<std::uint8_t>& bytes) {
  ByteReader reader(bytes.data(), bytes.size());
  return scale.load(reader).code();
}

}  // namespace

TEST_CASE("quantiles of a hundred thousand draws") {
  NoveltyScale scale = fresh();
  Philox random({.seed = 61});
  std::vector<double> all;
  for (int i = 0; i < 100000; ++i) {
    all.push_back(50.0 + kDeviation * sample_normal(random));
    scale.count(all.back(), 50.0, kLongMemory);
  }
  CHECK(scale.rows() == 100000.0);
  std::sort(all.begin(), all.end());
  for (const double part : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995}) {
    CAPTURE(part);
    const double exact = all[static_cast<std::size_t>(part * 100000.0)];
    CHECK(std::fabs(scale.quantile(part) - exact) <= 0.02 * kDeviation);
  }
  double before = -1e300;
  for (int i = 0; i <= 1000; ++i) {
    const double next = scale.quantile(i / 1000.0);
    REQUIRE(next >= before);
    before = next;
  }
}

TEST_CASE("the histogram serves far from what was expected, coarser") {
  NoveltyScale scale = fresh();
  count_normal(scale, 20000, 400.0, 50.0, kLongMemory, 62);
  // Buckets grow with distance: here one is 17 wide.
  CHECK(std::fabs(scale.quantile(0.5) - 400.0) <= 20.0);
  for (const double surprise : {1e30, -1e30, 1e300, -1e300}) {
    scale.count(surprise, 50.0, kLongMemory);
    CHECK(std::isfinite(scale.quantile(1.0)));
    CHECK(std::isfinite(scale.quantile(0.0)));
  }
  CHECK(scale.quantile(1.0) > 1e6);
  CHECK(scale.quantile(0.0) < -1e6);
}

TEST_CASE("a count that is taken back was never there") {
  NoveltyScale scale = fresh();
  count_normal(scale, 3000, 10.0, 10.0, kLongMemory, 63);
  const std::vector<std::uint8_t> before = saved(scale);
  Philox random({.seed = 64});
  std::vector<double> wrong;
  for (int i = 0; i < 500; ++i) wrong.push_back(30.0 + sample_normal(random));
  for (const double s : wrong) scale.count(s, 10.0, kLongMemory);
  CHECK(scale.rows() == 3500.0);
  CHECK(scale.quantile(0.9) > 25.0);
  for (const double s : wrong) scale.uncount(s);
  CHECK(scale.rows() == 3000.0);
  CHECK(saved(scale) == before);
  // Where nothing is counted there is nothing to take.
  for (int i = 0; i < 10; ++i) scale.uncount(1000.0);
  CHECK(saved(scale) == before);
}

TEST_CASE("old counts fade and the scale follows the stream") {
  const NoveltySettings settings = {.memory_rows = 1000.0};
  NoveltyScale scale = fresh();
  double most = 0.0;
  Philox random({.seed = 65});
  for (int i = 0; i < 20000; ++i) {
    const double mean = i < 10000 ? 20.0 : 32.0;
    scale.count(mean + kDeviation * sample_normal(random), 20.0, settings);
    most = std::max(most, scale.rows());
    if (i == 9999) CHECK(std::fabs(scale.quantile(0.5) - 20.0) <= 0.15 * kDeviation);
  }
  CHECK(std::fabs(scale.quantile(0.5) - 32.0) <= 0.25 * kDeviation);
  CHECK(std::fabs(scale.quantile(0.02) - (32.0 - 2.05 * kDeviation)) <= 0.5 * kDeviation);
  CHECK(most <= 1000.0);
  CHECK(scale.rows() >= 500.0);
  // A count that has faded is taken back only as far as it is still there.
  for (int i = 0; i < 30000; ++i) scale.uncount(32.0 + 0.001 * (i % 20000 - 10000));
  CHECK(scale.rows() >= 0.0);
}

TEST_CASE("the boundary is theory first and the quantile in the end") {
  const NoveltySettings settings = {.false_alarm_rate = 0.05, .memory_rows = 1e6};
  NoveltyScale scale = fresh();
  CHECK(scale.boundary(17.25, settings) == 17.25);
  count_normal(scale, 40, 10.0, 10.0, settings, 66);
  // Theory weighs as much as the rows of two false alarms: 40 here.
  CHECK(scale.boundary(17.25, settings) ==
        doctest::Approx(0.5 * (17.25 + scale.quantile(0.95))).epsilon(1e-12));
  count_normal(scale, 100000, 10.0, 10.0, settings, 67);
  CHECK(scale.boundary(17.25, settings) == doctest::Approx(scale.quantile(0.95)).epsilon(1e-3));
  const double exact = 10.0 + kDeviation * normal_quantile(0.95);
  CHECK(std::fabs(scale.boundary(17.25, settings) - exact) <= 0.03 * kDeviation);
  // Fewer false alarms: a higher boundary.
  const NoveltySettings fewer = {.false_alarm_rate = 0.001, .memory_rows = 1e6};
  CHECK(scale.boundary(17.25, fewer) > scale.boundary(17.25, settings) + kDeviation);
}

TEST_CASE("sensitivity moves the boundary a deviation per factor e") {
  NoveltyScale scale = fresh();
  count_normal(scale, 1000, 10.0, 10.0, kLongMemory, 68);
  NoveltySettings settings = kLongMemory;
  const double plain = scale.boundary(15.0, settings);
  settings.sensitivity = std::exp(1.0);
  CHECK(scale.boundary(15.0, settings) == doctest::Approx(plain - kDeviation).epsilon(1e-12));
  const float keen = scale.novelty(14.0, scale.boundary(15.0, settings));
  settings.sensitivity = 0.5;
  const float dull = scale.novelty(14.0, scale.boundary(15.0, settings));
  const float usual = scale.novelty(14.0, plain);
  CHECK(keen > usual);
  CHECK(usual > dull);
}

TEST_CASE("novelty lies in [0, 1], is a half at the boundary and rises") {
  const NoveltyScale scale = fresh();
  for (const double boundary : {-1e6, -3.7, 0.0, 0.1, 12.3, 1e6}) {
    CAPTURE(boundary);
    CHECK(scale.novelty(boundary, boundary) == 0.5F);
    float before = 0.0F;
    for (double d = -10.0; d <= 10.0; d += 0.125) {
      const float next = scale.novelty(boundary + d, boundary);
      REQUIRE(next > before);
      REQUIRE(next < 1.0F);
      REQUIRE((next > 0.5F) == (d > 0.0));
      before = next;
    }
    for (const double far : {1e3, 1e10, 1e300}) {
      CHECK(scale.novelty(boundary + far, boundary) == 1.0F);
      CHECK(scale.novelty(boundary - far, boundary) >= 0.0F);
      CHECK(scale.novelty(boundary - far, boundary) < 1e-30F);
    }
  }
  // One deviation, whatever the dimension, is the same step.
  NoveltyScale wide;
  wide.reset(200);
  CHECK(wide.novelty(10.0, 0.0) == scale.novelty(kDeviation, 0.0));
}

TEST_CASE("a scale is saved and loaded exactly") {
  NoveltyScale scale = fresh();
  const NoveltySettings settings = {.memory_rows = 700.0};
  count_normal(scale, 2345, -8.0, -7.5, settings, 69);
  const std::vector<std::uint8_t> bytes = saved(scale);
  CHECK(bytes.size() <= NoveltyScale::most_bytes());
  NoveltyScale other = fresh();
  count_normal(other, 10, 3.0, 3.0, settings, 70);
  REQUIRE(load(other, bytes) == StatusCode::kOk);
  CHECK(saved(other) == bytes);
  CHECK(other.rows() == scale.rows());
  count_normal(scale, 1000, -6.0, 0.0, settings, 71);
  count_normal(other, 1000, -6.0, 0.0, settings, 71);
  CHECK(saved(other) == saved(scale));
  CHECK(other.quantile(0.9) == scale.quantile(0.9));
}

TEST_CASE("bytes that are no scale are refused") {
  NoveltyScale scale = fresh();
  count_normal(scale, 1000, 5.0, 5.0, kLongMemory, 72);
  const std::vector<std::uint8_t> good = saved(scale);
  NoveltyScale other = fresh();
  for (std::size_t size = 0; size < good.size(); size += size < 40 ? 1 : 97) {
    CAPTURE(size);
    const std::vector<std::uint8_t> part(good.begin(),
                                         good.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(load(other, part) == StatusCode::kCorruptData);
  }
  const auto with = [&](std::size_t at, auto value) {
    std::vector<std::uint8_t> bytes = good;
    ByteWriter writer(bytes.data() + at, sizeof(value));
    if constexpr (sizeof(value) == 8) {
      writer.write_f64(value);
    } else {
      writer.write_f32(value);
    }
    return load(other, bytes);
  };
  for (const double bad : {static_cast<double>(NAN), static_cast<double>(INFINITY), -1.0}) {
    CHECK(with(0, bad) == StatusCode::kCorruptData);
    CHECK(with(16, static_cast<float>(bad)) == StatusCode::kCorruptData);
    CHECK(with(16 + 4 * 1023, static_cast<float>(bad)) == StatusCode::kCorruptData);
  }
  CHECK(with(8, static_cast<double>(NAN)) == StatusCode::kCorruptData);
  CHECK(with(8, -1.0) == StatusCode::kOk);  // an origin may be negative
}

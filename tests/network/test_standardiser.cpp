// Scaling of inputs against a two-pass computation in double.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "network/standardiser.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

struct StandardiserFixture {
  StandardiserFixture(Index features, Scaling scaling)
      : memory(
            planned_bytes([&](Arena& arena) { Standardiser().place(arena, features, scaling); })) {
    Arena arena(memory.data(), memory.size());
    standardiser.place(arena, features, scaling);
    standardiser.reset();
  }
  Rows applied(const Rows& rows) const {
    Rows out(rows.rows, rows.cols, 1);
    standardiser.apply(rows.view(), out.view());
    return out;
  }
  Rows inverted(const Rows& rows) const {
    Rows out(rows.rows, rows.cols, 2);
    standardiser.invert(rows.view(), out.view());
    return out;
  }

  GuardedMemory memory;
  Standardiser standardiser;
};

struct Column {
  double mean = 0.0;
  double variance = 0.0;
  double minimum = 0.0;
  double maximum = 0.0;
};

Column column_of(const Rows& rows, Index j) {
  Column column;
  const double n = static_cast<double>(rows.rows);
  column.minimum = column.maximum = rows(0, j);
  for (Index i = 0; i < rows.rows; ++i) {
    column.mean += rows(i, j) / n;
    column.minimum = std::min<double>(column.minimum, rows(i, j));
    column.maximum = std::max<double>(column.maximum, rows(i, j));
  }
  for (Index i = 0; i < rows.rows; ++i) {
    const double difference = rows(i, j) - column.mean;
    column.variance += difference * difference / n;
  }
  return column;
}

// Features of very different kinds: usual, tiny, large, far from zero, skewed, two-valued.
constexpr Index kFeatures = 6;
Rows mixed_rows(Index rows, std::uint64_t seed) {
  Rows result = random_rows(rows, kFeatures, seed, 1);
  for (Index i = 0; i < rows; ++i) {
    result(i, 1) *= 1e-12F;
    result(i, 2) = 1e10F * (result(i, 2) + 2.0F);
    result(i, 3) = 1e6F + 0.5F * result(i, 3);
    result(i, 4) = std::exp(2.0F * result(i, 4));
    result(i, 5) = result(i, 5) > 0.0F ? 1.0F : 0.0F;
  }
  return result;
}

}  // namespace

TEST_CASE("mean and variance agree with two passes in double, far from zero too") {
  const Rows rows = mixed_rows(1000, 1);
  StandardiserFixture fixture(kFeatures, Scaling::kMeanVariance);
  fixture.standardiser.update(rows.view());
  CHECK(fixture.standardiser.count() == 1000.0);
  const Rows scaled = fixture.applied(rows);
  for (Index j = 0; j < kFeatures; ++j) {
    CAPTURE(j);
    const Column column = column_of(rows, j);
    const double deviation = std::sqrt(column.variance);
    CHECK(std::fabs(fixture.standardiser.first(j) - column.mean) <=
          1e-13 * std::fabs(column.mean) + 1e-12 * deviation);
    CHECK(std::fabs(fixture.standardiser.second(j) / column.variance - 1.0) <= 1e-9);
    double worst = 0.0;
    for (Index i = 0; i < rows.rows; ++i) {
      const double exact = (rows(i, j) - column.mean) / deviation;
      worst = std::max(worst, std::fabs(scaled(i, j) - exact));
    }
    CHECK(worst <= 1e-5);
  }
  CHECK(fixture.memory.guards_untouched());
}

TEST_CASE("minimum and maximum agree, and what lies beyond is clipped") {
  const Rows rows = mixed_rows(500, 2);
  StandardiserFixture fixture(kFeatures, Scaling::kMinMax);
  fixture.standardiser.update(rows.view());
  const Rows scaled = fixture.applied(rows);
  for (Index j = 0; j < kFeatures; ++j) {
    CAPTURE(j);
    const Column column = column_of(rows, j);
    CHECK(fixture.standardiser.first(j) == column.minimum);
    CHECK(fixture.standardiser.second(j) == column.maximum);
    double worst = 0.0;
    bool within = true;
    for (Index i = 0; i < rows.rows; ++i) {
      const double exact = (rows(i, j) - column.minimum) / (column.maximum - column.minimum);
      worst = std::max(worst, std::fabs(scaled(i, j) - exact));
      within = within && scaled(i, j) >= 0.0F && scaled(i, j) <= 1.0F;
    }
    CHECK(worst <= 1e-6);
    CHECK(within);
  }
  Rows beyond = rows;
  for (Index j = 0; j < kFeatures; ++j) {
    const Column column = column_of(rows, j);
    const double spread = column.maximum - column.minimum;
    beyond(0, j) = static_cast<float>(column.minimum - 3.0 * spread);
    beyond(1, j) = static_cast<float>(column.maximum + 3.0 * spread);
  }
  const Rows clipped = fixture.applied(beyond);
  for (Index j = 0; j < kFeatures; ++j) {
    CHECK(clipped(0, j) == 0.0F);
    CHECK(clipped(1, j) == 1.0F);
  }
}

TEST_CASE("off and not yet updated are plain copies") {
  const Rows rows = mixed_rows(20, 3);
  for (const Scaling scaling : {Scaling::kOff, Scaling::kMeanVariance, Scaling::kMinMax}) {
    StandardiserFixture fixture(kFeatures, scaling);
    if (scaling == Scaling::kOff) fixture.standardiser.update(rows.view());
    const Rows scaled = fixture.applied(rows);
    const Rows back = fixture.inverted(rows);
    bool same = true;
    for (Index i = 0; i < rows.rows; ++i) {
      for (Index j = 0; j < kFeatures; ++j) {
        same = same && scaled(i, j) == rows(i, j) && back(i, j) == rows(i, j);
      }
    }
    CHECK(same);
  }
}

TEST_CASE("a constant feature becomes zero and comes back as its value") {
  for (const Scaling scaling : {Scaling::kMeanVariance, Scaling::kMinMax}) {
    CAPTURE(static_cast<int>(scaling));
    for (const float value : {0.0F, 1.0F, -7.25F, 1e6F, 0.1F, 1e-20F, -3e37F}) {
      CAPTURE(value);
      for (const Index count : {1, 3, 1000}) {
        CAPTURE(count);
        Rows rows = random_rows(count, 2, 4);
        for (Index i = 0; i < count; ++i) rows(i, 0) = value;
        StandardiserFixture fixture(2, scaling);
        fixture.standardiser.update(rows.view());
        const Rows scaled = fixture.applied(rows);
        const Rows back = fixture.inverted(scaled);
        bool zero = true;
        bool same = true;
        for (Index i = 0; i < count; ++i) {
          zero = zero && scaled(i, 0) == 0.0F;
          same = same && back(i, 0) == value;
        }
        CHECK(zero);
        CHECK(same);
        // Another value of a feature that was constant so far must not blow up.
        Rows other = rows;
        other(0, 0) = value + 1.0F;
        CHECK(std::isfinite(fixture.applied(other)(0, 0)));
      }
    }
  }
}

TEST_CASE("a feature that moves by a rounding of a float only is constant") {
  for (const Scaling scaling : {Scaling::kMeanVariance, Scaling::kMinMax}) {
    CAPTURE(static_cast<int>(scaling));
    Rows rows(100, 2);
    for (Index i = 0; i < 100; ++i) {
      rows(i, 0) = i % 2 == 0 ? 1e7F : 1e7F + 1.0F;
      rows(i, 1) = i % 2 == 0 ? 1e4F : 1e4F + 1.0F;
    }
    StandardiserFixture fixture(2, scaling);
    fixture.standardiser.update(rows.view());
    const Rows scaled = fixture.applied(rows);
    for (const Index i : {0, 1}) {
      CHECK(std::fabs(scaled(i, 0)) < 1e-5);
      // One in ten thousand is a signal.
      const double expected =
          scaling == Scaling::kMinMax ? static_cast<double>(i) : 2.0 * static_cast<double>(i) - 1.0;
      CHECK(scaled(i, 1) == doctest::Approx(expected).epsilon(1e-3));
    }
  }
}

TEST_CASE("invert undoes apply") {
  for (const Scaling scaling : {Scaling::kMeanVariance, Scaling::kMinMax}) {
    CAPTURE(static_cast<int>(scaling));
    const Rows rows = mixed_rows(300, 5);
    StandardiserFixture fixture(kFeatures, scaling);
    fixture.standardiser.update(rows.view());
    const Rows back = fixture.inverted(fixture.applied(rows));
    for (Index j = 0; j < kFeatures; ++j) {
      CAPTURE(j);
      const Column column = column_of(rows, j);
      const double size = std::max(std::fabs(column.minimum), std::fabs(column.maximum));
      double worst = 0.0;
      for (Index i = 0; i < rows.rows; ++i) {
        worst = std::max<double>(worst, std::fabs(back(i, j) - rows(i, j)));
      }
      CHECK(worst <= 3e-7 * size);
    }
  }
}

TEST_CASE("apply and invert may work in place") {
  const Rows rows = mixed_rows(50, 6);
  StandardiserFixture fixture(kFeatures, Scaling::kMeanVariance);
  fixture.standardiser.update(rows.view());
  const Rows apart = fixture.applied(rows);
  const Rows back_apart = fixture.inverted(apart);
  Rows inside = rows;
  fixture.standardiser.apply(inside.view(), inside.view());
  bool same = true;
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < kFeatures; ++j) same = same && inside(i, j) == apart(i, j);
  }
  fixture.standardiser.invert(inside.view(), inside.view());
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < kFeatures; ++j) same = same && inside(i, j) == back_apart(i, j);
  }
  CHECK(same);
}

TEST_CASE("updates in pieces are one update of the whole, and reset forgets") {
  const Rows rows = mixed_rows(317, 7);
  for (const Scaling scaling : {Scaling::kMeanVariance, Scaling::kMinMax}) {
    StandardiserFixture whole(kFeatures, scaling);
    whole.standardiser.update(rows.view());
    StandardiserFixture pieces(kFeatures, scaling);
    pieces.standardiser.update(mixed_rows(40, 8).view());
    pieces.standardiser.reset();
    CHECK(pieces.standardiser.count() == 0.0);
    for (Index first = 0, size = 1; first < rows.rows; first += size, size = size % 50 + 7) {
      size = std::min(size, rows.rows - first);
      pieces.standardiser.update(rows.view().row_range(first, size));
    }
    pieces.standardiser.update(ConstMatrixView(rows.data.data(), 0, kFeatures));
    CHECK(pieces.standardiser.count() == 317.0);
    CHECK(same_bytes(pieces.memory.snapshot(), whole.memory.snapshot()));
    for (Index j = 0; j < kFeatures; ++j) {
      CHECK(pieces.standardiser.first(j) == whole.standardiser.first(j));
      CHECK(pieces.standardiser.second(j) == whole.standardiser.second(j));
    }
  }
}

namespace {

constexpr double kRange = 4.0;

struct Ranged {
  explicit Ranged(const Rows& rows)
      : memory(planned_bytes([this](Arena& arena) { place(arena); })) {
    Arena arena(memory.data(), memory.size());
    place(arena);
    standardiser.reset();
    standardiser.update(rows.view());
  }
  void place(Arena& arena) { standardiser.place(arena, kFeatures, Scaling::kMeanVariance, kRange); }
  // A number that is scaled to so many standard deviations.
  float at(Index feature, double deviations) const {
    return static_cast<float>(standardiser.first(feature) +
                              deviations * std::sqrt(standardiser.second(feature)));
  }
  Standardiser standardiser;
  GuardedMemory memory;
};

}  // namespace

TEST_CASE("beyond the range numbers are compressed, in their order, to at most twice the range") {
  const Rows rows = mixed_rows(1000, 9);
  const Ranged ranged(rows);
  Rows wild = rows;
  const double steps[] = {0.0, 3.9, 4.1, 5.0, 10.0, 100.0, 1e6};
  for (Index i = 0; i < 7; ++i) wild(i, 0) = ranged.at(0, steps[i]);
  wild(7, 0) = 3e38F;
  wild(8, 0) = -3e38F;
  Rows scaled(1000, kFeatures);
  ranged.standardiser.apply(wild.view(), scaled.view());
  CHECK(scaled(1, 0) == doctest::Approx(3.9).epsilon(1e-3));
  CHECK(scaled(3, 0) == doctest::Approx(4.0 + 4.0 / 5.0).epsilon(1e-3));
  for (Index i = 1; i < 7; ++i) CHECK(scaled(i, 0) > scaled(i - 1, 0));
  CHECK(scaled(7, 0) <= 8.0F);
  CHECK(scaled(7, 0) >= scaled(6, 0));
  CHECK(scaled(8, 0) == -scaled(7, 0));
}

TEST_CASE(
    "another range is shown by a part of the rows that lie far out, about as far as each other") {
  const Rows rows = mixed_rows(1000, 9);
  const Ranged ranged(rows);
  const auto beyond = [&](Index count, auto deviations) {
    Rows some(100, kFeatures);
    for (Index i = 0; i < 100; ++i) {
      for (Index j = 0; j < kFeatures; ++j) some(i, j) = ranged.at(j, 0.0);
    }
    for (Index i = 0; i < count; ++i) some(i, 2) = ranged.at(2, deviations(i));
    return ranged.standardiser.beyond(some.view());
  };
  CHECK(beyond(0, [](Index) { return 0.0; }).rows == 0);
  const Standardiser::Beyond found = beyond(30, [](Index i) { return 200.0 + double(i); });
  CHECK(found.rows == 30);
  CHECK(found.feature == 2);
  CHECK(found.ranges == doctest::Approx(229.0 / 4.0).epsilon(1e-3));
  CHECK(found.another_range);
  CHECK_FALSE(beyond(9, [](Index) { return 200.0; }).another_range);
  CHECK_FALSE(beyond(30, [](Index) { return 20.0; }).another_range);
  CHECK_FALSE(beyond(30, [](Index) { return 1e7; }).another_range);
  CHECK_FALSE(
      beyond(30, [](Index i) { return std::pow(10.0, 2.0 + 0.1 * double(i)); }).another_range);
}

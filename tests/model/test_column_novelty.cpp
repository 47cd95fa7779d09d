// What is usual of columns: errors by each column's own variance, deviance of grey values, rare
// values, and the state.
#include <cmath>
#include <limits>
#include <vector>

#include "base/sampling.h"
#include "support/model_fixture.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr double kNever = 1e9;

struct Columns {
  Columns(Index columns, ColumnNovelty::Kind kind)
      : memory(planned_bytes([&](Arena& arena) { novelty.place(arena, columns, kind, true); })) {
    Arena arena(memory.data(), memory.size());
    novelty.place(arena, columns, kind, true);
    novelty.reset();
  }
  void learn(const Rows& rows, const Rows& decoded, double inflation = 1.0) {
    novelty.begin_block();
    for (Index i = 0; i < rows.rows; ++i) novelty.note(rows.view().row(i), decoded.view().row(i));
    novelty.count(rows.view(), kNever, kNever, inflation);
  }
  double error(const std::vector<float>& row) const {
    const std::vector<float> decoded(row.size(), 0.0F);
    return novelty.error(row.data(), decoded.data(), 1.0);
  }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> out(novelty.bytes());
    ByteWriter writer(out.data(), out.size());
    novelty.save(writer);
    CHECK(writer.position() == out.size());
    return out;
  }

  ColumnNovelty novelty;
  GuardedMemory memory;
};

// Standard normal numbers, times the width of their column.
Rows drawn(Index rows, const std::vector<double>& width, std::uint32_t seed) {
  Rows out(rows, static_cast<Index>(width.size()));
  Philox random({.seed = 7, .index = seed});
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < out.cols; ++j) {
      out(i, j) = static_cast<float>(width[static_cast<std::size_t>(j)] * sample_normal(random));
    }
  }
  return out;
}

Rows blank(Index rows, Index cols) {
  Rows out(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) out(i, j) = 0.0F;
  }
  return out;
}

// Whether check() takes the bytes.
bool taken(const Columns& c, const std::vector<std::uint8_t>& bytes) {
  return c.novelty.check({bytes.data(), bytes.size()}).ok();
}

}  // namespace

TEST_CASE("an error counts by the variance that errors of its column have") {
  Columns c(2, ColumnNovelty::Kind::kScaled);
  c.learn(drawn(4000, {0.1, 1.0}, 1), blank(4000, 2));
  const double tight = c.error({0.3F, 0.0F});
  const double wide = c.error({0.0F, 3.0F});
  // The variance has a floor of 1e-3, and far squares are limited.
  CHECK(tight == doctest::Approx(5.5 * std::log1p(0.09 / (10.0 * 0.011))).epsilon(0.03));
  CHECK(wide == doctest::Approx(5.5 * std::log1p(9.0 / (10.0 * 1.001))).epsilon(0.03));
  CHECK(c.error({0.3F, 3.0F}) == doctest::Approx(tight + wide).epsilon(1e-6));
  // What the network has learnt by heart says less.
  Columns doubtful(2, ColumnNovelty::Kind::kScaled);
  doubtful.learn(drawn(4000, {0.1, 1.0}, 1), blank(4000, 2), 4.0);
  CHECK(doubtful.error({0.0F, 6.0F}) == doctest::Approx(wide).epsilon(0.01));
}

TEST_CASE("errors of a block that is begun anew are by its rows, until it is abandoned") {
  Columns c(1, ColumnNovelty::Kind::kRaw);
  c.learn(drawn(1000, {1.0}, 1), blank(1000, 1));
  const double before = c.error({2.0F});
  const std::vector<std::uint8_t> bytes = c.bytes();
  const Rows wide = drawn(1000, {10.0}, 2);
  c.novelty.begin_block();
  for (Index i = 0; i < wide.rows; ++i)
    c.novelty.note(wide.view().row(i), blank(1, 1).view().row(0));
  c.novelty.begin_anew();
  CHECK(c.error({20.0F}) == doctest::Approx(before).epsilon(0.2));
  c.novelty.abandon_block();
  CHECK(c.error({2.0F}) == before);
  CHECK(c.bytes() == bytes);
  c.novelty.begin_anew();
  c.novelty.count(wide.view(), kNever, kNever, 1.0);
  CHECK(c.error({20.0F}) == doctest::Approx(before).epsilon(0.2));
}

TEST_CASE("a perfect reconstruction of grey values is no error, however grey they are") {
  Columns c(4, ColumnNovelty::Kind::kInk);
  c.learn(blank(10, 4), blank(10, 4));
  for (const float grey : {0.0F, 0.3F, 0.5F, 1.0F}) {
    const std::vector<float> row(4, grey);
    double best = 0.0;
    for (const float x : row) {
      const auto p = static_cast<double>(x);
      if (p > 0.0 && p < 1.0) best += p * std::log(p) + (1.0 - p) * std::log(1.0 - p);
    }
    CAPTURE(grey);
    CHECK(c.novelty.ink_error(row.data(), best, 1.0) <
          0.02);  // the entropy is within 0.006 a number
    CHECK(c.novelty.ink_error(row.data(), best - 2.0, 1.0) > 0.5);
  }
  // The more there is to draw, the less the same deviance says.
  const std::vector<float> little = {0.0F, 0.0F, 0.0F, 1.0F};
  const std::vector<float> much(4, 1.0F);
  CHECK(c.novelty.ink_error(much.data(), -3.0, 1.0) <
        c.novelty.ink_error(little.data(), -3.0, 1.0));
  // A decoder of damaged weights: no number, or one beyond all bounds.
  for (const double none : {std::nan(""), -HUGE_VAL, HUGE_VAL, -1e300}) {
    const double error = c.novelty.ink_error(much.data(), none, 4.0);
    CHECK(std::isfinite(error));
    CHECK(error >= 0.0);
  }
}

TEST_CASE("rare values make a row rare, and columns that repeat each other count once") {
  const Rows apart = drawn(4000, std::vector<double>(8, 1.0), 3);
  Rows same(4000, 8);
  for (Index i = 0; i < same.rows; ++i) {
    for (Index j = 0; j < 8; ++j) same(i, j) = apart(i, 0);
  }
  Columns independent(8, ColumnNovelty::Kind::kScaled);
  Columns repeated(8, ColumnNovelty::Kind::kScaled);
  independent.learn(apart, blank(4000, 8));
  repeated.learn(same, blank(4000, 8));
  const std::vector<float> usual(8, 0.1F);
  const std::vector<float> rare(8, 3.2F);
  for (const Columns* c : {&independent, &repeated}) {
    CHECK(c->novelty.rarity(usual.data(), 1.0) < 0.0);
    CHECK(c->novelty.rarity(rare.data(), 1.0) > 0.5);
    CHECK(c->novelty.rarity(rare.data(), 2.0) ==
          doctest::Approx(2.0 * c->novelty.rarity(rare.data(), 1.0)));
  }
  // Over ordinary rows its standard deviation is the one asked for, or 1/√8 of that.
  const auto spread = [&](const Columns& c, const Rows& rows) {
    Moments moments;
    for (Index i = 0; i < rows.rows; ++i) {
      moments.add(c.novelty.rarity(rows.view().row(i), 1.0), kNever);
    }
    return moments.deviation();
  };
  CHECK(spread(independent, apart) == doctest::Approx(1.0).epsilon(0.1));
  CHECK(spread(repeated, same) == doctest::Approx(std::sqrt(1.0 / 8.0)).epsilon(0.1));
}

TEST_CASE("a new habit becomes usual, and what is old fades") {
  Columns c(1, ColumnNovelty::Kind::kScaled);
  c.learn(drawn(500, {0.3}, 1), blank(500, 1));
  Rows moved = drawn(500, {0.3}, 2);
  for (Index i = 0; i < moved.rows; ++i) moved(i, 0) += 4.0F;
  const std::vector<float> row = {4.0F};
  const double before = c.novelty.rarity(row.data(), 1.0);
  c.novelty.begin_block();
  c.novelty.count(moved.view(), kNever, 600.0, 1.0);
  CHECK(before > 1.0);
  CHECK(c.novelty.rarity(row.data(), 1.0) < 0.0);
}

TEST_CASE("numbers beyond all range give finite errors and values") {
  Columns c(2, ColumnNovelty::Kind::kScaled);
  c.learn(drawn(50, {1.0, 1.0}, 1), blank(50, 2));
  const float wild[] = {std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity(), 3e38F};
  for (const float x : wild) {
    const float decoded[] = {x, -x};
    const float row[] = {10.0F, -10.0F};
    CHECK(std::isfinite(c.novelty.error(row, decoded, 4.0)));
    CHECK(std::isfinite(c.novelty.rarity(row, 1.0)));
  }
}

TEST_CASE("the state is saved exactly, and hostile bytes are refused") {
  for (const auto kind :
       {ColumnNovelty::Kind::kInk, ColumnNovelty::Kind::kScaled, ColumnNovelty::Kind::kRaw}) {
    Columns c(3, kind);
    Rows rows = drawn(100, {0.2, 0.2, 0.2}, 4);
    for (Index i = 0; i < rows.rows; ++i) {
      for (Index j = 0; j < 3; ++j) rows(i, j) = std::clamp(std::fabs(rows(i, j)), 0.0F, 1.0F);
    }
    c.learn(rows, blank(100, 3));
    const std::vector<std::uint8_t> bytes = c.bytes();
    Columns again(3, kind);
    REQUIRE(taken(again, bytes));
    ByteReader reader(bytes.data(), bytes.size());
    again.novelty.load(reader);
    CHECK(again.bytes() == bytes);
    const std::vector<float> row = {0.1F, 0.9F, 0.4F};
    CHECK(again.error(row) == c.error(row));
    CHECK(again.novelty.rarity(row.data(), 1.0) == c.novelty.rarity(row.data(), 1.0));

    std::vector<std::uint8_t> wrong = bytes;
    wrong.push_back(0);
    CHECK_FALSE(taken(again, wrong));
    wrong = bytes;
    wrong.resize(bytes.size() - 4);
    CHECK_FALSE(taken(again, wrong));
    for (std::size_t at = 0; at < bytes.size(); at += 4) {  // a NaN, or a sign, anywhere
      wrong = bytes;
      for (std::size_t b = 0; b < 4; ++b) wrong[at + b] = 0xFF;
      const bool low_half_of_double = at < 40 && at % 8 == 0;
      if (!low_half_of_double) CHECK_FALSE(taken(again, wrong));
    }
  }
}

// Rows that wait: what is put in is there, and comes back from bytes as it was.
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <doctest/doctest.h>

#include "structure/pending_pool.h"

using namespace adapvae;

namespace {

struct Placed {
  Placed(Index dims, Index capacity) {
    const std::size_t bytes = planned_bytes([&](Arena& a) { pool.place(a, dims, capacity); });
    memory.resize(bytes + Arena::kAlignment, std::byte{0xFF});
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t shift = (Arena::kAlignment - address % Arena::kAlignment) % Arena::kAlignment;
    Arena arena(memory.data() + shift, bytes);
    pool.place(arena, dims, capacity);
    REQUIRE((capacity == 0 || !arena.failed()));
    pool.reset();
  }

  // Row i of a recognisable kind; every third without variance.
  void add(Index i) {
    std::vector<float> z, variance;
    for (Index j = 0; j < pool.rows().cols; ++j) {
      z.push_back(static_cast<float>(10 * i + j));
      variance.push_back(0.5F + static_cast<float>(i));
    }
    pool.add(z.data(), i % 3 == 0 ? nullptr : variance.data(), static_cast<std::uint32_t>(i + 7),
             -0.25F * static_cast<float>(i));
  }

  std::vector<std::uint8_t> saved() const {
    std::vector<std::uint8_t> bytes(PendingPool::most_bytes(pool.rows().cols, pool.capacity()));
    ByteWriter writer(bytes.data(), bytes.size());
    pool.save(writer);
    REQUIRE(writer.ok());
    bytes.resize(writer.position());
    return bytes;
  }

  StatusCode load(const std::vector<std::uint8_t>& bytes) {
    ByteReader reader(bytes.data(), bytes.size());
    const Status status = pool.load(reader);
    if (status.ok()) CHECK(reader.position() <= bytes.size());
    return status.code();
  }

  PendingPool pool;
  std::vector<std::byte> memory;
};

void check_rows(const PendingPool& pool, Index count) {
  REQUIRE(pool.count() == count);
  REQUIRE(pool.rows().rows == count);
  REQUIRE(pool.variance().rows == count);
  for (Index i = 0; i < count; ++i) {
    CAPTURE(i);
    CHECK(pool.age(i) == static_cast<std::uint32_t>(i + 7));
    CHECK(pool.surprise(i) == -0.25F * static_cast<float>(i));
    for (Index j = 0; j < pool.rows().cols; ++j) {
      CHECK(pool.rows()(i, j) == static_cast<float>(10 * i + j));
      CHECK(pool.variance()(i, j) == (i % 3 == 0 ? 0.0F : 0.5F + static_cast<float>(i)));
    }
  }
}

template <typename Value>
std::vector<std::uint8_t> patched(std::vector<std::uint8_t> bytes, std::size_t at, Value value) {
  ByteWriter writer(bytes.data() + at, 4);
  if constexpr (std::is_same_v<Value, float>) {
    writer.write_f32(value);
  } else {
    writer.write_u32(value);
  }
  REQUIRE(writer.ok());
  return bytes;
}

}  // namespace

TEST_CASE("a pool holds what was added until it is cleared") {
  Placed placed(3, 8);
  CHECK(placed.pool.count() == 0);
  CHECK(placed.pool.capacity() == 8);
  for (Index i = 0; i < 8; ++i) {
    placed.add(i);
    check_rows(placed.pool, i + 1);
  }
  placed.pool.clear();
  CHECK(placed.pool.count() == 0);
  CHECK(placed.pool.rows().rows == 0);
  // The place of a row with variance now holds one without.
  for (Index i = 0; i < 3; ++i) placed.add(i);
  check_rows(placed.pool, 3);
}

TEST_CASE("a pool is saved and loaded exactly") {
  for (const Index count : {Index{0}, Index{1}, Index{5}, Index{6}}) {
    CAPTURE(count);
    Placed one(4, 6);
    Placed other(4, 9);
    for (Index i = 0; i < count; ++i) one.add(i);
    for (Index i = 0; i < 7; ++i) other.add(i + 1);
    const std::vector<std::uint8_t> bytes = one.saved();
    REQUIRE(other.load(bytes) == StatusCode::kOk);
    check_rows(other.pool, count);
    CHECK(other.saved() == bytes);
    CHECK(bytes.size() <= PendingPool::most_bytes(4, 6));
    if (count == 6) CHECK(bytes.size() == PendingPool::most_bytes(4, 6));
  }
}

TEST_CASE("a pool reads no further than its own bytes") {
  Placed one(2, 4);
  one.add(0);
  one.add(1);
  std::vector<std::uint8_t> bytes = one.saved();
  const std::size_t size = bytes.size();
  bytes.resize(size + 20, 0xAB);
  ByteReader reader(bytes.data(), bytes.size());
  REQUIRE(one.pool.load(reader).ok());
  CHECK(reader.position() == size);
}

TEST_CASE("more rows than there is room for are refused") {
  Placed large(2, 5);
  for (Index i = 0; i < 5; ++i) large.add(i);
  Placed small(2, 4);
  CHECK(small.load(large.saved()) == StatusCode::kCorruptData);
  CHECK(small.pool.count() <= 4);
  CHECK(small.load(patched(large.saved(), 0, 0xFFFFFFFFU)) == StatusCode::kCorruptData);
  CHECK(small.load(patched(large.saved(), 0, 0x80000000U)) == StatusCode::kCorruptData);
}

TEST_CASE("a pool without room is empty for ever") {
  Placed none(3, 0);
  CHECK(none.pool.capacity() == 0);
  CHECK(none.pool.count() == 0);
  const std::vector<std::uint8_t> bytes = none.saved();
  CHECK(bytes == std::vector<std::uint8_t>{0, 0, 0, 0});
  CHECK(none.load(bytes) == StatusCode::kOk);
  CHECK(none.load({1, 0, 0, 0}) == StatusCode::kCorruptData);
}

TEST_CASE("bytes that are no pool are refused") {
  Placed one(2, 4);
  for (Index i = 0; i < 3; ++i) one.add(i);
  const std::vector<std::uint8_t> good = one.saved();
  Placed other(2, 4);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(other.load({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}) ==
          StatusCode::kCorruptData);
  }
  // count, then per row: age, surprise, (z, variance) × 2.
  const auto row = [](std::size_t i) { return 4 + 24 * i; };
  for (const std::size_t i : {0UL, 1UL, 2UL}) {
    CAPTURE(i);
    for (const float bad : {NAN, INFINITY, -INFINITY}) {
      for (const std::size_t field : {4UL, 8UL, 12UL, 16UL, 20UL}) {
        CAPTURE(field);
        CHECK(other.load(patched(good, row(i) + field, bad)) == StatusCode::kCorruptData);
      }
    }
    CHECK(other.load(patched(good, row(i) + 12, -1.0F)) == StatusCode::kCorruptData);
    CHECK(other.load(patched(good, row(i) + 20, -1e-30F)) == StatusCode::kCorruptData);
    CHECK(other.load(patched(good, row(i) + 8, -1.0F)) == StatusCode::kOk);
    CHECK(other.load(patched(good, row(i) + 4, -1.0F)) == StatusCode::kOk);
    CHECK(other.load(patched(good, row(i), 1U << 30U)) == StatusCode::kOk);
    CHECK(other.load(patched(good, row(i), 0xFFFFFFFFU)) == StatusCode::kCorruptData);
  }
}

TEST_CASE("every flipped bit is refused or comes back as it was read") {
  Placed one(2, 3);
  for (Index i = 0; i < 3; ++i) one.add(i);
  const std::vector<std::uint8_t> good = one.saved();
  Placed other(2, 3);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    CAPTURE(bit);
    std::vector<std::uint8_t> bytes = good;
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ (1U << (bit % 8)));
    if (other.load(bytes) != StatusCode::kOk) continue;
    REQUIRE(other.pool.count() <= 3);
    // Fewer rows than there are bytes for: the rest is left unread.
    const std::vector<std::uint8_t> back = other.saved();
    REQUIRE(back.size() <= bytes.size());
    bytes.resize(back.size());
    REQUIRE(back == bytes);
  }
}

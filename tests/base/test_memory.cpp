// arena.h, matrix_view.h and status.h.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include <doctest/doctest.h>

#include "base/arena.h"
#include "base/matrix_view.h"
#include "base/status.h"

using namespace adapvae;

namespace {

struct alignas(Arena::kAlignment) Memory {
  std::byte byte[1024];
};

// A placement as the library does it: blocks of several types, one of them empty.
struct Blocks {
  char* letters = nullptr;
  double* numbers = nullptr;
  std::uint16_t* nothing = nullptr;
  float* weights = nullptr;

  void place(Arena& arena) {
    letters = arena.take<char>(3);
    numbers = arena.take<double>(9);
    nothing = arena.take<std::uint16_t>(0);
    weights = arena.take<float>(16);
  }
};

// Where the blocks lie: after 3 bytes of letters and 72 of numbers, at the next multiple.
constexpr bool kLines = Arena::kAlignment == 64;
static_assert(kLines || Arena::kAlignment == 8);
constexpr std::ptrdiff_t kNumbersAt = kLines ? 64 : 8;
constexpr std::ptrdiff_t kWeightsAt = kLines ? 64 + 128 : 8 + 72;
constexpr std::size_t kBlocksBytes = kWeightsAt + 64;

std::size_t plan_blocks() {
  return planned_bytes([](Arena& arena) { Blocks{}.place(arena); });
}

std::ptrdiff_t offset_in(const Memory& memory, const void* block) {
  return static_cast<const std::byte*>(block) - memory.byte;
}

}  // namespace

TEST_CASE("a counting arena gives no memory and counts the exact bytes") {
  Arena counter;
  CHECK(counter.counting());
  CHECK(counter.used() == 0);
  Blocks blocks;
  blocks.place(counter);
  CHECK(blocks.letters == nullptr);
  CHECK(blocks.numbers == nullptr);
  CHECK(blocks.weights == nullptr);
  CHECK_FALSE(counter.failed());
  CHECK(counter.used() == kBlocksBytes);
  CHECK(plan_blocks() == kBlocksBytes);
}

TEST_CASE("the real pass takes what the counting pass counted") {
  Memory memory;
  Arena arena(memory.byte, plan_blocks());
  CHECK_FALSE(arena.counting());
  Blocks blocks;
  blocks.place(arena);
  CHECK_FALSE(arena.failed());
  CHECK(arena.used() == plan_blocks());
  CHECK(blocks.nothing == nullptr);
  CHECK(offset_in(memory, blocks.letters) == 0);
  CHECK(offset_in(memory, blocks.numbers) == kNumbersAt);
  CHECK(offset_in(memory, blocks.weights) == kWeightsAt);
}

TEST_CASE("every block is aligned and no two overlap") {
  Memory memory;
  Arena arena(memory.byte, sizeof(memory));
  std::size_t previous_end = 0;
  for (const std::size_t count : {1u, 63u, 64u, 65u, 7u, 128u, 129u}) {
    CAPTURE(count);
    std::uint8_t* block = arena.take<std::uint8_t>(count);
    REQUIRE(block != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % Arena::kAlignment == 0);
    const std::size_t start = static_cast<std::size_t>(offset_in(memory, block));
    CHECK(start >= previous_end);
    CHECK(start - previous_end < Arena::kAlignment);
    std::memset(block, 0xFF, count);
    previous_end = start + count;
    CHECK(arena.used() == previous_end);
  }
}

TEST_CASE("one byte too little is noticed, and the failure stays") {
  Memory memory;
  Arena arena(memory.byte, plan_blocks() - 1);
  Blocks blocks;
  blocks.place(arena);
  CHECK(arena.failed());
  CHECK(blocks.letters != nullptr);
  CHECK(blocks.numbers != nullptr);
  CHECK(blocks.weights == nullptr);
  const std::size_t used = arena.used();
  // This would fit, but a plan that failed once is not to be used.
  CHECK(arena.take<char>(1) == nullptr);
  CHECK(arena.used() == used);
  CHECK(arena.failed());
}

TEST_CASE("an arena of no bytes serves only empty blocks") {
  Memory memory;
  Arena arena(memory.byte, 0);
  CHECK(arena.take<float>(0) == nullptr);
  CHECK_FALSE(arena.failed());
  CHECK(arena.take<char>(1) == nullptr);
  CHECK(arena.failed());
}

TEST_CASE("sizes that overflow are failures, not small blocks") {
  // These products would wrap around to 0 and to 8 bytes.
  for (const std::size_t count : {SIZE_MAX / 8 + 1, SIZE_MAX / 8 + 2, SIZE_MAX}) {
    CAPTURE(count);
    Arena counter;
    CHECK(counter.take<double>(count) == nullptr);
    CHECK(counter.failed());
    CHECK(counter.used() == 0);
    CHECK(planned_bytes([count](Arena& arena) { arena.take<double>(count); }) == 0);
    Memory memory;
    Arena arena(memory.byte, sizeof(memory));
    CHECK(arena.take<double>(count) == nullptr);
    CHECK(arena.failed());
  }
  // Each fits by itself; the sum does not.
  Arena counter;
  counter.take<char>(SIZE_MAX / 8);
  CHECK_FALSE(counter.failed());
  counter.take<char>(SIZE_MAX / 8 + 1);
  CHECK(counter.failed());
}

TEST_CASE("a matrix view addresses rows through its stride") {
  float data[12];
  for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);
  const MatrixView dense(data, 3, 4);
  CHECK(dense.contiguous());
  CHECK(dense(1, 2) == 6.0f);
  CHECK(dense.row(2) == data + 8);

  const MatrixView strided(data, 3, 3, 4);
  CHECK_FALSE(strided.contiguous());
  CHECK(strided(2, 2) == 10.0f);
  strided(1, 0) = -1.0f;
  CHECK(data[4] == -1.0f);

  const MatrixView empty;
  CHECK(empty.data == nullptr);
  CHECK(empty.rows == 0);
  CHECK(empty.cols == 0);
}

TEST_CASE("ranges of a matrix view share its memory") {
  float data[20];
  for (int i = 0; i < 20; ++i) data[i] = static_cast<float>(i);
  const MatrixView whole(data, 4, 5);
  const MatrixView rows = whole.row_range(1, 2);
  CHECK(rows.rows == 2);
  CHECK(rows.cols == 5);
  CHECK(rows(0, 0) == 5.0f);
  CHECK(rows.contiguous());

  const MatrixView cols = whole.col_range(2, 3);
  CHECK(cols.rows == 4);
  CHECK(cols.cols == 3);
  CHECK(cols.stride == 5);
  CHECK(cols(3, 2) == 19.0f);
  CHECK_FALSE(cols.contiguous());

  const MatrixView block = whole.col_range(1, 2).row_range(2, 2);
  CHECK(block(0, 0) == 11.0f);
  CHECK(block(1, 1) == 17.0f);
  CHECK(whole.row_range(4, 0).rows == 0);
  CHECK(whole.col_range(5, 0).cols == 0);
}

TEST_CASE("a mutable view converts to a const one and never back") {
  float data[6] = {0, 1, 2, 3, 4, 5};
  const MatrixView view(data, 2, 2, 3);
  const ConstMatrixView read_only = view;
  CHECK(read_only.data == data);
  CHECK(read_only.rows == 2);
  CHECK(read_only.cols == 2);
  CHECK(read_only.stride == 3);
  CHECK(read_only(1, 1) == 4.0f);
  static_assert(!std::is_convertible_v<ConstMatrixView, MatrixView>);
  static_assert(!std::is_convertible_v<MatrixView, ConstMatrixViewD>);
  static_assert(std::is_same_v<decltype(read_only(0, 0)), const float&>);
  static_assert(std::is_trivially_copyable_v<MatrixView>);
  static_assert(std::is_trivially_copyable_v<ConstMatrixView>);
}

namespace {

Status fail_on_row(std::ptrdiff_t row) {
  if (row < 0) return Status();
  return Status(StatusCode::kNonFinite, "not a number", row);
}

Status first_failure(std::ptrdiff_t first, std::ptrdiff_t second, int& steps) {
  ADAPVAE_RETURN_IF_ERROR(fail_on_row(first));
  ++steps;
  if (steps > 0) ADAPVAE_RETURN_IF_ERROR(fail_on_row(second));
  ++steps;
  return Status();
}

}  // namespace

TEST_CASE("a status is a code, a message and an index") {
  constexpr Status good;
  static_assert(good.ok());
  CHECK(good.code() == StatusCode::kOk);
  CHECK(std::strcmp(good.message(), "") == 0);
  CHECK(good.index() == Status::kNoIndex);

  constexpr Status bad(StatusCode::kInvalidArgument, "too small");
  static_assert(!bad.ok());
  CHECK(bad.code() == StatusCode::kInvalidArgument);
  CHECK(std::strcmp(bad.message(), "too small") == 0);
  CHECK(bad.index() == Status::kNoIndex);
  static_assert(std::is_trivially_copyable_v<Status>);
}

// The codes cross the C interface as numbers.
TEST_CASE("status codes keep their numbers") {
  CHECK(static_cast<int>(StatusCode::kOk) == 0);
  CHECK(static_cast<int>(StatusCode::kInvalidArgument) == 1);
  CHECK(static_cast<int>(StatusCode::kShapeMismatch) == 2);
  CHECK(static_cast<int>(StatusCode::kNonFinite) == 3);
  CHECK(static_cast<int>(StatusCode::kOutOfMemory) == 4);
  CHECK(static_cast<int>(StatusCode::kCorruptData) == 5);
  CHECK(static_cast<int>(StatusCode::kUnavailable) == 6);
}

TEST_CASE("ADAPVAE_RETURN_IF_ERROR leaves with the first failure") {
  int steps = 0;
  CHECK(first_failure(-1, -1, steps).ok());
  CHECK(steps == 2);

  steps = 0;
  const Status first = first_failure(4, 5, steps);
  CHECK(first.code() == StatusCode::kNonFinite);
  CHECK(first.index() == 4);
  CHECK(std::strcmp(first.message(), "not a number") == 0);
  CHECK(steps == 0);

  const Status second = first_failure(-1, 5, steps);
  CHECK(second.index() == 5);
  CHECK(steps == 1);
}

// The packed panels of a product, looked at directly: what is missing at their ends must be zeros.
// Results do not depend on it, so no other test can see it; but whatever happened to lie there
// (NaN, tiny numbers) would be multiplied, too, and slowly on some processors.
#include <initializer_list>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

// Whether `packed` holds lines [0, lines) of the depth range in panels of `width` lines,
// depth-major, zeros behind the last line. at(line, p) is the number that belongs there.
template <typename At>
bool panels_right(const Matrix& packed, Index lines, Index width, Index depth, const At& at) {
  const Index panels = (lines + width - 1) / width;
  for (Index line = 0; line < panels * width; ++line) {
    for (Index p = 0; p < depth; ++p) {
      const Index place = line / width * width * depth + p * width + line % width;
      const float want = line < lines ? at(line, p) : 0.0F;
      if (packed(0, place) != want) return false;
    }
  }
  return packed.margins_intact();
}

}  // namespace

TEST_CASE("packed panels hold their lines and zeros behind them") {
  constexpr Index kFirst = 2;  // of the depth range
  TestRandom random(61);
  if (kSmallCode) return;  // nothing is packed
  for (const KernelTable* kernels : test_kernels()) {
    CAPTURE(kernels->name);
    for (const Index depth : {1, 4, 7}) {
      for (Index count = 1; count <= 5 * kernels->tile_cols + 1; ++count) {
        const Matrix lines = random.uniform_matrix(count, kFirst + depth, -1.0, 1.0, 3);
        const Matrix columns = random.uniform_matrix(kFirst + depth, count, -1.0, 1.0, 3);
        for (const bool transposed : {false, true}) {
          const ConstMatrixView source = transposed ? columns.view() : lines.view();
          const auto at = [&](Index line, Index p) {
            return transposed ? source(kFirst + p, line) : source(line, kFirst + p);
          };
          GemmCall call = {};
          call.m = call.n = count;
          call.k = call.depth = kFirst + depth;
          call.a = call.b = source.data;
          call.a_row = call.b_col = transposed ? 1 : source.stride;
          call.a_col = call.b_row = transposed ? source.stride : 1;
          const auto panel_floats = [&](Index width) {
            return (count + width - 1) / width * width * depth;
          };
          Matrix packed_a(1, panel_floats(kernels->tile_rows));
          kernels->pack_a(&call, 0, count, kFirst, kFirst + depth, packed_a.data());
          const bool a_right = panels_right(packed_a, count, kernels->tile_rows, depth, at);
          CHECK(a_right);
          Matrix packed_b(1, panel_floats(kernels->tile_cols));
          kernels->pack_b(&call, 0, count, kFirst, kFirst + depth, packed_b.data());
          const bool b_right = panels_right(packed_b, count, kernels->tile_cols, depth, at);
          CHECK(b_right);
        }
      }
    }
  }
}

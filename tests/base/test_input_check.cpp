// The gate for numbers from outside.
#include <limits>

#include <doctest/doctest.h>

#include "base/input_check.h"
#include "support/rows.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("check_finite finds the first bad row, wherever in the row") {
  for (const Index cols : {1, 3, 4, 7, 8, 16, 17, 33}) {
    Rows rows = random_rows(6, cols, 1, 2);
    CHECK(check_finite(rows.view()).ok());
    for (Index i = 0; i < rows.rows; ++i) {
      for (Index j = 0; j < cols; ++j) {
        for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
          const float good = rows(i, j);
          rows(i, j) = bad;
          const Status status = check_finite(rows.view());
          CHECK(status.code() == StatusCode::kNonFinite);
          CHECK(status.index() == i);
          rows(i, j) = good;
        }
      }
    }
    // The first of several is named; the padding between rows is nobody's business.
    rows(4, 0) = kNan;
    rows(2, cols - 1) = kInfinity;
    CHECK(check_finite(rows.view()).index() == 2);
    rows(4, 0) = rows(2, cols - 1) = std::numeric_limits<float>::max();
    rows.data[cols] = kNan;
    CHECK(check_finite(rows.view()).ok());
    rows(0, 0) = std::numeric_limits<float>::denorm_min();
    CHECK(check_finite(rows.view()).ok());
  }
}

TEST_CASE("check_shape") {
  const Rows rows(5, 3, 1);
  CHECK(check_shape(rows.view(), 5, 3).ok());
  CHECK(check_shape(rows.view(), 4, 3).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape(rows.view(), 5, 4).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape(rows.view(), 5, 2).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape({}, 5, 3).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape({rows.data.data(), 0, 3}, 5, 3).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape({rows.data.data(), -1, 3}, 5, 3).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape({rows.data.data(), 2, 3, 2}, 5, 3).code() == StatusCode::kShapeMismatch);
  CHECK(check_shape({nullptr, 2, 3}, 5, 3).code() == StatusCode::kShapeMismatch);
}

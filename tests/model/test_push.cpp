// Rows that come in any number become the same streams as rows that come in blocks.
#include <cmath>

#include <doctest/doctest.h>

#include "support/allocation_trap.h"
#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

Configuration block_model() {
  Configuration config = small_model();
  config.block_rows = 150;
  config.pretrain_epochs = 10;
  config.adapt_epochs = 3;
  config.joint_epochs = 2;
  return config;
}

}  // namespace

TEST_CASE("push: however rows come, the streams are the same") {
  const Rows rows = kinds(0, 3, 400, 4);
  ModelFixture whole(block_model());
  for (const Index begin : {0, 150, 300}) {
    StreamReport report;
    const Index count = std::min<Index>(150, 400 - begin);
    REQUIRE(
        whole.model.learn(whole.backend, rows.view().row_range(begin, count), &report, 1.0).ok());
  }
  for (const Index step : {1, 7, 150, 170, 400}) {
    CAPTURE(step);
    ModelFixture f(block_model());
    StreamReport report;
    Index all = 0;
    for (Index begin = 0; begin < 400; begin += step) {
      Index streams = -1;
      const ConstMatrixView part = rows.view().row_range(begin, std::min(step, 400 - begin));
      REQUIRE(f.model.push(f.backend, part, 1.0, &report, &streams).ok());
      all += streams;
    }
    CHECK(all == 2);
    CHECK(report.rows == 150);
    CHECK(f.model.rows_pending() == 100);
    CHECK(f.model.rows_learnt() == 300);
    REQUIRE(f.model.flush(f.backend, &report).ok());
    CHECK(report.rows == 100);
    CHECK(f.model.rows_pending() == 0);
    CHECK(f.state() == whole.state());
    report.rows = 17;
    REQUIRE(f.model.flush(f.backend, &report).ok());  // nothing waits
    CHECK(report.rows == 17);
    CHECK(f.model.streams() == 3);
  }
}

TEST_CASE("push: bad rows change nothing, and a stream does not overtake rows that wait") {
  ModelFixture f(block_model());
  StreamReport report;
  Index streams = 0;
  REQUIRE(f.model.push(f.backend, kinds(0, 1, 20, 1).view(), 3.0, &report, &streams).ok());
  const auto before = f.snapshot();
  Rows bad = kinds(0, 1, 500, 2);
  bad(499, 3) = INFINITY;
  const Status status = f.model.push(f.backend, bad.view(), 3.0, &report, &streams);
  CHECK(status.code() == StatusCode::kNonFinite);
  CHECK(status.index() == 499);
  const Rows wide(3, kInputs + 1);
  CHECK(f.model.push(f.backend, wide.view(), 3.0, &report, &streams).code() ==
        StatusCode::kShapeMismatch);
  const Rows good = kinds(0, 1, 20, 3);
  CHECK_FALSE(f.model.push(f.backend, good.view(), 2.0, &report, &streams).ok());
  CHECK_FALSE(f.model.push(f.backend, good.view(), NAN, &report, &streams).ok());
  CHECK_FALSE(f.model.learn(f.backend, good.view(), &report, 3.0).ok());
  REQUIRE(f.model.push(f.backend, good.view().row_range(0, 0), 3.0, &report, &streams).ok());
  CHECK(f.snapshot() == before);
  REQUIRE(f.model.flush(f.backend, &report).ok());
  CHECK_FALSE(f.model.push(f.backend, good.view(), 2.0, &report, &streams).ok());
  REQUIRE(f.model.learn(f.backend, good.view(), &report, 3.0).ok());
  // Scoring leaves rows that wait alone.
  REQUIRE(f.model.push(f.backend, good.view(), 4.0, &report, &streams).ok());
  const auto waiting = f.snapshot();
  f.ids(kinds(0, 1, 100, 5));
  CHECK(f.snapshot() == waiting);
}

TEST_CASE("push: nothing is allocated") {
  ModelFixture f(block_model());
  const Rows rows = kinds(0, 3, 400, 4);
  StreamReport report;
  Index streams = 0;
  const AllocationCount before = allocation_count();
  const bool pushed = f.model.push(f.backend, rows.view(), 0.0, &report, &streams).ok();
  const bool flushed = f.model.flush(f.backend, &report).ok();
  const AllocationCount after = allocation_count();
  CHECK(after.allocations == before.allocations);
  CHECK(pushed);
  CHECK(flushed);
}

// Snapshots: a model that was saved and loaded goes on as if it had never stopped.
#include <cstdlib>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/allocation_trap.h"
#include "support/snapshot_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

TEST_CASE("snapshot: saved, loaded and gone on equals never having stopped") {
  for (const bool diagonal : {false, true}) {
    CAPTURE(diagonal);
    Configuration config = tiny_model();
    config.covariance = diagonal ? 1 : 0;
    config.pending_rows = diagonal ? 20 : 0;
    ModelFixture one(config);
    ModelFixture other(config);
    one.learn(stream(0), 1.0);
    const StreamReport second = one.learn(stream(2), 2.0);
    REQUIRE(one.model.clusters().rename(1, "the first").ok());
    REQUIRE(one.set_live("sensitivity", 1.5).ok());
    other.learn(stream(5));  // what was there before leaves no trace
    const Bytes saved = one.snapshot();
    REQUIRE(other.load(saved).ok());
    CHECK(other.snapshot() == saved);
    CHECK(other.model.configuration().sensitivity == 1.5);
    CHECK(other.model.rows_learnt() == 400);
    CHECK(other.ids(stream(1, 100)) == one.ids(stream(1, 100)));
    Index births = 0;
    for (int i = 3; i < 9; ++i) {
      const StreamReport a = one.learn(stream(i), i);
      const StreamReport b = other.learn(stream(i), i);
      CHECK(a.bound == b.bound);
      CHECK(a.loss.loss == b.loss.loss);
      births += a.births;
      REQUIRE(one.snapshot() == other.snapshot());
    }
    CHECK(births > 0);
    CHECK(second.clusters > 1);
    CHECK(other.memory.guards_untouched());
  }
}

TEST_CASE("snapshot: the same calls give the same bytes, and saving changes nothing") {
  ModelFixture a(tiny_model());
  ModelFixture b(tiny_model());
  CHECK(a.snapshot() == b.snapshot());  // of nothing learnt, too
  ModelFixture fresh(tiny_model());
  REQUIRE(fresh.load(a.snapshot()).ok());
  for (ModelFixture* each : {&a, &b, &fresh}) each->learn(stream(0));
  const Bytes saved = a.snapshot();
  CHECK(saved == b.snapshot());
  CHECK(saved == fresh.snapshot());
  CHECK(saved == a.snapshot());
  a.learn(stream(2));
  b.learn(stream(2));
  CHECK(a.snapshot() == b.snapshot());
  REQUIRE(a.load(saved).ok());  // back
  CHECK(a.snapshot() == saved);
  // Also the ids that it gave on the other way are as if they had never been.
  REQUIRE(a.model.clusters().registry().most_given() < b.model.clusters().registry().most_given());
  a.learn(stream(2));
  CHECK(a.snapshot() == b.snapshot());
}

TEST_CASE("snapshot: rows that wait are in it") {
  ModelFixture one(tiny_model());
  ModelFixture other(tiny_model());
  StreamReport report;
  Index streams = 0;
  const Rows rows = kinds(0, 2, 900, 1);
  REQUIRE(one.model.push(one.backend, rows.view().row_range(0, 550), 1.0, &report, &streams).ok());
  CHECK(one.model.rows_pending() == 150);
  REQUIRE(other.load(one.snapshot()).ok());
  CHECK(other.model.rows_pending() == 150);
  for (ModelFixture* each : {&one, &other}) {
    const ConstMatrixView rest = rows.view().row_range(550, 350);
    REQUIRE(each->model.push(each->backend, rest, 2.0, &report, &streams).ok());
    CHECK(streams == 1);
    CHECK(each->model.rows_pending() == 100);
  }
  CHECK(one.snapshot() == other.snapshot());
}

TEST_CASE("snapshot: a caller can read the configuration and place a model of it") {
  Configuration config = tiny_model();
  config.seed = 9007199254740992U;
  config.learning_rate = 0.1 / 3.0;
  ModelFixture one(config);
  one.learn(stream(0, 150), 2.5);
  const Bytes saved = one.snapshot();
  SnapshotInfo info;
  REQUIRE(inspect_snapshot(saved.data(), saved.size(), &info).ok());
  CHECK(info.format == 2);
  CHECK(std::string(info.version).find('.') != std::string::npos);
  CHECK(info.streams == 1);
  CHECK(info.rows == 150);
  CHECK(info.clusters == static_cast<std::uint64_t>(one.model.clusters().mixture().clusters()));
  CHECK(info.time == 2.5);
  for (const FieldInfo& field : configuration_fields()) {
    CAPTURE(field.name);
    CHECK(get_field(info.configuration, field) == get_field(one.model.configuration(), field));
  }
  ModelFixture other(info.configuration);
  REQUIRE(other.load(saved).ok());
  CHECK(other.snapshot() == saved);

  // A field that the file does not have is as by default; one that is not known is refused.
  Taken taken(saved);
  taken.drop("config.sensitivity");
  const Bytes older = taken.write();
  REQUIRE(inspect_snapshot(older.data(), older.size(), &info).ok());
  CHECK(info.configuration.sensitivity == Configuration{}.sensitivity);
  taken.metadata.emplace_back("config.of_the_future", "1");
  const Bytes newer = taken.write();
  CHECK(inspect_snapshot(newer.data(), newer.size(), &info).code() == StatusCode::kUnavailable);
  CHECK(other.load(newer).code() == StatusCode::kUnavailable);
}

TEST_CASE("snapshot: another configuration is refused") {
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  const Bytes saved = one.snapshot();
  const auto refused = [&saved](const char* field, double value) {
    CAPTURE(field);
    Configuration config = tiny_model();
    REQUIRE(set_field(config, field, value).ok());
    ModelFixture other(config);
    const Bytes before = other.snapshot();
    const Status status = other.load(saved);
    CHECK(status.code() == StatusCode::kInvalidArgument);
    CHECK(status.index() == find_field(field) - configuration_fields().data());
    CHECK(std::string(status.message()).find(field) != std::string::npos);
    CHECK(other.snapshot() == before);
  };
  refused("hidden1", 13);
  refused("latent", 5);
  refused("max_clusters", 9);
  refused("seed", 2);
  refused("block_rows", 300);
  Configuration config = tiny_model();
  config.laps = 3;  // live: the file's own is taken
  ModelFixture other(config);
  REQUIRE(other.load(saved).ok());
  CHECK(other.model.configuration().laps == tiny_model().laps);
}

TEST_CASE("snapshot: too little memory is refused, and nothing is allocated") {
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  const Bytes saved = one.snapshot();
  Bytes out(saved.size());
  std::size_t size = 7;
  CHECK(one.model.save(out.data(), saved.size() - 1, &size).code() == StatusCode::kOutOfMemory);
  CHECK(size == 7);
  CHECK(out == Bytes(saved.size()));
  Bytes broken = saved;
  broken.back() ^= std::byte{1};
  SnapshotInfo info;
  const AllocationCount before = allocation_count();
  const bool saved_again = one.model.save(out.data(), out.size(), &size).ok();
  const bool inspected = inspect_snapshot(out.data(), size, &info).ok();
  const bool loaded = one.model.load(out.data(), size).ok();
  const bool refused = !one.model.load(broken.data(), broken.size()).ok();
  const AllocationCount after = allocation_count();
  CHECK(after.allocations == before.allocations);
  CHECK(saved_again);
  CHECK(inspected);
  CHECK(loaded);
  CHECK(refused);
  CHECK(one.memory.guards_untouched());
}

// Run by tests/reference/snapshot_check.py, which reads the file.
TEST_CASE("snapshot: for the reference" * doctest::skip()) {
  const char* directory = std::getenv("ADAPVAE_EXCHANGE_DIRECTORY");
  REQUIRE(directory != nullptr);
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  one.learn(stream(2));
  REQUIRE(one.model.clusters().rename(1, "ein Käse").ok());
  StreamReport report;
  Index streams = 0;
  const Rows rows = stream(1, 5);
  REQUIRE(one.model.push(one.backend, rows.view(), 0.5, &report, &streams).ok());
  Rows mean(5, 4);
  REQUIRE(one.model.network().encode(one.backend, rows.view(), mean.view(), MatrixView()).ok());
  const TensorSource latent = {"latent", TensorType::kF32, 2, {5, 4}, mean.data.data()};
  const auto write = [directory](const char* name, const Bytes& bytes) {
    std::ofstream out(std::string(directory) + name, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    CHECK(out.good());
  };
  write("/model.safetensors", one.snapshot());
  write("/latent.safetensors", Sample::write({&latent, 1}, {}));
}

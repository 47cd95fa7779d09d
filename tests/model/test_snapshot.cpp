// Snapshots: a model that was saved and loaded goes on as if it had never stopped, and bytes that
// are not right change nothing.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "support/allocation_trap.h"
#include "support/model_fixture.h"
#include "support/tensor_file_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

// Small enough to be loaded many times.
Configuration tiny_model() {
  Configuration config = small_model();
  config.aliases = 16;
  config.max_clusters = 8;
  config.hidden1 = 12;
  config.pretrain_epochs = 20;
  config.adapt_epochs = 4;
  config.joint_epochs = 3;
  return config;
}

Rows stream(int number, Index rows = 200) {
  return kinds(number, number + 1, rows, static_cast<std::uint32_t>(number));
}

// A snapshot taken apart, to be changed and put together with the right checksum.
struct Taken {
  explicit Taken(const Bytes& bytes_in) : bytes(bytes_in), room(64) {
    TensorReader reader;
    REQUIRE(reader.open(bytes.data(), bytes.size(), room).ok());
    for (const TensorView& view : reader.tensors()) {
      Part part;
      part.name = plain(view.name);
      part.type = view.type;
      part.shape.assign(view.shape, view.shape + view.dims);
      part.data.assign(view.data, view.data + view.bytes);
      parts.push_back(part);
    }
    JsonString key;
    JsonString value;
    std::size_t position = 0;
    while (reader.next_metadata(&position, &key, &value)) {
      if (!key.equals(kChecksumKey)) metadata.emplace_back(plain(key), plain(value));
    }
  }
  struct Part {
    std::string name;
    TensorType type;
    std::vector<std::uint64_t> shape;
    Bytes data;
  };
  static std::string plain(const JsonString& text) {
    std::string out(text.plain_size, '?');
    text.copy(out.data(), out.size());
    return out;
  }
  Part& part(std::string_view name) {
    for (Part& each : parts) {
      if (each.name == name) return each;
    }
    FAIL("no such tensor");
    return parts[0];
  }
  void set(std::string_view key, std::string text) {
    for (auto& [name, value] : metadata) {
      if (name == key) return value.swap(text);
    }
    FAIL("no such key");
  }
  void drop(std::string_view key) {
    std::erase_if(metadata, [key](const auto& entry) { return entry.first == key; });
    std::erase_if(parts, [key](const Part& each) { return each.name == key; });
  }
  Bytes write() const {
    std::vector<TensorSource> sources;
    for (const Part& each : parts) {
      TensorSource source{
          each.name, each.type, static_cast<int>(each.shape.size()), {}, each.data.data()};
      std::copy(each.shape.begin(), each.shape.end(), source.shape);
      sources.push_back(source);
    }
    std::vector<MetadataEntry> entries;
    for (const auto& [key, text] : metadata) entries.push_back({key, text});
    return Sample::write(sources, entries);
  }

  Bytes bytes;
  std::vector<TensorView> room;
  std::vector<Part> parts;
  std::vector<std::pair<std::string, std::string>> metadata;
};

void set_float(Bytes& data, std::size_t index, float value) {
  std::memcpy(data.data() + 4 * index, &value, 4);
}

}  // namespace

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
    for (int i = 3; i < 6; ++i) {
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
  CHECK(info.format == 1);
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

TEST_CASE("snapshot: cut or flipped anywhere it is refused, and nothing has changed") {
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  ModelFixture other(tiny_model());
  other.learn(stream(3));
  REQUIRE(other.model.clusters().rename(1, "kept").ok());
  const Bytes saved = one.snapshot();
  const Bytes before = other.snapshot();
  int loaded = 0;
  for (std::size_t size = 0; size < saved.size(); size += 97) {
    const Bytes cut(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(size));
    loaded += other.load(cut).ok() ? 1 : 0;
  }
  CHECK(loaded == 0);
  CHECK(other.snapshot() == before);
  Bytes flipped = saved;
  for (std::size_t at = 0; at < saved.size(); at += 61) {
    const auto bit = static_cast<std::byte>(1U << (at % 8));
    flipped[at] ^= bit;
    loaded += other.load(flipped).ok() ? 1 : 0;
    flipped[at] ^= bit;
  }
  CHECK(loaded == 0);
  CHECK(other.snapshot() == before);
  CHECK(other.model.clusters().undo_steps() == 1);
  REQUIRE(other.load(flipped).ok());
}

TEST_CASE("snapshot: hostile files with the right checksum are refused, and nothing has changed") {
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  StreamReport report;
  Index streams = 0;
  const Rows some = stream(1, 7);
  REQUIRE(one.model.push(one.backend, some.view(), 0.0, &report, &streams).ok());
  const Bytes saved = one.snapshot();
  REQUIRE(Taken(saved).write() == saved);
  ModelFixture other(tiny_model());
  other.learn(stream(3));
  const Bytes before = other.snapshot();
  struct Case {
    const char* what;
    std::function<void(Taken&)> change;
  };
  const Case cases[] = {
      {"NaN weight", [](Taken& t) { set_float(t.part("encoder.0.weight").data, 5, NAN); }},
      {"infinite bias", [](Taken& t) { set_float(t.part("decoder.1.bias").data, 0, INFINITY); }},
      {"a layer less", [](Taken& t) { t.drop("encoder.1.bias"); }},
      {"another name",
       [](Taken& t) { t.part("encoder.0.weight").name = std::string("encoder.0.weights"); }},
      {"transposed",
       [](Taken& t) {
         std::swap(t.part("encoder.0.weight").shape[0], t.part("encoder.0.weight").shape[1]);
       }},
      {"another type", [](Taken& t) { t.part("encoder.0.bias").type = TensorType::kI32; }},
      {"NaN row that waits", [](Taken& t) { set_float(t.part("block.rows").data, 3, NAN); }},
      {"more rows wait than there are", [](Taken& t) { t.set("adapvae.rows_pending", "8"); }},
      {"rows that wait are a stream",
       [](Taken& t) {
         t.set("adapvae.rows_pending", "400");
         t.part("block.rows").shape[0] = 400;
         t.part("block.rows").data.resize(400 * 20 * 4);
       }},
      {"no scale", [](Taken& t) { t.drop("input.scale"); }},
      {"a scale of another kind", [](Taken& t) { t.part("input.scale").data[0] ^= std::byte{1}; }},
      {"no clusters", [](Taken& t) { t.drop("clusters.state"); }},
      {"clusters cut",
       [](Taken& t) {
         t.part("clusters.state").data.pop_back();
         --t.part("clusters.state").shape[0];
       }},
      {"clusters and more",
       [](Taken& t) {
         t.part("clusters.state").data.push_back(std::byte{0});
         ++t.part("clusters.state").shape[0];
       }},
      {"clusters all ones",
       [](Taken& t) {
         for (std::byte& b : t.part("clusters.state").data) b = std::byte{0xFF};
       }},
      {"another number of clusters", [](Taken& t) { t.set("adapvae.clusters", "70"); }},
      {"fewer streams than the clusters saw", [](Taken& t) { t.set("adapvae.streams", "0"); }},
      {"streams below nothing", [](Taken& t) { t.set("adapvae.streams", "-1"); }},
      {"streams beyond counting", [](Taken& t) { t.set("adapvae.streams", "4294967296"); }},
      {"time before the clusters'", [](Taken& t) { t.set("adapvae.time", "-1"); }},
      {"time that is none", [](Taken& t) { t.set("adapvae.time", "nan"); }},
      {"events that are no number", [](Taken& t) { t.set("adapvae.events", "1e3"); }},
      {"a count is missing", [](Taken& t) { t.drop("adapvae.rows"); }},
      {"no format", [](Taken& t) { t.drop("adapvae.format"); }},
      {"format 0", [](Taken& t) { t.set("adapvae.format", "0"); }},
      {"a newer format", [](Taken& t) { t.set("adapvae.format", "2"); }},
      {"a field out of bounds", [](Taken& t) { t.set("config.batch", "-5"); }},
      {"fields that do not fit", [](Taken& t) { t.set("config.batch", "101"); }},
      {"no room for replay", [](Taken& t) { t.set("config.replay_ratio", "3"); }},
      {"a field that is text", [](Taken& t) { t.set("config.latent", "four"); }},
      {"a field too long", [](Taken& t) { t.set("config.sensitivity", std::string(60, '1')); }},
      {"a field with a long tail",
       [](Taken& t) { t.set("config.sensitivity", "1." + std::string(60, '0')); }},
      {"a field of another model", [](Taken& t) { t.set("config.latent", "5"); }},
  };
  for (const Case& each : cases) {
    CAPTURE(each.what);
    Taken taken(saved);
    each.change(taken);
    const Status status = other.load(taken.write());
    CHECK_FALSE(status.ok());
    CHECK(status.message()[0] != '\0');
    CHECK(other.snapshot() == before);
  }
  REQUIRE(other.load(saved).ok());
  CHECK(other.snapshot() == saved);
}

TEST_CASE("snapshot: whatever the bytes of the clusters' state, the model stays sound") {
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  ModelFixture other(tiny_model());
  const Taken good(one.snapshot());
  Bytes before = other.snapshot();
  for (std::size_t at = 0; at < 400; ++at) {
    Taken taken = good;
    Bytes& state = taken.part("clusters.state").data;
    state[(at * 131) % state.size()] ^= static_cast<std::byte>(1U << (at % 8));
    if (other.load(taken.write()).ok()) {
      before = other.snapshot();
    } else {
      REQUIRE(other.snapshot() == before);
    }
  }
  REQUIRE(other.load(good.write()).ok());
  CHECK(other.snapshot() == one.snapshot());
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

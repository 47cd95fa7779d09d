// Snapshots that are cut, flipped or made to deceive are refused, and change nothing.
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include <doctest/doctest.h>

#include "support/snapshot_fixture.h"
#include "support/test_size.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

void set_float(Bytes& data, std::size_t index, float value) {
  std::memcpy(data.data() + 4 * index, &value, 4);
}

}  // namespace

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
      {"a weight that overflows",
       [](Taken& t) { set_float(t.part("encoder.0.bias").data, 0, 1e20F); }},
      {"pretrained twice", [](Taken& t) { t.set("adapvae.pretrained", "2"); }},
      {"a block number that would wrap", [](Taken& t) { t.set("adapvae.streams", "4294967295"); }},
      {"more rows than can be counted",
       [](Taken& t) { t.set("adapvae.rows", "9007199254740992"); }},
      {"a time that overflows", [](Taken& t) { t.set("adapvae.time_pending", "1e300"); }},
      {"a row that waits out of range",
       [](Taken& t) { set_float(t.part("block.rows").data, 3, 1e30F); }},
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
      {"another number of components", [](Taken& t) { t.set("adapvae.components", "70"); }},
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
      {"a newer format", [](Taken& t) { t.set("adapvae.format", "3"); }},
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

// The network's later blocks would ask what the clusters made of the rows, and they have seen none.
TEST_CASE("snapshot: blocks that the clusters have not seen are refused") {
  ModelFixture one(tiny_model());
  Taken taken(one.snapshot());
  taken.set("adapvae.streams", "1");
  CHECK_FALSE(one.load(taken.write()).ok());
  taken.set("adapvae.streams", "0");
  CHECK(one.load(taken.write()).ok());
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

// Every eight bytes of the state as numbers at the end of their range. What is refused changes
// nothing; what is accepted scores finite numbers, learns or says why not, and is saved so that it
// loads again.
TEST_CASE("snapshot: extreme numbers in the clusters' state are refused or do no harm") {
  ModelFixture one(tiny_model());
  one.learn(stream(0));
  one.learn(stream(1));
  ModelFixture other(tiny_model());
  ModelFixture third(tiny_model());
  const Taken good(one.snapshot());
  const Rows rows = kinds(0, 3, 60, 9);
  const std::size_t bytes = Taken(good).part("clusters.state").data.size();
  const double extremes[] = {1.7e308, -1.7e308, 1e99, -1e99, 4503599627370495.0, 1e-308};
  int accepted = 0;
  for (std::size_t at = 0; at + 8 <= bytes; at += 4) {
    for (std::size_t which = 0; which < 8; ++which) {
      if (!full_size() && (at / 4 + which) % 8 != 0) continue;
      CAPTURE(at);
      CAPTURE(which);
      Taken taken(good);
      std::uint64_t number = which == 6 ? ~std::uint64_t{0} : (std::uint64_t{1} << 52U) - 1;
      if (which < 6) std::memcpy(&number, &extremes[which], 8);
      std::memcpy(taken.part("clusters.state").data.data() + at, &number, 8);
      const Bytes before = other.snapshot();
      if (!other.load(taken.write()).ok()) {
        REQUIRE(other.snapshot() == before);
        continue;
      }
      ++accepted;
      std::vector<RowResult> results(60);
      REQUIRE(other.model.score(other.backend, rows.view(), results.data()).ok());
      bool finite = true;
      for (const RowResult& row : results) {
        finite = finite && std::isfinite(row.log_density) && row.novelty >= 0.0F &&
                 row.novelty <= 1.0F && row.probability >= 0.0F && row.probability <= 1.0F;
      }
      REQUIRE(finite);
      StreamReport report;
      (void)other.model.learn(other.backend, rows.view(), &report);
      REQUIRE(third.load(other.snapshot()).ok());
    }
  }
  CHECK(accepted > 20);
}

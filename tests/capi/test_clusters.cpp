// Clusters, corrections, events and explanations.
#include <set>

#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

adapvae_cluster make_cluster() {
  adapvae_cluster cluster = {};
  cluster.struct_size = sizeof cluster;
  return cluster;
}

std::string text_of(const adapvae_event& event, int32_t format) {
  size_t needed = 0;
  REQUIRE(adapvae_event_text(&event, format, nullptr, 0, &needed) == ADAPVAE_OK);
  std::string text(needed, '#');
  REQUIRE(adapvae_event_text(&event, format, text.data(), needed, nullptr) == ADAPVAE_OK);
  CHECK(text.back() == '\0');
  text.pop_back();
  CHECK(text.find('\0') == std::string::npos);
  char small = '#';
  CHECK(adapvae_event_text(&event, format, &small, 1, nullptr) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(small == '#');
  return text;
}

std::string explain(const Handle& handle, const std::vector<float>& row, int32_t format) {
  size_t needed = 0;
  REQUIRE(adapvae_explain(handle.model, row.data(), format, nullptr, 0, &needed) == ADAPVAE_OK);
  std::string text(needed, '#');
  REQUIRE(adapvae_explain(handle.model, row.data(), format, text.data(), needed, &needed) ==
          ADAPVAE_OK);
  text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("clusters are listed, found, named, merged, split, forgotten, and all of it undone") {
  Handle handle;
  adapvae_cluster cluster = make_cluster();
  adapvae_model* const model = handle.model;
  CHECK(adapvae_cluster_at(model, 0, &cluster) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_label(model, 1, "x") == ADAPVAE_UNKNOWN_CLUSTER);
  CHECK(adapvae_resolve(model, 1) == ADAPVAE_NO_ID);
  const auto rows = kinds(0, 2, 300, 1);
  handle.learn(rows);
  const adapvae_id a = handle.score(rows)[0].id;
  const adapvae_id b = handle.score(rows)[1].id;
  REQUIRE(a != b);
  std::set<adapvae_id> ids;
  double weight = 0.0, held = 0.0;
  for (int32_t k = 0; k < handle.info().clusters; ++k) {
    REQUIRE(adapvae_cluster_at(model, k, &cluster) == ADAPVAE_OK);
    ids.insert(cluster.id);
    weight += cluster.weight;
    held += cluster.rows;
    CHECK(cluster.born_stream <= 1);
  }
  CHECK(ids.count(a) == 1);
  CHECK(held == 300.0);
  CHECK(weight <= 1.0);
  CHECK(weight > 0.8);

  const auto bytes = handle.save();
  CHECK(adapvae_label(model, a, "a name of more than thirty-one bytes") ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_label(model, a, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  double gain = 0.0;
  CHECK(adapvae_merge(model, a, b, 0, &gain) == ADAPVAE_REFUSED);
  CHECK(gain < 0.0);
  CHECK(handle.message().find("force") != std::string::npos);
  CHECK(adapvae_merge(model, a, a, 1, &gain) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_merge(model, a, 999, 1, &gain) == ADAPVAE_UNKNOWN_CLUSTER);
  CHECK(adapvae_undo(model) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(handle.save() == bytes);

  REQUIRE(adapvae_label(model, a, "pump \"α\"") == ADAPVAE_OK);
  REQUIRE(adapvae_cluster_of(model, a, &cluster) == ADAPVAE_OK);
  CHECK(std::string(cluster.name) == "pump \"α\"");
  REQUIRE(adapvae_merge(model, a, b, 1, &gain) == ADAPVAE_OK);
  CHECK(adapvae_resolve(model, b) == a);
  REQUIRE(adapvae_cluster_of(model, b, &cluster) == ADAPVAE_OK);
  CHECK(cluster.id == a);
  adapvae_id part = 0;
  REQUIRE(adapvae_split(model, a, 1, &part, nullptr) == ADAPVAE_OK);
  CHECK(part > 0);
  CHECK(adapvae_resolve(model, part) == part);
  REQUIRE(adapvae_forget(model, part) == ADAPVAE_OK);
  CHECK(adapvae_resolve(model, part) == ADAPVAE_NO_ID);
  CHECK(handle.info().undo_steps == 4);
  for (int i = 0; i < 4; ++i) REQUIRE(adapvae_undo(model) == ADAPVAE_OK);
  CHECK(handle.info().undo_steps == 0);
  // But for the number of the last event, which goes on.
  Handle again;
  const auto undone = handle.save();
  REQUIRE(undone.size() == bytes.size());
  REQUIRE(adapvae_load(again.model, undone.data(), undone.size()) == ADAPVAE_OK);
  CHECK(same(again.score(rows), handle.score(rows)));
  adapvae_snapshot before = {}, after = {};
  before.struct_size = after.struct_size = sizeof before;
  REQUIRE(adapvae_inspect(bytes.data(), bytes.size(), &before, nullptr, nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_inspect(undone.data(), undone.size(), &after, nullptr, nullptr) == ADAPVAE_OK);
  CHECK(after.events == before.events + 8);
}

TEST_CASE("events are read one after the other, as text and as JSON") {
  adapvae_config config = small_config();
  config.events = 8;
  Handle handle(config);
  adapvae_event event = {};
  CHECK(adapvae_next_event(handle.model, &event) == ADAPVAE_INVALID_ARGUMENT);
  event.struct_size = sizeof event;
  CHECK(adapvae_next_event(handle.model, &event) == ADAPVAE_NO_MORE);
  handle.learn(kinds(0, 1, 300, 1));
  int born = 0;
  uint64_t last = 0;
  while (adapvae_next_event(handle.model, &event) == ADAPVAE_OK) {
    CHECK(event.sequence > last);
    last = event.sequence;
    born += event.type == ADAPVAE_BORN ? 1 : 0;
    const std::string text = text_of(event, ADAPVAE_TEXT);
    CHECK(text.find("stream 1: ") == 0);
    const std::string json = text_of(event, ADAPVAE_JSON);
    CHECK(json.front() == '{');
    CHECK(json.find("\"sequence\":" + std::to_string(last) + ",") != std::string::npos);
    CHECK(json.back() == '}');
  }
  CHECK(born >= 1);
  CHECK(event.type == ADAPVAE_LEARNT);
  CHECK(event.rows == 300.0);
  CHECK(event.clusters == handle.info().clusters);
  // Who comes late is told.
  for (int i = 0; i < 20; ++i) {
    REQUIRE(adapvae_label(handle.model, handle.score(kinds(0, 0, 1, 1))[0].id, "x") == ADAPVAE_OK);
  }
  REQUIRE(adapvae_next_event(handle.model, &event) == ADAPVAE_OK);
  CHECK(event.missed == 1);
  CHECK(event.sequence == last + 13);
  REQUIRE(adapvae_next_event(handle.model, &event) == ADAPVAE_OK);
  CHECK(event.missed == 0);
  // What no model tells is refused.
  event.type = 99;
  CHECK(adapvae_event_text(&event, ADAPVAE_TEXT, nullptr, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  event.type = 0;
  CHECK(adapvae_event_text(&event, 7, nullptr, 0, nullptr) == ADAPVAE_INVALID_ARGUMENT);
}

TEST_CASE("why a row is novel") {
  Handle handle;
  auto row = kinds(0, 0, 1, 1);
  CHECK(explain(handle, row, ADAPVAE_TEXT).find("nothing has been learnt") != std::string::npos);
  handle.learn(kinds(0, 2, 300, 1));
  const auto bytes = handle.save();
  const adapvae_result result = handle.score(row)[0];
  REQUIRE(adapvae_label(handle.model, result.id, "a \"b\"") == ADAPVAE_OK);
  CHECK(explain(handle, row, ADAPVAE_TEXT).find("known: novelty 0.") == 0);
  const std::string json = explain(handle, row, ADAPVAE_JSON);
  CHECK(json.find("\"novel\":false") == 1);
  CHECK(json.find("\"name\":\"a \\\"b\\\"\"") != std::string::npos);
  CHECK(json.find("\"id\":" + std::to_string(result.id) + ",") != std::string::npos);
  // One input that is off is named.
  row[13] += 40.0F;
  const std::string off = explain(handle, row, ADAPVAE_TEXT);
  CAPTURE(off);
  CHECK(off.find("novel: novelty") == 0);
  CHECK(off.find("input 13: ") != std::string::npos);
  row[13] = std::nanf("");
  CHECK(adapvae_explain(handle.model, row.data(), ADAPVAE_TEXT, nullptr, 0, nullptr) ==
        ADAPVAE_NON_FINITE);
  CHECK(adapvae_explain(handle.model, nullptr, ADAPVAE_TEXT, nullptr, 0, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  REQUIRE(adapvae_undo(handle.model) == ADAPVAE_OK);
}

TEST_CASE("agreement with labels") {
  const std::vector<int32_t> labels = {-1, -1, 5, 5, 5, 9};
  const std::vector<adapvae_id> ids = {3, 3, 8, 8, 8, 8};
  adapvae_metrics metrics = {};
  metrics.struct_size = sizeof metrics;
  REQUIRE(adapvae_evaluate(labels.data(), ids.data(), 6, nullptr, &metrics, nullptr) == ADAPVAE_OK);
  CHECK(metrics.rows == 6);
  CHECK(metrics.labels == 3);
  CHECK(metrics.clusters == 2);
  CHECK(metrics.accuracy == doctest::Approx(5.0 / 6.0));
  CHECK(metrics.purity == doctest::Approx(5.0 / 6.0));
  CHECK(metrics.completeness == doctest::Approx(1.0));
  CHECK(metrics.homogeneity < 0.8);
  CHECK(metrics.nmi == doctest::Approx(metrics.v_measure));
  CHECK(adapvae_evaluate(labels.data(), ids.data(), 0, nullptr, &metrics, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_evaluate(nullptr, ids.data(), 6, nullptr, &metrics, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  metrics.struct_size = 0;
  CHECK(adapvae_evaluate(labels.data(), ids.data(), 6, nullptr, &metrics, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
}

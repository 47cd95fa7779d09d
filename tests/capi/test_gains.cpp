// Gains through the C API: what is refused, and that nothing changes then.
#include <algorithm>

#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

using Bytes = std::vector<unsigned char>;

Bytes base_bytes() {
  static Bytes bytes;
  if (bytes.empty()) {
    Handle handle;
    handle.learn(kinds(0, 2, 400, 1));
    bytes = handle.save();
  }
  return bytes;
}

adapvae_model* base_model() {
  const Bytes bytes = base_bytes();
  adapvae_model* model = nullptr;
  REQUIRE(adapvae_create_from(bytes.data(), bytes.size(), nullptr, &model, nullptr) == ADAPVAE_OK);
  return model;
}

Bytes gain(const Handle& handle, const std::vector<float>& rows, uint64_t worker,
           uint64_t sequence) {
  size_t size = 0;
  REQUIRE(adapvae_gain(handle.model, nullptr, 0, 0, nullptr, nullptr, 0, &size) == ADAPVAE_OK);
  Bytes out(size);
  const adapvae_gain_key key = {worker, sequence};
  const adapvae_status status =
      adapvae_gain(handle.model, rows.data(), static_cast<int32_t>(rows.size()) / kInputs, 0, &key,
                   out.data(), out.size(), &size);
  INFO(handle.message());
  REQUIRE(status == ADAPVAE_OK);
  out.resize(size);
  return out;
}

adapvae_status merge(const Bytes& a, const Bytes& b, Bytes* out) {
  size_t size = 0;
  const adapvae_status status =
      adapvae_merge_gains(a.data(), a.size(), b.data(), b.size(), nullptr, 0, &size, nullptr);
  if (status != ADAPVAE_OK) return status;
  out->resize(size);
  return adapvae_merge_gains(a.data(), a.size(), b.data(), b.size(), out->data(), out->size(),
                             &size, nullptr);
}

Bytes merged(const Bytes& a, const Bytes& b) {
  Bytes out;
  REQUIRE(merge(a, b, &out) == ADAPVAE_OK);
  return out;
}

adapvae_gains inspected(const Bytes& bytes) {
  adapvae_gains gains = {};
  gains.struct_size = sizeof gains;
  REQUIRE(adapvae_inspect_gains(bytes.data(), bytes.size(), &gains, nullptr) == ADAPVAE_OK);
  return gains;
}

adapvae_status apply(const Handle& handle, const Bytes& bytes) {
  return adapvae_apply_gains(handle.model, bytes.data(), bytes.size(), nullptr, 0, nullptr);
}

}  // namespace

TEST_CASE("two workers and one model") {
  Handle base(base_model());
  Handle worker(base_model());
  const Bytes a = gain(base, kinds(0, 3, 300, 2), 1, 7);
  const Bytes b = gain(worker, kinds(0, 3, 300, 3), 2, 7);
  const Bytes set = merged(b, a);
  CHECK(set == merged(a, merged(b, a)));
  const adapvae_gains gains = inspected(set);
  CHECK(gains.gains == 2);
  CHECK(gains.rows == 600);
  CHECK(gains.base_streams == 1);
  CHECK(gains.clusters == base.info().clusters);
  CHECK(gains.base_mark == inspected(a).base_mark);
  CHECK(gains.encoder_mark == inspected(b).encoder_mark);
  CHECK(gains.born == inspected(a).born + inspected(b).born);
  REQUIRE(gains.born > 1);

  std::vector<adapvae_alias> aliases(static_cast<size_t>(gains.born) + 1);
  aliases.back().id = 77;
  adapvae_report report = {};
  report.struct_size = sizeof report;
  const Bytes before = base.save();
  CHECK(adapvae_apply_gains(base.model, set.data(), set.size(), aliases.data(), gains.born - 1,
                            &report) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(base.save() == before);
  REQUIRE(adapvae_apply_gains(base.model, set.data(), set.size(), aliases.data(), gains.born,
                              &report) == ADAPVAE_OK);
  CHECK(report.streams == 1);
  CHECK(report.rows == 600);
  CHECK(report.births >= 1);
  CHECK(base.info().rows == 1000);
  CHECK(base.info().streams == 2);
  const adapvae_id id = base.score(kinds(3, 3, 1, 9))[0].id;
  for (const uint64_t w : {1, 2}) {
    CHECK(std::any_of(aliases.begin(), aliases.end(), [&](const adapvae_alias& alias) {
      return alias.worker == w && alias.sequence == 7 && alias.local > 0 && alias.id == id;
    }));
  }
  CHECK(aliases.back().id == 77);
  // It was told of.
  adapvae_event event = {};
  event.struct_size = sizeof event;
  bool born = false;
  bool learnt = false;
  while (adapvae_next_event(base.model, &event) == ADAPVAE_OK) {
    born = born || (event.type == ADAPVAE_BORN && event.id == id && event.stream == 2);
    learnt = learnt || (event.type == ADAPVAE_LEARNT && event.rows == 600.0);
  }
  CHECK(born);
  CHECK(learnt);
}

TEST_CASE("a gain that comes twice, late or not at all does no harm") {
  const std::vector<float> rows[] = {kinds(0, 2, 200, 2), kinds(0, 2, 200, 3), kinds(0, 2, 200, 4)};
  Handle worker(base_model());
  Bytes gains[3];
  for (uint64_t w = 0; w < 3; ++w) gains[w] = gain(worker, rows[w], w, 1);

  // Twice in a set: once in the model.
  Handle twice(base_model());
  Handle once(base_model());
  REQUIRE(apply(twice, merged(merged(gains[0], gains[1]), merged(gains[1], gains[0]))) ==
          ADAPVAE_OK);
  REQUIRE(apply(once, merged(gains[0], gains[1])) == ADAPVAE_OK);
  CHECK(twice.save() == once.save());
  CHECK(twice.info().rows == 800);

  // Late, or twice with the base gone on in between: refused, and said so.
  const Bytes before = once.save();
  for (const Bytes& late : gains) {
    CHECK(apply(once, late) == ADAPVAE_LATE);
    CHECK(once.message().find("gone on") != std::string::npos);
  }
  CHECK(once.save() == before);
  // Its rows can be given to the base as it is now.
  REQUIRE(apply(once, gain(once, rows[2], 2, 2)) == ADAPVAE_OK);
  CHECK(once.info().rows == 1000);

  // A worker that is lost: the others' gains are what they are without it.
  Handle without(base_model());
  REQUIRE(apply(without, merged(gains[0], gains[2])) == ADAPVAE_OK);
  CHECK(without.info().rows == 800);

  // A worker that computed something else under the same key is not believed.
  Bytes out;
  CHECK(merge(gains[0], gain(worker, rows[1], 0, 1), &out) == ADAPVAE_INVALID_ARGUMENT);
}

TEST_CASE("gains of another model are refused") {
  Handle base(base_model());
  const Bytes own = gain(base, kinds(0, 2, 100, 2), 1, 1);
  const Bytes before = base.save();
  const auto foreign = [&](const Bytes& gains) {
    CHECK(apply(base, gains) == ADAPVAE_FOREIGN);
    CHECK(base.message() != "");
    CHECK(base.save() == before);
    Bytes out;
    CHECK(merge(own, gains, &out) == ADAPVAE_FOREIGN);
  };
  // Another network: another seed; other rows; another shape.
  adapvae_config config = small_config();
  config.seed = 2;
  Handle seeded(config);
  seeded.learn(kinds(0, 2, 400, 1));
  foreign(gain(seeded, kinds(0, 2, 100, 2), 1, 2));
  config = small_config();
  config.latent = 5;
  Handle wide(config);
  wide.learn(kinds(0, 2, 400, 1));
  foreign(gain(wide, kinds(0, 2, 100, 2), 1, 2));
  // The same network, other clusters: a correction. A name changes nothing.
  Handle corrected(base_model());
  adapvae_cluster cluster = {};
  cluster.struct_size = sizeof cluster;
  REQUIRE(adapvae_cluster_at(corrected.model, 1, &cluster) == ADAPVAE_OK);
  REQUIRE(adapvae_label(corrected.model, cluster.id, "named") == ADAPVAE_OK);
  CHECK(gain(corrected, kinds(0, 2, 100, 2), 1, 1) == own);
  REQUIRE(adapvae_forget(corrected.model, cluster.id) == ADAPVAE_OK);
  foreign(gain(corrected, kinds(0, 2, 100, 2), 1, 2));
  // Of a base that is ahead of this model, with the same network.
  Handle ahead(base_model());
  REQUIRE(apply(ahead, own) == ADAPVAE_OK);
  foreign(gain(ahead, kinds(0, 2, 100, 2), 1, 2));
  // And its own are still taken.
  REQUIRE(apply(base, own) == ADAPVAE_OK);
  CHECK(base.save() == ahead.save());
}

TEST_CASE("gains that are cut or changed anywhere are refused and change nothing") {
  Handle base(base_model());
  const Bytes whole =
      merged(gain(base, kinds(0, 3, 200, 2), 1, 1), gain(base, kinds(0, 2, 50, 3), 2, 1));
  REQUIRE(inspected(whole).born > 0);
  const Bytes before = base.save();
  const auto refused = [&](const Bytes& bytes) {
    adapvae_gains gains = {};
    gains.struct_size = sizeof gains;
    adapvae_error error = {};
    error.struct_size = sizeof error;
    const adapvae_status status = adapvae_inspect_gains(bytes.data(), bytes.size(), &gains, &error);
    CHECK((status == ADAPVAE_CORRUPT_DATA || status == ADAPVAE_NEWER_FORMAT));
    CHECK(error.status == status);
    CHECK(std::string(error.message) != "");
    CHECK(apply(base, bytes) == status);
    Bytes out;
    CHECK(merge(whole, bytes, &out) == status);
    CHECK(merge(bytes, whole, &out) == status);
  };
  for (size_t size = 1; size < whole.size(); size += size < 200 ? 1 : 61) {
    refused(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  for (size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 37) {
    Bytes flipped = whole;
    flipped[at] ^= static_cast<unsigned char>(1U << at % 8);
    refused(flipped);
  }
  Bytes longer = whole;
  longer.push_back(0);
  refused(longer);
  CHECK(base.save() == before);
}

TEST_CASE("what a gain cannot be made of is refused") {
  Handle base(base_model());
  const Bytes before = base.save();
  std::vector<float> rows = kinds(0, 2, 10, 2);
  const Bytes empty_set = gain(base, {}, 0, 0);
  size_t size = 0;
  REQUIRE(adapvae_gain(base.model, nullptr, 0, 0, nullptr, nullptr, 0, &size) == ADAPVAE_OK);
  Bytes out(size, 0x55);
  const adapvae_gain_key key = {1, 1};
  const auto made = [&](size_t capacity) {
    return adapvae_gain(base.model, rows.data(), 10, 0, &key, out.data(), capacity, &size);
  };
  CHECK(made(out.size() - 1) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(size == out.size());
  CHECK(std::all_of(out.begin(), out.end(), [](unsigned char c) { return c == 0x55; }));
  CHECK(adapvae_gain(base.model, rows.data(), 10, 0, &key, nullptr, 9, &size) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_gain(base.model, rows.data(), 10, 0, &key, out.data(), out.size(), nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_gain(base.model, rows.data(), 10, 0, nullptr, out.data(), out.size(), &size) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_gain(nullptr, rows.data(), 10, 0, &key, out.data(), out.size(), &size) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_gain(base.model, nullptr, 10, 0, &key, out.data(), out.size(), &size) ==
        ADAPVAE_INVALID_ARGUMENT);
  rows[45] = NAN;
  CHECK(made(out.size()) == ADAPVAE_NON_FINITE);
  rows[45] = 0.0F;
  REQUIRE(adapvae_push(base.model, rows.data(), 1, 0, nullptr) == ADAPVAE_OK);
  CHECK(made(out.size()) == ADAPVAE_INVALID_ARGUMENT);  // rows wait
  CHECK(apply(base, empty_set) == ADAPVAE_INVALID_ARGUMENT);
  REQUIRE(adapvae_load(base.model, before.data(), before.size()) == ADAPVAE_OK);
  CHECK(made(out.size()) == ADAPVAE_OK);
  CHECK(base.save() == before);

  Handle empty;
  CHECK(adapvae_gain(empty.model, rows.data(), 10, 0, &key, out.data(), out.size(), &size) ==
        ADAPVAE_UNAVAILABLE);
  adapvae_config config = small_config();
  config.restore_on_failure = 0;
  Handle lean(config);
  lean.learn(kinds(0, 2, 400, 1));
  CHECK(adapvae_gain(lean.model, rows.data(), 10, 0, &key, out.data(), out.size(), &size) ==
        ADAPVAE_UNAVAILABLE);
  adapvae_model* made_scorer = nullptr;
  REQUIRE(adapvae_create_scorer(base.model, nullptr, &made_scorer, nullptr) == ADAPVAE_OK);
  Handle scorer(made_scorer);
  CHECK(adapvae_gain(scorer.model, rows.data(), 10, 0, &key, out.data(), out.size(), &size) ==
        ADAPVAE_UNAVAILABLE);
  const Bytes set = gain(base, rows, 1, 1);
  CHECK(apply(scorer, set) == ADAPVAE_UNAVAILABLE);

  adapvae_gains gains = {};
  CHECK(adapvae_inspect_gains(set.data(), set.size(), &gains, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_inspect_gains(nullptr, set.size(), &gains, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_apply_gains(base.model, nullptr, set.size(), nullptr, 0, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_merge_gains(set.data(), set.size(), nullptr, 0, nullptr, 0, &size, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  Bytes small(set.size() - 1);
  CHECK(adapvae_merge_gains(set.data(), set.size(), set.data(), set.size(), small.data(),
                            small.size(), &size, nullptr) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(size == set.size());
  // Nothing is a gain, too, and nothing comes of it.
  const Bytes none = gain(base, {}, 1, 1);
  CHECK(inspected(none).gains == 0);
  REQUIRE(apply(base, none) == ADAPVAE_OK);
  CHECK(base.save() == before);
}

// Snapshots and scorers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/capi_fixture.h"

using namespace adapvae_test;

TEST_CASE("what was saved goes on as if nothing had happened") {
  Handle handle;
  handle.learn(kinds(0, 2, 300, 1));
  const auto bytes = handle.save();
  adapvae_model* made = nullptr;
  REQUIRE(adapvae_create_from(bytes.data(), bytes.size(), nullptr, &made, nullptr) == ADAPVAE_OK);
  Handle other(made);
  CHECK(other.save() == bytes);
  handle.learn(kinds(0, 3, 400, 2));
  other.learn(kinds(0, 3, 400, 2));
  CHECK(handle.save() == other.save());
  CHECK(handle.info().snapshot_bytes == handle.save().size());

  adapvae_snapshot snapshot = {};
  adapvae_config config = {};
  snapshot.struct_size = sizeof snapshot;
  config.struct_size = sizeof config;
  REQUIRE(adapvae_inspect(bytes.data(), bytes.size(), &snapshot, &config, nullptr) == ADAPVAE_OK);
  CHECK(snapshot.streams == 1);
  CHECK(snapshot.rows == 300);
  CHECK(snapshot.format == 2);
  CHECK(std::string(snapshot.version) == adapvae_version_string());
  CHECK(config.block_rows == 400);

  std::vector<unsigned char> small(bytes.size() - 1, 0x77);
  size_t size = 0;
  CHECK(adapvae_save(other.model, small.data(), small.size(), &size) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(size == handle.save().size());
  CHECK(small[0] == 0x77);
  CHECK(adapvae_save(other.model, nullptr, 7, &size) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_save(other.model, small.data(), small.size(), nullptr) == ADAPVAE_INVALID_ARGUMENT);
}

TEST_CASE("bytes that are not right are refused, everywhere, and change nothing") {
  Handle handle;
  handle.learn(kinds(0, 2, 300, 1));
  const auto bytes = handle.save();
  Handle victim;
  victim.learn(kinds(1, 3, 300, 5));
  const auto before = victim.save();
  adapvae_model* made = nullptr;
  const auto refused = [&](const unsigned char* data, size_t size) {
    adapvae_error error = {};
    error.struct_size = sizeof error;
    const adapvae_status loaded = adapvae_load(victim.model, data, size);
    CHECK(loaded != ADAPVAE_OK);
    CHECK(victim.message() != "");
    CHECK(adapvae_create_from(data, size, nullptr, &made, &error) == loaded);
    CHECK(made == nullptr);
    CHECK(error.status == loaded);
    CHECK(adapvae_inspect(data, size, nullptr, nullptr, nullptr) == loaded);
  };
  refused(nullptr, 100);
  refused(bytes.data(), 0);
  for (size_t size = 1; size < bytes.size(); size += 97) refused(bytes.data(), size);
  for (size_t at = 0; at < bytes.size(); at += 101) {
    auto flipped = bytes;
    flipped[at] ^= static_cast<unsigned char>(1U << at % 8);
    refused(flipped.data(), flipped.size());
  }
  CHECK(victim.save() == before);

  // A model of another shape says which field differs.
  adapvae_config config = small_config();
  config.latent = 5;
  Handle other(config);
  CHECK(adapvae_load(other.model, bytes.data(), bytes.size()) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(other.message().find("latent") != std::string::npos);
}

TEST_CASE("a scorer says what its model says, and does nothing else") {
  Handle handle;
  const auto rows = kinds(0, 3, 200, 7);
  handle.learn(kinds(0, 2, 300, 1));
  adapvae_model* made = nullptr;
  REQUIRE(adapvae_create_scorer(handle.model, nullptr, &made, nullptr) == ADAPVAE_OK);
  Handle scorer(made);
  CHECK(same(scorer.score(rows), handle.score(rows)));
  CHECK(scorer.info().scores_only == 1);
  CHECK(scorer.info().clusters == handle.info().clusters);
  CHECK(scorer.info().memory_bytes < handle.info().memory_bytes / 2);
  std::vector<float> a(10 * kInputs), b(a.size());
  REQUIRE(adapvae_generate(made, 0, 3, 10, a.data(), nullptr, nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_generate(handle.model, 0, 3, 10, b.data(), nullptr, nullptr) == ADAPVAE_OK);
  CHECK(a == b);

  size_t size = 0;
  const adapvae_id id = handle.score(rows)[0].id;
  CHECK(adapvae_learn(made, rows.data(), 200, 0, nullptr) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_push(made, rows.data(), 200, 0, nullptr) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_flush(made, nullptr) == ADAPVAE_OK);
  CHECK(adapvae_save(made, nullptr, 0, &size) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_label(made, id, "x") == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_forget(made, id) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_undo(made) == ADAPVAE_UNAVAILABLE);
  CHECK(scorer.message().find("score only") != std::string::npos);
  CHECK(adapvae_set_sensitivity(made, 3.0) == ADAPVAE_OK);
  CHECK_FALSE(same(scorer.score(rows), handle.score(rows)));

  // Brought up to date by a snapshot, with rows that wait in it.
  handle.learn(kinds(0, 3, 400, 2));
  REQUIRE(adapvae_push(handle.model, rows.data(), 7, 0, nullptr) == ADAPVAE_OK);
  const auto bytes = handle.save();
  REQUIRE(adapvae_load(made, bytes.data(), bytes.size()) == ADAPVAE_OK);
  CHECK(same(scorer.score(rows), handle.score(rows)));
  CHECK(scorer.info().rows_waiting == 0);

  // In memory of one's own, of the size that is said.
  size_t required = 0;
  REQUIRE(adapvae_create_scorer_from(bytes.data(), bytes.size(), nullptr, nullptr, &required,
                                     nullptr) == ADAPVAE_OK);
  std::vector<unsigned char> memory(required);
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.memory = memory.data();
  options.memory_bytes = memory.size();
  REQUIRE(adapvae_create_scorer_from(bytes.data(), bytes.size(), &options, &made, nullptr,
                                     nullptr) == ADAPVAE_OK);
  const Handle placed(made);
  CHECK(same(placed.score(rows), handle.score(rows)));
  CHECK(adapvae_create_scorer(handle.model, &options, &made, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(made == nullptr);
  CHECK(adapvae_create_scorer(nullptr, nullptr, &made, nullptr) == ADAPVAE_INVALID_ARGUMENT);
}

// As long as ADAPVAE_STRESS_SECONDS says, if it does: for the thread sanitizer.
TEST_CASE("a scorer that reads its weights where they lie") {
  Handle handle;
  handle.learn(kinds(0, 2, 400, 1));
  const std::vector<float> rows = kinds(0, 4, 50, 9);
  // As in flash: aligned as a snapshot's numbers are, and a byte beside that.
  const std::vector<unsigned char> saved = handle.save();
  std::vector<uint64_t> flash(saved.size() / 8 + 2);
  auto* bytes = reinterpret_cast<unsigned char*>(flash.data());
  std::memcpy(bytes, saved.data(), saved.size());
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.in_place = 1;
  size_t copied = 0;
  size_t in_place = 0;
  adapvae_model* made = nullptr;
  REQUIRE(adapvae_create_scorer_from(bytes, saved.size(), nullptr, nullptr, &copied, nullptr) ==
          ADAPVAE_OK);
  REQUIRE(adapvae_create_scorer_from(bytes, saved.size(), &options, &made, &in_place, nullptr) ==
          ADAPVAE_OK);
  const Handle scorer(made);
  CHECK(same(scorer.score(rows), handle.score(rows)));
  // Less by the weights: 20-32-8 and 4-32-20.
  CHECK(copied - in_place >= 4 * (20 * 32 + 32 + 32 * 8 + 8 + 4 * 32 + 32 + 32 * 20 + 20));
  // Nothing may be written there.
  CHECK(adapvae_reset(scorer.model) == ADAPVAE_UNAVAILABLE);
  CHECK(same(scorer.score(rows), handle.score(rows)));
  CHECK(std::memcmp(bytes, saved.data(), saved.size()) == 0);
  // Another snapshot takes the place of the first.
  handle.learn(kinds(0, 3, 400, 2));
  const std::vector<unsigned char> later = handle.save();
  std::vector<uint64_t> other(later.size() / 8 + 2);
  std::memcpy(other.data(), later.data(), later.size());
  REQUIRE(adapvae_load(scorer.model, other.data(), later.size()) == ADAPVAE_OK);
  CHECK(same(scorer.score(rows), handle.score(rows)));
  std::memmove(bytes + 1, bytes, saved.size());
  CHECK(adapvae_load(scorer.model, bytes + 1, saved.size()) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(scorer.message().find("in place") != std::string::npos);
  CHECK(same(scorer.score(rows), handle.score(rows)));
  // For anything else it is refused.
  const adapvae_config config = small_config();
  CHECK(adapvae_create(&config, &options, &made, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  options.in_place = 2;
  CHECK(adapvae_create_scorer_from(bytes, saved.size(), &options, &made, nullptr, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
}

TEST_CASE("what shares memory by turns learns the same as what does not") {
  // Without restore_on_failure the state for load() lies where births have their scratch memory;
  // and passes of few rows leave out packing.
  std::vector<adapvae_result> results[2];
  size_t sizes[2] = {};
  const std::vector<float> rows = kinds(0, 4, 50, 9);
  for (int shared = 0; shared < 2; ++shared) {
    adapvae_config config = small_config();
    config.pass_rows = config.batch = 16;
    config.restore_on_failure = 1 - shared;
    config.undo_steps = 0;
    Handle handle(config);
    sizes[shared] = static_cast<size_t>(handle.info().memory_bytes);
    handle.learn(kinds(0, 2, 400, 1));
    // A load that fails, and one that does not, on the way.
    std::vector<unsigned char> bytes = handle.save();
    ++bytes[bytes.size() / 2];
    CHECK(adapvae_load(handle.model, bytes.data(), bytes.size()) == ADAPVAE_CORRUPT_DATA);
    --bytes[bytes.size() / 2];
    REQUIRE(adapvae_load(handle.model, bytes.data(), bytes.size()) == ADAPVAE_OK);
    handle.learn(kinds(0, 3, 400, 2));
    results[shared] = handle.score(rows);
  }
  CHECK(same(results[0], results[1]));
  CHECK(sizes[1] < sizes[0]);
}

TEST_CASE("four scorers and a learner, each on its thread") {
  const char* const wanted = std::getenv("ADAPVAE_STRESS_SECONDS");
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(wanted != nullptr ? std::atoi(wanted) : 0);
  Handle handle;
  handle.learn(kinds(0, 2, 300, 1));
  const auto rows = kinds(0, 3, 100, 7);
  const auto expected = handle.score(rows);

  std::atomic<bool> learning{true};
  std::vector<std::thread> threads;
  std::vector<int> scored(4, 0), right(4, 0);
  for (size_t t = 0; t < 4; ++t) {
    adapvae_model* made = nullptr;
    REQUIRE(adapvae_create_scorer(handle.model, nullptr, &made, nullptr) == ADAPVAE_OK);
    threads.emplace_back([made, t, &rows, &expected, &scored, &right, &learning] {
      std::vector<adapvae_result> out(expected.size());
      do {
        ++scored[t];
        if (adapvae_score(made, rows.data(), static_cast<int32_t>(out.size()), 0, out.data()) ==
                ADAPVAE_OK &&
            same(out, expected)) {
          ++right[t];
        }
      } while (learning || scored[t] < 50);
      adapvae_destroy(made);
    });
  }
  uint64_t streams = 0;
  do {
    handle.learn(kinds(0, 3, 300, 2 + streams % 7));
    ++streams;
  } while (streams < 3 || std::chrono::steady_clock::now() < end);
  learning = false;
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < 4; ++t) CHECK(right[t] == scored[t]);

  // Two learners at once are what each is alone.
  const auto learn = [streams](Handle& each) {
    each.learn(kinds(0, 2, 300, 1));
    for (uint64_t i = 0; i < std::min<uint64_t>(streams, 5); ++i) {
      each.learn(kinds(0, 3, 300, 2 + i % 7));
    }
  };
  Handle first, second, alone;
  std::thread other([&] { learn(second); });
  learn(first);
  other.join();
  learn(alone);
  CHECK(first.save() == alone.save());
  CHECK(second.save() == alone.save());
}

// Files that older versions wrote, kept for ever: tests/golden/README.md.
TEST_CASE("files of every format version load") {
  struct Golden {
    const char* name;
    int32_t waiting;
    int32_t clusters;
    float novelty;
  };
  for (const Golden& golden :
       {Golden{"format1-scaled", 0, 2, 0.065697F}, Golden{"format1-pending", 7, 1, 0.0445298F}}) {
    CAPTURE(golden.name);
    std::ifstream file(
        std::string(ADAPVAE_SOURCE_DIR "/tests/golden/") + golden.name + ".safetensors",
        std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    adapvae_model* made = nullptr;
    REQUIRE(adapvae_create_from(bytes.data(), bytes.size(), nullptr, &made, nullptr) == ADAPVAE_OK);
    const Handle handle(made);
    CHECK(handle.info().rows == 60);
    CHECK(handle.info().rows_waiting == golden.waiting);
    CHECK(handle.info().clusters == golden.clusters);
    const float row[3] = {0.14F, 0.15F, 0.16F};
    adapvae_result result;
    REQUIRE(adapvae_score(made, row, 1, 0, &result) == ADAPVAE_OK);
    CHECK(result.novelty == doctest::Approx(golden.novelty).epsilon(1e-3));
    // And goes on.
    CHECK(adapvae_flush(made, nullptr) == ADAPVAE_OK);
    float rows[60 * 3];
    for (int i = 0; i < 180; ++i) rows[i] = 0.3F + 0.002F * static_cast<float>(i % 90);
    CHECK(adapvae_learn(made, rows, 60, 0, nullptr) == ADAPVAE_OK);
  }
}

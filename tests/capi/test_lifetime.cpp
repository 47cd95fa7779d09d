// Memory: exactly what was said, from wherever the caller wants it, and given back.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

// Counts, and fails the n-th call.
struct Allocator {
  static void* allocate(void* context, size_t bytes, size_t alignment) {
    auto* self = static_cast<Allocator*>(context);
    if (++self->calls == self->fail_at) return nullptr;
    self->held += bytes;
    self->most = self->held > self->most ? self->held : self->most;
    CHECK((alignment & (alignment - 1)) == 0);
    const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment < sizeof(void*) ? sizeof(void*) : alignment, rounded);
  }
  static void release(void* context, void* memory, size_t bytes, size_t) {
    static_cast<Allocator*>(context)->held -= bytes;
    std::free(memory);
  }
  adapvae_options options() {
    adapvae_options out = {};
    out.struct_size = sizeof out;
    out.allocate = allocate;
    out.release = release;
    out.allocate_context = this;
    return out;
  }

  size_t held = 0;
  size_t most = 0;
  int calls = 0;
  int fail_at = 0;
};

using Bytes = std::vector<unsigned char>;

uint64_t crc64(const Bytes& bytes) {
  uint64_t sum = ~uint64_t{0};
  for (const unsigned char byte : bytes) {
    sum ^= byte;
    for (int bit = 0; bit < 8; ++bit) {
      sum = (sum & 1U) != 0 ? (sum >> 1U) ^ 0xC96C5795D7870F42U : sum >> 1U;
    }
  }
  return ~sum;
}

// A snapshot that says something else, with a right checksum.
Bytes with_metadata(const Bytes& bytes, const std::string& key, const std::string& value) {
  std::string text(bytes.begin(), bytes.end());
  const std::string quoted = "\"" + key + "\":\"";
  const size_t begin = text.find(quoted) + quoted.size();
  const size_t end = text.find('"', begin);
  REQUIRE(begin < end);
  text.replace(begin, end - begin, value);
  uint64_t header = 0;
  for (size_t i = 0; i < 8; ++i) {
    header |= static_cast<uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  }
  header += text.size() - bytes.size();
  for (size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header >> (8 * i));
  const std::string checksum = "adapvae.checksum\":\"";
  const size_t digits = text.find(checksum) + checksum.size();
  text.replace(digits, 16, 16, '0');
  uint64_t sum = crc64({text.begin(), text.end()});
  for (size_t i = 16; i-- > 0; sum >>= 4U) text[digits + i] = "0123456789abcdef"[sum & 15U];
  return {text.begin(), text.end()};
}

}  // namespace

TEST_CASE("a model lives in the caller's memory, of any alignment, and nowhere else") {
  const adapvae_config config = small_config();
  size_t bytes = 0;
  REQUIRE(adapvae_memory_required(&config, nullptr, &bytes, nullptr) == ADAPVAE_OK);
  const auto rows = kinds(0, 2, 300, 1);
  std::vector<unsigned char> expected;
  {
    Handle handle(config);
    handle.learn(rows);
    expected = handle.save();
    CHECK(handle.info().memory_bytes == bytes);
  }
  for (const size_t shift : {0U, 1U, 13U, 63U}) {
    constexpr size_t kGuard = 128;
    std::vector<unsigned char> memory(bytes + shift + 2 * kGuard, 0x5A);
    adapvae_options options = {};
    options.struct_size = sizeof options;
    options.memory = memory.data() + kGuard + shift;
    options.memory_bytes = bytes;
    Handle handle(config, &options);
    handle.learn(rows);
    CHECK(handle.save() == expected);
    adapvae_destroy(handle.model);
    handle.model = nullptr;
    for (size_t i = 0; i < kGuard; ++i) {
      REQUIRE(memory[i] == 0x5A);
      REQUIRE(memory[memory.size() - 1 - i] == 0x5A);
    }
    options.memory_bytes = bytes - 1;
    adapvae_model* model = reinterpret_cast<adapvae_model*>(&bytes);
    adapvae_error error = {};
    error.struct_size = sizeof error;
    CHECK(adapvae_create(&config, &options, &model, &error) == ADAPVAE_OUT_OF_MEMORY);
    CHECK(model == nullptr);
    CHECK(std::string(error.message).find("adapvae_memory_required") != std::string::npos);
  }
}

TEST_CASE("a model takes one piece from the allocator, of the size that was said") {
  Allocator allocator;
  const adapvae_options options = allocator.options();
  const adapvae_config config = small_config();
  size_t bytes = 0;
  REQUIRE(adapvae_memory_required(&config, &options, &bytes, nullptr) == ADAPVAE_OK);
  {
    Handle handle(config, &options);
    CHECK(allocator.calls == 1);
    CHECK(allocator.held == bytes);
    handle.learn(kinds(0, 2, 300, 1));
    (void)handle.score(kinds(0, 2, 50, 2));
    CHECK(adapvae_reset(handle.model) == ADAPVAE_OK);
    CHECK(allocator.calls == 1);
  }
  CHECK(allocator.held == 0);
}

TEST_CASE("whichever allocation fails, the call says so and nothing is left") {
  Handle source;
  source.learn(kinds(0, 2, 300, 1));
  const auto bytes = source.save();
  const std::vector<int32_t> labels = {1, 1, 2, 2};
  const std::vector<adapvae_id> ids = {1, 1, 2, 3};
  const auto everything = [&](const adapvae_options& options, int& failed) {
    adapvae_model* made = nullptr;
    const auto done = [&](adapvae_status status) {
      if (status == ADAPVAE_OUT_OF_MEMORY) {
        ++failed;
        CHECK(made == nullptr);
      } else {
        CHECK(status == ADAPVAE_OK);
      }
      adapvae_destroy(made);
      made = nullptr;
    };
    const adapvae_config config = small_config();
    done(adapvae_create(&config, &options, &made, nullptr));
    done(adapvae_create_from(bytes.data(), bytes.size(), &options, &made, nullptr));
    done(adapvae_create_scorer(source.model, &options, &made, nullptr));
    done(adapvae_create_scorer_from(bytes.data(), bytes.size(), &options, &made, nullptr, nullptr));
    adapvae_metrics metrics = {};
    metrics.struct_size = sizeof metrics;
    done(adapvae_evaluate(labels.data(), ids.data(), 4, &options, &metrics, nullptr));
  };
  Allocator counter;
  int failed = 0;
  everything(counter.options(), failed);
  CHECK(failed == 0);
  CHECK(counter.held == 0);
  CHECK(counter.calls == 7);
  for (int n = 1; n <= counter.calls; ++n) {
    Allocator failing;
    failing.fail_at = n;
    failed = 0;
    everything(failing.options(), failed);
    CHECK(failed == 1);
    CHECK(failing.held == 0);
  }
  CHECK(source.save() == bytes);
}

TEST_CASE("a snapshot gets no more memory than the caller allows") {
  Handle source;
  source.learn(kinds(0, 2, 300, 1));
  const auto bytes = source.save();
  const adapvae_config config = small_config();
  size_t required = 0;
  REQUIRE(adapvae_memory_required(&config, nullptr, &required, nullptr) == ADAPVAE_OK);
  size_t scorer_required = 0;
  REQUIRE(adapvae_create_scorer_from(bytes.data(), bytes.size(), nullptr, nullptr, &scorer_required,
                                     nullptr) == ADAPVAE_OK);
  Allocator allocator;
  adapvae_options options = allocator.options();
  adapvae_model* model = nullptr;
  adapvae_error error = {};
  error.struct_size = sizeof error;
  for (const bool enough : {false, true}) {
    const adapvae_status wanted = enough ? ADAPVAE_OK : ADAPVAE_OUT_OF_MEMORY;
    options.max_memory_bytes = enough ? required : required - 1;
    CHECK(adapvae_create(&config, &options, &model, &error) == wanted);
    CHECK((model != nullptr) == enough);
    adapvae_destroy(model);
    CHECK(adapvae_create_from(bytes.data(), bytes.size(), &options, &model, &error) == wanted);
    CHECK((model != nullptr) == enough);
    adapvae_destroy(model);
    options.max_memory_bytes = enough ? scorer_required : scorer_required - 1;
    CHECK(adapvae_create_scorer_from(bytes.data(), bytes.size(), &options, &model, nullptr,
                                     &error) == wanted);
    CHECK((model != nullptr) == enough);
    adapvae_destroy(model);
    if (enough) continue;
    CHECK(allocator.calls == 0);
    CHECK(std::string(error.message).find("max_memory_bytes") != std::string::npos);
  }
  CHECK(allocator.calls == 3);
  CHECK(allocator.held == 0);
}

TEST_CASE("a small file that describes a model of gigabytes allocates nothing") {
  Handle source;
  source.learn(kinds(0, 2, 300, 1));
  const auto large = with_metadata(source.save(), "config.max_clusters", "20000");
  CHECK(large.size() < 64 * 1024);
  adapvae_config config = {};
  config.struct_size = sizeof config;
  REQUIRE(adapvae_inspect(large.data(), large.size(), nullptr, &config, nullptr) == ADAPVAE_OK);
  CHECK(config.max_clusters == 20000);
  // A model takes at most a quarter of the address space. With 32 bits that is less than the limit
  // for snapshots: such a model is refused before its bytes are compared with any limit.
  const bool addressable = SIZE_MAX / 4 > ADAPVAE_SNAPSHOT_MEMORY;
  size_t required = 0;
  CHECK(adapvae_memory_required(&config, nullptr, &required, nullptr) ==
        (addressable ? ADAPVAE_OK : ADAPVAE_OUT_OF_MEMORY));
  CHECK((required > ADAPVAE_SNAPSHOT_MEMORY) == addressable);
  Allocator allocator;
  allocator.fail_at = 1;
  adapvae_options options = allocator.options();
  adapvae_model* model = nullptr;
  CHECK(adapvae_create_from(large.data(), large.size(), &options, &model, nullptr) ==
        ADAPVAE_OUT_OF_MEMORY);
  CHECK(allocator.calls == 0);
  // The caller may want it all the same: the allocator is asked if there can be such a model.
  options.max_memory_bytes = SIZE_MAX;
  CHECK(adapvae_create_from(large.data(), large.size(), &options, &model, nullptr) ==
        ADAPVAE_OUT_OF_MEMORY);
  CHECK(allocator.calls == (addressable ? 1 : 0));
  CHECK(model == nullptr);
}

TEST_CASE("a model that has had as many events as can be counted takes no more") {
  Handle source;
  const auto rows = kinds(0, 2, 300, 1);
  source.learn(rows);
  const auto bytes = with_metadata(source.save(), "adapvae.events", "4503599627370496");
  adapvae_model* model = nullptr;
  REQUIRE(adapvae_create_from(bytes.data(), bytes.size(), nullptr, &model, nullptr) == ADAPVAE_OK);
  Handle full(model);
  const auto before = full.save();
  const adapvae_id id = full.score(rows)[0].id;
  CHECK(adapvae_label(model, id, "a name") == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_split(model, id, 1, nullptr, nullptr) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_forget(model, id) == ADAPVAE_UNAVAILABLE);
  CHECK(adapvae_learn(model, rows.data(), 300, 0, nullptr) == ADAPVAE_UNAVAILABLE);
  CHECK(full.save() == before);
  CHECK(adapvae_load(model, before.data(), before.size()) == ADAPVAE_OK);
}

TEST_CASE("what cannot be made is refused with a reason") {
  const adapvae_config good = small_config();
  adapvae_model* model = nullptr;
  adapvae_error error = {};
  error.struct_size = sizeof error;
  CHECK(adapvae_create(nullptr, nullptr, &model, &error) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_create(&good, nullptr, nullptr, &error) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(std::strlen(error.message) > 5);
  adapvae_config config = good;
  config.inputs = 0;
  CHECK(adapvae_create(&config, nullptr, &model, &error) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(std::string(error.message).find("inputs") != std::string::npos);
  CHECK(error.index == 0);
  // An error that is too small to hold a message, or none at all, is no reason to write.
  error.struct_size = 0;
  CHECK(adapvae_create(&config, nullptr, &model, &error) == ADAPVAE_INVALID_ARGUMENT);
  // More than any machine has.
  config = good;
  config.inputs = config.hidden1 = config.hidden2 = config.block_rows = 1048576;
  CHECK(adapvae_create(&config, nullptr, &model, nullptr) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(model == nullptr);

  adapvae_options options = {};
  const auto status = [&] { return adapvae_create(&good, &options, &model, nullptr); };
  CHECK(status() == ADAPVAE_INVALID_ARGUMENT);  // no struct_size
  options.struct_size = sizeof options;
  options.threads = 2;  // without parallel_for
  CHECK(status() == ADAPVAE_INVALID_ARGUMENT);
  options.threads = 0;
  options.backend = ADAPVAE_BACKEND_CUDA;
  CHECK(status() ==
        (adapvae_backend_available(ADAPVAE_BACKEND_CUDA) != 0 ? ADAPVAE_OK : ADAPVAE_UNAVAILABLE));
  options.backend = 77;
  CHECK(status() == ADAPVAE_UNAVAILABLE);
  options.backend = ADAPVAE_BACKEND_CPU;
  options.allocate = [](void*, size_t, size_t) -> void* { return nullptr; };
  CHECK(status() == ADAPVAE_INVALID_ARGUMENT);  // no release
  options.release = [](void*, void*, size_t, size_t) {};
  CHECK(status() == ADAPVAE_OUT_OF_MEMORY);
  adapvae_destroy(nullptr);
}

TEST_CASE("threads of the caller's give the same model") {
  const auto rows = kinds(0, 3, 400, 3);
  Handle alone;
  alone.learn(rows);
  std::atomic<int> tasks{0};
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.threads = 3;
  options.parallel_context = &tasks;
  options.parallel_for = [](void* context, int32_t count, adapvae_task task, void* argument) {
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < count; ++i) threads.emplace_back(task, argument, i);
    for (std::thread& thread : threads) thread.join();
    *static_cast<std::atomic<int>*>(context) += count;
  };
  // Large enough for work to be divided.
  adapvae_config config = small_config();
  config.hidden1 = config.hidden2 = 512;
  config.pretrain_epochs = config.adapt_epochs = config.joint_epochs = 1;
  Handle one(config);
  one.learn(rows);
  Handle three(config, &options);
  three.learn(rows);
  CHECK(tasks > 10);
  CHECK(one.save() == three.save());
}

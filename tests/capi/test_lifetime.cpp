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

// Which backend a model gets, and what is said where it cannot be had.
#include <cstdlib>

#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

adapvae_options with_backend(int32_t backend) {
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.backend = backend;
  return options;
}

bool has_cuda() { return adapvae_backend_available(ADAPVAE_BACKEND_CUDA) != 0; }

// A training step of 1.2e9 multiply-adds: AUTO would rather have it on a device.
adapvae_config large_config() {
  adapvae_config config = small_config();
  config.hidden1 = 2048;
  config.hidden2 = 256;
  config.batch = config.pass_rows = 400;
  config.pretrain_epochs = config.adapt_epochs = config.joint_epochs = 1;
  config.neighbour_epochs = 0;
  return config;
}

}  // namespace

TEST_CASE("CPU and AUTO are always there") {
  CHECK(adapvae_backend_available(ADAPVAE_BACKEND_AUTO) == 1);
  CHECK(adapvae_backend_available(ADAPVAE_BACKEND_CPU) == 1);
  CHECK(adapvae_backend_available(3) == 0);
  CHECK(adapvae_backend_available(-1) == 0);
}

TEST_CASE("without CUDA, asking for it is refused with the reason, and nothing is made") {
  if (has_cuda()) return;
  const adapvae_config config = small_config();
  const adapvae_options options = with_backend(ADAPVAE_BACKEND_CUDA);
  adapvae_error error = {};
  error.struct_size = sizeof error;
  adapvae_model* model = nullptr;
  CHECK(adapvae_create(&config, &options, &model, &error) == ADAPVAE_UNAVAILABLE);
  CHECK(model == nullptr);
  const std::string reason = error.message;
  CHECK(!reason.empty());
  // What is to be said in this build on this machine, if the caller of the test knows.
  if (const char* wanted = std::getenv("ADAPVAE_TEST_REASON"); wanted != nullptr) {
    CHECK(reason == wanted);
  }
  size_t bytes = 0;
  CHECK(adapvae_memory_required(&config, &options, &bytes, &error) == ADAPVAE_UNAVAILABLE);
  CHECK(reason == error.message);
}

TEST_CASE("without CUDA, AUTO is the CPU, and gives what the CPU gives") {
  if (has_cuda()) return;
  const adapvae_options automatic = with_backend(ADAPVAE_BACKEND_AUTO);
  const adapvae_options cpu = with_backend(ADAPVAE_BACKEND_CPU);
  Handle a(large_config(), &automatic);
  Handle b(large_config(), &cpu);
  CHECK(std::string(a.info().backend) == adapvae_instruction_set());
  CHECK(std::string(b.info().backend) == adapvae_instruction_set());
  CHECK(a.info().memory_bytes == b.info().memory_bytes);
  const auto rows = kinds(0, 2, 200, 1);
  a.learn(rows);
  b.learn(rows);
  CHECK(a.save() == b.save());
}

TEST_CASE("with CUDA, it is used when asked for, and by AUTO for large steps only") {
  if (!has_cuda()) {
    if (std::getenv("ADAPVAE_TEST_DEVICE") != nullptr) std::exit(77);  // ctest: skipped
    return;
  }
  const auto backend_of = [](const adapvae_config& config, int32_t backend) {
    const adapvae_options options = with_backend(backend);
    const Handle handle(config, &options);
    return std::string(handle.info().backend).substr(0, 5);
  };
  CHECK(backend_of(small_config(), ADAPVAE_BACKEND_CUDA) == "cuda:");
  CHECK(backend_of(small_config(), ADAPVAE_BACKEND_AUTO) != "cuda:");
  CHECK(backend_of(large_config(), ADAPVAE_BACKEND_AUTO) == "cuda:");
  CHECK(backend_of(large_config(), ADAPVAE_BACKEND_CPU) != "cuda:");
  // A model learns there, and its file is one that a CPU reads. Few epochs: the device may be a
  // shim.
  const adapvae_options options = with_backend(ADAPVAE_BACKEND_CUDA);
  adapvae_config config = small_config();
  config.pretrain_epochs = config.neighbour_epochs = config.joint_epochs = 2;
  Handle handle(config, &options);
  const auto rows = kinds(0, 2, 120, 1);
  handle.learn(rows);
  const std::vector<unsigned char> bytes = handle.save();
  adapvae_model* model = nullptr;
  const adapvae_options cpu = with_backend(ADAPVAE_BACKEND_CPU);
  REQUIRE(adapvae_create_from(bytes.data(), bytes.size(), &cpu, &model, nullptr) == ADAPVAE_OK);
  const Handle on_cpu(model);
  const auto there = handle.score(rows);
  const auto here = on_cpu.score(rows);
  int different = 0;
  for (std::size_t i = 0; i < here.size(); ++i) different += here[i].id != there[i].id;
  CHECK(different <= 3);
}

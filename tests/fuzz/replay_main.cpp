// Runs every file of a corpus through its target, without a fuzzer.
//
//   fuzz_replay CORPUS      CORPUS/load/*, CORPUS/calls/* and so on, one folder for each target
//   fuzz_replay CORPUS make     first writes the files that are made rather than found
//   fuzz_replay CORPUS flips N  then every truncation of a snapshot, N random flips of bits, and
//                               N / 10 random inputs of the targets that read programs
//   fuzz_replay CORPUS random N SEED  nothing but N random inputs of these targets
//
// An input that fails is printed in hexadecimal.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "adapvae/adapvae.h"
#include "fuzz_target.h"

namespace {

namespace fs = std::filesystem;

using Target = void (*)(const uint8_t*, size_t);

std::vector<char> read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<uint8_t> input;  // of the target that is running

void print_input(int) {
  std::fflush(stdout);
  for (size_t i = 0; i < input.size() && i < 4096; ++i) std::fprintf(stderr, "%02x", input[i]);
  std::fprintf(stderr, "\n");
}

int replay(const fs::path& folder, Target target) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::vector<char> bytes = read(entry.path());
    input.assign(bytes.begin(), bytes.end());
    target(input.data(), input.size());
    ++files;
  }
  std::printf("%s: %d files\n", folder.filename().c_str(), files);
  return files;
}

void write(const fs::path& path, const void* bytes, size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
}

// fuzz_load() also puts the checksum right, so that flips get behind it.
void damage(const fs::path& snapshot, long flips) {
  const std::vector<char> good = read(snapshot);
  for (size_t size = 0; size < good.size(); ++size) {
    fuzz_load(reinterpret_cast<const uint8_t*>(good.data()), size);
  }
  uint64_t state = 1;
  for (long i = 0; i < flips; ++i) {
    std::vector<char> bytes = good;
    for (int n = 1 + static_cast<int>(i % 3); n > 0; --n) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const auto bit = static_cast<size_t>((state >> 16) % (8 * bytes.size()));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
    fuzz_load(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu truncations, %ld damaged snapshots\n", good.size(), flips);
}

// Programs of random bytes: of edits, of calls.
void run_random(Target target, const char* name, long count, uint64_t seed) {
  uint64_t state = seed;
  fuzz_accepted = 0;
  const auto next = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<uint8_t>(state >> 56U);
  };
  for (long i = 0; i < count; ++i) {
    input.resize(8 + static_cast<size_t>(next()) / 2);
    for (uint8_t& byte : input) byte = next();
    target(input.data(), input.size());
  }
  std::printf("%s: %ld random inputs, %ld accepted\n", name, count, fuzz_accepted);
  FUZZ_CHECK(10 * fuzz_accepted >= count);
}

// Small snapshots of all that a model can be.
void make_snapshots(const fs::path& folder) {
  for (int variant = 0; variant < 4; ++variant) {
    adapvae_config config;
    adapvae_config_init(&config, sizeof config);
    config.inputs = 3;
    config.latent = 2;
    config.hidden1 = 4;
    config.hidden2 = 0;
    config.max_clusters = 4;
    config.block_rows = 60;
    config.pass_rows = 20;
    config.batch = 20;
    config.aliases = 8;
    config.undo_steps = 1;
    config.covariance = variant == 1 ? 1 : 0;
    config.scale_inputs = config.likelihood = variant == 2 ? 1 : 0;
    config.pending_rows = variant == 3 ? 10 : 0;
    adapvae_model* model = nullptr;
    FUZZ_CHECK(adapvae_create(&config, nullptr, &model, nullptr) == ADAPVAE_OK);
    float rows[60 * 3];
    for (int i = 0; i < 180; ++i) {
      rows[i] =
          0.1F + 0.4F * static_cast<float>(i / 3 % 3) + 0.001F * static_cast<float>(i * 37 % 90);
    }
    FUZZ_CHECK(variant == 1 || adapvae_learn(model, rows, 60, 0, nullptr) == ADAPVAE_OK);
    FUZZ_CHECK(variant != 3 || adapvae_push(model, rows, 7, 0, nullptr) == ADAPVAE_OK);
    size_t size = 0;
    FUZZ_CHECK(adapvae_save(model, nullptr, 0, &size) == ADAPVAE_OK);
    std::vector<unsigned char> bytes(size);
    FUZZ_CHECK(adapvae_save(model, bytes.data(), size, &size) == ADAPVAE_OK);
    write(folder / ("snapshot" + std::to_string(variant)), bytes.data(), size);
    adapvae_destroy(model);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuzz_replay CORPUS [make]\n");
    return 2;
  }
  const fs::path corpus = argv[1];
  std::signal(SIGABRT, print_input);
  if (argc > 2 && std::strcmp(argv[2], "make") == 0) make_snapshots(corpus / "load");
  const struct {
    const char* name;
    Target target;
    bool program;
  } targets[] = {
      {"load", fuzz_load, false},  {"config", fuzz_config, false},
      {"calls", fuzz_calls, true}, {"snapshot", fuzz_snapshot, true},
      {"gains", fuzz_gains, true}, {"models", fuzz_models, true},
  };
  if (argc > 4 && std::strcmp(argv[2], "random") == 0) {
    for (const auto& each : targets) {
      if (each.program) {
        run_random(each.target, each.name, std::atol(argv[3]), std::strtoull(argv[4], nullptr, 10));
      }
    }
    return 0;
  }
  bool all = true;
  for (const auto& each : targets) all = replay(corpus / each.name, each.target) > 0 && all;
  if (argc > 3 && std::strcmp(argv[2], "flips") == 0) {
    const long flips = std::atol(argv[3]);
    damage(corpus / "load/snapshot0", flips);
    for (const auto& each : targets) {
      if (each.program) run_random(each.target, each.name, flips / 10, 7);
    }
  }
  return all ? 0 : 1;
}

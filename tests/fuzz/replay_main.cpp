// Runs every file of a corpus through its target, without a fuzzer.
//
//   fuzz_replay CORPUS      CORPUS/load/*, CORPUS/calls/*, CORPUS/config/*
//   fuzz_replay CORPUS make     first writes the files that are made rather than found
//   fuzz_replay CORPUS flips N  then every truncation of a snapshot, and N random flips of bits
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

int replay(const fs::path& folder, Target target) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::vector<char> bytes = read(entry.path());
    target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
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
      const uint64_t bit = (state >> 16) % (8 * bytes.size());
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
    fuzz_load(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
  std::printf("%zu truncations, %ld damaged snapshots\n", good.size(), flips);
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
  if (argc > 2 && std::strcmp(argv[2], "make") == 0) make_snapshots(corpus / "load");
  const bool all = replay(corpus / "load", fuzz_load) > 0 &&
                   replay(corpus / "calls", fuzz_calls) > 0 &&
                   replay(corpus / "config", fuzz_config) > 0;
  if (argc > 3 && std::strcmp(argv[2], "flips") == 0) {
    damage(corpus / "load/snapshot0", std::atol(argv[3]));
  }
  return all ? 0 : 1;
}

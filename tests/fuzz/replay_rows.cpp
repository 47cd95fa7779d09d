// Runs a corpus through fuzz_rows() without a fuzzer: every file, each of its beginnings if it is
// short, and flips of single bits.
//
//   fuzz_replay_rows CORPUS FLIPS
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "fuzz_target.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: fuzz_replay_rows CORPUS FLIPS\n");
    return 2;
  }
  constexpr size_t kShort = 400;
  const long flips = std::atol(argv[2]);
  int files = 0;
  long runs = 0;
  uint64_t state = 1;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> good{std::istreambuf_iterator<char>(file), {}};
    const auto run = [&runs](const std::vector<char>& bytes) {
      fuzz_rows(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      ++runs;
    };
    run(good);
    ++files;
    for (size_t size = 0; size < good.size() && good.size() <= kShort; ++size) {
      run({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
    }
    for (long i = 0; i < flips && !good.empty(); ++i) {
      std::vector<char> bytes = good;
      state = state * 6364136223846793005U + 1442695040888963407U;
      const uint64_t bit = (state >> 16) % (8 * bytes.size());
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      run(bytes);
    }
  }
  std::printf("rows: %d files, %ld runs\n", files, runs);
  return files > 0 ? 0 : 1;
}

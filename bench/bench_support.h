// What the benchmarks share: a clock and rows from a file.
#pragma once

#include <chrono>
#include <cstdio>
#include <vector>

namespace adapvae::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A file of little-endian floats; empty if it cannot be read.
inline std::vector<float> read_floats(const char* path) {
  std::vector<float> values;
  if (FILE* file = std::fopen(path, "rb")) {
    std::fseek(file, 0, SEEK_END);
    values.resize(static_cast<std::size_t>(std::ftell(file)) / sizeof(float));
    std::rewind(file);
    values.resize(std::fread(values.data(), sizeof(float), values.size(), file));
    std::fclose(file);
  }
  return values;
}

}  // namespace adapvae::bench

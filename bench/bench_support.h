// What the benchmarks share: a clock, sizes of a network, rows from a file.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/matrix_view.h"

namespace adapvae::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// "784,256,10": the sizes of layers.
inline std::vector<Index> parse_sizes(const std::string& text) {
  std::vector<Index> sizes;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t used = 0;
    sizes.push_back(std::stol(text.substr(at), &used));
    at += used + 1;
  }
  return sizes;
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

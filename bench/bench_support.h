// What the benchmarks share: a clock, a network by its sizes, rows from a file.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "network/vae.h"

namespace adapvae::bench {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The network of sizes "784,256,10", for batches of so many rows.
inline VaeConfig parse_network(const std::string& sizes, Index batch) {
  std::vector<Index> layers;
  std::size_t at = 0;
  while (at < sizes.size()) {
    std::size_t used = 0;
    layers.push_back(std::stol(sizes.substr(at), &used));
    at += used + 1;
  }
  VaeConfig config;
  config.inputs = layers.front();
  config.latent = layers.back();
  config.hidden_layers = static_cast<int>(layers.size()) - 2;
  for (int i = 0; i < config.hidden_layers; ++i) config.hidden[i] = layers[i + 1];
  config.max_rows = batch;
  return config;
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

// What every fuzz target is made of: a function of some bytes that must neither crash, nor hang,
// nor leak, nor fail a FUZZ_CHECK. fuzz_main.cpp hands it to libFuzzer, replay_main.cpp runs a
// corpus through it in an ordinary test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// Also in builds without assertions.
#define FUZZ_CHECK(condition)                                                      \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

// Inputs whose file was accepted, or whose model learnt: a target that accepts none tests little.
inline long fuzz_accepted = 0;

void fuzz_load(const uint8_t* data, size_t size);
void fuzz_calls(const uint8_t* data, size_t size);
void fuzz_config(const uint8_t* data, size_t size);
void fuzz_rows(const uint8_t* data, size_t size);  // cli: built with the program
void fuzz_snapshot(const uint8_t* data, size_t size);
void fuzz_gains(const uint8_t* data, size_t size);
void fuzz_models(const uint8_t* data, size_t size);

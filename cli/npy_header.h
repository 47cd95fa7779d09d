// The header of a NumPy file:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace adapvae::cli {

struct NpyHeader {
  char kind = 'f';        // 'b' truth value, 'i' signed, 'u' unsigned, 'f' floating point
  std::size_t bytes = 4;  // of a number: 1, 2, 4 or 8
  bool big_endian = false;
  bool fortran_order = false;       // the first index varies fastest
  std::vector<std::int64_t> shape;  // of 0 or more; their product and bytes fit in 63 bits
  std::size_t begin = 0;            // of the numbers in the file
  std::uint64_t count() const;      // of numbers
};

// Reads the header at the beginning of a file, of version 1.0, 2.0 or 3.0. False: `error` says what
// is wrong with it, without the file's name.
bool read_npy_header(std::span<const std::uint8_t> file, NpyHeader& header, std::string& error);

}  // namespace adapvae::cli

// How much memory files may make the program take (--max-memory). A small file can claim a huge
// model, and a device can be read without end: both are refused instead of running out of memory.
#pragma once

#include <cstddef>
#include <string>

namespace adapvae::cli {

// Bytes. Holds for a model's plan and its file, and for rows that are read as a whole, each by
// itself. Set by main(), before anything is read.
extern std::size_t memory_limit;

// "512M", "1.5G", "1000000": K, M, G and T are powers of 1024. False: not understood.
bool parse_bytes(const std::string& text, std::size_t& bytes);

// Of a line of text, in bytes. A part of the limit, because the fields of a line that holds nothing
// but delimiters take a hundred times as much.
std::size_t longest_line();

// "WHAT needs 1.6 GB of memory, and the limit is 1G; --max-memory 2G raises it"
std::string too_large(const std::string& what, double needed);
// The same for what is not read to its end.
std::string too_large(const std::string& what);

}  // namespace adapvae::cli

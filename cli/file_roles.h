// Which files a command reads and writes, and that no output is an input. The roles stand in the
// table of verbs, so that this holds for every verb.
#pragma once

#include <span>
#include <string>

#include "cli/verbs.h"

namespace adapvae::cli {

struct FileRole {
  std::string what;  // "--report", "the input"
  std::string path;  // "-": standard input, or standard output if it is written
  bool written = false;
};

// False if two of these are the same file, by whatever names, and one is written: `error` names
// both and says what to do. Files of a folder count as its own.
bool outputs_are_apart(std::span<const FileRole> files, std::string& error);

// The same for all files of a command line, standard input and output included.
bool outputs_are_apart(const Verb& verb, const Arguments& arguments, std::string& error);

}  // namespace adapvae::cli

// Files that the program writes. A regular file is replaced as a whole or not at all: the new
// content is in a file of its own and on the disk before it takes the name. Anything else (a
// device, a FIFO, an open file such as /dev/stdout) is opened and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace adapvae::cli {

// What a path leads to.
struct Target {
  std::string path;         // behind symbolic links
  bool exists = false;      //
  bool regular = true;      // a regular file, or none yet: it is replaced, else written
  int descriptor = -1;      // >= 0: this open file of the program itself (/dev/stdout)
  struct stat status = {};  // if it exists

  bool same_file(const Target& other) const;
};

// Whose symbolic links are followed. A name that the user gave is theirs to choose; in a folder
// that others may write to, a name that can be guessed (MODEL.undo) may be somebody else's trap.
enum class Links { kAll, kOwn };

// False: `error` says why, with the path. A link whose target is missing leads to that target.
bool find_target(const std::string& path, Links links, Target& target, std::string& error);

// Where the files next to a model are: the model's path behind symbolic links, so that every link
// to a model shares them.
std::string resolved_path(const std::string& path);

struct WriteOptions {
  // Not empty: the file is a companion of this one. It gets its mode and owner if it is new (else
  // as the umask says; an existing file keeps its own), and links of other users are not followed.
  std::string model_path;
  // Not null: the new file's descriptor, locked, which the caller closes; -1: there is none.
  int* locked = nullptr;
};

// On failure the old file is as it was, no other file is left, and `error` says why.
bool write_file(const std::string& path, const std::vector<std::uint8_t>& bytes, std::string& error,
                const WriteOptions& options = {});

// A descriptor to append to a file; `model_path` as above. -1: `error`.
int open_to_append(const std::string& path, const std::string& model_path, std::string& error);

}  // namespace adapvae::cli

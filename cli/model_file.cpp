#include "cli/model_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/memory_limit.h"
#include "cli/output_file.h"

namespace adapvae::cli {
namespace {

bool refuse(const std::string& path, std::string& error) {
  error = path + ": " + std::strerror(errno);
  return false;
}

// How a model's file begins: the length of its header, then the header, which is JSON.
bool may_be_model(const std::vector<std::uint8_t>& bytes) {
  return bytes.size() < 9 || bytes[8] == '{';
}

// The next piece of a file. Memory grows by doubling, but not beyond the limit.
ssize_t read_piece(int file, std::vector<std::uint8_t>& bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  const std::size_t held = bytes.size();
  if (bytes.capacity() < held + kPiece) {
    bytes.reserve(std::max(held + kPiece, std::min(2 * held, memory_limit + kPiece)));
  }
  bytes.resize(held + kPiece);
  ssize_t count = -1;
  do {
    count = ::read(file, bytes.data() + held, kPiece);
  } while (count < 0 && errno == EINTR);
  bytes.resize(held + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return count;
}

bool read_open_file(int file, const std::string& path, std::vector<std::uint8_t>& bytes,
                    std::string& error) {
  struct stat found;
  if (::fstat(file, &found) != 0) return refuse(path, error);
  if (S_ISREG(found.st_mode)) {
    if (static_cast<std::uint64_t>(found.st_size) > memory_limit) {
      error = too_large(path + ":", static_cast<double>(found.st_size));
      return false;
    }
    bytes.reserve(static_cast<std::size_t>(found.st_size) + (std::size_t{1} << 16));
  }
  for (;;) {
    const ssize_t count = read_piece(file, bytes);
    if (count < 0) return refuse(path, error);
    if (!may_be_model(bytes)) {
      error = path + ": not a model's file";
      return false;
    }
    if (count == 0) return true;
    if (bytes.size() <= memory_limit) continue;
    error = too_large(path + ":");
    return false;
  }
}

// Whether a model of this configuration fits the memory limit if `held` bytes are in use already.
bool fits(const adapvae_config& config, const adapvae_options* options, std::size_t held,
          const std::string& before, std::string& error) {
  std::size_t bytes = 0;
  auto why = sized<adapvae_error>();
  if (adapvae_memory_required(&config, options, &bytes, &why) != ADAPVAE_OK) {
    error = before + why.message;
    return false;
  }
  if (bytes <= memory_limit - std::min(held, memory_limit)) return true;
  error = too_large(before + "the model", static_cast<double>(bytes) + static_cast<double>(held));
  return false;
}

// False: somebody else holds it, or `error`; the file is closed then.
bool lock_file(int file, const std::string& path, std::string& error) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) {
    error = path + ": another adapvae is changing this model";
  } else {
    refuse(path, error);
  }
  ::close(file);
  return false;
}

bool has_name(int file, const std::string& path) {
  struct stat held, named;
  return ::fstat(file, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

bool file_exists(const std::string& path) {
  struct stat found;
  return ::stat(path.c_str(), &found) == 0;
}

bool read_file(const std::string& path, std::vector<std::uint8_t>& bytes, std::string& error) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refuse(path, error);
  bytes.clear();
  const bool good = read_open_file(file, path, bytes, error);
  ::close(file);
  return good;
}

ModelHandle load_model(const std::string& path, const adapvae_options* options,
                       std::string& error) {
  std::vector<std::uint8_t> bytes;
  if (!read_file(path, bytes, error)) return nullptr;
  adapvae_model* model = nullptr;
  auto config = sized<adapvae_config>();
  auto why = sized<adapvae_error>();
  if (adapvae_inspect(bytes.data(), bytes.size(), nullptr, &config, &why) == ADAPVAE_OK &&
      !fits(config, options, bytes.size(), path + ": ", error)) {
    return nullptr;
  }
  // The library's own limit, for files from strangers, gives way to the program's.
  auto allowed = options != nullptr ? *options : sized<adapvae_options>();
  allowed.max_memory_bytes = memory_limit;
  if (adapvae_create_from(bytes.data(), bytes.size(), &allowed, &model, &why) != ADAPVAE_OK) {
    error = path + ": " + why.message;
  }
  return ModelHandle(model);
}

ModelHandle create_model(const adapvae_config& config, const adapvae_options* options,
                         std::string& error) {
  if (!fits(config, options, 0, "", error)) return nullptr;
  adapvae_model* model = nullptr;
  auto why = sized<adapvae_error>();
  if (adapvae_create(&config, options, &model, &why) != ADAPVAE_OK) error = why.message;
  return ModelHandle(model);
}

std::vector<std::uint8_t> take_snapshot(const adapvae_model* model) {
  std::size_t size = 0;
  if (adapvae_save(model, nullptr, 0, &size) != ADAPVAE_OK) return {};
  std::vector<std::uint8_t> bytes(size);
  if (adapvae_save(model, bytes.data(), size, &size) != ADAPVAE_OK) return {};
  return bytes;
}

// Two locks. MODEL.lock, next to the target of symbolic links, excludes those who use the same
// name, also while there is no model yet. The lock on the model's file excludes those who reach the
// same file by a hard link; since a save replaces the file, the new one is locked before it takes
// the name, and whoever locks a file looks whether it still has its name.
ModelLock::~ModelLock() {
  if (model_ >= 0) ::close(model_);
  if (name_ < 0) return;
  ::unlink(path_.c_str());  // while it is held: whoever waits for it sees that it is gone
  ::close(name_);
}

bool ModelLock::take(const std::string& path, std::string& error) {
  Target target;
  if (!find_target(path, Links::kAll, target, error)) return false;
  if (!target.regular) return true;  // nothing is replaced
  path_ = target.path + ".lock";
  if (!lock_name(path, error)) return false;
  for (bool moved = true; moved;) {
    if (!lock_model(target.path, moved, error)) return false;
  }
  return true;
}

bool ModelLock::lock_name(const std::string& path, std::string& error) {
  for (;;) {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) return refuse(path_, error);
    if (!lock_file(file, path, error)) return false;
    if (has_name(file, path_)) {
      name_ = file;
      return true;
    }
    ::close(file);  // the one before has just taken the name away
  }
}

bool ModelLock::lock_model(const std::string& path, bool& moved, std::string& error) {
  moved = false;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT || refuse(path, error);
  if (!lock_file(file, path, error)) return false;
  moved = !has_name(file, path);
  if (moved) {
    ::close(file);
  } else {
    model_ = file;
  }
  return true;
}

bool ModelLock::write(const std::string& path, const std::vector<std::uint8_t>& bytes,
                      std::string& error) {
  int fresh = -1;
  WriteOptions options;
  options.locked = &fresh;
  const bool good = write_file(path, bytes, error, options);
  if (fresh >= 0) {
    if (model_ >= 0) ::close(model_);
    model_ = fresh;
  }
  return good;
}

bool ModelLock::save(const adapvae_model* model, const std::string& path, std::string& error) {
  const std::vector<std::uint8_t> bytes = take_snapshot(model);
  if (!bytes.empty()) return write(path, bytes, error);
  error = path + ": " + last_error(model);
  return false;
}

std::string last_error(const adapvae_model* model) {
  auto error = sized<adapvae_error>();
  adapvae_last_error(model, &error);
  return error.message;
}

}  // namespace adapvae::cli

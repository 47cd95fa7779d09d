#include "cli/model_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace adapvae::cli {
namespace {

bool refuse(const std::string& path, std::string& error) {
  error = path + ": " + std::strerror(errno);
  return false;
}

bool write_all(int file, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(file, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += static_cast<std::size_t>(count);
  }
  return true;
}

// The new name itself is on the disk only when its folder is. Some file systems cannot: no harm.
void sync_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
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
  std::uint8_t piece[1 << 16];
  ssize_t count = 0;
  do {
    count = ::read(file, piece, sizeof piece);
    if (count > 0) bytes.insert(bytes.end(), piece, piece + count);
  } while (count > 0 || (count < 0 && errno == EINTR));
  const int problem = errno;
  ::close(file);
  errno = problem;
  return count == 0 || refuse(path, error);
}

bool write_file(const std::string& path, const std::vector<std::uint8_t>& bytes,
                std::string& error) {
  const std::string fresh = path + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return refuse(fresh, error);
  bool good = (write_all(file, bytes) && ::fsync(file) == 0) || refuse(fresh, error);
  if (::close(file) != 0 && good) good = refuse(fresh, error);
  if (good && std::rename(fresh.c_str(), path.c_str()) != 0) good = refuse(path, error);
  if (good) {
    sync_folder_of(path);
  } else {
    ::unlink(fresh.c_str());
  }
  return good;
}

ModelHandle load_model(const std::string& path, const adapvae_options* options,
                       std::string& error) {
  std::vector<std::uint8_t> bytes;
  if (!read_file(path, bytes, error)) return nullptr;
  adapvae_model* model = nullptr;
  auto why = sized<adapvae_error>();
  if (adapvae_create_from(bytes.data(), bytes.size(), options, &model, &why) != ADAPVAE_OK) {
    error = path + ": " + why.message;
  }
  return ModelHandle(model);
}

std::vector<std::uint8_t> take_snapshot(const adapvae_model* model) {
  std::size_t size = 0;
  if (adapvae_save(model, nullptr, 0, &size) != ADAPVAE_OK) return {};
  std::vector<std::uint8_t> bytes(size);
  if (adapvae_save(model, bytes.data(), size, &size) != ADAPVAE_OK) return {};
  return bytes;
}

bool save_model(const adapvae_model* model, const std::string& path, std::string& error) {
  const std::vector<std::uint8_t> bytes = take_snapshot(model);
  if (!bytes.empty()) return write_file(path, bytes, error);
  error = path + ": " + last_error(model);
  return false;
}

ModelLock::~ModelLock() {
  if (file_ < 0) return;
  ::unlink(path_.c_str());  // while it is held: whoever waits for it sees that it is gone
  ::close(file_);
}

bool ModelLock::take(const std::string& path, std::string& error) {
  path_ = path + ".lock";
  for (;;) {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return refuse(path_, error);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      ::close(file);
      error = path + ": another adapvae is changing this model";
      return false;
    }
    struct stat held, named;
    if (::fstat(file, &held) == 0 && ::stat(path_.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino) {
      file_ = file;
      return true;
    }
    ::close(file);  // the one before has just taken the name away
  }
}

std::string last_error(const adapvae_model* model) {
  auto error = sized<adapvae_error>();
  adapvae_last_error(model, &error);
  return error.message;
}

}  // namespace adapvae::cli

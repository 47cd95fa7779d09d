#include "cli/output_file.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

namespace adapvae::cli {
namespace {

constexpr int kMostLinks = 40;  // as Linux follows
constexpr int kMostNames = 100;
constexpr std::size_t kLongestStem = 200;  // of a temporary name, which must not exceed 255

bool refuse(const std::string& path, std::string& error) {
  error = path + ": " + std::strerror(errno);
  return false;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool real_folder(const std::string& folder, std::string& out) {
  char* found = ::realpath(folder.c_str(), nullptr);
  if (found == nullptr) return false;
  out = found;
  std::free(found);
  if (out.back() != '/') out += '/';
  return true;
}

// Links in these folders do not stand for a name but for an open file.
bool holds_open_files(const std::string& folder) {
  return folder.starts_with("/proc/") || folder.starts_with("/dev/fd/");
}

// The number of an open file of this process, if the link in such a folder is one; else -1.
int own_descriptor(const std::string& folder, const std::string& name) {
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/fd/";
  if (folder != own && folder != "/dev/fd/") return -1;
  if (name.empty() || name.size() > 6 || name.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::atoi(name.c_str());
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

// The new name itself is on the disk only when its folder is. Folders that may not be read and file
// systems that cannot do this are no error.
bool sync_folder(const std::string& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return true;
  const bool good = ::fsync(file) == 0 || errno == EINVAL || errno == ENOSYS;
  const int problem = errno;
  ::close(file);
  errno = problem;
  return good;
}

// Mode and owner of another file, as far as permitted. Where the group cannot be kept, the file's
// own group must not get what was meant for the other: it gets what all others get.
bool make_alike(int file, const struct stat& other) {
  mode_t mode = other.st_mode & 07777;
  struct stat own;
  if (::fstat(file, &own) != 0) return false;
  if (own.st_gid != other.st_gid && ::fchown(file, static_cast<uid_t>(-1), other.st_gid) != 0) {
    mode = (mode & ~mode_t{06070}) | (mode & 07) << 3;
  }
  if (own.st_uid != other.st_uid && ::fchown(file, other.st_uid, static_cast<gid_t>(-1)) != 0) {
    mode &= ~mode_t{06000};
  }
  return ::fchmod(file, mode) == 0;
}

// A new file in the folder of `path`. Nobody can have put a file or a link in its
// place: the name cannot be known, and O_EXCL refuses one that is taken.
int make_temporary(const std::string& path, mode_t mode, std::string& name) {
  for (int i = 0; i < kMostNames; ++i) {
    std::uint64_t number = static_cast<std::uint64_t>(::getpid()) << 32 | static_cast<unsigned>(i);
    if (::getentropy(&number, sizeof number) != 0) number *= 0x9E3779B97F4A7C15U;
    char end[32];
    std::snprintf(end, sizeof end, ".%016llx.new", static_cast<unsigned long long>(number));
    name = folder_of(path) + "." + name_of(path).substr(0, kLongestStem) + end;
    const int file =
        ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

bool replace(const std::string& path, const Target& target, const std::vector<std::uint8_t>& bytes,
             std::string& error, const WriteOptions& options) {
  struct stat alike;
  bool is_like = target.exists;
  if (target.exists) {
    alike = target.status;
  } else {
    is_like = !options.model_path.empty() && ::stat(options.model_path.c_str(), &alike) == 0 &&
              S_ISREG(alike.st_mode);
  }
  std::string fresh;
  // Until it is like the other, only its owner may read it.
  const int file = make_temporary(target.path, is_like ? 0600 : 0666, fresh);
  if (file < 0) return refuse(path, error);
  const bool renamed = write_all(file, bytes) && (!is_like || make_alike(file, alike)) &&
                       (options.locked == nullptr || ::flock(file, LOCK_EX | LOCK_NB) == 0) &&
                       ::fsync(file) == 0 && std::rename(fresh.c_str(), target.path.c_str()) == 0;
  bool good = renamed || refuse(path, error);
  if (!renamed) ::unlink(fresh.c_str());
  if (renamed && !sync_folder(folder_of(target.path))) good = refuse(path, error);
  if (renamed && options.locked != nullptr) {
    *options.locked = file;
    return good;
  }
  if (::close(file) != 0 && good) good = refuse(path, error);
  return good;
}

// A reader of a FIFO that goes away is an error of the write, not the end of the program. On
// standard output it is the reader's wish.
bool write_in_place(const std::string& path, const Target& target,
                    const std::vector<std::uint8_t>& bytes, std::string& error) {
  if (target.descriptor == STDOUT_FILENO) std::fflush(stdout);
  const int file = target.descriptor >= 0
                       ? ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 3)
                       : ::open(target.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return refuse(path, error);
  struct sigaction ignore = {}, before = {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  bool good = write_all(file, bytes) || (errno == EPIPE && target.descriptor == STDOUT_FILENO) ||
              refuse(path, error);
  if (::close(file) != 0 && good) good = refuse(path, error);
  ::sigaction(SIGPIPE, &before, nullptr);
  return good;
}

Links links_of(const std::string& model_path) {
  return model_path.empty() ? Links::kAll : Links::kOwn;
}

}  // namespace

bool Target::same_file(const Target& other) const {
  if (!exists || !other.exists) return exists == other.exists && path == other.path;
  // Terminals and /dev/null are read and written at once by design.
  const auto holds_data = [](mode_t mode) { return S_ISREG(mode) || S_ISBLK(mode); };
  return holds_data(status.st_mode) && status.st_dev == other.status.st_dev &&
         status.st_ino == other.status.st_ino;
}

bool find_target(const std::string& path, Links links, Target& target, std::string& error) {
  target = {};
  std::string at = path;
  for (int followed = 0; followed < kMostLinks; ++followed) {
    std::string folder;
    if (!real_folder(folder_of(at), folder)) return refuse(path, error);
    const std::string name = name_of(at);
    at = folder + name;
    struct stat found;
    if (::lstat(at.c_str(), &found) != 0) {
      target.path = at;
      return errno == ENOENT || refuse(path, error);
    }
    const bool open_file = holds_open_files(folder);
    if (!S_ISLNK(found.st_mode) || open_file) {
      target.path = open_file ? path : at;
      if (::stat(at.c_str(), &target.status) != 0) return refuse(path, error);
      target.exists = true;
      target.regular = S_ISREG(target.status.st_mode) && !open_file;
      if (open_file) target.descriptor = own_descriptor(folder, name);
      return true;
    }
    if (links == Links::kOwn && found.st_uid != ::geteuid()) {
      error = path + ": a symbolic link of another user is not followed; remove it";
      return false;
    }
    char link[PATH_MAX];
    const ssize_t size = ::readlink(at.c_str(), link, sizeof link);
    if (size < 0) return refuse(path, error);
    const std::string to(link, static_cast<std::size_t>(size));
    at = to.starts_with('/') ? to : folder + to;
  }
  errno = ELOOP;
  return refuse(path, error);
}

std::string resolved_path(const std::string& path) {
  Target target;
  std::string ignored;
  return find_target(path, Links::kAll, target, ignored) ? target.path : path;
}

bool write_file(const std::string& path, const std::vector<std::uint8_t>& bytes, std::string& error,
                const WriteOptions& options) {
  Target target;
  if (!find_target(path, links_of(options.model_path), target, error)) return false;
  if (options.locked != nullptr) *options.locked = -1;
  return target.regular ? replace(path, target, bytes, error, options)
                        : write_in_place(path, target, bytes, error);
}

int open_to_append(const std::string& path, const std::string& model_path, std::string& error) {
  Target target;
  if (!find_target(path, links_of(model_path), target, error)) return -1;
  int file = -1;
  if (target.descriptor >= 0) {
    file = ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 3);
  } else if (!target.regular) {
    file = ::open(target.path.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
  } else {
    struct stat alike;
    const bool is_like = !target.exists && !model_path.empty() &&
                         ::stat(model_path.c_str(), &alike) == 0 && S_ISREG(alike.st_mode);
    file = ::open(target.path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                  is_like ? 0600 : 0666);
    if (file >= 0 && is_like && !make_alike(file, alike)) {
      refuse(path, error);
      ::close(file);
      return -1;
    }
  }
  if (file < 0) refuse(path, error);
  return file;
}

}  // namespace adapvae::cli

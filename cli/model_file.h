// A model and the file that it lives in. Saving is all or nothing (output_file.h). A model that
// takes more memory than the limit (memory_limit.h) is neither loaded nor made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <adapvae/adapvae.h>

namespace adapvae::cli {

template <typename T>
T sized() {
  T value = {};
  value.struct_size = sizeof value;
  return value;
}

struct Destroy {
  void operator()(adapvae_model* model) const { adapvae_destroy(model); }
};
using ModelHandle = std::unique_ptr<adapvae_model, Destroy>;

// Of all these, false and null: `error` says why, with the file's name.
bool file_exists(const std::string& path);
// The bytes of a model's file; what cannot be one is refused after its first bytes.
bool read_file(const std::string& path, std::vector<std::uint8_t>& bytes, std::string& error);
ModelHandle load_model(const std::string& path, const adapvae_options* options, std::string& error);
ModelHandle create_model(const adapvae_config& config, const adapvae_options* options,
                         std::string& error);
// All that the model knows; empty if it cannot be had.
std::vector<std::uint8_t> take_snapshot(const adapvae_model* model);

// Whoever changes a model's file holds this; another one is refused meanwhile, by whatever name it
// opens the model. For as long as it lives there is a file MODEL.lock.
class ModelLock {
 public:
  ModelLock() = default;
  ~ModelLock();
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;
  bool take(const std::string& path, std::string& error);
  // Writes the model's file; the lock is then on the new one.
  bool write(const std::string& path, const std::vector<std::uint8_t>& bytes, std::string& error);
  bool save(const adapvae_model* model, const std::string& path, std::string& error);

 private:
  bool lock_name(const std::string& path, std::string& error);
  bool lock_model(const std::string& path, bool& moved, std::string& error);

  int name_ = -1;   // the file MODEL.lock
  int model_ = -1;  // the model's file; -1: there is none yet
  std::string path_;
};

// The message of the last call on the model that failed.
std::string last_error(const adapvae_model* model);

}  // namespace adapvae::cli

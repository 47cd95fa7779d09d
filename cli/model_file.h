// A model and the file that it lives in. Saving is all or nothing: the new state stands beside the
// old one and on the disk before it takes its name.
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
bool read_file(const std::string& path, std::vector<std::uint8_t>& bytes, std::string& error);
bool write_file(const std::string& path, const std::vector<std::uint8_t>& bytes,
                std::string& error);
ModelHandle load_model(const std::string& path, const adapvae_options* options, std::string& error);
// All that the model knows; empty if it cannot be had.
std::vector<std::uint8_t> take_snapshot(const adapvae_model* model);
bool save_model(const adapvae_model* model, const std::string& path, std::string& error);

// Whoever changes a model's file holds this; another one is refused meanwhile. For as long as it
// lives there is a file MODEL.lock.
class ModelLock {
 public:
  ModelLock() = default;
  ~ModelLock();
  ModelLock(const ModelLock&) = delete;
  ModelLock& operator=(const ModelLock&) = delete;
  bool take(const std::string& path, std::string& error);

 private:
  int file_ = -1;
  std::string path_;
};

// The message of the last call on the model that failed.
std::string last_error(const adapvae_model* model);

}  // namespace adapvae::cli

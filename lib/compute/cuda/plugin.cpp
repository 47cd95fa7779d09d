#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // dladdr
#endif
#include "compute/cuda/plugin.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace adapvae {
namespace {

constexpr char kFile[] = "libadapvae_cuda.so";
constexpr std::size_t kLongestPath = 4096;

void* open_beside_this() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&cuda_plugin), &info) == 0 ||
      info.dli_fname == nullptr) {
    return nullptr;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  const std::size_t folder =
      slash != nullptr ? static_cast<std::size_t>(slash - info.dli_fname) + 1 : 0;
  if (folder == 0 || folder + sizeof(kFile) > kLongestPath) return nullptr;
  char path[kLongestPath];
  std::memcpy(path, info.dli_fname, folder);
  std::memcpy(path + folder, kFile, sizeof(kFile));
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void* open_plugin() {
  const char* named = std::getenv("ADAPVAE_CUDA_PLUGIN");
  if (named != nullptr) return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  void* library = open_beside_this();
  return library != nullptr ? library : dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
}

CudaPlugin find_plugin() {
  void* library = open_plugin();
  if (library == nullptr) return {nullptr, "the plug-in libadapvae_cuda.so was not found"};
  using TableOf = const DeviceTable* (*)();
  const auto table_of = reinterpret_cast<TableOf>(dlsym(library, "adapvae_cuda_device_table"));
  const DeviceTable* table = table_of != nullptr ? table_of() : nullptr;
  if (table == nullptr || table->version != kDeviceVersion) {
    return {nullptr, "libadapvae_cuda.so is of another version than this library"};
  }
  const char* reason = table->unavailable();
  return reason == nullptr ? CudaPlugin{table, nullptr} : CudaPlugin{nullptr, reason};
}

}  // namespace

// Threads that look at the same time find the same.
CudaPlugin cuda_plugin() {
  static std::atomic<bool> known{false};
  static std::atomic<const DeviceTable*> table{nullptr};
  static std::atomic<const char*> reason{nullptr};
  if (!known.load(std::memory_order_acquire)) {
    const CudaPlugin found = find_plugin();
    table.store(found.table, std::memory_order_relaxed);
    reason.store(found.reason, std::memory_order_relaxed);
    known.store(true, std::memory_order_release);
  }
  return {table.load(std::memory_order_relaxed), reason.load(std::memory_order_relaxed)};
}

}  // namespace adapvae

// Bytes as a snapshot: refused with a reason, or loaded into a model that works; what is asked of
// the allocator is nothing, or the plan of what the file says.
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "adapvae/adapvae.h"
#include "base/crc64.h"
#include "fuzz_target.h"

namespace {

constexpr size_t kMostMemory = 32U << 20U;

void* allocate(void* asked, size_t bytes, size_t) {
  *static_cast<size_t*>(asked) += bytes;
  return bytes <= kMostMemory ? std::malloc(bytes) : nullptr;
}
void release(void*, void* memory, size_t, size_t) { std::free(memory); }

void use(adapvae_model* model) {
  adapvae_info info = {};
  info.struct_size = sizeof info;
  FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
  if (info.inputs > 4096) return;
  const std::vector<float> row(static_cast<size_t>(info.inputs), 0.25F);
  adapvae_result result;
  FUZZ_CHECK(adapvae_score(model, row.data(), 1, 0, &result) == ADAPVAE_OK);
  FUZZ_CHECK(result.novelty >= 0.0F && result.novelty <= 1.0F);
  FUZZ_CHECK(result.probability >= 0.0F && result.probability <= 1.0F);
  for (int32_t k = 0; k < info.clusters; ++k) {
    adapvae_cluster cluster = {};
    cluster.struct_size = sizeof cluster;
    FUZZ_CHECK(adapvae_cluster_at(model, k, &cluster) == ADAPVAE_OK);
    FUZZ_CHECK(adapvae_resolve(model, cluster.id) == cluster.id);
    FUZZ_CHECK(memchr(cluster.name, 0, sizeof cluster.name) != nullptr);
  }
  size_t needed = 0;
  FUZZ_CHECK(adapvae_explain(model, row.data(), ADAPVAE_JSON, nullptr, 0, &needed) == ADAPVAE_OK);
  // What was loaded can be saved, and is then the same.
  std::vector<unsigned char> saved(static_cast<size_t>(info.snapshot_bytes)), again(saved.size());
  size_t size = 0;
  FUZZ_CHECK(adapvae_save(model, saved.data(), saved.size(), &size) == ADAPVAE_OK);
  FUZZ_CHECK(adapvae_load(model, saved.data(), size) == ADAPVAE_OK);
  FUZZ_CHECK(adapvae_save(model, again.data(), again.size(), &size) == ADAPVAE_OK);
  FUZZ_CHECK(saved == again);
}

void load(const uint8_t* data, size_t size) {
  adapvae_config config = {};
  config.struct_size = sizeof config;
  adapvae_snapshot snapshot = {};
  snapshot.struct_size = sizeof snapshot;
  adapvae_error error = {};
  error.struct_size = sizeof error;
  const adapvae_status seen = adapvae_inspect(data, size, &snapshot, &config, &error);
  FUZZ_CHECK(seen == ADAPVAE_OK || error.message[0] != '\0');
  adapvae_options options = {};
  options.struct_size = sizeof options;
  options.allocate = allocate;
  options.release = release;
  size_t asked = 0;
  options.allocate_context = &asked;
  adapvae_model* model = nullptr;
  const adapvae_status made = adapvae_create_from(data, size, &options, &model, &error);
  FUZZ_CHECK((made == ADAPVAE_OK) == (model != nullptr));
  FUZZ_CHECK(made == ADAPVAE_OK || error.message[0] != '\0');
  size_t required = 0;
  if (seen == ADAPVAE_OK) {
    const adapvae_status planned = adapvae_memory_required(&config, &options, &required, nullptr);
    FUZZ_CHECK(planned == ADAPVAE_OK || planned == ADAPVAE_OUT_OF_MEMORY);
  }
  FUZZ_CHECK(asked == 0 || asked == required);
  if (model != nullptr) {
    FUZZ_CHECK(seen == ADAPVAE_OK && asked == required);
    use(model);
    FUZZ_CHECK(asked == required);
  }
  adapvae_destroy(model);
}

}  // namespace

void fuzz_load(const uint8_t* data, size_t size) {
  load(data, size);
  // The same with a right checksum, which no mutation finds: so what lies behind it is reached.
  std::vector<uint8_t> bytes(data, data + size);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kKey = "\"adapvae.checksum\":\"";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos || at + kKey.size() + 16 > size) return;
  uint8_t* digits = bytes.data() + at + kKey.size();
  std::memset(digits, '0', 16);
  uint64_t value = adapvae::crc64(bytes.data(), bytes.size());
  for (int i = 15; i >= 0; --i, value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
  load(bytes.data(), bytes.size());
}

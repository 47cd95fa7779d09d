// Names and values of the configuration as text, "name=value" lines: taken or refused, and what was
// taken reads back; a configuration of any values is planned or refused, never created by chance.
#include <cstring>
#include <string>

#include "adapvae/adapvae.h"
#include "fuzz_target.h"

void fuzz_config(const uint8_t* data, size_t size) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = 3;
  const std::string text(reinterpret_cast<const char*>(data), size);
  adapvae_error error = {};
  error.struct_size = sizeof error;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    const size_t equals = line.find('=');
    if (equals == std::string::npos) {
      (void)adapvae_config_preset(&config, line.c_str(), &error);
      continue;
    }
    const std::string name = line.substr(0, equals).c_str();  // up to a zero, as C sees it
    const std::string value = line.substr(equals + 1).c_str();
    const adapvae_config before = config;
    if (adapvae_config_set(&config, name.c_str(), value.c_str(), &error) != ADAPVAE_OK) {
      FUZZ_CHECK(error.message[0] != '\0');
      FUZZ_CHECK(std::memcmp(&before, &config, sizeof config) == 0);
      continue;
    }
    char first[64];
    char second[64];
    FUZZ_CHECK(adapvae_config_get(&config, name.c_str(), first, sizeof first, nullptr) ==
               ADAPVAE_OK);
    FUZZ_CHECK(adapvae_config_set(&config, name.c_str(), first, nullptr) == ADAPVAE_OK);
    FUZZ_CHECK(adapvae_config_get(&config, name.c_str(), second, sizeof second, nullptr) ==
               ADAPVAE_OK);
    FUZZ_CHECK(std::strcmp(first, second) == 0);
  }
  size_t bytes = 0;
  const adapvae_status status = adapvae_memory_required(&config, nullptr, &bytes, &error);
  FUZZ_CHECK(status == ADAPVAE_OK ? bytes > 0 : error.message[0] != '\0');
  // A struct of any bytes is no reason to crash either.
  std::memcpy(&config, data, std::min(size, sizeof config));
  config.struct_size = sizeof config;
  (void)adapvae_memory_required(&config, nullptr, &bytes, &error);
}

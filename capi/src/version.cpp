#include "adapvae/adapvae.h"
#include "compute/isa.h"

int32_t adapvae_version_number(void) {
  return ADAPVAE_VERSION_MAJOR * 10000 + ADAPVAE_VERSION_MINOR * 100 + ADAPVAE_VERSION_PATCH;
}

const char* adapvae_version_string(void) { return ADAPVAE_VERSION_STRING; }

const char* adapvae_instruction_set(void) {
  return adapvae::select_kernels(adapvae::IsaLevel::kAuto)->name;
}

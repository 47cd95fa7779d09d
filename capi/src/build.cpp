// Version, build and names of statuses: what needs no model.
#include "compute/isa.h"
#include "handle.h"

int32_t adapvae_version_number(void) {
  return ADAPVAE_VERSION_MAJOR * 10000 + ADAPVAE_VERSION_MINOR * 100 + ADAPVAE_VERSION_PATCH;
}

const char* adapvae_version_string(void) { return ADAPVAE_VERSION_STRING; }

int32_t adapvae_backend_available(int32_t backend) {
  return adapvae::capi::backend_missing(backend) == nullptr ? 1 : 0;
}

const char* adapvae_instruction_set(void) {
  return adapvae::select_kernels(adapvae::IsaLevel::kAuto)->name;
}

const char* adapvae_status_name(adapvae_status status) {
  switch (status) {
    case ADAPVAE_OK:
      return "ADAPVAE_OK";
    case ADAPVAE_INVALID_ARGUMENT:
      return "ADAPVAE_INVALID_ARGUMENT";
    case ADAPVAE_SHAPE_MISMATCH:
      return "ADAPVAE_SHAPE_MISMATCH";
    case ADAPVAE_NON_FINITE:
      return "ADAPVAE_NON_FINITE";
    case ADAPVAE_UNKNOWN_CLUSTER:
      return "ADAPVAE_UNKNOWN_CLUSTER";
    case ADAPVAE_OUT_OF_MEMORY:
      return "ADAPVAE_OUT_OF_MEMORY";
    case ADAPVAE_UNAVAILABLE:
      return "ADAPVAE_UNAVAILABLE";
    case ADAPVAE_CORRUPT_DATA:
      return "ADAPVAE_CORRUPT_DATA";
    case ADAPVAE_NEWER_FORMAT:
      return "ADAPVAE_NEWER_FORMAT";
    case ADAPVAE_BUSY:
      return "ADAPVAE_BUSY";
    case ADAPVAE_REFUSED:
      return "ADAPVAE_REFUSED";
    case ADAPVAE_NO_MORE:
      return "ADAPVAE_NO_MORE";
    case ADAPVAE_LATE:
      return "ADAPVAE_LATE";
    case ADAPVAE_FOREIGN:
      return "ADAPVAE_FOREIGN";
    case ADAPVAE_DIVERGED:
      return "ADAPVAE_DIVERGED";
    default:
      return "unknown status";
  }
}

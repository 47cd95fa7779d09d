/* adapvae: clusters an unlabelled data stream while it learns the features.
 *
 * This header is the whole public interface of the library: what is not in it is not API.
 * It is C11 and also compiles as C++17. So far it holds the version and build section only.
 */
#ifndef ADAPVAE_ADAPVAE_H
#define ADAPVAE_ADAPVAE_H

#include <stdint.h>

#if defined(_WIN32) && defined(ADAPVAE_SHARED)
#if defined(ADAPVAE_BUILDING_LIBRARY)
#define ADAPVAE_API __declspec(dllexport)
#else
#define ADAPVAE_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define ADAPVAE_API __attribute__((visibility("default")))
#else
#define ADAPVAE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and build -------------------------------------------------------------------- */

#define ADAPVAE_VERSION_MAJOR 0
#define ADAPVAE_VERSION_MINOR 1
#define ADAPVAE_VERSION_PATCH 0

/* Version of the library at run time, as major * 10000 + minor * 100 + patch. Never fails. */
ADAPVAE_API int32_t adapvae_version_number(void);

/* The same as text, for example "0.1.0". Static storage. */
ADAPVAE_API const char* adapvae_version_string(void);

/* Name of the instruction-set level that this processor will be given: "scalar", "baseline",
 * "avx2", "avx512", "neon" or "simd128". The environment variable ADAPVAE_ISA, if set to one of
 * these names and available here, forces it. Static storage. */
ADAPVAE_API const char* adapvae_instruction_set(void);

#ifdef __cplusplus
}
#endif

#endif /* ADAPVAE_ADAPVAE_H */

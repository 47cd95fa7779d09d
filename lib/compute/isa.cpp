#include "compute/isa.h"

#include <cstdlib>
#include <cstring>

// A device with one level has nothing to choose, and perhaps no environment.
#if defined(ADAPVAE_HAS_BASELINE) || defined(ADAPVAE_HAS_NEON) || defined(ADAPVAE_HAS_SIMD128)
#define ADAPVAE_LEVEL_CHOICE
#endif

namespace adapvae {
namespace {

bool processor_has(IsaLevel level) {
  switch (level) {
#if defined(__x86_64__)
    case IsaLevel::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case IsaLevel::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("fma");
#endif
    default:
      return true;  // part of the target's definition, or absent from this build
  }
}

const KernelTable* compiled_kernels(IsaLevel level) {
  switch (level) {
#if !defined(ADAPVAE_NO_SCALAR)
    case IsaLevel::kScalar:
      return kernels_scalar();
#endif
#if defined(ADAPVAE_HAS_BASELINE)
    case IsaLevel::kBaseline:
      return kernels_baseline();
#endif
#if defined(ADAPVAE_HAS_AVX2)
    case IsaLevel::kAvx2:
      return kernels_avx2();
#endif
#if defined(ADAPVAE_HAS_AVX512)
    case IsaLevel::kAvx512:
      return kernels_avx512();
#endif
#if defined(ADAPVAE_HAS_NEON)
    case IsaLevel::kNeon:
      return kernels_neon();
#endif
#if defined(ADAPVAE_HAS_SIMD128)
    case IsaLevel::kSimd128:
      return kernels_simd128();
#endif
    default:
      return nullptr;
  }
}

}  // namespace

const char* isa_level_name(IsaLevel level) {
  switch (level) {
    case IsaLevel::kAuto:
      return "auto";
    case IsaLevel::kScalar:
      return "scalar";
    case IsaLevel::kBaseline:
      return "baseline";
    case IsaLevel::kAvx2:
      return "avx2";
    case IsaLevel::kAvx512:
      return "avx512";
    case IsaLevel::kNeon:
      return "neon";
    case IsaLevel::kSimd128:
      return "simd128";
  }
  return "unknown";
}

const KernelTable* select_kernels(IsaLevel level) {
  if (level != IsaLevel::kAuto) return processor_has(level) ? compiled_kernels(level) : nullptr;
#if defined(ADAPVAE_LEVEL_CHOICE)
  if (const char* wanted = std::getenv("ADAPVAE_ISA")) {
    for (int i = 1; i < kIsaLevelCount; ++i) {
      const auto named = static_cast<IsaLevel>(i);
      if (std::strcmp(wanted, isa_level_name(named)) != 0) continue;
      if (const KernelTable* kernels = select_kernels(named)) return kernels;
    }
  }
#endif
  // Levels are numbered from slow to fast.
  const KernelTable* kernels = nullptr;
  for (int i = kIsaLevelCount - 1; i > 0 && kernels == nullptr; --i) {
    kernels = select_kernels(static_cast<IsaLevel>(i));
  }
  return kernels;
}

}  // namespace adapvae

// Which instruction-set levels exist here, and which one to use.
#pragma once

#include "base/status.h"
#include "compute/kernels.h"

namespace adapvae {

enum class IsaLevel : std::int32_t {
  kAuto = 0,  // the best that this processor has
  kScalar = 1,
  kBaseline = 2,  // x86-64: SSE2
  kAvx2 = 3,      // x86-64: AVX2 and FMA
  kAvx512 = 4,    // x86-64: AVX-512 F, VL, BW, DQ
  kNeon = 5,      // AArch64
  kSimd128 = 6,   // WebAssembly
};
constexpr int kIsaLevelCount = 7;

// The kernels of a level, or null if this build lacks it or this processor cannot run it.
// kAuto obeys the environment variable ADAPVAE_ISA (scalar, baseline, avx2, avx512, neon, simd128)
// where there is an environment; a name that cannot be had here is ignored.
const KernelTable* select_kernels(IsaLevel level);

const char* isa_level_name(IsaLevel level);

}  // namespace adapvae

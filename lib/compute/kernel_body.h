// The source of every kernels_<level>.cpp. The including file defines
//   ADAPVAE_LANES         floats in a vector: 1, 4, 8 or 16
//   ADAPVAE_TILE_ROWS     rows of the register tile
//   ADAPVAE_TILE_VECTORS  vectors across the register tile
//   ADAPVAE_DEPTH_BLOCK   depth of a packed block (a panel of B should fill most of the L1 cache)
//   ADAPVAE_ROW_BLOCK     rows of A between two visits of a panel of B (should fit the L2 cache)
//   ADAPVAE_LEVEL         name of the level: kernels_<level>() is what this file defines
// No include guard: one inclusion per translation unit, with its own compiler flags.

#include "compute/kernels.h"

#define ADAPVAE_LAMBDA __attribute__((always_inline))
// What learning alone needs.
#if defined(ADAPVAE_INFERENCE_ONLY)
#define ADAPVAE_TO_LEARN(kernel) nullptr
#pragma GCC diagnostic ignored "-Wunused-function"
#else
#define ADAPVAE_TO_LEARN(kernel) kernel
#endif

namespace adapvae {
namespace {

using Index = std::ptrdiff_t;

#include "compute/kernel_math.h"
//
#include "compute/kernel_gemm.h"
#include "compute/kernel_rows.h"
//
#include "compute/kernel_divide.h"

#define ADAPVAE_STRING_(x) #x
#define ADAPVAE_STRING(x) ADAPVAE_STRING_(x)
#define ADAPVAE_JOIN_(a, b) a##b
#define ADAPVAE_JOIN(a, b) ADAPVAE_JOIN_(a, b)

constexpr KernelTable kTable = {
    ADAPVAE_STRING(ADAPVAE_LEVEL),
    kTileRows,
    kTileCols,
    kDepthBlock,
    ADAPVAE_ROW_BLOCK,
    kLanes,
    kSmallCode ? nullptr : pack_a,
    kSmallCode ? nullptr : pack_b,
    kSmallCode ? nullptr : gemm_block,
    gemm_small,
    ADAPVAE_TO_LEARN(column_sums),
    reconstruct,
    softmax_rows,
    mahalanobis,
    ADAPVAE_TO_LEARN(mahalanobis_pull),
    ADAPVAE_TO_LEARN(divide_rows),
    ADAPVAE_TO_LEARN(weighted_moments),
    ADAPVAE_TO_LEARN(adam),
    ADAPVAE_TO_LEARN(squared_norm),
};

}  // namespace

const KernelTable* ADAPVAE_JOIN(kernels_, ADAPVAE_LEVEL)() { return &kTable; }

}  // namespace adapvae

// AArch64 NEON: 32 registers of 4 floats; 8 × 12 tile = 24 sums.
#define ADAPVAE_LEVEL neon
#define ADAPVAE_LANES 4
#define ADAPVAE_TILE_ROWS 8
#define ADAPVAE_TILE_VECTORS 3
#define ADAPVAE_DEPTH_BLOCK 256
#define ADAPVAE_ROW_BLOCK 96
#include "compute/kernel_body.h"

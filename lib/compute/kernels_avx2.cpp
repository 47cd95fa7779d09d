// AVX2 with FMA: 16 registers of 8 floats; 6 × 16 tile = 12 sums.
#define ADAPVAE_LEVEL avx2
#define ADAPVAE_LANES 8
#define ADAPVAE_TILE_ROWS 6
#define ADAPVAE_TILE_VECTORS 2
#define ADAPVAE_DEPTH_BLOCK 512
#define ADAPVAE_ROW_BLOCK 126
#include "compute/kernel_body.h"

// AVX-512 (F, VL, BW, DQ): 32 registers of 16 floats; 8 × 48 tile = 24 sums.
#define ADAPVAE_LEVEL avx512
#define ADAPVAE_LANES 16
#define ADAPVAE_TILE_ROWS 8
#define ADAPVAE_TILE_VECTORS 3
#define ADAPVAE_DEPTH_BLOCK 256
#define ADAPVAE_ROW_BLOCK 192
#include "compute/kernel_body.h"

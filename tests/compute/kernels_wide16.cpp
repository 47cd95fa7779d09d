// The 16-lane kernels of kernels_avx512.cpp for processors without AVX-512: compiled with AVX2
// flags, each vector becomes two, and lane counts, tiles and tails are the same. For tests only.
#define ADAPVAE_LEVEL wide16
#define ADAPVAE_LANES 16
#define ADAPVAE_TILE_ROWS 8
#define ADAPVAE_TILE_VECTORS 3
#define ADAPVAE_DEPTH_BLOCK 256
#define ADAPVAE_ROW_BLOCK 192
#include "compute/kernel_body.h"

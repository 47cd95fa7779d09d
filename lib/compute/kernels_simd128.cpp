// WebAssembly simd128: engines map it to 16 registers of 4 floats on x86.
#define ADAPVAE_LEVEL simd128
#define ADAPVAE_LANES 4
#define ADAPVAE_TILE_ROWS 4
#define ADAPVAE_TILE_VECTORS 2
#define ADAPVAE_DEPTH_BLOCK 256
#define ADAPVAE_ROW_BLOCK 96
#include "compute/kernel_body.h"

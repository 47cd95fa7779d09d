// x86-64 as every such processor has it: SSE2, 16 registers of 4 floats, no fused multiply-add.
#define ADAPVAE_LEVEL baseline
#define ADAPVAE_LANES 4
#define ADAPVAE_TILE_ROWS 4
#define ADAPVAE_TILE_VECTORS 2
#define ADAPVAE_DEPTH_BLOCK 256
#define ADAPVAE_ROW_BLOCK 96
#include "compute/kernel_body.h"

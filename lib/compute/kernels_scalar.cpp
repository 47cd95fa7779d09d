// No vectors: the reference level, and what small devices run.
#define ADAPVAE_LEVEL scalar
#define ADAPVAE_LANES 1
#define ADAPVAE_TILE_ROWS 3
#define ADAPVAE_TILE_VECTORS 4
#define ADAPVAE_DEPTH_BLOCK 256
#define ADAPVAE_ROW_BLOCK 48
#include "compute/kernel_body.h"

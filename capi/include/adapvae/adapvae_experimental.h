/* adapvae, what is not promised: these functions may change or go in any version. */
#ifndef ADAPVAE_ADAPVAE_EXPERIMENTAL_H
#define ADAPVAE_ADAPVAE_EXPERIMENTAL_H

#include "adapvae.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Teaches the network its features from rows given apart, once, before anything else is learnt: up
 * to block_rows plus replay_rows of them. Clusters learn nothing from them; the first stream then
 * goes straight to its clusters. For those who have unlabelled rows of all kinds beforehand. */
ADAPVAE_API adapvae_status adapvae_pretrain(adapvae_model* model, const float* rows, int32_t count,
                                            int32_t stride);

#ifdef __cplusplus
}
#endif

#endif /* ADAPVAE_ADAPVAE_EXPERIMENTAL_H */

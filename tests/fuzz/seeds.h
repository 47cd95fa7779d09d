// Small models of all that a model can be, made by the library itself.
#pragma once

#include "adapvae/adapvae.h"

namespace fuzz {

inline constexpr int kSeeds = 14;

// Model `number` of kSeeds; the caller destroys it.
adapvae_model* make_seed(int number, const adapvae_options* options);

}  // namespace fuzz

// The largest shapes that a backend will be asked for; its scratch memory is planned from them.
#pragma once

#include "base/matrix_view.h"

namespace adapvae {

// With ADAPVAE_INFERENCE_ONLY the operations that only learning asks for do nothing, and their code
// is left out.
#if defined(ADAPVAE_INFERENCE_ONLY)
inline constexpr bool kBuiltToLearn = false;
#else
inline constexpr bool kBuiltToLearn = true;
#endif

struct ComputeLimits {
  Index rows = 0;          // of a dense layer's batch
  Index widest_layer = 0;  // largest number of inputs or outputs of a dense layer
  Index dims = 0;          // m
  Index clusters = 0;      // K
  // Parts into which a large product is cut if the caller supplies a ParallelFor, each with scratch
  // memory of its own; 1: nothing is cut. Results do not depend on it.
  Index workers = 1;
};

}  // namespace adapvae

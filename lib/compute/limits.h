// The largest shapes that a backend will be asked for; its scratch memory is planned from them.
#pragma once

#include "base/matrix_view.h"

namespace adapvae {

struct ComputeLimits {
  Index rows = 0;          // n
  Index widest_layer = 0;  // largest number of inputs or outputs of a dense layer
  Index dims = 0;          // m
  Index clusters = 0;      // K
};

}  // namespace adapvae

// Input noise for denoising training: some inputs are masked to zero, the rest get Gaussian noise.
#pragma once

#include "base/matrix_view.h"
#include "base/philox.h"

namespace adapvae {

struct CorruptionSettings {
  float mask_probability = 0.0F;  // [0, 1)
  float noise_deviation = 0.0F;   // >= 0
  constexpr bool active() const { return mask_probability > 0.0F || noise_deviation > 0.0F; }
};

// Corrupts rows in place. The noise of row i depends on key and row_id[i] (i if null) alone.
void corrupt_rows(const CorruptionSettings& settings, RandomKey key, const std::uint32_t* row_id,
                  MatrixView rows);

}  // namespace adapvae

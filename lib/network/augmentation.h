// Random small affine changes of image rows: "augmented in, clean out".
//
// A row is channels planes of height × width numbers. Each augmented row is the image seen through
// a random rotation, scale, shear and shift about its centre, by bilinear interpolation; what lies
// outside counts as zero.
#pragma once

#include "base/matrix_view.h"
#include "base/philox.h"
#include "base/status.h"

namespace adapvae {

struct AugmentationSettings {
  Index width = 0;  // 0: off
  Index height = 0;
  Index channels = 1;
  float shift = 0.0F;     // up to this many pixels each way
  float rotation = 0.0F;  // up to this many radians each way
  float scale = 0.0F;     // factor between 1 - scale and 1 + scale; < 1
  float shear = 0.0F;     // up to this slope each way
  constexpr bool active() const { return width > 0; }
};

// ok if the image has `inputs` numbers and every range is sensible.
Status check_augmentation(const AugmentationSettings& settings, Index inputs);

// Writes an augmented copy of each row of `clean` to `out` (different memory, same shape). The
// change of row i depends on key and row_id[i] (i if null) alone.
void augment_rows(const AugmentationSettings& settings, RandomKey key, const std::uint32_t* row_id,
                  ConstMatrixView clean, MatrixView out);

}  // namespace adapvae

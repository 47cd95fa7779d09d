#include "network/corruption.h"

#include <algorithm>
#include <limits>

#include "base/sampling.h"

namespace adapvae {
namespace {

// A finite row stays finite.
constexpr float kLargest = std::numeric_limits<float>::max();

}  // namespace

void corrupt_rows(const CorruptionSettings& settings, RandomKey key, const std::uint32_t* row_id,
                  MatrixView rows) {
  if (!settings.active()) return;
  // Masked iff a random word is below this: one word an input, no conversion.
  const auto limit = static_cast<std::uint32_t>(settings.mask_probability * 4294967040.0F);
  for (Index i = 0; i < rows.rows; ++i) {
    key.index = row_id != nullptr ? row_id[i] : static_cast<std::uint32_t>(i);
    Philox random(key);
    float* row = rows.row(i);
    if (settings.noise_deviation > 0.0F) {
      for (Index j = 0; j < rows.cols; ++j) {
        const float noisy =
            row[j] + settings.noise_deviation * static_cast<float>(sample_normal(random));
        row[j] = std::clamp(noisy, -kLargest, kLargest);
      }
    }
    if (limit > 0) {
      for (Index j = 0; j < rows.cols; ++j) {
        if (random.next_u32() < limit) row[j] = 0.0F;
      }
    }
  }
}

}  // namespace adapvae

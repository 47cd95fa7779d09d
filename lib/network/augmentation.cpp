#include "network/augmentation.h"

#include <cmath>

#include "base/special_functions.h"

namespace adapvae {
namespace {

// Where a pixel of the new image comes from in the old one: an affine map.
struct Source {
  float xx, xy, x0;  // x = xx·column + xy·row + x0
  float yx, yy, y0;
};

float symmetric(Philox& random, float range) {
  return range * (2.0F * random.uniform_float() - 1.0F);
}

Source draw_source(const AugmentationSettings& settings, Philox& random) {
  const float angle = symmetric(random, settings.rotation);
  const float factor = 1.0F / (1.0F + symmetric(random, settings.scale));
  const float shear = symmetric(random, settings.shear);
  const float shift_x = symmetric(random, settings.shift);
  const float shift_y = symmetric(random, settings.shift);
  const SinCos turn = sin_cos(static_cast<double>(angle));
  const float cosine = static_cast<float>(turn.cosine) * factor;
  const float sine = static_cast<float>(turn.sine) * factor;
  Source s;
  s.xx = cosine;
  s.xy = cosine * shear - sine;
  s.yx = sine;
  s.yy = sine * shear + cosine;
  const float centre_x = 0.5F * static_cast<float>(settings.width - 1);
  const float centre_y = 0.5F * static_cast<float>(settings.height - 1);
  s.x0 = centre_x + shift_x - s.xx * centre_x - s.xy * centre_y;
  s.y0 = centre_y + shift_y - s.yx * centre_x - s.yy * centre_y;
  return s;
}

// Part of the way from a to b; written so that finite numbers of any size give a finite one.
float between(float a, float b, float part) { return a * (1.0F - part) + b * part; }

// Bilinear value at (x, y), zero outside. floor() by truncation of a positive number.
float value_at(const float* plane, Index width, Index height, float x, float y) {
  if (!(x > -1.0F && y > -1.0F && x < static_cast<float>(width) &&
        y < static_cast<float>(height))) {
    return 0.0F;
  }
  const Index left = static_cast<Index>(x + 1.0F) - 1;
  const Index top = static_cast<Index>(y + 1.0F) - 1;
  const float fx = x - static_cast<float>(left);
  const float fy = y - static_cast<float>(top);
  const float* corner = plane + top * width + left;
  if (left >= 0 && top >= 0 && left + 1 < width && top + 1 < height) {
    return between(between(corner[0], corner[1], fx), between(corner[width], corner[width + 1], fx),
                   fy);
  }
  const auto at = [&](Index row, Index column) {
    const bool inside =
        top + row >= 0 && top + row < height && left + column >= 0 && left + column < width;
    return inside ? corner[row * width + column] : 0.0F;
  };
  return between(between(at(0, 0), at(0, 1), fx), between(at(1, 0), at(1, 1), fx), fy);
}

}  // namespace

Status check_augmentation(const AugmentationSettings& settings, Index inputs) {
  if (!settings.active()) return {};
  if (settings.height < 1 || settings.channels < 1 || settings.width > inputs ||
      settings.height > inputs || settings.channels > inputs ||
      settings.width * settings.height > inputs ||
      settings.width * settings.height * settings.channels != inputs) {
    return {StatusCode::kInvalidArgument, "width × height × channels must equal the inputs"};
  }
  const bool sensible = settings.shift >= 0.0F && settings.rotation >= 0.0F &&
                        settings.shear >= 0.0F && settings.scale >= 0.0F && settings.scale < 1.0F &&
                        std::isfinite(settings.shift) && std::isfinite(settings.rotation) &&
                        std::isfinite(settings.shear);
  if (!sensible) {
    return {StatusCode::kInvalidArgument, "augmentation ranges must be >= 0 and scale below 1"};
  }
  return {};
}

void augment_rows(const AugmentationSettings& settings, RandomKey key, const std::uint32_t* row_id,
                  ConstMatrixView clean, MatrixView out) {
  const Index width = settings.width;
  const Index height = settings.height;
  for (Index i = 0; i < clean.rows; ++i) {
    key.index = row_id != nullptr ? row_id[i] : static_cast<std::uint32_t>(i);
    Philox random(key);
    const Source s = draw_source(settings, random);
    for (Index c = 0; c < settings.channels; ++c) {
      const float* plane = clean.row(i) + c * width * height;
      float* target = out.row(i) + c * width * height;
      for (Index row = 0; row < height; ++row) {
        float x = s.xy * static_cast<float>(row) + s.x0;
        float y = s.yy * static_cast<float>(row) + s.y0;
        for (Index column = 0; column < width; ++column) {
          *target++ = value_at(plane, width, height, x, y);
          x += s.xx;
          y += s.yx;
        }
      }
    }
  }
}

}  // namespace adapvae

// Reads JPEG images as grey, by libjpeg.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/image_grid.h"

namespace adapvae::tools {

bool is_jpeg(std::span<const std::uint8_t> bytes);

// False, with error set, for what is no JPEG image, a damaged or truncated one, one of other
// colours than grey, YCbCr and RGB, or one of more pixels than kLargestImageSide and
// kLargestImageArea say.
bool parse_jpeg(std::span<const std::uint8_t> bytes, GreyImage& image, std::string& error,
                std::size_t most);

}  // namespace adapvae::tools

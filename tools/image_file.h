// Reads PNG and JPEG images as grey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tools/image_grid.h"

namespace adapvae::tools {

// Images of more pixels are refused before anything is unpacked.
constexpr int kLargestImageSide = 1 << 14;
constexpr int kLargestImageArea = 1 << 26;

// Nothing, with error set, for what is no image, a damaged one or one that is too large: it also is
// if unpacking it may take more memory than `most` bytes.
std::optional<GreyImage> parse_image(std::span<const std::uint8_t> bytes, std::string& error,
                                     std::size_t most = SIZE_MAX);

}  // namespace adapvae::tools

#include "tools/image_file.h"

#include <cstdlib>
#include <memory>

// The one place where stb_image is compiled, with the inflate that idx_file.cpp uses, too. No file
// access of its own is wanted. The header is not ours to clean, hence the silence around it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 14)
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace adapvae::tools {
namespace {

struct Free {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

}  // namespace

std::optional<GreyImage> parse_image(std::span<const std::uint8_t> bytes, std::string& error) {
  static_assert(STBI_MAX_DIMENSIONS == kLargestImageSide);
  GreyImage image;
  int channels = 0;
  const int size = static_cast<int>(bytes.size());
  if (bytes.size() > (std::size_t{1} << 30) ||
      stbi_info_from_memory(bytes.data(), size, &image.width, &image.height, &channels) == 0) {
    error = "not a PNG or JPEG image that can be read";
    return std::nullopt;
  }
  if (image.width < 1 || image.height < 1 || image.width > kLargestImageSide ||
      image.height > kLargestImageSide || image.height > kLargestImageArea / image.width) {
    error = "an image of " + std::to_string(image.width) + " × " + std::to_string(image.height) +
            " pixels is too large";
    return std::nullopt;
  }
  const std::unique_ptr<stbi_uc, Free> pixels(
      stbi_load_from_memory(bytes.data(), size, &image.width, &image.height, &channels, 1));
  if (!pixels) {
    error = std::string("a damaged image: ") + stbi_failure_reason();
    return std::nullopt;
  }
  image.pixels.assign(pixels.get(), pixels.get() + static_cast<std::size_t>(image.width) *
                                                       static_cast<std::size_t>(image.height));
  return image;
}

}  // namespace adapvae::tools

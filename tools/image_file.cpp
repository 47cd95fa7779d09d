#include "tools/image_file.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tools/jpeg_file.h"

namespace {

// Bytes that one allocation of stb may have: set for each image. Its inflate doubles its memory for
// as long as the data go on, however small the image says it is.
constexpr std::size_t kAnySize = ~std::size_t{0};
thread_local std::size_t largest_allocation = kAnySize;

void* bounded_malloc(std::size_t size) {
  return size <= largest_allocation ? std::malloc(size) : nullptr;
}
void* bounded_realloc(void* old, std::size_t size) {
  return size <= largest_allocation ? std::realloc(old, size) : nullptr;
}

// stb copies nothing from and to nowhere for an empty part of a PNG file, which memcpy() forbids.
void* copy_bytes(void* to, const void* from, std::size_t size) {
  return size == 0 ? to : std::memcpy(to, from, size);
}

}  // namespace

// The one place where stb_image is compiled, with the inflate that idx_file.cpp uses, too. JPEG is
// left to libjpeg: a damaged Huffman table makes stb 2.27 write out of bounds. No file
// access of its own is wanted. The header is not ours to clean, hence the silence around it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#define STB_IMAGE_IMPLEMENTATION
#define STBI_MALLOC(size) bounded_malloc(size)
#define STBI_REALLOC(old, size) bounded_realloc(old, size)
#define STBI_FREE(old) std::free(old)
#define memcpy copy_bytes
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS (1 << 14)
#include <stb/stb_image.h>
#undef memcpy
#pragma GCC diagnostic pop

namespace adapvae::tools {
namespace {

// For stb's own tables, which do not depend on the image.
constexpr std::size_t kInfoAllocation = std::size_t{1} << 18;

class AllocationLimit {
 public:
  explicit AllocationLimit(std::size_t size) { largest_allocation = size; }
  ~AllocationLimit() { largest_allocation = kAnySize; }
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
};

struct Free {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

// At most, in bytes: stb holds an image packed, unpacked and converted at once; then 8 bits of
// each channel, and of grey twice.
std::int64_t memory_of_pixel(int channels, std::int64_t depth) {
  return 3 * depth * channels + channels + 2;
}

}  // namespace

std::optional<GreyImage> parse_image(std::span<const std::uint8_t> bytes, std::string& error,
                                     std::size_t most) {
  static_assert(STBI_MAX_DIMENSIONS == kLargestImageSide);
  GreyImage image;
  if (is_jpeg(bytes)) {
    if (!parse_jpeg(bytes, image, error, most)) return std::nullopt;
    return image;
  }
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
  const std::int64_t depth = stbi_is_16_bit_from_memory(bytes.data(), size) != 0 ? 2 : 1;
  const std::int64_t needed =
      std::int64_t{image.width} * image.height * memory_of_pixel(channels, depth);
  if (static_cast<std::uint64_t>(needed) > most) {
    error = "unpacking this image takes up to " + std::to_string(needed) +
            " bytes of memory, more than the limit of " + std::to_string(most) + " (--max-memory)";
    return std::nullopt;
  }
  // Four channels of two bytes; twice, because memory is doubled when it is too small. And the
  // packed data, doubled likewise.
  constexpr std::size_t kBlock = 8;  // of interlaced images
  const AllocationLimit limit(kInfoAllocation + 2 * bytes.size() +
                              16 * (static_cast<std::size_t>(image.width) + kBlock) *
                                  (static_cast<std::size_t>(image.height) + kBlock));
  const std::unique_ptr<stbi_uc, Free> pixels(
      stbi_load_from_memory(bytes.data(), size, &image.width, &image.height, &channels, 1));
  if (!pixels) {
    const std::string reason = stbi_failure_reason();
    error = "a damaged image: " +
            (reason == "outofmem" ? "it unpacks to more than its size says" : reason);
    return std::nullopt;
  }
  image.pixels.assign(pixels.get(), pixels.get() + static_cast<std::size_t>(image.width) *
                                                       static_cast<std::size_t>(image.height));
  return image;
}

}  // namespace adapvae::tools

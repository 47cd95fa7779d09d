#include "tools/image_grid.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <system_error>

// The one place where stb_image_write is compiled. It only makes the bytes: its own file access
// does not report a full disk.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace adapvae::tools {
namespace {

// stb_image_write counts in int and doubles its buffers; this keeps every product far from
// overflow.
constexpr std::int64_t kLargestSide = std::int64_t{1} << 20;
constexpr std::int64_t kLargestArea = std::int64_t{1} << 28;

bool fits_png(std::int64_t width, std::int64_t height) {
  return width > 0 && height > 0 && width <= kLargestSide && height <= kLargestSide &&
         width * height <= kLargestArea;
}

std::uint8_t to_grey(float value) {
  // Written so that a NaN takes the first branch.
  if (!(value > 0.0F)) return 0;
  if (value >= 1.0F) return 255;
  return static_cast<std::uint8_t>(std::lround(value * 255.0F));
}

// Draws one image with its top left corner at pixel (left, top).
void draw_image(const float* values, const ImageGridLayout& layout, std::int64_t left,
                std::int64_t top, GreyImage& picture) {
  const std::int64_t zoom = layout.zoom;
  for (std::int64_t y = 0; y < layout.image_height; ++y) {
    std::uint8_t* line = &picture.pixels[(top + y * zoom) * picture.width + left];
    for (std::int64_t x = 0; x < layout.image_width; ++x) {
      std::fill_n(line + x * zoom, zoom, to_grey(values[y * layout.image_width + x]));
    }
    for (std::int64_t copy = 1; copy < zoom; ++copy) {
      std::copy_n(line, layout.image_width * zoom, line + copy * picture.width);
    }
  }
}

void append_bytes(void* context, void* data, int size) {
  const std::uint8_t* bytes = static_cast<const std::uint8_t*>(data);
  std::vector<std::uint8_t>& destination = *static_cast<std::vector<std::uint8_t>*>(context);
  destination.insert(destination.end(), bytes, bytes + size);
}

bool write_bytes(const std::vector<std::uint8_t>& bytes, const std::string& path,
                 std::string& error) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    error = path + ": cannot be opened for writing: " + std::generic_category().message(errno);
    return false;
  }
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  int reason = errno;
  // Closing writes what is still buffered, so a full disk may show only here.
  if (std::fclose(file) != 0) {
    if (written) reason = errno;
    written = false;
  }
  if (!written) {
    error = path + ": cannot be written: " + std::generic_category().message(reason);
    // Only a file of our own making: the path may as well name a device or a pipe.
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
  }
  return written;
}

}  // namespace

std::optional<GreyImage> draw_image_grid(const ImageRows& images, const ImageGridLayout& layout,
                                         std::string& error) {
  if (images.rows < 1) {
    error = "image grid: there are no images to draw";
    return std::nullopt;
  }
  if (layout.image_width < 1 || layout.image_height < 1 || layout.columns < 1 || layout.zoom < 1 ||
      layout.gap < 0) {
    error = "image grid: width, height, columns and zoom must be at least 1 and the gap at least 0";
    return std::nullopt;
  }
  if (std::int64_t{layout.image_width} * layout.image_height != images.cols) {
    error = "image grid: rows of " + std::to_string(images.cols) + " values are not images of " +
            std::to_string(layout.image_width) + " x " + std::to_string(layout.image_height);
    return std::nullopt;
  }
  const std::int64_t lines = (images.rows - 1) / layout.columns + 1;
  const std::int64_t cell_width = std::int64_t{layout.image_width} * layout.zoom + layout.gap;
  const std::int64_t cell_height = std::int64_t{layout.image_height} * layout.zoom + layout.gap;
  // Each factor is checked by itself first, so that the products below cannot overflow.
  if (layout.columns > kLargestSide || lines > kLargestSide || cell_width > kLargestSide ||
      cell_height > kLargestSide ||
      !fits_png(layout.columns * cell_width + layout.gap, lines * cell_height + layout.gap)) {
    error = "image grid: the picture would have a side of more than 2^20 or more than 2^28 pixels";
    return std::nullopt;
  }

  GreyImage picture;
  picture.width = static_cast<int>(layout.columns * cell_width + layout.gap);
  picture.height = static_cast<int>(lines * cell_height + layout.gap);
  picture.pixels.assign(static_cast<std::size_t>(picture.width) * picture.height, layout.gap_grey);
  for (std::ptrdiff_t i = 0; i < images.rows; ++i) {
    const std::int64_t left = layout.gap + i % layout.columns * cell_width;
    const std::int64_t top = layout.gap + i / layout.columns * cell_height;
    draw_image(images.values + i * images.stride, layout, left, top, picture);
  }
  return picture;
}

bool encode_png(const GreyImage& image, std::vector<std::uint8_t>& bytes, std::string& error) {
  bytes.clear();
  if (!fits_png(image.width, image.height) ||
      image.pixels.size() != static_cast<std::size_t>(image.width) * image.height) {
    error = "the picture's size is out of bounds or does not match its pixels";
    return false;
  }
  if (stbi_write_png_to_func(append_bytes, &bytes, image.width, image.height, 1,
                             image.pixels.data(), image.width) == 0) {
    error = "the picture could not be packed (out of memory)";
    return false;
  }
  return true;
}

bool write_png(const GreyImage& image, const std::string& path, std::string& error) {
  std::vector<std::uint8_t> bytes;
  if (encode_png(image, bytes, error)) return write_bytes(bytes, path, error);
  error = path + ": not written: " + error;
  return false;
}

bool encode_image_grid(const ImageRows& images, const ImageGridLayout& layout,
                       std::vector<std::uint8_t>& bytes, std::string& error) {
  const std::optional<GreyImage> picture = draw_image_grid(images, layout, error);
  return picture && encode_png(*picture, bytes, error);
}

bool write_image_grid(const ImageRows& images, const ImageGridLayout& layout,
                      const std::string& path, std::string& error) {
  const std::optional<GreyImage> picture = draw_image_grid(images, layout, error);
  return picture && write_png(*picture, path, error);
}

}  // namespace adapvae::tools

// Shows rows of a matrix as a grid of small grey images and writes it as a PNG file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace adapvae::tools {

// Images as rows of a matrix, borrowed.
struct ImageRows {
  const float* values = nullptr;
  std::ptrdiff_t rows = 0;
  std::ptrdiff_t cols = 0;
  std::ptrdiff_t stride = cols;  // from one row to the next
};

// 8-bit grey, row-major, no padding.
struct GreyImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  // [height × width]
};

struct ImageGridLayout {
  int image_width = 0;         // values per line of one image
  int image_height = 0;        // lines of one image
  int columns = 10;            // images side by side
  int zoom = 1;                // every value becomes zoom × zoom pixels
  int gap = 1;                 // pixels between the images and around the grid; may be 0
  std::uint8_t gap_grey = 96;  // the grey of the gaps and of unused cells in the last line
};

// Draws images [n × image_width * image_height] in reading order; value 0 is black and 1 is white.
// Values outside 0..1 are clamped and a NaN is drawn black, so an untrained model can be looked at.
// Fails, with error set, on no rows, a layout that does not fit the matrix, or a picture of more
// than 2^28 pixels.
std::optional<GreyImage> draw_image_grid(const ImageRows& images, const ImageGridLayout& layout,
                                         std::string& error);

// The image as a PNG file's bytes. False, with error set: its size is out of bounds.
[[nodiscard]] bool encode_png(const GreyImage& image, std::vector<std::uint8_t>& bytes,
                              std::string& error);

// Writes image to path, over an existing file. On failure gives false, sets error to one sentence
// that starts with the path and leaves no half-written file.
[[nodiscard]] bool write_png(const GreyImage& image, const std::string& path, std::string& error);

// Drawing and encoding, or drawing and writing, in one.
[[nodiscard]] bool encode_image_grid(const ImageRows& images, const ImageGridLayout& layout,
                                     std::vector<std::uint8_t>& bytes, std::string& error);
[[nodiscard]] bool write_image_grid(const ImageRows& images, const ImageGridLayout& layout,
                                    const std::string& path, std::string& error);

}  // namespace adapvae::tools

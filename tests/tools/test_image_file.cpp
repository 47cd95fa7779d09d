// Images as grey: PNG and JPEG, whole, cut and damaged.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <stb/stb_image_write.h>

#include "tools/image_file.h"

namespace {

using adapvae::tools::GreyImage;
using adapvae::tools::parse_image;
using Bytes = std::vector<std::uint8_t>;

constexpr int kWidth = 20;
constexpr int kHeight = 12;

void append(void* to, void* data, int size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  static_cast<Bytes*>(to)->insert(static_cast<Bytes*>(to)->end(), bytes, bytes + size);
}

// Smooth, so that JPEG keeps it; the same in all channels.
int pixel(int x, int y) { return 20 + 8 * x + 5 * y; }

Bytes pixels(int channels) {
  Bytes out;
  for (int i = 0; i < kWidth * kHeight * channels; ++i) {
    const int at = i / channels;
    out.push_back(static_cast<std::uint8_t>(pixel(at % kWidth, at / kWidth)));
  }
  return out;
}

Bytes jpeg(int channels) {
  Bytes out;
  REQUIRE(stbi_write_jpg_to_func(append, &out, kWidth, kHeight, channels, pixels(channels).data(),
                                 95) != 0);
  return out;
}

Bytes png(int channels) {
  Bytes out;
  REQUIRE(stbi_write_png_to_func(append, &out, kWidth, kHeight, channels, pixels(channels).data(),
                                 kWidth * channels) != 0);
  return out;
}

int largest_error(const Bytes& bytes) {
  std::string error;
  const std::optional<GreyImage> image = parse_image(bytes, error);
  REQUIRE_MESSAGE(image.has_value(), error);
  REQUIRE(image->width == kWidth);
  REQUIRE(image->height == kHeight);
  int largest = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int got = image->pixels[static_cast<std::size_t>(y * kWidth + x)];
      largest = std::max(largest, std::abs(got - pixel(x, y)));
    }
  }
  return largest;
}

int accepted_prefixes(const Bytes& bytes) {
  int accepted = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    std::string error;
    if (parse_image(prefix, error).has_value() || error.empty()) ++accepted;
  }
  return accepted;
}

void check_refused(const Bytes& bytes, const std::string& words) {
  std::string error;
  CHECK_FALSE(parse_image(bytes, error).has_value());
  CHECK_MESSAGE(error.find(words) != std::string::npos, error);
}

}  // namespace

TEST_CASE("PNG and JPEG become grey pixels") {
  for (const int channels : {1, 2, 3, 4}) {
    CAPTURE(channels);
    CHECK(largest_error(png(channels)) == 0);
  }
  CHECK(largest_error(jpeg(1)) <= 6);
  CHECK(largest_error(jpeg(3)) <= 6);
}

TEST_CASE("a cut JPEG is refused, whatever is left of it") {
  CHECK(accepted_prefixes(jpeg(1)) == 0);
  CHECK(accepted_prefixes(jpeg(3)) == 0);
}

TEST_CASE("a damaged or too large JPEG is refused with a reason") {
  std::ifstream file(std::string(ADAPVAE_SOURCE_DIR) + "/tests/fuzz/corpus/rows/jpeg_huffman_table",
                     std::ios::binary);
  REQUIRE(file.good());
  file.seekg(2);  // what the fuzz target takes for itself
  check_refused(Bytes(std::istreambuf_iterator<char>(file), {}), "JPEG image that cannot be read");
  Bytes large = jpeg(1);
  for (std::size_t i = 0; i + 8 < large.size(); ++i) {
    if (large[i] != 0xFF || large[i + 1] != 0xC0) continue;
    for (const std::size_t k : {5U, 7U}) {  // height and width: 16,385
      large[i + k] = 0x40;
      large[i + k + 1] = 0x01;
    }
    break;
  }
  check_refused(large, "16385 × 16385 pixels are too many");
}

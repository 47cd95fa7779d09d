// The helpers of the tools: reading IDX files and drawing image grids.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include <doctest/doctest.h>
#include <stb/stb_image.h>

#include "tools/crc32.h"
#include "tools/idx_file.h"
#include "tools/image_grid.h"

namespace {

using adapvae::tools::crc32;
using adapvae::tools::draw_image_grid;
using adapvae::tools::GreyImage;
using adapvae::tools::IdxData;
using adapvae::tools::IdxElementType;
using adapvae::tools::ImageGridLayout;
using adapvae::tools::ImageRows;
using adapvae::tools::parse_idx;
using adapvae::tools::read_idx_file;
using adapvae::tools::write_image_grid;
using adapvae::tools::write_png;
using Bytes = std::vector<std::uint8_t>;

std::string example(const std::string& name) {
  return std::string(ADAPVAE_SOURCE_DIR) + "/examples/data/" + name;
}

Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

// By single bytes: gcc 12 at -O3 takes the insertion of a range for an overflow (-Warray-bounds).
void append(Bytes& bytes, const Bytes& more) {
  for (const std::uint8_t byte : more) bytes.push_back(byte);
}

void append_big_endian(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<std::uint8_t>(value >> shift));
}

void append_little_endian(Bytes& bytes, std::uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

Bytes idx_header(std::uint8_t type, const std::vector<std::uint32_t>& shape) {
  Bytes bytes = {0, 0, type, static_cast<std::uint8_t>(shape.size())};
  for (const std::uint32_t size : shape) append_big_endian(bytes, size);
  return bytes;
}

// 3 × 2 × 2 bytes that count up from 0.
Bytes small_plain_file() {
  Bytes bytes = idx_header(0x08, {3, 2, 2});
  for (std::uint8_t value = 0; value < 12; ++value) bytes.push_back(value);
  return bytes;
}

// A gzip file made by hand: the payload as one stored block, the header fields as asked.
Bytes stored_gzip(const Bytes& payload, std::uint8_t flags = 0, const Bytes& extra_fields = {}) {
  Bytes bytes = {0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 255};
  append(bytes, extra_fields);
  if ((flags & 0x02) != 0) append_little_endian(bytes, crc32(bytes.data(), bytes.size()), 2);
  bytes.push_back(1);
  const auto size = static_cast<std::uint32_t>(payload.size());
  append_little_endian(bytes, size, 2);
  append_little_endian(bytes, ~size, 2);
  append(bytes, payload);
  append_little_endian(bytes, crc32(payload.data(), payload.size()), 4);
  append_little_endian(bytes, size, 4);
  return bytes;
}

void check_refused(const Bytes& bytes, const std::string& words) {
  std::string error;
  CHECK_FALSE(parse_idx(bytes, error).has_value());
  CHECK_MESSAGE(error.find(words) != std::string::npos, error);
}

// Counts how many prefixes of a file are not refused with a reason; the whole file is not tried.
int accepted_prefixes(const Bytes& bytes) {
  int accepted = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A copy of exactly this size, so that the sanitizer sees a read beyond it.
    const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    std::string error;
    if (parse_idx(prefix, error).has_value() || error.empty()) ++accepted;
  }
  return accepted;
}

// Flips each bit of a gzip file in turn and counts the flips that give other data than the file
// itself. A flip may go unnoticed where it means nothing: the time stamp, the padding.
int wrong_results_after_flips(const Bytes& bytes) {
  std::string error;
  const std::optional<IdxData> expected = parse_idx(bytes, error);
  REQUIRE_MESSAGE(expected.has_value(), error);
  int wrong = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ 1U << bit % 8);
    const std::optional<IdxData> result = parse_idx(damaged, error);
    if (!result) continue;
    if (result->shape != expected->shape || result->values != expected->values) ++wrong;
  }
  return wrong;
}

std::array<int, 10> count_labels(const IdxData& labels) {
  std::array<int, 10> counts{};
  for (const float label : labels.values) {
    REQUIRE(label >= 0.0F);
    REQUIRE(label <= 9.0F);
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

// A folder of its own that goes away with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::random_device random;
    path_ = std::filesystem::temp_directory_path() /
            ("adapvae-test-" + std::to_string(random()) + "-" + std::to_string(random()));
    REQUIRE(std::filesystem::create_directory(path_));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the shipped MNIST rows: 500 of each digit") {
  std::string error;
  const std::optional<IdxData> images = read_idx_file(example("mnist-5000-images.idx.gz"), error);
  REQUIRE_MESSAGE(images.has_value(), error);
  CHECK(images->element_type == IdxElementType::kUnsignedByte);
  CHECK(images->shape == std::vector<std::int64_t>{5000, 28, 28});
  CHECK(images->rows() == 5000);
  CHECK(images->row_size() == 784);
  CHECK(images->values.size() == 5000U * 784U);
  float largest = 0.0F;
  for (const float value : images->values) largest = std::max(largest, value);
  CHECK(largest == 255.0F);

  const std::optional<IdxData> labels = read_idx_file(example("mnist-5000-labels.idx.gz"), error);
  REQUIRE_MESSAGE(labels.has_value(), error);
  CHECK(labels->shape == std::vector<std::int64_t>{5000});
  CHECK(labels->row_size() == 1);
  std::array<int, 10> expected{};
  expected.fill(500);
  CHECK(count_labels(*labels) == expected);
}

TEST_CASE("the shipped 8 x 8 digits") {
  std::string error;
  const std::optional<IdxData> images = read_idx_file(example("digits8x8-images.idx.gz"), error);
  REQUIRE_MESSAGE(images.has_value(), error);
  CHECK(images->shape == std::vector<std::int64_t>{1797, 8, 8});
  float largest = 0.0F;
  for (const float value : images->values) largest = std::max(largest, value);
  CHECK(largest == 16.0F);
  const std::optional<IdxData> labels = read_idx_file(example("digits8x8-labels.idx.gz"), error);
  REQUIRE_MESSAGE(labels.has_value(), error);
  CHECK(labels->shape == std::vector<std::int64_t>{1797});
  CHECK(count_labels(*labels) ==
        std::array<int, 10>{178, 182, 177, 183, 181, 182, 181, 179, 174, 180});
}

TEST_CASE("every element type and number of dimensions") {
  std::string error;
  const std::optional<IdxData> bytes = parse_idx(small_plain_file(), error);
  REQUIRE_MESSAGE(bytes.has_value(), error);
  CHECK(bytes->shape == std::vector<std::int64_t>{3, 2, 2});
  CHECK(bytes->row_size() == 4);
  for (std::size_t i = 0; i < 12; ++i) CHECK(bytes->values[i] == static_cast<float>(i));

  Bytes integers = idx_header(0x0C, {3});
  append_big_endian(integers, 7);
  append_big_endian(integers, static_cast<std::uint32_t>(-70000));
  append_big_endian(integers, 0x80000000U);
  const std::optional<IdxData> int32 = parse_idx(integers, error);
  REQUIRE_MESSAGE(int32.has_value(), error);
  CHECK(int32->element_type == IdxElementType::kInt32);
  CHECK(int32->values == std::vector<float>{7.0F, -70000.0F, -2147483648.0F});

  Bytes floats = idx_header(0x0D, {1, 2, 1, 2});
  const std::vector<float> expected = {0.5F, -1.25e-3F, std::numeric_limits<float>::infinity(),
                                       -0.0F};
  for (const float value : expected) append_big_endian(floats, std::bit_cast<std::uint32_t>(value));
  const std::optional<IdxData> float32 = parse_idx(floats, error);
  REQUIRE_MESSAGE(float32.has_value(), error);
  CHECK(float32->element_type == IdxElementType::kFloat32);
  CHECK(float32->shape == std::vector<std::int64_t>{1, 2, 1, 2});
  CHECK(float32->row_size() == 4);
  CHECK(float32->values == expected);
  CHECK(error.empty());
}

TEST_CASE("a cut file is refused, whatever is left of it") {
  CHECK(accepted_prefixes(small_plain_file()) == 0);
  CHECK(accepted_prefixes(stored_gzip(small_plain_file())) == 0);
  CHECK(accepted_prefixes(read_bytes(example("digits8x8-labels.idx.gz"))) == 0);
  CHECK(accepted_prefixes(read_bytes(example("mnist-5000-labels.idx.gz"))) == 0);
}

TEST_CASE("a flipped bit in a gzip file never gives wrong data") {
  CHECK(wrong_results_after_flips(stored_gzip(small_plain_file())) == 0);
  CHECK(wrong_results_after_flips(read_bytes(example("digits8x8-labels.idx.gz"))) == 0);
  CHECK(wrong_results_after_flips(read_bytes(example("mnist-5000-labels.idx.gz"))) == 0);
}

TEST_CASE("the gzip trailer is checked") {
  const Bytes good = stored_gzip(small_plain_file());
  Bytes wrong_crc = good;
  wrong_crc[good.size() - 8] ^= 1;
  check_refused(wrong_crc, "checksum");
  Bytes too_long = good;
  too_long[good.size() - 4] = static_cast<std::uint8_t>(too_long[good.size() - 4] + 1);
  check_refused(too_long, "its trailer says 29");
  Bytes too_short = good;
  too_short[good.size() - 4] = static_cast<std::uint8_t>(too_short[good.size() - 4] - 1);
  check_refused(too_short, "length in its trailer");
  Bytes absurd = good;
  absurd[good.size() - 1] = 0x7F;
  check_refused(absurd, "length in its trailer cannot be right");
  Bytes empty = good;
  std::fill(empty.end() - 4, empty.end(), std::uint8_t{0});
  check_refused(empty, "length in its trailer cannot be right");
}

TEST_CASE("bytes after the end are an error") {
  Bytes plain = small_plain_file();
  plain.push_back(0);
  check_refused(plain, "1 bytes too many");
  check_refused(stored_gzip(plain), "1 bytes too many");

  const Bytes good = stored_gzip(small_plain_file());
  Bytes zero_padded = good;
  zero_padded.resize(zero_padded.size() + 512);
  check_refused(zero_padded, "gzip");
  Bytes twice = good;
  append(twice, good);
  check_refused(twice, "more than one member");
}

TEST_CASE("optional fields of the gzip header") {
  std::string error;
  const Bytes payload = small_plain_file();
  const Bytes fields = {2, 0, 'x', 'y', 'n', 'a', 'm', 'e', 0, 'n', 'o', 't', 'e', 0};
  const Bytes all = stored_gzip(payload, 0x1E, fields);
  const std::optional<IdxData> data = parse_idx(all, error);
  REQUIRE_MESSAGE(data.has_value(), error);
  CHECK(data->values.size() == 12);
  CHECK(accepted_prefixes(all) == 0);
  CHECK(wrong_results_after_flips(all) == 0);

  Bytes wrong_header_crc = all;
  wrong_header_crc[4] ^= 1;
  check_refused(wrong_header_crc, "header");
  check_refused(stored_gzip(payload, 0x20), "unknown method or flags");
  // An extra field that claims to reach beyond the file, and a name without an end.
  check_refused(stored_gzip(payload, 0x04, {0xFF, 0xFF}), "truncated gzip header");
  Bytes endless_name = {0x1F, 0x8B, 8, 0x08, 0, 0, 0, 0, 0, 255};
  append(endless_name, Bytes(90, 'a'));
  check_refused(endless_name, "truncated gzip header");
}

TEST_CASE("wrong magic, element type and number of dimensions") {
  check_refused({}, "truncated");
  check_refused({'P', '5', '\n', '2', '8'}, "not an IDX file");
  for (const std::size_t position : {0, 1}) {
    Bytes bytes = small_plain_file();
    bytes[position] = 1;
    check_refused(bytes, "not an IDX file");
  }
  for (const int type : {0x00, 0x07, 0x09, 0x0B, 0x0E, 0xFF}) {
    Bytes bytes = small_plain_file();
    bytes[2] = static_cast<std::uint8_t>(type);
    check_refused(bytes, "element type");
  }
  for (const int dimensions : {0, 5, 255}) {
    Bytes bytes = small_plain_file();
    bytes[3] = static_cast<std::uint8_t>(dimensions);
    check_refused(bytes, "dimensions");
  }
}

TEST_CASE("absurd shapes") {
  const std::uint32_t largest = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint8_t type : Bytes{0x08, 0x0C, 0x0D}) {
    // The products of these wrap around 32 or 64 bits, some of them to a small number.
    for (const std::vector<std::uint32_t>& shape :
         {std::vector<std::uint32_t>{largest, largest, largest, largest},
          {1U << 31, 2},
          {1U << 31, 1U << 31, 4},
          {1U << 16, 1U << 16, 1U << 16, 1U << 16},
          {largest},
          {1, largest, 1, largest},
          {17}}) {
      Bytes bytes = idx_header(type, shape);
      bytes.resize(bytes.size() + 16);
      check_refused(bytes, "asks for more than");
      check_refused(stored_gzip(bytes), "asks for more than");
    }
    for (const std::vector<std::uint32_t>& shape :
         {std::vector<std::uint32_t>{0}, {0, largest, largest, largest}, {1, 1, 0}}) {
      Bytes bytes = idx_header(type, shape);
      bytes.resize(bytes.size() + 16);
      check_refused(bytes, "empty");
    }
  }
}

TEST_CASE("files that cannot be read") {
  std::string error;
  const TemporaryFolder folder;
  CHECK_FALSE(read_idx_file(folder.file("missing.idx"), error).has_value());
  CHECK(error.find("missing.idx: cannot be opened") != std::string::npos);
  CHECK_FALSE(read_idx_file(folder.file("."), error).has_value());
  CHECK(error.find("cannot be") != std::string::npos);
  std::ofstream(folder.file("empty.idx")).close();
  CHECK_FALSE(read_idx_file(folder.file("empty.idx"), error).has_value());
  CHECK(error.find("empty.idx: truncated") != std::string::npos);
}

TEST_CASE("an image grid has the layout that was asked for") {
  // Three images of 2 × 1 in two columns, zoom 2, gap 1: cells of 4 × 2 and one unused.
  const std::vector<float> values = {0.0F, 1.0F, 0.5F, -3.0F, 7.0F, std::nanf("")};
  ImageGridLayout layout;
  layout.image_width = 2;
  layout.image_height = 1;
  layout.columns = 2;
  layout.zoom = 2;
  layout.gap = 1;
  layout.gap_grey = 9;
  std::string error;
  const std::optional<GreyImage> picture = draw_image_grid({values.data(), 3, 2}, layout, error);
  REQUIRE_MESSAGE(picture.has_value(), error);
  CHECK(picture->width == 11);
  CHECK(picture->height == 7);
  const Bytes gap(11, 9);
  const Bytes top = {9, 0, 0, 255, 255, 9, 128, 128, 0, 0, 9};
  const Bytes bottom = {9, 255, 255, 0, 0, 9, 9, 9, 9, 9, 9};
  Bytes expected;
  for (const Bytes& line : {gap, top, top, gap, bottom, bottom, gap}) append(expected, line);
  CHECK(picture->pixels == expected);

  // A matrix that is a part of a wider one.
  layout.gap = 0;
  layout.zoom = 1;
  layout.columns = 1;
  const std::optional<GreyImage> part = draw_image_grid({values.data(), 2, 2, 4}, layout, error);
  REQUIRE_MESSAGE(part.has_value(), error);
  CHECK(part->pixels == Bytes{0, 255, 255, 0});
}

TEST_CASE("an image grid refuses what it cannot draw") {
  const std::vector<float> values(16, 0.5F);
  const ImageRows images{values.data(), 4, 4};
  ImageGridLayout good;
  good.image_width = 2;
  good.image_height = 2;
  std::string error;
  CHECK(draw_image_grid(images, good, error).has_value());
  CHECK(error.empty());
  const auto check_layout_refused = [&](auto change) {
    ImageGridLayout layout = good;
    change(layout);
    error.clear();
    CHECK_FALSE(draw_image_grid(images, layout, error).has_value());
    CHECK_FALSE(error.empty());
  };
  const int huge = std::numeric_limits<int>::max();
  check_layout_refused([](ImageGridLayout& layout) { layout.image_width = 3; });
  check_layout_refused(
      [](ImageGridLayout& layout) { layout.image_width = layout.image_height = -2; });
  check_layout_refused([](ImageGridLayout& layout) { layout.columns = 0; });
  check_layout_refused([](ImageGridLayout& layout) { layout.zoom = 0; });
  check_layout_refused([](ImageGridLayout& layout) { layout.gap = -1; });
  check_layout_refused([&](ImageGridLayout& layout) { layout.columns = huge; });
  check_layout_refused([&](ImageGridLayout& layout) { layout.zoom = huge; });
  check_layout_refused([&](ImageGridLayout& layout) { layout.gap = huge; });
  CHECK_FALSE(draw_image_grid({values.data(), 0, 4}, good, error).has_value());
}

TEST_CASE("an image grid becomes a PNG file that reads back the same") {
  std::string error;
  const std::optional<IdxData> digits = read_idx_file(example("digits8x8-images.idx.gz"), error);
  REQUIRE_MESSAGE(digits.has_value(), error);
  std::vector<float> scaled = digits->values;
  for (float& value : scaled) value /= 16.0F;
  ImageGridLayout layout;
  layout.image_width = 8;
  layout.image_height = 8;
  layout.columns = 12;
  layout.zoom = 3;
  layout.gap = 2;
  const ImageRows images{scaled.data(), 50, 64};

  const TemporaryFolder folder;
  const std::string path = folder.file("grid.png");
  REQUIRE_MESSAGE(write_image_grid(images, layout, path, error), error);
  const Bytes png = read_bytes(path);
  REQUIRE(png.size() > 33);
  // Signature, then the IHDR chunk: 12 × 26 + 2 wide, 5 × 26 + 2 high, 8 bits, grey.
  const Bytes start(png.begin(), png.begin() + 29);
  CHECK(start == Bytes{137, 'P', 'N', 'G', 13, 10, 26, 10, 0,   0, 0, 13, 'I', 'H', 'D',
                       'R', 0,   0,   1,   58, 0,  0,  0,  132, 8, 0, 0,  0,   0});

  int width = 0;
  int height = 0;
  int channels = 0;
  stbi_uc* pixels = stbi_load_from_memory(png.data(), static_cast<int>(png.size()), &width, &height,
                                          &channels, 0);
  REQUIRE(pixels != nullptr);
  CHECK(channels == 1);
  const std::optional<GreyImage> expected = draw_image_grid(images, layout, error);
  REQUIRE(expected.has_value());
  CHECK(width == expected->width);
  CHECK(height == expected->height);
  CHECK(Bytes(pixels, pixels + width * height) == expected->pixels);
  stbi_image_free(pixels);

  CHECK_FALSE(write_png(*expected, folder.file("no-such-folder/grid.png"), error));
  CHECK(error.find("cannot be opened") != std::string::npos);
  GreyImage mismatched = *expected;
  mismatched.pixels.pop_back();
  CHECK_FALSE(write_png(mismatched, folder.file("mismatched.png"), error));
  CHECK_FALSE(std::filesystem::exists(folder.file("mismatched.png")));
}

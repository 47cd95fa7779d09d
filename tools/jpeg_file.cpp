#include "tools/jpeg_file.h"

#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs it and does not include it

#include <jerror.h>
#include <jpeglib.h>

#include "tools/image_file.h"

namespace adapvae::tools {
namespace {

// A progressive image of a few bytes can ask for any number of passes over all its pixels.
constexpr int kMostScans = 100;

struct Decoder {
  jpeg_decompress_struct image = {};
  jpeg_error_mgr errors = {};
  jpeg_progress_mgr progress = {};
  std::jmp_buf failed;
  char reason[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void fail(j_common_ptr common) {
  auto* decoder = static_cast<Decoder*>(common->client_data);
  common->err->format_message(common, decoder->reason);
  std::longjmp(decoder->failed, 1);
}

// libjpeg goes on after a warning, with pixels of its own making: data were damaged or cut. Bytes
// between the parts of an image harm nothing, and cameras write some.
void refuse_warning(j_common_ptr common, int level) {
  if (level < 0 && common->err->msg_code != JWRN_EXTRANEOUS_DATA) fail(common);
}

void watch_scans(j_common_ptr common) {
  auto* decoder = static_cast<Decoder*>(common->client_data);
  if (decoder->image.input_scan_number <= kMostScans) return;
  std::snprintf(decoder->reason, sizeof decoder->reason, "more than %d scans", kMostScans);
  std::longjmp(decoder->failed, 1);
}

// libjpeg leaves this by longjmp(): nothing in it has a destructor.
bool decode(Decoder& decoder, std::span<const std::uint8_t> bytes, GreyImage& image,
            std::size_t most) {
  jpeg_decompress_struct& jpeg = decoder.image;
  jpeg.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = fail;
  decoder.errors.emit_message = refuse_warning;
  decoder.progress.progress_monitor = watch_scans;
  jpeg.client_data = &decoder;
  // NOLINTNEXTLINE: how libjpeg reports errors
  if (setjmp(decoder.failed) != 0) return false;
  jpeg_create_decompress(&jpeg);
  jpeg.progress = &decoder.progress;
  jpeg_mem_src(&jpeg, bytes.data(), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  image.width = static_cast<int>(jpeg.image_width);
  image.height = static_cast<int>(jpeg.image_height);
  if (image.width > kLargestImageSide || image.height > kLargestImageSide ||
      image.height > kLargestImageArea / image.width) {
    std::snprintf(decoder.reason, sizeof decoder.reason, "%d × %d pixels are too many", image.width,
                  image.height);
    return false;
  }
  // Coefficients of a progressive image, samples of each component, grey pixels.
  const std::uint64_t needed = std::uint64_t{jpeg.image_width} * jpeg.image_height *
                               (3 * static_cast<std::uint64_t>(jpeg.num_components) + 1);
  if (needed > most) {
    std::snprintf(decoder.reason, sizeof decoder.reason,
                  "it takes up to %llu bytes of memory, more than the limit of %llu (--max-memory)",
                  static_cast<unsigned long long>(needed), static_cast<unsigned long long>(most));
    return false;
  }
  jpeg.out_color_space = JCS_GRAYSCALE;
  jpeg_start_decompress(&jpeg);
  image.pixels.resize(static_cast<std::size_t>(image.width) *
                      static_cast<std::size_t>(image.height));
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row =
        image.pixels.data() + std::size_t{jpeg.output_scanline} * std::size_t{jpeg.output_width};
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

bool parse_jpeg(std::span<const std::uint8_t> bytes, GreyImage& image, std::string& error,
                std::size_t most) {
  Decoder decoder;
  const bool good = decode(decoder, bytes, image, most);
  jpeg_destroy_decompress(&decoder.image);
  if (!good) error = std::string("a JPEG image that cannot be read: ") + decoder.reason;
  return good;
}

}  // namespace adapvae::tools

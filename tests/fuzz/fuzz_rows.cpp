// Rows of every format from arbitrary bytes. The first byte chooses the format, the second the
// options; the rest is the file. Rows that are read are finite and as long as their source says; a
// source that fails says why.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "cli/row_source.h"
#include "fuzz_target.h"
#include "tools/crc32.h"

namespace {

using adapvae::cli::Format;
using adapvae::cli::Missing;
using adapvae::cli::Next;
using adapvae::cli::Row;
using adapvae::cli::RowSource;
using adapvae::cli::SourceOptions;

constexpr int kPacked = 7;  // behind the formats: an IDX file that the target packs itself
constexpr int kMostRows = 4096;

// A gzip file of one stored block, with a checksum that is right.
std::vector<uint8_t> packed(const uint8_t* data, size_t size) {
  std::vector<uint8_t> out = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1};
  const auto number = [&out](uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
  };
  const auto length = static_cast<uint32_t>(size);
  number(length, 2);
  number(~length, 2);
  out.insert(out.end(), data, data + size);
  number(adapvae::tools::crc32(data, size), 4);
  number(length, 4);
  return out;
}

SourceOptions options_of(uint8_t format, uint8_t bits) {
  constexpr Format kFormats[] = {Format::kSniff, Format::kCsv, Format::kTsv,   Format::kJsonl,
                                 Format::kIdx,   Format::kNpy, Format::kImage, Format::kIdx};
  SourceOptions options;
  options.format = kFormats[format % 8];
  options.missing = static_cast<Missing>(bits % 4);
  const bool text = options.format < Format::kIdx;
  if ((bits & 4) != 0 && text) options.columns = {"1", "b"};
  if ((bits & 8) != 0 && text) options.time_column = "2";
  if ((bits & 16) != 0 && text) options.labels = "c";
  if ((bits & 32) != 0) options.divide = 16.0;
  if ((bits & 64) != 0) options.tile_width = options.tile_height = 4;
  if ((bits & 128) != 0) {
    options.image_width = 5;
    options.image_height = 3;
  }
  return options;
}

void read_all(RowSource& source, bool fills) {
  const int inputs = source.shape().inputs;
  FUZZ_CHECK(inputs > 0);
  Row row;
  for (int i = 0; i < kMostRows; ++i) {
    const Next next = source.next(row);
    FUZZ_CHECK(next != Next::kError || !source.error().empty());
    if (next != Next::kRow) return;
    FUZZ_CHECK(row.values.size() == static_cast<size_t>(inputs));
    int values = 0;
    for (const float value : row.values) {
      FUZZ_CHECK(std::isfinite(value) || (fills && std::isnan(value)));
      values += std::isfinite(value) ? 1 : 0;
    }
    FUZZ_CHECK(values > 0);
    FUZZ_CHECK(!row.time || std::isfinite(*row.time));
  }
}

}  // namespace

void fuzz_rows(const uint8_t* data, size_t size) {
  if (size < 2) return;
  static const int file = memfd_create("rows", 0);
  FUZZ_CHECK(file >= 0);
  const SourceOptions options = options_of(data[0], data[1]);
  std::vector<uint8_t> bytes(data + 2, data + size);
  if (data[0] % 8 == kPacked && bytes.size() < 65536) bytes = packed(data + 2, size - 2);
  FUZZ_CHECK(ftruncate(file, 0) == 0);
  FUZZ_CHECK(pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  std::string error;
  const std::unique_ptr<RowSource> source =
      adapvae::cli::open_rows({"/proc/self/fd/" + std::to_string(file)}, options, error);
  FUZZ_CHECK(source != nullptr || !error.empty());
  if (source) read_all(*source, options.missing == adapvae::cli::Missing::kFill);
}

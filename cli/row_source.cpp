#include "cli/row_source.h"

#include <cmath>
#include <deque>
#include <filesystem>

#include "cli/array_source.h"
#include "cli/byte_stream.h"
#include "cli/image_source.h"
#include "cli/memory_limit.h"
#include "cli/text_source.h"
#include "tools/idx_file.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kLongestLabel = 1024;  // bytes; a block keeps one for each of its rows

// By as few bytes as will do: a pipe may have sent one short line and wait for the answer.
Format sniff(ByteStream& bytes) {
  const std::span<const char> first = bytes.peek(1);
  if (first.empty()) return Format::kCsv;
  switch (static_cast<unsigned char>(first[0])) {
    case 0x93:
      return Format::kNpy;
    case 0x1F:  // gzip
    case 0x00:
      return Format::kIdx;
    case 0x89:  // PNG
      return Format::kImage;
    case 0xFF:  // JPEG; or text in UTF-16
      return bytes.peek(2).size() == 2 && bytes.peek(2)[1] == '\xFE' ? Format::kCsv
                                                                     : Format::kImage;
    default:
      break;
  }
  // Text: JSON begins with a bracket, after a byte order mark and blanks.
  std::size_t skip = first[0] == '\xEF' ? 3 : 0;
  constexpr std::size_t kMostBlanks = 1 << 16;
  for (; skip < kMostBlanks; ++skip) {
    const std::span<const char> seen = bytes.peek(skip + 1);
    if (seen.size() <= skip) break;
    const char c = seen[skip];
    if (c == '{' || c == '[') return Format::kJsonl;
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') break;
  }
  return Format::kCsv;
}

bool is_text(Format format) {
  return format == Format::kCsv || format == Format::kTsv || format == Format::kJsonl;
}

// By the first bytes, before all of it is read: a device may have no end.
bool starts_right(ByteStream& bytes, Format format, std::string& error) {
  const std::span<const char> start = bytes.peek(tools::kIdxStart);
  const auto first = start.empty() ? 0U : static_cast<unsigned char>(start[0]);
  std::string why;
  if (format == Format::kIdx) {
    tools::may_be_idx({reinterpret_cast<const std::uint8_t*>(start.data()), start.size()}, why);
  } else if (format == Format::kNpy && first != 0x93) {
    why = "not an NPY file";
  } else if (format == Format::kImage && first != 0x89 && first != 0xFF) {
    why = "not a PNG or JPEG image that can be read";
  }
  if (!why.empty()) error = bytes.name() + ": " + why;
  return why.empty();
}

std::unique_ptr<RowSource> open_one(const std::string& path, SourceOptions options, bool& text,
                                    std::string& error) {
  std::error_code ignored;
  text = false;
  if (path != "-" && std::filesystem::is_directory(path, ignored)) {
    return open_image_folder(path, options, error);
  }
  auto bytes = std::make_unique<ByteStream>();
  if (!bytes->open(path, error)) return nullptr;
  if (options.format == Format::kSniff) options.format = sniff(*bytes);
  text = is_text(options.format);
  if (text) {
    auto source = std::make_unique<TextSource>();
    if (!source->open(std::move(bytes), options, error)) return nullptr;
    return source;
  }
  if (!options.columns.empty() || !options.time_column.empty()) {
    error = bytes->name() + ": columns can be chosen of text only";
    return nullptr;
  }
  if (!starts_right(*bytes, options.format, error)) return nullptr;
  return options.format == Format::kImage ? open_image(*bytes, options, error)
                                          : open_array(*bytes, options, error);
}

// One label for each row: an IDX file of whole numbers, or lines of text.
bool read_labels(const std::string& path, std::vector<std::string>& labels, std::string& error) {
  ByteStream bytes;
  if (!bytes.open(path, error)) {
    error = "--labels " + error + " (for rows that are not text it is a file)";
    return false;
  }
  if (sniff(bytes) == Format::kIdx) {
    std::vector<std::uint8_t> whole;
    std::optional<tools::IdxData> data;
    if (!starts_right(bytes, Format::kIdx, error)) return false;
    if (!bytes.rest(whole)) {
      error = bytes.error();
      return false;
    }
    data = tools::parse_idx(whole, error, memory_limit);
    if (!data || data->shape.size() != 1) {
      error = path + ": " + (data ? "labels are an IDX file of one dimension" : error);
      return false;
    }
    for (const float value : data->values) {
      if (!(std::abs(value) < 9.0e15F) || value != std::floor(value)) {
        error = path + ", label " + std::to_string(labels.size() + 1) + ": not a whole number";
        return false;
      }
      labels.push_back(std::to_string(static_cast<std::int64_t>(value)));
    }
    return true;
  }
  std::string_view line;
  std::size_t left = memory_limit;
  while (bytes.line(line)) {
    const std::size_t taken = line.size() + 2 * sizeof(std::string);  // a list grows by doubling
    if (taken > left) {
      error = too_large("--labels " + path);
      return false;
    }
    left -= taken;
    labels.emplace_back(line);
  }
  error = bytes.error();
  return error.empty();
}

// The rows of several files as one stream of rows.
class Chain : public RowSource {
 public:
  Chain(const std::vector<std::string>& paths, const SourceOptions& options)
      : paths_(paths), options_(options) {}

  bool open(std::string& error) {
    if (open_next()) return true;
    error = error_;
    return false;
  }

  const RowShape& shape() const override { return shape_; }
  std::vector<std::string> names() const override { return names_; }
  void refuse_missing() override {
    if (options_.missing == Missing::kFill) options_.missing = Missing::kRefuse;
    source_->refuse_missing();
  }
  std::int64_t skipped() const override { return skipped_ + source_->skipped(); }
  double fraction() const override {
    const double part = source_->fraction();
    if (part < 0.0) return -1.0;
    return (static_cast<double>(at_ - 1) + part) / static_cast<double>(paths_.size());
  }
  std::vector<float> first_rows() override {
    constexpr std::size_t kMostRows = 1000;
    constexpr std::size_t kMostNumbers = 4'000'000;
    std::vector<float> numbers;
    const auto inputs = static_cast<std::size_t>(shape_.inputs);
    Row row;
    while (fraction() >= 0.0 && ahead_end_ == Next::kRow && ahead_.size() < kMostRows &&
           numbers.size() + inputs <= kMostNumbers) {
      ahead_end_ = read(row);
      if (ahead_end_ != Next::kRow) break;
      numbers.insert(numbers.end(), row.values.begin(), row.values.end());
      ahead_.push_back(std::move(row));
    }
    return numbers;
  }
  Next next(Row& row) override {
    if (!ahead_.empty()) {
      row = std::move(ahead_.front());
      ahead_.pop_front();
      return Next::kRow;
    }
    return ahead_end_ == Next::kRow ? read(row) : ahead_end_;
  }

 private:
  Next read(Row& row) {
    for (;;) {
      const Next next = source_->next(row);
      if (next == Next::kRow) {
        row.number += before_;
        last_ = row.number;
        if (row.label.size() <= kLongestLabel) return give_label(row);
        error_ = paths_[at_ - 1] + ", row " + std::to_string(row.number) +
                 ": a label of more than " + std::to_string(kLongestLabel) +
                 " bytes; does --labels name the right column?";
        return Next::kError;
      }
      if (next == Next::kError) error_ = source_->error();
      if (next == Next::kError || at_ == paths_.size()) return next;
      skipped_ += source_->skipped();
      before_ = last_;
      if (stop_requested) return Next::kEnd;
      if (!open_next()) return Next::kError;
      if (source_->names() != names_) {
        error_ = paths_[at_ - 1] + ": other columns than " + paths_[0] + " has; --columns chooses";
        return Next::kError;
      }
      if (source_->shape().inputs == shape_.inputs) continue;
      error_ = paths_[at_ - 1] + ": rows of " + std::to_string(source_->shape().inputs) +
               " numbers where " + paths_[0] + " has " + std::to_string(shape_.inputs);
      return Next::kError;
    }
  }
  bool open_next() {
    bool text = false;
    std::unique_ptr<RowSource> fresh = open_one(paths_[at_], options_, text, error_);
    if (!fresh) return false;
    source_ = std::move(fresh);
    if (at_++ > 0) return true;
    shape_ = source_->shape();
    names_ = source_->names();
    has_list_ = !text && !options_.labels.empty();
    return !has_list_ || read_labels(options_.labels, list_, error_);
  }
  Next give_label(Row& row) {
    if (!has_list_) return Next::kRow;
    const auto index = static_cast<std::size_t>(row.number - 1);
    if (index < list_.size()) {
      row.label = list_[index];
      return Next::kRow;
    }
    error_ = options_.labels + ": " + std::to_string(list_.size()) +
             " labels, but there are more rows than that";
    return Next::kError;
  }

  std::vector<std::string> paths_;
  SourceOptions options_;
  std::unique_ptr<RowSource> source_;
  RowShape shape_;
  std::vector<std::string> names_;
  std::vector<std::string> list_;  // labels from a file of their own
  bool has_list_ = false;
  std::size_t at_ = 0;  // files that were opened
  std::int64_t before_ = 0;
  std::int64_t last_ = 0;
  std::int64_t skipped_ = 0;
  std::deque<Row> ahead_;        // read by first_rows(), not given yet
  Next ahead_end_ = Next::kRow;  // what came after them, if it was no row
};

}  // namespace

std::unique_ptr<RowSource> open_rows(const std::vector<std::string>& paths,
                                     const SourceOptions& options, std::string& error) {
  auto chain = std::make_unique<Chain>(paths, options);
  if (!chain->open(error)) return nullptr;
  return chain;
}

}  // namespace adapvae::cli

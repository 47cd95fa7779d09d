#include "cli/array_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "cli/arguments.h"
#include "cli/memory_limit.h"
#include "cli/npy_header.h"
#include "tools/idx_file.h"

namespace adapvae::cli {
namespace {

// Rows of a file that was read as a whole: numbers, or bytes that become numbers row by row.
class ArraySource : public RowSource {
 public:
  RowShape shape_;
  std::vector<float> values_;
  std::vector<std::uint8_t> bytes_;  // instead of values_, from begin_ on
  std::size_t begin_ = 0;
  std::array<float, 256> number_ = {};  // of a byte
  std::string name_;
  bool fill_ = false;  // NaN is a missing value

  const RowShape& shape() const override { return shape_; }
  double fraction() const override {
    return static_cast<double>(at_) / static_cast<double>(std::max<std::size_t>(1, rows()));
  }
  Next next(Row& row) override {
    if (at_ == rows()) return Next::kEnd;
    const auto inputs = static_cast<std::size_t>(shape_.inputs);
    row.number = static_cast<std::int64_t>(at_) + 1;
    row.time.reset();
    row.label.clear();
    row.values.resize(inputs);
    if (!bytes_.empty()) {
      const std::uint8_t* from = bytes_.data() + begin_ + at_++ * inputs;
      for (std::size_t j = 0; j < inputs; ++j) row.values[j] = number_[from[j]];
      return Next::kRow;
    }
    const auto missing = [](float x) { return std::isnan(x); };
    for (;;) {
      std::copy_n(values_.data() + at_++ * inputs, inputs, row.values.data());
      if (!fill_ || !std::all_of(row.values.begin(), row.values.end(), missing)) break;
      ++skipped_;
      if (at_ == rows()) return Next::kEnd;
      row.number = static_cast<std::int64_t>(at_) + 1;
    }
    const auto sound = [&](float x) { return std::isfinite(x) || (fill_ && missing(x)); };
    if (std::all_of(row.values.begin(), row.values.end(), sound)) return Next::kRow;
    error_ = name_ + ", row " + std::to_string(at_) + ": a number that is not finite";
    if (std::any_of(row.values.begin(), row.values.end(), missing)) {
      error_ += "; a new model with --set missing_values=on fills NaN";
    }
    return Next::kError;
  }
  void refuse_missing() override { fill_ = false; }
  std::int64_t skipped() const override { return skipped_; }

 private:
  std::size_t rows() const {
    return (bytes_.empty() ? values_.size() : bytes_.size() - begin_) /
           static_cast<std::size_t>(shape_.inputs);
  }
  std::size_t at_ = 0;
  std::int64_t skipped_ = 0;
};

using Shape = std::vector<std::int64_t>;

// [rows × height × width] are images; bytes become numbers in [0, 1].
bool set_shape(ArraySource& source, const Shape& shape, bool bytes, double divide,
               std::string& error) {
  std::int64_t inputs = 1;
  constexpr std::int64_t kMostInputs = std::int64_t{1} << 20;
  for (std::size_t i = 1; i < shape.size() && inputs <= kMostInputs; ++i) inputs *= shape[i];
  if (inputs < 1 || inputs > kMostInputs) {
    error = source.name_ + ": rows of more than " + std::to_string(kMostInputs) + " numbers";
    return false;
  }
  source.shape_.inputs = static_cast<int>(inputs);
  if (shape.size() == 3) {
    source.shape_.image_height = static_cast<int>(shape[1]);
    source.shape_.image_width = static_cast<int>(shape[2]);
  }
  if (divide == 0.0) divide = bytes ? 255.0 : 1.0;
  for (std::size_t i = 0; i < source.number_.size(); ++i) {
    source.number_[i] = static_cast<float>(static_cast<double>(i) / divide);
  }
  if (!std::isfinite(source.number_.back())) {
    error = source.name_ + ": divided by so small a number, bytes are not finite; see --divide";
    return false;
  }
  if (divide != 1.0) {
    for (float& value : source.values_) {
      value = static_cast<float>(static_cast<double>(value) / divide);
    }
  }
  source.shape_.unit = bytes;
  return true;
}

bool read_idx(std::vector<std::uint8_t> bytes, double divide, ArraySource& source,
              std::string& error) {
  std::optional<tools::IdxElements> data = tools::unpack_idx(std::move(bytes), error, memory_limit);
  if (!data) {
    error = source.name_ + ": " + error;
    return false;
  }
  const bool plain = data->type == tools::IdxElementType::kUnsignedByte;
  if (plain) {
    source.bytes_ = std::move(data->bytes);
    source.begin_ = data->begin;
  } else {
    source.values_ = tools::idx_values(*data);
  }
  return set_shape(source, data->shape, plain, divide, error);
}

template <typename T>
void take_numbers(const std::uint8_t* from, std::size_t count, bool swap, std::vector<float>& to) {
  to.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::uint8_t, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from + i * sizeof(T), sizeof(T));
    if (swap) std::reverse(bytes.begin(), bytes.end());
    to[i] = static_cast<float>(std::bit_cast<T>(bytes));
  }
}

using TakeNumbers = void (*)(const std::uint8_t*, std::size_t, bool, std::vector<float>&);

TakeNumbers taker_of(const NpyHeader& header) {
  switch (header.bytes) {
    case 1:
      return header.kind == 'i' ? take_numbers<std::int8_t> : take_numbers<std::uint8_t>;
    case 2:
      return header.kind == 'i' ? take_numbers<std::int16_t> : take_numbers<std::uint16_t>;
    case 4:
      if (header.kind == 'f') return take_numbers<float>;
      return header.kind == 'i' ? take_numbers<std::int32_t> : take_numbers<std::uint32_t>;
    default:
      if (header.kind == 'f') return take_numbers<double>;
      return header.kind == 'i' ? take_numbers<std::int64_t> : take_numbers<std::uint64_t>;
  }
}

bool read_npy(std::vector<std::uint8_t> bytes, double divide, ArraySource& source,
              std::string& error) {
  const auto refuse = [&](const std::string& what) {
    error = source.name_ + ": " + what;
    return false;
  };
  static_assert(std::endian::native == std::endian::little);
  NpyHeader header;
  std::string why;
  if (!read_npy_header(bytes, header, why)) return refuse(why);
  // Of shape (n,) each number is a row.
  if (header.shape.empty()) return refuse("a single number, of shape (), has no rows");
  if (header.shape.size() > 4) return refuse("an array of 1 to 4 dimensions is needed");
  if (header.fortran_order && header.shape.size() > 1) {
    return refuse("an array in Fortran order; save numpy.ascontiguousarray(it)");
  }
  if (header.count() == 0) return refuse("no rows: a size in the NPY shape is 0");
  const std::uint64_t left = bytes.size() - header.begin;
  const std::uint64_t wanted = header.count() * header.bytes;
  if (left < wanted) {
    return refuse("truncated, or a damaged shape: the NPY shape asks for " +
                  std::to_string(wanted) + " bytes of numbers where " + std::to_string(left) +
                  " are there");
  }
  if (left > wanted) {
    return refuse(std::to_string(left - wanted) +
                  " bytes too many after the last number of the NPY file");
  }
  const bool plain = header.kind == 'u' && header.bytes == 1;
  const double memory = static_cast<double>(bytes.size()) +
                        (plain ? 0.0 : static_cast<double>(header.count()) * sizeof(float));
  if (memory > static_cast<double>(memory_limit)) {
    error = too_large(source.name_ + ":", memory);
    return false;
  }
  if (plain) {
    source.bytes_ = std::move(bytes);
    source.begin_ = header.begin;
  } else {
    taker_of(header)(bytes.data() + header.begin, static_cast<std::size_t>(header.count()),
                     header.big_endian, source.values_);
  }
  return set_shape(source, header.shape, plain, divide, error);
}

}  // namespace

std::unique_ptr<RowSource> open_array(ByteStream& bytes, const SourceOptions& options,
                                      std::string& error) {
  auto source = std::make_unique<ArraySource>();
  source->name_ = bytes.name();
  std::vector<std::uint8_t> whole;
  if (!bytes.rest(whole)) {
    error = bytes.error();
    return nullptr;
  }
  source->fill_ = options.missing == Missing::kFill;
  const bool good = options.format == Format::kIdx
                        ? read_idx(std::move(whole), options.divide, *source, error)
                        : read_npy(std::move(whole), options.divide, *source, error);
  if (!good) return nullptr;
  return source;
}

}  // namespace adapvae::cli

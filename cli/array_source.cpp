#include "cli/array_source.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "cli/arguments.h"
#include "tools/idx_file.h"

namespace adapvae::cli {
namespace {

constexpr char kNumpyMagic[] = "\x93NUMPY";  // how every NPY file begins

// Rows of a file that was read as a whole: numbers, or bytes that become numbers row by row.
class ArraySource : public RowSource {
 public:
  RowShape shape_;
  std::vector<float> values_;
  std::vector<std::uint8_t> bytes_;  // instead of values_, from begin_ on
  std::size_t begin_ = 0;
  std::array<float, 256> number_ = {};  // of a byte
  std::string name_;

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
    std::copy_n(values_.data() + at_++ * inputs, inputs, row.values.data());
    const auto finite = [](float x) { return std::isfinite(x); };
    if (std::all_of(row.values.begin(), row.values.end(), finite)) return Next::kRow;
    error_ = name_ + ", row " + std::to_string(at_) + ": a number that is not finite";
    return Next::kError;
  }

 private:
  std::size_t rows() const {
    return (bytes_.empty() ? values_.size() : bytes_.size() - begin_) /
           static_cast<std::size_t>(shape_.inputs);
  }
  std::size_t at_ = 0;
};

using Shape = std::vector<std::int64_t>;

// [rows × height × width] are images; bytes become numbers in [0, 1].
bool set_shape(ArraySource& source, const Shape& shape, bool bytes, double divide,
               std::string& error) {
  std::int64_t inputs = 1;
  constexpr std::int64_t kMostInputs = std::int64_t{1} << 20;
  for (std::size_t i = 1; i < shape.size() && inputs <= kMostInputs; ++i) inputs *= shape[i];
  if (inputs < 1 || inputs > kMostInputs) {
    error = source.name_ + ": rows of " + std::to_string(inputs) + " numbers";
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
  std::optional<tools::IdxElements> data = tools::unpack_idx(std::move(bytes), error);
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
void take_numbers(const std::uint8_t* from, std::size_t count, std::vector<float>& to) {
  to.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<float>(value);
  }
}

// The header of an NPY file is a Python dictionary in text: 'descr', 'fortran_order', 'shape'.
bool read_npy(std::span<const std::uint8_t> bytes, double divide, ArraySource& source,
              std::string& error) {
  const auto refuse = [&](const std::string& what) {
    error = source.name_ + ": " + what;
    return false;
  };
  static_assert(std::endian::native == std::endian::little);
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kNumpyMagic, 6) != 0) {
    return refuse("not a whole NPY file");
  }
  const bool old = bytes[6] == 1;
  std::size_t length = bytes[8] | bytes[9] << 8;
  if (!old)
    length |= static_cast<std::size_t>(bytes[10]) << 16 | static_cast<std::size_t>(bytes[11]) << 24;
  const std::size_t begin = old ? 10 : 12;
  if (bytes[6] < 1 || bytes[6] > 3 || length > bytes.size() - begin)
    return refuse("not a whole NPY file");
  const std::string header(reinterpret_cast<const char*>(bytes.data()) + begin, length);
  const auto value_of = [&header](const char* key) {
    const std::size_t at = header.find(std::string("'") + key + "':");
    return at == std::string::npos ? std::string() : header.substr(at + std::strlen(key) + 3);
  };
  if (value_of("fortran_order").find("True") < 3) {
    return refuse("an array in Fortran order; save numpy.ascontiguousarray(it)");
  }
  Shape shape;
  const std::string text = value_of("shape");
  const std::size_t open = text.find('(');
  const std::size_t close = text.find(')');
  if (open == std::string::npos || close == std::string::npos)
    return refuse("an NPY file without a shape");
  double numbers = 1.0;
  for (std::size_t at = open + 1; at < close;) {
    const std::size_t end = std::min(text.find(',', at), close);
    std::string word = text.substr(at, end - at);
    word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
    at = end + 1;
    if (word.empty()) continue;
    const std::optional<double> size = parse_number(word);
    if (!size || !(*size >= 1.0 && *size <= 2147483647.0) || *size != std::floor(*size))
      return refuse("an NPY file with a shape that is none");
    shape.push_back(static_cast<std::int64_t>(*size));
    numbers *= *size;
  }
  if (shape.empty() || shape.size() > 4) return refuse("an array of 1 to 4 dimensions is needed");
  const std::uint8_t* data = bytes.data() + begin + length;
  const std::size_t left = bytes.size() - begin - length;
  struct Kind {
    const char* name;
    std::size_t bytes;
    void (*take)(const std::uint8_t*, std::size_t, std::vector<float>&);
  };
  constexpr Kind kKinds[] = {
      {"<f4", 4, take_numbers<float>},        {"<f8", 8, take_numbers<double>},
      {"|u1", 1, take_numbers<std::uint8_t>}, {"<i4", 4, take_numbers<std::int32_t>},
      {"<i8", 8, take_numbers<std::int64_t>}, {"<u2", 2, take_numbers<std::uint16_t>}};
  const std::string descr = value_of("descr");
  for (const Kind& kind : kKinds) {
    if (descr.find(kind.name) > 3) continue;
    if (numbers * static_cast<double>(kind.bytes) != static_cast<double>(left)) {
      return refuse("the file does not hold as many numbers as its shape says");
    }
    kind.take(data, static_cast<std::size_t>(numbers), source.values_);
    return set_shape(source, shape, kind.bytes == 1, divide, error);
  }
  return refuse("numbers of a type that is not read; save numpy.float32");
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
  const bool good = options.format == Format::kIdx
                        ? read_idx(std::move(whole), options.divide, *source, error)
                        : read_npy(whole, options.divide, *source, error);
  if (!good) return nullptr;
  return source;
}

}  // namespace adapvae::cli

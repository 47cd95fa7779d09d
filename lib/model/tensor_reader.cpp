#include "model/tensor_reader.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/crc64.h"

namespace adapvae {

namespace {

Status corrupt(Message message, std::size_t position) {
  return Status(StatusCode::kCorruptData, message, static_cast<std::ptrdiff_t>(position));
}

// One walk through the header. Every function leaves its finding in the cursor: after a mistake
// the rest does nothing.
class HeaderParser {
 public:
  HeaderParser(const char* header, std::size_t header_bytes, const std::byte* data,
               std::size_t data_bytes, std::span<TensorView> room)
      : cursor_(header, header_bytes, kHeaderLengthBytes),
        header_(header),
        header_bytes_(header_bytes),
        data_(data),
        data_bytes_(data_bytes),
        room_(room) {}

  Status parse();

  std::size_t count() const { return count_; }
  // Where the metadata's opening brace stands; 0: there are none.
  std::size_t metadata_position() const { return metadata_position_; }

 private:
  JsonString parse_key();
  JsonString string_at(std::size_t quote) const;
  void parse_metadata();
  void parse_tensor(const JsonString& name);
  void parse_type(TensorView& tensor);
  void parse_shape(TensorView& tensor);
  void parse_offsets(TensorView& tensor);
  void check_bytes(const TensorView& tensor);
  void check_layout();

  JsonCursor cursor_;
  const char* header_;
  std::size_t header_bytes_;
  const std::byte* data_;
  std::size_t data_bytes_;
  std::span<TensorView> room_;
  std::size_t count_ = 0;
  std::size_t metadata_position_ = 0;
};

Status HeaderParser::parse() {
  if (header_[0] != '{')
    return corrupt("not a snapshot: its header does not begin with a brace", kHeaderLengthBytes);
  cursor_.expect('{', "");
  if (!cursor_.take('}')) {
    do {
      const JsonString name = parse_key();
      if (!cursor_.ok()) break;
      if (name.equals(kMetadataName)) {
        if (metadata_position_ != 0) cursor_.fail("metadata: twice", cursor_.position_of(name));
        parse_metadata();
      } else {
        parse_tensor(name);
      }
    } while (cursor_.take(','));
    cursor_.expect('}', "header: a comma or a closing brace must stand here");
  }
  cursor_.expect_padding();
  check_layout();
  return cursor_.status();
}

// A key and its colon.
JsonString HeaderParser::parse_key() {
  const JsonString key = cursor_.string();
  if (key.plain_size > TensorFileLimits::kNameBytes) {
    cursor_.fail("header: a name that is too long", cursor_.position_of(key));
  }
  cursor_.expect(':', "header: a colon must stand here");
  return key;
}

// A string that has been walked over already.
JsonString HeaderParser::string_at(std::size_t quote) const {
  return JsonCursor(header_ + quote, header_bytes_ - quote, 0).string();
}

void HeaderParser::parse_metadata() {
  cursor_.expect('{', "metadata: an object must stand here");
  if (!cursor_.ok()) return;
  metadata_position_ = cursor_.position() - 1;
  if (cursor_.take('}')) return;
  // Where the keys stand and their hashes: little enough for a small stack.
  static_assert(TensorFileLimits::kHeaderBytes <= UINT32_MAX);
  std::uint32_t seen[TensorFileLimits::kMetadata];
  std::uint32_t hash[TensorFileLimits::kMetadata];
  std::size_t count = 0;
  do {
    const JsonString key = parse_key();
    (void)cursor_.string();
    if (!cursor_.ok()) return;
    const std::size_t position = cursor_.position_of(key);
    if (count == TensorFileLimits::kMetadata) {
      cursor_.fail("metadata: too many entries", position);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (hash[i] == key.hash && string_at(seen[i]).equals(key)) {
        cursor_.fail("metadata: the same key twice", position);
      }
    }
    hash[count] = key.hash;
    seen[count++] = static_cast<std::uint32_t>(position - 1);  // its opening quote
  } while (cursor_.take(','));
  cursor_.expect('}', "metadata: a comma or a closing brace must stand here");
}

void HeaderParser::parse_tensor(const JsonString& name) {
  const std::size_t position = cursor_.position_of(name);
  if (count_ == TensorFileLimits::kTensors) cursor_.fail("header: too many tensors", position);
  if (count_ == room_.size()) {
    cursor_.fail("more tensors than room", position, StatusCode::kOutOfMemory);
  }
  if (!cursor_.ok()) return;
  TensorView tensor;
  tensor.name = name;
  for (std::size_t i = 0; i < count_; ++i) {
    if (room_[i].name.equals(name)) cursor_.fail("header: the same tensor twice", position);
  }
  cursor_.expect('{', "tensor: an object must stand here");
  bool type = false;
  bool shape = false;
  bool offsets = false;
  do {
    const JsonString field = parse_key();
    if (!cursor_.ok()) return;
    const bool known_type = field.equals("dtype");
    const bool known_shape = field.equals("shape");
    const bool known_offsets = field.equals("data_offsets");
    if ((known_type && type) || (known_shape && shape) || (known_offsets && offsets)) {
      cursor_.fail("tensor: the same field twice", cursor_.position_of(field));
    } else if (known_type) {
      parse_type(tensor);
      type = true;
    } else if (known_shape) {
      parse_shape(tensor);
      shape = true;
    } else if (known_offsets) {
      parse_offsets(tensor);
      offsets = true;
    } else {
      cursor_.fail("tensor: a field that is unknown", cursor_.position_of(field));
    }
  } while (cursor_.take(','));
  cursor_.expect('}', "tensor: a comma or a closing brace must stand here");
  if (!type || !shape || !offsets) cursor_.fail("tensor: a field is missing", position);
  check_bytes(tensor);
  if (cursor_.ok()) room_[count_++] = tensor;
}

void HeaderParser::parse_type(TensorView& tensor) {
  const JsonString name = cursor_.string();
  if (!cursor_.ok()) return;
  for (int i = 0; i < kTensorTypes; ++i) {
    tensor.type = static_cast<TensorType>(i);
    if (name.equals(tensor_type_info(tensor.type).name)) return;
  }
  cursor_.fail("tensor: a dtype that is unknown", cursor_.position_of(name));
}

void HeaderParser::parse_shape(TensorView& tensor) {
  cursor_.expect('[', "tensor: a list must stand here");
  if (cursor_.take(']')) return;
  do {
    if (tensor.dims == TensorFileLimits::kDims) {
      cursor_.fail("tensor: too many dimensions", cursor_.position());
      return;
    }
    tensor.shape[tensor.dims++] = cursor_.number();
  } while (cursor_.take(','));
  cursor_.expect(']', "tensor: a comma or the end of the list must stand here");
}

void HeaderParser::parse_offsets(TensorView& tensor) {
  cursor_.expect('[', "tensor: a list must stand here");
  const std::size_t position = cursor_.position();
  const std::uint64_t begin = cursor_.number();
  cursor_.expect(',', "tensor: data_offsets must be two numbers");
  const std::uint64_t end = cursor_.number();
  cursor_.expect(']', "tensor: data_offsets must be two numbers");
  if (begin > end) cursor_.fail("tensor: its data end before they begin", position);
  if (end > data_bytes_)
    cursor_.fail("cut short: the data of a tensor are not in the file", position);
  if (!cursor_.ok()) return;
  tensor.data = data_ + begin;
  tensor.bytes = static_cast<std::size_t>(end - begin);
}

void HeaderParser::check_bytes(const TensorView& tensor) {
  std::uint64_t bytes = 0;
  if (!cursor_.ok()) return;
  if (!tensor_bytes(tensor.type, tensor.shape, tensor.dims, &bytes)) {
    cursor_.fail("tensor: its shape is too large", cursor_.position_of(tensor.name));
  } else if (bytes != tensor.bytes) {
    cursor_.fail("tensor: its shape and its data do not agree", cursor_.position_of(tensor.name));
  }
}

// The data must be covered by the tensors, each byte once. The header may name them in any order.
void HeaderParser::check_layout() {
  if (!cursor_.ok()) return;
  const auto before = [](const TensorView& a, const TensorView& b) {
    return a.data != b.data ? a.data < b.data : a.bytes < b.bytes;
  };
  const std::span<TensorView> tensors = room_.first(count_);
  // By heap: the only sort of the standard library that needs neither memory nor recursion.
  if (!std::is_sorted(tensors.begin(), tensors.end(), before)) {
    std::make_heap(tensors.begin(), tensors.end(), before);
    std::sort_heap(tensors.begin(), tensors.end(), before);
  }
  const std::byte* end = data_;
  for (const TensorView& tensor : tensors) {
    const std::size_t position = cursor_.position_of(tensor.name);
    if (tensor.data < end) cursor_.fail("tensor: its data are another's, too", position);
    if (tensor.data > end) cursor_.fail("tensor: a hole before its data", position);
    end = tensor.data + tensor.bytes;
  }
  if (cursor_.ok() && end != data_ + data_bytes_) {
    // Counted from the start of the file, as fail() adds the length's bytes.
    cursor_.fail("data: more bytes than the tensors have",
                 static_cast<std::size_t>(end - data_) +
                     static_cast<std::size_t>(reinterpret_cast<const char*>(data_) - header_));
  }
}

// Digits of the checksum: lower case alone, so that each file has one right text.
bool is_checksum(const JsonString& value) {
  if (value.size != kChecksumDigits || value.plain_size != kChecksumDigits) return false;
  return std::all_of(value.text, value.text + value.size,
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace

bool TensorView::has_shape(TensorType wanted,
                           std::initializer_list<std::uint64_t> wanted_shape) const {
  return type == wanted &&
         std::equal(shape, shape + dims, wanted_shape.begin(), wanted_shape.end());
}

void TensorView::copy_to(void* destination) const {
  copy_elements(destination, data, bytes, tensor_type_info(type).element_size);
}

Status TensorReader::open(const std::byte* bytes, std::size_t size, std::span<TensorView> room) {
  *this = TensorReader();
  ByteReader reader(bytes, size);
  const std::uint64_t header_bytes = reader.read_u64();
  if (!reader.ok()) return corrupt("not a snapshot: too short", 0);
  if (header_bytes > TensorFileLimits::kHeaderBytes)
    return corrupt("not a snapshot: its header would be too long", 0);
  if (header_bytes > reader.remaining())
    return corrupt("cut short, or not a snapshot: the header is longer than the file", 0);
  if (header_bytes == 0) return corrupt("not a snapshot: no header", 0);

  const std::size_t header_size = static_cast<std::size_t>(header_bytes);
  const char* header = reinterpret_cast<const char*>(bytes + kHeaderLengthBytes);
  const std::size_t data_start = kHeaderLengthBytes + header_size;
  HeaderParser parser(header, header_size, bytes + data_start, size - data_start, room);
  ADAPVAE_RETURN_IF_ERROR(parser.parse());

  bytes_ = bytes;
  size_ = size;
  tensors_ = room.first(parser.count());
  if (parser.metadata_position() != 0) {
    metadata_ = header + parser.metadata_position();
    metadata_size_ = header_size - parser.metadata_position();
  }
  return Status();
}

const TensorView* TensorReader::find(std::string_view name) const {
  const std::uint32_t hash = text_hash(name);
  for (const TensorView& tensor : tensors_) {
    if (tensor.name.hash == hash && tensor.name.equals(name)) return &tensor;
  }
  return nullptr;
}

// Walks through the metadata again; open() has found nothing wrong with them.
bool TensorReader::find_metadata(std::string_view key, JsonString* value) const {
  JsonString name;
  std::size_t position = 0;
  while (next_metadata(&position, &name, value)) {
    if (name.equals(key)) return true;
  }
  return false;
}

bool TensorReader::next_metadata(std::size_t* position, JsonString* key, JsonString* value) const {
  if (metadata_ == nullptr || *position >= metadata_size_) return false;
  JsonCursor cursor(metadata_ + *position, metadata_size_ - *position, 0);
  // Before the first entry stands the brace, before every other one a comma.
  cursor.expect(*position == 0 ? '{' : ',', "");
  *key = cursor.string();
  cursor.expect(':', "");
  *value = cursor.string();
  *position += cursor.position();
  return cursor.ok();
}

Status TensorReader::metadata(std::string_view key, char* out, std::size_t capacity,
                              std::size_t* length) const {
  *length = 0;
  JsonString value;
  if (!find_metadata(key, &value)) {
    return Status(StatusCode::kInvalidArgument, "metadata: no such key");
  }
  *length = value.plain_size;
  if (value.plain_size > capacity) {
    return Status(StatusCode::kOutOfMemory, "metadata: the value is longer than the memory");
  }
  value.copy(out, capacity);
  return Status();
}

Status TensorReader::verify_checksum() const {
  JsonString value;
  if (!find_metadata(kChecksumKey, &value))
    return corrupt("checksum: there is none", kHeaderLengthBytes);
  const std::byte* found = reinterpret_cast<const std::byte*>(value.text);
  const std::size_t position = static_cast<std::size_t>(found - bytes_);
  if (!is_checksum(value)) return corrupt("checksum: not 16 lower-case hex digits", position);
  char digits[kChecksumDigits];
  std::fill(std::begin(digits), std::end(digits), '0');
  std::uint64_t sum = crc64(bytes_, position);
  sum = crc64(digits, sizeof(digits), sum);
  sum = crc64(found + sizeof(digits), size_ - position - sizeof(digits), sum);
  write_checksum_digits(sum, digits);
  if (!std::equal(std::begin(digits), std::end(digits), value.text)) {
    return corrupt("checksum: wrong, the file has been changed", position);
  }
  return Status();
}

}  // namespace adapvae

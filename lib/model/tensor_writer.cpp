#include "model/tensor_writer.h"

#include <cstring>

#include "base/crc64.h"
#include "model/json_text.h"

namespace adapvae {

namespace {

constexpr std::size_t kDataAlignment = 64;
constexpr std::size_t kElementSizes[] = {8, 4, 2, 1};

Status invalid(Message message, std::size_t index) {
  return Status(StatusCode::kInvalidArgument, message, static_cast<std::ptrdiff_t>(index));
}

Status check_tensors(std::span<const TensorSource> tensors, std::uint64_t* data_bytes) {
  if (tensors.size() > TensorFileLimits::kTensors) {
    return invalid("too many tensors", TensorFileLimits::kTensors);
  }
  *data_bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorSource& t = tensors[i];
    if (!is_utf8(t.name)) return invalid("a tensor's name is not UTF-8", i);
    if (t.name.size() > TensorFileLimits::kNameBytes)
      return invalid("a tensor's name is too long", i);
    if (t.name == kMetadataName) return invalid("a tensor has the name of the metadata", i);
    if (static_cast<int>(t.type) >= kTensorTypes) return invalid("a tensor's type is unknown", i);
    if (t.dims < 0 || t.dims > TensorFileLimits::kDims) {
      return invalid("a tensor has too many dimensions", i);
    }
    std::uint64_t bytes = 0;
    if (!tensor_bytes(t.type, t.shape, t.dims, &bytes) || bytes > SIZE_MAX / 4 ||
        *data_bytes > SIZE_MAX / 4 - bytes) {
      return invalid("a tensor is too large", i);
    }
    if (bytes > 0 && t.data == nullptr && t.fill == nullptr)
      return invalid("a tensor has no data", i);
    *data_bytes += bytes;
    for (std::size_t j = 0; j < i; ++j) {
      if (tensors[j].name == t.name) return invalid("two tensors have the same name", i);
    }
  }
  return Status();
}

Status check_metadata(std::span<const MetadataEntry> metadata) {
  if (metadata.size() + 1 > TensorFileLimits::kMetadata) {
    return invalid("too many metadata entries", TensorFileLimits::kMetadata);
  }
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    const MetadataEntry& entry = metadata[i];
    if (!is_utf8(entry.key)) return invalid("a metadata key is not UTF-8", i);
    if (!is_utf8(entry.value)) return invalid("a metadata value is not UTF-8", i);
    if (entry.key.size() > TensorFileLimits::kNameBytes) {
      return invalid("a metadata key is too long", i);
    }
    if (entry.key == kChecksumKey) return invalid("the metadata key of the checksum is taken", i);
    for (std::size_t j = 0; j < i; ++j) {
      if (metadata[j].key == entry.key) return invalid("two metadata entries have the same key", i);
    }
  }
  return Status();
}

void write_text(ByteWriter& writer, std::string_view text) {
  writer.write_bytes(text.data(), text.size());
}

void write_metadata(ByteWriter& writer, std::span<const MetadataEntry> metadata,
                    std::size_t* checksum_position) {
  write_json_string(writer, kMetadataName);
  write_text(writer, ":{");
  write_json_string(writer, kChecksumKey);
  write_text(writer, ":\"");
  *checksum_position = writer.position();
  write_text(writer, "0000000000000000\"");
  for (const MetadataEntry& entry : metadata) {
    write_text(writer, ",");
    write_json_string(writer, entry.key);
    write_text(writer, ":");
    write_json_string(writer, entry.value);
  }
  write_text(writer, "}");
}

std::uint64_t bytes_of(const TensorSource& tensor) {
  std::uint64_t bytes = 0;
  (void)tensor_bytes(tensor.type, tensor.shape, tensor.dims, &bytes);  // has been checked
  return bytes;
}

void write_entry(ByteWriter& writer, const TensorSource& tensor, std::uint64_t begin) {
  write_text(writer, ",");
  write_json_string(writer, tensor.name);
  write_text(writer, ":{\"dtype\":");
  write_json_string(writer, tensor_type_info(tensor.type).name);
  write_text(writer, ",\"shape\":[");
  for (int i = 0; i < tensor.dims; ++i) {
    if (i > 0) write_text(writer, ",");
    write_json_number(writer, tensor.shape[i]);
  }
  write_text(writer, "],\"data_offsets\":[");
  write_json_number(writer, begin);
  write_text(writer, ",");
  write_json_number(writer, begin + bytes_of(tensor));
  write_text(writer, "]}");
}

// Tensors in the order of the file: long elements first, so that without holes every tensor is
// aligned to its elements. The format allows no padding between tensors.
template <typename Use>
void for_each_in_file_order(std::span<const TensorSource> tensors, Use&& use) {
  for (const std::size_t element_size : kElementSizes) {
    for (const TensorSource& tensor : tensors) {
      if (tensor_type_info(tensor.type).element_size == element_size) use(tensor);
    }
  }
}

// The header and its length; header_bytes is not known yet while counting.
void write_header(ByteWriter& writer, const TensorFileContent& content, std::size_t header_bytes,
                  std::size_t* checksum_position) {
  writer.write_u64(header_bytes);
  write_text(writer, "{");
  write_metadata(writer, content.metadata, checksum_position);
  std::uint64_t begin = 0;
  for_each_in_file_order(content.tensors, [&](const TensorSource& tensor) {
    write_entry(writer, tensor, begin);
    begin += bytes_of(tensor);
  });
  write_text(writer, "}");
  while (writer.position() % kDataAlignment != 0) writer.write_u8(' ');
}

// Checks the content; the sizes of the two parts of the file.
Status measure(const TensorFileContent& content, std::size_t* data_start, std::size_t* data_bytes) {
  std::uint64_t bytes = 0;
  ADAPVAE_RETURN_IF_ERROR(check_tensors(content.tensors, &bytes));
  ADAPVAE_RETURN_IF_ERROR(check_metadata(content.metadata));
  ByteWriter counter(nullptr, 0);
  std::size_t checksum_position = 0;
  write_header(counter, content, 0, &checksum_position);
  if (!counter.ok() || counter.position() - kHeaderLengthBytes > TensorFileLimits::kHeaderBytes) {
    return Status(StatusCode::kInvalidArgument, "names and metadata are too long for a header");
  }
  *data_start = counter.position();
  *data_bytes = static_cast<std::size_t>(bytes);
  return Status();
}

}  // namespace

Status tensor_file_size(const TensorFileContent& content, std::size_t* size) {
  std::size_t data_start = 0;
  std::size_t data_bytes = 0;
  ADAPVAE_RETURN_IF_ERROR(measure(content, &data_start, &data_bytes));
  *size = data_start + data_bytes;
  return Status();
}

Status write_tensor_file(const TensorFileContent& content, std::byte* out, std::size_t capacity,
                         std::size_t* size) {
  std::size_t data_start = 0;
  std::size_t data_bytes = 0;
  ADAPVAE_RETURN_IF_ERROR(measure(content, &data_start, &data_bytes));
  if (out == nullptr || capacity < data_start + data_bytes) {
    return Status(StatusCode::kOutOfMemory, "the memory is too small for the file");
  }
  ByteWriter writer(out, data_start);
  std::size_t checksum_position = 0;
  write_header(writer, content, data_start - kHeaderLengthBytes, &checksum_position);
  std::byte* data = out + data_start;
  bool filled = true;
  for_each_in_file_order(content.tensors, [&](const TensorSource& tensor) {
    const std::size_t bytes = static_cast<std::size_t>(bytes_of(tensor));
    if (tensor.fill != nullptr) {
      ByteWriter part(bytes > 0 ? data : nullptr, bytes);
      tensor.fill(tensor.context, part);
      filled = filled && part.ok() && part.position() == bytes;
    } else {
      copy_elements(data, tensor.data, bytes, tensor_type_info(tensor.type).element_size);
    }
    data += bytes;
  });
  if (!filled) return Status(StatusCode::kInvalidArgument, "a tensor was not filled to its size");
  char digits[kChecksumDigits];
  write_checksum_digits(crc64(out, data_start + data_bytes),
                        digits);  // the digits are '0' up to now
  std::memcpy(out + checksum_position, digits, sizeof(digits));
  *size = data_start + data_bytes;
  return Status();
}

}  // namespace adapvae

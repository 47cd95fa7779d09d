// Writes a tensor file into memory, without memory of its own:
//
//     std::size_t size = 0;
//     status = tensor_file_size(content, &size);
//     ... obtain `size` bytes ...
//     status = write_tensor_file(content, memory, size, &size);
//
// The same content gives the same bytes on every machine.
#pragma once

#include <span>

#include "base/bytes.h"
#include "model/tensor_file.h"

namespace adapvae {

struct TensorSource {
  std::string_view name;
  TensorType type = TensorType::kF32;
  int dims = 0;  // 0: a single number
  std::uint64_t shape[TensorFileLimits::kDims] = {};
  const void* data = nullptr;  // in rows, in the machine's order of bytes; any alignment
  // Instead of data, for what does not lie in memory as the file has it: is called once by
  // write_tensor_file() and writes all of the tensor's bytes.
  void (*fill)(const void* context, ByteWriter& writer) = nullptr;
  const void* context = nullptr;
};

struct MetadataEntry {
  std::string_view key;
  std::string_view value;
};

// Names, keys and values are UTF-8; names and keys differ from each other. kMetadataName is not a
// tensor's name, and kChecksumKey is written by write_tensor_file() itself.
struct TensorFileContent {
  std::span<const TensorSource> tensors;
  std::span<const MetadataEntry> metadata;
};

// kInvalidArgument if the content breaks a rule or a limit of tensor_file.h; index = the tensor or,
// as the message says, the metadata entry. The tensors' data are not looked at.
Status tensor_file_size(const TensorFileContent& content, std::size_t* size);

// The file; *size is what tensor_file_size() says. kOutOfMemory if capacity is less. On failure
// nothing has been written (unless fill() did not write what it should: kInvalidArgument, and *size
// is unchanged). Data begin at a multiple of 64 bytes and every tensor at a multiple of
// its element size: tensors of long elements come first.
Status write_tensor_file(const TensorFileContent& content, std::byte* out, std::size_t capacity,
                         std::size_t* size);

}  // namespace adapvae

// Reads a tensor file that lies in memory: mapped, in flash, anywhere and at any alignment. The
// bytes are not trusted, are never changed, and nothing outside them is read.
//
//     TensorView tensors[64];
//     TensorReader reader;
//     status = reader.open(bytes, size, tensors);
//     status = reader.verify_checksum();
//     const TensorView* weights = reader.find("vae.weights");
//     if (weights != nullptr && weights->has_shape(TensorType::kF32, {784, 128})) {
//       weights->copy_to(memory);
//     }
//
// Tensors and metadata that nobody asks for do no harm: newer files may hold more.
#pragma once

#include <initializer_list>
#include <span>

#include "model/json_text.h"
#include "model/tensor_file.h"

namespace adapvae {

struct TensorView {
  TensorType type = TensorType::kF32;
  int dims = 0;
  std::uint64_t shape[TensorFileLimits::kDims] = {};
  const std::byte* data = nullptr;  // in the file: little-endian and perhaps not aligned
  std::size_t bytes = 0;
  JsonString name;

  bool has_shape(TensorType wanted, std::initializer_list<std::uint64_t> wanted_shape) const;
  // All of it, in the machine's order of bytes; destination holds `bytes` bytes.
  void copy_to(void* destination) const;
};

class TensorReader {
 public:
  // Checks everything but the checksum; every rule of docs/format.md is looked at before anything
  // is believed. The bytes and `room`, which gets the tensors in the order of their data, must stay
  // alive while the reader is used.
  //
  // kCorruptData: index = the byte of the file where it goes wrong. kOutOfMemory: more tensors than
  // room; index = the byte where the first of them stands. After a failure the reader is empty.
  Status open(const std::byte* bytes, std::size_t size, std::span<TensorView> room);

  // kCorruptData unless the file has the checksum of write_tensor_file() and it is right. Reads the
  // whole file.
  Status verify_checksum() const;

  std::span<const TensorView> tensors() const { return tensors_; }
  // Null if there is no such tensor.
  const TensorView* find(std::string_view name) const;

  // The value of a metadata entry, unescaped, without a terminating zero. kInvalidArgument if there
  // is no such key; kOutOfMemory, and nothing written, if the value is longer than capacity.
  // *length is how long it is; 0 if there is no such key.
  Status metadata(std::string_view key, char* out, std::size_t capacity, std::size_t* length) const;
  // The metadata entries, one a call, in the order of the file; *position is 0 at first. False:
  // there are no more.
  bool next_metadata(std::size_t* position, JsonString* key, JsonString* value) const;

 private:
  bool find_metadata(std::string_view key, JsonString* value) const;

  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::span<const TensorView> tensors_;
  const char* metadata_ = nullptr;  // from its opening brace to the end of the header
  std::size_t metadata_size_ = 0;
};

}  // namespace adapvae

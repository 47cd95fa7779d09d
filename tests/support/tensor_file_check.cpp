#include "support/tensor_file_check.h"

#include <cstring>
#include <string>
#include <vector>

#include "model/tensor_reader.h"

namespace adapvae::testing {

namespace {

std::string plain(const JsonString& text) {
  std::string out(text.plain_size, '?');
  out.resize(text.copy(out.data(), out.size()));
  return out;
}

bool status_is_sound(const Status& status, std::size_t size) {
  const bool known =
      status.code() == StatusCode::kCorruptData || status.code() == StatusCode::kOutOfMemory;
  return known && status.message()[0] != '\0' && status.index() >= 0 &&
         static_cast<std::size_t>(status.index()) <= size;
}

// Names are found again, data lie one after the other and are covered to the end of the file.
bool tensors_are_sound(const TensorReader& reader, const std::byte* end) {
  const std::byte* next = nullptr;
  std::vector<std::byte> copy;
  for (const TensorView& tensor : reader.tensors()) {
    if (reader.find(plain(tensor.name)) != &tensor) return false;
    if (next != nullptr && tensor.data != next) return false;
    next = tensor.data + tensor.bytes;
    copy.resize(tensor.bytes + 1);
    tensor.copy_to(copy.data());
  }
  return next == nullptr || next == end;
}

bool metadata_is_sound(const TensorReader& reader) {
  for (const std::string_view key : {kChecksumKey, std::string_view("k"), std::string_view()}) {
    std::size_t length = 0;
    const Status status = reader.metadata(key, nullptr, 0, &length);
    if (status.code() != StatusCode::kOutOfMemory) continue;
    std::string value(length, '?');
    if (!reader.metadata(key, value.data(), length, &length).ok()) return false;
    if (length != value.size() || !is_utf8(value)) return false;
  }
  return true;
}

}  // namespace

FileVerdict check_one(std::span<const std::byte> bytes) {
  // A block of exactly this size: a sanitizer sees a single byte read beyond.
  const std::vector<std::byte> exact(bytes.begin(), bytes.end());
  TensorView room[16];
  TensorReader reader;
  const Status status = reader.open(exact.data(), exact.size(), room);
  if (!status.ok()) {
    const bool empty = reader.tensors().empty() && !reader.verify_checksum().ok();
    return empty && status_is_sound(status, exact.size()) ? FileVerdict::kRefused
                                                          : FileVerdict::kBroken;
  }
  if (!tensors_are_sound(reader, exact.data() + exact.size()) || !metadata_is_sound(reader)) {
    return FileVerdict::kBroken;
  }
  return reader.verify_checksum().ok() ? FileVerdict::kGood : FileVerdict::kBadChecksum;
}

}  // namespace adapvae::testing

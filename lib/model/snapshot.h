// What stands in the metadata of a model's snapshot (docs/format.md), and what a caller can know of
// one before a model is there:
//
//   SnapshotInfo info;
//   status = inspect_snapshot(bytes, size, &info);
//   ... place a Model of info.configuration, if it asks for no more memory than it may have ...
//   status = model.load(bytes, size);
//
// The tensors are model_snapshot.cpp's.
#pragma once

#include "base/arena.h"
#include "model/configuration.h"
#include "model/tensor_reader.h"
#include "model/tensor_writer.h"

namespace adapvae {

inline constexpr std::uint64_t kSnapshotFormat = 2;

struct SnapshotInfo {
  std::uint64_t format = kSnapshotFormat;
  char version[32] = {};  // of the library that wrote it; empty: not known
  Configuration configuration;
  std::uint64_t streams = 0;
  std::uint64_t rows = 0;          // learnt
  std::uint64_t clusters = 0;      // in format 1 that of the components
  std::uint64_t components = 0;    // of the mixture
  std::uint64_t rows_pending = 0;  // pushed, for the next stream
  std::uint64_t events = 0;        // number of the last
  std::uint64_t pretrained = 0;    // 1: on rows given apart
  double time = 0.0;               // of the last stream
  double time_pending = 0.0;       // of the last push
};

// Of the whole file: container, checksum, metadata; what the tensors hold is looked at by
// Model::load() alone. kCorruptData if something is wrong, kUnavailable if it is of a newer version
// that this one cannot read. On failure *info is unchanged.
Status inspect_snapshot(const std::byte* bytes, std::size_t size, SnapshotInfo* info);

// The same of a file that is open and has the right checksum.
Status read_snapshot_info(const TensorReader& reader, SnapshotInfo* info);

// What is wrong with a snapshot.
inline Status corrupt(Message message) { return {StatusCode::kCorruptData, message}; }

// Memory for putting a snapshot together and for looking into one.
class SnapshotScratch {
 public:
  static constexpr std::size_t kMostTensors = 64;

  // writes: not only to look into one.
  void place(Arena& arena, bool writes);

  // The metadata of a snapshot; valid until the next call.
  std::span<const MetadataEntry> metadata(const SnapshotInfo& info) const;
  TensorSource* sources() const { return sources_; }  // [kMostTensors]
  std::span<TensorView> views() const { return {views_, kMostTensors}; }
  // Tensors' names, which must outlive their use: [kMostTensors × kNameBytes].
  static constexpr std::size_t kNameBytes = 24;
  char* names() const { return names_; }

 private:
  char* text_ = nullptr;
  std::size_t text_size_ = 0;
  MetadataEntry* metadata_ = nullptr;
  TensorSource* sources_ = nullptr;
  TensorView* views_ = nullptr;
  char* names_ = nullptr;
};

}  // namespace adapvae

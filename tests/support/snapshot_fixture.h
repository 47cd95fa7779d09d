// A model whose snapshot is small, and snapshots taken apart.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/model_fixture.h"
#include "support/tensor_file_fixture.h"

namespace adapvae::testing {

// Small enough to be loaded many times.
inline Configuration tiny_model() {
  Configuration config = small_model();
  config.aliases = 16;
  config.max_clusters = 8;
  config.hidden1 = 12;
  config.pretrain_epochs = 20;
  config.adapt_epochs = 4;
  config.joint_epochs = 3;
  return config;
}

inline Rows stream(int number, Index rows = 200) {
  return kinds(number, number + 1, rows, static_cast<std::uint32_t>(number));
}

// A snapshot taken apart, to be changed and put together with the right checksum.
struct Taken {
  explicit Taken(const Bytes& bytes_in) : bytes(bytes_in), room(64) {
    TensorReader reader;
    REQUIRE(reader.open(bytes.data(), bytes.size(), room).ok());
    for (const TensorView& view : reader.tensors()) {
      Part part;
      part.name = plain(view.name);
      part.type = view.type;
      part.shape.assign(view.shape, view.shape + view.dims);
      part.data.assign(view.data, view.data + view.bytes);
      parts.push_back(part);
    }
    JsonString key;
    JsonString value;
    std::size_t position = 0;
    while (reader.next_metadata(&position, &key, &value)) {
      if (!key.equals(kChecksumKey)) metadata.emplace_back(plain(key), plain(value));
    }
  }
  struct Part {
    std::string name;
    TensorType type;
    std::vector<std::uint64_t> shape;
    Bytes data;
  };
  static std::string plain(const JsonString& text) {
    std::string out(text.plain_size, '?');
    text.copy(out.data(), out.size());
    return out;
  }
  Part& part(std::string_view name) {
    for (Part& each : parts) {
      if (each.name == name) return each;
    }
    FAIL("no such tensor");
    return parts[0];
  }
  void set(std::string_view key, std::string text) {
    for (auto& [name, value] : metadata) {
      if (name == key) return value.swap(text);
    }
    FAIL("no such key");
  }
  void drop(std::string_view key) {
    std::erase_if(metadata, [key](const auto& entry) { return entry.first == key; });
    std::erase_if(parts, [key](const Part& each) { return each.name == key; });
  }
  Bytes write() const {
    std::vector<TensorSource> sources;
    for (const Part& each : parts) {
      TensorSource source{
          each.name, each.type, static_cast<int>(each.shape.size()), {}, each.data.data()};
      std::copy(each.shape.begin(), each.shape.end(), source.shape);
      sources.push_back(source);
    }
    std::vector<MetadataEntry> entries;
    for (const auto& [key, text] : metadata) entries.push_back({key, text});
    return Sample::write(sources, entries);
  }

  Bytes bytes;
  std::vector<TensorView> room;
  std::vector<Part> parts;
  std::vector<std::pair<std::string, std::string>> metadata;
};

}  // namespace adapvae::testing

// Edits of a snapshot that keep its container and checksum right. Input: a seed, edits, then calls
// on whatever was accepted.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "fuzz_target.h"
#include "model/tensor_reader.h"
#include "model/tensor_writer.h"
#include "seeds.h"
#include "subject.h"

namespace {

using adapvae::JsonString;
using adapvae::MetadataEntry;
using adapvae::TensorReader;
using adapvae::TensorSource;
using adapvae::TensorType;
using adapvae::TensorView;
using fuzz::Bytes;
using fuzz::Program;

// A snapshot taken apart.
struct Parts {
  struct Tensor {
    std::string name;
    TensorType type;
    std::vector<uint64_t> shape;
    Bytes data;
  };
  std::vector<Tensor> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;

  Tensor* find(std::string_view name) {
    for (Tensor& each : tensors) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
};

std::string plain(const JsonString& text) {
  std::string out(text.plain_size, '?');
  text.copy(out.data(), out.size());
  return out;
}

Parts take_apart(const Bytes& bytes) {
  Parts out;
  TensorView room[64];
  TensorReader reader;
  FUZZ_CHECK(
      reader.open(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), room).ok());
  for (const TensorView& view : reader.tensors()) {
    const auto* data = reinterpret_cast<const unsigned char*>(view.data);
    out.tensors.push_back({plain(view.name),
                           view.type,
                           {view.shape, view.shape + view.dims},
                           {data, data + view.bytes}});
  }
  JsonString key;
  JsonString value;
  size_t position = 0;
  while (reader.next_metadata(&position, &key, &value)) {
    if (!key.equals(adapvae::kChecksumKey)) out.metadata.emplace_back(plain(key), plain(value));
  }
  return out;
}

// Empty if the edits made something that is no container, such as a name twice.
Bytes put_together(const Parts& parts) {
  std::vector<TensorSource> sources;
  for (const Parts::Tensor& each : parts.tensors) {
    uint64_t bytes = 0;
    if (each.shape.size() > 4 ||
        !adapvae::tensor_bytes(each.type, each.shape.data(), static_cast<int>(each.shape.size()),
                               &bytes) ||
        bytes != each.data.size()) {
      return {};
    }
    TensorSource source{
        each.name, each.type, static_cast<int>(each.shape.size()), {}, each.data.data()};
    std::copy(each.shape.begin(), each.shape.end(), source.shape);
    sources.push_back(source);
  }
  std::vector<MetadataEntry> entries;
  for (const auto& [key, text] : parts.metadata) entries.push_back({key, text});
  size_t size = 0;
  if (!adapvae::tensor_file_size({sources, entries}, &size).ok()) return {};
  Bytes out(size);
  FUZZ_CHECK(adapvae::write_tensor_file({sources, entries},
                                        reinterpret_cast<std::byte*>(out.data()), size, &size)
                 .ok());
  return out;
}

// ---- edits --------------------------------------------------------------------------------------

std::string number_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void edit_metadata(Program& program, Parts& parts) {
  if (parts.metadata.empty()) return;
  const size_t at = program.place(parts.metadata.size());
  std::string& text = parts.metadata[at].second;
  switch (program.below(8)) {
    case 0:
      text = number_text(fuzz::extreme(program));
      break;
    case 1:
      text = std::to_string(fuzz::extreme_count(program));
      break;
    case 2:
      text = std::to_string(std::strtoull(text.c_str(), nullptr, 10) + 1);
      break;
    case 3:
      text = std::to_string(std::strtoull(text.c_str(), nullptr, 10) - 1);
      break;
    case 4:
      text = parts.metadata[program.place(parts.metadata.size())].second;
      break;
    case 5:
      text = std::string(program.byte(), static_cast<char>('0' + program.below(10)));
      break;
    case 6:
      parts.metadata.erase(parts.metadata.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    default:
      text = std::to_string(program.byte());
  }
}

// A field of the configuration, mostly to what it may be.
void edit_configuration(Program& program, Parts& parts) {
  adapvae_field field = {};
  field.struct_size = sizeof field;
  int32_t fields = 0;
  while (adapvae_config_field(fields, &field) == ADAPVAE_OK) ++fields;
  FUZZ_CHECK(adapvae_config_field(program.below(fields), &field) == ADAPVAE_OK);
  const double values[] = {field.lowest,
                           field.highest,
                           field.preset,
                           field.lowest + 1.0,
                           static_cast<double>(program.byte()),
                           fuzz::extreme(program)};
  double value = values[program.below(6)];
  if (field.type != 1) value = std::floor(value);
  for (auto& [key, text] : parts.metadata) {
    if (key == std::string("config.") + field.name) text = number_text(value);
  }
}

template <typename Number>
void change(Program& program, unsigned char* at, Number extreme) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  switch (program.below(6)) {
    case 0:
      number = static_cast<Number>(number + 1);
      break;
    case 1:
      number = static_cast<Number>(number - 1);
      break;
    case 2:
      number = static_cast<Number>(number * 2);
      break;
    default:
      number = extreme;
  }
  std::memcpy(at, &number, sizeof number);
}

void edit_number(Program& program, Bytes& data) {
  const int32_t kind = program.below(7);
  const size_t width = kind == 0 ? 1 : kind == 1 || kind == 3 ? 4 : 8;
  if (data.size() < width) return;
  unsigned char* at = data.data() + program.place(data.size() - width + 1);
  switch (kind) {
    case 0:
      *at = program.byte();
      break;
    case 1:
      change<uint32_t>(program, at, static_cast<uint32_t>(fuzz::extreme_count(program)));
      break;
    case 2:
      change<uint64_t>(program, at, fuzz::extreme_count(program));
      break;
    case 3: {
      const float number = fuzz::extreme_float(program);
      std::memcpy(at, &number, 4);
      break;
    }
    case 4:
    case 5: {
      double number;
      std::memcpy(&number, at, 8);
      const double factors[] = {-1.0, 0.5, 2.0, 1e3, 1e-3, 1e10, 1e-10, 1e100};
      const int32_t how = program.below(16);
      number = how < 8 ? number * factors[how] : fuzz::extreme(program);
      std::memcpy(at, &number, 8);
      break;
    }
    default: {
      // Another place's bytes.
      const unsigned char* from = data.data() + program.place(data.size() - width + 1);
      unsigned char copied[8];
      std::memcpy(copied, from, width);
      std::memcpy(at, copied, width);
    }
  }
}

// Doubles at a distance, so that edits of several numbers agree.
void edit_run(Program& program, Bytes& data) {
  const size_t width = program.below(2) == 0 ? 8 : 4;
  if (data.size() < width) return;
  size_t at = program.place(data.size() - width + 1);
  const size_t step = width * (1 + static_cast<size_t>(program.below(8)));
  const double number = fuzz::extreme(program);
  const float small = fuzz::to_float(number);
  for (int32_t left = 1 + program.below(32); left > 0 && at + width <= data.size(); --left) {
    std::memcpy(data.data() + at, width == 8 ? static_cast<const void*>(&number) : &small, width);
    at += step;
  }
}

void edit_tensor(Program& program, Parts& parts) {
  if (parts.tensors.empty()) return;
  const size_t which = program.place(parts.tensors.size());
  Parts::Tensor& tensor = parts.tensors[which];
  switch (program.below(10)) {
    case 0:
      if (!tensor.shape.empty()) tensor.shape[0] = fuzz::extreme_count(program);
      break;
    case 1: {
      // A row or byte more, or less.
      if (tensor.shape.empty() || tensor.shape[0] == 0 || tensor.data.empty()) break;
      const auto row = static_cast<size_t>(tensor.data.size() / tensor.shape[0]);
      const bool more = program.below(2) == 0;
      tensor.shape[0] += more ? 1 : ~uint64_t{0};
      tensor.data.resize(tensor.data.size() + (more ? row : ~row + 1));
      break;
    }
    case 2:
      std::swap(tensor, parts.tensors[program.place(parts.tensors.size())]);
      break;
    case 3:
      std::swap(tensor.name, parts.tensors[program.place(parts.tensors.size())].name);
      break;
    case 4:
      tensor.type = static_cast<TensorType>(program.below(adapvae::kTensorTypes));
      break;
    case 5:
      std::reverse(tensor.shape.begin(), tensor.shape.end());
      break;
    case 6:
      parts.tensors.erase(parts.tensors.begin() + static_cast<std::ptrdiff_t>(which));
      break;
    case 7:
      parts.tensors.push_back(tensor);
      parts.tensors.back().name += "2";
      break;
    case 8:
      tensor.data.swap(parts.tensors[program.place(parts.tensors.size())].data);
      break;
    default:
      tensor.data.resize(program.word() % 4096);
      if (tensor.shape.size() == 1) tensor.shape[0] = tensor.data.size();
  }
}

void edit(Program& program, Parts& parts) {
  const uint8_t what = program.byte();
  Parts::Tensor* state = parts.find("clusters.state");
  if (what < 96) {
    if (state != nullptr) edit_number(program, state->data);
  } else if (what < 128) {
    if (state != nullptr) edit_run(program, state->data);
  } else if (what < 160) {
    if (!parts.tensors.empty()) {
      edit_number(program, parts.tensors[program.place(parts.tensors.size())].data);
    }
  } else if (what < 176) {
    if (!parts.tensors.empty()) {
      edit_run(program, parts.tensors[program.place(parts.tensors.size())].data);
    }
  } else if (what < 200) {
    const char* names[] = {"novelty.usual", "novelty.columns", "input.scale"};
    Parts::Tensor* tensor = parts.find(names[program.below(3)]);
    if (tensor != nullptr) edit_number(program, tensor->data);
  } else if (what < 220) {
    edit_configuration(program, parts);
  } else if (what < 240) {
    edit_metadata(program, parts);
  } else {
    edit_tensor(program, parts);
  }
}

// ---- what is accepted ---------------------------------------------------------------------------

struct Seed {
  adapvae_model* model;
  Bytes bytes;
  Parts parts;
};

const std::array<Seed, fuzz::kSeeds>& seeds() {
  static const std::array<Seed, fuzz::kSeeds> all = [] {
    std::array<Seed, fuzz::kSeeds> made;
    for (int i = 0; i < fuzz::kSeeds; ++i) {
      Seed& seed = made[static_cast<size_t>(i)];
      seed.model = fuzz::make_seed(i, nullptr);
      seed.bytes = fuzz::saved(seed.model);
      seed.parts = take_apart(seed.bytes);
      FUZZ_CHECK(put_together(seed.parts) == seed.bytes);
    }
    return made;
  }();
  return all;
}

void use(adapvae_model* model, Program program) {
  fuzz::Subject subject(model);
  for (int i = 0; i < 12 && !program.done(); ++i) (void)subject.call(program);
  subject.call_all();
}

}  // namespace

void fuzz_snapshot(const uint8_t* data, size_t size) {
  if (size > 1024) return;
  Program program(data, size);
  const Seed& seed = seeds()[static_cast<size_t>(program.below(fuzz::kSeeds))];
  Parts parts = seed.parts;
  for (int32_t left = 1 + program.below(6); left > 0; --left) edit(program, parts);
  const Bytes bytes = put_together(parts);
  if (bytes.empty()) return;

  // Into the model that it came from.
  const adapvae_status loaded = adapvae_load(seed.model, bytes.data(), bytes.size());
  const Bytes now = fuzz::saved(seed.model);
  FUZZ_CHECK(loaded == ADAPVAE_OK || now == seed.bytes);

  // As a model of its own.
  fuzz::Memory memory;
  const adapvae_options options = memory.options();
  adapvae_config config = {};
  config.struct_size = sizeof config;
  adapvae_error error = {};
  error.struct_size = sizeof error;
  const adapvae_status seen = adapvae_inspect(bytes.data(), bytes.size(), nullptr, &config, &error);
  FUZZ_CHECK(seen == ADAPVAE_OK || error.message[0] != '\0');
  adapvae_model* model = nullptr;
  const adapvae_status made =
      adapvae_create_from(bytes.data(), bytes.size(), &options, &model, &error);
  FUZZ_CHECK((made == ADAPVAE_OK) == (model != nullptr));
  FUZZ_CHECK(made == ADAPVAE_OK || error.message[0] != '\0');
  FUZZ_CHECK(loaded != ADAPVAE_OK || made == ADAPVAE_OK);
  if (model != nullptr) {
    size_t required = 0;
    FUZZ_CHECK(seen == ADAPVAE_OK);
    FUZZ_CHECK(adapvae_memory_required(&config, &options, &required, nullptr) == ADAPVAE_OK);
    FUZZ_CHECK(memory.asked == required);
    if (loaded == ADAPVAE_OK) FUZZ_CHECK(fuzz::saved(model) == now);
    ++fuzz_accepted;
    use(model, program);
    FUZZ_CHECK(memory.asked == required);
    adapvae_destroy(model);
    FUZZ_CHECK(memory.asked == 0);
  }
  if (loaded == ADAPVAE_OK) {
    FUZZ_CHECK(adapvae_load(seed.model, seed.bytes.data(), seed.bytes.size()) == ADAPVAE_OK);
    FUZZ_CHECK(fuzz::saved(seed.model) == seed.bytes);
  }
}

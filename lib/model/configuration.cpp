#include "model/configuration.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "model/configuration_parts.h"

namespace adapvae {
namespace {

// As Status::index().
std::ptrdiff_t number_of(const FieldInfo& field) { return &field - configuration_fields().data(); }

Status refuse(std::string_view field, Message message) {
  return {StatusCode::kInvalidArgument, message, number_of(*find_field(field))};
}

constexpr std::size_t kLongestName = 32;

// Insertions, deletions and exchanged letters from one to the other; of long names the beginning.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = {a.data(), std::min(a.size(), kLongestName)};
  b = {b.data(), std::min(b.size(), kLongestName)};
  std::size_t row[kLongestName + 1];
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t exchange = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, exchange});
    }
  }
  return row[b.size()];
}

Status unknown_name(std::string_view name) {
  const auto fields = configuration_fields();
  const auto nearest = std::min_element(
      fields.begin(), fields.end(), [name](const FieldInfo& a, const FieldInfo& b) {
        return edit_distance(name, a.name) < edit_distance(name, b.name);
      });
  // More than half of the letters wrong is no likeness.
  if (2 * edit_distance(name, nearest->name) > name.size()) {
    return {StatusCode::kInvalidArgument, "no field has this name, or one like it"};
  }
  return {StatusCode::kInvalidArgument, nearest->nearest};
}

bool takes(const FieldInfo& field, double value) {
  return value >= field.lowest && value <= field.highest &&
         (field.type == FieldType::kReal || value == std::floor(value));
}

Status check_rows(const Configuration& c) {
  if (c.batch > c.block_rows) return refuse("batch", "batch must not be more than block_rows");
  if (c.batch > c.pass_rows) return refuse("batch", "batch must not be more than pass_rows");
  if (c.replay_rows > 0 && c.replay_rows < replay_wanted(c, c.block_rows)) {
    return refuse("replay_rows", "replay_rows must be 0 or at least replay_ratio × block_rows");
  }
  // Rows of a stream are counted exactly up to 2²¹ of them; pending_rows may be half of that.
  if (c.replay_in_fit != 0 && replay_room(c) > 1048576 - c.block_rows) {
    return refuse(
        "replay_in_fit",
        "with replay_in_fit, block_rows and replay rows must be at most 1048576 together");
  }
  if (c.effective_rows > 0.0 && c.effective_rows < 1.0) {
    return refuse("effective_rows", "effective_rows must be 0 or at least 1");
  }
  if (c.half_life_rows > 0.0 && c.half_life_rows < 1.0) {
    return refuse("half_life_rows", "half_life_rows must be 0 or at least 1");
  }
  return {};
}

Status check_network(const Configuration& c) {
  const std::int32_t hidden[] = {c.hidden1, c.hidden2, c.hidden3, c.hidden4};
  for (int i = 1; i < 4; ++i) {
    if (hidden[i] > 0 && hidden[i - 1] == 0) {
      return refuse("hidden1", "hidden layers must be given from hidden1 on, without a hole");
    }
  }
  if (c.scale_inputs != 0 && static_cast<Likelihood>(c.likelihood) == Likelihood::kBernoulli) {
    return refuse("scale_inputs",
                  "scale_inputs is for a gaussian likelihood: bernoulli takes numbers in [0, 1]");
  }
  return check_config(network_config(c));
}

Status check_images(const Configuration& c) {
  if (c.image_width > 0 || c.image_height > 0) {
    // Each factor is bounded: the product fits.
    const std::int64_t numbers = std::int64_t{c.image_width} * c.image_height * c.image_channels;
    if (numbers != c.inputs) {
      return refuse("image_width",
                    "image_width × image_height × image_channels must equal inputs, or width and "
                    "height be 0");
    }
  } else if (c.augment != 0) {
    return refuse("augment", "augment is for images: it needs image_width and image_height");
  }
  return check_augmentation(augmentation_settings(c), c.inputs);
}

}  // namespace

const FieldInfo* find_field(std::string_view name) {
  for (const FieldInfo& field : configuration_fields()) {
    if (name == field.name) return &field;
  }
  return nullptr;
}

double get_field(const Configuration& config, const FieldInfo& field) {
  const auto* at = reinterpret_cast<const std::byte*>(&config) + field.offset;
  const auto read = [at]<typename T>(T value) {
    std::memcpy(&value, at, sizeof(value));
    return static_cast<double>(value);
  };
  if (field.type == FieldType::kReal) return read(double{});
  return field.size == 8 ? read(std::uint64_t{}) : read(std::int32_t{});
}

Status set_field(Configuration& config, const FieldInfo& field, double value) {
  if (!takes(field, value)) {
    return {StatusCode::kInvalidArgument, field.refusal, number_of(field)};
  }
  auto* at = reinterpret_cast<std::byte*>(&config) + field.offset;
  const auto write = [at](auto number) { std::memcpy(at, &number, sizeof(number)); };
  if (field.type == FieldType::kReal) {
    write(value);
  } else if (field.size == 8) {
    write(static_cast<std::uint64_t>(value));
  } else {
    write(static_cast<std::int32_t>(value));
  }
  return {};
}

Status set_field(Configuration& config, std::string_view name, double value) {
  const FieldInfo* field = find_field(name);
  return field == nullptr ? unknown_name(name) : set_field(config, *field, value);
}

Status check_configuration(const Configuration& config) {
  for (const FieldInfo& field : configuration_fields()) {
    if (!takes(field, get_field(config, field))) {
      return {StatusCode::kInvalidArgument, field.refusal, number_of(field)};
    }
  }
  // A seed beyond the bound may round to it.
  if (config.seed > 9007199254740992U) return refuse("seed", find_field("seed")->refusal);
  ADAPVAE_RETURN_IF_ERROR(check_rows(config));
  ADAPVAE_RETURN_IF_ERROR(check_images(config));
  return check_network(config);
}

}  // namespace adapvae

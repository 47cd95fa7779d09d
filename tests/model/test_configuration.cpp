// The configuration's table: it covers the struct, text reads back, bounds hold, presets are valid.
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "base/arena.h"
#include "model/configuration_parts.h"

using namespace adapvae;

namespace {

// Stands for a value of any member.
struct Any {
  template <typename T>
  operator T() const;
};

template <std::size_t... kIndex>
constexpr bool has_members(std::index_sequence<kIndex...>) {
  return requires { Configuration{(static_cast<void>(kIndex), Any{})...}; };
}

// Members of Configuration, counted by the compiler: as many as an initialiser may have.
template <std::size_t kCount = 1>
constexpr std::size_t member_count() {
  if constexpr (!has_members(std::make_index_sequence<kCount + 1>())) {
    return kCount;
  } else {
    return member_count<kCount + 1>();
  }
}

Configuration valid() {
  Configuration config;
  config.inputs = 20;
  return config;
}

bool same(const Configuration& a, const Configuration& b) {
  for (const FieldInfo& field : configuration_fields()) {
    if (get_field(a, field) != get_field(b, field)) return false;
  }
  return true;
}

std::string text_of(const Configuration& config, const FieldInfo& field) {
  char buffer[kFieldTextBytes];
  return std::string(format_field(config, field, buffer));
}

// Index and message of a refusal by check_configuration.
std::string blamed(const Configuration& config) {
  const Status status = check_configuration(config);
  if (status.ok() || status.index() < 0) return status.message();
  return configuration_fields()[static_cast<std::size_t>(status.index())].name;
}

}  // namespace

TEST_CASE("the table has a row for every member, in their order") {
  CHECK(configuration_fields().size() == member_count());
  std::uint32_t end = 0;
  std::set<std::string> names;
  std::set<std::string> groups;
  const char* group = "";
  for (const FieldInfo& field : configuration_fields()) {
    CAPTURE(field.name);
    CHECK(field.offset >= end);
    end = field.offset + field.size;
    if (field.type == FieldType::kReal) {
      CHECK(field.size == 8);
    } else if (std::strcmp(field.name, "seed") != 0) {
      CHECK(field.size == 4);
    }
    CHECK(names.insert(field.name).second);
    CHECK(find_field(field.name) == &field);
    CHECK(field.lowest < field.highest);
    const std::string sentence = field.sentence;
    CHECK(sentence.size() > 5);
    CHECK(sentence.find('|') == std::string::npos);
    if (std::strcmp(field.group, group) != 0) {
      group = field.group;
      CHECK(groups.insert(group).second);  // a group's fields stand together
    }
  }
  CHECK(end <= sizeof(Configuration));
}

TEST_CASE("defaults are in bounds, all but the number of inputs, which must be given") {
  CHECK(blamed(Configuration{}) == "inputs");
  CHECK(check_configuration(valid()).ok());
}

TEST_CASE("rows of a stream and replay rows beside them stay countable") {
  Configuration config = valid();
  config.block_rows = 500000;
  config.replay_ratio = 1.0;
  REQUIRE(set_field_text(config, "replay_in_fit", "fit").ok());
  CHECK(check_configuration(config).ok());
  config.block_rows = 600000;
  CHECK(blamed(config) == "replay_in_fit");
  config.replay_in_fit = 0;
  CHECK(check_configuration(config).ok());
}

TEST_CASE("text reads back to the same value, for every field") {
  for (const FieldInfo& field : configuration_fields()) {
    CAPTURE(field.name);
    const double default_value = get_field(valid(), field);
    for (const double value : {default_value, field.lowest, field.highest,
                               field.lowest + (field.highest - field.lowest) / 3.0}) {
      const double whole = field.type == FieldType::kReal ? value : std::floor(value);
      Configuration from = valid();
      REQUIRE(set_field(from, field.name, whole).ok());
      CHECK(get_field(from, field) == whole);
      const std::string text = text_of(from, field);
      CAPTURE(text);
      Configuration to = valid();
      REQUIRE(set_field_text(to, field.name, text).ok());
      CHECK(same(from, to));
      CHECK(text_of(to, field) == text);
    }
  }
  char small[3];
  CHECK(format_field(valid(), *find_field("aliases"), small).empty());
  CHECK(small[0] == '\0');
  CHECK(format_field(valid(), *find_field("activation"), small).empty());
  CHECK(format_field(valid(), *find_field("activation"), {}).empty());
}

TEST_CASE("words for switches and choices, numbers for all") {
  Configuration config = valid();
  REQUIRE(set_field_text(config, "divisions", "off").ok());
  CHECK(config.divisions == 0);
  REQUIRE(set_field_text(config, "divisions", "true").ok());
  CHECK(config.divisions == 1);
  REQUIRE(set_field_text(config, "divisions", "0").ok());
  CHECK(config.divisions == 0);
  REQUIRE(set_field_text(config, "drift", "shift").ok());
  CHECK(drift_correction(config) == DriftCorrection::kShift);
  REQUIRE(set_field_text(config, "drift", "2").ok());
  CHECK(drift_correction(config) == DriftCorrection::kAffine);
  REQUIRE(set_field_text(config, "learning_rate", "2.5e-4").ok());
  CHECK(config.learning_rate == 2.5e-4);
  REQUIRE(set_field_text(config, "activation", "softplus").ok());
  CHECK(network_config(config).activation == Activation::kSoftplus);
  REQUIRE(set_field_text(config, "likelihood", "gaussian_learned").ok());
  CHECK(network_config(config).likelihood.kind == Likelihood::kGaussianLearned);
  REQUIRE(set_field_text(config, "covariance", "diagonal").ok());
  CHECK(learner_config(config).shape.covariance == FactorShape::kDiagonal);
  REQUIRE(set_field_text(config, "prior_mode", "scaled").ok());
  CHECK(learner_settings(config).prior.mode == PriorMode::kScaled);
  REQUIRE(set_field_text(config, "initialisation", "xavier").ok());
  CHECK(network_config(config).initialisation == Initialisation::kXavier);
}

TEST_CASE("what a field does not take is refused by name, and nothing changes") {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInfinity = std::numeric_limits<double>::infinity();
  for (const FieldInfo& field : configuration_fields()) {
    CAPTURE(field.name);
    Configuration config = valid();
    for (const double value : {std::nextafter(field.lowest, -kInfinity),
                               std::nextafter(field.highest, kInfinity), kNan, kInfinity}) {
      const Status status = set_field(config, field.name, value);
      CHECK(status.code() == StatusCode::kInvalidArgument);
      CHECK(&configuration_fields()[static_cast<std::size_t>(status.index())] == &field);
      CHECK(std::string(status.message()).find(field.name) == 0);
    }
    if (field.type != FieldType::kReal) CHECK_FALSE(set_field(config, field.name, 0.5).ok());
    for (const char* text : {"", " ", "x", "1x", "1 ", "+1", "nan", "inf", "-1", "1e999", "of"}) {
      CAPTURE(text);
      CHECK_FALSE(set_field_text(config, field.name, text).ok());
    }
    CHECK(same(config, valid()));
  }
  Configuration config = valid();
  CHECK(std::string(set_field_text(config, "latent", "2000").message()) ==
        "latent must be a whole number from 1 to 1024");
  CHECK(std::string(set_field_text(config, "drift", "linear").message()) ==
        "drift must be one of: off shift affine two_stage");
  CHECK(std::string(set_field_text(config, "augment", "2").message()) ==
        "augment must be on or off");
}

TEST_CASE("an unknown name brings the nearest one up") {
  const std::pair<const char*, const char*> cases[] = {{"latnet", "latent"},
                                                       {"max_cluster", "max_clusters"},
                                                       {"hidden5", "hidden1"},
                                                       {"learning-rate", "learning_rate"}};
  Configuration config = valid();
  for (const auto& one : cases) {
    const std::string message = set_field_text(config, one.first, "3").message();
    CHECK(message ==
          std::string("no configuration field has that name; the nearest is ") + one.second);
    CHECK(set_field(config, one.first, 3.0).message() == message);
  }
  CHECK_FALSE(set_field_text(config, "", "3").ok());
  CHECK_FALSE(set_field_text(config, std::string(1000, 'x'), "3").ok());
  CHECK(same(config, valid()));
}

TEST_CASE("fields must fit each other") {
  const auto with = [](std::initializer_list<PresetValue> values) {
    Configuration config = valid();
    for (const PresetValue& v : values) REQUIRE(set_field(config, v.field, v.value).ok());
    return blamed(config);
  };
  CHECK(with({{"batch", 501}}) == "batch");
  CHECK(with({{"block_rows", 99}}) == "batch");
  CHECK(with({{"hidden1", 0}}) == "hidden1");
  CHECK(with({{"hidden4", 5}}) == "hidden1");
  CHECK(with({{"hidden1", 0}, {"hidden2", 0}}).empty());
  CHECK(with({{"augment", 1}}) == "augment");
  CHECK(with({{"image_width", 5}}) == "image_width");
  CHECK(with({{"image_width", 5}, {"image_height", 4}}).empty());
  CHECK(with({{"image_width", 5}, {"image_height", 4}, {"image_channels", 2}}) == "image_width");
  CHECK(with({{"image_width", 65536}, {"image_height", 65536}, {"image_channels", 1024}}) ==
        "image_width");
  CHECK(with({{"image_width", 5}, {"image_height", 4}, {"augment", 1}}).empty());
  CHECK(with({{"replay_rows", 1999}}) == "replay_rows");
  CHECK(with({{"replay_rows", 2000}}).empty());
  CHECK(with({{"effective_rows", 0.5}}) == "effective_rows");
  CHECK(with({{"half_life_rows", 0.5}}) == "half_life_rows");
  Configuration config = valid();
  config.seed = (std::uint64_t{1} << 53) + 1;
  CHECK(blamed(config) == "seed");
}

TEST_CASE("presets are valid and leave nothing of what was before") {
  for (const Preset& preset : configuration_presets()) {
    CAPTURE(preset.name);
    Configuration config;
    config.sensitivity = 7.0;
    REQUIRE(apply_preset(config, preset.name).ok());
    CHECK(blamed(config).empty());
    CHECK(config.sensitivity == 1.0);
    std::set<std::string> names;
    for (const PresetValue& value : preset.values) {
      CAPTURE(value.field);
      const FieldInfo* field = find_field(value.field);
      REQUIRE(field != nullptr);
      CHECK(get_field(config, *field) == value.value);
      CHECK(get_field(Configuration{}, *field) != value.value);  // else it says nothing
      CHECK(names.insert(value.field).second);
    }
    Configuration other;
    const Status status = apply_preset(other, "none");
    CHECK(std::string(status.message()).find(preset.name) != std::string::npos);
    CHECK(same(other, Configuration{}));
  }
}

TEST_CASE("what the edge preset's model must keep fits 200 kB") {
  Configuration config;
  REQUIRE(apply_preset(config, "edge").ok());
  Vae vae;
  planned_bytes([&](Arena& arena) { vae.place(arena, network_config(config)); });
  const std::size_t bytes = static_cast<std::size_t>(vae.parameter_count()) * sizeof(float) +
                            ClusterLearner::most_bytes(learner_config(config));
  MESSAGE("bytes: ", bytes);
  CHECK(bytes <= 200'000);
}

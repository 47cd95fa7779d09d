// The configuration: structs of other sizes, presets, names, and settings of a model.
#include "support/capi_fixture.h"

using namespace adapvae_test;

namespace {

adapvae_error make_error() {
  adapvae_error error = {};
  error.struct_size = sizeof error;
  return error;
}

std::string get(const adapvae_config& config, const char* name) {
  char text[64];
  size_t needed = 0;
  REQUIRE(adapvae_config_get(&config, name, text, sizeof text, &needed) == ADAPVAE_OK);
  CHECK(needed == std::strlen(text) + 1);
  return text;
}

}  // namespace

TEST_CASE("every field can be asked for, set by name and read back") {
  adapvae_config config;
  REQUIRE(adapvae_config_init(&config, sizeof config) == ADAPVAE_OK);
  CHECK(config.struct_size == sizeof config);
  CHECK(config.latent == 10);
  int32_t count = 0;
  for (adapvae_field field = {};; ++count) {
    field.struct_size = sizeof field;
    if (adapvae_config_field(count, &field) != ADAPVAE_OK) break;
    CAPTURE(field.name);
    CHECK(std::strlen(field.sentence) > 10);
    CHECK(field.lowest < field.highest);
    const std::string text = get(config, field.name);
    adapvae_error error = make_error();
    if (field.preset < field.lowest) continue;  // inputs has no default
    CHECK(adapvae_config_set(&config, field.name, text.c_str(), &error) == ADAPVAE_OK);
    CHECK(error.status == ADAPVAE_OK);
    CHECK(get(config, field.name) == text);
    CHECK(adapvae_config_set(&config, field.name, "1e300", &error) == ADAPVAE_INVALID_ARGUMENT);
    CHECK(error.index == count);
    CHECK(std::string(error.message).find(field.name) != std::string::npos);
    CHECK(get(config, field.name) == text);
  }
  CHECK(count > 60);
  adapvae_config fresh;
  REQUIRE(adapvae_config_init(&fresh, sizeof fresh) == ADAPVAE_OK);
  CHECK(std::memcmp(&fresh, &config, sizeof config) == 0);
}

TEST_CASE("names set the fields that have these names") {
  adapvae_config config = small_config();
  REQUIRE(adapvae_config_set(&config, "inputs", "33", nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_config_set(&config, "likelihood", "gaussian_learned", nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_config_set(&config, "seed", "9007199254740991", nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_config_set(&config, "augment", "on", nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_config_set(&config, "false_alarm_rate", "0.25", nullptr) == ADAPVAE_OK);
  REQUIRE(adapvae_config_set(&config, "sensitivity", "2.5", nullptr) == ADAPVAE_OK);
  CHECK(config.inputs == 33);
  CHECK(config.likelihood == 2);
  CHECK(config.seed == 9007199254740991U);
  CHECK(config.augment == 1);
  CHECK(config.false_alarm_rate == 0.25);
  CHECK(config.sensitivity == 2.5);
  adapvae_error error = make_error();
  CHECK(adapvae_config_set(&config, "max_cluster", "3", &error) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(std::string(error.message).find("max_clusters") != std::string::npos);
  for (const char* bad : {"", "x", "1 2", "nan", "-1"}) {
    CHECK(adapvae_config_set(&config, "inputs", bad, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  }
  CHECK(config.inputs == 33);
  CHECK(adapvae_config_set(&config, nullptr, "1", &error) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_config_set(&config, "inputs", nullptr, &error) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_config_set(nullptr, "inputs", "1", &error) == ADAPVAE_INVALID_ARGUMENT);
  size_t needed = 0;
  CHECK(adapvae_config_get(&config, "inputs", nullptr, 0, &needed) == ADAPVAE_OK);
  CHECK(needed == 3);
  char text[2] = {'#', '#'};
  CHECK(adapvae_config_get(&config, "inputs", text, 2, &needed) == ADAPVAE_OUT_OF_MEMORY);
  CHECK(text[0] == '#');
  CHECK(adapvae_config_get(&config, "nobody", text, 2, &needed) == ADAPVAE_INVALID_ARGUMENT);
}

TEST_CASE("presets make models") {
  int32_t count = 0;
  for (; const char* name = adapvae_preset_name(count); ++count) {
    CAPTURE(name);
    adapvae_config config = small_config();
    REQUIRE(adapvae_config_preset(&config, name, nullptr) == ADAPVAE_OK);
    CHECK(config.hidden2 > 0);
    size_t bytes = 0;
    CHECK(adapvae_memory_required(&config, nullptr, &bytes, nullptr) == ADAPVAE_OK);
    CHECK(bytes > 100000);
  }
  CHECK(count >= 4);
  CHECK(adapvae_preset_name(-1) == nullptr);
  adapvae_config config = small_config();
  const adapvae_config before = config;
  CHECK(adapvae_config_preset(&config, "nobody", nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_config_preset(&config, nullptr, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(std::memcmp(&before, &config, sizeof config) == 0);
}

TEST_CASE("settings follow from rows") {
  const auto suited = [](const std::vector<float>& rows, int32_t inputs, int32_t side = 0) {
    adapvae_config config;
    REQUIRE(adapvae_config_init(&config, sizeof config) == ADAPVAE_OK);
    config.image_width = config.image_height = side;
    const char* why = nullptr;
    const auto count = static_cast<int32_t>(rows.size()) / inputs;
    REQUIRE(adapvae_config_for_rows(&config, rows.data(), count, inputs, 0, &why, nullptr) ==
            ADAPVAE_OK);
    REQUIRE(why != nullptr);
    CHECK(config.inputs == inputs);
    size_t bytes = 0;
    CHECK(adapvae_memory_required(&config, nullptr, &bytes, nullptr) == ADAPVAE_OK);
    return config;
  };
  // Eight columns, all of one direction or each of its own; values in [0, 1] are measurements, too.
  std::vector<float> one(8 * 200);
  std::vector<float> many(8 * 200);
  uint32_t state = 1;
  const auto uniform = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) / 16777216.0F;
  };
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (i % 8 == 0) one[i] = uniform();
    if (i % 8 != 0) one[i] = 0.5F * one[i - 1];
    many[i] = uniform();
  }
  CHECK(suited(one, 8).latent == 4);
  CHECK(suited(many, 8).latent == 8);
  CHECK(suited(many, 8).likelihood == 1);
  CHECK(suited(many, 8).scale_inputs == 1);
  CHECK(suited({}, 8).latent == 4);  // nothing is known but the number of columns
  CHECK(suited({}, 1).latent == 2);
  CHECK(suited(std::vector<float>(300, 7.0F), 3).latent == 3);  // constant
  CHECK(suited(many, 100).hidden2 > 0);
  CHECK(suited(many, 40).latent == 10);  // 40 rows
  std::vector<float> long_one(40 * 900);
  for (float& x : long_one) x = uniform();
  CHECK(suited(long_one, 40).latent == 15);  // as many as 900 rows bear
  // Drawings: images, and rows of mostly zeros and ones.
  CHECK(suited(many, 64, 8).likelihood == 0);
  CHECK(suited(many, 64, 8).augment == 1);
  std::vector<float> drawn = many;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    drawn[i] = i % 3 == 0 ? drawn[i] : drawn[i] > 0.5F ? 1.0F : 0.0F;
  CHECK(suited(drawn, 64).likelihood == 0);
  CHECK(suited(drawn, 64).augment == 0);
  CHECK(suited(drawn, 16).likelihood == 1);  // a few columns of flags are a table

  // What is refused changes nothing.
  adapvae_config config = small_config();
  const adapvae_config before = config;
  std::vector<float> bad = many;
  bad[13] = std::numeric_limits<float>::infinity();
  adapvae_error error = {};
  error.struct_size = sizeof error;
  CHECK(adapvae_config_for_rows(&config, bad.data(), 200, 8, 0, nullptr, &error) ==
        ADAPVAE_NON_FINITE);
  CHECK(error.index == 1);
  CHECK(adapvae_config_for_rows(&config, nullptr, 200, 8, 0, nullptr, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_config_for_rows(&config, many.data(), 200, 0, 0, nullptr, nullptr) ==
        ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_config_for_rows(&config, many.data(), 100, 8, 4, nullptr, nullptr) ==
        ADAPVAE_SHAPE_MISMATCH);
  CHECK(std::memcmp(&before, &config, sizeof config) == 0);
}

TEST_CASE("callers that know an older or a newer struct are served") {
  // An older one: it ends before `seed`, and what lies behind it is not touched.
  constexpr uint32_t kOld = offsetof(adapvae_config, seed);
  union {
    adapvae_config config;
    unsigned char bytes[sizeof(adapvae_config)];
  } old;
  std::memset(old.bytes, 0xAB, sizeof old);
  REQUIRE(adapvae_config_init(&old.config, kOld) == ADAPVAE_OK);
  for (size_t i = kOld; i < sizeof old; ++i) REQUIRE(old.bytes[i] == 0xAB);
  old.config.inputs = kInputs;
  old.config.block_rows = 300;
  adapvae_model* model = nullptr;
  REQUIRE(adapvae_create(&old.config, nullptr, &model, nullptr) == ADAPVAE_OK);
  const Handle handle(model);
  adapvae_config whole = {};
  whole.struct_size = sizeof whole;
  REQUIRE(adapvae_get_config(model, &whole) == ADAPVAE_OK);
  CHECK(whole.block_rows == 300);
  CHECK(whole.seed == 1);
  CHECK(whole.sensitivity == 1.0);
  REQUIRE(adapvae_config_set(&old.config, "latent", "7", nullptr) == ADAPVAE_OK);
  CHECK(adapvae_config_set(&old.config, "seed", "7", nullptr) == ADAPVAE_UNAVAILABLE);
  for (size_t i = kOld; i < sizeof old; ++i) REQUIRE(old.bytes[i] == 0xAB);

  // A newer one: fields that this library does not know must be zero.
  struct Newer {
    adapvae_config config;
    double later;
  } newer;
  REQUIRE(adapvae_config_init(&newer.config, sizeof newer) == ADAPVAE_OK);
  CHECK(newer.later == 0.0);
  newer.config.inputs = kInputs;
  size_t bytes = 0;
  CHECK(adapvae_memory_required(&newer.config, nullptr, &bytes, nullptr) == ADAPVAE_OK);
  newer.later = 1.0;
  CHECK(adapvae_memory_required(&newer.config, nullptr, &bytes, nullptr) == ADAPVAE_UNAVAILABLE);

  for (const uint32_t size : {0U, 4U, 1U << 20U}) {
    CHECK(adapvae_config_init(&whole, size) == ADAPVAE_INVALID_ARGUMENT);
    adapvae_config bad = small_config();
    bad.struct_size = size;
    CHECK(adapvae_memory_required(&bad, nullptr, &bytes, nullptr) == ADAPVAE_INVALID_ARGUMENT);
  }
  adapvae_config reserved = small_config();
  reserved.reserved = 1;
  CHECK(adapvae_memory_required(&reserved, nullptr, &bytes, nullptr) == ADAPVAE_INVALID_ARGUMENT);
}

TEST_CASE("live fields of a model change, frozen ones do not") {
  Handle handle;
  const auto before = handle.save();
  CHECK(adapvae_set(handle.model, "inputs", "3") == ADAPVAE_INVALID_ARGUMENT);
  CHECK(handle.message().find("fixed when the model is created") != std::string::npos);
  CHECK(adapvae_set(handle.model, "joint_epochs", "x") == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_set(handle.model, nullptr, "x") == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_set_sensitivity(handle.model, -1.0) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(adapvae_set_sensitivity(handle.model, std::nan("")) == ADAPVAE_INVALID_ARGUMENT);
  CHECK(handle.save() == before);
  CHECK(adapvae_set(handle.model, "joint_epochs", "3") == ADAPVAE_OK);
  CHECK(adapvae_set_sensitivity(handle.model, 2.0) == ADAPVAE_OK);
  adapvae_config config = {};
  config.struct_size = sizeof config;
  REQUIRE(adapvae_get_config(handle.model, &config) == ADAPVAE_OK);
  CHECK(config.joint_epochs == 3);
  CHECK(config.sensitivity == 2.0);
  config.struct_size = 0;
  CHECK(adapvae_get_config(handle.model, &config) == ADAPVAE_INVALID_ARGUMENT);
}

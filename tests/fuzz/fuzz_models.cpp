// A configuration of any values, kept small: created or refused. What is created learns some
// blocks, and is saved, loaded and compared.
#include <algorithm>
#include <cstring>
#include <string>

#include "fuzz_target.h"
#include "subject.h"

namespace {

using fuzz::Program;

// Fields that decide how large a model is: their values stay small.
int32_t small_value(const char* name, Program& program) {
  struct Small {
    const char* name;
    int32_t most;
  };
  constexpr Small kSmall[] = {
      {"inputs", 24},      {"latent", 6},         {"hidden1", 16},         {"hidden2", 8},
      {"hidden3", 8},      {"hidden4", 8},        {"max_clusters", 12},    {"block_rows", 48},
      {"pass_rows", 64},   {"replay_rows", 200},  {"pending_rows", 24},    {"aliases", 16},
      {"undo_steps", 4},   {"events", 32},        {"batch", 64},           {"image_width", 5},
      {"image_height", 5}, {"image_channels", 3}, {"pretrain_epochs", 4},  {"adapt_epochs", 4},
      {"joint_epochs", 4}, {"sweeps", 4},         {"neighbour_epochs", 3}, {"laps", 6},
      {"rounds", 4},
  };
  for (const Small& each : kSmall) {
    if (std::strcmp(name, each.name) == 0) return program.below(each.most + 1);
  }
  return -1;
}

double value_of(const adapvae_field& field, Program& program) {
  const int32_t small = small_value(field.name, program);
  if (small >= 0) return small;
  const uint8_t how = program.byte();
  double value = field.preset;
  if (how < 64) {
    value = field.lowest;
  } else if (how < 128) {
    value = field.highest;
  } else if (how < 224) {
    // Between the bounds, on a scale of factors if they are far apart.
    const double part = program.byte() / 255.0;
    const double low = std::max(field.lowest, std::min(1e-3, field.highest * 1e-3));
    value = low * std::pow(field.highest / low, part);
  } else if (how < 250) {
    value = program.byte();
  } else {
    value = fuzz::extreme(program);
  }
  return field.type == 1 ? value : std::floor(value);
}

}  // namespace

void fuzz_models(const uint8_t* data, size_t size) {
  if (size > 1024) return;
  Program program(data, size);
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = 1 + program.below(8);
  config.latent = 1 + program.below(3);
  config.hidden1 = program.below(6);
  config.hidden2 = 0;
  config.max_clusters = 1 + program.below(6);
  config.block_rows = 30;
  config.pass_rows = config.batch = 12;
  config.aliases = 4;
  config.events = 16;
  config.pretrain_epochs = config.adapt_epochs = config.joint_epochs = 2;
  config.neighbour_epochs = 1;
  const uint8_t kind = program.byte();
  config.likelihood = kind % 3;
  config.scale_inputs = config.likelihood == 0 ? 0 : kind / 3 % 2;
  for (int32_t left = program.below(16); left > 0; --left) {
    adapvae_field field = {};
    field.struct_size = sizeof field;
    int32_t fields = 0;
    while (adapvae_config_field(fields, &field) == ADAPVAE_OK) ++fields;
    FUZZ_CHECK(adapvae_config_field(program.below(fields), &field) == ADAPVAE_OK);
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", value_of(field, program));
    (void)adapvae_config_set(&config, field.name, text, nullptr);
  }
  fuzz::Memory memory;
  const adapvae_options options = memory.options();
  adapvae_error error = {};
  error.struct_size = sizeof error;
  size_t required = 0;
  const adapvae_status planned = adapvae_memory_required(&config, &options, &required, &error);
  FUZZ_CHECK(planned == ADAPVAE_OK || error.message[0] != '\0');
  adapvae_model* model = nullptr;
  const adapvae_status made = adapvae_create(&config, &options, &model, &error);
  FUZZ_CHECK((made == ADAPVAE_OK) == (model != nullptr));
  FUZZ_CHECK(made == ADAPVAE_OK || error.message[0] != '\0');
  if (model == nullptr) return;
  FUZZ_CHECK(planned == ADAPVAE_OK && memory.asked == required);
  {
    fuzz::Subject subject(model);
    const int32_t blocks = 1 + program.below(3);
    bool learnt = false;
    for (int32_t b = 0; b < blocks; ++b) {
      // Learns with the twin; rows of any kind.
      const uint8_t style = program.byte();
      const uint8_t learn[] = {2,
                               static_cast<uint8_t>(program.byte() | 16U),
                               style,
                               program.byte(),
                               program.byte(),
                               program.byte()};
      Program each(learn, sizeof learn);
      if (subject.call(each) == ADAPVAE_OK) learnt = true;
    }
    fuzz_accepted += learnt ? 1 : 0;
    for (int i = 0; i < 8 && !program.done(); ++i) (void)subject.call(program);
    subject.call_all();
  }
  FUZZ_CHECK(memory.asked == required);
  adapvae_destroy(model);
  FUZZ_CHECK(memory.asked == 0);
}

// Everything that a user may set, in one flat struct of numbers, with a table that says what each
// means, its bounds, and whether an existing model takes another value.
//
//   Configuration config;                          // defaults; inputs must be given
//   apply_preset(config, "edge");                  // or from a preset
//   set_field_text(config, "max_clusters", "30");  // by name, from text; or just config.latent = 4
//   check_configuration(config);                   // before Model::place()
//
// A refusal names the field and what it takes; Status::index() is the field's number in the table.
// docs/configuration.md is printed from the table. What the stages get of it:
// configuration_parts.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace adapvae {

// Choices and switches are numbers, too: the table has their names. Sentences are in the table.
struct Configuration {
  // ---- network ----
  std::int32_t inputs = 0;  // must be given
  std::int32_t latent = 10;
  std::int32_t hidden1 = 256;
  std::int32_t hidden2 = 128;
  std::int32_t hidden3 = 0;
  std::int32_t hidden4 = 0;
  std::int32_t scale_inputs = 0;    // off
  std::int32_t missing_values = 0;  // off
  std::int32_t likelihood = 0;      // bernoulli
  double likelihood_variance = 1.0;
  std::int32_t activation = 1;      // relu
  std::int32_t initialisation = 0;  // he

  // ---- room: what memory is needed for ----
  std::int32_t covariance = 0;  // full
  std::int32_t max_clusters = 40;
  std::int32_t block_rows = 1000;
  std::int32_t pass_rows = 500;
  std::int32_t replay_rows = 0;
  std::int32_t pending_rows = 0;
  std::int32_t aliases = 4096;
  std::int32_t undo_steps = 4;
  std::int32_t events = 256;
  std::int32_t restore_on_failure = 1;
  std::uint64_t seed = 1;

  // ---- training ----
  std::int32_t batch = 100;
  std::int32_t pretrain_epochs = 40;
  std::int32_t adapt_epochs = 8;
  std::int32_t joint_epochs = 8;
  std::int32_t sweeps = 3;
  std::int32_t freeze_encoder_after = 0;
  std::int32_t neighbour_epochs = 4;
  double neighbour_weight = 50.0;
  double learning_rate = 1e-3;
  double prior_weight = 0.0;
  double pretrain_mask_probability = 0.2;
  double pretrain_noise = 0.0;
  double joint_mask_probability = 0.0;
  double joint_noise = 0.0;

  // ---- images ----
  std::int32_t image_width = 0;
  std::int32_t image_height = 0;
  std::int32_t image_channels = 1;
  std::int32_t augment = 0;
  double augment_shift = 2.0;
  double augment_rotation = 0.3;
  double augment_scale = 0.15;
  double augment_shear = 0.1;

  // ---- replay ----
  double replay_ratio = 2.0;
  double replay_balance = 0.75;
  double replay_radius = 3.0;
  std::int32_t replay_filter = 1;
  std::int32_t drift = 3;  // two_stage
  double distillation = 1.0;
  std::int32_t replay_in_fit = 0;  // off

  // ---- mixture ----
  std::int32_t prior_mode = 1;  // empirical
  std::int32_t learn_concentration = 0;
  double prior_scale = 0.3;
  double prior_beta = 0.2;
  double prior_strength = 22.0;
  double concentration = 5.0;
  double row_weight = 1.0;
  double effective_rows = 1000.0;
  double effective_part = 0.25;

  // ---- births and merges ----
  std::int32_t laps = 8;
  std::int32_t rounds = 6;
  std::int32_t divisions = 1;
  std::int32_t merge_old_with_new = 0;
  std::int32_t unexplained_births = 1;
  double birth_novelty = 0.015;
  std::int32_t hysteresis_streams = 2;
  double hysteresis_growth = 1.5;
  double pending_part = 0.995;
  std::int32_t pending_streams = 10;

  // ---- kinds ----
  std::int32_t kinds = 1;
  double kind_resolution = 1.0;

  // ---- forgetting ----
  double half_life_rows = 0.0;
  double half_life_time = 0.0;

  // ---- novelty ----
  double false_alarm_rate = 0.01;
  double sensitivity = 1.0;
  double novelty_error_weight = 1.0;
};

enum class FieldType : std::uint8_t { kInteger = 0, kReal = 1, kSwitch = 2, kChoice = 3 };

// A row of the table. Its default is the field's value in Configuration{}.
struct FieldInfo {
  double lowest;
  double highest;
  const char* name;
  const char* choices;   // kChoice: the names of 0, 1, …, with blanks between
  std::uint16_t offset;  // in Configuration
  FieldType type;
  std::uint8_t size;  // kReal: a double; else a std::int32_t or, of 8 bytes, a std::uint64_t
  bool live;          // an existing model takes another value, between streams
  // With ADAPVAE_STRIP_STRINGS these and group are empty.
#if defined(ADAPVAE_STRIP_STRINGS)
  static constexpr const char *group = "", *sentence = "", *refusal = "", *nearest = "",
                              *differs = "";
#else
  const char* group;
  const char* sentence;  // what it is
  const char* refusal;   // the message about a value that it does not take
  const char* nearest;   // the message about an unknown name that is most like this one
  const char* differs;   // the message about a snapshot of a model with another value
#endif
};

// In the order of the struct; the fields of a group stand together.
std::span<const FieldInfo> configuration_fields();
// Null: none of that name.
const FieldInfo* find_field(std::string_view name);

// Every number of a configuration is exact in a double.
double get_field(const Configuration& config, const FieldInfo& field);
// kInvalidArgument, and nothing changed, for an unknown name and for a value out of bounds (for all
// but kReal: or not whole).
Status set_field(Configuration& config, const FieldInfo& field, double value);
Status set_field(Configuration& config, std::string_view name, double value);

// The same from text: a number with a decimal point, whatever the locale; on, off, true, false for
// a switch; a name for a choice.
Status set_field_text(Configuration& config, std::string_view name, std::string_view text);
// Text that set_field_text reads back to the same value: the view is in `buffer`, a zero follows.
// Empty if the buffer is too small; kFieldTextBytes are enough.
constexpr std::size_t kFieldTextBytes = 48;
std::string_view format_field(const Configuration& config, const FieldInfo& field,
                              std::span<char> buffer);

// ok if a model can be made of it: every field in bounds, and the fields fit each other.
Status check_configuration(const Configuration& config);

struct PresetValue {
  const char* field;
  double value;
};
struct Preset {
  const char* name;
  const char* sentence;
  std::span<const PresetValue> values;  // what differs from the defaults
};
std::span<const Preset> configuration_presets();
// The defaults with the preset's values: nothing of what `config` held is left. kInvalidArgument,
// and nothing changed, for an unknown name.
Status apply_preset(Configuration& config, std::string_view name);

}  // namespace adapvae

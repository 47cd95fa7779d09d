// Presets: what each changes of the defaults, a line a value.
#include "model/configuration_parts.h"

namespace adapvae {
namespace {

// The network of the AdapVAE paper.
constexpr PresetValue kPaper[] = {
    {"inputs", 784},     {"hidden1", 500},     {"hidden2", 500}, {"hidden3", 2000},
    {"image_width", 28}, {"image_height", 28}, {"augment", 1},
};

constexpr PresetValue kDesktop[] = {
    {"inputs", 784},
    {"image_width", 28},
    {"image_height", 28},
    {"augment", 1},
};

// So few inputs are not hidden, and so few rows are seen more often. Raw measurements want a
// gaussian likelihood with scale_inputs.
constexpr PresetValue kEdge[] = {
    {"inputs", 64},       {"hidden1", 64},           {"hidden2", 32},
    {"latent", 8},        {"pretrain_epochs", 120},  {"adapt_epochs", 32},
    {"joint_epochs", 16}, {"learning_rate", 2e-3},   {"pretrain_mask_probability", 0},
    {"max_clusters", 16}, {"block_rows", 200},       {"pass_rows", 50},
    {"batch", 50},        {"aliases", 256},          {"undo_steps", 1},
    {"events", 64},       {"restore_on_failure", 0},
};

// Epochs that a stream of 500 rows has time for, 3 s at 8 GFLOP/s.
constexpr PresetValue kBrowser[] = {
    {"inputs", 784},         {"hidden1", 128},
    {"hidden2", 64},         {"latent", 8},
    {"block_rows", 500},     {"image_width", 28},
    {"image_height", 28},    {"augment", 1},
    {"pretrain_epochs", 24}, {"adapt_epochs", 10},
    {"joint_epochs", 6},     {"replay_ratio", 1},
    {"learning_rate", 2e-3}, {"pretrain_mask_probability", 0},
};

constexpr Preset kPresets[] = {
    {"paper", "28 × 28 images, the network of the AdapVAE paper: 784-500-500-2000-10.", kPaper},
    {"desktop", "28 × 28 images in seconds a stream on two cores: 784-256-128-10.", kDesktop},
    {"edge", "64 numbers in [0, 1] a row on a small device: 64-64-32-8, streams of 200 rows.",
     kEdge},
    {"browser", "28 × 28 images in a browser tab: 784-128-64-8, streams of 500 rows.", kBrowser},
};

}  // namespace

std::span<const Preset> configuration_presets() { return kPresets; }

Status apply_preset(Configuration& config, std::string_view name) {
  for (const Preset& preset : kPresets) {
    if (name != preset.name) continue;
    Configuration result;
    for (const PresetValue& value : preset.values) {
      ADAPVAE_RETURN_IF_ERROR(set_field(result, *find_field(value.field), value.value));
    }
    config = result;
    return {};
  }
  return {StatusCode::kInvalidArgument, "there are these presets: paper, desktop, edge, browser"};
}

}  // namespace adapvae

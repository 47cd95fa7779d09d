#include "model/configuration_parts.h"

#include <algorithm>
#include <limits>

#include "base/bounds.h"

namespace adapvae {

VaeConfig network_config(const Configuration& config) {
  VaeConfig network;
  network.inputs = config.inputs;
  network.latent = config.latent;
  for (const std::int32_t width :
       {config.hidden1, config.hidden2, config.hidden3, config.hidden4}) {
    if (width > 0) network.hidden[network.hidden_layers++] = width;
  }
  network.activation = static_cast<Activation>(config.activation);
  network.initialisation = static_cast<Initialisation>(config.initialisation);
  network.likelihood.kind = static_cast<Likelihood>(config.likelihood);
  network.likelihood.variance = static_cast<float>(config.likelihood_variance);
  network.likelihood.way_back = config.scale_inputs != 0;
  network.max_rows = config.pass_rows;
  network.max_clusters = config.max_clusters;
  return network;
}

// One unit per 784 inputs: found with Bernoulli images.
InputRange input_range(const Configuration& config) {
  constexpr auto kWidest = std::numeric_limits<float>::max();
  if (config.scale_inputs != 0) return {-kWidest, kWidest};
  const bool unit = static_cast<Likelihood>(config.likelihood) == Likelihood::kBernoulli;
  constexpr auto kLargest = static_cast<float>(kLargestInput);
  return unit ? InputRange{0.0F, 1.0F} : InputRange{-kLargest, kLargest};
}

float prior_weight(const Configuration& config) {
  if (config.prior_weight > 0.0) return static_cast<float>(config.prior_weight);
  return static_cast<float>(config.inputs) / 784.0F;
}

// In proportion to the reconstruction, which is a sum over inputs.
float neighbour_weight(const Configuration& config) {
  return static_cast<float>(config.neighbour_weight * config.inputs / 784.0);
}

AugmentationSettings augmentation_settings(const Configuration& config) {
  AugmentationSettings settings;
  if (config.augment == 0) return settings;
  settings.width = config.image_width;
  settings.height = config.image_height;
  settings.channels = config.image_channels;
  settings.shift = static_cast<float>(config.augment_shift);
  settings.rotation = static_cast<float>(config.augment_rotation);
  settings.scale = static_cast<float>(config.augment_scale);
  settings.shear = static_cast<float>(config.augment_shear);
  return settings;
}

CorruptionSettings pretrain_corruption(const Configuration& config) {
  return {.mask_probability = static_cast<float>(config.pretrain_mask_probability),
          .noise_deviation = static_cast<float>(config.pretrain_noise)};
}

CorruptionSettings joint_corruption(const Configuration& config) {
  return {.mask_probability = static_cast<float>(config.joint_mask_probability),
          .noise_deviation = static_cast<float>(config.joint_noise)};
}

TrainingSettings training_settings(const Configuration& config,
                                   const CorruptionSettings& corruption, std::uint32_t stream) {
  TrainingSettings settings;
  settings.batch = config.batch;
  settings.corruption = corruption;
  settings.augmentation = augmentation_settings(config);
  settings.seed = config.seed;
  settings.stream = stream;
  return settings;
}

LearnerConfig learner_config(const Configuration& config, ModelUse use) {
  LearnerConfig learner;
  learner.shape.covariance = static_cast<FactorShape>(config.covariance);
  learner.shape.dims = config.latent;
  learner.max_clusters = config.max_clusters;
  learner.max_rows = config.block_rows + (config.replay_in_fit != 0 ? replay_room(config) : 0);
  learner.max_batches = 1;
  learner.pending_rows = config.pending_rows;
  learner.aliases = config.aliases;
  learner.undo_steps = config.undo_steps;
  learner.keeps_state = config.restore_on_failure != 0;
  learner.groups = learns(use);
  if (!learns(use)) {
    learner.max_rows = 1;
    learner.undo_steps = 0;
  }
  return learner;
}

LearnerSettings learner_settings(const Configuration& config) {
  LearnerSettings settings;
  settings.prior.mode = static_cast<PriorMode>(config.prior_mode + 1);  // never kFixed
  settings.prior.scale = config.prior_scale;
  settings.prior.beta = config.prior_beta;
  settings.prior.strength = config.prior_strength;
  settings.novelty.false_alarm_rate = config.false_alarm_rate;
  settings.novelty.sensitivity = config.sensitivity;
  settings.concentration = config.learn_concentration != 0
                               ? learnt_concentration(1.0, 1.0 / config.concentration)
                               : fixed_concentration(config.concentration);
  settings.row_weight = config.row_weight;
  settings.effective_rows = config.effective_rows;
  settings.effective_part = config.effective_part;
  settings.laps = config.laps;
  settings.rounds = config.rounds;
  settings.divisions = config.divisions != 0;
  settings.merge_old_with_new = config.merge_old_with_new != 0;
  settings.unexplained_births = config.unexplained_births != 0;
  settings.proposal.usual_novelty = config.birth_novelty;
  settings.group = config.kinds != 0;
  settings.group_resolution = config.kind_resolution;
  settings.hysteresis_streams = config.hysteresis_streams;
  settings.hysteresis_growth = config.hysteresis_growth;
  settings.pending_part = config.pending_part;
  settings.pending_streams = config.pending_streams;
  settings.half_life_rows = config.half_life_rows;
  settings.half_life_time = config.half_life_time;
  settings.seed = config.seed;
  return settings;
}

ReplaySettings replay_settings(const Configuration& config) {
  ReplaySettings settings;
  settings.balance = config.replay_balance;
  settings.radius = config.replay_radius;
  settings.filter = config.replay_filter != 0;
  return settings;
}

DriftCorrection drift_correction(const Configuration& config) {
  return static_cast<DriftCorrection>(config.drift);
}

Index replay_wanted(const Configuration& config, Index rows) {
  return static_cast<Index>(config.replay_ratio * static_cast<double>(rows));
}

Index replay_room(const Configuration& config) {
  return config.replay_rows > 0 ? config.replay_rows : replay_wanted(config, config.block_rows);
}

}  // namespace adapvae

// What each stage gets of a Configuration. Pure functions of one that check_configuration accepts.
#pragma once

#include "model/configuration.h"
#include "network/training.h"
#include "replay/replay.h"
#include "structure/cluster_learner.h"

namespace adapvae {

// What room is made for. A model that only scores takes a snapshot, sees rows and makes them up, in
// a fraction of the memory; it cannot learn, be corrected or be saved.
enum class ModelUse : std::int32_t {
  kLearn = 0,
  kScore = 1,
  kScoreInPlace = 2,  // with the network's weights where they lie in the snapshot
};
// What is never in use at once shares a place, unless a device is to keep a copy of it.
enum class MemoryLayout : std::int32_t { kShared = 0, kApart = 1 };
// Where nothing can, the compiler knows it and leaves out what would.
constexpr bool learns(ModelUse use) { return kBuiltToLearn && use == ModelUse::kLearn; }

VaeConfig network_config(const Configuration& config);
// Standard deviations beyond which scaled inputs are compressed, to at most twice that: one wild
// number could undo the network's training.
inline constexpr double kInputRange = 5.0;
struct InputRange {
  float low;
  float high;
};
InputRange input_range(const Configuration& config);  // of the numbers of a row
float prior_weight(const Configuration& config);      // the automatic one, too
float neighbour_weight(const Configuration& config);
AugmentationSettings augmentation_settings(const Configuration& config);
CorruptionSettings pretrain_corruption(const Configuration& config);
CorruptionSettings joint_corruption(const Configuration& config);
// `stream` counts from 1.
TrainingSettings training_settings(const Configuration& config,
                                   const CorruptionSettings& corruption, std::uint32_t stream);

LearnerConfig learner_config(const Configuration& config, ModelUse use = ModelUse::kLearn);
LearnerSettings learner_settings(const Configuration& config);

ReplaySettings replay_settings(const Configuration& config);
DriftCorrection drift_correction(const Configuration& config);
// Replay rows for a stream of `rows`, before the filter, and what there must be room for.
Index replay_wanted(const Configuration& config, Index rows);
Index replay_room(const Configuration& config);

}  // namespace adapvae

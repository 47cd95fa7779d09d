// AdapVAE: network and mixture as one model that learns from streams. model.cpp is the storyboard:
// it calls the stages in order and does no mathematics itself.
#pragma once

#include "model/metrics.h"
#include "network/training.h"
#include "replay/replay.h"
#include "structure/cluster_learner.h"

namespace adapvae {

struct ModelConfig {
  VaeConfig network;       // max_clusters follows clusters.max_clusters
  LearnerConfig clusters;  // dims follow network.latent, max_rows follows block_rows
  Index block_rows = 1000;
  Index replay_rows = 2000;
};

struct ModelSettings {
  std::uint64_t seed = 1;
  Index batch = 100;
  int pretrain_epochs = 40;  // on the first stream
  int adapt_epochs = 8;      // reconstruction alone, before births
  int joint_epochs = 8;      // with the mixture as prior
  int sweeps = 3;            // laps of the mixture after each joint epoch
  float learning_rate = 1e-3F;
  float prior_weight = 0.0F;  // b; 0: inputs / 784 (Bernoulli images)
  float distillation = 1.0F;  // λ of replay rows
  double replay_ratio = 2.0;  // replay rows per new row, at most
  ReplaySettings replay;
  DriftCorrection drift = DriftCorrection::kAffine;
  CorruptionSettings pretrain_corruption = {.mask_probability = 0.2F};
  CorruptionSettings corruption;
  AugmentationSettings augmentation;
};

struct StreamReport {
  VaeLoss loss;        // of the last joint epoch
  double bound = 0.0;  // of the mixture
  Index clusters = 0;
  Index replay_rows = 0;
  double largest_drift = 0.0;
};

class Model {
 public:
  static ComputeLimits limits(const ModelConfig& config);
  void place(Arena& arena, const ModelConfig& config);
  void reset(std::uint64_t seed);

  ModelSettings& settings() { return settings_; }
  ClusterLearner& clusters() { return learner_; }
  const ClusterLearner& clusters() const { return learner_; }
  Vae& network() { return vae_; }

  // One stream: up to block_rows rows.
  Status learn(Backend& backend, ConstMatrixView rows, StreamReport* report);

  // id and novelty [n] of up to network.max_rows rows.
  Status score(Backend& backend, ConstMatrixView rows, ClusterId* id, float* novelty);

 private:
  Status reconstruct(Backend& backend, ConstMatrixView all, int epochs);
  Status standardise(Backend& backend, ConstMatrixView rows);
  Status draw_replay(Backend& backend, ConstMatrixView rows);
  Status join(Backend& backend, ConstMatrixView rows, ConstMatrixView all, StreamReport* report);
  Status encode(Backend& backend, ConstMatrixView rows);
  Status follow_drift(Backend& backend, StreamReport* report);
  ConstMatrixView gather(ConstMatrixView rows);
  void note_replay_ids();
  VaeBatch objective(ConstMatrixView all, float prior_weight) const;
  TrainingSettings training(const CorruptionSettings& corruption) const;

  ModelConfig config_;
  ModelSettings settings_;
  Vae vae_;
  Trainer trainer_;
  ClusterLearner learner_;
  Replay replay_;
  std::uint32_t stream_ = 0;
  std::uint32_t epoch_ = 0;         // within the stream
  float* all_ = nullptr;            // [block + replay × d] rows, then replay
  float* latent_target_ = nullptr;  // [block + replay × m]
  float* latent_weight_ = nullptr;  // [block + replay]
  float* z_ = nullptr;              // [block or max_rows × m]
  float* variance_ = nullptr;       // [block or max_rows × m]
  float* score_r_ = nullptr;        // [max_rows × K]
  RowScore* score_ = nullptr;       // [max_rows]
  double* scratch_ = nullptr;       // [2m]
  // Who the replay rows' clusters are: ids by number, as of the last look.
  ClusterId* replay_id_ = nullptr;  // [K]
  Index* number_ = nullptr;         // [K]
  Index replay_ids_ = 0;
};

}  // namespace adapvae

// AdapVAE: network and mixture as one model that learns from streams. model.cpp is the storyboard:
// it calls the stages in order and does no mathematics itself.
#pragma once

#include "model/configuration_parts.h"
#include "model/metrics.h"
#include "structure/kinds.h"

namespace adapvae {

struct StreamReport {
  VaeLoss loss;        // of the last joint epoch
  double bound = 0.0;  // of the mixture
  Index clusters = 0;
  Index replay_rows = 0;
  double largest_drift = 0.0;
};

class Model {
 public:
  // The configuration must have passed check_configuration, here and in place().
  static ComputeLimits limits(const Configuration& config);
  void place(Arena& arena, const Configuration& config);
  // As before anything was learnt, from the configuration's seed. Must follow place().
  void reset();

  // As placed (replay_rows never 0 unless there is no replay), with what set_live() changed.
  const Configuration& configuration() const { return config_; }
  // Changes a live field between streams. kInvalidArgument, and nothing changed, for a frozen one,
  // a value that it does not take or that does not fit the others.
  Status set_live(const FieldInfo& field, double value);

  // Corrections, events, what is known of clusters. Its settings come from the configuration.
  ClusterLearner& clusters() { return learner_; }
  const ClusterLearner& clusters() const { return learner_; }
  Vae& network() { return vae_; }
  Index kind(Index k) const { return kind_[k]; }

  // The first stream's pretraining, on rows given apart: up to block_rows + replay_rows of them,
  // once, before any stream. Nothing else is learnt from them, and the first stream then goes
  // straight to its clusters.
  Status pretrain(Backend& backend, ConstMatrixView rows);

  // One stream: up to block_rows rows. time is used by half_life_time alone; it must not run
  // backwards.
  Status learn(Backend& backend, ConstMatrixView rows, StreamReport* report, double time = 0.0);

  // id and novelty [n] of up to pass_rows rows.
  Status score(Backend& backend, ConstMatrixView rows, ClusterId* id, float* novelty);

 private:
  Status learn_features(Backend& backend, ConstMatrixView rows);
  Status reconstruct(Backend& backend, ConstMatrixView all, int epochs);
  Status standardise(Backend& backend, ConstMatrixView rows);
  Status draw_replay(Backend& backend, ConstMatrixView rows);
  Status join(Backend& backend, ConstMatrixView rows, ConstMatrixView all, StreamReport* report);
  Status encode(Backend& backend, ConstMatrixView rows);
  Status follow_drift(Backend& backend, StreamReport* report);
  ConstMatrixView gather(ConstMatrixView rows);
  void note_replay_ids();
  VaeBatch objective(ConstMatrixView all, float prior_weight) const;
  bool frozen() const;
  Status embed(Backend& backend, ConstMatrixView all, int epochs);
  Status group_kinds(Backend& backend, ConstMatrixView all);

  Configuration config_;
  Vae vae_;
  Trainer trainer_;
  ClusterLearner learner_;
  Replay replay_;
  NeighbourGraph neighbours_;
  KindGrouping grouping_;
  Index* kind_ = nullptr;         // [K]
  Index* row_cluster_ = nullptr;  // [block + replay]
  std::uint32_t stream_ = 0;
  bool pretrained_ = false;         // by pretrain()
  std::uint32_t epoch_ = 0;         // within the stream
  double time_ = 0.0;               // of the last stream
  float* all_ = nullptr;            // [block + replay × d] rows, then replay
  float* latent_target_ = nullptr;  // [block + replay × m]
  float* latent_weight_ = nullptr;  // [block + replay]
  float* z_ = nullptr;              // [block + replay or pass_rows × m]
  float* variance_ = nullptr;       // [block + replay or pass_rows × m]
  float* score_r_ = nullptr;        // [pass_rows × K]
  RowScore* score_ = nullptr;       // [pass_rows]
  double* scratch_ = nullptr;       // [2m]
  // Who the replay rows' clusters are: ids by number, as of the last look.
  ClusterId* replay_id_ = nullptr;  // [K]
  Index* number_ = nullptr;         // [K]
  Index replay_ids_ = 0;
};

}  // namespace adapvae

// Model: how clusters follow a network that moves (docs/adr/0011).
#include <algorithm>

#include "model/model.h"

namespace adapvae {

// Merges have renumbered clusters, perhaps; ids lead to them.
void Model::renumber_replay() {
  for (Index k = 0; k < replay_ids_; ++k) {
    number_[k] = learner_.registry().find(learner_.registry().resolve(replay_id_[k]));
  }
  replay_.renumber(number_);
  note_replay_ids();
}

// Two-stage drift correction: births are first judged beside old clusters as narrow as their replay
// rows, which do not swallow what only lies near.
void Model::births_beside_narrow(Backend& backend) {
  if (replay_.rows() == 0) return;
  const Index old = learner_.mixture().clusters();
  for (Index k = 0; k < old; ++k) {
    tightness_[k] = replay_.narrowness(k, learner_.mixture().carried()[k]);
    scale_past(k, tightness_[k]);
  }
  learner_.mixture().global_step();
  learner_.fit_births(backend, pace_.asker());
  for (Index k = 0; k < old; ++k) scale_past(k, 1.0 / tightness_[k]);
  learner_.mixture().global_step();
}

// What cluster k carries is `factor` times as wide.
void Model::scale_past(Index k, double factor) {
  if (factor == 1.0) return;
  const Index m = config_.latent;
  const StatisticsRef past = learner_.mixture().carried()[k];
  double* mean = scratch_;
  double* from = root_;
  double* to = root_ + learner_.config().shape.scatter_size();
  std::copy_n(past.mean, m, mean);
  std::fill_n(from, 2 * learner_.config().shape.scatter_size(), 0.0);
  for (Index j = 0; j < m; ++j) {
    from[learner_.config().shape.diagonal_at(j)] = 1.0;
    to[learner_.config().shape.diagonal_at(j)] = factor;
  }
  learner_.map_past(k, {.from_mean = mean, .to_mean = mean, .from_root = from, .to_root = to});
}

// What clusters hold of the past follows the network to where it puts the replay rows now.
void Model::follow_drift(Index rows, StreamReport* report) {
  if (replay_.rows() == 0) return;
  renumber_replay();
  replay_.measure_drift({z_ + rows * config_.latent, replay_.rows(), config_.latent});
  for (Index k = 0; k < learner_.mixture().clusters(); ++k) {
    AffineMap map;
    double shift = 0.0;
    std::copy_n(learner_.mixture().carried()[k].mean, config_.latent, scratch_);
    if (replay_.drift_of(k, drift_correction(config_), scratch_, &map, &shift)) {
      learner_.map_past(k, map);
    }
    note_drift(k, shift, report);
  }
  replay_.accept_drift();
  learner_.mixture().global_step();
}

}  // namespace adapvae

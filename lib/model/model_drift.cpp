// Model: how clusters follow a network that moves (docs/adr/0011).
#include <algorithm>
#include <cmath>

#include "base/special_functions.h"
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

// Errors of a map add up from stream to stream. A young cluster follows the network in all; an old
// one keeps its shape.
double Model::drift_trust(Index k) const {
  constexpr double kTrustPerStream = 0.8;
  const std::uint64_t born = std::max<std::uint64_t>(1, learner_.registry().info(k).born_stream);
  return power(kTrustPerStream, static_cast<double>(stream_ - born) - 1.0);
}

// What clusters hold of the past follows the network to where it puts the replay rows now.
void Model::follow_drift(Index rows, StreamReport* report) {
  if (replay_.rows() == 0) return;
  renumber_replay();
  replay_.measure_drift({z_ + rows * config_.latent, replay_.rows(), config_.latent});
  for (Index k = 0; k < learner_.mixture().clusters(); ++k) {
    AffineMap map;
    double shift = 0.0;
    StatisticsRef past = learner_.mixture().carried()[k];
    std::copy_n(past.mean, config_.latent,
                scratch_);  // map_past() changes it while it reads the map
    past.mean = scratch_;
    if (replay_.drift_of(k, drift_correction(config_), past, drift_trust(k), &map, &shift)) {
      learner_.map_past(k, map);
    }
    note_drift(k, shift, report);
  }
  replay_.accept_drift();
  learner_.mixture().global_step();
}

}  // namespace adapvae

// What learning a stream came to.
#pragma once

#include "mixture/mixture.h"
#include "network/vae.h"

namespace adapvae {

struct StreamReport {
  Index rows = 0;
  VaeLoss loss;            // of the last joint epoch
  double bound = 0.0;      // of the mixture
  BoundParts bound_parts;  // their sum is `bound`
  Index clusters = 0;
  Index components = 0;  // of the mixture; a cluster has one or several
  Index births = 0;      // of clusters, announced in this stream
  Index merges = 0;
  Index retirements = 0;
  Index refusals = 0;               // births that were not made
  Index replay_rows = 0;            // after the filter
  double replay_accuracy = 0.0;     // part of them that still finds its cluster; 0 without replay
  double largest_drift = 0.0;       // of a cluster in an epoch, in its deviations
  Index drifted = 0;                // times that it was more than one
  std::uint64_t skipped_steps = 0;  // of training, because something was not finite
  std::uint64_t repairs = 0;        // of covariances
  bool stopped = false;             // a stage was ended early, see pacing.h
};

}  // namespace adapvae

// Merges: two clusters become one if the exact evidence bound, past and present rows together, does
// not fall.
#pragma once

#include "structure/move.h"

namespace adapvae {

class MergeMove {
 public:
  void place(Arena& arena, const MixtureConfig& config);

  // Exact gain in the bound of merging a and b. refresh_pairs() must have run since the
  // responsibilities last changed.
  double gain(const Mixture& mixture, Index a, Index b);

  // Makes the best merge if it gains more than `least_gain`. The heavier cluster survives.
  // allowed(a, b) may veto pairs; null allows all.
  using Allowed = bool (*)(const void* context, Index a, Index b);
  MoveRecord merge_best(Mixture& mixture, double least_gain, Allowed allowed = nullptr,
                        const void* context = nullptr);

  // Retires the lightest cluster if it holds less than `least_rows`: the bound is indifferent to an
  // empty cluster. What little it holds goes to the cluster that costs the least, so that no row is
  // lost. The last cluster is never retired.
  MoveRecord retire_lightest(Mixture& mixture, double least_rows);

  // Retires cluster k whatever it holds, likewise; at least two clusters. refresh_pairs() must have
  // run.
  MoveRecord retire(Mixture& mixture, Index k);

  // Gain in the bound if all that cluster k holds were two clusters with these statistics.
  double split_gain(const Mixture& mixture, Index k, const StatisticsRef& first,
                    const StatisticsRef& second);

 private:
  StatisticsBlock merged_;  // one cluster
  Posterior posterior_;
  double* mass_ = nullptr;  // [K + 1]
  Index* order_ = nullptr;  // [K + 1]
};

}  // namespace adapvae

// What a structural move returns, accepted or not: enough to answer "why was this cluster born, or
// why not".
#pragma once

#include "mixture/mixture.h"

namespace adapvae {

enum class MoveKind : std::int32_t { kBirth = 0, kMerge = 1, kRetire = 2 };

enum class MoveOutcome : std::int32_t {
  kAccepted = 0,
  kBoundWouldFall = 1,    // the exact evidence bound is higher without the move
  kTooFewRows = 2,        // the target holds too few rows for a newborn
  kNoRoom = 3,            // the number of clusters is at its maximum
  kNothingSeparated = 4,  // the fresh fit collapsed into one piece
};

struct MoveRecord {
  MoveKind kind = MoveKind::kBirth;
  MoveOutcome outcome = MoveOutcome::kBoundWouldFall;
  double gain = 0.0;          // change of the bound, exact
  Index cluster = 0;          // target of a birth, or the survivor of a merge
  Index other = 0;            // first newborn, or the cluster that was merged away
  Index count = 0;            // newborns
  bool past_divided = false;  // a birth that took part of the past
  double rows = 0.0;          // rows offered to the newborns, or of the cluster merged away
};

// The weights' part of the bound if cluster masses were `mass` [clusters]; order [clusters] is
// scratch memory.
double allocation_of(const double* mass, Index clusters, const Concentration& concentration,
                     Index* order);

}  // namespace adapvae

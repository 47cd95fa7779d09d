// Births: the rows of one cluster are refitted by that cluster and J fresh ones beside it; they are
// born if the exact evidence bound rises.
//
// The old cluster competes with all it carries from the past: past mass cannot move, so a birth
// takes from the present rows only. A fine proposal often fails as a block where a coarse one
// passes, so callers try several J, largest first; pieces of one proposal that should be one are
// merged before it is judged.
#pragma once

#include "base/philox.h"
#include "structure/move.h"

namespace adapvae {

struct BirthSettings {
  double least_share = 0.1;  // rows that belong to the target by at least this much take part
  double least_rows = 5.0;   // a newborn with less is dropped
  int refinements = 12;      // local and global steps of the fresh fit
};

class BirthMove {
 public:
  static constexpr Index kMostFresh = 10;

  // The backend's limits must allow for kMostFresh + 1 clusters.
  void place(Arena& arena, const MixtureConfig& config);

  // Tries to give birth to up to `fresh` clusters out of cluster `target`; the mixture changes only
  // if the outcome is kAccepted (then a global step has been made).
  MoveRecord try_birth(Backend& backend, Mixture& mixture, Index target, Index fresh,
                       const BirthSettings& settings, Philox& random);

 private:
  void gather(Mixture& mixture, Index target, double least_share);
  void seed(const Mixture& mixture, Index fresh, Philox& random);
  void count(Backend& backend, const Mixture& mixture);
  void refit(Backend& backend, const Mixture& mixture);
  void trial_masses(const Mixture& mixture);
  void drop_piece(Index piece);
  bool merge_pieces(const Mixture& mixture);
  double bound_of_pieces(const Mixture& mixture);

  Index target_ = 0;
  Index capacity_ = 0;  // pieces: the old cluster's rest and the fresh ones
  ClusterShape shape_;
  Index pieces_ = 0;
  Index count_ = 0;  // rows that take part
  double row_weight_ = 1.0;
  std::uint32_t* row_ = nullptr;  // [rows] which
  double* budget_ = nullptr;      // [rows] how much of each
  float* z_ = nullptr;            // [rows × m]
  float* variance_ = nullptr;     // [rows × m]
  bool has_variance_ = false;
  double* share_ = nullptr;         // [rows × pieces] sums to budget
  float* probability_ = nullptr;    // [rows × pieces]
  float* log_sum_ = nullptr;        // [rows]
  double* distance_ = nullptr;      // [rows]
  StatisticsBlock fixed_;           // of the old cluster: past and rows that do not take part
  StatisticsBlock fresh_;           // pieces, weighted
  Posterior* posterior_ = nullptr;  // [pieces]
  double* entropy_ = nullptr;       // [pieces]
  float* local_mean_ = nullptr;
  float* local_factor_ = nullptr;
  float* local_precision_ = nullptr;
  float* local_weight_ = nullptr;
  double* center_ = nullptr;
  double* sums_ = nullptr;
  double* scatters_ = nullptr;
  double* piece_mass_ = nullptr;
  double* mass_ = nullptr;        // [K + pieces]
  double* log_weight_ = nullptr;  // [K + pieces]
  Index* order_ = nullptr;        // [K + pieces]
  double* scratch_ = nullptr;
};

}  // namespace adapvae

// Births: new clusters out of the rows of the stream, made if the exact evidence bound rises.
//
// Three ways to propose one, because each finds what the others miss:
//
//   try_cluster   the rows of one cluster are refitted by that cluster, with all it carries from
//                 the past, and fresh ones beside it. Finds a new kind that came to lie in an old
//                 cluster. Past mass cannot move: two kinds that shared a cluster from the start
//                 are not parted this way, every row would pay for the mass of the past.
//   try_division  the rows of one cluster are refitted by two fresh halves, whose statistics are
//   kept
//                 from stream to stream (division.h) until their evidence, on the rows seen since,
//                 is enough or hopeless. Then the past goes where its own moments say: to the half
//                 that it looks like, or, if it looks like both together, it is divided in their
//                 proportion. Nobody can know which of the past rows were which, so the parts are
//                 moments that sum exactly to what was carried.
//   try_rare      a few rows that lie far out of a cluster, gathered as the second half of its
//                 candidate over blocks that bring nothing else. Of the past exactly those rows go.
//   try_rows      rows that no cluster explains are refitted by fresh clusters, wherever they are.
//                 log_density [count] is what they had under the mixture before it met them.
//
// A fine proposal often fails as a block where a coarse one passes: callers try several sizes.
#pragma once

#include "structure/division.h"
#include "structure/proposal.h"

namespace adapvae {

class BirthMove {
 public:
  // Rows that try_rows takes at most.
  static constexpr Index kMostRows = 1024;

  // The backend's limits must allow for Proposal::kMostPieces clusters.
  void place(Arena& arena, const MixtureConfig& config);

  // novel [rows of the stream]: 1 for those that nothing explained when they came; null: not known.
  void set_arrivals(const std::uint8_t* novel) { proposal_.set_arrivals(novel); }

  // Each tries to give birth to up to `fresh` clusters. The mixture changes only if the outcome is
  // kAccepted (then a global step has been made); after a failed try_rows its statistics have been
  // counted anew from the same responsibilities, with two global steps.
  // again: the last try was this one with another size, and the mixture is still the same.
  MoveRecord try_cluster(Backend& backend, Mixture& mixture, Index target, Index fresh,
                         const ProposalSettings& settings, Philox& random, bool again = false);
  // Rows from row_limit on take no part: those that counted in the candidate before.
  MoveRecord try_division(Backend& backend, Mixture& mixture, Index target, Index row_limit,
                          CandidateDivisions& candidates, const ProposalSettings& settings,
                          Philox& random);
  // far [rows of the stream]: 1 for those of target's rows that lie far out. They and the others
  // join the halves of the candidate; then try_rare() may follow.
  void gather_rare(Mixture& mixture, Index target, const std::uint8_t* far,
                   CandidateDivisions& candidates, const ProposalSettings& settings);
  MoveRecord try_rare(Backend& backend, Mixture& mixture, Index target, const std::uint8_t* far,
                      const CandidateDivisions& candidates, const ProposalSettings& settings);
  // Whether what component k carries cannot be of the distribution that its rows of this block
  // show.
  bool past_is_different(const Mixture& mixture, Index k);
  MoveRecord try_rows(Backend& backend, Mixture& mixture, const std::uint32_t* rows,
                      const float* log_density, Index count, Index fresh,
                      const ProposalSettings& settings, Philox& random);

 private:
  bool start(Mixture& mixture, Index target, Rival rival, Index row_limit, bool again, Index& fresh,
             const ProposalSettings& settings, MoveRecord& record);
  double bound_before(const Mixture& mixture);
  double evidence_of_halves(const Mixture& mixture, double entropy_so_far);
  Index where_past_belongs(const Mixture& mixture);
  double gain_with_past(Backend& backend, const Mixture& mixture, MoveRecord& record);
  void commit(Backend& backend, Mixture& mixture, MoveRecord& record);

  ClusterShape shape_;
  Proposal proposal_;
  double gain_of_halves(const Mixture& mixture, Index target, const StatisticsRef& first,
                        const StatisticsRef& second);
  StatisticsBlock past_;       // parts of the past for the pieces, and spare places
  Posterior trial_;            // of the past alone
  Posterior pool_;             // of all pieces together
  double* mass_ = nullptr;     // [K + pieces]
  Index* order_ = nullptr;     // [K + pieces]
  double* saved_r_ = nullptr;  // [kMostRows × K]
  double* scratch_ = nullptr;
};

}  // namespace adapvae

// The fresh fit behind every birth: some rows of the stream, divided among an old piece (number 0)
// and fresh ones, by a few restricted local and global steps. The mixture does not change here.
//
// What the fresh pieces compete with is the proposal's rival:
//   kOldCluster  the rows of one cluster; piece 0 is that cluster with all it carries from the past
//   kNothing     the rows of one cluster; two pieces, both fresh, with what a candidate division
//   has
//                gathered for them in earlier streams; the past stands aside
//   kMixture     chosen rows, whole; piece 0 is the mixture, a density per row
#pragma once

#include "base/philox.h"
#include "structure/move.h"

namespace adapvae {

enum class Rival { kOldCluster, kNothing, kMixture };

struct ProposalSettings {
  double least_share = 0.1;       // rows that belong to the target by at least this much take part
  double least_rows = 5.0;        // a fresh piece with less is dropped
  double least_gain = 0.0;        // a birth must raise the bound by more than this
  int refinements = 12;           // local and global steps of the fit
  double hopeless_rows = 4000.0;  // a candidate division without evidence after these is dropped
  // > 0: what comes out of a cluster that is well known is new only if clearly more than this part
  // of its rows was novel when they came.
  double usual_novelty = 0.0;
};

class Proposal {
 public:
  static constexpr Index kMostFresh = 10;
  static constexpr Index kMostPieces = kMostFresh + 1;
  // Of more rows a sample of so many, or a few more, makes the first steps of a fit.
  static constexpr Index kSampleRows = 2000;

  // The backend's limits must allow for kMostPieces clusters.
  void place(Arena& arena, const MixtureConfig& config);

  // The rows of cluster `target` below number row_limit. The rival is kOldCluster or kNothing.
  void gather_cluster(Mixture& mixture, Index target, Rival rival, Index row_limit,
                      const ProposalSettings& settings);
  // What piece j holds whatever happens (kNothing, before the fit).
  void set_fixed(Index piece, const StatisticsRef& statistics) { fixed_.assign(piece, statistics); }
  // The `count` rows listed, with their log density under the mixture that they compete with.
  void gather_rows(Mixture& mixture, const std::uint32_t* rows, const float* log_density,
                   Index count);
  // novel [rows of the stream]: 1 for those that nothing explained when they came; null: not known.
  void set_arrivals(const std::uint8_t* novel) { novel_ = novel; }
  // Fits `fresh` pieces beside piece 0; pieces() is what is left of them after small ones are
  // dropped and pieces that should be one are merged.
  void fit(Backend& backend, const Mixture& mixture, Index fresh, const ProposalSettings& settings,
           Philox& random);

  Rival rival() const { return rival_; }
  Index target() const { return target_; }  // with kMixture: the cluster that holds most
  Index pieces() const { return pieces_; }
  Index rows() const { return count_; }
  double rows_held() const { return held_; }  // Σ of the budgets
  Index row(Index i) const { return row_[i]; }
  double share(Index i, Index piece) const { return share_[i * kMostPieces + piece]; }
  double budget(Index i) const { return budget_[i]; }
  // Weighted: the target's hold on rows that do not take part.
  StatisticsRef aside() const { return aside_[0]; }
  // Weighted; posteriors belong to them.
  const StatisticsBlock& statistics() const { return fresh_; }
  const Posterior& posterior(Index piece) const { return posterior_[piece]; }
  // Statistics of a piece change from outside: its posterior follows.
  void add_to_piece(const Mixture& mixture, Index piece, const StatisticsRef& more);
  // Statistics of the pieces from the present rows alone, without what was fixed.
  void count_present(Backend& backend, const Mixture& mixture);
  // `piece` and piece 0 change numbers.
  void make_old(Index piece);
  // Observation and entropy parts of the pieces, and the weights' part over all clusters.
  double bound_of_pieces(const Mixture& mixture);
  // Entropy of the rows among the pieces, and before they were divided; weighted.
  double entropy() const;
  double entropy_before() const;

 private:
  static constexpr Index kSeedGroup = 4;
  static constexpr Index kSeedStride = (kMostPieces + kSeedGroup - 1) / kSeedGroup * kSeedGroup;

  void whiten(const Mixture& mixture);
  void whiten_point(double* x) const;
  void swap_shares(Index a, Index b);
  void seed(const Mixture& mixture, Index fresh, Philox& random);
  bool draw_seed(Index piece, Philox& random);
  double settle_seeds();
  void spread_seeds();
  Index nearest_seed(Index i, double& least) const;
  void count(Backend& backend, const Mixture& mixture, ConstMemberView members);
  void refit(Backend& backend, const Mixture& mixture);
  Index trial_masses(const Mixture& mixture);
  void join_pieces(Index a, Index b);
  bool drop_small_pieces(double least_rows);
  bool drop_familiar_pieces(double usual_novelty);
  bool merge_pieces(const Mixture& mixture);
  Index first_real() const { return rival_ == Rival::kMixture ? 1 : 0; }
  Index place_in_masses(const Mixture& mixture, Index piece) const;
  double seed_distance(Index i, Index piece) const;

  ClusterShape shape_;
  Rival rival_ = Rival::kOldCluster;
  Index target_ = 0;
  Index pieces_ = 0;
  Index count_ = 0;   // rows that take part
  Index active_ = 0;  // the first of them, which the present step is about
  double held_ = 0.0;
  double row_weight_ = 1.0;
  const std::uint8_t* novel_ = nullptr;
  std::uint32_t* row_ = nullptr;  // [rows] which
  double* budget_ = nullptr;      // [rows] how much of each
  float* z_ = nullptr;            // [rows × m]
  float* variance_ = nullptr;     // [rows × m]
  bool has_variance_ = false;
  float* rival_density_ = nullptr;    // [rows] kMixture: log density under piece 0
  double* share_ = nullptr;           // [rows × pieces] sums to budget
  std::uint32_t* members_ = nullptr;  // [rows × member_words] of the shares, after a local step
  float* probability_ = nullptr;      // [rows × pieces]
  double* distance_ = nullptr;        // [rows]
  double* metric_ = nullptr;          // factor of the base measure's scale
  double* whitened_ = nullptr;        // [rows × m] rows in that metric
  StatisticsBlock aside_;             // one
  StatisticsBlock fixed_;             // per piece
  StatisticsBlock fresh_;             // pieces, and a spare place
  Posterior posterior_[kMostPieces + 1];
  float* local_mean_ = nullptr;
  float* local_factor_ = nullptr;
  float* local_precision_ = nullptr;
  float* local_weight_ = nullptr;
  double* center_ = nullptr;
  double* best_center_ = nullptr;
  double* seeds_ = nullptr;  // [m × kSeedStride] centres of the pieces, by dimension
  double* sums_ = nullptr;
  double* scatters_ = nullptr;
  double* piece_mass_ = nullptr;  // rows, unweighted, without what is fixed
  double* mass_ = nullptr;        // [K + pieces]
  double* log_weight_ = nullptr;  // [K + pieces]
  Index* order_ = nullptr;        // [K + pieces]
  double* scratch_ = nullptr;
};

}  // namespace adapvae

// The Dirichlet-process mixture on a stream: statistics, posteriors, responsibilities and the
// evidence bound. Births, merges and identities are lib/structure's; this file changes the number
// of clusters only when told to.
//
// A stream is a block of latent rows that stays in memory while it is learnt. Statistics have three
// levels, and a level is always rebuilt as the sum of the one below, never by subtracting:
//
//   mini-batch b:  S_b   ─┐
//   stream:        S = Σ_b S_b ─┐
//   overall:       T = S0 + κ S      S0: what past streams left (already weighted)
//
// "Posterior becomes prior" is S0 ← T when the stream closes: for this family carrying statistics
// is the exact Bayesian update. Responsibilities are whole multiples of 2⁻³² that sum to exactly 1
// in every row, and rows are counted in those units (RowCount): counts are exact for ever.
//
// The order of a lap:  local_step(b) for every b, then global_step(). bound() is exact after it.
#pragma once

#include "base/bytes.h"
#include "compute/backend.h"
#include "mixture/affine_map.h"
#include "mixture/component.h"
#include "mixture/sticks.h"

namespace adapvae {

struct MixtureConfig {
  ClusterShape shape;
  Index max_clusters = 0;  // K
  Index max_rows = 0;      // rows of a stream
  Index max_batches = 1;   // mini-batches of a stream
};

// A row as the mixture sees it. Rows with latent variance are judged by their expected distance.
struct RowScore {
  Index cluster = 0;         // most probable
  float probability = 0.0F;  // of that cluster
  // log Σ_k E[π_k] t_k(z): density of the posterior predictive, a mixture of Student-t. Its
  // negative is the row's surprise: a wide cluster that catches strays does not make them ordinary.
  float log_density = 0.0F;
  // min_k log t_k(its centre) - log t_k(z): how far the row is from the cluster that it is least
  // far from, each by its own measure; about half a χ² of m degrees of freedom for a row that
  // belongs.
  float remoteness = 0.0F;
  // -log Σ_j E[π_j]/E[π_k] t_j(z), k the most probable cluster: the surprise as if that cluster
  // had all the weight. A row is not novel because its cluster is rare.
  float misfit = 0.0F;
};

struct BoundParts {
  double observation = 0.0;  // Σ_k log-normalisers, eq. 9
  double allocation = 0.0;   // sticks and α, eq. 10
  double entropy = 0.0;      // of the responsibilities, eq. 11
  double total() const { return observation + allocation + entropy; }
};

// -r log r, 0 at 0.
double entropy_term(double r);

// r [count] = budget · probability in whole units that sum to exactly budget (itself whole units);
// the most probable takes up the difference. True if more than one has a share.
bool split_into_units(const float* probability, Index count, double budget, double* r);

// To kFarthestDistance.
void bound_distances(MatrixView distance);

class Mixture {
 public:
  // Rows of one pass of the local step.
  static constexpr Index kLocalRows = 512;

  void place(Arena& arena, const MixtureConfig& config);
  // One cluster without rows under a standard base measure (mean 0, scale 1, β 0.2, ν m+2).
  void reset();

  // ---- prior ----
  // Takes effect at the next global_step.
  void set_concentration(const Concentration& concentration) { concentration_ = concentration; }
  const Concentration& concentration() const { return concentration_; }
  // A new base measure; recomputes every posterior. kInvalidArgument, and nothing changed, unless
  // β > 0, ν > m - 1 (full) or ν > 0 (diagonal), and scale is positive definite. mean [m], scale
  // [scatter_size].
  Status set_base_measure(double beta, double nu, const double* mean, const double* scale);
  const BaseMeasure& base_measure() const { return base_; }

  // ---- a stream ----
  // Rows are borrowed until close_stream. variance may be empty. row_weight is κ in (0, 1]. No row
  // belongs to a cluster, and none is counted, before its first local_step.
  Status begin_stream(ConstMatrixView z, ConstMatrixView variance, double row_weight,
                      Index batches);
  // New responsibilities of mini-batch b under the current posteriors, and its statistics.
  void local_step(Backend& backend, Index batch);
  // Totals, order of clusters, α and posteriors from the statistics.
  void global_step();
  // All local steps, one global step; returns the bound.
  double lap(Backend& backend);
  // Takes row i out of the stream: it belongs to no cluster until the next local step. Call
  // recount() when all are out; rows that are out at close_stream() are not learnt.
  void hold_out(Index row);
  // The stream's statistics join the carried ones; rows are let go.
  void close_stream();
  bool stream_open() const { return rows_.data != nullptr; }
  // Rows are let go, and what they changed is left as it is: load() must follow.
  void abandon_stream();

  BoundParts bound() const;

  // What cluster k carries, as it would be in other coordinates (a network that moved). In a stream
  // or between; global_step() or a lap must follow. scratch [m² + m].
  void map_past(Index k, const AffineMap& map, double* scratch) {
    map_statistics(config_.shape, map, carried_[k], scratch);
  }

  // ---- the past, between streams ----
  // Forgetting: what is carried counts `factor` (0, 1] of what it did. No longer the exact
  // posterior of all rows; the rows that went are counted in rows_faded().
  void fade(double factor);
  // Cluster k with all it holds is no more; the last cluster takes its number. Its rows count as
  // faded. At least two clusters.
  void remove_cluster(Index k);
  // Rows that were learnt count as faded although no cluster held them.
  void count_faded(Index rows);
  // Cluster k is as it was before it held anything. Its rows count as faded.
  void forget_rows(Index k);
  // At most so many bytes does save() write.
  static std::size_t most_bytes(const MixtureConfig& config);
  // Persistent state, exactly; between streams only.
  void save(ByteWriter& writer) const;
  // kCorruptData, and nothing changed, unless the bytes are a state of a mixture of this shape and
  // no more clusters than fit.
  Status load(ByteReader& reader);
  // Whether every number is within base/bounds.h, so that load() takes what save() writes.
  bool sound() const;

  // ---- gains: what rows add to clusters that stand still (mixture_gain.cpp) ----
  // The open stream is closed, and its rows, unweighted, are all that is carried from now on. The
  // posteriors stay as they are: load() or global_step() must follow.
  void carry_stream_alone();
  // The same of rows that are divided by the posteriors as they are, once.
  Status carry_rows_alone(Backend& backend, ConstMatrixView z, ConstMatrixView variance);
  // A table of what clusters 0 … count - 1 carry; each has what it shares with those before it.
  static std::uint64_t table_bytes(const ClusterShape& shape, std::uint64_t count);
  void write_table(ByteWriter& writer) const;
  // Whether the bytes are a table of so many clusters, and how many rows it counts.
  bool check_table(ByteReader& reader, Index count, RowCount* rows);
  // What cluster `into` carries grows by `weight` times the next cluster of a table, number `at` in
  // it; the rows that this one counts. The table's first `known` clusters have the numbers that
  // they have here; the others follow each other here, too, unless `apart`: then nothing is known
  // of what they share. global_step() must follow.
  RowCount add_from_table(ByteReader& reader, Index at, Index known, Index into, double weight,
                          bool apart = false);

  // ---- clusters ----
  Index clusters() const { return clusters_; }
  double rows_of(Index k) const;  // sum of responsibilities, past and present
  double rows_learnt() const;     // all that ever came, exactly: Σ rows_of(k) + rows_faded()
  double rows_faded() const;
  double mass(Index k) const { return total_.mass(k); }  // weighted: what the posterior counts
  const Posterior& posterior(Index k) const { return posterior_[k]; }
  double weight(Index k) const { return weight_[k]; }          // E[π_k]
  double log_weight(Index k) const { return log_weight_[k]; }  // E[log π_k]
  double log_tail() const { return log_tail_; }
  // Times a covariance had to be repaired since reset().
  std::uint64_t repairs() const { return repairs_; }
  const MixtureConfig& config() const { return config_; }

  // ---- rows, without learning ----
  // What the network's loss and the local step need. Valid until the next global_step.
  GaussianView gaussians() const;
  const float* local_log_weight() const { return local_weight_; }  // [K]
  // Responsibilities [n × K] of any rows and log Σ_k ρ_k [n], which may be null.
  void responsibilities(Backend& backend, ConstMatrixView z, ConstMatrixView variance, MatrixView r,
                        float* log_sum) const;
  // Where rows belong and how well they fit; responsibilities [n × K] are a by-product. out [n].
  void score(Backend& backend, ConstMatrixView z, ConstMatrixView variance, MatrixView r,
             RowScore* out) const;
  // Surprise that `part` of the rows stay below, if clusters are as they are believed to be.
  double surprise_quantile(double part) const;

  // ---- for lib/structure: the number of clusters changes here only ----
  // Responsibilities of the stream's rows [rows × K]. Whoever writes them keeps to whole multiples
  // of kResponsibilityUnit that sum to 1 in every row, and calls recount().
  MatrixViewD stream_responsibilities() {
    return {r_, rows_.rows, clusters_, config_.max_clusters};
  }
  ConstMatrixView stream_rows() const { return rows_; }
  ConstMatrixView stream_variance() const { return variance_; }
  double row_weight() const { return row_weight_; }
  // A new cluster without rows or history; its number. clusters() must be below max_clusters.
  Index add_cluster();
  // The last cluster, which holds neither rows nor history, is no more.
  void drop_last_cluster();
  // Cluster b's rows and history join cluster a; the last cluster takes b's number.
  void merge_clusters(Index a, Index b);
  // Gives `fraction` of cluster a's past to cluster b, which has none yet: `part` is what b gets,
  // `rest` what a keeps; the two must sum to what a carried. Followed by recount() in a stream,
  // global_step() between streams.
  void divide_past(Index a, Index b, double fraction, const StatisticsRef& rest,
                   const StatisticsRef& part);
  // Statistics and entropies of all batches from stream_responsibilities(), then global_step().
  void recount(Backend& backend);
  // How much entropy a merge of a and b would cost (<= 0), past and present rows, weighted. For the
  // present rows it is as of the last refresh_pairs().
  double pair_entropy_loss(Index a, Index b) const;
  void refresh_pairs();
  double entropy_of(Index k) const;
  const StatisticsBlock& totals() const { return total_; }
  const StatisticsBlock& carried() const { return carried_; }
  const Index* order() const { return order_; }

 private:
  double find_surprise_quantile(double part) const;
  // Place of the unordered pair a != b in a packed lower triangle.
  static constexpr Index pair_at(Index a, Index b) {
    return a > b ? packed_size(a) + b : packed_size(b) + a;
  }
  Index batch_begin(Index batch) const { return rows_.rows * batch / batches_; }
  void clear_batch(Index batch);
  void count_rows(Backend& backend, Index batch, Index begin, Index count, ConstMemberView members);
  void count_entropy(Index batch, Index first, Index end);
  void sum_levels(Index k);
  void rebuild_totals();
  void refresh_posteriors();
  void move_cluster(Index from, Index to);
  RowCount count_of(Index k) const;
  bool read_prior(ByteReader& reader, bool take);
  static bool sound_prior(const ClusterShape& shape, const Concentration& concentration,
                          const BaseMeasure& base);
  void write_cluster(ByteWriter& writer, Index k) const;
  bool read_cluster(ByteReader& reader, Index k, bool take);

  MixtureConfig config_;
  Index clusters_ = 0;
  Concentration concentration_;
  BaseMeasure base_;
  std::uint64_t repairs_ = 0;

  ConstMatrixView rows_;
  ConstMatrixView variance_;
  double row_weight_ = 1.0;
  Index batches_ = 0;

  StatisticsBlock carried_;            // S0, weighted, and one spare place
  StatisticsBlock batch_;              // S_b at b · max_clusters + k, unweighted
  StatisticsBlock stream_;             // S
  StatisticsBlock total_;              // T
  RowCount* carried_rows_ = nullptr;   // [K] rows of the past
  double* carried_entropy_ = nullptr;  // [K] h0_k, weighted
  double* carried_pairs_ = nullptr;    // [packed K] h0_ab - h0_a - h0_b, weighted
  double* stream_pairs_ = nullptr;     // [packed K] the same for the stream's rows, unweighted
  double* batch_entropy_ = nullptr;    // [batches × K]
  double* stream_entropy_ = nullptr;   // [K]
  RowCount faded_rows_;
  double* log_weight_ = nullptr;           // [K] E[log π_k]
  double* weight_ = nullptr;               // [K] E[π_k]
  PredictiveScale* predictive_ = nullptr;  // [K]
  double* quantile_from_ = nullptr;        // [K × 2] what quantile_ was found from
  mutable double quantile_ = 0.0;
  mutable double quantile_part_ = -1.0;
  mutable Index quantile_clusters_ = -1;  // -1: none was found yet
  double log_tail_ = 0.0;
  Index* order_ = nullptr;                  // [K]
  Posterior* posterior_ = nullptr;          // [K]
  double* r_ = nullptr;                     // [max_rows × K]
  std::uint32_t* local_members_ = nullptr;  // [kLocalRows × member_words(K)]
  float* local_mean_ = nullptr;             // [K × m]
  float* local_factor_ = nullptr;           // [K × scatter_size]
  float* local_precision_ = nullptr;        // [K × m]
  float* local_weight_ = nullptr;           // [K]
  double* center_ = nullptr;                // [K × m] where batch sums are centred
  double* sums_ = nullptr;                  // [K × m]
  double* scatters_ = nullptr;              // [K × scatter_size]
  double* masses_ = nullptr;                // [K]
  double* scratch_ = nullptr;               // [2 scatter_size + 2m]
};

}  // namespace adapvae

// How novel rows are, as those who use the model see it.
//
// A row's surprise is a sum of two numbers, each in standard deviations of what is usual: how badly
// its features fit its cluster (the components of one cluster together), and the error of its
// reconstruction. The
// boundary between known and novel lies where the surprise of as many ordinary rows lies above it
// as the false-alarm rate allows. It is one number for all clusters, so that rows between clusters
// are novel; but of no cluster, however rare, more than a few times that rate is novel.
//
// All of it is calibrated by rows as they were on arrival, before they were learnt. For each
// cluster the mean and variance of both numbers are kept, and for all clusters together how
// surprises are distributed around their cluster's mean. Equations 19 and 23 of docs/math.md. The
// mixture's own surprise, which judges births, is another matter (mixture/novelty.h).
#pragma once

#include "base/arena.h"
#include "mixture/novelty.h"
#include "model/block_test.h"
#include "model/moments.h"
#include "structure/cluster_table.h"

namespace adapvae {

class RowNovelty {
 public:
  // Rows whose errors must have been counted before errors are used.
  static constexpr double kLeastRows = 20.0;

  // error_weight 0: errors are not used. nats: they are a density as misfits are, so that errors
  // that hardly vary say little. rows: the most of a block, 0 for a model that only scores.
  void place(Arena& arena, Index dims, double error_weight, bool nats, Index rows, Index clusters);
  void reset();

  bool wants_errors() const { return weight_ > 0.0; }
  bool uses_errors() const { return wants_errors() && all_.error.rows >= kLeastRows; }

  // Whether enough rows were counted; until then the mixture's own surprise must do.
  bool ready() const { return all_.misfit.rows >= kLeastRows; }
  // The two parts of a row's surprise.
  double feature_surprise(double misfit) const { return all_.misfit.deviations(misfit); }
  double error_surprise(double error) const;  // 0 unless uses_errors()
  // What a standard deviation of feature_surprise() is, in nats, and that of the whole surprise.
  double nats() const { return all_.misfit.deviation(); }
  double surprise_nats() const { return nats() * surprises_.deviation(); }
  // The surprise at novelty 0.5 of rows whose most probable cluster has number k and this id.
  double boundary(Index k, ClusterId id, const NoveltySettings& settings) const;
  float novelty(double surprise, double boundary) const {
    return scale_.novelty(surprise, boundary);
  }

  // ---- a block, of which the caller fills in the arrays [rows] ----
  Index* cluster() { return cluster_; }  // before count(): by the numbers after the block
  float* misfit() { return misfit_; }    // on arrival
  float* errors() { return errors_; }    // on arrival
  // Row i after the block. newborn: its cluster was born in this block.
  void note_learnt(Index i, Index k, bool newborn, float misfit, float error) {
    cluster_[i] = k;
    newborn_[i] = newborn ? 1 : 0;
    misfit_after_[i] = misfit;
    error_after_[i] = error;
  }
  // After note_learnt() of every row: how many are reconstructed worse than on arrival, and by how
  // many standard deviations of usual errors all are in the mean.
  Index reconstructed_worse(Index rows, double* rise) const;
  // Counts the block, after note_learnt() of every row. Rows count as they were on arrival: a
  // network that has been trained on rows reconstructs them too well. But rows of newborns count as
  // they are now, and so do all rows if most of them fit, or are reconstructed, worse than before.
  // Those of the first block count as they are now, too, until enough have arrived.
  // trained: whether the network was trained on the block; what was counted before then weighs at
  // most `most` rows. arrived: whether there was a model when the block arrived.
  void count(const ClusterTable& clusters, Index rows, bool trained, bool arrived, double most,
             const NoveltySettings& settings);

  // The block on arrival against what was counted.
  void compare(const ClusterTable& clusters, Index rows, BlockTest& test) const;

  std::size_t bytes() const;
  void save(ByteWriter& writer) const;
  // Whether load() would take the bytes, for a model of so many clusters.
  static Status check(ByteReader reader, Index most_clusters);
  void load(ByteReader& reader);

 private:
  // What is usual of the rows of a cluster, by its id.
  struct Usual {
    std::uint64_t id = kNoId;
    Moments misfit;
    Moments error;
    Moments untrained;  // errors on arrival in the last block that the network was trained on
    double trained_rows = 0.0;  // on which the network was trained
  };
  static constexpr std::size_t kUsualBytes = 2 * 8 + 3 * Moments::kBytes;

  // Mean and variance of surprises.
  Moments surprises_of(const Usual& usual) const;
  const Usual& usual_of(Index k, ClusterId id) const;
  double tail(double deviations, double rate) const;
  double find_boundary(double rate) const;
  double surprise(Index i) const;
  double deviations(const ClusterTable& clusters, Index i) const;
  double error_scale() const;
  void forget_learnt();
  void follow_clusters(const ClusterTable& clusters);
  void choose(Index rows, bool arrived, const float* after, float* value) const;
  static void write(const Usual& usual, ByteWriter& writer);
  static bool read(ByteReader& reader, Usual& usual);

  Index dims_ = 1;
  double weight_ = 0.0;
  bool nats_ = false;
  Usual all_;
  Moments surprises_;         // sums of both parts
  bool trained_ = false;      // on the last block
  bool only_learnt_ = false;  // no row that was counted had an error on arrival
  Index clusters_ = 0;
  Usual* usual_ = nullptr;  // [K] by number, as of the last count
  Usual nothing_;           // of a cluster without rows
  Usual* spare_ = nullptr;  // [K]
  NoveltyScale scale_;      // of surprises, in standard deviations of their cluster's
  // What find_boundary() found last, and for which rate; 0: for none.
  mutable double boundary_ = 0.0;
  mutable double boundary_rate_ = 0.0;
  mutable double relief_ = 0.0;
  Index* cluster_ = nullptr;
  float* misfit_ = nullptr;
  float* errors_ = nullptr;
  float* surprise_ = nullptr;
  float* misfit_after_ = nullptr;
  float* error_after_ = nullptr;
  std::uint8_t* newborn_ = nullptr;
};

}  // namespace adapvae

// Generative replay: rows drawn from the clusters and decoded by the network as it was, so that the
// network keeps what it knew; and, from the same rows before and after, how the network moved.
#pragma once

#include "mixture/mixture.h"
#include "network/vae.h"

namespace adapvae {

struct ReplaySettings {
  double balance = 0.75;    // clusters are drawn in proportion to N^balance
  double radius = 3.0;      // draws are kept within so many deviations
  double least_rows = 5.0;  // clusters with fewer are not drawn
  bool filter = true;       // drop draws that the network itself would put into another cluster
  bool even = false;        // as many draws of every cluster instead, whatever rows it has
};

enum class DriftCorrection : std::int32_t { kOff = 0, kShift = 1, kAffine = 2, kTwoStage = 3 };

class Replay {
 public:
  // max_rows: draws of a stream. The network's max_rows is the size of a pass.
  void place(Arena& arena, Index max_rows, const VaeConfig& network, const ClusterShape& shape,
             Index max_clusters);

  // Draws rows from the mixture through the network as it is, as many as x has, into x; rows() of
  // them are left after the filter. x is borrowed until the next draw.
  Status draw(Backend& backend, Vae& vae, const Mixture& mixture, const ReplaySettings& settings,
              std::uint64_t seed, std::uint32_t stream, MatrixView x);
  void clear() { count_ = 0; }

  Index rows() const { return count_; }
  ConstMatrixView inputs() const { return {x_, count_, inputs_}; }
  // The network's latent means of them, as of draw() or the last accept_drift().
  ConstMatrixView latent() const { return {z_, count_, shape_.dims}; }
  Index cluster(Index i) const { return cluster_[i]; }  // -1: none any more
  // Clusters have other numbers now: number [K before]; -1 for one that is gone.
  void renumber(const Index* number);

  // ---- drift ----
  // Where the network puts the rows now: [rows() × m].
  void measure_drift(ConstMatrixView codes);
  // How the network has carried cluster k's rows since latent(): the map of what it carries, valid
  // until the next call, and the shift of its mean in its own deviations. carried.mean is borrowed
  // by the map. trust: how far a change of shape is believed, 0 to 1. False: too few rows, or
  // correction is off; the shift is then 0, or what it is.
  bool drift_of(Index k, DriftCorrection correction, const StatisticsRef& carried, double trust,
                AffineMap* map, double* shift);
  // How much narrower cluster k's rows lie in latent() than what it carries: the ratio of their
  // deviations, a mean over directions; at most 1, and 1 if the rows are too few to say.
  double narrowness(Index k, const StatisticsRef& carried);
  // latent() is now what was measured.
  void accept_drift();

 private:
  void count_codes(Index k, const float* codes, StatisticsRef out) const;
  void settle_mean(const StatisticsRef& before, const StatisticsRef& carried, double weight,
                   double* after) const;

  Index inputs_ = 0;
  ClusterShape shape_;
  Index max_rows_ = 0;
  Index pass_ = 0;
  Index count_ = 0;
  float* x_ = nullptr;        // [max_rows × d] the caller's
  float* z_ = nullptr;        // [max_rows × m]
  float* moved_ = nullptr;    // [max_rows × m]
  float* r_ = nullptr;        // [pass × K]
  Index* cluster_ = nullptr;  // [max_rows]
  double* weight_ = nullptr;  // [K]
  double* scratch_ = nullptr;
};

}  // namespace adapvae

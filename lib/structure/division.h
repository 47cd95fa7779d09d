// Candidate divisions: two halves per cluster, gathered over streams.
//
// A single stream often holds too few rows to prove that a cluster is two. So every cluster may
// have a candidate: the statistics of two halves, from the rows of this cluster since the candidate
// was made. It is evidence only: it is no part of the mixture, and a row counts in it at most once.
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "mixture/mixture.h"

namespace adapvae {

class CandidateDivisions {
 public:
  void place(Arena& arena, const MixtureConfig& config);
  void reset();

  // Half 0 or 1 of cluster k, weighted; both empty if there is no candidate.
  StatisticsRef half(Index k, Index which) const { return halves_[2 * k + which]; }
  bool exists(Index k) const { return halves_.mass(2 * k) > 0.0 && halves_.mass(2 * k + 1) > 0.0; }
  double rows(Index k) const { return rows_[k]; }  // unweighted
  // Entropy of the halves' rows, weighted, beyond what they had in the mixture.
  double entropy(Index k) const { return entropy_[k]; }

  void set(Index k, const StatisticsRef& first, const StatisticsRef& second, double entropy,
           double rows);
  // Forgetting, as Mixture::fade.
  void fade(double factor);
  void clear(Index k);
  // The cluster at `from` gets number `to`.
  void move(Index from, Index to);

  static std::size_t most_bytes(const MixtureConfig& config);
  void save(ByteWriter& writer, Index clusters) const;
  Status load(ByteReader& reader, Index clusters);
  bool sound(Index clusters) const;  // as Mixture::sound()

 private:
  ClusterShape shape_;
  Index capacity_ = 0;
  StatisticsBlock halves_;  // [2 K]
  double* entropy_ = nullptr;
  double* rows_ = nullptr;
};

// Divides the statistics `whole` like two halves: first and second get the halves' own moments,
// mapped so that together they have exactly the mass, mean and scatter of the whole. False, and
// nothing written that means anything, if moments are too thin for that. scratch
// [division_scratch].
bool divide_statistics(const ClusterShape& shape, const StatisticsRef& whole,
                       const StatisticsRef& half_a, const StatisticsRef& half_b,
                       const StatisticsRef& first, const StatisticsRef& second, double* scratch);
// The same without halves to go by: cut in the middle, across the direction of most variance, as if
// the whole were Gaussian.
bool bisect_statistics(const ClusterShape& shape, const StatisticsRef& whole,
                       const StatisticsRef& first, const StatisticsRef& second, double* scratch);
constexpr Index division_scratch(const ClusterShape& shape) {
  return shape.dims * shape.dims + 4 * shape.dims + 3 * shape.scatter_size() + 1;
}

}  // namespace adapvae

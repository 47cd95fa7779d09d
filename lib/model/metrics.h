// How well clusters agree with labels, when there are any: for scoring, never for learning.
//
// Pairs (label, cluster) are counted one at a time, so that a stream of any length can be scored in
// fixed memory; the figures are of all pairs so far.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "base/matrix_view.h"
#include "base/status.h"

namespace adapvae {

struct ClusterMetrics {
  double rows = 0.0;
  Index labels = 0;            // different ones seen
  Index clusters = 0;          // likewise
  double nmi = 0.0;            // mutual information over the arithmetic mean of entropies
  double nmi_geometric = 0.0;  // over the geometric mean
  double ari = 0.0;            // adjusted Rand index
  double homogeneity = 0.0;    // 1 - H(label | cluster) / H(label)
  double completeness = 0.0;   // 1 - H(cluster | label) / H(cluster)
  double v_measure = 0.0;      // harmonic mean of the two; equals nmi
  double accuracy = 0.0;       // best one-to-one match; clusters without a label are errors
  double purity = 0.0;         // every cluster has its most frequent label
};

class ContingencyTable {
 public:
  void place(Arena& arena, Index max_labels, Index max_clusters);
  void reset();

  // kInvalidArgument, and nothing counted, for more different labels or clusters than fit.
  Status add(std::uint64_t label, std::uint64_t cluster);

  Index labels() const { return labels_; }
  Index clusters() const { return clusters_; }
  std::uint64_t label(Index row) const { return label_[row]; }
  std::uint64_t cluster(Index column) const { return cluster_[column]; }
  double count(Index row, Index column) const { return count_[row * max_clusters_ + column]; }

  // Of nothing: agreement is perfect (1), accuracy and purity 0. Labels or clusters that are all
  // the same have entropy 0; the usual conventions apply (1 for both, else 0). Takes time cubic in
  // the larger number of labels or clusters.
  ClusterMetrics metrics() const;

 private:
  double best_match() const;

  Index max_labels_ = 0;
  Index max_clusters_ = 0;
  Index labels_ = 0;
  Index clusters_ = 0;
  std::uint64_t* label_ = nullptr;    // [max_labels]
  std::uint64_t* cluster_ = nullptr;  // [max_clusters]
  double* count_ = nullptr;           // [max_labels × max_clusters]
  double* potential_ = nullptr;       // scratch of the match, for both sides
  double* slack_ = nullptr;
  Index* match_ = nullptr;
  Index* way_ = nullptr;
  bool* used_ = nullptr;
};

}  // namespace adapvae

// Kinds above clusters. The bound keeps several Gaussian clusters for one real kind (its styles).
// Clusters whose rows are each other's neighbours more often than chance would have it belong to
// one kind: greedy merging by modularity on a graph of neighbours.
#pragma once

#include "base/arena.h"
#include "base/matrix_view.h"

namespace adapvae {

class KindGrouping {
 public:
  void place(Arena& arena, Index max_clusters);
  void reset(Index clusters);

  // An edge of the graph, between rows of these clusters; it counts `weight`.
  void add_edge(Index a, Index b, double weight) {
    edges_[a * clusters_ + b] += weight;
    edges_[b * clusters_ + a] += weight;
  }

  // kind [clusters]: for every cluster the number of one that stands for its kind. Coming in, it
  // says so of the kinds until now: a cluster without any edge, of which nothing was seen, stays
  // with its own. The edges are used up.
  void group(double resolution, Index* kind);

 private:
  bool best_pair(double resolution, double total, const Index* kind, Index* a, Index* b) const;

  Index clusters_ = 0;
  double* edges_ = nullptr;   // [K × K]
  double* degree_ = nullptr;  // [K]
  Index* before_ = nullptr;   // [K]
};

}  // namespace adapvae

// What the labels of held-out rows say about clusters. Pure functions of ids and labels.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "bench/paper/data_set.h"
#include "model/metrics.h"
#include "structure/registry.h"

namespace adapvae::bench {

// Where the model puts rows: [n] each.
struct Judgement {
  std::vector<ClusterId> id;
  std::vector<ClusterId> component;
  std::vector<float> novelty;
};

constexpr float kNovel = 0.5F;  // novelty from which a row counts as flagged

// Agreement of `found` (ids of clusters or components) with the labels, over the rows of `classes`.
ClusterMetrics agreement(const std::vector<ClusterId>& found, const std::vector<int>& label,
                         const std::set<int>& classes);

// The class that most rows of a cluster have, of rows of `classes`. Clusters without such a row are
// not in the map.
std::map<ClusterId, int> majorities(const std::vector<ClusterId>& found,
                                    const std::vector<int>& label, const std::set<int>& classes);

// How well the clusters in `chosen` are the class: of the rows of `classes`.
struct Finding {
  int label = 0;
  int clusters = 0;  // of `chosen`
  double precision = 0.0;
  double recall = 0.0;
  double f1 = 0.0;
  bool found() const { return recall > 0.0 && precision > 0.5; }
};
Finding finding(const std::vector<ClusterId>& found, const std::vector<int>& label,
                const std::set<int>& classes, const std::set<ClusterId>& chosen, int wanted);

// Of `born`, those whose majority is the class.
std::set<ClusterId> clusters_of(const std::map<ClusterId, int>& majority,
                                const std::set<ClusterId>& born, int wanted);

// The part of the rows of `classes` whose cluster has the row's own class in `meaning`; a cluster
// without a meaning is wrong. 0 if there are no rows.
double accuracy(const std::vector<ClusterId>& found, const std::vector<int>& label,
                const std::set<int>& classes, const std::map<ClusterId, int>& meaning);

// The part of the rows of `classes` that was flagged; 0 if there are none.
double flagged(const std::vector<float>& novelty, const std::vector<int>& label,
               const std::set<int>& classes);

// Rows that came up to and with the first flagged one of the class; -1: none was.
int detection_delay(const std::vector<float>& novelty, const std::vector<int>& label, int wanted);

}  // namespace adapvae::bench

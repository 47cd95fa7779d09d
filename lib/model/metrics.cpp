#include "model/metrics.h"

#include <algorithm>
#include <cmath>

namespace adapvae {
namespace {

// Number of `key` in list [count]; count if it is not there.
Index find(const std::uint64_t* list, Index count, std::uint64_t key) {
  return std::find(list, list + count, key) - list;
}

double pairs(double n) { return 0.5 * n * (n - 1.0); }

}  // namespace

void ContingencyTable::place(Arena& arena, Index max_labels, Index max_clusters) {
  max_labels_ = max_labels;
  max_clusters_ = max_clusters;
  const Index side = std::max(max_labels, max_clusters) + 1;
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  take(label_, max_labels);
  take(cluster_, max_clusters);
  take(count_, max_labels * max_clusters);
  take(potential_, 2 * side);
  take(slack_, side);
  take(match_, side);
  take(way_, side);
  take(used_, side);
}

void ContingencyTable::reset() {
  labels_ = 0;
  clusters_ = 0;
  std::fill_n(count_, max_labels_ * max_clusters_, 0.0);
}

Status ContingencyTable::add(std::uint64_t label, std::uint64_t cluster) {
  const Index row = find(label_, labels_, label);
  const Index column = find(cluster_, clusters_, cluster);
  if (row == max_labels_) return {StatusCode::kInvalidArgument, "too many different labels"};
  if (column == max_clusters_) {
    return {StatusCode::kInvalidArgument, "too many different clusters"};
  }
  if (row == labels_) label_[labels_++] = label;
  if (column == clusters_) cluster_[clusters_++] = cluster;
  count_[row * max_clusters_ + column] += 1.0;
  return {};
}

ClusterMetrics ContingencyTable::metrics() const {
  ClusterMetrics m;
  m.labels = labels_;
  m.clusters = clusters_;
  double pairs_within = 0.0;
  double pairs_of_labels = 0.0;
  double pairs_of_clusters = 0.0;
  double pure = 0.0;
  // Σ n log n of the cells, of the rows and of the columns: entropies follow.
  double cells = 0.0;
  double label_sum = 0.0;
  double cluster_sum = 0.0;
  const auto n_log_n = [](double n) { return n > 0.0 ? n * std::log(n) : 0.0; };
  for (Index i = 0; i < labels_; ++i) {
    double of_label = 0.0;
    for (Index j = 0; j < clusters_; ++j) {
      const double n = count(i, j);
      of_label += n;
      cells += n_log_n(n);
      pairs_within += pairs(n);
    }
    label_sum += n_log_n(of_label);
    pairs_of_labels += pairs(of_label);
    m.rows += of_label;
  }
  for (Index j = 0; j < clusters_; ++j) {
    double of_cluster = 0.0;
    double most = 0.0;
    for (Index i = 0; i < labels_; ++i) {
      of_cluster += count(i, j);
      most = std::max(most, count(i, j));
    }
    cluster_sum += n_log_n(of_cluster);
    pairs_of_clusters += pairs(of_cluster);
    pure += most;
  }
  const double total = n_log_n(m.rows);
  const double scale = m.rows > 0.0 ? 1.0 / m.rows : 0.0;
  const double label_entropy = std::max(0.0, (total - label_sum) * scale);
  const double cluster_entropy = std::max(0.0, (total - cluster_sum) * scale);
  const double mutual = std::max(0.0, (cells + total - label_sum - cluster_sum) * scale);

  m.homogeneity = labels_ < 2 ? 1.0 : mutual / label_entropy;
  m.completeness = clusters_ < 2 ? 1.0 : mutual / cluster_entropy;
  const double both = m.homogeneity + m.completeness;
  m.v_measure = both > 0.0 ? 2.0 * m.homogeneity * m.completeness / both : 0.0;
  m.nmi = m.v_measure;
  if (labels_ < 2 && clusters_ < 2) {
    m.nmi_geometric = 1.0;
  } else {
    const double mean = std::sqrt(label_entropy * cluster_entropy);
    m.nmi_geometric = mean > 0.0 ? mutual / mean : 0.0;
  }
  const double all = pairs(m.rows);
  const double expected = all > 0.0 ? pairs_of_labels * pairs_of_clusters / all : 0.0;
  const double most = 0.5 * (pairs_of_labels + pairs_of_clusters);
  m.ari = most != expected ? (pairs_within - expected) / (most - expected) : 1.0;
  m.accuracy = best_match() * scale;
  m.purity = pure * scale;
  return m;
}

// The largest sum of cells with at most one in each row and column: the assignment problem by
// shortest augmenting paths with potentials, rows 1…, columns 1…, number 0 is nobody.
double ContingencyTable::best_match() const {
  const bool flip = labels_ > clusters_;  // rows must not outnumber columns
  const Index rows = flip ? clusters_ : labels_;
  const Index columns = flip ? labels_ : clusters_;
  const auto cost = [&](Index i, Index j) {
    return -(flip ? count(j - 1, i - 1) : count(i - 1, j - 1));
  };
  double* u = potential_;
  double* v = potential_ + std::max(max_labels_, max_clusters_) + 1;
  std::fill_n(u, rows + 1, 0.0);
  std::fill_n(v, columns + 1, 0.0);
  std::fill_n(match_, columns + 1, Index{0});
  for (Index i = 1; i <= rows; ++i) {
    match_[0] = i;
    Index at = 0;
    std::fill_n(slack_, columns + 1, 1e300);
    std::fill_n(used_, columns + 1, false);
    while (match_[at] != 0) {
      used_[at] = true;
      const Index row = match_[at];
      double least = 1e300;
      Index next = 0;
      for (Index j = 1; j <= columns; ++j) {
        if (used_[j]) continue;
        const double reduced = cost(row, j) - u[row] - v[j];
        if (reduced < slack_[j]) {
          slack_[j] = reduced;
          way_[j] = at;
        }
        if (slack_[j] < least) {
          least = slack_[j];
          next = j;
        }
      }
      for (Index j = 0; j <= columns; ++j) {
        if (used_[j]) {
          u[match_[j]] += least;
          v[j] -= least;
        } else {
          slack_[j] -= least;
        }
      }
      at = next;
    }
    for (; at != 0; at = way_[at]) match_[at] = match_[way_[at]];
  }
  double sum = 0.0;
  for (Index j = 1; j <= columns; ++j) {
    if (match_[j] != 0) sum -= cost(match_[j], j);
  }
  return sum;
}

}  // namespace adapvae

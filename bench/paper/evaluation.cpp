#include "bench/paper/evaluation.h"

#include <algorithm>
#include <cstdlib>

#include "tools/placed_memory.h"

namespace adapvae::bench {

ClusterMetrics agreement(const std::vector<ClusterId>& found, const std::vector<int>& label,
                         const std::set<int>& classes) {
  const std::set<std::uint64_t> different(found.begin(), found.end());
  ContingencyTable table;
  const tools::PlacedMemory room([&](Arena& arena) {
    table.place(arena, static_cast<Index>(classes.size()), static_cast<Index>(different.size()));
  });
  table.reset();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (classes.count(label[i]) == 0) continue;
    if (!table.add(static_cast<std::uint64_t>(label[i]), found[i]).ok()) std::abort();
  }
  return table.metrics();
}

std::map<ClusterId, int> majorities(const std::vector<ClusterId>& found,
                                    const std::vector<int>& label, const std::set<int>& classes) {
  std::map<ClusterId, std::map<int, int>> votes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (classes.count(label[i]) != 0) ++votes[found[i]][label[i]];
  }
  std::map<ClusterId, int> out;
  for (const auto& [cluster, count] : votes) {
    out[cluster] = std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) {
                     return a.second < b.second;
                   })->first;
  }
  return out;
}

Finding finding(const std::vector<ClusterId>& found, const std::vector<int>& label,
                const std::set<int>& classes, const std::set<ClusterId>& chosen, int wanted) {
  Finding out;
  out.label = wanted;
  out.clusters = static_cast<int>(chosen.size());
  double in = 0.0, hit = 0.0, all = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (classes.count(label[i]) == 0) continue;
    const bool taken = chosen.count(found[i]) != 0;
    const bool right = label[i] == wanted;
    in += taken ? 1.0 : 0.0;
    all += right ? 1.0 : 0.0;
    hit += taken && right ? 1.0 : 0.0;
  }
  if (in > 0.0) out.precision = hit / in;
  if (all > 0.0) out.recall = hit / all;
  if (hit > 0.0) out.f1 = 2.0 * hit / (in + all);
  return out;
}

std::set<ClusterId> clusters_of(const std::map<ClusterId, int>& majority,
                                const std::set<ClusterId>& born, int wanted) {
  std::set<ClusterId> out;
  for (const auto& [cluster, label] : majority) {
    if (label == wanted && born.count(cluster) != 0) out.insert(cluster);
  }
  return out;
}

double accuracy(const std::vector<ClusterId>& found, const std::vector<int>& label,
                const std::set<int>& classes, const std::map<ClusterId, int>& meaning) {
  double right = 0.0, all = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (classes.count(label[i]) == 0) continue;
    all += 1.0;
    const auto at = meaning.find(found[i]);
    right += at != meaning.end() && at->second == label[i] ? 1.0 : 0.0;
  }
  return all > 0.0 ? right / all : 0.0;
}

double flagged(const std::vector<float>& novelty, const std::vector<int>& label,
               const std::set<int>& classes) {
  double in = 0.0, all = 0.0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (classes.count(label[i]) == 0) continue;
    all += 1.0;
    in += novelty[i] > kNovel ? 1.0 : 0.0;
  }
  return all > 0.0 ? in / all : 0.0;
}

int detection_delay(const std::vector<float>& novelty, const std::vector<int>& label, int wanted) {
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (label[i] == wanted && novelty[i] > kNovel) return static_cast<int>(i) + 1;
  }
  return -1;
}

}  // namespace adapvae::bench

#include "cli/label_table.h"

#include <algorithm>
#include <limits>

#include "cli/model_file.h"
#include "cli/row_lines.h"

namespace adapvae::cli {

void LabelTable::add(const std::string& label, adapvae_id id, adapvae_id component) {
  constexpr std::size_t kNode = 64;  // of a map, with what the heap adds
  const auto [at, is_new] = numbers_.emplace(label, static_cast<std::int32_t>(numbers_.size()));
  const std::size_t pairs = clusters_.size() + components_.size();
  ++clusters_[{at->second, id}];
  ++components_[{at->second, component}];
  memory_ += kNode * (clusters_.size() + components_.size() - pairs);
  if (is_new) memory_ += kNode + sizeof(std::string) + label.size();
}

bool LabelTable::measure(const Counts& counts, adapvae_metrics& metrics, std::string& error) {
  std::int64_t rows = 0;
  for (const auto& [pair, count] : counts) rows += count;
  if (rows > std::numeric_limits<std::int32_t>::max()) {
    error = "more than 2147483647 rows with labels";
    return false;
  }
  std::vector<std::int32_t> labels;
  std::vector<adapvae_id> ids;
  labels.reserve(static_cast<std::size_t>(rows));
  ids.reserve(static_cast<std::size_t>(rows));
  for (const auto& [pair, count] : counts) {
    labels.insert(labels.end(), static_cast<std::size_t>(count), pair.label);
    ids.insert(ids.end(), static_cast<std::size_t>(count), pair.id);
  }
  auto why = sized<adapvae_error>();
  metrics = sized<adapvae_metrics>();
  if (adapvae_evaluate(labels.data(), ids.data(), static_cast<std::int32_t>(rows), nullptr,
                       &metrics, &why) == ADAPVAE_OK) {
    return true;
  }
  error = why.message;
  return false;
}

bool LabelTable::metrics(adapvae_metrics& clusters, adapvae_metrics& components,
                         std::string& error) const {
  return measure(clusters_, clusters, error) && measure(components_, components, error);
}

ReportConfusion LabelTable::confusion() const {
  ReportConfusion out;
  std::map<std::int32_t, std::size_t> line;
  for (const auto& [label, number] : numbers_) {
    line[number] = out.labels.size();
    out.labels.push_back(label);
  }
  for (const auto& [pair, count] : clusters_) out.clusters.push_back(pair.id);
  std::sort(out.clusters.begin(), out.clusters.end());
  out.clusters.erase(std::unique(out.clusters.begin(), out.clusters.end()), out.clusters.end());
  for (const auto& [pair, count] : clusters_) {
    const auto column = std::lower_bound(out.clusters.begin(), out.clusters.end(), pair.id);
    out.counts.push_back(
        {line[pair.label], static_cast<std::size_t>(column - out.clusters.begin()), count});
  }
  return out;
}

std::string metrics_json(const char* level, const adapvae_metrics& m) {
  char text[512];
  std::snprintf(text, sizeof text,
                "{\"level\":\"%s\",\"rows\":%d,\"labels\":%d,\"k\":%d,\"nmi\":%.6f,"
                "\"nmi_geometric\":%.6f,\"ari\":%.6f,\"hs\":%.6f,\"cs\":%.6f,\"vm\":%.6f,"
                "\"acc\":%.6f,\"purity\":%.6f}",
                level, m.rows, m.labels, m.clusters, m.nmi, m.nmi_geometric, m.ari, m.homogeneity,
                m.completeness, m.v_measure, m.accuracy, m.purity);
  return text;
}

}  // namespace adapvae::cli

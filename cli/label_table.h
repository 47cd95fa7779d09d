// Labels beside clusters, counted, for metrics: labels score, nothing learns from them. While rows
// come it takes memory for pairs of a label and a cluster alone; metrics take 8 bytes a row for a
// moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <adapvae/adapvae.h>

#include "cli/report/page.h"

namespace adapvae::cli {

class LabelTable {
 public:
  void add(const std::string& label, adapvae_id id, adapvae_id component);
  bool empty() const { return numbers_.empty(); }
  // Bytes, about: grows with labels that differ.
  std::size_t memory() const { return memory_; }
  // Of clusters and of components; false: `error` says why not.
  bool metrics(adapvae_metrics& clusters, adapvae_metrics& components, std::string& error) const;
  ReportConfusion confusion() const;

 private:
  struct Pair {
    std::int32_t label;
    adapvae_id id;
    auto operator<=>(const Pair&) const = default;
  };
  using Counts = std::map<Pair, std::int64_t>;
  static bool measure(const Counts& counts, adapvae_metrics& metrics, std::string& error);

  std::map<std::string, std::int32_t> numbers_;
  Counts clusters_, components_;
  std::size_t memory_ = 0;
};

// One JSON object, without a line's end.
std::string metrics_json(const char* level, const adapvae_metrics& metrics);

}  // namespace adapvae::cli

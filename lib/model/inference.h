// What a model says of rows without learning from them, and what it makes up.
#pragma once

#include "structure/registry.h"

namespace adapvae {

// A row as the model sees it. Every number is finite, whatever the row.
struct RowResult {
  // The cluster is a handful of rows of the first stream, not announced as a birth yet.
  static constexpr std::uint32_t kProvisional = 1;
  // The model is as it was created: id and kind are kNoId, probability is 0, novelty 1.
  static constexpr std::uint32_t kNothingLearnt = 2;

  ClusterId id = kNoId;      // most probable cluster
  ClusterId kind = kNoId;    // the id of a cluster that stands for its kind; perhaps its own
  float probability = 0.0F;  // of that cluster, among those that there are
  float novelty = 1.0F;      // [0, 1], higher is more novel: novel iff above 0.5
  float log_density = 0.0F;  // of the row's features under the whole mixture
  std::uint32_t flags = 0;
};

struct GenerateSettings {
  ClusterId cluster = kNoId;  // kNoId: the whole mixture, clusters by their weight
  double radius = 3.0;        // draws lie within so many deviations of their cluster; 0: anywhere
  std::uint64_t seed = 1;     // row i of a seed is the same whatever the number of rows
};

}  // namespace adapvae

// Files beside the figures: pictures of what was learnt, and rows and latents for peers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/paper/experiment.h"

namespace adapvae::bench {

// What the decoder makes of the clusters' means after each stream: a line a stream, a column a
// cluster, in the order of ids; dark where a cluster was not there. Images only.
class MeansPicture : public Experiment::Watcher {
 public:
  void after_stream(Experiment& experiment) override;
  [[nodiscard]] bool write(const DataSet& set, const std::string& path, std::string& error) const;

 private:
  std::vector<std::map<ClusterId, std::vector<float>>> streams_;
};

// Ten draws from each cluster through the decoder, a line a cluster. Images only.
[[nodiscard]] bool write_samples(Experiment& experiment, std::uint64_t seed,
                                 const std::string& path, std::string& error);

// Into the folder, as little-endian floats: inputs-train.f32, inputs-test.f32, latent-train.f32,
// latent-test.f32 (the streams' rows in their order, the held-out rows), and labels-test.f32.
[[nodiscard]] bool write_vectors(Experiment& experiment, const std::string& folder,
                                 std::string& error);

}  // namespace adapvae::bench

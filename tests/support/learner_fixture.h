// A cluster learner with its backend and memory, for tests.
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "compute/cpu_backend.h"
#include "structure/cluster_learner.h"

namespace adapvae::testing {

class LearnerFixture {
 public:
  explicit LearnerFixture(const LearnerConfig& config) {
    const ComputeLimits limits = {.rows = config.stream_rows(),
                                  .widest_layer = config.max_clusters,
                                  .dims = config.shape.dims,
                                  .clusters = std::max(config.max_clusters, Proposal::kMostPieces)};
    const auto place = [&](Arena& arena) {
      backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
      learner.place(arena, config);
    };
    bytes = planned_bytes(place);
    memory.reset(new (std::align_val_t{Arena::kAlignment}) std::byte[bytes]);
    std::fill_n(reinterpret_cast<unsigned char*>(memory.get()), bytes, 0xFF);
    Arena arena(memory.get(), bytes);
    place(arena);
    learner.reset();
    learner.set_event_sink({[](void* list, const ClusterEvent& event) {
                              static_cast<std::vector<ClusterEvent>*>(list)->push_back(event);
                            },
                            &events});
    events.reserve(100000);
  }

  Status learn(const std::vector<float>& rows) {
    const Index m = learner.config().shape.dims;
    return learner.learn(backend, {rows.data(), static_cast<Index>(rows.size()) / m, m}, {});
  }

  struct Scored {
    std::vector<RowScore> score;
    std::vector<float> novelty;
    std::vector<ClusterId> id;
  };
  Scored score(const std::vector<float>& rows) {
    const Index m = learner.config().shape.dims;
    const Index n = static_cast<Index>(rows.size()) / m;
    Scored out;
    out.score.resize(static_cast<std::size_t>(n));
    out.novelty.resize(static_cast<std::size_t>(n));
    std::vector<float> r(static_cast<std::size_t>(n * learner.mixture().clusters()));
    learner.score(backend, {rows.data(), n, m}, {}, {r.data(), n, learner.mixture().clusters()},
                  out.score.data(), out.novelty.data());
    for (const RowScore& s : out.score)
      out.id.push_back(learner.registry().info(s.cluster).cluster);
    return out;
  }

  std::vector<std::uint8_t> saved() const {
    std::vector<std::uint8_t> bytes_of(ClusterLearner::most_bytes(learner.config()));
    ByteWriter writer(bytes_of.data(), bytes_of.size());
    learner.save(writer);
    bytes_of.resize(writer.ok() ? writer.position() : 0);
    return bytes_of;
  }

  // Events of a kind so far.
  std::vector<ClusterEvent> events_of(ClusterEventKind kind) const {
    std::vector<ClusterEvent> found;
    for (const ClusterEvent& e : events) {
      if (e.kind == kind) found.push_back(e);
    }
    return found;
  }

  CpuBackend backend;
  ClusterLearner learner;
  std::vector<ClusterEvent> events;
  std::size_t bytes = 0;

 private:
  struct AlignedDelete {
    void operator()(std::byte* p) const {
      ::operator delete[](p, std::align_val_t{Arena::kAlignment});
    }
  };
  std::unique_ptr<std::byte[], AlignedDelete> memory;
};

}  // namespace adapvae::testing

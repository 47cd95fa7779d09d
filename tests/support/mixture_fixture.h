// A mixture with its backend and memory, for tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <doctest/doctest.h>

#include "base/bytes.h"
#include "base/philox.h"
#include "base/sampling.h"
#include "compute/cpu_backend.h"
#include "mixture/mixture.h"

namespace adapvae::testing {

class MixtureFixture {
 public:
  explicit MixtureFixture(const MixtureConfig& config) {
    const ComputeLimits limits = {.rows = config.max_rows,
                                  .widest_layer = config.max_clusters,
                                  .dims = config.shape.dims,
                                  .clusters = std::max<Index>(config.max_clusters, 11)};
    const auto place = [&](Arena& arena) {
      backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
      mixture.place(arena, config);
    };
    bytes = planned_bytes(place);
    memory.reset(new (std::align_val_t{Arena::kAlignment}) std::byte[bytes]);
    std::fill_n(reinterpret_cast<unsigned char*>(memory.get()), bytes, 0xFF);
    Arena arena(memory.get(), bytes);
    place(arena);
    mixture.reset();
  }

  CpuBackend backend;
  Mixture mixture;
  std::size_t bytes = 0;

 private:
  struct AlignedDelete {
    void operator()(std::byte* p) const {
      ::operator delete[](p, std::align_val_t{Arena::kAlignment});
    }
  };
  std::unique_ptr<std::byte[], AlignedDelete> memory;
};

// Rows around `kinds` random centres, `spread` apart.
inline std::vector<float> clumped_rows(Index rows, Index dims, Index kinds, double spread,
                                       Philox& random) {
  std::vector<double> centers(static_cast<std::size_t>(kinds * dims));
  for (double& c : centers) c = spread * sample_normal(random);
  std::vector<float> values(static_cast<std::size_t>(rows * dims));
  for (Index i = 0; i < rows; ++i) {
    const Index kind = static_cast<Index>(random.below(static_cast<std::uint32_t>(kinds)));
    for (Index j = 0; j < dims; ++j) {
      values[static_cast<std::size_t>(i * dims + j)] = static_cast<float>(
          centers[static_cast<std::size_t>(kind * dims + j)] + sample_normal(random));
    }
  }
  return values;
}

// Random responsibilities in whole units that sum to one, often hard.
inline void randomise_responsibilities(Mixture& mixture, Philox& random) {
  const MatrixViewD r = mixture.stream_responsibilities();
  for (Index i = 0; i < r.rows; ++i) {
    std::uint32_t left = 1U << 24;
    for (Index k = 0; k + 1 < r.cols; ++k) {
      const std::uint32_t units = random.below(3) == 0 ? random.below(left + 1) : 0;
      r(i, k) = static_cast<double>(units) / 16777216.0;
      left -= units;
    }
    r(i, r.cols - 1) = static_cast<double>(left) / 16777216.0;
  }
}

// What save() writes.
inline std::vector<std::uint8_t> saved(const Mixture& mixture) {
  std::vector<std::uint8_t> bytes(Mixture::most_bytes(mixture.config()));
  ByteWriter writer(bytes.data(), bytes.size());
  mixture.save(writer);
  REQUIRE(writer.ok());
  bytes.resize(writer.position());
  return bytes;
}

}  // namespace adapvae::testing

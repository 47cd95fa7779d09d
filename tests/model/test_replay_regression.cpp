// Replay keeps what the network knew: the shipped 8 × 8 digits, two kinds a stream, with replay and
// without.
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/model_fixture.h"
#include "tools/idx_file.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr int kDigits = 10;
constexpr Index kPixels = 64;

struct Digits {
  std::vector<float> rows;
  std::vector<int> label;

  void add(const float* row, int digit) {
    rows.insert(rows.end(), row, row + kPixels);
    label.push_back(digit);
  }
  ConstMatrixView view() const { return {rows.data(), static_cast<Index>(label.size()), kPixels}; }
};

struct Split {
  Digits stream[kDigits / 2];
  Digits held_out;  // every fourth row
};

Split read_digits() {
  const std::string folder = std::string(ADAPVAE_SOURCE_DIR) + "/examples/data/";
  std::string error;
  auto images = tools::read_idx_file(folder + "digits8x8-images.idx.gz", error);
  const auto labels = tools::read_idx_file(folder + "digits8x8-labels.idx.gz", error);
  REQUIRE_MESSAGE((images && labels), error);
  for (float& value : images->values) value /= 16.0F;
  Split split;
  for (Index i = 0; i < images->rows(); ++i) {
    const int digit = static_cast<int>(labels->values[static_cast<std::size_t>(i)]);
    Digits& to = i % 4 == 3 ? split.held_out : split.stream[digit / 2];
    to.add(images->values.data() + i * images->row_size(), digit);
  }
  return split;
}

// The edge preset with room for a stream of these.
Configuration digit_model(std::uint64_t seed, double replay_ratio) {
  Configuration config;
  REQUIRE(apply_preset(config, "edge").ok());
  config.block_rows = 300;
  config.max_clusters = 24;
  config.seed = seed;
  config.replay_ratio = replay_ratio;
  return config;
}

// Agreement with the labels of all digits, when the last of them have been learnt.
double final_nmi(const Split& split, const Configuration& config) {
  ModelFixture f(config);
  for (const Digits& digits : split.stream) {
    StreamReport report;
    REQUIRE(f.model.learn(f.backend, digits.view(), &report).ok());
  }
  std::vector<RowResult> result(split.held_out.label.size());
  REQUIRE(f.model.score(f.backend, split.held_out.view(), result.data()).ok());
  ContingencyTable table;
  const auto place = [&](Arena& arena) { table.place(arena, kDigits, config.max_clusters); };
  GuardedMemory memory(planned_bytes(place));
  Arena arena(memory.data(), memory.size());
  place(arena);
  table.reset();
  for (std::size_t i = 0; i < result.size(); ++i) {
    REQUIRE(table.add(static_cast<std::uint64_t>(split.held_out.label[i]), result[i].id).ok());
  }
  return table.metrics().nmi;
}

}  // namespace

// With replay .81, .86 and .81 for the three seeds, without .46, .34 and .51. Builds differ in the
// last bits and training magnifies that: the bounds are half of what there is.
TEST_CASE("replay: without it the digits of earlier streams are forgotten") {
  const Split split = read_digits();
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const double with = final_nmi(split, digit_model(seed, 2.0));
    const double without = final_nmi(split, digit_model(seed, 0.0));
    CHECK(with > without + 0.15);
    CHECK(with > 0.65);
  }
}

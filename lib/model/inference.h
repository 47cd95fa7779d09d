// What a model says of rows without learning from them, and what it makes up.
#pragma once

#include <span>

#include "base/text_writer.h"
#include "structure/registry.h"

namespace adapvae {

// A row as the model sees it. Every number is finite, whatever the row.
struct RowResult {
  // The cluster is a handful of rows of the first stream, not announced as a birth yet.
  static constexpr std::uint32_t kProvisional = 1;
  // The model is as it was created: both ids are kNoId, probability is 0, novelty 1.
  static constexpr std::uint32_t kNothingLearnt = 2;

  // novelty is above 0.5
  static constexpr std::uint32_t kNovel = 4;

  ClusterId id = kNoId;         // most probable cluster
  ClusterId component = kNoId;  // most probable component of that cluster
  float probability = 0.0F;     // of that cluster, among those that there are
  float novelty = 1.0F;         // [0, 1], higher is more novel: novel iff above 0.5
  // Of the row: its features under the whole mixture, less what its reconstruction and the values
  // of its columns cost more than usual (eq. 26). For ranking rows; a rare cluster's are low.
  float log_density = 0.0F;
  std::uint32_t flags = 0;
};

// An input that is not as the others let expect.
struct InputReason {
  Index number = 0;
  float value = 0.0F;
  float expected = 0.0F;    // by the other inputs
  double deviations = 0.0;  // value less expected, in standard deviations; 0 without scale_inputs
  double effect = 0.0;      // by which the surprise falls if it is as expected
};

// Why a row is as novel as it is.
struct RowReason {
  static constexpr Index kMostInputs = 3;

  RowResult result;
  double surprise = 0.0;          // of features and error, in standard deviations (eq. 19)
  double error_surprise = 0.0;    // the error's part of it
  double boundary = 0.0;          // surprise of novelty 0.5, for rows of its cluster
  ClusterId nearest = kNoId;      // cluster that has most of the density there
  double squared_distance = 0.0;  // from it, in its own metric; ordinary rows have about m
  // The part of each feature in it [m], and the row less what the network makes of it [d], in the
  // units of the input: both where explain() was told to put them.
  std::span<const double> contribution;
  std::span<const float> error;
  // The inputs that make it novel: the one with the largest effect first, then the one with the
  // largest effect if the first is as expected.
  Index inputs = 0;
  InputReason input[kMostInputs];
};

// Some lines of English without a final line break, and one JSON object: for explain().
// name: of the row's cluster; may be empty.
void write_reason(const RowReason& reason, std::string_view name, TextWriter& text);
void write_reason_json(const RowReason& reason, std::string_view name, TextWriter& text);

struct GenerateSettings {
  ClusterId cluster = kNoId;  // kNoId: the whole mixture, clusters by their weight
  double radius = 3.0;        // draws lie within so many deviations of their cluster; 0: anywhere
  std::uint64_t seed = 1;     // row i of a seed is the same whatever the number of rows
};

}  // namespace adapvae

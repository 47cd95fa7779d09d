// What a run leaves for a report, in bounded memory: a trace of novelty, a sample of rows for the
// map, labels beside clusters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <adapvae/adapvae.h>

#include "cli/label_table.h"

namespace adapvae::cli {

// A row as the filter has seen it.
struct SeenRow {
  std::int64_t number = 0;
  const float* values = nullptr;  // [inputs]
  float novelty = 0.0F;           // as met
  adapvae_id id = 0;              // after learning
  adapvae_id component = 0;
  const std::string* label = nullptr;
};

class RunRecord {
 public:
  struct Sample {
    std::int64_t number = 0;
    float novelty = 0.0F;
    std::string label;
    std::vector<float> values;
  };

  explicit RunRecord(int inputs);
  void add(const SeenRow& row);

  const std::vector<std::pair<std::int64_t, float>>& novelty() const { return novelty_; }
  const std::vector<Sample>& samples() const { return samples_; }
  const LabelTable& labels() const { return labels_; }

 private:
  void add_novelty(std::int64_t number, float novelty);
  void add_sample(const SeenRow& row);

  std::size_t inputs_;
  std::size_t most_samples_;
  std::int64_t rows_ = 0;
  std::int64_t each_ = 1;  // rows that a point of the trace stands for
  std::vector<std::pair<std::int64_t, float>> novelty_;
  std::vector<Sample> samples_;
  LabelTable labels_;
};

}  // namespace adapvae::cli

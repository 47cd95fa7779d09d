// Labelled rows for the paper's protocols: read, made smaller for a small network, and scaled.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/matrix_view.h"

namespace adapvae::bench {

struct LabelledRows {
  std::vector<float> values;  // [size() × inputs]
  std::vector<int> label;     // from 0
  std::size_t size() const { return label.size(); }
};

struct DataSet {
  Index inputs = 0;
  int width = 0;  // of an image; 0: rows are not images
  int height = 0;
  int classes = 0;
  LabelledRows train;
  LabelledRows test;  // held out: never in a stream

  const float* train_row(std::size_t i) const {
    return train.values.data() + i * static_cast<std::size_t>(inputs);
  }
};

// Where `path` is a folder: train-images or train-features, train-labels, and test- or t10k- the
// same, as IDX files with any of the usual endings. Otherwise path-images and path-labels. Without
// files for test, every fifth row is held out. Bytes become numbers from 0 to 1. On failure: false,
// and error says which file is the matter.
[[nodiscard]] bool read_data_set(const std::string& path, DataSet& set, std::string& error);

// Rows of `inputs` numbers, by averages over equal parts of each: of images (to a square), or of
// neighbouring numbers if `ordered` (a spectrum). False, and nothing changed, where there is no
// such way.
bool pool_inputs(DataSet& set, Index inputs, bool ordered);

enum class RowScaling {
  kNone,
  kOverall,  // one factor: the mean square becomes 1
  kColumns,  // every input gets mean 0 and deviation 1; what never varies becomes 0
};
// As the training rows in `by` say; all rows are changed.
void scale_rows(DataSet& set, RowScaling scaling, std::span<const std::uint32_t> by);

}  // namespace adapvae::bench

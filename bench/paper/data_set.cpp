#include "bench/paper/data_set.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/idx_file.h"

namespace adapvae::bench {
namespace {

constexpr std::size_t kHeldOut = 5;  // every fifth row

bool file_exists(const std::string& path) {
  FILE* file = std::fopen(path.c_str(), "rb");
  if (file != nullptr) std::fclose(file);
  return file != nullptr;
}

// The first of the usual spellings that there is; empty: none.
std::string find_part(const std::string& start, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    for (const char* ending :
         {".idx.gz", "-idx3-ubyte", "-idx3-ubyte.gz", "-idx1-ubyte", "-idx1-ubyte.gz", ".idx"}) {
      std::string path = start;
      path += part;
      path += ending;
      if (file_exists(path)) return path;
    }
  }
  return {};
}

// start: the path up to "images" or "features".
bool read_rows(const std::string& start, LabelledRows& rows, DataSet& set, std::string& error) {
  const std::string features = find_part(start, {"images", "features"});
  const std::string labels = find_part(start, {"labels"});
  if (features.empty() || labels.empty()) {
    error = start + "*: there are no IDX files of rows and labels of that name";
    return false;
  }
  auto data = tools::read_idx_file(features, error);
  const auto classes = tools::read_idx_file(labels, error);
  if (!data || !classes) return false;
  if (data->rows() != classes->rows()) {
    error = features + ": not as many rows as labels";
    return false;
  }
  if (set.inputs != 0 && set.inputs != data->row_size()) {
    error = features + ": test rows are not as long as training rows";
    return false;
  }
  set.inputs = static_cast<Index>(data->row_size());
  if (data->shape.size() == 3) {
    set.height = static_cast<int>(data->shape[1]);
    set.width = static_cast<int>(data->shape[2]);
  }
  rows.values = std::move(data->values);
  if (data->element_type == tools::IdxElementType::kUnsignedByte) {
    const float most = std::max(1.0F, *std::max_element(rows.values.begin(), rows.values.end()));
    for (float& x : rows.values) x /= most;
  }
  for (const float x : classes->values) {
    rows.label.push_back(static_cast<int>(x));
    set.classes = std::max(set.classes, rows.label.back() + 1);
  }
  return true;
}

void hold_out(DataSet& set) {
  const auto d = static_cast<std::ptrdiff_t>(set.inputs);
  LabelledRows kept;
  for (std::size_t i = 0; i < set.train.size(); ++i) {
    LabelledRows& to = i % kHeldOut == 0 ? set.test : kept;
    const auto from = set.train.values.begin() + static_cast<std::ptrdiff_t>(i) * d;
    to.values.insert(to.values.end(), from, from + d);
    to.label.push_back(set.train.label[i]);
  }
  set.train = std::move(kept);
}

// Weight of the old cells in each new one along a side.
std::vector<double> overlaps(int from, int to) {
  std::vector<double> weight(static_cast<std::size_t>(from) * static_cast<std::size_t>(to));
  const double step = static_cast<double>(from) / to;
  for (int j = 0; j < to; ++j) {
    for (int i = 0; i < from; ++i) {
      const double begin = std::max<double>(i, j * step);
      const double end = std::min<double>(i + 1, (j + 1) * step);
      weight[static_cast<std::size_t>(j * from + i)] = std::max(0.0, end - begin) / step;
    }
  }
  return weight;
}

struct Side {
  int from;
  int to;
};

std::vector<float> pool(const std::vector<float>& rows, Side height, Side width) {
  const std::vector<double> down = overlaps(height.from, height.to);
  const std::vector<double> across = overlaps(width.from, width.to);
  const auto old_size = static_cast<std::size_t>(height.from * width.from);
  const std::size_t count = rows.size() / old_size;
  std::vector<float> out;
  out.reserve(count * static_cast<std::size_t>(height.to * width.to));
  std::vector<double> half(static_cast<std::size_t>(height.from * width.to));
  for (std::size_t r = 0; r < count; ++r) {
    const float* x = rows.data() + r * old_size;
    for (int y = 0; y < height.from; ++y) {
      for (int j = 0; j < width.to; ++j) {
        double sum = 0.0;
        for (int i = 0; i < width.from; ++i) {
          sum += across[static_cast<std::size_t>(j * width.from + i)] * x[y * width.from + i];
        }
        half[static_cast<std::size_t>(y * width.to + j)] = sum;
      }
    }
    for (int k = 0; k < height.to; ++k) {
      for (int j = 0; j < width.to; ++j) {
        double sum = 0.0;
        for (int y = 0; y < height.from; ++y) {
          sum += down[static_cast<std::size_t>(k * height.from + y)] *
                 half[static_cast<std::size_t>(y * width.to + j)];
        }
        out.push_back(static_cast<float>(sum));
      }
    }
  }
  return out;
}

}  // namespace

bool read_data_set(const std::string& path, DataSet& set, std::string& error) {
  set = {};
  const std::string inside = path + "/";
  if (find_part(path + "-", {"images", "features"}).empty()) {
    if (!read_rows(inside + "train-", set.train, set, error)) return false;
    for (const char* name : {"test-", "t10k-"}) {
      if (!find_part(inside + name, {"images", "features"}).empty()) {
        return read_rows(inside + name, set.test, set, error);
      }
    }
  } else if (!read_rows(path + "-", set.train, set, error)) {
    return false;
  }
  hold_out(set);
  return true;
}

bool pool_inputs(DataSet& set, Index inputs, bool ordered) {
  if (inputs == set.inputs) return true;
  if (inputs > set.inputs) return false;
  Side height = {.from = 1, .to = 1};
  Side width = {.from = static_cast<int>(set.inputs), .to = static_cast<int>(inputs)};
  if (set.width > 0) {
    const int side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(inputs))));
    if (Index{side} * side != inputs || side > set.width || side > set.height) return false;
    height = {.from = set.height, .to = side};
    width = {.from = set.width, .to = side};
  } else if (!ordered) {
    return false;
  }
  for (LabelledRows* rows : {&set.train, &set.test})
    rows->values = pool(rows->values, height, width);
  set.inputs = inputs;
  if (set.width > 0) set.height = set.width = width.to;
  return true;
}

void scale_rows(DataSet& set, RowScaling scaling, std::span<const std::uint32_t> by) {
  if (scaling == RowScaling::kNone || by.empty()) return;
  const auto d = static_cast<std::size_t>(set.inputs);
  const auto n = static_cast<double>(by.size());
  std::vector<double> mean(d, 0.0), square(d, 0.0);
  for (const std::uint32_t i : by) {
    for (std::size_t j = 0; j < d; ++j) mean[j] += set.train_row(i)[j] / n;
  }
  if (scaling == RowScaling::kOverall) std::fill(mean.begin(), mean.end(), 0.0);
  for (const std::uint32_t i : by) {
    for (std::size_t j = 0; j < d; ++j) {
      const double x = set.train_row(i)[j] - mean[j];
      square[j] += x * x / n;
    }
  }
  if (scaling == RowScaling::kOverall) {
    double sum = 0.0;
    for (const double x : square) sum += x / static_cast<double>(d);
    std::fill(square.begin(), square.end(), sum);
  }
  for (LabelledRows* rows : {&set.train, &set.test}) {
    for (std::size_t i = 0; i < rows->values.size(); ++i) {
      const std::size_t j = i % d;
      const double factor = square[j] > 1e-12 ? 1.0 / std::sqrt(square[j]) : 0.0;
      rows->values[i] = static_cast<float>((rows->values[i] - mean[j]) * factor);
    }
  }
}

}  // namespace adapvae::bench

#include "recording.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace endurance {

Recording::Recording(const std::string& path, int block_rows) : block_rows_(block_rows) {
  constexpr int kHeldOut = 5;
  std::ifstream file(path, std::ios::binary);
  const auto number = [&file] {
    std::int32_t value = 0;
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  };
  const int rows = number();
  inputs_ = number();
  std::vector<int> seen;
  for (int i = 0; i < rows && file; ++i) {
    Row row;
    row.state = std::max(number(), 0);
    row.x.resize(static_cast<std::size_t>(inputs_));
    file.read(reinterpret_cast<char*>(row.x.data()),
              static_cast<std::streamsize>(row.x.size() * sizeof(float)));
    states_ = std::max(states_, row.state + 1);
    seen.resize(static_cast<std::size_t>(states_), 0);
    if (++seen[static_cast<std::size_t>(row.state)] % kHeldOut == 0) {
      held_out_.push_back({row, static_cast<int>(rows_.size()) / block_rows_});
    } else {
      rows_.push_back(row);
    }
  }
  if (!file || rows_.empty()) {
    std::fprintf(stderr, "endurance: %s is not a recording\n", path.c_str());
    std::exit(2);
  }
}

// The last block may be shorter.
int Recording::blocks() const {
  return (static_cast<int>(rows_.size()) + block_rows_ - 1) / block_rows_;
}

std::vector<Row> Recording::block(int number) {
  const auto begin = static_cast<std::size_t>(number) * static_cast<std::size_t>(block_rows_);
  const std::size_t end = std::min(begin + static_cast<std::size_t>(block_rows_), rows_.size());
  return {rows_.begin() + static_cast<std::ptrdiff_t>(begin),
          rows_.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<Row> Recording::probe(int state, int number, int rows) {
  std::vector<Row> out;
  for (auto at = held_out_.rbegin(); at != held_out_.rend(); ++at) {
    if (at->block > number || at->row.state != state) continue;
    if (static_cast<int>(out.size()) == rows) break;
    out.push_back(at->row);
  }
  return out;
}

}  // namespace endurance

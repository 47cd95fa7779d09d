#include "cli/run_record.h"

#include <algorithm>

namespace adapvae::cli {
namespace {

constexpr std::size_t kMostTrace = 4096;
constexpr std::size_t kMostSamples = 1500;
constexpr std::size_t kMostNumbers = std::size_t{1} << 23;  // of all samples

// SplitMix64: which rows are sampled must not differ from run to run.
std::uint64_t scrambled(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace

RunRecord::RunRecord(int inputs)
    : inputs_(static_cast<std::size_t>(inputs)),
      most_samples_(std::clamp<std::size_t>(kMostNumbers / inputs_, 1, kMostSamples)) {}

void RunRecord::add(const SeenRow& row) {
  ++rows_;
  add_novelty(row.number, row.novelty);
  add_sample(row);
  if (!row.label->empty()) labels_.add(*row.label, row.id, row.component);
}

// A point is the most novel of the rows that it stands for; when there are too many, two become
// one.
void RunRecord::add_novelty(std::int64_t number, float novelty) {
  const bool joins = (rows_ - 1) % each_ != 0 && !novelty_.empty();
  if (joins) {
    if (novelty > novelty_.back().second) novelty_.back() = {number, novelty};
    return;
  }
  novelty_.emplace_back(number, novelty);
  if (novelty_.size() < kMostTrace) return;
  for (std::size_t i = 0; 2 * i + 1 < novelty_.size(); ++i) {
    const auto& a = novelty_[2 * i];
    const auto& b = novelty_[2 * i + 1];
    novelty_[i] = a.second >= b.second ? a : b;
  }
  novelty_.resize(novelty_.size() / 2);
  each_ *= 2;
}

// Every row so far is as likely as any other to be in the sample.
void RunRecord::add_sample(const SeenRow& row) {
  std::size_t place = samples_.size();
  if (place < most_samples_) {
    samples_.emplace_back();
  } else {
    const auto count = static_cast<std::uint64_t>(rows_);
    place = static_cast<std::size_t>(scrambled(count) % count);
    if (place >= most_samples_) return;
  }
  Sample& sample = samples_[place];
  sample.number = row.number;
  sample.novelty = row.novelty;
  sample.label = *row.label;
  sample.values.assign(row.values, row.values + inputs_);
}

}  // namespace adapvae::cli

#include "bench/paper/protocols.h"

#include <algorithm>
#include <cmath>

#include "base/sampling.h"

namespace adapvae::bench {
namespace {

constexpr bool kStrict = false, kPapersWay = true;
constexpr bool kOrdered = true;

constexpr Protocol kProtocols[] = {
    {"p1", "mnist", StreamKind::kBatch, kStrict, RowScaling::kNone, !kOrdered, 0,
     "batch MNIST, K unknown"},
    {"p2", "mnist", StreamKind::kPairs, kStrict, RowScaling::kNone, !kOrdered, 0,
     "streaming split MNIST, strict: digits two by two, nothing from later streams"},
    {"p2-paper", "mnist", StreamKind::kPairs, kPapersWay, RowScaling::kNone, !kOrdered, 0,
     "streaming split MNIST, paper's way: features from unlabelled rows of all digits first"},
    {"p3", "mnist", StreamKind::kRare, kStrict, RowScaling::kNone, !kOrdered, 0,
     "sensitivity, strict: digits 0-4, then ten streams with a few fives"},
    {"p3-paper", "mnist", StreamKind::kRare, kPapersWay, RowScaling::kNone, !kOrdered, 0,
     "sensitivity, paper's way: features from unlabelled rows of all digits first"},
    {"p4", "reuters21578-root4", StreamKind::kBatch, kStrict, RowScaling::kOverall, !kOrdered, 0,
     "batch text: Reuters-21578 tf-idf, 4 roots; stands in for REUTERS-10K"},
    {"p5-cifar10", "cifar10-mobilenetv2", StreamKind::kBatch, kStrict, RowScaling::kColumns,
     !kOrdered, 0, "batch image features: CIFAR-10, MobileNetV2; stands in for STL-10"},
    {"p5-imagenet50", "imagenet50-moco", StreamKind::kBatch, kStrict, RowScaling::kColumns,
     !kOrdered, 100, "batch image features: 50 classes of ImageNet, MoCo"},
    {"fashion", "fashion-mnist", StreamKind::kBatch, kStrict, RowScaling::kNone, !kOrdered, 0,
     "batch Fashion-MNIST"},
    {"fashion-p2", "fashion-mnist", StreamKind::kPairs, kStrict, RowScaling::kNone, !kOrdered, 0,
     "Fashion-MNIST as in p2, strict: classes two by two"},
    {"p6-faults", "cwru", StreamKind::kOneByOne, kStrict, RowScaling::kColumns, kOrdered, 0,
     "bearing vibration: the healthy state, then fault kinds one after another"},
    {"p6-healthy", "cwru", StreamKind::kSame, kStrict, RowScaling::kColumns, kOrdered, 0,
     "bearing vibration: the healthy state alone, twenty streams more; every birth is false"},
};

using Rows = std::vector<std::uint32_t>;

Philox random_of(std::uint64_t seed, std::uint32_t stream) {
  return Philox({.seed = seed, .purpose = RandomPurpose::kTest, .stream = stream});
}

Rows shuffled(Rows rows, std::uint64_t seed, std::uint32_t stream) {
  Philox random = random_of(seed, stream);
  Rows order(rows.size());
  fill_permutation(random, order.data(), static_cast<std::uint32_t>(order.size()));
  for (std::uint32_t& i : order) i = rows[i];
  return order;
}

Rows first_of(const Rows& rows, std::size_t count) {
  Rows out = rows;
  if (count > 0 && count < out.size()) out.resize(count);
  return out;
}

// Rows of the classes [first, last], as they come in `order`.
Rows of_classes(const Rows& order, const std::vector<int>& label, int first, int last) {
  Rows out;
  for (const std::uint32_t i : order) {
    if (label[i] >= first && label[i] <= last) out.push_back(i);
  }
  return out;
}

std::vector<int> range(int first, int last) {
  std::vector<int> out;
  for (int c = first; c <= last; ++c) out.push_back(c);
  return out;
}

bool make_rare(const Rows& order, const std::vector<int>& label, const StreamOptions& options,
               Streams& streams, std::string& error) {
  const Rows old = of_classes(order, label, 0, kRareClass - 1);
  const Rows rare = of_classes(order, label, kRareClass, kRareClass);
  const std::size_t first = options.rows > 0 ? options.rows : 10000;
  const std::size_t later = first / kRareStreams;
  streams.fraction = options.fraction;
  streams.stages.push_back({first_of(old, first), range(0, kRareClass - 1)});
  std::size_t old_at = first;
  std::size_t rare_at = 0;
  for (int t = 1; t <= kRareStreams; ++t) {
    // What is right in all streams together may be a row more or less in one.
    const auto rare_end = static_cast<std::size_t>(
        std::llround(options.fraction * static_cast<double>(later) * static_cast<double>(t)));
    const std::size_t old_end = old_at + later - (rare_end - rare_at);
    if (later == 0 || old_end > old.size() || rare_end > rare.size()) {
      error = "the data set has too few rows for streams of this length and fraction";
      return false;
    }
    Rows rows(old.begin() + static_cast<std::ptrdiff_t>(old_at),
              old.begin() + static_cast<std::ptrdiff_t>(old_end));
    rows.insert(rows.end(), rare.begin() + static_cast<std::ptrdiff_t>(rare_at),
                rare.begin() + static_cast<std::ptrdiff_t>(rare_end));
    streams.stages.push_back(
        {shuffled(rows, options.seed, static_cast<std::uint32_t>(t)), {kRareClass}});
    old_at = old_end;
    rare_at = rare_end;
  }
  return true;
}

// There are few rows of the healthy state, and a row that comes twice would count twice: half of
// them first, the others a few at a time.
void make_same(const Rows& order, const std::vector<int>& label, Streams& streams) {
  const Rows healthy = of_classes(order, label, 0, 0);
  const std::size_t each = healthy.size() / 2 / kSameStreams;
  const auto first = static_cast<std::ptrdiff_t>(healthy.size() - each * kSameStreams);
  streams.stages.push_back({Rows(healthy.begin(), healthy.begin() + first), {0}});
  for (auto at = healthy.begin() + first; at != healthy.end();) {
    const auto end = at + static_cast<std::ptrdiff_t>(each);
    streams.stages.push_back({Rows(at, end), {}});
    at = end;
  }
}

}  // namespace

std::span<const Protocol> protocols() { return kProtocols; }

const Protocol* find_protocol(std::string_view name) {
  for (const Protocol& protocol : kProtocols) {
    if (name == protocol.name) return &protocol;
  }
  return nullptr;
}

std::size_t Streams::longest() const {
  std::size_t most = 0;
  for (const Stage& stage : stages) most = std::max(most, stage.rows.size());
  return most;
}

std::size_t Streams::rows() const {
  std::size_t sum = 0;
  for (const Stage& stage : stages) sum += stage.rows.size();
  return sum;
}

bool make_streams(const Protocol& protocol, const std::vector<int>& label, int classes,
                  const StreamOptions& options, Streams& streams, std::string& error) {
  streams = {};
  Rows all(label.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint32_t>(i);
  const Rows order = shuffled(all, options.seed, 0);
  const auto add = [&](int first, int last) {
    streams.stages.push_back(
        {first_of(of_classes(order, label, first, last), options.rows), range(first, last)});
  };
  switch (protocol.streams) {
    case StreamKind::kBatch:
      add(0, classes - 1);
      break;
    case StreamKind::kPairs:
      for (int c = 0; c < classes; c += 2) add(c, std::min(c + 1, classes - 1));
      break;
    case StreamKind::kOneByOne:
      for (int c = 0; c < classes; ++c) add(c, c);
      break;
    case StreamKind::kSame:
      make_same(order, label, streams);
      break;
    case StreamKind::kRare:
      if (!make_rare(order, label, options, streams, error)) return false;
      break;
  }
  for (const Stage& stage : streams.stages) {
    if (!stage.rows.empty()) continue;
    error = "the data set has no row of one of the classes";
    return false;
  }
  if (protocol.pretrain_all) {
    streams.pretrain =
        first_of(order, options.pretrain_rows > 0 ? options.pretrain_rows : streams.rows());
  }
  return true;
}

}  // namespace adapvae::bench

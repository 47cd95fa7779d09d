// Streams of the paper's protocols: the right classes in each, no row twice, the seed's own order.
#include <map>
#include <set>

#include <doctest/doctest.h>

#include "bench/paper/protocols.h"

using namespace adapvae;
using namespace adapvae::bench;

namespace {

// `each` rows of each of ten classes, in turn.
std::vector<int> ten_classes(int each) {
  std::vector<int> label;
  for (int i = 0; i < 10 * each; ++i) label.push_back(i % 10);
  return label;
}

Streams streams_of(const char* name, const std::vector<int>& label, const StreamOptions& options) {
  Streams streams;
  std::string error;
  const Protocol* protocol = find_protocol(name);
  REQUIRE(protocol != nullptr);
  REQUIRE(make_streams(*protocol, label, 10, options, streams, error));
  return streams;
}

std::map<int, int> counts(const Stage& stage, const std::vector<int>& label) {
  std::map<int, int> out;
  for (const std::uint32_t i : stage.rows) ++out[label[i]];
  return out;
}

void check_no_row_twice(const Streams& streams) {
  std::set<std::uint32_t> rows;
  for (const Stage& stage : streams.stages) rows.insert(stage.rows.begin(), stage.rows.end());
  CHECK(rows.size() == streams.rows());
}

}  // namespace

TEST_CASE("names are different, and no other is known") {
  std::set<std::string> names;
  for (const Protocol& p : protocols()) names.insert(p.name);
  CHECK(names.size() == protocols().size());
  CHECK(find_protocol("p7") == nullptr);
}

TEST_CASE("batch: one block of all classes") {
  const std::vector<int> label = ten_classes(50);
  const Streams all = streams_of("p1", label, {});
  REQUIRE(all.stages.size() == 1);
  CHECK(all.rows() == 500);
  CHECK(counts(all.stages[0], label).size() == 10);
  CHECK(all.pretrain.empty());
  CHECK(streams_of("p1", label, {.rows = 120}).rows() == 120);
  check_no_row_twice(all);
}

TEST_CASE("pairs: two new classes a stream, strict or with rows of all classes first") {
  const std::vector<int> label = ten_classes(50);
  for (const char* name : {"p2", "p2-paper"}) {
    const Streams streams = streams_of(name, label, {.rows = 60, .seed = 3});
    REQUIRE(streams.stages.size() == 5);
    for (int t = 0; t < 5; ++t) {
      const Stage& stage = streams.stages[static_cast<std::size_t>(t)];
      CHECK(stage.fresh == std::vector<int>{2 * t, 2 * t + 1});
      CHECK(stage.rows.size() == 60);
      for (const std::uint32_t i : stage.rows) CHECK(label[i] / 2 == t);
      CHECK(counts(stage, label).size() == 2);
    }
    check_no_row_twice(streams);
  }
  CHECK(streams_of("p2", label, {.rows = 60}).pretrain.empty());
  const Streams paper = streams_of("p2-paper", label, {.rows = 60});
  CHECK(paper.pretrain.size() == 300);
  CHECK(counts({paper.pretrain, {}}, label).size() == 10);
  CHECK(streams_of("p2-paper", label, {.rows = 60, .pretrain_rows = 70}).pretrain.size() == 70);
}

TEST_CASE("seeds differ, and the same seed gives the same streams") {
  const std::vector<int> label = ten_classes(50);
  const auto rows = [&](const char* name, std::uint64_t seed) {
    return streams_of(name, label, {.rows = 60, .fraction = 0.5, .seed = seed}).stages[1].rows;
  };
  for (const char* name : {"p2", "p3"}) {
    CHECK(rows(name, 1) == rows(name, 1));
    CHECK(rows(name, 1) != rows(name, 2));
  }
}

TEST_CASE("rare: the fraction that was asked for, over all streams to the row") {
  const std::vector<int> label = ten_classes(6000);
  for (const double fraction : {0.01, 0.02, 0.05, 0.10, 0.15, 0.20}) {
    for (const std::size_t rows : {10000, 2500}) {
      CAPTURE(fraction);
      CAPTURE(rows);
      const Streams streams = streams_of("p3", label, {.rows = rows, .fraction = fraction});
      REQUIRE(streams.stages.size() == 11);
      CHECK(streams.fraction == fraction);
      CHECK(streams.stages[0].rows.size() == rows);
      CHECK(counts(streams.stages[0], label).size() == 5);
      CHECK(counts(streams.stages[0], label).rbegin()->first == 4);
      int fives = 0;
      const double expected = fraction * static_cast<double>(rows / 10);
      for (std::size_t t = 1; t <= 10; ++t) {
        auto count = counts(streams.stages[t], label);
        CHECK(streams.stages[t].rows.size() == rows / 10);
        CHECK(count.rbegin()->first <= kRareClass);
        CHECK(count[kRareClass] == doctest::Approx(expected).epsilon(1.0 / expected));
        CHECK(streams.stages[t].fresh == std::vector<int>{kRareClass});
        fives += count[kRareClass];
      }
      CHECK(fives == static_cast<int>(fraction * static_cast<double>(rows) + 0.5));
      check_no_row_twice(streams);
    }
  }
  // Not all fives at the end.
  const Streams streams = streams_of("p3", label, {.fraction = 0.2});
  CHECK(label[streams.stages[1].rows.back()] + label[streams.stages[2].rows.back()] +
            label[streams.stages[3].rows.back()] + label[streams.stages[4].rows.back()] <
        4 * kRareClass);
  Streams none;
  std::string error;
  CHECK_FALSE(make_streams(*find_protocol("p3"), ten_classes(50), 10, {}, none, error));
  CHECK_FALSE(error.empty());
}

TEST_CASE("one by one, and nothing new") {
  const std::vector<int> label = ten_classes(41);
  const Streams faults = streams_of("p6-faults", label, {});
  REQUIRE(faults.stages.size() == 10);
  for (int c = 0; c < 10; ++c) {
    const auto count = counts(faults.stages[static_cast<std::size_t>(c)], label);
    CHECK(count == std::map<int, int>{{c, 41}});
  }
  const Streams healthy = streams_of("p6-healthy", label, {});
  REQUIRE(healthy.stages.size() == 21);
  std::set<std::uint32_t> seen;
  for (std::size_t t = 0; t < 21; ++t) {
    CHECK(healthy.stages[t].fresh.empty() == (t > 0));
    CHECK(counts(healthy.stages[t], label) == std::map<int, int>{{0, t == 0 ? 21 : 1}});
    seen.insert(healthy.stages[t].rows.begin(), healthy.stages[t].rows.end());
  }
  CHECK(seen.size() == 41);  // no row twice
}

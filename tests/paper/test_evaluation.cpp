// What labels say about clusters, on rows few enough to count by hand; and the data that is scored.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "bench/paper/evaluation.h"
#include "bench/paper/json_writer.h"

using namespace adapvae;
using namespace adapvae::bench;

TEST_CASE("findings, majorities and frozen accuracy by hand") {
  const std::vector<ClusterId> found = {1, 1, 1, 2, 2, 3, 3, 3, 4};
  const std::vector<int> label = {0, 0, 1, 1, 1, 2, 2, 0, 7};
  const std::set<int> seen = {0, 1, 2};  // the row of class 7 does not count
  const auto majority = majorities(found, label, seen);
  CHECK(majority == std::map<ClusterId, int>{{1, 0}, {2, 1}, {3, 2}});

  CHECK(clusters_of(majority, {2, 3}, 2) == std::set<ClusterId>{3});
  CHECK(clusters_of(majority, {2}, 2).empty());
  const Finding two = finding(found, label, seen, {3}, 2);
  CHECK(two.clusters == 1);
  CHECK(two.precision == doctest::Approx(2.0 / 3.0));
  CHECK(two.recall == 1.0);
  CHECK(two.f1 == doctest::Approx(0.8));
  CHECK(two.found());
  const Finding none = finding(found, label, seen, {}, 1);
  CHECK(none.precision == 0.0);
  CHECK(none.recall == 0.0);
  CHECK_FALSE(none.found());
  CHECK_FALSE(finding(found, label, seen, {1}, 1).found());  // one row in three

  CHECK(accuracy(found, label, seen, majority) == doctest::Approx(6.0 / 8.0));
  CHECK(accuracy(found, label, {0}, {{1, 0}}) == doctest::Approx(2.0 / 3.0));
  CHECK(accuracy(found, label, {9}, majority) == 0.0);

  const ClusterMetrics m = agreement(found, label, seen);
  CHECK(m.rows == 8.0);
  CHECK(m.clusters == 3);
  CHECK(m.accuracy == doctest::Approx(6.0 / 8.0));
}

TEST_CASE("flagged rows and the delay until the first") {
  const std::vector<float> novelty = {0.9F, 0.1F, 0.2F, 0.6F, 0.7F};
  const std::vector<int> label = {0, 1, 0, 1, 1};
  CHECK(flagged(novelty, label, {1}) == doctest::Approx(2.0 / 3.0));
  CHECK(flagged(novelty, label, {0, 1}) == doctest::Approx(0.6));
  CHECK(flagged(novelty, label, {2}) == 0.0);
  CHECK(detection_delay(novelty, label, 1) == 4);
  CHECK(detection_delay(novelty, label, 0) == 1);
  CHECK(detection_delay(novelty, label, 2) == -1);
}

TEST_CASE("the shipped digits: held-out rows are none of the others, and pooling keeps the mean") {
  DataSet set;
  std::string error;
  REQUIRE(read_data_set(ADAPVAE_SOURCE_DIR "/examples/data/mnist-5000", set, error));
  CHECK(set.inputs == 784);
  CHECK(set.classes == 10);
  CHECK(set.train.size() == 4000);
  CHECK(set.test.size() == 1000);
  CHECK(set.test.values.size() == 784 * 1000);
  CHECK(*std::max_element(set.train.values.begin(), set.train.values.end()) == 1.0F);
  std::set<std::vector<float>> held_out;
  for (std::size_t i = 0; i < 1000; ++i) {
    held_out.insert({set.test.values.begin() + static_cast<std::ptrdiff_t>(i * 784),
                     set.test.values.begin() + static_cast<std::ptrdiff_t>((i + 1) * 784)});
  }
  for (std::size_t i = 0; i < 4000; ++i) {
    REQUIRE(held_out.count({set.train_row(i), set.train_row(i) + 784}) == 0);
  }
  const auto mean = [](const std::vector<float>& values) {
    double sum = 0.0;
    for (const float x : values) sum += x;
    return sum / static_cast<double>(values.size());
  };
  const double before = mean(set.test.values);
  CHECK_FALSE(pool_inputs(set, 65, true));
  CHECK_FALSE(pool_inputs(set, 900, true));
  CHECK(set.inputs == 784);
  for (const Index inputs : {196, 64}) {
    REQUIRE(pool_inputs(set, inputs, false));
    CHECK(set.test.values.size() == static_cast<std::size_t>(1000 * inputs));
    CHECK(Index{set.width} * set.height == inputs);
    CHECK(mean(set.test.values) == doctest::Approx(before).epsilon(1e-4));
  }
  CHECK_FALSE(read_data_set(ADAPVAE_SOURCE_DIR "/examples/none", set, error));
  CHECK(error.find("none") != std::string::npos);
}

TEST_CASE("scaling is by the rows that are named") {
  DataSet set;
  set.inputs = 2;
  set.train = {{0.0F, 5.0F, 4.0F, 5.0F, 100.0F, 100.0F}, {0, 0, 1}};
  set.test = {{2.0F, 7.0F}, {0}};
  DataSet overall = set;
  scale_rows(set, RowScaling::kColumns, std::vector<std::uint32_t>{0, 1});
  CHECK(set.train.values[0] == -1.0F);
  CHECK(set.train.values[2] == 1.0F);
  CHECK(set.train.values[4] == 49.0F);
  CHECK(set.train.values[5] == 0.0F);  // did not vary
  CHECK(set.test.values[0] == 0.0F);
  scale_rows(overall, RowScaling::kOverall, std::vector<std::uint32_t>{0, 1});
  CHECK(overall.train.values[3] == doctest::Approx(5.0 / std::sqrt((25.0 + 16.0 + 25.0) / 4.0)));
}

TEST_CASE("JSON is JSON") {
  JsonWriter json;
  json.begin('{').key("a").value(1).key("b").begin('[').value(0.5).value(true).end(']');
  json.key("c").begin('{').end('}').key("d\"\n").value("x\\y").key("e").value(NAN).end('}');
  CHECK(json.text() ==
        "{\"a\": 1, \"b\": [0.5, true], \"c\": {}, \"d\\\" \": \"x\\\\y\", \"e\": null}");
}

// Cluster metrics beside scikit-learn's, and their conventions at the edges.
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "model/metrics.h"

using namespace adapvae;

namespace {

struct Table {
  Table(Index labels, Index clusters) {
    const auto place = [&](Arena& arena) { table.place(arena, labels, clusters); };
    memory.resize(planned_bytes(place) + Arena::kAlignment);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    const std::size_t shift = (Arena::kAlignment - address % Arena::kAlignment) % Arena::kAlignment;
    Arena arena(memory.data() + shift, memory.size() - shift);
    place(arena);
    table.reset();
  }

  ContingencyTable table;
  std::vector<std::byte> memory;
};

}  // namespace

TEST_CASE("metrics agree with scikit-learn") {
  std::ifstream file(std::string(ADAPVAE_SOURCE_DIR) + "/tests/reference/metrics.txt");
  REQUIRE(file.good());
  int cases = 0;
  for (std::string text; std::getline(file, text); ++cases) {
    CAPTURE(cases);
    std::istringstream line(text);
    std::size_t rows = 0;
    line >> rows;
    std::vector<std::uint64_t> labels(rows);
    std::vector<std::uint64_t> found(rows);
    for (std::uint64_t& x : labels) line >> x;
    for (std::uint64_t& x : found) line >> x;
    Table t(10, 16);
    for (std::size_t i = 0; i < rows; ++i) {
      REQUIRE(t.table.add(labels[i], found[i] + (std::uint64_t{1} << 60)).ok());
    }
    const ClusterMetrics m = t.table.metrics();
    CHECK(m.rows == static_cast<double>(rows));
    for (const double value : {m.nmi, m.nmi_geometric, m.ari, m.homogeneity, m.completeness,
                               m.v_measure, m.accuracy, m.purity}) {
      double want = 0.0;
      line >> want;
      CHECK(std::fabs(value - want) < 1e-10);
    }
  }
  CHECK(cases == 40);
}

TEST_CASE("metrics of nothing, of one kind, and of more than fits") {
  Table t(2, 3);
  const ClusterMetrics nothing = t.table.metrics();
  CHECK(nothing.nmi == 1.0);
  CHECK(nothing.ari == 1.0);
  CHECK(nothing.accuracy == 0.0);
  for (int i = 0; i < 4; ++i) REQUIRE(t.table.add(7, 1).ok());
  CHECK(t.table.metrics().nmi == 1.0);
  CHECK(t.table.metrics().accuracy == 1.0);
  REQUIRE(t.table.add(7, 2).ok());
  CHECK(t.table.metrics().homogeneity == 1.0);
  CHECK(t.table.metrics().completeness < 1e-12);
  CHECK(t.table.metrics().accuracy == doctest::Approx(0.8));  // the second cluster is an error
  CHECK(t.table.metrics().purity == 1.0);
  REQUIRE(t.table.add(8, 3).ok());
  CHECK_FALSE(t.table.add(9, 1).ok());
  CHECK_FALSE(t.table.add(7, 4).ok());
  CHECK(t.table.metrics().rows == 6.0);
  t.table.reset();
  CHECK(t.table.metrics().rows == 0.0);
}

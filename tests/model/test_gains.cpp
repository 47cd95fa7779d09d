// Gains: statistics of one base that are made apart and add up.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/bounds.h"
#include "base/crc64.h"
#include "support/allocation_trap.h"
#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

using Bytes = std::vector<std::byte>;

// Three kinds, learnt in two streams.
ModelFixture& base() {
  static ModelFixture fixture;
  if (fixture.model.streams() == 0) {
    fixture.learn(kinds(0, 2, 400, 1));
    fixture.learn(kinds(0, 2, 400, 2));
  }
  return fixture;
}

// Of what another knows.
struct Copy : ModelFixture {
  explicit Copy(const ModelFixture& of) : ModelFixture(of.config) {
    REQUIRE(load(of.snapshot()).ok());
  }
};

Bytes gain(ModelFixture& fixture, const Rows& rows, std::uint64_t worker, std::uint64_t sequence) {
  Bytes out(fixture.model.most_gain_bytes());
  std::size_t size = 0;
  const Status status = fixture.model.gain(fixture.backend, rows.view(), worker, sequence,
                                           out.data(), out.size(), &size);
  INFO(status.message());
  REQUIRE(status.ok());
  out.resize(size);
  return out;
}

GainSet opened(const Bytes& bytes) {
  GainSet set;
  const Status status = set.open(bytes.data(), bytes.size());
  INFO(status.message());
  REQUIRE(status.ok());
  return set;
}

Bytes merged(const Bytes& a, const Bytes& b) {
  std::size_t size = 0;
  REQUIRE(merge_gain_sets(opened(a), opened(b), nullptr, 0, &size).ok());
  Bytes out(size);
  REQUIRE(merge_gain_sets(opened(a), opened(b), out.data(), out.size(), &size).ok());
  REQUIRE(size == out.size());
  return out;
}

std::vector<GainAlias> apply(ModelFixture& fixture, const Bytes& bytes,
                             StreamReport* report = nullptr) {
  const GainSet set = opened(bytes);
  std::vector<GainAlias> aliases(static_cast<std::size_t>(set.born()));
  StreamReport own;
  const Status status = fixture.model.apply(fixture.backend, set, 0.0, aliases.data(),
                                            report != nullptr ? report : &own);
  INFO(status.message());
  REQUIRE(status.ok());
  return aliases;
}

Rows some(const Rows& rows, const std::vector<Index>& which) {
  Rows out(static_cast<Index>(which.size()), rows.cols);
  for (std::size_t i = 0; i < which.size(); ++i) {
    std::copy_n(rows.view().row(which[i]), rows.cols, out.view().row(static_cast<Index>(i)));
  }
  return out;
}

// Rows dealt out at random to so many workers, and their gains merged in a random order.
Bytes dealt(ModelFixture& fixture, const Rows& rows, Index workers, std::uint32_t seed) {
  Philox random({.seed = 97, .index = seed});
  std::vector<std::vector<Index>> hands(static_cast<std::size_t>(workers));
  for (Index i = 0; i < rows.rows; ++i) {
    const auto w = static_cast<std::size_t>(random.uniform_double() * static_cast<double>(workers));
    hands[w].push_back(i);
  }
  Bytes all;
  for (Index step = 0; step < workers; ++step) {
    const Index w = seed % 2 == 0 ? step : workers - 1 - step;
    const auto& hand = hands[static_cast<std::size_t>(w)];
    if (hand.empty()) continue;
    const Bytes one = gain(fixture, some(rows, hand), static_cast<std::uint64_t>(w), seed);
    all = all.empty() ? one : seed % 3 == 0 ? merged(all, one) : merged(one, all);
  }
  return all;
}

double largest_difference(const Mixture& a, const Mixture& b) {
  REQUIRE(a.clusters() == b.clusters());
  const ClusterShape& shape = a.config().shape;
  double most = 0.0;
  const auto differ = [&most](double x, double y, double unit) {
    most = std::max(most, std::fabs(x - y) / std::max(unit, 1.0));
  };
  for (Index k = 0; k < a.clusters(); ++k) {
    CHECK(a.rows_of(k) == b.rows_of(k));  // exactly
    const StatisticsRef x = a.carried()[k];
    const StatisticsRef y = b.carried()[k];
    differ(*x.mass, *y.mass, *x.mass);
    for (Index i = 0; i < shape.dims; ++i) differ(x.mean[i], y.mean[i], 1.0);
    for (Index i = 0; i < shape.scatter_size(); ++i) {
      differ(x.scatter[i], y.scatter[i], *x.mass);
    }
    differ(a.entropy_of(k), b.entropy_of(k), *x.mass);
    for (Index j = 0; j < k; ++j) {
      differ(a.pair_entropy_loss(k, j), b.pair_entropy_loss(k, j), *x.mass);
    }
    for (Index i = 0; i < shape.dims; ++i) {
      differ(a.posterior(k).mean[i], b.posterior(k).mean[i], 1.0);
    }
    differ(a.weight(k), b.weight(k), 1.0);
  }
  differ(a.bound().total(), b.bound().total(), a.rows_learnt());
  return most;
}

}  // namespace

TEST_CASE("a gain leaves its base as it is, byte for byte, and allocates nothing") {
  Copy own(base());
  REQUIRE(own.model.clusters().rename(1, "one").ok());
  const std::uint64_t events = own.model.last_event();
  const Bytes before = own.snapshot();
  const Rows rows = kinds(0, 4, 1100, 3);
  Bytes out(own.model.most_gain_bytes());
  std::size_t size = 0;
  const AllocationCount start = allocation_count();
  const Status status =
      own.model.gain(own.backend, rows.view(), 1, 1, out.data(), out.size(), &size);
  const AllocationCount end = allocation_count();
  REQUIRE(status.ok());
  CHECK(start.allocations == end.allocations);
  CHECK(size < out.size());
  out.resize(size);
  CHECK(opened(out).born() > 0);
  CHECK(opened(out).rows() == 1100);
  CHECK(own.snapshot() == before);
  CHECK(own.model.last_event() == events);
  CHECK(own.memory.guards_untouched());
  REQUIRE(own.model.clusters().undo().ok());  // the correction before it can still be undone
  // It is the same whenever and wherever it is made again, and does not depend on names.
  CHECK(gain(base(), rows, 1, 1) == out);
}

TEST_CASE("however rows of known kinds are dealt out, the model becomes the same") {
  const Rows rows = kinds(0, 2, 1500, 4);
  Copy one(base());
  const Bytes whole = gain(base(), rows, 0, 0);
  REQUIRE(opened(whole).born() == 0);
  apply(one, whole);
  CHECK(one.model.rows_learnt() == base().model.rows_learnt() + 1500);
  CHECK(one.model.clusters().mixture().rows_learnt() ==
        static_cast<double>(base().model.rows_learnt() + 1500));
  CHECK(one.model.streams() == base().model.streams() + 1);
  std::uint32_t seed = 0;
  for (const Index workers : {2, 3, 7, 40}) {
    CAPTURE(workers);
    for (int round = 0; round < 3; ++round) {
      Copy many(base());
      const Bytes set = dealt(base(), rows, workers, ++seed);
      CHECK(opened(set).rows() == 1500);
      REQUIRE(opened(set).born() == 0);
      apply(many, set);
      const double difference =
          largest_difference(one.model.clusters().mixture(), many.model.clusters().mixture());
      CAPTURE(difference);
      CHECK(difference < 1e-9);
    }
  }
  // And it has learnt something.
  const Mixture& before = base().model.clusters().mixture();
  for (Index k = 0; k < before.clusters(); ++k) {
    CHECK(one.model.clusters().mixture().posterior(k).mean[0] != before.posterior(k).mean[0]);
  }
}

TEST_CASE("gains make a set: union is associative, commutative and idempotent, to the byte") {
  const Rows rows = kinds(0, 3, 600, 5);
  std::vector<Bytes> gains;
  for (std::uint64_t g = 0; g < 6; ++g) {
    std::vector<Index> which(100);
    std::iota(which.begin(), which.end(), static_cast<Index>(100 * g));
    gains.push_back(gain(base(), some(rows, which), g / 2, g % 2 == 0 ? 9 : 4));
  }
  const Bytes none = gain(base(), Rows(0, kInputs), 5, 5);
  CHECK(opened(none).gains() == 0);
  Philox random({.seed = 98});
  const auto below = [&random](std::size_t n) {
    return static_cast<std::size_t>(random.uniform_double() * static_cast<double>(n));
  };
  Bytes first;
  for (int round = 0; round < 50; ++round) {
    // A pile with every gain at least once, two of which are merged until one is left.
    std::vector<Bytes> pile = gains;
    for (int more = 0; more < 4; ++more) pile.push_back(gains[below(gains.size())]);
    pile.push_back(none);
    while (pile.size() > 1) {
      const std::size_t a = below(pile.size());
      const Bytes left = pile[a];
      pile.erase(pile.begin() + static_cast<std::ptrdiff_t>(a));
      Bytes& right = pile[below(pile.size())];
      right = merged(left, right);
    }
    if (first.empty()) first = pile[0];
    CHECK(pile[0] == first);
  }
  CHECK(merged(first, first) == first);
  CHECK(merged(first, none) == first);
  CHECK(merged(none, none) == none);
  CHECK(opened(first).gains() == 6);
  CHECK(opened(first).rows() == 600);
  // Sorted by worker, then sequence.
  GainSet::Place at;
  GainView gained;
  std::vector<std::uint64_t> keys;
  while (opened(first).next(at, &gained)) keys.push_back(10 * gained.worker + gained.sequence);
  CHECK(keys == std::vector<std::uint64_t>{4, 9, 14, 19, 24, 29});
  // The same key with other bytes.
  const Bytes other = gain(base(), kinds(0, 2, 50, 6), 0, 4);
  std::size_t size = 0;
  CHECK(merge_gain_sets(opened(first), opened(other), nullptr, 0, &size).code() ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("what several workers have born alike is one cluster, and everyone's rows are in it") {
  Copy own(base());
  const Index before = own.model.clusters().mixture().clusters();
  Bytes set;
  for (std::uint64_t w = 1; w <= 3; ++w) {
    const Rows rows = kinds(0, 3, 400, 10 + static_cast<std::uint32_t>(w));  // a quarter is new
    const Bytes one = gain(base(), rows, w, 1);
    CHECK(opened(one).born() > 0);
    set = set.empty() ? one : merged(set, one);
  }
  StreamReport report;
  const std::vector<GainAlias> aliases = apply(own, set, &report);
  CHECK(report.births >= 1);
  CHECK(report.rows == 1200);
  CHECK(report.clusters == own.model.clusters().mixture().clusters());
  CHECK(own.model.clusters().mixture().rows_learnt() ==
        static_cast<double>(base().model.rows_learnt() + 1200));
  // The cluster of the new kind, by scores, is what every worker's newborn has become.
  const std::vector<ClusterId> found = own.ids(kinds(3, 3, 100, 20));
  const ClusterId id = found[0];
  CHECK(std::count(found.begin(), found.end(), id) > 95);
  const Index k = own.model.clusters().registry().clusters().find(id);
  REQUIRE(k >= 0);
  CHECK(own.model.clusters().mixture().rows_of(k) > 280.0);
  CHECK(own.model.clusters().mixture().rows_of(k) < 320.0);
  for (std::uint64_t w = 1; w <= 3; ++w) {
    CHECK(std::any_of(aliases.begin(), aliases.end(), [&](const GainAlias& alias) {
      return alias.worker == w && alias.sequence == 1 && alias.id == id;
    }));
  }
  for (const GainAlias& alias : aliases) {
    CHECK(alias.local >= 1);
    CHECK(own.model.clusters().registry().clusters().find(alias.id) >= 0);
  }
  // Old kinds are where they were.
  const Rows old = kinds(0, 2, 300, 21);
  CHECK(own.ids(old) == base().ids(old));
  CHECK(before < own.model.clusters().mixture().clusters());
  // What comes of it is a model like any other.
  Copy again(static_cast<const ModelFixture&>(own));
  again.learn(kinds(0, 3, 300, 22));
  own.learn(kinds(0, 3, 300, 22));
  CHECK(again.snapshot() == own.snapshot());
}

TEST_CASE("a birth at a worker has the evidence that it has in a stream") {
  const Rows rows = kinds(0, 3, 400, 70);
  Copy streamed(base());
  REQUIRE(streamed.set_live("freeze_encoder_after", 1.0).ok());
  streamed.learn(rows);
  Copy gained(base());
  apply(gained, gain(base(), rows, 1, 1));
  const auto born = [](const ModelFixture& fixture) {
    const ComponentRegistry& registry = fixture.model.clusters().registry();
    const Index last = registry.components() - 1;
    CHECK(registry.info(last).born_stream == 3);
    return registry.info(last).birth_gain;
  };
  CHECK(gained.model.clusters().mixture().clusters() ==
        streamed.model.clusters().mixture().clusters());
  const double expected = born(streamed);
  CHECK(expected > 10.0);
  CHECK(born(gained) == doctest::Approx(expected).epsilon(0.02));
}

TEST_CASE("the same gains give the same bytes, whoever made them in whatever order") {
  std::vector<Bytes> gains;
  for (std::uint64_t w = 0; w < 4; ++w) {
    gains.push_back(gain(base(), kinds(0, 4, 300, 30 + static_cast<std::uint32_t>(w)), w, 1));
  }
  Copy worker(base());  // on another machine, say
  Bytes set;
  for (std::size_t w = 0; w < 4; ++w) {
    const Bytes again = gain(worker, kinds(0, 4, 300, 30 + static_cast<std::uint32_t>(w)), w, 1);
    CHECK(again == gains[w]);
    set = set.empty() ? again : merged(again, set);
  }
  Copy a(base());
  Copy b(base());
  apply(a, merged(merged(gains[3], gains[1]), merged(gains[0], gains[2])));
  apply(b, set);
  CHECK(a.snapshot() == b.snapshot());
}

TEST_CASE("where there is no room for all that is born, no row is lost") {
  Configuration config = small_model();
  config.max_clusters = 5;
  ModelFixture small(config);
  small.learn(kinds(0, 2, 400, 1));
  REQUIRE(small.model.clusters().mixture().clusters() == 3);
  Bytes set;
  for (std::uint64_t w = 0; w < 6; ++w) {
    const int kind = 3 + 2 * static_cast<int>(w % 3);  // six new kinds, two for each worker
    const Bytes one = gain(small, kinds(kind, kind + 1, 300, static_cast<std::uint32_t>(w)), w, 1);
    set = set.empty() ? one : merged(set, one);
  }
  REQUIRE(opened(set).born() > 2);
  const std::vector<GainAlias> aliases = apply(small, set);
  CHECK(small.model.clusters().mixture().clusters() <= 5);
  CHECK(small.model.clusters().mixture().rows_learnt() == 2200.0);
  double rows = 0.0;
  for (Index k = 0; k < small.model.clusters().mixture().clusters(); ++k) {
    rows += small.model.clusters().mixture().rows_of(k);
  }
  CHECK(rows == 2200.0);
  for (const GainAlias& alias : aliases) {
    CHECK(small.model.clusters().registry().clusters().find(alias.id) >= 0);
  }
  CHECK(small.memory.guards_untouched());
}

TEST_CASE("more novel rows than a stream has are learnt in turn, and later ones join the newborn") {
  const Rows rows = kinds(3, 3, 1300, 40);
  const Bytes set = gain(base(), rows, 1, 1);
  CHECK(opened(set).rows() == 1300);
  Copy own(base());
  apply(own, set);
  CHECK(own.model.clusters().mixture().rows_learnt() ==
        static_cast<double>(base().model.rows_learnt() + 1300));
  const std::vector<ClusterId> found = own.ids(kinds(3, 3, 200, 41));
  CHECK(std::count(found.begin(), found.end(), found[0]) > 190);
}

TEST_CASE("gains with a diagonal covariance, scaled inputs and a weight of rows") {
  Configuration config = small_model();
  config.covariance = 1;
  config.scale_inputs = 1;
  config.row_weight = 0.5;
  config.half_life_rows = 5000.0;
  ModelFixture start(config);
  start.learn(kinds(0, 2, 400, 1));
  const Rows rows = kinds(0, 2, 900, 50);
  Copy one(start);
  Copy many(start);
  const Bytes whole = gain(start, rows, 0, 0);
  const Bytes parts = dealt(start, rows, 4, 2);
  REQUIRE(opened(whole).born() == 0);
  REQUIRE(opened(parts).born() == 0);
  apply(one, whole);
  apply(many, parts);
  CHECK(largest_difference(one.model.clusters().mixture(), many.model.clusters().mixture()) < 1e-9);
  CHECK(one.model.clusters().mixture().rows_learnt() == 1300.0);
  // Of a model whose inputs are scaled otherwise nothing is taken.
  Copy rescaled(start);
  rescaled.model.input_scale().update(kinds(0, 2, 10, 51).view());
  StreamReport report;
  CHECK(start.model.apply(start.backend, opened(gain(rescaled, rows, 0, 0)), 0.0, nullptr, &report)
            .code() == StatusCode::kForeign);
  CHECK(one.model.clusters().mixture().rows_faded() > 0.0);
  // The past has faded, and a row counts half.
  double before = 0.0;
  double after = 0.0;
  for (Index k = 0; k < start.model.clusters().mixture().clusters(); ++k) {
    before += start.model.clusters().mixture().mass(k);
    after += one.model.clusters().mixture().mass(k);
  }
  CHECK(after == doctest::Approx(before * std::exp2(-900.0 / 5000.0) + 450.0).epsilon(1e-9));
}

TEST_CASE("gains that somebody has made up are refused, or are gains") {
  const Bytes whole = gain(base(), kinds(0, 3, 400, 60), 1, 1);
  const Index born = opened(whole).born();
  REQUIRE(born > 0);
  Philox random({.seed = 99});
  const auto word = [&random] {
    return static_cast<std::uint32_t>(random.uniform_double() * 4294967296.0);
  };
  int refused = 0;
  int taken = 0;
  Copy victim(base());
  const Bytes before = victim.snapshot();
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = whole;
    const std::size_t body = bytes.size() - kGainTailBytes;
    for (std::uint32_t change = 0; change <= word() % 2; ++change) {
      const std::size_t first = round % 3 == 0 ? 0 : kGainHeadBytes;
      bytes[first + word() % (body - first)] = static_cast<std::byte>(word());
    }
    ByteWriter tail(bytes.data() + body, kGainTailBytes);
    tail.write_u64(crc64(bytes.data(), body));
    GainSet set;
    Status status = set.open(bytes.data(), bytes.size());
    StreamReport report;
    if (status.ok()) status = victim.model.apply(victim.backend, set, 0.0, nullptr, &report);
    if (!status.ok()) {
      ++refused;
      if (round % 100 == 0) CHECK(victim.snapshot() == before);
      continue;
    }
    ++taken;
    CHECK(std::isfinite(report.bound));
    CHECK(victim.model.clusters().mixture().rows_learnt() ==
          static_cast<double>(base().model.rows_learnt() + 400));
    for (const RowResult& row : victim.score(kinds(0, 3, 4, 61))) {
      CHECK(std::isfinite(row.log_density));
    }
    REQUIRE(victim.load(before).ok());
  }
  CHECK(victim.snapshot() == before);
  CHECK(refused > 500);
  CHECK(taken > 500);
}

// Offsets: head 56; worker, sequence, rows, born: 32; then the first cluster: whole rows, units,
// mass, mean, scatter, entropy.
TEST_CASE(
    "gains: numbers that no rows can have are refused, and the model still loads what it saves") {
  Copy model(base());
  const Bytes good = gain(model, kinds(0, 2, 100, 5), 1, 1);
  const Bytes before = model.snapshot();
  const auto& shape = model.model.clusters().config().shape;
  const std::size_t entropy =
      56 + 32 + 12 + 8 + 8 * static_cast<std::size_t>(shape.dims + shape.scatter_size());
  const auto patched = [&good](std::size_t at, const void* number) {
    Bytes bytes = good;
    std::memcpy(bytes.data() + at, number, 8);
    const std::uint64_t crc = crc64(bytes.data(), bytes.size() - 8);
    std::memcpy(bytes.data() + bytes.size() - 8, &crc, 8);
    return bytes;
  };
  const auto refused = [&](const Bytes& bytes) {
    GainSet set;
    StreamReport report;
    if (!set.open(bytes.data(), bytes.size()).ok()) return true;
    return !model.model.apply(model.backend, set, 0.0, nullptr, &report).ok();
  };
  for (const double number : {1e308, -1e308, 1e10, -1.0}) {
    CAPTURE(number);
    CHECK(refused(patched(entropy, &number)));
  }
  for (const double number : {1e308, 1e30})
    CHECK(refused(patched(entropy - 8, &number)));  // scatter
  for (const double number : {1e308, 1e12}) CHECK(refused(patched(56 + 32 + 20, &number)));  // mean
  // 2^52 - 1 rows, in the key, in the count and as mass.
  std::uint64_t rows = 0;
  std::uint64_t own = 0;
  std::memcpy(&rows, good.data() + 72, 8);
  std::memcpy(&own, good.data() + 88, 8);
  const std::uint64_t most = static_cast<std::uint64_t>(kMostRows) - 1 - (rows - own);
  const std::uint64_t total = rows - own + most;
  std::uint32_t units = 0;
  std::memcpy(&units, good.data() + 96, 4);
  const double mass = static_cast<double>(most) + units / 4294967296.0;
  Bytes many = good;
  std::memcpy(many.data() + 72, &total, 8);
  std::memcpy(many.data() + 88, &most, 8);
  std::memcpy(many.data() + 100, &mass, 8);
  const std::uint64_t crc = crc64(many.data(), many.size() - 8);
  std::memcpy(many.data() + many.size() - 8, &crc, 8);
  CHECK(refused(many));
  CHECK(model.snapshot() == before);
  CHECK_FALSE(refused(good));
  CHECK(model.load(model.snapshot()).ok());
}

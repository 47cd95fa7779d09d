// Novelty of rows by features and by what the decoder cannot account for: the contract (0.5 at a
// boundary that as many ordinary rows pass as were allowed), what it is for, and its state.
#include <algorithm>
#include <cmath>

#include "support/model_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

Configuration weighing(double weight) {
  Configuration config = small_model();
  config.novelty_error_weight = weight;
  config.false_alarm_rate = 0.05;
  return config;
}

void teach(ModelFixture& f) {
  f.learn(kinds(0, 2, 400, 1));
  for (std::uint32_t i = 2; i < 6; ++i) f.learn(kinds(0, 2, 400, i));
}

double novel_part(ModelFixture& f, const Rows& rows) {
  const std::vector<RowResult> results = f.score(rows);
  const auto novel = std::count_if(results.begin(), results.end(),
                                   [](const RowResult& r) { return r.novelty > 0.5F; });
  return static_cast<double>(novel) / static_cast<double>(rows.rows);
}

// `rows` moved by a step of one length each, in a direction that leaves the features where they
// were, as far as the encoder's first order goes.
Rows moved_unseen(ModelFixture& f, const Rows& rows, double length) {
  Rows out = rows;
  const Index m = f.config.latent;
  constexpr float kStep = 1e-2F;
  Rows z(1 + rows.cols, m);
  Rows probe(1 + rows.cols, rows.cols);
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index p = 0; p < probe.rows; ++p) {
      for (Index j = 0; j < rows.cols; ++j) probe(p, j) = rows(i, j) + (p == j + 1 ? kStep : 0.0F);
    }
    REQUIRE(f.model.encode(f.backend, probe.view(), z.view(), MatrixView()).ok());
    // A fixed direction less its part in the span of the features' gradients.
    std::vector<std::vector<double>> span;
    const auto remove = [&](std::vector<double>& v) {
      for (const auto& s : span) {
        double dot = 0.0;
        for (std::size_t j = 0; j < v.size(); ++j) dot += v[j] * s[j];
        for (std::size_t j = 0; j < v.size(); ++j) v[j] -= dot * s[j];
      }
      double norm = 0.0;
      for (const double x : v) norm += x * x;
      for (double& x : v) x /= std::sqrt(norm);
    };
    for (Index k = 0; k < m; ++k) {
      std::vector<double> gradient(static_cast<std::size_t>(rows.cols));
      for (Index j = 0; j < rows.cols; ++j) {
        gradient[static_cast<std::size_t>(j)] = (z(j + 1, k) - z(0, k)) / kStep;
      }
      remove(gradient);
      span.push_back(gradient);
    }
    std::vector<double> direction(static_cast<std::size_t>(rows.cols));
    for (std::size_t j = 0; j < direction.size(); ++j)
      direction[j] = std::sin(1.0 + 2.0 * static_cast<double>(j) + static_cast<double>(i));
    remove(direction);
    for (Index j = 0; j < rows.cols; ++j) {
      out(i, j) += static_cast<float>(length * direction[static_cast<std::size_t>(j)]);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("of ordinary rows about as many are novel as were allowed") {
  for (const double weight : {0.0, 1.0, 4.0}) {
    CAPTURE(weight);
    ModelFixture f(weighing(weight));
    teach(f);
    const double part = novel_part(f, kinds(0, 2, 4000, 99));
    CHECK(part > 0.015);
    CHECK(part < 0.12);
  }
}

TEST_CASE("what the features do not see is novel by what cannot be redrawn") {
  ModelFixture blind(weighing(0.0));
  ModelFixture f(weighing(1.0));
  teach(blind);
  teach(f);
  const Rows ordinary = kinds(0, 2, 200, 77);
  // The two have learnt the same: novelty is said, not learnt from.
  CHECK(blind.state() == f.state());
  const Rows moved = moved_unseen(f, ordinary, 1.5);
  CHECK(novel_part(blind, moved) < 0.35);
  CHECK(novel_part(f, moved) > 0.9);
}

TEST_CASE("novelty rises with the error, and every number is finite") {
  ModelFixture f(weighing(1.0));
  teach(f);
  const Rows ordinary = kinds(0, 2, 50, 77);
  double before = 0.0;
  for (const double length : {0.0, 0.5, 1.0, 2.0}) {
    double mean = 0.0;
    for (const RowResult& r : f.score(moved_unseen(f, ordinary, length))) mean += r.novelty / 50.0;
    CHECK(mean > before);
    before = mean;
  }
  Rows wild(3, kInputs);
  std::fill_n(wild.view().row(0), kInputs, 3e38F);
  std::fill_n(wild.view().row(1), kInputs, -1e20F);
  for (const RowResult& r : f.score(wild)) {
    CHECK(std::isfinite(r.log_density));
    CHECK(r.novelty >= 0.0F);
    CHECK(r.novelty <= 1.0F);
  }
}

TEST_CASE("explain tells the error's part, and its numbers give the novelty") {
  ModelFixture f(weighing(1.0));
  teach(f);
  const Rows rows = moved_unseen(f, kinds(0, 2, 20, 7), 1.0);
  std::vector<double> contribution(static_cast<std::size_t>(f.config.latent));
  std::vector<float> error(kInputs);
  for (Index i = 0; i < rows.rows; ++i) {
    RowReason reason;
    REQUIRE(
        f.model.explain(f.backend, rows.view().row(i), &reason, contribution.data(), error.data())
            .ok());
    CHECK(reason.error_surprise != 0.0);
    CHECK(reason.surprise ==
          doctest::Approx(reason.error_surprise - reason.result.log_density).epsilon(1e-9));
    const double deviation = std::sqrt(0.5 * f.config.latent);
    const double novelty = 1.0 / (1.0 + std::exp((reason.boundary - reason.surprise) / deviation));
    CHECK(reason.result.novelty == doctest::Approx(novelty).epsilon(1e-4));
  }
}

TEST_CASE("it is in the snapshot; without it features alone judge until the next stream") {
  ModelFixture f(weighing(1.0));
  teach(f);
  const Rows rows = kinds(0, 4, 60, 5);
  ModelFixture again(weighing(1.0));
  const std::vector<std::byte> bytes = f.snapshot();
  REQUIRE(again.model.load(bytes.data(), bytes.size()).ok());
  const auto first = f.score(rows);
  const auto second = again.score(rows);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK(first[i].novelty == second[i].novelty);
  again.model.reset();
  CHECK(again.score(rows)[0].novelty == 1.0F);
}

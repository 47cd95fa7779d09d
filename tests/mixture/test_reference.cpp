// The same start, prior and number of steps as scikit-learn's BayesianGaussianMixture give the same
// means, covariances and weights. The files come from tests/reference/make_mixture_reference.py.
#include <cmath>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/mixture_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

std::vector<double> read_numbers(const std::string& name) {
  std::ifstream file(std::string(ADAPVAE_SOURCE_DIR) + "/tests/reference/" + name);
  REQUIRE(file.good());
  std::vector<double> numbers;
  for (double x = 0.0; file >> x;) numbers.push_back(x);
  return numbers;
}

}  // namespace

TEST_CASE("fixed truncation without moves agrees with scikit-learn") {
  for (const bool diagonal : {false, true}) {
    CAPTURE(diagonal);
    const std::vector<double> file =
        read_numbers(diagonal ? "mixture_diag.txt" : "mixture_full.txt");
    std::size_t at = 0;
    const auto next = [&] { return file[at++]; };
    const auto n = static_cast<Index>(next());
    const auto m = static_cast<Index>(next());
    const auto clusters = static_cast<Index>(next());
    const int steps = static_cast<int>(next());
    const double alpha = next();
    const double beta = next();
    const double nu = next();

    MixtureConfig config;
    config.shape = {diagonal ? FactorShape::kDiagonal : FactorShape::kLower, m};
    config.max_clusters = clusters;
    config.max_rows = n;
    MixtureFixture fixture(config);
    Mixture& mixture = fixture.mixture;
    std::vector<double> mean;
    for (Index i = 0; i < m; ++i) mean.push_back(next());
    std::vector<double> scale;
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < (diagonal ? 1 : m); ++j) {
        const double value = next();
        if (diagonal || j <= i) scale.push_back(value);
      }
    }
    std::vector<float> rows;
    for (Index i = 0; i < n * m; ++i) rows.push_back(static_cast<float>(next()));
    mixture.set_concentration(fixed_concentration(alpha));
    REQUIRE(mixture.set_base_measure(beta, nu, mean.data(), scale.data()).ok());
    REQUIRE(mixture.begin_stream({rows.data(), n, m}, {}, 1.0, 1).ok());
    while (mixture.clusters() < clusters) mixture.add_cluster();
    const MatrixViewD r = mixture.stream_responsibilities();
    for (Index i = 0; i < n; ++i) r(i, static_cast<Index>(next())) = 1.0;
    mixture.recount(fixture.backend);
    for (int step = 0; step < steps; ++step) mixture.lap(fixture.backend);

    double weight_sum = 0.0;
    for (Index k = 0; k < clusters; ++k) weight_sum += mixture.weight(k);
    for (Index k = 0; k < clusters; ++k) {
      // scikit-learn gives the tail's weight to the clusters in proportion.
      CHECK(std::fabs(mixture.weight(k) / weight_sum - next()) < 1e-4);
    }
    for (Index k = 0; k < clusters; ++k) {
      for (Index i = 0; i < m; ++i) {
        CHECK(std::fabs(mixture.posterior(k).mean[i] - next()) < 1e-4);
      }
    }
    for (Index k = 0; k < clusters; ++k) {
      const Posterior& p = mixture.posterior(k);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < (diagonal ? 1 : m); ++j) {
          double value = 0.0;
          if (diagonal) {
            value = p.factor[i];
          } else {
            for (Index l = 0; l <= std::min(i, j); ++l) {
              value += p.factor[packed_size(i) + l] * p.factor[packed_size(j) + l];
            }
          }
          CHECK(std::fabs(value / p.nu - next()) < 1e-4);
        }
      }
    }
    CHECK(at == file.size());
  }
}

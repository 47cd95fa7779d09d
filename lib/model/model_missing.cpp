// Model: what stands in the cells of rows that have no value.
//
// The mean of what a missing value can be would do for scoring. Learnt in many rows it would make a
// cluster of its own, of rows that vary less than others: there a missing value is drawn, in the
// first block from a row that is like the others, later from the cluster.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/input_check.h"
#include "base/philox.h"
#include "model/configuration_parts.h"
#include "model/model.h"

namespace adapvae {

// Numbers that rows may hold.
Status Model::check_numbers(ConstMatrixView rows) const {
  return config_.missing_values != 0 ? MissingCells::check(rows) : check_finite(rows);
}

// x: the noted rows, as the network gets them.
Status Model::complete(Backend& backend, MatrixView x, Fill fill) {
  if (!missing_.any()) return {};
  if (nothing_learnt()) {
    fill_from_rows(x, fill);
    return {};
  }
  for (Index begin = 0; begin < x.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, x.rows - begin);
    ADAPVAE_RETURN_IF_ERROR(fill_from_clusters(backend, x.row_range(begin, n), begin, fill));
  }
  return refine(backend, x);
}

// Without clusters. To score a row, other rows must not matter: of scaled inputs 0 is the mean.
void Model::fill_from_rows(MatrixView x, Fill fill) const {
  for (Index j = 0; j < x.cols; ++j) {
    double mean = 0.0;
    double count = 0.0;
    for (Index i = 0; i < x.rows && fill == Fill::kDrawn; ++i) {
      if (missing_.missing(i, j)) continue;
      count += 1.0;
      mean += (static_cast<double>(x(i, j)) - mean) / count;
    }
    for (Index i = 0; i < x.rows; ++i) {
      if (missing_.missing(i, j)) x(i, j) = static_cast<float>(mean);
    }
  }
  if (fill == Fill::kDrawn) fill_from_others(x);
}

// By the cells of noted row i that have a value.
float Model::squared_distance(Index i, const float* row, const float* other) const {
  float sum = 0.0F;
  for (Index j = 0; j < config_.inputs; ++j) {
    const float d = row[j] - other[j];
    if (!missing_.missing(i, j)) sum += d * d;
  }
  return sum;
}

// From the nearest of some rows that have all values that the row lacks; cells for which there is
// none keep the mean.
void Model::fill_from_others(MatrixView x) const {
  constexpr std::uint32_t kDonors = 100;
  for (Index i = 0; i < x.rows; ++i) {
    if (!missing_.any(i)) continue;
    Philox random({.seed = config_.seed,
                   .purpose = RandomPurpose::kMissing,
                   .stream = stream_,
                   .index = static_cast<std::uint32_t>(i)});
    Index nearest = -1;
    float least = std::numeric_limits<float>::infinity();
    for (std::uint32_t k = 0; k < kDonors; ++k) {
      const auto donor = static_cast<Index>(random.below(static_cast<std::uint32_t>(x.rows)));
      if (!missing_.completes(donor, i)) continue;
      const float distance = squared_distance(i, x.row(i), x.row(donor));
      if (!(distance < least)) continue;
      least = distance;
      nearest = donor;
    }
    if (nearest < 0) continue;
    for (Index j = 0; j < x.cols; ++j) {
      if (missing_.missing(i, j)) x(i, j) = x(nearest, j);
    }
  }
}

// What the decoder's number for an input means, in the network's units.
float Model::decoded_value(float output) const {
  if (vae_.config().likelihood.kind == Likelihood::kBernoulli) {
    return 1.0F / (1.0F + std::exp(-std::clamp(output, -30.0F, 30.0F)));
  }
  const float most =
      config_.scale_inputs != 0 ? static_cast<float>(2.0 * kInputRange) : input_range(config_).high;
  return std::clamp(output, -most, most);
}

// Rows from number `from` of the noted ones on, at most pass_rows: what the cluster has there that
// is nearest by the other cells.
Status Model::fill_from_clusters(Backend& backend, MatrixView x, Index from, Fill fill) {
  const Index m = config_.latent;
  const Mixture& mixture = learner_.mixture();
  const auto fill_row = [&](Index i, const float* output) {
    for (Index j = 0; j < x.cols; ++j) {
      if (missing_.missing(from + i, j)) x(i, j) = decoded_value(output[j]);
    }
  };
  float* least = error_;
  float* nearest = novelty_;  // number of the component
  std::fill_n(least, x.rows, std::numeric_limits<float>::infinity());
  std::fill_n(nearest, x.rows, 0.0F);
  for (Index k = 0; k < mixture.clusters(); ++k) {
    const double* mean = mixture.posterior(k).mean;
    for (Index j = 0; j < m; ++j) z_[j] = static_cast<float>(mean[j]);
    ConstMatrixView output;
    ADAPVAE_RETURN_IF_ERROR(vae_.decode_raw(backend, ConstMatrixView(z_, 1, m), &output));
    for (Index i = 0; i < x.rows; ++i) {
      if (!missing_.any(from + i)) continue;
      float distance = 0.0F;
      for (Index j = 0; j < x.cols; ++j) {
        if (missing_.missing(from + i, j)) continue;
        const float d = x(i, j) - decoded_value(output(0, j));
        distance += d * d;
      }
      if (k > 0 && !(distance < least[i])) continue;
      least[i] = distance;
      nearest[i] = static_cast<float>(k);
      fill_row(i, output.row(0));
    }
  }
  if (fill == Fill::kExpected) return {};
  const MatrixView z(z_, x.rows, m);
  for (Index i = 0; i < x.rows; ++i) {
    Philox random({.seed = config_.seed,
                   .purpose = RandomPurpose::kMissing,
                   .stream = stream_,
                   .index = static_cast<std::uint32_t>(from + i)});
    constexpr double kRadius = 3.0;  // standard deviations
    sample_predictive(learner_.config().shape, mixture.posterior(static_cast<Index>(nearest[i])),
                      kRadius, random, scratch_, scratch_ + m);
    for (Index j = 0; j < m; ++j) z(i, j) = static_cast<float>(scratch_[j]);
  }
  ConstMatrixView output;
  ADAPVAE_RETURN_IF_ERROR(vae_.decode_raw(backend, z, &output));
  for (Index i = 0; i < x.rows; ++i) fill_row(i, output.row(i));
  return {};
}

// Missing cells become what the network reconstructs there, a few times: columns that depend on
// others are by those.
Status Model::refine(Backend& backend, MatrixView x) {
  constexpr int kTimes = 3;
  if (!missing_.any()) return {};
  for (Index begin = 0; begin < x.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, x.rows - begin);
    const MatrixView pass = x.row_range(begin, n);
    const MatrixView z(z_, n, config_.latent);
    for (int time = 0; time < kTimes; ++time) {
      ConstMatrixView output;
      ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, pass, z, MatrixView()));
      ADAPVAE_RETURN_IF_ERROR(vae_.decode_raw(backend, z, &output));
      for (Index i = 0; i < n; ++i) {
        if (!missing_.any(begin + i)) continue;
        for (Index j = 0; j < x.cols; ++j) {
          if (missing_.missing(begin + i, j)) pass(i, j) = decoded_value(output(i, j));
        }
      }
    }
  }
  return {};
}

}  // namespace adapvae

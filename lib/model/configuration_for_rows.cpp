#include "model/configuration_for_rows.h"

#include <algorithm>
#include <cmath>

namespace adapvae {
namespace {

// Rows of at most this many columns need no larger network and are not masked in pretraining.
constexpr Index kFewColumns = 32;
constexpr std::int32_t kSmallLayer = 32;
constexpr Index kLeastLatent = 4;
constexpr Index kMostLatent = 10;
constexpr Index kMostLatentOfMany = 16;  // of many columns and rows

struct ValueRange {
  bool unit = true;        // every value is in [0, 1]
  bool complete = true;    // no value is missing
  double saturated = 0.0;  // fraction of values that are 0 or 1
};

ValueRange range_of(ConstMatrixView rows) {
  ValueRange range;
  double saturated = 0.0;
  double values = 0.0;
  for (Index i = 0; i < rows.rows; ++i) {
    for (Index j = 0; j < rows.cols; ++j) {
      const float x = rows(i, j);
      if (std::isnan(x)) {
        range.complete = false;
        continue;
      }
      values += 1.0;
      range.unit = range.unit && !(x < 0.0F || x > 1.0F);
      saturated += x == 0.0F || x == 1.0F ? 1.0 : 0.0;
    }
  }
  range.saturated = saturated / std::max(1.0, values);
  return range;
}

struct ColumnMoments {
  double mean = 0.0;
  double variance = 0.0;
};

ColumnMoments column_of(ConstMatrixView rows, Index j) {
  ColumnMoments column;
  double count = 0.0;
  for (Index i = 0; i < rows.rows; ++i) {
    if (std::isnan(rows(i, j))) continue;
    count += 1.0;
    const double d = static_cast<double>(rows(i, j)) - column.mean;
    column.mean += d / count;
    column.variance += d * (static_cast<double>(rows(i, j)) - column.mean);
  }
  column.variance /= std::max(count, 1.0);
  return column;
}

// The number of directions in which standardised rows vary: (Σ λ)² / Σ λ², λ the eigenvalues of
// their correlation matrix (participation ratio). Its trace and its squared entries are enough.
double directions(ConstMatrixView rows) {
  double varying = 0.0;
  double squares = 0.0;
  for (Index j = 0; j < rows.cols; ++j) {
    const ColumnMoments a = column_of(rows, j);
    if (!(a.variance > 0.0)) continue;
    varying += 1.0;
    squares += 1.0;
    for (Index k = 0; k < j; ++k) {
      const ColumnMoments b = column_of(rows, k);
      if (!(b.variance > 0.0)) continue;
      double covariance = 0.0;
      double count = 0.0;
      for (Index i = 0; i < rows.rows; ++i) {
        const double product =
            (static_cast<double>(rows(i, j)) - a.mean) * (static_cast<double>(rows(i, k)) - b.mean);
        if (std::isnan(product)) continue;
        count += 1.0;
        covariance += product;
      }
      covariance /= std::max(count, 1.0);
      squares += 2.0 * covariance / a.variance * (covariance / b.variance);
    }
  }
  return squares > 0.0 ? varying * varying / squares : 0.0;
}

// Twice as many features as there are directions: states that come later vary in others. More
// would be noise, which hides clusters of few rows.
std::int32_t features_for(ConstMatrixView rows) {
  const Index most = std::min(rows.cols, kMostLatent);
  const Index least = std::min(rows.cols, kLeastLatent);
  if (rows.cols > kFewColumns) {
    // A component has about m²/2 parameters: eight of these rows for each of one.
    const auto borne = static_cast<Index>(0.5 * std::sqrt(static_cast<double>(rows.rows)));
    return static_cast<std::int32_t>(std::clamp(borne, most, kMostLatentOfMany));
  }
  Index features = least;
  if (rows.rows > 1) {
    const double wanted = 2.0 * directions(rows);
    while (features < most && static_cast<double>(features) < wanted) ++features;
  }
  return static_cast<std::int32_t>(std::max<Index>(features, 2));
}

}  // namespace

const char* suit_rows(Configuration& config, ConstMatrixView rows) {
  const Index columns = rows.cols;
  config.inputs = static_cast<std::int32_t>(columns);
  const bool image =
      Index{config.image_width} * config.image_height * config.image_channels == columns;
  const ValueRange range = range_of(rows);
  if (!range.complete) config.missing_values = 1;
  // Tables that were scaled to [0, 1] are measurements all the same. Drawings are mostly paper and
  // ink.
  constexpr double kDrawn = 0.5;
  if (range.unit &&
      (image || (rows.rows > 0 && columns > kFewColumns && range.saturated > kDrawn))) {
    config.likelihood = 0;
    config.scale_inputs = 0;
    config.augment = image ? 1 : 0;
    return image ? "Images with values in [0, 1]: Bernoulli likelihood; images are shifted and "
                   "turned at random during training."
                 : "Most values are 0 or 1: Bernoulli likelihood.";
  }
  config.likelihood = 1;
  config.scale_inputs = 1;
  config.missing_values = 1;  // a sensor may fail later
  config.latent = features_for(rows);
  config.prior_mode = 2;
  config.effective_rows = 0.0;
  config.max_clusters = 100;
  if (columns > kFewColumns) {
    return "Measurements in many columns: standardised, Gaussian likelihood.";
  }
  config.hidden1 = kSmallLayer;
  config.hidden2 = 0;
  config.pretrain_mask_probability = 0.0;
  return "Measurements in at most 32 columns: standardised, Gaussian likelihood, small network.";
}

}  // namespace adapvae

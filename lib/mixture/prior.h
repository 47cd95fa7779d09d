// Where the base measure comes from. It decides how few rows a birth needs: a prior much narrower
// or much wider than clusters really are makes every newborn pay.
#pragma once

#include "mixture/mixture.h"

namespace adapvae {

enum class PriorMode : std::int32_t {
  kFixed = 0,      // what set_base_measure() was given
  kScaled = 1,     // from the spread of the first stream
  kEmpirical = 2,  // like kScaled; from the second stream on, what clusters had in common
  kFitted = 3,     // like kEmpirical; in the first stream estimated together with the clusters
};

struct PriorSettings {
  PriorMode mode = PriorMode::kEmpirical;
  double scale = 0.3;      // kScaled: a cluster's variance as a part of the data's
  double beta = 0.2;       // how firmly the mean of clusters is known, in rows; kFitted: at most
  double strength = 22.0;  // kEmpirical, kFitted: ν = m + strength, or less
};

// The base measure from the spread of rows: their mean, scale · mean variance · I. False if the
// rows do not differ: then a spread that stands in is set, and the caller should try again with
// other rows. variance (of the encoder) may be empty. scratch [m + scatter_size].
bool set_scaled_prior(Mixture& mixture, ConstMatrixView z, ConstMatrixView variance,
                      const PriorSettings& settings, double* scratch);

// The base measure from the clusters. The mean stays; every posterior and the bound are recomputed.
// False, and nothing changed, if clusters hold too little.

// The covariance within all clusters, where large ones count most, with the weight of `strength`
// rows. scratch [m + scatter_size].
bool set_pooled_prior(Mixture& mixture, const PriorSettings& settings, double* scratch);

// The scale of highest likelihood given the clusters' precisions: ν times their harmonic mean,
// every cluster counted once (eq. 24). One wide cluster that is still to be divided does not make
// all others wide. ν follows from how differently wide clusters are; it is at most m + strength. β
// is that of highest evidence (eq. 28), at most settings.beta; set_pooled_prior() keeps it.
// False, too, if there is only one cluster. scratch [m + 3 scatter_size].
bool set_fitted_prior(Mixture& mixture, const PriorSettings& settings, double* scratch);

}  // namespace adapvae

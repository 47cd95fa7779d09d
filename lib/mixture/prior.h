// Where the base measure comes from. It decides how few rows a birth needs: a prior much narrower
// or much wider than clusters really are makes every newborn pay.
#pragma once

#include "mixture/mixture.h"

namespace adapvae {

enum class PriorMode : std::int32_t {
  kFixed = 0,      // what set_base_measure() was given
  kScaled = 1,     // from the spread of the first stream
  kEmpirical = 2,  // like kScaled; from the second stream on, what clusters had in common
};

struct PriorSettings {
  PriorMode mode = PriorMode::kEmpirical;
  double scale = 0.3;      // kScaled: a cluster's variance as a part of the data's
  double beta = 0.2;       // how firmly the mean of clusters is known, in rows
  double strength = 22.0;  // kEmpirical: ν = m + strength
};

// The base measure from the spread of rows: their mean, scale · mean variance · I. False if the
// rows do not differ: then a spread that stands in is set, and the caller should try again with
// other rows. variance (of the encoder) may be empty. scratch [m + scatter_size].
bool set_scaled_prior(Mixture& mixture, ConstMatrixView z, ConstMatrixView variance,
                      const PriorSettings& settings, double* scratch);

// The base measure from the clusters: pooled covariance within them, with the weight of `strength`
// rows; the mean stays. Every posterior and the bound are recomputed. False, and nothing changed,
// if clusters hold too little. Between streams. scratch [m + scatter_size].
bool set_pooled_prior(Mixture& mixture, const PriorSettings& settings, double* scratch);

}  // namespace adapvae

// How far the density of rows falls between two components (docs/math.md, "Clusters of
// components").
//
// Rows of both are projected onto a line; a kernel estimate of their density is followed from the
// mean of one to the mean of the other. Few rows make a smoother estimate.
#pragma once

#include <span>

#include "base/matrix_view.h"

namespace adapvae {

struct DensityDip {
  // Logarithms, at least 0: how far the density falls from its peak on the side of the first
  // (second) component to its least value between the means.
  double from_first = 0.0;
  double from_second = 0.0;
  // The same for two Gaussians of the same means, variances and numbers of rows, from the lower of
  // their peaks.
  double of_gaussians = 0.0;
  // Rows under the kernel at the lower of the two peaks.
  double peak_rows = 0.0;

  // Whether the density falls farther than by `least`, whatever the few rows between happen to be.
  bool certainly_exceeds(double least) const;
};

// Positions on the line, of at least two rows each; the first component has the lower mean.
DensityDip density_dip(std::span<const float> first, std::span<const float> second);

}  // namespace adapvae

// Neighbour embedding: rows that lie next to each other are drawn together, all others pushed
// apart (docs/math.md, eq. 17). Nothing about the inputs is known to it.
#pragma once

#include "base/matrix_view.h"

namespace adapvae {

// Pairs: row i and row i + n/2 of mean [n × m] are neighbours, i < n/2. The loss, per pair; if
// gradient [n × ≥m] is not empty, weight · its gradient is added to the first m columns.
double neighbour_loss(ConstMatrixView mean, float weight, MatrixView gradient);

}  // namespace adapvae

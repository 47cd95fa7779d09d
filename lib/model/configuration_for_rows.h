// A configuration for rows that nobody has described: what "auto" means for every program and
// language.
#pragma once

#include "base/matrix_view.h"
#include "model/configuration.h"

namespace adapvae {

// Sets what follows from the rows: inputs, likelihood, scaling, size of the network and what the
// mixture expects. Other fields stay as they are; image_width and image_height, if set, say that
// rows are images. rows: some of the first, at least 100 if there are so many; without any, the
// number of columns alone decides. NaN is a missing value. missing_values is switched on
// for measurements in any case, for images and drawings if the rows have some.
// Returns one sentence that says what was decided and why, in static storage.
const char* suit_rows(Configuration& config, ConstMatrixView rows);

}  // namespace adapvae

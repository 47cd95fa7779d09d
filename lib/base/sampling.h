// Samplers over Philox: normal, gamma, Student-t, categorical, permutation.
#pragma once

#include "base/matrix_view.h"
#include "base/philox.h"

namespace adapvae {

// Standard normal (Box-Muller in double, both halves used by the filling form). Each pair takes
// four words; sample_normal, and fill_normal at the end of an odd count, drop the second half.
double sample_normal(Philox& random);
void fill_normal(Philox& random, float* out, Index count);

// Gamma with the given shape > 0 and rate 1 (Marsaglia and Tsang 2000; boosted below shape 1).
// NaN for any other shape. Below a shape of about 0.05 a draw can be too small for a double, and
// is 0 then.
double sample_gamma(Philox& random, double shape);

// Student-t, dof > 0 and finite, location 0, scale 1 (Bailey 1994). Takes four words. Below a dof
// of about 0.05 a draw can be too large for a double, and is infinite then.
double sample_student_t(Philox& random, double dof);

// Index i in [0, count) with probability weight[i] / sum. Weights >= 0, at least one positive, the
// sum finite. An entry that is zero is never drawn; if all are, the result is 0.
Index sample_categorical(Philox& random, const double* weight, Index count);

// A uniformly random permutation of 0..count-1 (Fisher-Yates).
void fill_permutation(Philox& random, std::uint32_t* out, std::uint32_t count);

}  // namespace adapvae

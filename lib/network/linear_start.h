// A network that begins as a projection on principal axes and learns from there: a mixture on
// linear features is then what it can do from the first step on.
#pragma once

#include "network/principal_axes.h"
#include "network/vae.h"

namespace adapvae {

// Features are the projections on the axes, each with standard deviation 1; the decoder projects
// back. Two ReLU units of every hidden layer carry a feature, its positive and its negative part.
// Other units keep the weights that they were drawn with, but nothing listens to them yet. The
// log-variance heads stay as they are. False, and nothing changed, if the network cannot be linear:
// a hidden layer of another activation or of fewer than twice as many units as there are features,
// or a Bernoulli likelihood, whose outputs are not in the rows' units.
bool start_linear(Vae& vae, const PrincipalAxes& start);

}  // namespace adapvae

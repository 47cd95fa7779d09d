// The network's loss once more, in double and as plainly as it can be written: what the library's
// numbers and gradients are compared with. It shares with the library only the structs that
// describe a case and the random numbers of lib/base; layout, forward pass, likelihoods, mixture
// term and entropy are its own.
#pragma once

#include <vector>

#include "network/vae.h"

namespace adapvae::testing {

struct ReferenceLoss {
  double log_likelihood = 0.0;
  double mixture = 0.0;
  double entropy = 0.0;
  double loss = 0.0;
  std::vector<double> responsibilities;  // [n × K] those that were used
  // How near the pass came to a point where its slope jumps: the smallest distance of a ReLU's
  // argument from zero or of a log-variance from its bounds.
  double kink_distance = 0.0;
  Index clamped_latents = 0;  // log-variances of the encoder outside their bounds
  Index clamped_outputs = 0;  // those of the decoder
  // [n × d] How far a log-variance of the decoder lies beyond its bound, if its slope there leads
  // back; else 0.
  std::vector<double> returning;
};

std::vector<double> to_double(const std::vector<float>& values);

Index reference_parameter_count(const VaeConfig& config);

// fixed_responsibilities [n × K] replaces both those of the batch and those of this pass.
// returning [n × d], of a pass before: log-variances that lie beyond a bound there move from the
// bound on. The derivative of that loss is the gradient that training follows.
ReferenceLoss reference_loss(const VaeConfig& config, const std::vector<double>& parameters,
                             const VaeBatch& batch,
                             const std::vector<double>* fixed_responsibilities = nullptr,
                             const std::vector<double>* returning = nullptr);

// Outputs of the first `layers` layers of the encoder, row after row.
std::vector<double> reference_hidden(const VaeConfig& config, const std::vector<double>& parameters,
                                     ConstMatrixView x, int layers);
// mean | clamped variance of the latent rows [n × 2m].
std::vector<double> reference_encode(const VaeConfig& config, const std::vector<double>& parameters,
                                     ConstMatrixView x);
// The decoder's mean of x [n × d].
std::vector<double> reference_decode(const VaeConfig& config, const std::vector<double>& parameters,
                                     ConstMatrixView z);

// The loss of layer-wise pretraining at `level`; both matrices are that level's input.
ReferenceLoss reference_layer_loss(const VaeConfig& config, const std::vector<double>& parameters,
                                   int level, ConstMatrixView corrupted, ConstMatrixView clean,
                                   const std::vector<double>* returning = nullptr);

// ∂f/∂parameter at every parameter, by central differences.
template <typename Function>
std::vector<double> central_differences(std::vector<double> parameters, double step, Function f) {
  std::vector<double> gradient(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double here = parameters[i];
    parameters[i] = here + step;
    const double above = f(parameters);
    parameters[i] = here - step;
    const double below = f(parameters);
    parameters[i] = here;
    gradient[i] = (above - below) / (2.0 * step);
  }
  return gradient;
}

// The largest error of a gradient, each entry relative to max(|numeric|, floor · largest
// |numeric|).
double worst_relative_error(const std::vector<float>& gradient, const std::vector<double>& numeric,
                            double floor = 5e-3);

}  // namespace adapvae::testing

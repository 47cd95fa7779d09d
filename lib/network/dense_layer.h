// One dense layer: y = activation(x W + b), as a forward and a backward function over the flat
// parameter buffer. No state: a layer is only its shape and its place in the buffer.
#pragma once

#include "compute/backend.h"

namespace adapvae {

struct DenseLayer {
  Index inputs = 0;
  Index outputs = 0;
  Activation activation = Activation::kLinear;
  Index weights = 0;  // offset of W [inputs × outputs] in the buffer
  Index bias = 0;     // offset of b [outputs]

  constexpr Index parameter_count() const { return (inputs + 1) * outputs; }
};

// y [n × outputs].
void layer_forward(Backend& backend, const DenseLayer& layer, const float* parameters,
                   ConstMatrixView x, MatrixView y);

// From dy [n × outputs], the loss gradient before this layer's activation, to the gradients of W
// and b (written at the layer's offsets of `gradients`) and, unless dx is empty, to dx
// [n × inputs], the loss gradient before the activation of the layer below, whose output x is.
void layer_backward(Backend& backend, const DenseLayer& layer, const float* parameters,
                    ConstMatrixView x, Activation activation_below, ConstMatrixView dy,
                    float* gradients, MatrixView dx);

// gradient ⊙= activation'(y): carries a loss gradient from behind an activation to before it.
void gate_by_derivative(Activation activation, ConstMatrixView y, MatrixView gradient);

enum class Initialisation : std::int32_t {
  kHe = 0,      // normal, variance 2 / inputs: for ReLU and its kin
  kXavier = 1,  // normal, variance 2 / (inputs + outputs): for the others
};

// Draws W and sets b to zero. The numbers depend on seed and `position` alone.
void initialise_layer(const DenseLayer& layer, Initialisation initialisation, std::uint64_t seed,
                      std::uint32_t position, float* parameters);

}  // namespace adapvae

#include "network/dense_layer.h"

#include <cmath>

#include "base/sampling.h"

namespace adapvae {
namespace {

ConstMatrixView weights_of(const DenseLayer& layer, const float* parameters) {
  return {parameters + layer.weights, layer.inputs, layer.outputs};
}

float derivative_at(Activation activation, float y) {
  switch (activation) {
    case Activation::kRelu:
      return y > 0.0F ? 1.0F : 0.0F;
    case Activation::kLeakyRelu:
      return y > 0.0F ? 1.0F : kLeakySlope;
    case Activation::kTanh:
      return 1.0F - y * y;
    case Activation::kSigmoid:
      return y * (1.0F - y);
    case Activation::kSoftplus:
      return 1.0F - std::exp(-y);
    case Activation::kLinear:
      break;
  }
  return 1.0F;
}

}  // namespace

void layer_forward(Backend& backend, const DenseLayer& layer, const float* parameters,
                   ConstMatrixView x, MatrixView y) {
  backend.dense_forward(x, weights_of(layer, parameters), parameters + layer.bias, layer.activation,
                        y);
}

void layer_backward(Backend& backend, const DenseLayer& layer, const float* parameters,
                    ConstMatrixView x, Activation activation_below, ConstMatrixView dy,
                    float* gradients, MatrixView dx) {
  backend.dense_backward_weights(x, dy,
                                 MatrixView(gradients + layer.weights, layer.inputs, layer.outputs),
                                 gradients + layer.bias);
  if (dx.data != nullptr) {
    backend.dense_backward_input(dy, weights_of(layer, parameters), x, activation_below, dx);
  }
}

void gate_by_derivative(Activation activation, ConstMatrixView y, MatrixView gradient) {
  if (activation == Activation::kLinear) return;
  for (Index i = 0; i < gradient.rows; ++i) {
    for (Index j = 0; j < gradient.cols; ++j) {
      gradient(i, j) *= derivative_at(activation, y(i, j));
    }
  }
}

void initialise_layer(const DenseLayer& layer, Initialisation initialisation, std::uint64_t seed,
                      std::uint32_t position, float* parameters) {
  const Index fan =
      initialisation == Initialisation::kHe ? layer.inputs : layer.inputs + layer.outputs;
  const float deviation = static_cast<float>(std::sqrt(2.0 / static_cast<double>(fan)));
  for (Index i = 0; i < layer.inputs; ++i) {
    Philox random({.seed = seed,
                   .purpose = RandomPurpose::kInitialise,
                   .stream = position,
                   .index = static_cast<std::uint32_t>(i)});
    float* row = parameters + layer.weights + i * layer.outputs;
    fill_normal(random, row, layer.outputs);
    for (Index j = 0; j < layer.outputs; ++j) row[j] *= deviation;
  }
  for (Index j = 0; j < layer.outputs; ++j) parameters[layer.bias + j] = 0.0F;
}

}  // namespace adapvae

#include "network/mlp.h"

#include <algorithm>
#include <utility>

namespace adapvae {

void Mlp::place(Arena& arena, const MlpShape& shape, Index rows, Index first_parameter) {
  count_ = shape.layers;
  parameter_count_ = 0;
  Index inputs = shape.inputs;
  for (int i = 0; i < count_; ++i) {
    DenseLayer& layer = layer_[i];
    layer.inputs = inputs;
    layer.outputs = shape.width[i];
    layer.activation = i + 1 < count_ ? shape.hidden : shape.output;
    layer.weights = first_parameter + parameter_count_;
    layer.bias = layer.weights + layer.inputs * layer.outputs;
    parameter_count_ += layer.parameter_count();
    output_[i] = arena.take<float>(static_cast<std::size_t>(rows * layer.outputs));
    inputs = layer.outputs;
  }
}

Index Mlp::widest() const {
  Index widest = count_ > 0 ? layer_[0].inputs : 0;
  for (int i = 0; i < count_; ++i) widest = std::max(widest, layer_[i].outputs);
  return widest;
}

ConstMatrixView Mlp::forward(Backend& backend, const float* parameters, ConstMatrixView x) {
  return forward_partial(backend, parameters, x, count_);
}

ConstMatrixView Mlp::forward_partial(Backend& backend, const float* parameters, ConstMatrixView x,
                                     int layers) {
  for (int i = 0; i < layers; ++i) {
    const MatrixView y = output(i, x.rows);
    layer_forward(backend, layer_[i], parameters, x, y);
    x = y;
  }
  return x;
}

void Mlp::backward(Backend& backend, const float* parameters, ConstMatrixView x, ConstMatrixView dy,
                   float* gradients, MatrixView dx, float* ping, float* pong) {
  for (int i = count_ - 1; i > 0; --i) {
    const MatrixView below(ping, x.rows, layer_[i].inputs);
    layer_backward(backend, layer_[i], parameters, output(i - 1, x.rows), layer_[i - 1].activation,
                   dy, gradients, below);
    dy = below;
    std::swap(ping, pong);
  }
  layer_backward(backend, layer_[0], parameters, x, Activation::kLinear, dy, gradients, dx);
}

}  // namespace adapvae

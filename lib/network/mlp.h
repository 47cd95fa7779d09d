// A chain of dense layers. Parameters live in a flat buffer that belongs to the owner (the VAE);
// an Mlp knows only where, and keeps the outputs of its layers for the backward pass.
#pragma once

#include "base/arena.h"
#include "network/dense_layer.h"

namespace adapvae {

constexpr int kMaxLayers = 8;

struct MlpShape {
  Index inputs = 0;
  int layers = 0;
  Index width[kMaxLayers] = {};  // outputs of each layer
  Activation hidden = Activation::kRelu;
  Activation output = Activation::kLinear;
};

class Mlp {
 public:
  // first_parameter: where in the flat buffer this chain starts. rows: most rows of a batch.
  void place(Arena& arena, const MlpShape& shape, Index rows, Index first_parameter);

  int layers() const { return count_; }
  const DenseLayer& layer(int i) const { return layer_[i]; }
  Index parameter_count() const { return parameter_count_; }
  Index widest() const;

  // Outputs of the last layer [n × last width]; valid until the next call.
  ConstMatrixView forward(Backend& backend, const float* parameters, ConstMatrixView x);
  // Only the first `layers` layers; 0 gives x itself.
  ConstMatrixView forward_partial(Backend& backend, const float* parameters, ConstMatrixView x,
                                  int layers);

  // After forward(x): gradients of all parameters from dy [n × last width], the loss gradient
  // before the output activation. dx [n × inputs] receives the loss gradient of x unless empty.
  // ping and pong: two buffers of rows · widest() floats for what flows between layers.
  void backward(Backend& backend, const float* parameters, ConstMatrixView x, ConstMatrixView dy,
                float* gradients, MatrixView dx, float* ping, float* pong);

  // Where layer i writes its outputs.
  MatrixView output(int i, Index rows) const { return {output_[i], rows, layer_[i].outputs}; }

 private:
  int count_ = 0;
  Index parameter_count_ = 0;
  DenseLayer layer_[kMaxLayers];
  float* output_[kMaxLayers] = {};
};

}  // namespace adapvae

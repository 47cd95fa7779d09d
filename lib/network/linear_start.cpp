#include "network/linear_start.h"

#include <algorithm>

namespace adapvae {
namespace {

constexpr double kLeastDeviation = 1e-6;

bool can_be_linear(const VaeConfig& config) {
  if (config.likelihood.kind != Likelihood::kGaussian) return false;
  if (config.hidden_layers == 0) return true;
  return config.activation == Activation::kRelu &&
         std::all_of(config.hidden, config.hidden + config.hidden_layers,
                     [&](Index width) { return width >= 2 * config.latent; });
}

// One layer's weights and biases.
struct Layer {
  const DenseLayer& shape;
  float* parameters;

  float& weight(Index in, Index out) const {
    return parameters[shape.weights + in * shape.outputs + out];
  }
  float& bias(Index out) const { return parameters[shape.bias + out]; }
  // Outputs [0, count) of nothing.
  void clear_outputs(Index count) const {
    for (Index in = 0; in < shape.inputs; ++in) {
      std::fill_n(&weight(in, 0), count, 0.0F);
    }
    std::fill_n(&bias(0), count, 0.0F);
  }
  // Nothing listens to inputs [0, count).
  void clear_inputs(Index count) const {
    for (Index in = 0; in < count; ++in) std::fill_n(&weight(in, 0), shape.outputs, 0.0F);
  }
};

// A chain of layers that is the linear map from in(layer, out, sign, feature) to out(layer, in,
// sign, feature).
template <typename In, typename Out>
void make_linear(const Mlp& mlp, float* parameters, Index features, Index outputs, const In& in,
                 const Out& out) {
  const int last = mlp.layers() - 1;
  for (int l = 0; l <= last; ++l) {
    const Layer layer{mlp.layer(l), parameters};
    layer.clear_outputs(l == last ? outputs : 2 * features);
    if (l > 0) layer.clear_inputs(2 * features);
    for (Index j = 0; j < features; ++j) {
      if (last == 0) {
        in(layer, j, 1.0F, j);
      } else if (l == 0) {
        in(layer, 2 * j, 1.0F, j);
        in(layer, 2 * j + 1, -1.0F, j);
      } else if (l == last) {
        out(layer, 2 * j, 1.0F, j);
        out(layer, 2 * j + 1, -1.0F, j);
      } else {
        layer.weight(2 * j, 2 * j) = 1.0F;
        layer.weight(2 * j + 1, 2 * j + 1) = 1.0F;
      }
    }
  }
}

}  // namespace

bool start_linear(Vae& vae, const PrincipalAxes& start) {
  const VaeConfig& config = vae.config();
  if (!can_be_linear(config)) return false;
  const Index d = config.inputs;
  const auto deviation = [&](Index j) {
    return start.deviation[j] > kLeastDeviation ? static_cast<float>(start.deviation[j]) : 1.0F;
  };
  const auto project = [&](const Layer& layer, Index unit, float sign, Index j) {
    const float* axis = start.axes.row(j);
    const float factor = sign / deviation(j);
    double origin = 0.0;
    for (Index i = 0; i < d; ++i) {
      layer.weight(i, unit) = factor * axis[i];
      origin += static_cast<double>(axis[i]) * start.centre[i];
    }
    layer.bias(unit) = static_cast<float>(-factor * origin);
  };
  const auto project_back = [&](const Layer& layer, Index unit, float sign, Index j) {
    for (Index i = 0; i < d; ++i) {
      layer.weight(unit, i) = sign * deviation(j) * start.axes(j, i);
    }
  };
  const auto take_feature = [](const Layer& layer, Index unit, float sign, Index j) {
    layer.weight(unit, j) = sign;
  };
  const auto give_feature = [](const Layer& layer, Index unit, float sign, Index j) {
    layer.weight(j, unit) = sign;
  };
  float* parameters = vae.parameters();
  make_linear(vae.encoder(), parameters, config.latent, config.latent, project, take_feature);
  if (config.hidden_layers > 0) {
    make_linear(vae.decoder(), parameters, config.latent, d, give_feature, project_back);
  } else {
    make_linear(vae.decoder(), parameters, config.latent, d, project_back, project_back);
  }
  const Layer output{vae.decoder().layer(config.hidden_layers), parameters};
  std::copy_n(start.centre, d, &output.bias(0));
  if (config.trainable) vae.optimiser().reset();
  return true;
}

}  // namespace adapvae

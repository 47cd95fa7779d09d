#include "support/reference_vae.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/sampling.h"

namespace adapvae::testing {
namespace {

using Row = std::vector<double>;

constexpr double kLogTwoPi = 1.8378770664093454836;

// Where in the flat buffer a layer is: W [inputs × outputs], then b [outputs].
struct Layer {
  Index inputs, outputs, offset;
  Activation activation;
};

struct Network {
  std::vector<Layer> encoder, decoder;
  Index parameters = 0;
};

void append(std::vector<Layer>* chain, Index inputs, Index outputs, Activation activation,
            Index* offset) {
  chain->push_back({inputs, outputs, *offset, activation});
  *offset += (inputs + 1) * outputs;
}

Network network_of(const VaeConfig& config) {
  Network network;
  Index offset = 0;
  Index inputs = config.inputs;
  for (int i = 0; i < config.hidden_layers; ++i) {
    append(&network.encoder, inputs, config.hidden[i], config.activation, &offset);
    inputs = config.hidden[i];
  }
  append(&network.encoder, inputs, 2 * config.latent, Activation::kLinear, &offset);
  inputs = config.latent;
  for (int i = config.hidden_layers - 1; i >= 0; --i) {
    append(&network.decoder, inputs, config.hidden[i], config.activation, &offset);
    inputs = config.hidden[i];
  }
  const bool learned = config.likelihood.kind == Likelihood::kGaussianLearned;
  append(&network.decoder, inputs, (learned ? 2 : 1) * config.inputs, Activation::kLinear, &offset);
  network.parameters = offset;
  return network;
}

double softplus(double a) { return std::max(a, 0.0) + std::log1p(std::exp(-std::fabs(a))); }
double sigmoid(double a) { return 1.0 / (1.0 + std::exp(-a)); }

double activated(Activation activation, double a, double* kink_distance) {
  switch (activation) {
    case Activation::kRelu:
      *kink_distance = std::min(*kink_distance, std::fabs(a));
      return a > 0.0 ? a : 0.0;
    case Activation::kLeakyRelu:
      *kink_distance = std::min(*kink_distance, std::fabs(a));
      return a > 0.0 ? a : static_cast<double>(0.01F) * a;
    case Activation::kTanh:
      return std::tanh(a);
    case Activation::kSigmoid:
      return sigmoid(a);
    case Activation::kSoftplus:
      return softplus(a);
    case Activation::kLinear:
      break;
  }
  return a;
}

Row apply_layer(const Layer& layer, const std::vector<double>& parameters, const Row& x,
                double* kink_distance) {
  const double* weights = parameters.data() + layer.offset;
  const double* bias = weights + layer.inputs * layer.outputs;
  Row y(bias, bias + layer.outputs);
  for (Index i = 0; i < layer.inputs; ++i) {
    for (Index j = 0; j < layer.outputs; ++j) y[j] += x[i] * weights[i * layer.outputs + j];
  }
  for (double& value : y) value = activated(layer.activation, value, kink_distance);
  return y;
}

Row apply_chain(const std::vector<Layer>& chain, int layers, const std::vector<double>& parameters,
                Row x, double* kink_distance) {
  for (int i = 0; i < layers; ++i) x = apply_layer(chain[i], parameters, x, kink_distance);
  return x;
}

Row row_of(ConstMatrixView rows, Index i) {
  Row row(rows.cols);
  for (Index j = 0; j < rows.cols; ++j) row[j] = rows(i, j);
  return row;
}

// The raw log-variance within its bounds; tells how near it is to one, and whether it is beyond.
double clamped(double raw, double low, double high, ReferenceLoss* result, Index* beyond) {
  result->kink_distance =
      std::min({result->kink_distance, std::fabs(raw - low), std::fabs(raw - high)});
  if (raw < low || raw > high) ++*beyond;
  return std::clamp(raw, low, high);
}

// Row i of ReferenceLoss::returning; null if there is none.
const double* part_of(const std::vector<double>* returning, Index i, Index inputs) {
  return returning != nullptr && !returning->empty() ? returning->data() + i * inputs : nullptr;
}

// log p(x | decoder output a). returning [d], or null.
double log_likelihood(const LikelihoodSettings& likelihood, const Row& a, const Row& x,
                      const double* returning, ReferenceLoss* result) {
  const std::size_t d = x.size();
  double sum = 0.0;
  for (std::size_t j = 0; j < d; ++j) {
    if (likelihood.kind == Likelihood::kBernoulli) {
      // x log p + (1 - x) log(1 - p), p = sigmoid(a).
      sum += -x[j] * softplus(-a[j]) - (1.0 - x[j]) * softplus(a[j]);
      continue;
    }
    const double error = x[j] - a[j];
    double log_variance = std::log(static_cast<double>(likelihood.variance));
    if (likelihood.kind == Likelihood::kGaussianLearned) {
      const double raw = a[d + j];
      log_variance = clamped(raw, likelihood.log_variance_min, likelihood.log_variance_max, result,
                             &result->clamped_outputs);
      // It should rise where the error is larger than it says, and fall where it is smaller.
      const double beyond = raw - log_variance;
      const bool rises = error * error > std::exp(log_variance);
      const bool back = likelihood.way_back && rises == (beyond < 0.0);
      result->returning.push_back(back ? beyond : 0.0);
      if (returning != nullptr && returning[j] != 0.0) log_variance = raw - returning[j];
    }
    sum += -0.5 * (kLogTwoPi + log_variance + error * error / std::exp(log_variance));
  }
  return sum;
}

// log ρ_k of mixture_view.h; the precision is FᵀF, made from the factor here.
double log_rho(const MixtureView& mixture, Index k, const Row& mean, const Row& variance) {
  const GaussianView& gaussians = mixture.gaussians;
  const Index m = gaussians.dims;
  const bool diagonal = gaussians.shape == FactorShape::kDiagonal;
  std::vector<Row> factor(m, Row(m, 0.0));
  const float* entry = gaussians.factor + k * (diagonal ? m : m * (m + 1) / 2);
  for (Index i = 0; i < m; ++i) {
    for (Index j = diagonal ? i : 0; j <= i; ++j) factor[i][j] = *entry++;
  }
  double distance = 0.0;
  for (Index i = 0; i < m; ++i) {
    double whitened = 0.0;
    for (Index j = 0; j < m; ++j) {
      whitened += factor[i][j] * (mean[j] - gaussians.mean[k * m + j]);
      distance += factor[i][j] * factor[i][j] * variance[j];
    }
    distance += whitened * whitened;
  }
  return mixture.log_weight[k] - 0.5 * distance;
}

// Σ_k r (log ρ - log r); r is softmax(log ρ) unless given.
double mixture_term(const VaeBatch& batch, Index i, const Row& mean, const Row& variance,
                    const std::vector<double>* fixed, ReferenceLoss* result) {
  const Index clusters = batch.mixture.gaussians.clusters;
  Row rho(clusters);
  for (Index k = 0; k < clusters; ++k) rho[k] = log_rho(batch.mixture, k, mean, variance);
  const double most = *std::max_element(rho.begin(), rho.end());
  double total = 0.0;
  for (const double value : rho) total += std::exp(value - most);
  double term = 0.0;
  for (Index k = 0; k < clusters; ++k) {
    double r = std::exp(rho[k] - most) / total;
    if (batch.responsibilities.data != nullptr) r = batch.responsibilities(i, k);
    if (fixed != nullptr) r = (*fixed)[i * clusters + k];
    if (r > 0.0) term += r * (rho[k] - std::log(r));
    result->responsibilities.push_back(r);
  }
  return term;
}

}  // namespace

std::vector<double> to_double(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

Index reference_parameter_count(const VaeConfig& config) { return network_of(config).parameters; }

ReferenceLoss reference_loss(const VaeConfig& config, const std::vector<double>& parameters,
                             const VaeBatch& batch,
                             const std::vector<double>* fixed_responsibilities,
                             const std::vector<double>* returning) {
  const Network network = network_of(config);
  const Index m = config.latent;
  const double n = static_cast<double>(batch.input.rows);
  const double prior_weight = batch.prior_weight;
  ReferenceLoss result;
  result.kink_distance = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < batch.input.rows; ++i) {
    const Row heads = apply_chain(network.encoder, config.hidden_layers + 1, parameters,
                                  row_of(batch.input, i), &result.kink_distance);
    std::vector<float> noise(m, 0.0F);
    if (batch.sample) {
      RandomKey key = batch.noise_key;
      key.index = batch.row_id != nullptr ? batch.row_id[i] : static_cast<std::uint32_t>(i);
      Philox random(key);
      fill_normal(random, noise.data(), m);
    }
    const Row mean(heads.begin(), heads.begin() + m);
    Row variance(m);
    Row z(m);
    double entropy = 0.0;
    for (Index j = 0; j < m; ++j) {
      const double log_variance =
          clamped(heads[m + j], config.log_variance.min, config.log_variance.max, &result,
                  &result.clamped_latents);
      variance[j] = std::exp(log_variance);
      z[j] = mean[j] + std::sqrt(variance[j]) * noise[j];
      entropy += 0.5 * (1.0 + kLogTwoPi + log_variance);
    }
    if (prior_weight != 0.0) {
      result.entropy += entropy / n;
      result.mixture += mixture_term(batch, i, mean, variance, fixed_responsibilities, &result) / n;
    }
    const Row output = apply_chain(network.decoder, config.hidden_layers + 1, parameters, z,
                                   &result.kink_distance);
    const double* of_row = part_of(returning, i, config.inputs);
    result.log_likelihood +=
        log_likelihood(config.likelihood, output, row_of(batch.target, i), of_row, &result) / n;
  }
  result.loss = -(result.log_likelihood + prior_weight * (result.mixture + result.entropy));
  return result;
}

std::vector<double> reference_hidden(const VaeConfig& config, const std::vector<double>& parameters,
                                     ConstMatrixView x, int layers) {
  const Network network = network_of(config);
  std::vector<double> result;
  double unused = 0.0;
  for (Index i = 0; i < x.rows; ++i) {
    const Row row = apply_chain(network.encoder, layers, parameters, row_of(x, i), &unused);
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

std::vector<double> reference_encode(const VaeConfig& config, const std::vector<double>& parameters,
                                     ConstMatrixView x) {
  std::vector<double> heads = reference_hidden(config, parameters, x, config.hidden_layers + 1);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < config.latent; ++j) {
      double& value = heads[(2 * i + 1) * config.latent + j];
      value = std::exp(std::clamp<double>(value, config.log_variance.min, config.log_variance.max));
    }
  }
  return heads;
}

std::vector<double> reference_decode(const VaeConfig& config, const std::vector<double>& parameters,
                                     ConstMatrixView z) {
  const Network network = network_of(config);
  std::vector<double> result;
  double unused = 0.0;
  for (Index i = 0; i < z.rows; ++i) {
    Row row =
        apply_chain(network.decoder, config.hidden_layers + 1, parameters, row_of(z, i), &unused);
    row.resize(config.inputs);
    for (double& value : row) {
      if (config.likelihood.kind == Likelihood::kBernoulli) value = sigmoid(value);
    }
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

ReferenceLoss reference_layer_loss(const VaeConfig& config, const std::vector<double>& parameters,
                                   int level, ConstMatrixView corrupted, ConstMatrixView clean,
                                   const std::vector<double>* returning) {
  const Network network = network_of(config);
  const Layer& down = network.encoder[level];
  const Layer& up = network.decoder[config.hidden_layers - level];
  LikelihoodSettings likelihood = config.likelihood;
  if (level > 0) {
    likelihood = {};
    likelihood.kind = Likelihood::kGaussian;
  }
  ReferenceLoss result;
  result.kink_distance = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < clean.rows; ++i) {
    Row code = apply_layer(down, parameters, row_of(corrupted, i), &result.kink_distance);
    if (level == config.hidden_layers) code.resize(config.latent);
    const Row output = apply_layer(up, parameters, code, &result.kink_distance);
    const double* of_row = part_of(returning, i, config.inputs);
    result.log_likelihood += log_likelihood(likelihood, output, row_of(clean, i), of_row, &result) /
                             static_cast<double>(clean.rows);
  }
  result.loss = -result.log_likelihood;
  return result;
}

double worst_relative_error(const std::vector<float>& gradient, const std::vector<double>& numeric,
                            double floor) {
  if (gradient.size() != numeric.size()) return std::numeric_limits<double>::infinity();
  double largest = 0.0;
  for (const double value : numeric) largest = std::max(largest, std::fabs(value));
  double worst = 0.0;
  for (std::size_t i = 0; i < numeric.size(); ++i) {
    const double error = std::fabs(static_cast<double>(gradient[i]) - numeric[i]);
    const double relative = error / std::max(std::fabs(numeric[i]), floor * largest);
    // A NaN must not hide behind a comparison.
    worst = relative <= worst ? worst : relative;
    if (!(relative >= 0.0)) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

}  // namespace adapvae::testing

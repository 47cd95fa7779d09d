#include "network/vae.h"

#include <algorithm>
#include <cmath>

#include "base/bounds.h"
#include "base/input_check.h"
#include "base/sampling.h"
#include "base/special_functions.h"
#include "network/neighbour_loss.h"

namespace adapvae {
namespace {

constexpr Index kLargestWidth = Index{1} << 20;
constexpr float kSmallHead = 0.01F;
// In float: small devices have no double arithmetic.
constexpr auto kFarthestFeature = static_cast<float>(kLargestFeature);
constexpr auto kFarthestInput = static_cast<float>(kLargestInput);
constexpr auto kFarthestWeight = static_cast<float>(kLargestWeight);

Index output_width(const VaeConfig& config) {
  return config.likelihood.kind == Likelihood::kGaussianLearned ? 2 * config.inputs : config.inputs;
}

MlpShape encoder_shape(const VaeConfig& config) {
  MlpShape shape;
  shape.inputs = config.inputs;
  shape.layers = config.hidden_layers + 1;
  std::copy_n(config.hidden, config.hidden_layers, shape.width);
  shape.width[config.hidden_layers] = 2 * config.latent;
  shape.hidden = config.activation;
  return shape;
}

MlpShape decoder_shape(const VaeConfig& config) {
  MlpShape shape;
  shape.inputs = config.latent;
  shape.layers = config.hidden_layers + 1;
  std::reverse_copy(config.hidden, config.hidden + config.hidden_layers, shape.width);
  shape.width[config.hidden_layers] = output_width(config);
  shape.hidden = config.activation;
  return shape;
}

double mean_of(const float* values, Index count) {
  double sum = 0.0;
  for (Index i = 0; i < count; ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

bool in_bounds(Index value, Index low, Index high) { return value >= low && value <= high; }

// Beyond ±80 the variance would leave the range of float.
bool usable_bounds(float low, float high) { return low >= -80.0F && high <= 80.0F && low < high; }

}  // namespace

Status check_config(const VaeConfig& config) {
  if (!in_bounds(config.inputs, 1, kLargestWidth)) {
    return {StatusCode::kInvalidArgument, "inputs must be between 1 and 1048576"};
  }
  if (!in_bounds(config.latent, 1, 1024)) {
    return {StatusCode::kInvalidArgument, "latent must be between 1 and 1024"};
  }
  if (!in_bounds(config.hidden_layers, 0, kMaxLayers - 1)) {
    return {StatusCode::kInvalidArgument, "hidden_layers must be between 0 and 7"};
  }
  for (int i = 0; i < config.hidden_layers; ++i) {
    if (!in_bounds(config.hidden[i], 1, kLargestWidth)) {
      return {StatusCode::kInvalidArgument, "a hidden width must be between 1 and 1048576", i};
    }
  }
  if (!in_bounds(config.max_rows, 1, kLargestWidth)) {
    return {StatusCode::kInvalidArgument, "max_rows must be between 1 and 1048576"};
  }
  if (!in_bounds(config.max_clusters, 1, 65536)) {
    return {StatusCode::kInvalidArgument, "max_clusters must be between 1 and 65536"};
  }
  if (!(config.likelihood.variance > 0.0F) || !std::isfinite(config.likelihood.variance)) {
    return {StatusCode::kInvalidArgument, "likelihood variance must be positive and finite"};
  }
  if (!usable_bounds(config.log_variance.min, config.log_variance.max) ||
      !usable_bounds(config.likelihood.log_variance_min, config.likelihood.log_variance_max)) {
    return {StatusCode::kInvalidArgument, "log-variance bounds must be in order, within ±80"};
  }
  if (!in_bounds(static_cast<Index>(config.activation), 0, 5) ||
      !in_bounds(static_cast<Index>(config.likelihood.kind), 0, 2) ||
      !in_bounds(static_cast<Index>(config.initialisation), 0, 1)) {
    return {StatusCode::kInvalidArgument, "no such activation, likelihood or initialisation"};
  }
  return {};
}

ComputeLimits compute_limits(const VaeConfig& config) {
  ComputeLimits limits;
  limits.rows = config.max_rows;
  limits.widest_layer =
      std::max({config.inputs, output_width(config), 2 * config.latent, config.max_clusters});
  for (int i = 0; i < config.hidden_layers; ++i) {
    limits.widest_layer = std::max(limits.widest_layer, config.hidden[i]);
  }
  limits.dims = config.latent;
  limits.clusters = config.max_clusters;
  return limits;
}

void Vae::place(Arena& arena, const VaeConfig& config) {
  place_lasting(arena, config);
  place_moments(arena);
  place_gradient(arena);
}

void Vae::place_lasting(Arena& arena, const VaeConfig& config) {
  config_ = config;
  const Index rows = config.max_rows;
  const Index m = config.latent;
  const auto take = [&arena](Index count) {
    return arena.take<float>(static_cast<std::size_t>(count));
  };
  encoder_.place(arena, encoder_shape(config), rows, 0);
  decoder_.place(arena, decoder_shape(config), rows, encoder_.parameter_count());
  if (config.own_parameters) parameters_ = take(parameter_count());
  variance_ = take(rows * m);
  z_ = take(rows * m);
  row_value_ = take(rows);
  distance_ = take(rows * config.max_clusters);
}

void Vae::place_moments(Arena& arena) {
  if (config_.trainable) optimiser_.place(arena, parameter_count());
}

void Vae::place_gradient(Arena& arena) {
  if (!config_.trainable) return;
  const Index rows = config_.max_rows;
  const Index m = config_.latent;
  const auto take = [&arena](Index count) {
    return arena.take<float>(static_cast<std::size_t>(count));
  };
  gradients_ = take(parameter_count());
  const Index widest = std::max(encoder_.widest(), decoder_.widest());
  ping_ = take(rows * widest);
  pong_ = take(rows * widest);
  noise_ = take(rows * m);
  dz_ = take(rows * m);
  pull_ = take(rows * m);
  precision_ = take(rows * m);
  dheads_ = take(rows * 2 * m);
}

MemoryRange Vae::memory() const {
  const float* begin = encoder_.output(0, 0).data;
  const float* end = config_.trainable ? dheads_ + config_.max_rows * 2 * config_.latent
                                       : distance_ + config_.max_rows * config_.max_clusters;
  return {begin, static_cast<std::size_t>(end - begin) * sizeof(float)};
}

void Vae::send_parameters(Backend& backend) {
  if (parameters_changed_) backend.changed(parameters_, parameter_count());
  parameters_changed_ = false;
}

void Vae::initialise(std::uint64_t seed) {
  parameters_changed_ = true;
  std::uint32_t position = 0;
  for (const Mlp* mlp : {&encoder_, &decoder_}) {
    for (int i = 0; i < mlp->layers(); ++i) {
      // The last layer of each chain is linear: Xavier whatever the hidden ones use.
      const bool last = i + 1 == mlp->layers();
      initialise_layer(mlp->layer(i), last ? Initialisation::kXavier : config_.initialisation, seed,
                       position++, parameters_);
    }
  }
  const DenseLayer& heads = encoder_.layer(encoder_.layers() - 1);
  for (Index i = 0; i < heads.inputs; ++i) {
    float* row = parameters_ + heads.weights + i * heads.outputs;
    for (Index j = config_.latent; j < heads.outputs; ++j) row[j] *= kSmallHead;
  }
  if (config_.trainable) optimiser_.reset();
}

Status Vae::check_batch(const VaeBatch& batch) const {
  if (!config_.trainable) {
    return {StatusCode::kUnavailable, "this network was created for inference only"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_shape(batch.input, config_.max_rows, config_.inputs));
  ADAPVAE_RETURN_IF_ERROR(check_shape(batch.target, config_.max_rows, config_.inputs));
  if (batch.target.rows != batch.input.rows) {
    return {StatusCode::kShapeMismatch, "input and target differ in rows"};
  }
  const GaussianView& gaussians = batch.mixture.gaussians;
  if (gaussians.clusters < 1 || gaussians.clusters > config_.max_clusters ||
      gaussians.dims != config_.latent) {
    return {StatusCode::kShapeMismatch, "mixture does not fit the network"};
  }
  if (batch.responsibilities.data != nullptr &&
      (batch.responsibilities.rows != batch.input.rows ||
       batch.responsibilities.cols != gaussians.clusters)) {
    return {StatusCode::kShapeMismatch, "responsibilities do not fit batch and mixture"};
  }
  if (batch.latent_target.data != nullptr &&
      (batch.latent_target.rows != batch.input.rows || batch.latent_target.cols != config_.latent ||
       batch.latent_weight == nullptr)) {
    return {StatusCode::kShapeMismatch, "latent targets do not fit the batch"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_finite(batch.input));
  if (batch.target.data == batch.input.data && batch.target.stride == batch.input.stride) return {};
  return check_finite(batch.target);
}

void Vae::draw_noise(const VaeBatch& batch) {
  for (Index i = 0; i < batch.input.rows; ++i) {
    RandomKey key = batch.noise_key;
    key.index = batch.row_id != nullptr ? batch.row_id[i] : static_cast<std::uint32_t>(i);
    Philox random(key);
    fill_normal(random, noise_ + i * config_.latent, config_.latent);
  }
}

// Mean over rows of Σ_k r (log ρ - log r); leaves the responsibilities in distance_. eq. 2.
double Vae::mixture_term(Backend& backend, const VaeBatch& batch) {
  const Index n = batch.input.rows;
  const Index m = config_.latent;
  const GaussianView& gaussians = batch.mixture.gaussians;
  const MatrixView distance(distance_, n, gaussians.clusters);
  const ConstMatrixView heads = encoder_.output(encoder_.layers() - 1, n);
  backend.mahalanobis(heads.col_range(0, m), ConstMatrixView(variance_, n, m), gaussians, distance);
  if (batch.responsibilities.data == nullptr) {
    // r is the softmax of log ρ, so the term is its log-sum-exp.
    backend.softmax_rows(distance, batch.mixture.log_weight, -0.5F, distance, row_value_);
    backend.fetch(row_value_, n);
    return mean_of(row_value_, n);
  }
  backend.fetch(distance_, n * gaussians.clusters);
  double sum = 0.0;
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < gaussians.clusters; ++k) {
      const float r = batch.responsibilities(i, k);
      if (r > 0.0F) {
        sum += r * (batch.mixture.log_weight[k] - 0.5 * distance(i, k) - std::log(r));
      }
      distance(i, k) = r;
    }
  }
  backend.changed(distance_, n * gaussians.clusters);
  return sum / static_cast<double>(n);
}

VaeLoss Vae::forward(Backend& backend, const VaeBatch& batch, bool want_gradient) {
  const Index n = batch.input.rows;
  const Index m = config_.latent;
  VaeLoss loss;

  send_parameters(backend);
  const ConstMatrixView heads = encoder_.forward(backend, parameters_, batch.input);
  ConstMatrixView noise;
  if (batch.sample) {
    draw_noise(batch);
    backend.changed(noise_, n * m);
    noise = ConstMatrixView(noise_, n, m);
  }
  const MatrixView z(z_, n, m);
  backend.sample_latent(heads, noise, config_.log_variance, z, MatrixView(variance_, n, m));
  if (batch.prior_weight != 0.0F) {
    loss.mixture = mixture_term(backend, batch);
    backend.fetch(variance_, n * m);
    double log_variance = 0.0;
    for (Index i = 0; i < n * m; ++i) log_variance += std::log(variance_[i]);
    loss.entropy =
        0.5 * (static_cast<double>(m) * (1.0 + kLogTwoPi) + log_variance / static_cast<double>(n));
  }

  const bool use_heads = batch.latent_target.data != nullptr || batch.neighbour_weight > 0.0F;
  if (use_heads) backend.fetch(heads.data, n * 2 * m);
  if (batch.latent_target.data != nullptr) {
    double sum = 0.0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < m; ++j) {
        const double d = static_cast<double>(heads(i, j)) - batch.latent_target(i, j);
        sum += batch.latent_weight[i] * d * d;
      }
    }
    loss.distillation = sum / static_cast<double>(n);
  }

  if (batch.neighbour_weight > 0.0F) {
    loss.neighbours = neighbour_loss(heads.col_range(0, m), 0.0F, MatrixView());
  }

  const ConstMatrixView output = decoder_.forward(backend, parameters_, z);
  const MatrixView gradient =
      want_gradient ? decoder_.output(decoder_.layers() - 1, n) : MatrixView();
  backend.reconstruct(config_.likelihood, output, batch.target, 1.0F / static_cast<float>(n),
                      gradient, row_value_);
  backend.fetch(row_value_, n);
  loss.log_likelihood = mean_of(row_value_, n);
  loss.loss = -loss.log_likelihood -
              static_cast<double>(batch.prior_weight) * (loss.mixture + loss.entropy) +
              loss.distillation + static_cast<double>(batch.neighbour_weight) * loss.neighbours;
  return loss;
}

// After forward(want_gradient): the decoder's output buffer holds the gradient of its output.
void Vae::backward(Backend& backend, const VaeBatch& batch) {
  const Index n = batch.input.rows;
  const Index m = config_.latent;
  const ConstMatrixView z(z_, n, m);
  const MatrixView dz(dz_, n, m);
  decoder_.backward(backend, parameters_, z, decoder_.output(decoder_.layers() - 1, n), gradients_,
                    dz, ping_, pong_);

  const ConstMatrixView heads = encoder_.output(encoder_.layers() - 1, n);
  const MatrixView pull(pull_, n, m);
  const MatrixView precision(precision_, n, m);
  if (batch.prior_weight != 0.0F) {
    const GaussianView& gaussians = batch.mixture.gaussians;
    const ConstMatrixView responsibilities(distance_, n, gaussians.clusters);
    backend.mahalanobis_pull(heads.col_range(0, m), responsibilities, gaussians, pull);
    backend.dense_forward(responsibilities,
                          ConstMatrixView(gaussians.precision_diagonal, gaussians.clusters, m),
                          nullptr, Activation::kLinear, precision);
  } else {
    std::fill_n(pull_, n * m, 0.0F);
    std::fill_n(precision_, n * m, 0.0F);
    backend.changed(pull_, n * m);
    backend.changed(precision_, n * m);
  }
  const ConstMatrixView noise = batch.sample ? ConstMatrixView(noise_, n, m) : ConstMatrixView();
  const MatrixView dheads(dheads_, n, 2 * m);
  backend.latent_gradient(heads, noise, ConstMatrixView(variance_, n, m), dz, pull, precision,
                          config_.log_variance, batch.prior_weight / static_cast<float>(n), dheads);
  const bool add = batch.latent_target.data != nullptr || batch.neighbour_weight > 0.0F;
  if (add) backend.fetch(dheads_, n * 2 * m);  // the heads were fetched in forward()
  if (batch.latent_target.data != nullptr) {
    for (Index i = 0; i < n; ++i) {
      const float weight = 2.0F * batch.latent_weight[i] / static_cast<float>(n);
      if (weight == 0.0F) continue;
      for (Index j = 0; j < m; ++j) {
        dheads(i, j) += weight * (heads(i, j) - batch.latent_target(i, j));
      }
    }
  }
  if (batch.neighbour_weight > 0.0F) {
    neighbour_loss(heads.col_range(0, m), batch.neighbour_weight, dheads);
  }
  if (add) backend.changed(dheads_, n * 2 * m);
  encoder_.backward(backend, parameters_, batch.input, dheads, gradients_, MatrixView(), ping_,
                    pong_);
}

Status Vae::compute_loss(Backend& backend, const VaeBatch& batch, VaeLoss* loss) {
  ADAPVAE_RETURN_IF_ERROR(check_batch(batch));
  *loss = forward(backend, batch, false);
  return backend.status();
}

Status Vae::compute_gradient(Backend& backend, const VaeBatch& batch, VaeLoss* loss) {
  ADAPVAE_RETURN_IF_ERROR(check_batch(batch));
  *loss = forward(backend, batch, true);
  backward(backend, batch);
  return backend.status();
}

Status Vae::train_step(Backend& backend, const VaeBatch& batch, VaeLoss* loss, StepReport* report) {
  ADAPVAE_RETURN_IF_ERROR(compute_gradient(backend, batch, loss));
  const ParameterRange everything = {0, parameter_count()};
  *report = step(backend, loss->loss, {&everything, 1});
  return backend.status();
}

void Vae::standardise_latent(const double* mean, const double* deviation) {
  parameters_changed_ = true;
  const Index m = config_.latent;
  const DenseLayer& heads = encoder_.layer(encoder_.layers() - 1);
  const DenseLayer& first = decoder_.layer(0);
  for (Index j = 0; j < m; ++j) {
    const auto scale = static_cast<float>(1.0 / deviation[j]);
    for (Index i = 0; i < heads.inputs; ++i) {
      parameters_[heads.weights + i * heads.outputs + j] *= scale;
    }
    float& bias = parameters_[heads.bias + j];
    bias = (bias - static_cast<float>(mean[j])) * scale;
    parameters_[heads.bias + m + j] -= static_cast<float>(2.0 * std::log(deviation[j]));
    for (Index o = 0; o < first.outputs; ++o) {
      float& weight = parameters_[first.weights + j * first.outputs + o];
      parameters_[first.bias + o] += static_cast<float>(mean[j]) * weight;
      weight *= static_cast<float>(deviation[j]);
    }
  }
  if (config_.trainable) optimiser_.reset();
}

void Vae::start_variance(const double* variance) {
  parameters_changed_ = true;
  const DenseLayer& heads = encoder_.layer(encoder_.layers() - 1);
  for (Index j = config_.latent; j < heads.outputs; ++j) {
    for (Index i = 0; i < heads.inputs; ++i) {
      parameters_[heads.weights + i * heads.outputs + j] = 0.0F;
    }
    parameters_[heads.bias + j] = static_cast<float>(std::log(variance[j - config_.latent]));
  }
}

Status Vae::encode(Backend& backend, ConstMatrixView x, MatrixView mean, MatrixView variance) {
  ADAPVAE_RETURN_IF_ERROR(check_shape(x, config_.max_rows, config_.inputs));
  ADAPVAE_RETURN_IF_ERROR(check_finite(x));
  ADAPVAE_RETURN_IF_ERROR(check_shape(mean, x.rows, config_.latent));
  const bool want_variance = variance.data != nullptr;
  if (want_variance) ADAPVAE_RETURN_IF_ERROR(check_shape(variance, x.rows, config_.latent));
  if (mean.rows != x.rows || (want_variance && variance.rows != x.rows)) {
    return {StatusCode::kShapeMismatch, "outputs must have as many rows as the input"};
  }
  send_parameters(backend);
  const ConstMatrixView heads = encoder_.forward(backend, parameters_, x);
  const MatrixView sigma2 =
      want_variance ? variance : MatrixView(variance_, x.rows, config_.latent);
  backend.sample_latent(heads, ConstMatrixView(), config_.log_variance, mean, sigma2);
  bound_codes(backend, mean, -kFarthestFeature);
  if (want_variance) bound_codes(backend, variance, 0.0F);
  return backend.status();
}

// Inputs at the end of their range, or a network that diverged, can give features of any size.
// Beyond kLargestFeature (base/bounds.h) they are no longer distinguished.
void Vae::bound_codes(Backend& backend, MatrixView codes, float low) {
  const Index count = codes.rows == 0 ? 0 : (codes.rows - 1) * codes.stride + codes.cols;
  backend.fetch(codes.data, count);
  bool changed = false;
  for (Index i = 0; i < codes.rows; ++i) {
    float* row = codes.row(i);
    for (Index j = 0; j < codes.cols; ++j) {
      if (row[j] >= low && row[j] <= kFarthestFeature) continue;
      row[j] = row[j] < low ? low : kFarthestFeature;
      changed = true;
    }
  }
  if (changed) backend.changed(codes.data, count);
}

bool Vae::sound() const {
  return std::all_of(parameters_, parameters_ + parameter_count(),
                     [](float weight) { return std::fabs(weight) <= kFarthestWeight; });
}

void Vae::output_mean(ConstMatrixView output, MatrixView x) const {
  const bool logits = config_.likelihood.kind == Likelihood::kBernoulli;
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.cols; ++j) {
      const float mean = logits ? 1.0F / (1.0F + std::exp(-output(i, j))) : output(i, j);
      const bool near = std::fabs(mean) <= kFarthestInput;
      x(i, j) = near ? mean : (mean < 0.0F ? -kFarthestInput : kFarthestInput);
    }
  }
}

Status Vae::decode_raw(Backend& backend, ConstMatrixView z, ConstMatrixView* output) {
  ADAPVAE_RETURN_IF_ERROR(check_shape(z, config_.max_rows, config_.latent));
  ADAPVAE_RETURN_IF_ERROR(check_finite(z));
  send_parameters(backend);
  *output = decoder_.forward(backend, parameters_, z);
  backend.fetch(output->data, output->rows * output->cols);
  return backend.status();
}

Status Vae::decode(Backend& backend, ConstMatrixView z, MatrixView x) {
  ADAPVAE_RETURN_IF_ERROR(check_shape(x, z.rows, config_.inputs));
  if (x.rows != z.rows) return {StatusCode::kShapeMismatch, "x must have as many rows as z"};
  ConstMatrixView output;
  ADAPVAE_RETURN_IF_ERROR(decode_raw(backend, z, &output));
  output_mean(output, x);
  return {};
}

Status Vae::log_likelihood(Backend& backend, ConstMatrixView z, ConstMatrixView x, float* out) {
  ADAPVAE_RETURN_IF_ERROR(check_shape(z, config_.max_rows, config_.latent));
  ADAPVAE_RETURN_IF_ERROR(check_finite(z));
  ADAPVAE_RETURN_IF_ERROR(check_shape(x, z.rows, config_.inputs));
  if (x.rows != z.rows) return {StatusCode::kShapeMismatch, "x must have as many rows as z"};
  send_parameters(backend);
  backend.reconstruct(config_.likelihood, decoder_.forward(backend, parameters_, z), x, 1.0F,
                      MatrixView(), out);
  // Decoded numbers may have left the range of a float.
  constexpr float kLeast = -1e30F;
  backend.fetch(out, z.rows);
  for (Index i = 0; i < z.rows; ++i) {
    if (!(out[i] >= kLeast)) out[i] = kLeast;
  }
  return backend.status();
}

Status Vae::reconstruct(Backend& backend, ConstMatrixView x, MatrixView out) {
  if (x.rows > config_.max_rows) {
    return {StatusCode::kShapeMismatch, "more rows than the capacity set at create", x.rows};
  }
  const MatrixView mean(z_, x.rows, config_.latent);
  ADAPVAE_RETURN_IF_ERROR(encode(backend, x, mean, MatrixView()));
  backend.fetch(z_, x.rows * config_.latent);
  return decode(backend, mean, out);
}

}  // namespace adapvae

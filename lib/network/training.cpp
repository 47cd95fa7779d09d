#include "network/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/input_check.h"
#include "base/sampling.h"

namespace adapvae {
namespace {

void add_weighted(const VaeLoss& batch, double weight, VaeLoss* total) {
  total->log_likelihood += weight * batch.log_likelihood;
  total->mixture += weight * batch.mixture;
  total->entropy += weight * batch.entropy;
  total->distillation += weight * batch.distillation;
  total->neighbours += weight * batch.neighbours;
  total->loss += weight * batch.loss;
}

VaeLoss divided(const VaeLoss& total, double weight) {
  const double scale = weight > 0.0 ? 1.0 / weight : 0.0;
  return {total.log_likelihood * scale, total.mixture * scale,    total.entropy * scale,
          total.distillation * scale,   total.neighbours * scale, total.loss * scale};
}

RandomKey random_key(const TrainingSettings& settings, RandomPurpose purpose, std::uint32_t epoch) {
  return {.seed = settings.seed, .purpose = purpose, .stream = settings.stream, .epoch = epoch};
}

void copy_rows(ConstMatrixView from, MatrixView to) {
  for (Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.cols, to.row(i));
}

// Encoder layer `level` and the decoder layer that mirrors it.
struct LayerPair {
  const DenseLayer& down;
  const DenseLayer& up;
};

ParameterRange range_of(const DenseLayer& layer) {
  return {layer.weights, layer.weights + layer.parameter_count()};
}

// Loss of one mini-batch of a pair and its gradients. `corrupted` and `clean` are the pair's input.
VaeLoss layer_gradient(Backend& backend, Vae& vae, int level, ConstMatrixView corrupted,
                       ConstMatrixView clean) {
  const float* parameters = std::as_const(vae).parameters();
  const VaeConfig& config = vae.config();
  const int mirror = config.hidden_layers - level;
  const LayerPair pair = {vae.encoder().layer(level), vae.decoder().layer(mirror)};
  const Vae::Scratch scratch = vae.scratch();
  const Index n = clean.rows;
  const bool latent = level == config.hidden_layers;

  const MatrixView down = vae.encoder().output(level, n);
  layer_forward(backend, pair.down, parameters, corrupted, down);
  const ConstMatrixView code = latent ? down.col_range(0, config.latent) : down;
  const MatrixView up = vae.decoder().output(mirror, n);
  layer_forward(backend, pair.up, parameters, code, up);

  LikelihoodSettings likelihood;
  likelihood.kind = Likelihood::kGaussian;
  if (level == 0) likelihood = config.likelihood;
  const MatrixView dup(scratch.ping, n, up.cols);
  backend.reconstruct(likelihood, up, clean, 1.0F / static_cast<float>(n), dup, scratch.row_value);
  if (pair.up.activation != Activation::kLinear) {
    backend.fetch(up.data, n * up.cols);
    backend.fetch(dup.data, n * dup.cols);
    gate_by_derivative(pair.up.activation, up, dup);
    backend.changed(dup.data, n * dup.cols);
  }

  // The latent level trains the mean half of the heads only.
  const MatrixView ddown(scratch.pong, n, down.cols);
  if (latent) {
    std::fill_n(scratch.pong, n * down.cols, 0.0F);
    backend.changed(scratch.pong, n * down.cols);
  }
  layer_backward(backend, pair.up, parameters, code, pair.down.activation, dup, scratch.gradients,
                 ddown.col_range(0, code.cols));
  layer_backward(backend, pair.down, parameters, corrupted, Activation::kLinear, ddown,
                 scratch.gradients, MatrixView());

  backend.fetch(scratch.row_value, n);
  VaeLoss loss;
  for (Index i = 0; i < n; ++i) loss.log_likelihood += scratch.row_value[i];
  loss.log_likelihood /= static_cast<double>(n);
  loss.loss = -loss.log_likelihood;
  return loss;
}

}  // namespace

void Trainer::place(Arena& arena, Index block_rows, const VaeConfig& config) {
  block_rows_ = block_rows;
  batch_rows_ = config.max_rows;
  inputs_ = config.inputs;
  Index widest = config.inputs;
  for (int i = 0; i < config.hidden_layers; ++i) widest = std::max(widest, config.hidden[i]);
  order_ = arena.take<std::uint32_t>(static_cast<std::size_t>(block_rows));
  chosen_ = arena.take<std::uint32_t>(static_cast<std::size_t>(config.max_rows));
  input_ = arena.take<float>(static_cast<std::size_t>(config.max_rows * widest));
  target_ = arena.take<float>(static_cast<std::size_t>(config.max_rows * config.inputs));
  latent_ = arena.take<float>(static_cast<std::size_t>(config.max_rows * config.latent));
  weight_ = arena.take<float>(static_cast<std::size_t>(config.max_rows));
  mean_ = arena.take<float>(static_cast<std::size_t>(config.max_rows * config.latent));
  variance_ = arena.take<float>(static_cast<std::size_t>(config.max_rows * config.latent));
  r_ = arena.take<float>(static_cast<std::size_t>(config.max_rows * config.max_clusters));
}

MemoryRange Trainer::memory() const {
  const float* end = target_ + batch_rows_ * inputs_;
  return {input_, static_cast<std::size_t>(end - input_) * sizeof(float)};
}

void Trainer::responsibilities_of(Backend& backend, const LatentCodes& codes,
                                  const MixtureView& mixture, Index count) {
  const Index m = codes.mean.cols;
  const MatrixView mean(mean_, count, m);
  const MatrixView variance(variance_, count, m);
  for (Index i = 0; i < count; ++i) {
    std::copy_n(codes.mean.row(chosen_[i]), m, mean.row(i));
    std::copy_n(codes.variance.row(chosen_[i]), m, variance.row(i));
  }
  const MatrixView r(r_, count, mixture.gaussians.clusters);
  backend.mahalanobis(mean, variance, mixture.gaussians, r);
  backend.softmax_rows(r, mixture.log_weight, -0.5F, r, nullptr);
}

Status Trainer::check(const Vae& vae, const TrainingSettings& settings,
                      ConstMatrixView rows) const {
  if (!vae.config().trainable) {
    return {StatusCode::kUnavailable, "this network was created for inference only"};
  }
  if (vae.config().inputs != inputs_ || vae.config().max_rows > batch_rows_) {
    return {StatusCode::kShapeMismatch, "this trainer was placed for another network"};
  }
  if (settings.batch < 1 || settings.batch > vae.config().max_rows) {
    return {StatusCode::kInvalidArgument, "batch must be between 1 and the network's max_rows"};
  }
  const CorruptionSettings& corruption = settings.corruption;
  if (!(corruption.mask_probability >= 0.0F && corruption.mask_probability < 1.0F &&
        corruption.noise_deviation >= 0.0F && std::isfinite(corruption.noise_deviation))) {
    return {StatusCode::kInvalidArgument,
            "mask_probability must be in [0,1) and noise_deviation >= 0"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_augmentation(settings.augmentation, inputs_));
  ADAPVAE_RETURN_IF_ERROR(check_shape(rows, block_rows_, inputs_));
  return check_finite(rows);
}

void Trainer::choose(const TrainingSettings& settings, std::uint32_t epoch, Index first,
                     Index count) {
  const NeighbourGraph* graph = settings.neighbours;
  if (graph == nullptr) {
    std::copy_n(order_ + first, count, chosen_);
    return;
  }
  for (Index i = 0; i < count / 2; ++i) {
    const std::uint32_t row = order_[first / 2 + i];
    RandomKey key = random_key(settings, RandomPurpose::kNeighbour, epoch);
    key.index = row;
    Philox random(key);
    chosen_[i] = row;
    chosen_[count / 2 + i] =
        graph->of(row)[random.below(static_cast<std::uint32_t>(graph->neighbours()))];
  }
  if (count % 2 != 0) chosen_[count - 1] = order_[first / 2 + count / 2];
}

void Trainer::gather(Backend& backend, const TrainingSettings& settings, std::uint32_t epoch,
                     ConstMatrixView rows, Index count) {
  const MatrixView target(target_, count, inputs_);
  for (Index i = 0; i < count; ++i) {
    std::copy_n(rows.row(chosen_[i]), inputs_, target.row(i));
  }
  const MatrixView input(input_, count, inputs_);
  const std::uint32_t* row_id = chosen_;
  if (settings.augmentation.active()) {
    augment_rows(settings.augmentation, random_key(settings, RandomPurpose::kAugmentation, epoch),
                 row_id, target, input);
  } else {
    copy_rows(target, input);
  }
  corrupt_rows(settings.corruption, random_key(settings, RandomPurpose::kCorruption, epoch), row_id,
               input);
  backend.changed(target_, count * inputs_);
  backend.changed(input_, count * inputs_);
}

// The frame of both kinds of epoch: shuffle, cut into mini-batches, gather, step, report.
// step(count, &loss, &report) makes one step on the rows gathered.
template <typename Step>
Status Trainer::for_batches(Backend& backend, Vae& vae, const TrainingSettings& settings,
                            std::uint32_t epoch, ConstMatrixView rows, EpochReport* report,
                            const Step& step) {
  Philox shuffle(random_key(settings, RandomPurpose::kShuffle, epoch));
  fill_permutation(shuffle, order_, static_cast<std::uint32_t>(rows.rows));
  const std::uint64_t skipped_before = vae.optimiser().skipped_steps();
  VaeLoss total;
  double learnt = 0.0;
  report->rows = 0;
  for (Index first = 0; first < rows.rows; first += settings.batch) {
    if (!settings.go_on()) break;
    const Index count = std::min(settings.batch, rows.rows - first);
    choose(settings, epoch, first, count);
    gather(backend, settings, epoch, rows, count);
    VaeLoss loss;
    StepReport made;
    if (const Status status = step(count, &loss, &made); !status.ok()) {
      vae.fetch_parameters(backend);
      return status;
    }
    report->rows += count;
    if (!made.applied) continue;
    add_weighted(loss, static_cast<double>(count), &total);
    learnt += static_cast<double>(count);
  }
  vae.optimiser().end_epoch();
  vae.fetch_parameters(backend);
  report->loss = divided(total, learnt);
  report->skipped_steps = vae.optimiser().skipped_steps() - skipped_before;
  return backend.status();
}

Status Trainer::run_epoch(Backend& backend, Vae& vae, const TrainingSettings& settings,
                          std::uint32_t epoch, ConstMatrixView rows, const VaeBatch& pattern,
                          EpochReport* report) {
  ADAPVAE_RETURN_IF_ERROR(check(vae, settings, rows));
  if (pattern.responsibilities.data != nullptr) {
    return {StatusCode::kInvalidArgument, "an epoch computes its responsibilities itself"};
  }
  if (pattern.latent_target.data != nullptr &&
      (pattern.latent_target.rows != rows.rows || pattern.latent_weight == nullptr)) {
    return {StatusCode::kShapeMismatch, "latent targets must have as many rows as the block"};
  }
  const LatentCodes& codes = settings.codes;
  if (codes.mean.data != nullptr &&
      (codes.mean.rows != rows.rows || codes.mean.cols != vae.config().latent ||
       codes.variance.rows != rows.rows || codes.variance.cols != vae.config().latent)) {
    return {StatusCode::kShapeMismatch, "the codes are not those of the block's rows"};
  }
  if (settings.neighbours != nullptr &&
      (settings.neighbours->rows() != rows.rows || settings.neighbours->neighbours() < 1)) {
    return {StatusCode::kShapeMismatch, "the neighbours are not those of the block's rows"};
  }
  const auto step = [&](Index count, VaeLoss* loss, StepReport* made) -> Status {
    VaeBatch batch = pattern;
    batch.input = ConstMatrixView(input_, count, inputs_);
    batch.target = ConstMatrixView(target_, count, inputs_);
    batch.noise_key = random_key(settings, RandomPurpose::kLatentNoise, epoch);
    batch.row_id = chosen_;
    if (pattern.latent_target.data != nullptr) {
      const MatrixView latent(latent_, count, vae.config().latent);
      for (Index i = 0; i < count; ++i) {
        const Index row = chosen_[i];
        std::copy_n(pattern.latent_target.row(row), latent.cols, latent.row(i));
        weight_[i] = pattern.latent_weight[row];
      }
      batch.latent_target = latent;
      batch.latent_weight = weight_;
    }
    if (settings.codes.mean.data != nullptr && pattern.prior_weight != 0.0F) {
      responsibilities_of(backend, settings.codes, pattern.mixture, count);
      batch.responsibilities = ConstMatrixView(r_, count, pattern.mixture.gaussians.clusters);
    }
    return vae.train_step(backend, batch, loss, made);
  };
  return for_batches(backend, vae, settings, epoch, rows, report, step);
}

Status Trainer::run_layer_epoch(Backend& backend, Vae& vae, const TrainingSettings& settings,
                                int level, std::uint32_t epoch, ConstMatrixView rows,
                                EpochReport* report) {
  ADAPVAE_RETURN_IF_ERROR(check(vae, settings, rows));
  const VaeConfig& config = vae.config();
  if (level < 0 || level > config.hidden_layers) {
    return {StatusCode::kInvalidArgument, "level must be between 0 and the hidden layers"};
  }
  const ParameterRange ranges[] = {range_of(vae.encoder().layer(level)),
                                   range_of(vae.decoder().layer(config.hidden_layers - level))};
  // Above the inputs there is no image to augment, and noise is put on the hidden values instead.
  TrainingSettings quiet = settings;
  if (level > 0) {
    quiet.corruption = {};
    quiet.augmentation = {};
  }
  const auto step = [&](Index count, VaeLoss* loss, StepReport* made) {
    ConstMatrixView clean(target_, count, inputs_);
    MatrixView corrupted(input_, count, inputs_);
    vae.send_parameters(backend);
    if (level > 0) {
      clean = vae.encoder().forward_partial(backend, std::as_const(vae).parameters(), clean, level);
      backend.fetch(clean.data, count * clean.cols);
      corrupted = MatrixView(input_, count, clean.cols);
      copy_rows(clean, corrupted);
      corrupt_rows(settings.corruption, random_key(settings, RandomPurpose::kCorruption, epoch),
                   chosen_, corrupted);
      backend.changed(input_, count * clean.cols);
    }
    *loss = layer_gradient(backend, vae, level, corrupted, clean);
    *made = vae.step(backend, loss->loss, ranges);
    return backend.status();
  };
  return for_batches(backend, vae, quiet, epoch, rows, report, step);
}

}  // namespace adapvae

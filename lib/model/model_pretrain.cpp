// The network's first features: on the first stream, or before it on rows given apart.
#include <algorithm>

#include "model/model.h"
#include "network/linear_start.h"

namespace adapvae {

Status Model::pretrain(Backend& backend, ConstMatrixView rows) {
  if (stream_ > 0 || pretrained_) {
    return {StatusCode::kInvalidArgument, "pretraining comes once, before any stream"};
  }
  const Index room = Index{config_.block_rows} + config_.replay_rows;
  ADAPVAE_RETURN_IF_ERROR(check_stream(rows, room));
  if (waiting_ > 0) {
    return {StatusCode::kInvalidArgument, "rows that were pushed wait: pretraining comes first"};
  }
  keep(rows);
  const Status status = pretrain_rows(backend, rows);
  pretrained_ = status.ok();
  return finish(status, rows);
}

Status Model::pretrain_rows(Backend& backend, ConstMatrixView rows) {
  epoch_ = 0;
  retries_ = 0;
  // Its share of the first stream's time.
  pace_.begin(pacing_, plan_stream(config_, 1, rows.rows, false, pacing_.seconds_per_stream > 0.0));
  missing_.note(rows);
  ADAPVAE_RETURN_IF_ERROR(scale_stream(backend, rows, &rows));
  start_training();
  ADAPVAE_RETURN_IF_ERROR(learn_features(backend, rows));
  ADAPVAE_RETURN_IF_ERROR(backend.status());
  // As after a stream: what is kept can be saved and loaded.
  if (!vae_.sound()) {
    return {StatusCode::kDiverged,
            "pretraining diverged: use scale_inputs, a smaller learning_rate or rows of a smaller "
            "range"};
  }
  pace_.finish();
  return {};
}

// Principal axes, reconstruction, then neighbours; the latent's scale is settled after each.
Status Model::learn_features(Backend& backend, ConstMatrixView rows) {
  project_on_axes(rows);
  ADAPVAE_RETURN_IF_ERROR(reconstruct(backend, rows, config_.pretrain_epochs));
  ADAPVAE_RETURN_IF_ERROR(standardise(backend, rows));
  if (config_.neighbour_weight > 0.0) {
    ADAPVAE_RETURN_IF_ERROR(embed(backend, rows, config_.neighbour_epochs));
    ADAPVAE_RETURN_IF_ERROR(standardise(backend, rows));
  }
  return start_variances(backend, rows);
}

// What linear features show, the network shows before its first step. Memory that training uses
// later is borrowed: the parameters of a network that can be linear are at least four times as many
// as the numbers of the axes.
void Model::project_on_axes(ConstMatrixView rows) {
  if (vae_.config().likelihood.kind != Likelihood::kGaussian) return;
  const Index m = config_.latent;
  const Index d = config_.inputs;
  float* numbers = vae_.scratch().gradients;
  if (vae_.parameter_count() < (2 * m + 1) * d) return;
  const PrincipalAxes start = {
      .axes = {numbers, m, d}, .deviation = scratch_, .centre = numbers + 2 * m * d};
  find_principal_axes(rows, config_.seed, start, {z_, rows.rows, m}, {numbers + m * d, m, d});
  (void)start_linear(vae_, start);
}

// The variance that a row's features have, given the row, until training says otherwise:
// reconstruction has taught the network nothing about it. With a Gaussian likelihood, to first
// order 1 / (1 + |J|²/φ), J the derivative of the decoder by the feature and φ the variance of the
// inputs around their reconstruction (eq. 22). A Bernoulli likelihood of grey values has a wrong
// scale, and so has what would be computed from it: there it is a constant (docs/adr/0013).
Status Model::start_variances(Backend& backend, ConstMatrixView rows) {
  const Index m = config_.latent;
  const Index d = config_.inputs;
  constexpr Index kSample = 64;
  const Index n = std::min({kSample, rows.rows, Index{config_.pass_rows}});
  double* variance = scratch_;
  if (vae_.config().likelihood.kind == Likelihood::kBernoulli) {
    constexpr double kGreyVariance = 0.3;
    std::fill_n(variance, m, kGreyVariance);
    vae_.start_variance(variance);
    return {};
  }
  ADAPVAE_RETURN_IF_ERROR(encode(backend, rows));
  const MatrixView z(variance_, n, m);
  for (Index i = 0; i < n; ++i) std::copy_n(z_ + (i * rows.rows / n) * m, m, z.row(i));
  const MatrixView decoded(vae_.scratch().ping, n, d);
  const MatrixView moved(vae_.scratch().pong, n, d);
  ADAPVAE_RETURN_IF_ERROR(vae_.decode(backend, z, decoded));
  double error = 0.0;
  for (Index i = 0; i < n; ++i) {
    const float* row = rows.row(i * rows.rows / n);
    for (Index j = 0; j < d; ++j) {
      const double residual = static_cast<double>(row[j]) - decoded(i, j);
      error += residual * residual;
    }
  }
  constexpr double kLeastDispersion = 1e-4;
  const double dispersion = std::clamp(error / static_cast<double>(n * d), kLeastDispersion, 1e6);
  for (Index k = 0; k < m; ++k) {
    constexpr float kStep = 0.1F;  // standard deviations of the feature
    for (Index i = 0; i < n; ++i) z(i, k) += kStep;
    ADAPVAE_RETURN_IF_ERROR(vae_.decode(backend, z, moved));
    for (Index i = 0; i < n; ++i) z(i, k) -= kStep;
    double information = 0.0;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j) {
        const double slope = static_cast<double>(moved(i, j) - decoded(i, j)) / kStep;
        information += slope * slope;
      }
    }
    variance[k] = 1.0 / (1.0 + std::min(information / (static_cast<double>(n) * dispersion), 1e4));
  }
  vae_.start_variance(variance);
  return {};
}

}  // namespace adapvae

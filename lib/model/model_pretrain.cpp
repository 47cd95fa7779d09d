// The network's first features: on the first stream, or before it on rows given apart.
#include "model/model.h"

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
  // Its share of the first stream's time.
  pace_.begin(pacing_, plan_stream(config_, 1, rows.rows, false, pacing_.seconds_per_stream > 0.0));
  rows = scale_stream(rows);
  vae_.optimiser().reset();
  vae_.optimiser().settings().adam.learning_rate = static_cast<float>(config_.learning_rate);
  ADAPVAE_RETURN_IF_ERROR(learn_features(backend, rows));
  pace_.finish();
  return backend.status();
}

// Reconstruction, then neighbours; the latent's scale is settled after each.
Status Model::learn_features(Backend& backend, ConstMatrixView rows) {
  ADAPVAE_RETURN_IF_ERROR(reconstruct(backend, rows, config_.pretrain_epochs));
  ADAPVAE_RETURN_IF_ERROR(standardise(backend, rows));
  if (config_.neighbour_weight > 0.0) {
    ADAPVAE_RETURN_IF_ERROR(embed(backend, rows, config_.neighbour_epochs));
    ADAPVAE_RETURN_IF_ERROR(standardise(backend, rows));
  }
  return {};
}

}  // namespace adapvae

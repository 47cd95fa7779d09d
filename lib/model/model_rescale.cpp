// Model: rows whose range has changed for good (docs/adr/0021).
#include <algorithm>

#include "model/model.h"

namespace adapvae {

// Whether what set the range of the inputs was not typical: a machine that stood still, a sensor
// that was off.
bool Model::range_has_changed(const Standardiser::Beyond& beyond) const {
  return stream_ > 1 && beyond.another_range && !frozen() &&
         config_.replay_rows >= learner_.mixture().clusters();
}

// Scale and network are made anew from the block and from rows drawn from the clusters, which keep
// their ids and move to where those rows lie. The scaled rows, the block's first, are in all_.
Status Model::rescale(Backend& backend, ConstMatrixView rows) {
  const Index d = config_.inputs;
  const Index m = config_.latent;
  note_replay_ids();
  ReplaySettings settings = replay_settings(config_);
  settings.even = true;
  settings.filter = false;  // every cluster needs rows
  const MatrixView drawn(all_ + rows.rows * d, config_.replay_rows, d);
  ADAPVAE_RETURN_IF_ERROR(
      replay_.draw(backend, vae_, learner_.mixture(), settings, config_.seed, stream_, drawn));
  for (Index i = 0; i < drawn.rows; ++i) row_cluster_[i] = replay_.cluster(i);
  replay_.clear();  // they are rows like others now, with no features to keep
  input_scale_.invert(drawn, drawn);
  Index* wild = row_cluster_ + drawn.rows;
  for (Index i = 0; i < rows.rows; ++i) wild[i] = input_scale_.is_wild(rows.row(i)) ? 1 : 0;
  input_scale_.reset();
  input_scale_.update(drawn);
  for (Index i = 0; i < rows.rows; ++i) {
    if (wild[i] == 0) input_scale_.update(rows.row_range(i, 1));
  }
  const MatrixView scaled(all_, rows.rows, d);
  input_scale_.apply(rows, scaled);
  if (missing_.any()) fill_from_rows(scaled, Fill::kDrawn);
  input_scale_.apply(drawn, drawn);
  vae_.initialise(config_.seed);
  const ConstMatrixView all(all_, rows.rows + drawn.rows, d);
  ADAPVAE_RETURN_IF_ERROR(learn_features(backend, all));
  ADAPVAE_RETURN_IF_ERROR(encode(backend, drawn));
  learner_.move_past({z_, drawn.rows, m}, {variance_, drawn.rows, m}, row_cluster_);
  return backend.status();
}

}  // namespace adapvae

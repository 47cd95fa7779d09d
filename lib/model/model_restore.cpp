// Model: a stream that fails half-way leaves everything as it was. The learner keeps its own state,
// where it always has room for it; what else a stream may change is kept here.
#include <algorithm>
#include <utility>

#include "model/model.h"

namespace adapvae {

Status Model::broken_stream() {
  return {StatusCode::kInvalidArgument, "the last stream failed half-way: reset first"};
}

Status Model::check_whole() const {
  if (!learns(use_)) {
    return {StatusCode::kUnavailable, "this model was made to score only"};
  }
  return broken_ ? broken_stream() : Status();
}

void Model::place_kept(Arena& arena) {
  kept_ = {};
  if (config_.restore_on_failure == 0) return;
  const auto d = static_cast<std::size_t>(config_.inputs);
  kept_.parameters = arena.take<float>(static_cast<std::size_t>(vae_.parameter_count()));
  if (config_.scale_inputs != 0) {
    kept_.scale = arena.take<std::byte>(Standardiser::most_bytes(config_.inputs));
  }
  if (!changes_waiting_rows()) return;
  kept_.waiting = arena.take<float>(static_cast<std::size_t>(config_.block_rows) * d);
}

void Model::keep_counts() {
  kept_.stream = stream_;
  kept_.time = time_;
  kept_.rows_learnt = rows_learnt_;
  kept_.events = events_.mark();
}

void Model::restore_counts() {
  stream_ = kept_.stream;
  time_ = kept_.time;
  rows_learnt_ = kept_.rows_learnt;
  events_.rewind(kept_.events);
}

// Rows of push() are scaled and completed where they wait.
bool Model::changes_waiting_rows() const {
  return config_.scale_inputs != 0 || config_.missing_values != 0;
}

void Model::keep(ConstMatrixView rows) {
  if (config_.restore_on_failure == 0) return;
  keep_counts();
  learner_.keep_state();
  std::copy_n(std::as_const(vae_).parameters(), vae_.parameter_count(), kept_.parameters);
  if (config_.scale_inputs != 0) {
    ByteWriter writer(kept_.scale, Standardiser::most_bytes(config_.inputs));
    input_scale_.save(writer);
  }
  if (changes_waiting_rows() && rows.data == all_)
    std::copy_n(all_, rows.rows * rows.cols, kept_.waiting);
}

Status Model::finish(const Status& status, ConstMatrixView rows) {
  if (status.ok()) return status;
  if (config_.restore_on_failure != 0) restore(rows);
  broken_ = config_.restore_on_failure == 0;
  return status;
}

void Model::restore(ConstMatrixView rows) {
  restore_counts();
  learner_.restore_state();
  column_novelty_.abandon_block();
  std::copy_n(kept_.parameters, vae_.parameter_count(), vae_.parameters());
  vae_.optimiser().reset();
  replay_.clear();
  neighbours_.clear();
  if (config_.scale_inputs != 0) {
    ByteReader reader(kept_.scale, Standardiser::most_bytes(config_.inputs));
    (void)input_scale_.load(reader);  // what save() wrote is sound
  }
  if (changes_waiting_rows() && rows.data == all_)
    std::copy_n(kept_.waiting, rows.rows * rows.cols, all_);
}

}  // namespace adapvae

// Model: what the decoder cannot account for in a row, as a part of its novelty (eq. 19).
#include <algorithm>
#include <cmath>

#include "model/model.h"

namespace adapvae {
namespace {

constexpr float kLargestError = 1e18F;

}  // namespace

// Of a network that moves, old surprises say less than this stream's; of a short one, too little.
double Model::most_counted(Index rows) const {
  constexpr double kOldPerNew = 2.0;
  return std::max(kOldPerNew * static_cast<double>(rows), static_cast<double>(config_.block_rows));
}

// x as the network gets it, z its codes [n × m], out [n].
Status Model::find_errors(Backend& backend, ConstMatrixView z, ConstMatrixView x, float* out) {
  const bool ink = vae_.config().likelihood.kind == Likelihood::kBernoulli;
  for (Index begin = 0; begin < x.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, x.rows - begin);
    float* error = out + begin;
    ADAPVAE_RETURN_IF_ERROR(
        vae_.log_likelihood(backend, z.row_range(begin, n), x.row_range(begin, n), error));
    for (Index i = 0; i < n; ++i) {
      float scale = 1.0F;
      if (ink) {
        // Where there is more to draw, more is drawn wrongly.
        const float* row = x.row(begin + i);
        float sum = 0.0F;
        for (Index j = 0; j < x.cols; ++j) sum += row[j] * row[j];
        scale = 1.0F / std::sqrt(std::max(sum, 1.0F));
      }
      const float value = -error[i] * scale;
      error[i] = std::fabs(value) <= kLargestError ? value : kLargestError;
    }
  }
  return {};
}

// After learner_.score(): novelty_ anew, with the errors, which stay in error_.
Status Model::judge_errors(Backend& backend, ConstMatrixView z, ConstMatrixView x) {
  ADAPVAE_RETURN_IF_ERROR(find_errors(backend, z, x, error_));
  const double limit = novelty_boundary();
  for (Index i = 0; i < x.rows; ++i) {
    const double features = -static_cast<double>(score_[i].log_density);
    novelty_[i] = row_novelty_.novelty(row_novelty_.surprise(features, error_[i]), limit);
  }
  return {};
}

double Model::novelty_boundary() const {
  const NoveltySettings& settings = learner_.settings().novelty;
  if (!row_novelty_.ready()) return learner_.boundary();
  return row_novelty_.boundary(
      learner_.mixture().surprise_quantile(1.0 - settings.false_alarm_rate), settings);
}

// Puts the rows of known kinds first, as they were met, for count_novelty(): the network has been
// trained on all of them since, and redraws them too well. The codes are still those of these rows.
Status Model::look_back(Backend& backend, Index rows) {
  met_known_ = 0;
  if (!row_novelty_.wanted() || stream_ == 1) return {};
  const LatentCodes now = codes(rows);
  for (Index begin = 0; begin < rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows - begin);
    learner_.mixture().score(backend, now.mean.row_range(begin, n),
                             now.variance.row_range(begin, n),
                             MatrixView(score_r_, n, learner_.mixture().clusters()), score_);
    for (Index i = 0; i < n; ++i) {
      if (learner_.registry().info(score_[i].cluster).born_stream >= stream_) continue;
      row_novelty_.features()[met_known_] = row_novelty_.features()[begin + i];
      row_novelty_.errors()[met_known_++] = row_novelty_.errors()[begin + i];
    }
  }
  return backend.status();
}

void Model::count_novelty(Index rows) {
  if (met_known_ == 0) return;
  const NoveltyScale& scale = learner_.novelty_scale();
  const double usual = scale.rows() > 0.0 ? scale.quantile(0.5) : 0.0;
  const double spread =
      scale.rows() > 0.0 ? scale.quantile(RowNovelty::kDeviationPart) - usual : 0.0;
  const double most = frozen() ? learner_.settings().novelty.memory_rows : most_counted(rows);
  row_novelty_.count(met_known_, usual, spread, most, learner_.settings().novelty);
}

}  // namespace adapvae

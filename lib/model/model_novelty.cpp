// Model: what the decoder cannot account for in a row, as a part of its novelty (eq. 19).
#include <algorithm>
#include <cmath>

#include "model/block_test.h"
#include "model/model.h"

namespace adapvae {
namespace {

// Errors of unusual rows are larger by magnitudes; their mean should not be that of the largest.
float compressed(float error) {
  constexpr float kLargestError = 1e18F;
  const float size = std::fabs(error) <= kLargestError ? std::fabs(error) : kLargestError;
  const auto logarithm = static_cast<float>(std::log1p(static_cast<double>(size)));
  return error < 0.0F ? -logarithm : logarithm;
}

// What a Bernoulli likelihood costs even if the decoder's row is x itself: the entropy of its
// numbers, by log 2 (4x(1 − x))^¾, which is within 0.006 of it.
float own_entropy(const float* x, Index n) {
  constexpr float kLog2 = 0.693147181F;
  float sum = 0.0F;
  for (Index j = 0; j < n; ++j) {
    if (!(x[j] > 0.0F && x[j] < 1.0F)) continue;
    const float root = std::sqrt(4.0F * x[j] * (1.0F - x[j]));
    sum += root * std::sqrt(root);
  }
  return kLog2 * sum;
}

}  // namespace

// Of a network that moves, old surprises say less than this stream's; of a short one, too little.
double Model::most_counted(Index rows) const {
  constexpr double kOldPerNew = 2.0;
  return std::max({kOldPerNew * static_cast<double>(rows), static_cast<double>(config_.block_rows),
                   2.0 * RowNovelty::kLeastRows});
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
        error[i] += own_entropy(row, x.cols);
      }
      error[i] = compressed(-error[i] * scale);
    }
  }
  return {};
}

// After learner_.score(): novelty_ anew. Errors, if they are used, stay in error_.
Status Model::judge(Backend& backend, ConstMatrixView z, ConstMatrixView x) {
  if (nothing_learnt() || !row_novelty_.ready()) return {};
  if (row_novelty_.uses_errors()) ADAPVAE_RETURN_IF_ERROR(find_errors(backend, z, x, error_));
  for (Index i = 0; i < x.rows; ++i) {
    const Surprise surprise = surprise_of(i);
    novelty_[i] = row_novelty_.novelty(surprise.features + surprise.error, surprise.boundary);
  }
  return {};
}

// Of row i of the pass.
Model::Surprise Model::surprise_of(Index i) const {
  if (!row_novelty_.ready()) {
    return {-static_cast<double>(score_[i].log_density), 0.0, learner_.boundary()};
  }
  const Index k = score_[i].cluster;
  return {row_novelty_.feature_surprise(score_[i].misfit),
          row_novelty_.uses_errors() ? row_novelty_.error_surprise(error_[i]) : 0.0,
          row_novelty_.boundary(k, learner_.registry().info(k).id, learner_.settings().novelty)};
}

// How the rows of the block fit now, for count_novelty(). The codes are still those of these rows.
Status Model::look_back(Backend& backend, ConstMatrixView rows) {
  const LatentCodes now = codes(rows.rows);
  const bool errors = arrived() && row_novelty_.wants_errors();
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    learner_.mixture().score(backend, now.mean.row_range(begin, n),
                             now.variance.row_range(begin, n),
                             MatrixView(score_r_, n, learner_.mixture().clusters()), score_);
    if (errors) {
      ADAPVAE_RETURN_IF_ERROR(
          find_errors(backend, now.mean.row_range(begin, n), rows.row_range(begin, n), error_));
    }
    for (Index i = 0; i < n; ++i) {
      const Index k = score_[i].cluster;
      const bool newborn = learner_.registry().info(k).born_stream >= stream_;
      row_novelty_.note_learnt(begin + i, k, newborn, score_[i].misfit, errors ? error_[i] : 0.0F);
    }
  }
  return backend.status();
}

void Model::count_novelty(Index rows, bool trained) {
  if (rescaled_) row_novelty_.reset();
  row_novelty_.count(learner_.registry(), rows, trained, arrived(), most_counted(rows),
                     learner_.settings().novelty);
}

// Whether the block that was met brings nothing that the model has to learn. After one block there
// is nothing to compare it with.
bool Model::explained(Index rows) const {
  if (learn_every_block_ || pace_.stopped()) return false;
  if (stream_ <= 2 || rescaled_ || !row_novelty_.ready()) return false;
  BlockTest test(static_cast<double>(rows) * learner_.met_evidence(), rows);
  row_novelty_.compare(learner_.registry(), rows, test);
  if (frozen()) test.note_unlearnt(0);  // it will not be trained
  return test.explained();
}

}  // namespace adapvae

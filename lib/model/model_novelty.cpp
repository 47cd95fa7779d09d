// Model: what the decoder cannot account for in a row, as a part of its novelty (eq. 19).
#include <algorithm>
#include <cmath>

#include "model/block_test.h"
#include "model/model.h"

namespace adapvae {
namespace {

// As for features alone: log densities are finite.
constexpr double kLeastLogDensity = 1e30;

}  // namespace

// Of a network that moves, old surprises say less than this stream's; of a short one, too little.
double Model::most_counted(Index rows) const {
  constexpr double kOldPerNew = 2.0;
  return std::max({kOldPerNew * static_cast<double>(rows), static_cast<double>(config_.block_rows),
                   2.0 * RowNovelty::kLeastRows});
}

ColumnNovelty::Kind Model::column_kind(const Configuration& config) {
  if (static_cast<Likelihood>(config.likelihood) == Likelihood::kBernoulli) {
    return ColumnNovelty::Kind::kInk;
  }
  return config.scale_inputs != 0 ? ColumnNovelty::Kind::kScaled : ColumnNovelty::Kind::kRaw;
}

// How much larger squared errors of other rows are than those of the rows that the network was
// trained on: generalised cross-validation, with the width of the last hidden layer for the number
// of parameters that fit a column. Rows that were seen shifted and turned are not known by heart.
double Model::optimism(Index rows) const {
  if (arrived() || frozen() || config_.augment != 0) return 1.0;
  const VaeConfig& network = vae_.config();
  const Index width = network.hidden_layers > 0 ? network.hidden[0] : network.latent;
  const auto n = static_cast<double>(rows);
  const double root = n / (n - std::min(static_cast<double>(width), 0.5 * n));
  return root * root;
}

// x as the network gets it, z its codes [n × m], out [n].
Status Model::find_errors(Backend& backend, ConstMatrixView z, ConstMatrixView x, double inflation,
                          float* out) {
  const bool ink = vae_.config().likelihood.kind == Likelihood::kBernoulli;
  for (Index begin = 0; begin < x.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, x.rows - begin);
    const ConstMatrixView pass = x.row_range(begin, n);
    float* error = out + begin;
    if (ink) {
      ADAPVAE_RETURN_IF_ERROR(vae_.log_likelihood(backend, z.row_range(begin, n), pass, error));
      for (Index i = 0; i < n; ++i) {
        error[i] = static_cast<float>(
            column_novelty_.ink_error(pass.row(i), static_cast<double>(error[i]), inflation));
      }
      continue;
    }
    ConstMatrixView decoded;
    ADAPVAE_RETURN_IF_ERROR(vae_.decode_raw(backend, z.row_range(begin, n), &decoded));
    for (Index i = 0; i < n; ++i) {
      error[i] = static_cast<float>(column_novelty_.error(pass.row(i), decoded.row(i), inflation));
    }
  }
  return {};
}

// The rows of the block, as they are now; their codes are there.
Status Model::note_columns(Backend& backend, ConstMatrixView rows) {
  column_novelty_.begin_block();
  const bool ink = vae_.config().likelihood.kind == Likelihood::kBernoulli;
  const bool errors = row_novelty_.wants_errors();
  if (!ink && !errors) return {};
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    ConstMatrixView decoded = rows.row_range(begin, n);
    if (!ink) {
      ADAPVAE_RETURN_IF_ERROR(
          vae_.decode_raw(backend, codes(rows.rows).mean.row_range(begin, n), &decoded));
    }
    for (Index i = 0; i < n; ++i) column_novelty_.note(rows.row(begin + i), decoded.row(i));
  }
  if (!arrived() || !column_novelty_.ready()) column_novelty_.begin_anew();
  return {};
}

// After learner_.score(): novelty_ anew. Errors, if they are used, stay in error_.
Status Model::judge(Backend& backend, ConstMatrixView z, ConstMatrixView x) {
  if (nothing_learnt() || !row_novelty_.ready()) return {};
  if (row_novelty_.uses_errors()) ADAPVAE_RETURN_IF_ERROR(find_errors(backend, z, x, 1.0, error_));
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
  const ClusterFit fit = fit_of(score_[i]);
  const ClusterId id = learner_.registry().clusters()[fit.cluster].id;
  return {row_novelty_.feature_surprise(fit.misfit),
          row_novelty_.uses_errors() ? row_novelty_.error_surprise(error_[i]) : 0.0,
          row_novelty_.boundary(fit.cluster, id, learner_.settings().novelty)};
}

// The cluster of a row, and the row's surprise as if that cluster had all the weight. Thin
// components at its edge do not make what falls there ordinary.
Model::ClusterFit Model::fit_of(const RowScore& score) const {
  const ComponentRegistry& registry = learner_.registry();
  const Mixture& mixture = learner_.mixture();
  const ClusterId cluster = registry.info(score.cluster).cluster;
  double weight = 0.0;
  for (Index k = 0; k < registry.components(); ++k) {
    if (registry.info(k).cluster == cluster) weight += mixture.weight(k);
  }
  const double own = mixture.weight(score.cluster);
  const double more = own > 0.0 && weight > own ? std::log(weight / own) : 0.0;
  return {registry.cluster_of(score.cluster), static_cast<double>(score.misfit) + more};
}

// Of row i of the pass, x as the network gets it: the density of its features, less what its
// reconstruction and the values of its columns cost more than usual (eq. 26).
float Model::log_density_of(Index i, const float* row) const {
  const double features = static_cast<double>(score_[i].log_density);
  if (nothing_learnt() || !row_novelty_.ready()) return score_[i].log_density;
  const double error = row_novelty_.uses_errors()
                           ? row_novelty_.error_surprise(error_[i]) * row_novelty_.nats()
                           : 0.0;
  const double rarity = column_novelty_.rarity(row, row_novelty_.surprise_nats());
  return static_cast<float>(
      std::clamp(features - error - rarity, -kLeastLogDensity, kLeastLogDensity));
}

// Of row i of the pass: how badly it would fit if its cluster had not learnt it.
double Model::held_out_misfit(Index i, const float* z) {
  const RowScore& score = score_[i];
  double* point = scratch_;
  for (Index j = 0; j < config_.latent; ++j) point[j] = static_cast<double>(z[j]);
  const double fall =
      held_out_fall(learner_.config().shape, learner_.mixture().posterior(score.cluster), point,
                    scratch_ + config_.latent);
  // What it holds of the row; another cluster may explain the rest.
  constexpr double kMostDeviations = 2.0;  // a row alone in its cluster says little of the others
  const double most = kMostDeviations * std::sqrt(0.5 * static_cast<double>(config_.latent));
  const auto part = std::clamp(static_cast<double>(score.probability), 0.0, 1.0);
  const double left = 1.0 - part + part * std::exp(-std::min(fall, most));
  return fit_of(score).misfit - std::log(left);
}

// How the rows of the block fit now, for count_novelty(). The codes are still those of these rows.
// Clusters and network of the first block have learnt all rows that there are: their part in it is
// taken out.
Status Model::look_back(Backend& backend, ConstMatrixView rows) {
  const LatentCodes now = codes(rows.rows);
  const bool errors = row_novelty_.wants_errors();
  ADAPVAE_RETURN_IF_ERROR(note_columns(backend, rows));
  const double inflation = optimism(rows.rows);
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    learner_.mixture().score(backend, now.mean.row_range(begin, n),
                             now.variance.row_range(begin, n),
                             MatrixView(score_r_, n, learner_.mixture().clusters()), score_);
    if (errors) {
      ADAPVAE_RETURN_IF_ERROR(find_errors(backend, now.mean.row_range(begin, n),
                                          rows.row_range(begin, n), inflation, error_));
    }
    for (Index i = 0; i < n; ++i) {
      const Index k = score_[i].cluster;
      const bool newborn = learner_.registry().info(k).born_stream >= stream_;
      const ClusterFit fit = fit_of(score_[i]);
      const double misfit = arrived() ? fit.misfit : held_out_misfit(i, now.mean.row(begin + i));
      row_novelty_.note_learnt(begin + i, fit.cluster, newborn, static_cast<float>(misfit),
                               errors ? error_[i] : 0.0F);
    }
  }
  return backend.status();
}

void Model::count_novelty(ConstMatrixView rows, bool trained) {
  if (rescaled_) row_novelty_.reset();
  const bool all_met = arrived() && (met_errors_ || !row_novelty_.wants_errors());
  row_novelty_.count(learner_.registry().clusters(), rows.rows, trained, all_met,
                     most_counted(rows.rows), learner_.settings().novelty);
  const double memory = learner_.settings().novelty.memory_rows;
  column_novelty_.count(rows, trained ? most_counted(rows.rows) : memory, memory,
                        optimism(rows.rows));
}

// Whether the block that was met brings nothing that the model has to learn. After one block there
// is nothing to compare it with.
bool Model::explained(Index rows) const {
  if (learn_every_block_ || pace_.stopped()) return false;
  if (stream_ <= 2 || rescaled_ || !row_novelty_.ready()) return false;
  BlockTest test(static_cast<double>(rows) * learner_.met_evidence(), rows);
  row_novelty_.compare(learner_.registry().clusters(), rows, test);
  if (frozen()) test.note_unlearnt(0);  // it will not be trained
  return test.explained();
}

}  // namespace adapvae

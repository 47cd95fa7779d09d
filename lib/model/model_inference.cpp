// Model: rows seen without learning, and rows made up. Nothing here changes what the model knows;
// buffers for a pass are all that is written. Every call looks at all that it is given first.
#include <algorithm>
#include <cmath>

#include "base/input_check.h"
#include "base/sampling.h"
#include "model/model.h"

namespace adapvae {
namespace {

// Any number of rows, none included.
Status check_codes(ConstMatrixView z, Index latent) {
  if (z.rows == 0) return {};
  ADAPVAE_RETURN_IF_ERROR(check_shape(z, z.rows, latent));
  return check_finite(z);
}

Status check_output(MatrixView out, Index rows, Index cols) {
  if (out.rows != rows) {
    return {StatusCode::kShapeMismatch, "an output must have as many rows as are asked for",
            out.rows};
  }
  return rows == 0 ? Status() : check_shape(out, rows, cols);
}

}  // namespace

// Any number of rows, none included.
Status Model::check_rows(ConstMatrixView rows) const {
  if (rows.rows == 0) return {};
  ADAPVAE_RETURN_IF_ERROR(check_shape(rows, rows.rows, config_.inputs));
  return check_numbers(rows);
}

// In the network's units, every cell with a value.
Status Model::scaled_pass(Backend& backend, ConstMatrixView rows, ConstMatrixView* scaled) {
  *scaled = rows;
  if (pass_x_ == nullptr) return {};
  const MatrixView x(pass_x_, rows.rows, rows.cols);
  input_scale_.apply(rows, x);
  *scaled = x;
  missing_.note(rows);
  return complete(backend, x, Fill::kExpected);
}

Status Model::decode_pass(Backend& backend, ConstMatrixView z, MatrixView x) {
  ADAPVAE_RETURN_IF_ERROR(vae_.decode(backend, z, x));
  if (pass_x_ != nullptr) input_scale_.invert(x, x);
  return {};
}

Status Model::score(Backend& backend, ConstMatrixView rows, RowResult* out) {
  ADAPVAE_RETURN_IF_ERROR(check_rows(rows));
  const Index m = config_.latent;
  const bool empty = nothing_learnt();
  find_numbers();
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    const MatrixView z(z_, n, m);
    const MatrixView variance(variance_, n, m);
    ConstMatrixView x;
    ADAPVAE_RETURN_IF_ERROR(scaled_pass(backend, rows.row_range(begin, n), &x));
    ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, x, z, variance));
    learner_.score(backend, z, variance, MatrixView(score_r_, n, learner_.mixture().clusters()),
                   score_, novelty_);
    ADAPVAE_RETURN_IF_ERROR(judge(backend, z, x));
    for (Index i = 0; i < n; ++i) {
      RowResult& result = out[begin + i];
      result = {};
      result.log_density = log_density_of(i, x.row(i));
      result.novelty = novelty_[i];
      if (result.novelty > 0.5F) result.flags |= RowResult::kNovel;
      if (empty)
        result.flags |= RowResult::kNothingLearnt;
      else
        put_result(i, result);
    }
  }
  return backend.status();
}

// Of every component the number of its cluster.
void Model::find_numbers() {
  for (Index k = 0; k < learner_.registry().components(); ++k) {
    cluster_of_[k] = learner_.registry().cluster_of(k);
  }
}

// The cluster of row i of the pass, whose probabilities are in score_r_.
void Model::put_result(Index row, RowResult& result) {
  const ComponentRegistry& registry = learner_.registry();
  const Index components = registry.components();
  const float* r = score_r_ + row * components;
  double* sum = scratch_;
  std::fill_n(sum, registry.clusters().count(), 0.0);
  for (Index k = 0; k < components; ++k) sum[cluster_of_[k]] += static_cast<double>(r[k]);
  const Index best = std::max_element(sum, sum + registry.clusters().count()) - sum;
  Index component = -1;
  for (Index k = 0; k < components; ++k) {
    if (cluster_of_[k] == best && (component < 0 || r[k] > r[component])) component = k;
  }
  result.id = registry.clusters()[best].id;
  result.component = registry.info(component).id;
  result.probability = std::min(static_cast<float>(sum[best]), 1.0F);
  if (registry.clusters()[best].provisional != 0) result.flags |= RowResult::kProvisional;
}

Status Model::probabilities(Backend& backend, ConstMatrixView rows, MatrixView out) {
  ADAPVAE_RETURN_IF_ERROR(check_rows(rows));
  if (nothing_learnt()) return {};
  ADAPVAE_RETURN_IF_ERROR(check_output(out, rows.rows, cluster_count()));
  find_numbers();
  const Index components = learner_.registry().components();
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    const MatrixView z(z_, n, config_.latent);
    const MatrixView variance(variance_, n, config_.latent);
    ConstMatrixView x;
    ADAPVAE_RETURN_IF_ERROR(scaled_pass(backend, rows.row_range(begin, n), &x));
    ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, x, z, variance));
    const MatrixView r(score_r_, n, components);
    learner_.score(backend, z, variance, r, score_, novelty_);
    for (Index i = 0; i < n; ++i) {
      std::fill_n(out.row(begin + i), out.cols, 0.0F);
      for (Index k = 0; k < components; ++k) {
        float& sum = out(begin + i, cluster_of_[k]);
        sum = std::min(sum + r(i, k), 1.0F);  // rounding
      }
    }
  }
  return backend.status();
}

Status Model::explain(Backend& backend, const float* row, RowReason* reason, double* contribution,
                      float* error) {
  const Index d = config_.inputs;
  const ConstMatrixView one(row, 1, d);
  ADAPVAE_RETURN_IF_ERROR(score(backend, one, &reason->result));
  if (!nothing_learnt()) {
    const Surprise surprise = surprise_of(0);
    reason->error_surprise = surprise.error;
    reason->surprise = surprise.features + surprise.error;
    reason->boundary = surprise.boundary;
  }
  ADAPVAE_RETURN_IF_ERROR(reconstruct(backend, one, MatrixView(error, 1, d)));
  for (Index j = 0; j < d; ++j) error[j] = std::isnan(row[j]) ? 0.0F : row[j] - error[j];
  // reconstruct() has left the features in z_.
  const NoveltyReason why = learner_.explain(z_, contribution);
  reason->nearest = nothing_learnt() ? kNoId : why.nearest;
  reason->squared_distance = why.squared_distance;
  reason->contribution = {contribution, static_cast<std::size_t>(config_.latent)};
  reason->error = {error, static_cast<std::size_t>(d)};
  return attribute(backend, row, error, reason);
}

Status Model::encode(Backend& backend, ConstMatrixView rows, MatrixView mean, MatrixView variance) {
  ADAPVAE_RETURN_IF_ERROR(check_rows(rows));
  ADAPVAE_RETURN_IF_ERROR(check_output(mean, rows.rows, config_.latent));
  const bool spread = variance.data != nullptr;
  if (spread) ADAPVAE_RETURN_IF_ERROR(check_output(variance, rows.rows, config_.latent));
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    ConstMatrixView x;
    ADAPVAE_RETURN_IF_ERROR(scaled_pass(backend, rows.row_range(begin, n), &x));
    ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, x, mean.row_range(begin, n),
                                        spread ? variance.row_range(begin, n) : MatrixView()));
  }
  return {};
}

Status Model::decode(Backend& backend, ConstMatrixView z, MatrixView x) {
  ADAPVAE_RETURN_IF_ERROR(check_codes(z, config_.latent));
  ADAPVAE_RETURN_IF_ERROR(check_output(x, z.rows, config_.inputs));
  for (Index begin = 0; begin < z.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, z.rows - begin);
    ADAPVAE_RETURN_IF_ERROR(decode_pass(backend, z.row_range(begin, n), x.row_range(begin, n)));
  }
  return {};
}

Status Model::reconstruct(Backend& backend, ConstMatrixView rows, MatrixView out) {
  ADAPVAE_RETURN_IF_ERROR(check_rows(rows));
  ADAPVAE_RETURN_IF_ERROR(check_output(out, rows.rows, config_.inputs));
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    const MatrixView z(z_, n, config_.latent);
    ConstMatrixView x;
    ADAPVAE_RETURN_IF_ERROR(scaled_pass(backend, rows.row_range(begin, n), &x));
    ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, x, z, MatrixView()));
    ADAPVAE_RETURN_IF_ERROR(decode_pass(backend, z, out.row_range(begin, n)));
  }
  return {};
}

void Model::moments(Index c, double* mean, double* covariance) const {
  const ComponentRegistry& registry = learner_.registry();
  const Mixture& mixture = learner_.mixture();
  const ClusterShape& shape = learner_.config().shape;
  const Index m = shape.dims;
  double* centre = scratch_;
  std::fill_n(centre, m, 0.0);
  double weight = 0.0;
  for (Index k = 0; k < registry.components(); ++k) {
    if (registry.cluster_of(k) == c) weight += mixture.weight(k);
  }
  // part: of the component in the cluster
  const auto for_each_component = [&](const auto& add) {
    for (Index k = 0; k < registry.components(); ++k) {
      if (registry.cluster_of(k) == c) add(mixture.weight(k) / weight, mixture.posterior(k));
    }
  };
  for_each_component([&](double part, const Posterior& posterior) {
    for (Index i = 0; i < m; ++i) centre[i] += part * posterior.mean[i];
  });
  if (mean != nullptr) std::copy_n(centre, m, mean);
  if (covariance == nullptr) return;
  std::fill_n(covariance, m * m, 0.0);
  for_each_component([&](double part, const Posterior& posterior) {
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < m; ++j) {
        const double apart = (posterior.mean[i] - centre[i]) * (posterior.mean[j] - centre[j]);
        covariance[i * m + j] += part * (covariance_at(shape, posterior, i, j) + apart);
      }
    }
  });
}

// ---- rows made up -------------------------------------------------------------------------------

// Its number.
Status Model::find_cluster(ClusterId id, Index* c) const {
  if (nothing_learnt()) {
    return {StatusCode::kUnavailable, "nothing has been learnt yet: there are no clusters"};
  }
  const ClusterTable& clusters = learner_.registry().clusters();
  *c = clusters.find(clusters.resolve(id));
  if (*c >= 0) return {};
  return {StatusCode::kInvalidArgument, "no cluster has this id"};
}

Index Model::largest_component(Index c) const {
  const ComponentRegistry& registry = learner_.registry();
  Index largest = -1;
  for (Index k = 0; k < registry.components(); ++k) {
    if (registry.cluster_of(k) != c) continue;
    if (largest < 0 || learner_.mixture().mass(k) > learner_.mixture().mass(largest)) largest = k;
  }
  return largest;
}

// Either output may be empty, not both; how many rows are asked for.
Status Model::check_made(MatrixView z, MatrixView x, Index* rows) const {
  if (z.data == nullptr && x.data == nullptr) {
    return {StatusCode::kInvalidArgument, "nothing is asked for: give z, x or both"};
  }
  *rows = z.data != nullptr ? z.rows : x.rows;
  if (z.data != nullptr) ADAPVAE_RETURN_IF_ERROR(check_output(z, *rows, config_.latent));
  return x.data != nullptr ? check_output(x, *rows, config_.inputs) : Status();
}

void Model::cluster_mean(Index c, float* z) const {
  const double* mean = learner_.mixture().posterior(largest_component(c)).mean;
  for (Index j = 0; j < config_.latent; ++j) z[j] = static_cast<float>(mean[j]);
}

// point(i, z) writes features of row i.
template <typename Point>
Status Model::make_rows(Backend& backend, Index rows, MatrixView z, MatrixView x,
                        const Point& point) {
  const Index m = config_.latent;
  for (Index begin = 0; begin < rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows - begin);
    const MatrixView features = z.data != nullptr ? z.row_range(begin, n) : MatrixView(z_, n, m);
    for (Index i = 0; i < n; ++i) point(begin + i, features.row(i));
    if (x.data == nullptr) continue;
    ADAPVAE_RETURN_IF_ERROR(decode_pass(backend, features, x.row_range(begin, n)));
  }
  return {};
}

Status Model::generate(Backend& backend, const GenerateSettings& settings, MatrixView z,
                       MatrixView x, ClusterId* id) {
  Index rows = 0;
  ADAPVAE_RETURN_IF_ERROR(check_made(z, x, &rows));
  Index from = 0;
  const bool whole = settings.cluster == kNoId;
  // For the whole mixture any cluster will do, if there is one.
  const ComponentRegistry& registry = learner_.registry();
  ADAPVAE_RETURN_IF_ERROR(
      find_cluster(whole ? registry.clusters()[0].id : settings.cluster, &from));
  if (!(settings.radius >= 0.0) || !std::isfinite(settings.radius)) {
    return {StatusCode::kInvalidArgument, "radius must be 0 or a positive number"};
  }
  const Index m = config_.latent;
  const Mixture& mixture = learner_.mixture();
  double* point = scratch_;
  double* weight = scratch_ + 2 * m;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    weight[k] = whole || registry.cluster_of(k) == from ? mixture.weight(k) : 0.0;
  }
  const bool single = !whole && registry.components_of(registry.clusters()[from].id) == 1;
  const Index only = largest_component(from);
  return make_rows(backend, rows, z, x, [&](Index i, float* out) {
    Philox random({.seed = settings.seed,
                   .purpose = RandomPurpose::kGenerate,
                   .index = static_cast<std::uint32_t>(i)});
    const Index k = single ? only : sample_categorical(random, weight, mixture.clusters());
    sample_predictive(learner_.config().shape, mixture.posterior(k), settings.radius, random, point,
                      scratch_ + m);
    for (Index j = 0; j < m; ++j) out[j] = static_cast<float>(point[j]);
    if (id != nullptr) id[i] = registry.info(k).cluster;
  });
}

Status Model::interpolate(Backend& backend, ClusterId from, ClusterId to, MatrixView z,
                          MatrixView x) {
  Index rows = 0;
  Index a = 0;
  Index b = 0;
  ADAPVAE_RETURN_IF_ERROR(check_made(z, x, &rows));
  ADAPVAE_RETURN_IF_ERROR(find_cluster(from, &a));
  ADAPVAE_RETURN_IF_ERROR(find_cluster(to, &b));
  const double* start = learner_.mixture().posterior(largest_component(a)).mean;
  const double* end = learner_.mixture().posterior(largest_component(b)).mean;
  return make_rows(backend, rows, z, x, [&](Index i, float* out) {
    const double t = rows > 1 ? static_cast<double>(i) / static_cast<double>(rows - 1) : 0.0;
    for (Index j = 0; j < config_.latent; ++j) {
      out[j] = static_cast<float>((1.0 - t) * start[j] + t * end[j]);
    }
  });
}

Status Model::prototype(Backend& backend, ClusterId id, MatrixView z, MatrixView x) {
  Index rows = 0;
  Index c = 0;
  ADAPVAE_RETURN_IF_ERROR(check_made(z, x, &rows));
  ADAPVAE_RETURN_IF_ERROR(find_cluster(id, &c));
  if (rows != 1) return {StatusCode::kShapeMismatch, "a prototype is one row", rows};
  return make_rows(backend, 1, z, x, [&](Index, float* out) { cluster_mean(c, out); });
}

Status Model::prototypes(Backend& backend, MatrixView z, MatrixView x, ClusterId* id) {
  Index rows = 0;
  ADAPVAE_RETURN_IF_ERROR(check_made(z, x, &rows));
  if (rows != cluster_count()) {
    return {StatusCode::kShapeMismatch, "there is one prototype for each cluster", rows};
  }
  return make_rows(backend, rows, z, x, [&](Index i, float* out) {
    cluster_mean(i, out);
    if (id != nullptr) id[i] = learner_.registry().clusters()[i].id;
  });
}

}  // namespace adapvae

// Rows without learning, and rows made up.
#include "base/input_check.h"
#include "handle.h"

using namespace adapvae;
using namespace adapvae::capi;

// The public struct is the core's.
static_assert(sizeof(adapvae_result) == sizeof(RowResult));
static_assert(offsetof(adapvae_result, id) == offsetof(RowResult, id));
static_assert(offsetof(adapvae_result, component) == offsetof(RowResult, component));
static_assert(offsetof(adapvae_result, probability) == offsetof(RowResult, probability));
static_assert(offsetof(adapvae_result, novelty) == offsetof(RowResult, novelty));
static_assert(offsetof(adapvae_result, log_density) == offsetof(RowResult, log_density));
static_assert(offsetof(adapvae_result, flags) == offsetof(RowResult, flags));
static_assert(RowResult::kProvisional == ADAPVAE_PROVISIONAL &&
              RowResult::kNothingLearnt == ADAPVAE_NOTHING_LEARNT &&
              RowResult::kNovel == ADAPVAE_NOVEL);

namespace {

Status check_output(const void* out, std::int32_t count) {
  if (out == nullptr && count > 0) return {StatusCode::kInvalidArgument, "an output is null"};
  if (!aligned(out, alignof(float))) {
    return {StatusCode::kInvalidArgument, "an output is not aligned as floats are"};
  }
  return {};
}

// The frame of calls that take rows and give one output: use(view) does it.
template <typename Use>
adapvae_status with_rows(adapvae_model* model, const float* rows, std::int32_t count,
                         std::int32_t stride, bool features, const void* out, const Use& use) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  const Configuration& config = model->model.configuration();
  ConstMatrixView view;
  Status status = view_rows(rows, count, stride, features ? config.latent : config.inputs, &view);
  if (status.ok()) status = check_output(out, count);
  if (status.ok() && count > 0) status = use(view);
  return call.finish(status);
}

Status check_made(std::int32_t count, const float* rows, const float* features) {
  if (count < 0) return {StatusCode::kInvalidArgument, "the number of rows is negative"};
  if (rows == nullptr && features == nullptr) {
    return {StatusCode::kInvalidArgument, "give rows, features or both"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_output(rows, 0));
  return check_output(features, 0);
}

// A cluster that is asked for must have been there.
bool unknown(const adapvae_model* model, adapvae_id id) {
  return model->model.cluster_count() > 0 &&
         model->model.clusters().registry().resolve(id) == kNoId;
}

}  // namespace

adapvae_status adapvae_score(adapvae_model* model, const float* rows, int32_t count, int32_t stride,
                             adapvae_result* results) {
  return with_rows(model, rows, count, stride, false, results, [&](ConstMatrixView view) {
    return model->model.score(*model->backend, view, reinterpret_cast<RowResult*>(results));
  });
}

adapvae_status adapvae_probabilities(adapvae_model* model, const float* rows, int32_t count,
                                     int32_t stride, float* out) {
  return with_rows(model, rows, count, stride, false, out, [&](ConstMatrixView view) {
    const auto clusters = static_cast<std::int32_t>(model->model.cluster_count());
    return model->model.probabilities(*model->backend, view, view_output(out, count, clusters));
  });
}

adapvae_status adapvae_encode(adapvae_model* model, const float* rows, int32_t count,
                              int32_t stride, float* mean, float* variance) {
  return with_rows(model, rows, count, stride, false, mean, [&](ConstMatrixView view) -> Status {
    ADAPVAE_RETURN_IF_ERROR(check_output(variance, 0));
    const std::int32_t m = model->model.configuration().latent;
    return model->model.encode(*model->backend, view, view_output(mean, count, m),
                               view_output(variance, count, m));
  });
}

adapvae_status adapvae_decode(adapvae_model* model, const float* features, int32_t count,
                              int32_t stride, float* rows) {
  return with_rows(model, features, count, stride, true, rows, [&](ConstMatrixView view) {
    return model->model.decode(*model->backend, view,
                               view_output(rows, count, model->model.configuration().inputs));
  });
}

adapvae_status adapvae_reconstruct(adapvae_model* model, const float* rows, int32_t count,
                                   int32_t stride, float* out) {
  return with_rows(model, rows, count, stride, false, out, [&](ConstMatrixView view) {
    return model->model.reconstruct(*model->backend, view,
                                    view_output(out, count, model->model.configuration().inputs));
  });
}

adapvae_status adapvae_generate(adapvae_model* model, adapvae_id id, uint32_t seed, int32_t count,
                                float* rows, float* features, adapvae_id* ids) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  Status status = check_made(count, rows, features);
  if (status.ok()) status = check_output(ids, 0);
  if (!status.ok()) return call.finish(status);
  if (id != ADAPVAE_NO_ID && unknown(model, id)) {
    return call.fail(ADAPVAE_UNKNOWN_CLUSTER, kUnknownCluster);
  }
  const Configuration& config = model->model.configuration();
  return call.finish(model->model.generate(*model->backend, {.cluster = id, .seed = seed},
                                           view_output(features, count, config.latent),
                                           view_output(rows, count, config.inputs), ids));
}

adapvae_status adapvae_interpolate(adapvae_model* model, adapvae_id from, adapvae_id to,
                                   int32_t count, float* rows, float* features) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  const Status status = check_made(count, rows, features);
  if (!status.ok()) return call.finish(status);
  if (unknown(model, from) || unknown(model, to)) {
    return call.fail(ADAPVAE_UNKNOWN_CLUSTER, kUnknownCluster);
  }
  const Configuration& config = model->model.configuration();
  return call.finish(model->model.interpolate(*model->backend, from, to,
                                              view_output(features, count, config.latent),
                                              view_output(rows, count, config.inputs)));
}

adapvae_status adapvae_explain(adapvae_model* model, const float* row, int32_t format, char* text,
                               size_t capacity, size_t* needed) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (format != ADAPVAE_TEXT && format != ADAPVAE_JSON) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "format is ADAPVAE_TEXT or ADAPVAE_JSON");
  }
  ConstMatrixView view;
  Status status = view_rows(row, 1, 0, model->model.configuration().inputs, &view);
  RowReason reason;
  if (status.ok()) {
    status = model->model.explain(*model->backend, row, &reason, model->contribution,
                                  model->error_of_row);
  }
  if (!status.ok()) return call.finish(status);
  const ClusterTable& clusters = model->model.clusters().registry().clusters();
  const Index c = clusters.find(reason.result.id);
  const std::string_view name = c >= 0 ? clusters[c].name : "";
  return call.finish(put_text(text, capacity, needed, [&](TextWriter& writer) {
    if (format == ADAPVAE_JSON)
      write_reason_json(reason, name, writer);
    else
      write_reason(reason, name, writer);
  }));
}

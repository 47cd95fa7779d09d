// Streams, and how long they may take.
#include <cmath>

#include "adapvae/adapvae_experimental.h"
#include "base/bounds.h"
#include "handle.h"

using namespace adapvae;
using namespace adapvae::capi;

namespace {

bool go_on(void* context, const Progress& progress) {
  auto* handle = static_cast<adapvae_model*>(context);
  if (handle->stop.exchange(0) != 0) return false;
  return handle->progress == nullptr ||
         handle->progress(handle->progress_context, static_cast<int32_t>(progress.stage),
                          progress.fraction) != 0;
}

double seconds_now(void* context) {
  const adapvae_options& options = static_cast<const adapvae_model*>(context)->options;
  return options.clock != nullptr ? options.clock(options.clock_context) : system_seconds();
}

Status set_out(adapvae_model& handle) {
  handle.stop = 0;
  return handle.model.set_pacing({.go_on = go_on,
                                  .seconds = seconds_now,
                                  .context = &handle,
                                  .seconds_per_stream = handle.budget});
}

// The frame of learn, push and flush: learn(rows, time, &report, &streams) does it.
template <typename Learn>
adapvae_status with_rows(adapvae_model* model, const float* rows, std::int32_t count,
                         std::int32_t stride, adapvae_report* report, const Learn& learn) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (report != nullptr && !sized(report)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "report has no struct_size");
  }
  ConstMatrixView view;
  Status status = view_rows(rows, count, stride, model->model.configuration().inputs, &view);
  if (status.ok()) status = set_out(*model);
  if (!status.ok()) return call.finish(status);
  StreamReport made;
  Index streams = 0;
  const double time = model->time_set ? model->time : model->model.latest_time();
  status = learn(view, time, &made, &streams);
  if (status.ok()) {
    put_report(made, streams, report);
  } else if (streams > 0) {
    put_report({}, streams, report);  // push() learnt blocks before the one that failed
  }
  return call.finish(status);
}

}  // namespace

adapvae_status adapvae_learn(adapvae_model* model, const float* rows, int32_t count, int32_t stride,
                             adapvae_report* report) {
  return with_rows(model, rows, count, stride, report,
                   [model](ConstMatrixView view, double time, StreamReport* made, Index* streams) {
                     const Status status = model->model.learn(*model->backend, view, made, time);
                     *streams = status.ok() ? 1 : 0;
                     return status;
                   });
}

adapvae_status adapvae_push(adapvae_model* model, const float* rows, int32_t count, int32_t stride,
                            adapvae_report* report) {
  return with_rows(model, rows, count, stride, report,
                   [model](ConstMatrixView view, double time, StreamReport* made, Index* streams) {
                     return model->model.push(*model->backend, view, time, made, streams);
                   });
}

adapvae_status adapvae_flush(adapvae_model* model, adapvae_report* report) {
  return with_rows(model, nullptr, 0, 0, report,
                   [model](ConstMatrixView, double, StreamReport* made, Index* streams) {
                     const Index pending = model->model.rows_pending();
                     const Status status = model->model.flush(*model->backend, made);
                     *streams = status.ok() && pending > 0 ? 1 : 0;
                     return status;
                   });
}

adapvae_status adapvae_pretrain(adapvae_model* model, const float* rows, int32_t count,
                                int32_t stride) {
  return with_rows(model, rows, count, stride, nullptr,
                   [model](ConstMatrixView view, double, StreamReport*, Index*) {
                     return model->model.pretrain(*model->backend, view);
                   });
}

adapvae_status adapvae_set_time(adapvae_model* model, double time) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (!within(time, kLargestNumber) ||
      (model->model.has_time() && time < model->model.latest_time())) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT,
                     "time must be between -1e100 and 1e100 and not run backwards");
  }
  model->time = time;
  model->time_set = true;
  return ADAPVAE_OK;
}

adapvae_status adapvae_set_budget(adapvae_model* model, double seconds_per_stream) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (!(seconds_per_stream >= 0.0) || !std::isfinite(seconds_per_stream)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "a budget is 0 or a positive number of seconds");
  }
  if (seconds_per_stream > 0.0 && model->options.clock == nullptr && !has_system_clock()) {
    return call.fail(ADAPVAE_UNAVAILABLE, "there is no clock here: give one in adapvae_options");
  }
  model->budget = seconds_per_stream;
  return ADAPVAE_OK;
}

adapvae_status adapvae_set_progress(adapvae_model* model, adapvae_progress progress,
                                    void* context) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  model->progress = progress;
  model->progress_context = context;
  return ADAPVAE_OK;
}

void adapvae_stop(adapvae_model* model) {
  if (model != nullptr) model->stop = 1;
}

// Gains: one model, many machines.
#include "handle.h"

using namespace adapvae;
using namespace adapvae::capi;

static_assert(sizeof(adapvae_alias) == sizeof(GainAlias));
static_assert(offsetof(adapvae_alias, sequence) == offsetof(GainAlias, sequence));
static_assert(offsetof(adapvae_alias, local) == offsetof(GainAlias, local));
static_assert(offsetof(adapvae_alias, id) == offsetof(GainAlias, id));

namespace {

constexpr const char* kNoMemory = "bytes is null: give memory, or capacity 0 to ask for the size";

Status open_set(const void* bytes, std::size_t size, GainSet* set) {
  if (bytes == nullptr) return {StatusCode::kInvalidArgument, "the bytes of gains are null"};
  return set->open(static_cast<const std::byte*>(bytes), size);
}

}  // namespace

adapvae_status adapvae_gain(adapvae_model* model, const float* rows, int32_t count, int32_t stride,
                            const adapvae_gain_key* key, void* bytes, size_t capacity,
                            size_t* size) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (size == nullptr) return call.fail(ADAPVAE_INVALID_ARGUMENT, "size is null");
  if (bytes == nullptr && capacity > 0) return call.fail(ADAPVAE_INVALID_ARGUMENT, kNoMemory);
  if (bytes == nullptr) {
    *size = model->model.most_gain_bytes();
    return ADAPVAE_OK;
  }
  if ((key == nullptr && count > 0) || !aligned(key, alignof(adapvae_gain_key))) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "key is null, or not aligned as its struct is");
  }
  const adapvae_gain_key own = key != nullptr ? *key : adapvae_gain_key();
  ConstMatrixView view;
  Status status = view_rows(rows, count, stride, model->model.configuration().inputs, &view);
  if (status.ok()) {
    status = model->model.gain(*model->backend, view, own.worker, own.sequence,
                               static_cast<std::byte*>(bytes), capacity, size);
  }
  return call.finish(status);
}

adapvae_status adapvae_merge_gains(const void* a, size_t a_size, const void* b, size_t b_size,
                                   void* bytes, size_t capacity, size_t* size,
                                   adapvae_error* error) {
  if (size == nullptr) return fail(error, ADAPVAE_INVALID_ARGUMENT, "size is null");
  if (bytes == nullptr && capacity > 0) return fail(error, ADAPVAE_INVALID_ARGUMENT, kNoMemory);
  GainSet sets[2];
  Status status = open_set(a, a_size, &sets[0]);
  if (status.ok()) status = open_set(b, b_size, &sets[1]);
  if (!status.ok()) return finish(error, status, true);
  return finish(error,
                merge_gain_sets(sets[0], sets[1], static_cast<std::byte*>(bytes), capacity, size));
}

adapvae_status adapvae_inspect_gains(const void* bytes, size_t size, adapvae_gains* gains,
                                     adapvae_error* error) {
  if (gains == nullptr || !sized(gains)) {
    return fail(error, ADAPVAE_INVALID_ARGUMENT, "gains is null or has no struct_size");
  }
  GainSet set;
  const Status status = open_set(bytes, size, &set);
  if (!status.ok()) return finish(error, status, true);
  adapvae_gains value = {};
  value.gains = static_cast<int32_t>(set.gains());
  value.born = static_cast<int32_t>(set.born());
  value.clusters = static_cast<int32_t>(set.base().known);
  value.rows = set.rows();
  value.base_streams = set.base().sequence;
  value.base_mark = set.base().clusters;
  value.encoder_mark = set.base().encoder;
  put(gains, value);
  return finish(error, {});
}

adapvae_status adapvae_apply_gains(adapvae_model* model, const void* bytes, size_t size,
                                   adapvae_alias* aliases, int32_t capacity,
                                   adapvae_report* report) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (report != nullptr && !sized(report)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "report has no struct_size");
  }
  if (!aligned(aliases, alignof(adapvae_alias))) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "aliases is not aligned as its struct is");
  }
  GainSet set;
  const Status opened = open_set(bytes, size, &set);
  if (!opened.ok()) return call.finish(opened, true);
  if (aliases != nullptr && set.born() > capacity) {
    return call.fail(ADAPVAE_OUT_OF_MEMORY,
                     "more clusters were born than there is room for aliases: "
                     "adapvae_inspect_gains() says how many");
  }
  StreamReport made;
  const double time = model->time_set ? model->time : model->model.latest_time();
  const Status status =
      model->model.apply(*model->backend, set, time, reinterpret_cast<GainAlias*>(aliases), &made);
  if (status.ok()) put_report(made, set.gains() > 0 ? 1 : 0, report);
  return call.finish(status);
}

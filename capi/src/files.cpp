// Snapshots.
#include "handle.h"

using namespace adapvae;
using namespace adapvae::capi;

adapvae_status adapvae_save(const adapvae_model* model, void* bytes, size_t capacity,
                            size_t* size) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (size == nullptr) return call.fail(ADAPVAE_INVALID_ARGUMENT, "size is null");
  if (bytes == nullptr && capacity > 0) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT,
                     "bytes is null: give memory, or capacity 0 to ask for the size");
  }
  if (!learns(model->model.use())) {
    return call.fail(ADAPVAE_UNAVAILABLE, "this model was made to score only");
  }
  if (bytes == nullptr) {
    *size = model->model.snapshot_bytes();
    return ADAPVAE_OK;
  }
  const Status status = model->model.save(static_cast<std::byte*>(bytes), capacity, size);
  if (!status.ok()) *size = model->model.snapshot_bytes();
  return call.finish(status);
}

adapvae_status adapvae_load(adapvae_model* model, const void* bytes, size_t size) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (bytes == nullptr) return call.fail(ADAPVAE_INVALID_ARGUMENT, "bytes is null");
  const Status status = model->model.load(static_cast<const std::byte*>(bytes), size);
  if (status.ok()) model->time_set = false;
  return call.finish(status, true);
}

adapvae_status adapvae_inspect(const void* bytes, size_t size, adapvae_snapshot* snapshot,
                               adapvae_config* config, adapvae_error* error) {
  if (bytes == nullptr) return fail(error, ADAPVAE_INVALID_ARGUMENT, "bytes is null");
  if ((snapshot != nullptr && !sized(snapshot)) || (config != nullptr && !sized(config))) {
    return fail(error, ADAPVAE_INVALID_ARGUMENT, "snapshot or config has no struct_size");
  }
  SnapshotInfo info;
  const Status status = inspect_snapshot(static_cast<const std::byte*>(bytes), size, &info);
  if (!status.ok()) return finish(error, status, true);
  if (snapshot != nullptr) {
    adapvae_snapshot value = {};
    value.clusters = static_cast<int32_t>(std::min<std::uint64_t>(info.clusters, INT32_MAX));
    value.format = info.format;
    value.streams = info.streams;
    value.rows = info.rows;
    value.rows_waiting = info.rows_pending;
    value.events = info.events;
    value.time = info.time;
    static_assert(sizeof(value.version) == sizeof(info.version));
    std::memcpy(value.version, info.version, sizeof(value.version));
    put(snapshot, value);
  }
  if (config != nullptr) write_config(info.configuration, config);
  return finish(error, {});
}

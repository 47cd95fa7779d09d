// What is known of clusters, what the user corrects, and what happened to them.
#include "handle.h"

using namespace adapvae;
using namespace adapvae::capi;

namespace {

static_assert(ADAPVAE_NAME_BYTES == Cluster::kNameBytes);
static_assert(ADAPVAE_BORN == static_cast<int>(ModelEventKind::kBorn) &&
              ADAPVAE_NOT_BORN == static_cast<int>(ModelEventKind::kRefused) &&
              ADAPVAE_LABELLED == static_cast<int>(ModelEventKind::kNamed) &&
              ADAPVAE_LEARNT == static_cast<int>(ModelEventKind::kStreamClosed) &&
              ADAPVAE_WARNED + 1 == kModelEventKinds);
static_assert(ADAPVAE_REASON_BOUND == static_cast<int>(EventReason::kBoundWouldFall) &&
              ADAPVAE_REASON_ONE == static_cast<int>(EventReason::kNothingSeparated) &&
              ADAPVAE_REASON_STEP == static_cast<int>(EventReason::kStepSkipped) &&
              ADAPVAE_REASON_KNOWN == static_cast<int>(EventReason::kNothingNew) &&
              ADAPVAE_REASON_MISSING + 1 == kEventReasons);

// -1: there is none.
Index number_of(const adapvae_model& model, adapvae_id id) {
  if (model.model.cluster_count() == 0) return -1;
  const ClusterTable& clusters = model.model.clusters().registry().clusters();
  return clusters.find(clusters.resolve(id));
}

// Of number c.
void put_cluster(const adapvae_model& model, Index c, adapvae_cluster* to) {
  const ComponentRegistry& registry = model.model.clusters().registry();
  const Cluster& cluster = registry.clusters()[c];
  const Mixture& mixture = model.model.clusters().mixture();
  adapvae_cluster value = {};
  value.id = cluster.id;
  value.parent = cluster.parent;
  value.born_stream = cluster.born_stream;
  for (Index k = 0; k < registry.components(); ++k) {
    const ComponentInfo& info = registry.info(k);
    if (info.cluster != cluster.id) continue;
    ++value.components;
    value.seen_stream = std::max(value.seen_stream, info.seen_stream);
    value.rows += mixture.rows_of(k);
    value.weight += mixture.weight(k);
  }
  value.birth_rows = cluster.birth_rows;
  value.birth_gain = cluster.birth_gain;
  value.provisional = cluster.provisional != 0 ? 1 : 0;
  std::memcpy(value.name, cluster.name, sizeof(value.name));
  put(to, value);
}

// A move that the user asked for: made, or why not.
adapvae_status move_made(const Call& call, const Status& status, const MoveRecord& record,
                         double* gain) {
  if (!status.ok()) return call.finish(status);
  if (gain != nullptr) *gain = record.gain;
  switch (record.outcome) {
    case MoveOutcome::kAccepted:
      return ADAPVAE_OK;
    case MoveOutcome::kTooFewRows:
      return call.fail(ADAPVAE_REFUSED, "the cluster holds too few rows to be split");
    case MoveOutcome::kNoRoom:
      return call.fail(ADAPVAE_REFUSED, "max_clusters are there already");
    default:
      return call.fail(ADAPVAE_REFUSED, "the evidence bound would fall; force does it anyway");
  }
}

// The frame of corrections: correct() does it.
template <typename Correct>
adapvae_status corrected(adapvae_model* model, std::initializer_list<adapvae_id> ids,
                         const Correct& correct) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (!learns(model->model.use())) {
    return call.fail(ADAPVAE_UNAVAILABLE, "this model was made to score only");
  }
  for (const adapvae_id id : ids) {
    if (number_of(*model, id) < 0) return call.fail(ADAPVAE_UNKNOWN_CLUSTER, kUnknownCluster);
  }
  const Status room = model->model.check_room(0);
  return room.ok() ? correct(call) : call.finish(room);
}

}  // namespace

adapvae_status adapvae_get_info(const adapvae_model* model, adapvae_info* info) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (info == nullptr || !sized(info)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "info is null or has no struct_size");
  }
  const Model& core = model->model;
  adapvae_info value = {};
  value.clusters = static_cast<int32_t>(core.cluster_count());
  value.components =
      value.clusters > 0 ? static_cast<int32_t>(core.clusters().registry().components()) : 0;
  value.rows_waiting = static_cast<int32_t>(core.rows_pending());
  value.undo_steps = static_cast<int32_t>(core.clusters().undo_steps());
  value.streams = core.streams();
  value.rows = core.rows_learnt();
  value.ids_given = core.clusters().registry().clusters().ids().next() - 1;
  value.events = core.last_event();
  value.memory_bytes = model->bytes;
  value.snapshot_bytes = learns(core.use()) ? core.snapshot_bytes() : 0;
  value.time = core.latest_time();
  value.backend = model->backend->name();
  value.scores_only = learns(core.use()) ? 0 : 1;
  value.latent = core.configuration().latent;
  value.inputs = core.configuration().inputs;
  value.block_rows = core.configuration().block_rows;
  put(info, value);
  return ADAPVAE_OK;
}

adapvae_status adapvae_cluster_at(const adapvae_model* model, int32_t index,
                                  adapvae_cluster* cluster) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (cluster == nullptr || !sized(cluster)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "cluster is null or has no struct_size");
  }
  if (index < 0 || index >= model->model.cluster_count()) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "there are not so many clusters", index);
  }
  put_cluster(*model, index, cluster);
  return ADAPVAE_OK;
}

adapvae_status adapvae_cluster_of(const adapvae_model* model, adapvae_id id,
                                  adapvae_cluster* cluster) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (cluster == nullptr || !sized(cluster)) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "cluster is null or has no struct_size");
  }
  const Index k = number_of(*model, id);
  if (k < 0) return call.fail(ADAPVAE_UNKNOWN_CLUSTER, kUnknownCluster);
  put_cluster(*model, k, cluster);
  return ADAPVAE_OK;
}

adapvae_id adapvae_resolve(const adapvae_model* model, adapvae_id id) {
  const Call call(model);
  if (!call.entered()) return ADAPVAE_NO_ID;
  const Index k = number_of(*model, id);
  return k >= 0 ? model->model.clusters().registry().clusters()[k].id : ADAPVAE_NO_ID;
}

adapvae_status adapvae_moments(const adapvae_model* model, adapvae_id id, double* mean,
                               double* covariance) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  if (!aligned(mean, alignof(double)) || !aligned(covariance, alignof(double))) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "an output is not aligned as doubles are");
  }
  const Index k = number_of(*model, id);
  if (k < 0) return call.fail(ADAPVAE_UNKNOWN_CLUSTER, kUnknownCluster);
  model->model.moments(k, mean, covariance);
  return ADAPVAE_OK;
}

// ---- corrections --------------------------------------------------------------------------------

adapvae_status adapvae_label(adapvae_model* model, adapvae_id id, const char* name) {
  return corrected(model, {id}, [&](const Call& call) {
    if (name == nullptr) return call.fail(ADAPVAE_INVALID_ARGUMENT, "name is null");
    return call.finish(model->model.clusters().rename(id, name));
  });
}

adapvae_status adapvae_merge(adapvae_model* model, adapvae_id id, adapvae_id other, int32_t force,
                             double* gain) {
  return corrected(model, {id, other}, [&](const Call& call) {
    MoveRecord record;
    const Status status = model->model.clusters().merge(id, other, force != 0, record);
    return move_made(call, status, record, gain);
  });
}

adapvae_status adapvae_split(adapvae_model* model, adapvae_id id, int32_t force, adapvae_id* part,
                             double* gain) {
  return corrected(model, {id}, [&](const Call& call) {
    MoveRecord record;
    ClusterId fresh = ADAPVAE_NO_ID;
    const Status status = model->model.clusters().split(id, force != 0, record, &fresh);
    const adapvae_status made = move_made(call, status, record, gain);
    if (made == ADAPVAE_OK && part != nullptr) *part = fresh;
    return made;
  });
}

adapvae_status adapvae_forget(adapvae_model* model, adapvae_id id) {
  return corrected(model, {id}, [&](const Call& call) {
    return call.finish(model->model.clusters().forget(id));
  });
}

adapvae_status adapvae_undo(adapvae_model* model) {
  return corrected(model, {},
                   [&](const Call& call) { return call.finish(model->model.clusters().undo()); });
}

// ---- events -------------------------------------------------------------------------------------

adapvae_status adapvae_next_event(const adapvae_model* model, adapvae_event* event) {
  const Call call(model);
  if (!call.entered()) return call.refusal();
  constexpr std::uint32_t kSequenceEnd = offsetof(adapvae_event, sequence) + sizeof(std::uint64_t);
  if (event == nullptr || !sized(event) || event->struct_size < kSequenceEnd) {
    return call.fail(ADAPVAE_INVALID_ARGUMENT, "event is null or has no struct_size");
  }
  ModelEvent found;
  const EventRead read = model->model.read_events(event->sequence, &found, 1);
  if (read.count == 0) return ADAPVAE_NO_MORE;
  adapvae_event value = {};
  value.type = static_cast<int32_t>(found.kind);
  value.reason = static_cast<int32_t>(found.reason);
  value.missed = read.missed ? 1 : 0;
  value.sequence = found.sequence;
  value.stream = found.stream;
  value.id = found.id;
  value.other = found.other;
  value.gain = found.gain;
  value.rows = found.rows;
  value.clusters = static_cast<int32_t>(found.clusters);
  value.input = found.input;
  put(event, value);
  return ADAPVAE_OK;
}

adapvae_status adapvae_event_text(const adapvae_event* event, int32_t format, char* text,
                                  size_t capacity, size_t* needed) {
  if (event == nullptr || !sized(event)) return ADAPVAE_INVALID_ARGUMENT;
  if (format != ADAPVAE_TEXT && format != ADAPVAE_JSON) return ADAPVAE_INVALID_ARGUMENT;
  adapvae_event given = {};
  given.input = -1;
  std::memcpy(&given, event, std::min<std::size_t>(event->struct_size, sizeof(given)));
  if (given.type < 0 || given.type >= kModelEventKinds || given.reason < 0 ||
      given.reason >= kEventReasons) {
    return ADAPVAE_INVALID_ARGUMENT;
  }
  const ModelEvent core = {.sequence = given.sequence,
                           .kind = static_cast<ModelEventKind>(given.type),
                           .reason = static_cast<EventReason>(given.reason),
                           .stream = given.stream,
                           .id = given.id,
                           .other = given.other,
                           .gain = given.gain,
                           .rows = given.rows,
                           .clusters = static_cast<std::uint64_t>(given.clusters),
                           .input = given.input};
  return code_of(put_text(text, capacity, needed, [&](TextWriter& writer) {
    if (format == ADAPVAE_JSON)
      write_event_json(core, writer);
    else
      write_event(core, writer);
  }));
}

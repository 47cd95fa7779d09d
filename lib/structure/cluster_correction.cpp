// ClusterLearner: the user's corrections, undo, and persistent state.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bounds.h"
#include "base/utf8.h"
#include "structure/cluster_learner.h"

namespace adapvae {

// ---- corrections --------------------------------------------------------------------------------

Status ClusterLearner::check_correction(ClusterId* id) const {
  if (mixture_.stream_open()) {
    return {StatusCode::kInvalidArgument, "a stream is open: close it first"};
  }
  *id = registry_.clusters().resolve(*id);
  if (*id == kNoId) return {StatusCode::kInvalidArgument, "no cluster has this id"};
  return check_room(0);
}

// The state that was kept, for undo(): the oldest is let go when all places are taken.
void ClusterLearner::remember() {
  if (config_.undo_steps == 0) return;
  if (undo_count_ == config_.undo_steps) {
    std::memmove(undo_, undo_ + state_bytes_,
                 state_bytes_ * static_cast<std::size_t>(undo_count_ - 1));
    std::copy(undo_size_ + 1, undo_size_ + undo_count_, undo_size_);
    --undo_count_;
  }
  std::memcpy(undo_ + state_bytes_ * static_cast<std::size_t>(undo_count_), spare_, kept_.size);
  undo_size_[undo_count_++] = kept_.size;
}

// Of a correction that the mixture has made: it stays if what it came to can be saved and loaded.
Status ClusterLearner::accept_correction() {
  if (!sound()) {
    restore_state();
    return {StatusCode::kDiverged,
            "the correction would leave the range of numbers: forget the "
            "cluster, or learn more rows first"};
  }
  remember();
  return {};
}

Status ClusterLearner::undo() {
  if (mixture_.stream_open()) {
    return {StatusCode::kInvalidArgument, "a stream is open: close it first"};
  }
  if (undo_count_ == 0) {
    return {StatusCode::kInvalidArgument, "nothing to undo since the last stream"};
  }
  --undo_count_;
  ByteReader reader(undo_ + state_bytes_ * static_cast<std::size_t>(undo_count_),
                    undo_size_[undo_count_]);
  ADAPVAE_RETURN_IF_ERROR(read_state(reader));
  tell({.kind = ClusterEventKind::kUndone, .stream = stream_});
  return {};
}

// What the user speaks of is announced.
void ClusterLearner::announce(ClusterId cluster) {
  registry_.clusters()[registry_.clusters().find(cluster)].provisional = 0;
  for (Index k = 0; k < registry_.components(); ++k) {
    if (registry_.info(k).cluster == cluster) registry_.info(k).provisional = 0;
  }
}

Status ClusterLearner::rename(ClusterId id, const char* name) {
  ADAPVAE_RETURN_IF_ERROR(check_correction(&id));
  const std::size_t length = std::strlen(name);
  if (length >= static_cast<std::size_t>(Cluster::kNameBytes)) {
    return {StatusCode::kInvalidArgument, "a name has at most 31 bytes"};
  }
  if (!is_utf8({name, length})) return {StatusCode::kInvalidArgument, "a name must be UTF-8"};
  keep_state();
  remember();
  announce(id);
  char* to = registry_.clusters()[registry_.clusters().find(id)].name;
  std::fill_n(to, Cluster::kNameBytes, '\0');
  std::copy_n(name, length, to);
  double rows = 0.0;
  for (Index k = 0; k < registry_.components(); ++k) {
    if (registry_.info(k).cluster == id) rows += mixture_.rows_of(k);
  }
  tell({.kind = ClusterEventKind::kNamed, .stream = stream_, .id = id, .rows = rows});
  return {};
}

// Of the components of two clusters, those that may best become one.
MoveRecord ClusterLearner::best_merge(ClusterId id, ClusterId other) {
  MoveRecord best;
  best.kind = MoveKind::kMerge;
  best.gain = -1e300;
  for (Index a = 0; a < registry_.components(); ++a) {
    if (registry_.info(a).cluster != id) continue;
    for (Index b = 0; b < registry_.components(); ++b) {
      if (registry_.info(b).cluster != other) continue;
      const double gain = merge_.gain(mixture_, a, b);
      if (!(gain > best.gain)) continue;
      best.gain = gain;
      best.cluster = a;
      best.other = b;
    }
  }
  return best;
}

Status ClusterLearner::merge(ClusterId id, ClusterId other, bool force, MoveRecord& record) {
  ADAPVAE_RETURN_IF_ERROR(check_correction(&id));
  ADAPVAE_RETURN_IF_ERROR(check_correction(&other));
  if (id == other) return {StatusCode::kInvalidArgument, "the two ids are one cluster"};
  record = best_merge(id, other);
  record.rows = 0.0;
  for (Index k = 0; k < registry_.components(); ++k) {
    if (registry_.info(k).cluster == other) record.rows += mixture_.rows_of(k);
  }
  const bool rises = record.gain > 0.0;
  if (!force && !rises) return {};
  const bool single = registry_.components_of(id) == 1 && registry_.components_of(other) == 1;
  keep_state();
  if (rises) mixture_.merge_clusters(record.cluster, record.other);
  ADAPVAE_RETURN_IF_ERROR(accept_correction());
  record.outcome = MoveOutcome::kAccepted;
  announce(id);
  if (rises) note_merge(record, ClusterEventKind::kMerged);
  if (registry_.clusters().find(other) >= 0) {
    registry_.join(id, other);
    tell({.kind = ClusterEventKind::kMerged,
          .stream = stream_,
          .id = id,
          .other = other,
          .gain = record.gain,
          .rows = record.rows});
  }
  for (Index k = 0; k < registry_.components() && !(rises && single); ++k) {
    if (registry_.info(k).cluster == id) registry_.info(k).kept_whole = 1;
  }
  announce(id);
  return {};
}

// Halves of what component k holds, in scratch memory.
bool ClusterLearner::halves_of(Index k, StatisticsRef half[2]) {
  const ClusterShape& shape = config_.shape;
  const StatisticsRef whole = mixture_.carried()[k];
  double* place = scratch_ + 2;
  for (int h = 0; h < 2; ++h) {
    half[h] = {scratch_ + h, place, place + shape.dims};
    place += shape.dims + shape.scatter_size();
  }
  return (candidates_.exists(k) &&
          divide_statistics(shape, whole, candidates_.half(k, 0), candidates_.half(k, 1), half[0],
                            half[1], place)) ||
         bisect_statistics(shape, whole, half[0], half[1], place);
}

// record.other becomes the new component, of a cluster of its own.
Status ClusterLearner::split_component(Index k, bool force, MoveRecord& record) {
  record.cluster = k;
  record.count = 1;
  record.past_divided = true;
  record.rows = mixture_.rows_of(k);
  if (mixture_.clusters() == config_.max_clusters) {
    record.outcome = MoveOutcome::kNoRoom;
    return {};
  }
  StatisticsRef half[2];
  if (!halves_of(k, half) || record.rows < 2.0) {
    record.outcome = MoveOutcome::kTooFewRows;
    return {};
  }
  record.gain = merge_.split_gain(mixture_, k, half[0], half[1]);
  if (!force && !(record.gain > 0.0)) return {};
  const double part = *half[1].mass / (*half[0].mass + *half[1].mass);
  keep_state();
  record.other = mixture_.add_cluster();
  mixture_.divide_past(k, record.other, part, half[0], half[1]);
  mixture_.global_step();
  ADAPVAE_RETURN_IF_ERROR(accept_correction());
  record.outcome = MoveOutcome::kAccepted;
  note_birth(record);
  registry_.publish(record.other);
  registry_.found_cluster(record.other);
  return {};
}

Status ClusterLearner::split(ClusterId id, bool force, MoveRecord& record, ClusterId* part) {
  ADAPVAE_RETURN_IF_ERROR(check_correction(&id));
  record = MoveRecord{};
  const auto is_of = [this](Index k, ClusterId cluster) {
    return registry_.info(k).cluster == cluster;
  };
  Index first = 0;
  while (!is_of(first, id)) ++first;
  if (registry_.components_of(id) == 1) {
    ADAPVAE_RETURN_IF_ERROR(split_component(first, force, record));
    if (record.outcome != MoveOutcome::kAccepted) return {};
  } else {
    // That they are one cluster is what the evidence says.
    if (!force) return {};
    keep_state();
    remember();
    grouping_.halve(mixture_, registry_, id, group_);
    Index founder = first + 1;
    while (!is_of(founder, id) || group_[founder] == group_[first]) ++founder;
    registry_.info(founder).parent = id;
    registry_.info(founder).born_stream = stream_;
    const ClusterId founded = registry_.found_cluster(founder);
    for (Index k = 0; k < registry_.components(); ++k) {
      if (is_of(k, id) && group_[k] != group_[first]) registry_.info(k).cluster = founded;
    }
    record.outcome = MoveOutcome::kAccepted;
    record.cluster = first;
    record.other = founder;
  }
  const ClusterId fresh = registry_.info(record.other).cluster;
  if (part != nullptr) *part = fresh;
  announce(id);
  announce(fresh);
  // A part that is cut again stays apart from all others.
  std::uint64_t mark = registry_.info(first).kept_apart;
  if (mark == 0) mark = fresh;
  record.rows = 0.0;
  for (Index k = 0; k < registry_.components(); ++k) {
    if (!is_of(k, id) && !is_of(k, fresh)) continue;
    if (is_of(k, fresh)) record.rows += mixture_.rows_of(k);
    registry_.info(k).kept_whole = 0;
    if (!(record.gain > 0.0)) registry_.info(k).kept_apart = mark;
  }
  tell({.kind = ClusterEventKind::kSplit,
        .stream = stream_,
        .id = id,
        .other = fresh,
        .gain = record.gain,
        .rows = record.rows});
  return {};
}

void ClusterLearner::forget_component(Index k) {
  if (mixture_.clusters() == 1) {
    // There is always a component: a new one, empty, takes its place.
    mixture_.forget_rows(k);
    registry_.replace_by_new(k, stream_);
    candidates_.clear(k);
    return;
  }
  const Index last = mixture_.clusters() - 1;
  mixture_.remove_cluster(k);
  registry_.remove(k);
  candidates_.move(last, k);
}

Status ClusterLearner::forget(ClusterId id) {
  ADAPVAE_RETURN_IF_ERROR(check_correction(&id));
  keep_state();
  remember();
  ClusterEvent event = {.kind = ClusterEventKind::kForgotten, .stream = stream_, .id = id};
  for (Index k = mixture_.clusters() - 1; k >= 0; --k) {
    if (registry_.info(k).cluster != id) continue;
    event.rows += mixture_.rows_of(k);
    forget_component(k);
  }
  tell(event);
  return {};
}

// ---- persistent state ---------------------------------------------------------------------------

std::size_t ClusterLearner::most_bytes(const LearnerConfig& config) {
  const MixtureConfig mixture = {.shape = config.shape, .max_clusters = config.max_clusters};
  constexpr std::size_t kOwn = 8 + 8 + 4;
  return kOwn + Mixture::most_bytes(mixture) + CandidateDivisions::most_bytes(mixture) +
         ComponentRegistry::most_bytes(config.max_clusters, config.aliases) +
         PendingPool::most_bytes(config.shape.dims, config.pending_rows) +
         NoveltyScale::most_bytes();
}

void ClusterLearner::save(ByteWriter& writer) const {
  mixture_.save(writer);
  registry_.save(writer);
  candidates_.save(writer, mixture_.clusters());
  pending_.save(writer);
  novelty_.save(writer);
  writer.write_u64(stream_);
  writer.write_f64(time_);
  writer.write_u32(prior_set_ ? 1 : 0);
}

Status ClusterLearner::read_state(ByteReader& reader) {
  met_rows_ = 0;
  ADAPVAE_RETURN_IF_ERROR(mixture_.load(reader));
  ADAPVAE_RETURN_IF_ERROR(registry_.load(reader, mixture_.clusters()));
  ADAPVAE_RETURN_IF_ERROR(candidates_.load(reader, mixture_.clusters()));
  ADAPVAE_RETURN_IF_ERROR(pending_.load(reader));
  ADAPVAE_RETURN_IF_ERROR(novelty_.load(reader));
  stream_ = reader.read_u64();
  time_ = reader.read_f64();
  prior_set_ = reader.read_u32() != 0;
  if (!reader.ok() || stream_ > kMostBlocks || !within(time_, kLargestNumber)) {
    return {StatusCode::kCorruptData, "state of clusters does not parse"};
  }
  return {};
}

Status ClusterLearner::check_room(std::uint64_t rows) const {
  // More than a block or a correction can ask for.
  constexpr std::uint64_t kIdReserve = std::uint64_t{1} << 20;
  if (mixture_.rows_learnt() + static_cast<double>(rows) > static_cast<double>(kMostRows) ||
      stream_ >= kMostBlocks || registry_.most_given() + kIdReserve > kMostIds) {
    return {StatusCode::kUnavailable,
            "the model cannot count more rows, blocks or ids: create a new one"};
  }
  return {};
}

bool ClusterLearner::sound() const {
  return mixture_.sound() && candidates_.sound(mixture_.clusters()) && registry_.sound() &&
         pending_.sound() && novelty_.sound();
}

Status ClusterLearner::load(ByteReader& reader, const StateCheck& check) {
  if (mixture_.stream_open()) {
    return {StatusCode::kInvalidArgument, "a stream is open: close it first"};
  }
  // The present state is kept where undo() never looks.
  ByteWriter writer(spare_, state_bytes_);
  save(writer);
  Status status = read_state(reader);
  if (status.ok() && reader.remaining() != 0) {
    status = {StatusCode::kCorruptData, "state of clusters: more bytes than it has"};
  }
  if (status.ok() && check.accept != nullptr && !check.accept(check.context, *this)) {
    status = {StatusCode::kCorruptData, "state of clusters does not fit the rest"};
  }
  if (status.ok()) {
    undo_count_ = 0;
    registry_.take_back({});  // ids of what was here before are not the file's
    return {};
  }
  ByteReader back(spare_, writer.position());
  const Status restored = read_state(back);
  return restored.ok() ? status : restored;
}

void ClusterLearner::keep_state() {
  ByteWriter writer(spare_, state_bytes_);
  save(writer);
  kept_ = {writer.position(), undo_count_, registry_.given()};
}

void ClusterLearner::restore_state() {
  mixture_.abandon_stream();
  ByteReader reader(spare_, kept_.size);
  (void)read_state(reader);  // what save() wrote is sound
  undo_count_ = kept_.undo_count;
  registry_.take_back(kept_.given);
}

}  // namespace adapvae

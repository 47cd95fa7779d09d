// ClusterLearner: the user's corrections, undo, and persistent state.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bounds.h"
#include "base/utf8.h"
#include "structure/cluster_learner.h"

namespace adapvae {

// ---- corrections --------------------------------------------------------------------------------

Status ClusterLearner::check_correction(ClusterId id, Index& cluster) const {
  if (mixture_.stream_open()) {
    return {StatusCode::kInvalidArgument, "a stream is open: close it first"};
  }
  cluster = registry_.find(registry_.resolve(id));
  if (cluster < 0) return {StatusCode::kInvalidArgument, "no cluster has this id"};
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

Status ClusterLearner::rename(ClusterId id, const char* name) {
  Index k = 0;
  ADAPVAE_RETURN_IF_ERROR(check_correction(id, k));
  const std::size_t length = std::strlen(name);
  if (length >= static_cast<std::size_t>(ClusterInfo::kNameBytes)) {
    return {StatusCode::kInvalidArgument, "a name has at most 31 bytes"};
  }
  if (!is_utf8({name, length})) return {StatusCode::kInvalidArgument, "a name must be UTF-8"};
  keep_state();
  remember();
  registry_.info(k).provisional = 0;  // what the user speaks of is announced
  char* to = registry_.info(k).name;
  std::fill_n(to, ClusterInfo::kNameBytes, '\0');
  std::copy_n(name, length, to);
  tell({.kind = ClusterEventKind::kNamed,
        .stream = stream_,
        .id = registry_.info(k).id,
        .rows = mixture_.rows_of(k)});
  return {};
}

Status ClusterLearner::merge(ClusterId id, ClusterId other, bool force, MoveRecord& record) {
  Index a = 0;
  Index b = 0;
  ADAPVAE_RETURN_IF_ERROR(check_correction(id, a));
  ADAPVAE_RETURN_IF_ERROR(check_correction(other, b));
  if (a == b) return {StatusCode::kInvalidArgument, "the two ids are one cluster"};
  record = MoveRecord{};
  record.kind = MoveKind::kMerge;
  record.cluster = a;
  record.other = b;
  record.rows = mixture_.rows_of(b);
  record.gain = merge_.gain(mixture_, a, b);
  if (!force && !(record.gain > 0.0)) return {};
  keep_state();
  mixture_.merge_clusters(a, b);
  ADAPVAE_RETURN_IF_ERROR(accept_correction());
  record.outcome = MoveOutcome::kAccepted;
  registry_.info(a).provisional = 0;
  if (!(record.gain > 0.0)) registry_.info(a).kept_whole = 1;
  note_merge(record, ClusterEventKind::kMerged);
  return {};
}

Status ClusterLearner::split(ClusterId id, bool force, MoveRecord& record) {
  Index k = 0;
  ADAPVAE_RETURN_IF_ERROR(check_correction(id, k));
  record = MoveRecord{};
  record.cluster = k;
  record.count = 1;
  record.past_divided = true;
  record.rows = mixture_.rows_of(k);
  if (mixture_.clusters() == config_.max_clusters) {
    record.outcome = MoveOutcome::kNoRoom;
    return {};
  }
  const ClusterShape& shape = config_.shape;
  const StatisticsRef whole = mixture_.carried()[k];
  double masses[2] = {0.0, 0.0};
  double* place = scratch_;
  StatisticsRef half[2];
  for (int h = 0; h < 2; ++h) {
    half[h] = {masses + h, place, place + shape.dims};
    place += shape.dims + shape.scatter_size();
  }
  const bool parted = (candidates_.exists(k) &&
                       divide_statistics(shape, whole, candidates_.half(k, 0),
                                         candidates_.half(k, 1), half[0], half[1], place)) ||
                      bisect_statistics(shape, whole, half[0], half[1], place);
  if (!parted || record.rows < 2.0) {
    record.outcome = MoveOutcome::kTooFewRows;
    return {};
  }
  record.gain = merge_.split_gain(mixture_, k, half[0], half[1]);
  if (!force && !(record.gain > 0.0)) return {};
  keep_state();
  record.other = mixture_.add_cluster();
  mixture_.divide_past(k, record.other, masses[1] / (masses[0] + masses[1]), half[0], half[1]);
  mixture_.global_step();
  ADAPVAE_RETURN_IF_ERROR(accept_correction());
  record.outcome = MoveOutcome::kAccepted;
  note_birth(record);
  registry_.publish(record.other);
  registry_.info(k).provisional = 0;
  registry_.info(k).kept_whole = 0;
  if (!(record.gain > 0.0)) {
    // A piece that is cut again stays apart from all of its kind.
    std::uint64_t& mark = registry_.info(k).kept_apart;
    if (mark == 0) mark = registry_.info(record.other).id;
    registry_.info(record.other).kept_apart = mark;
  }
  tell({.kind = ClusterEventKind::kSplit,
        .stream = stream_,
        .id = registry_.info(k).id,
        .other = registry_.info(record.other).id,
        .gain = record.gain,
        .rows = record.rows,
        .past_divided = true});
  return {};
}

Status ClusterLearner::forget(ClusterId id) {
  Index k = 0;
  ADAPVAE_RETURN_IF_ERROR(check_correction(id, k));
  keep_state();
  remember();
  const ClusterEvent event = {.kind = ClusterEventKind::kForgotten,
                              .stream = stream_,
                              .id = registry_.info(k).id,
                              .rows = mixture_.rows_of(k)};
  if (mixture_.clusters() == 1) {
    // There is always a cluster: a new one, empty, takes its place.
    mixture_.forget_rows(k);
    registry_.replace_by_new(k, stream_);
    candidates_.clear(k);
  } else {
    const Index last = mixture_.clusters() - 1;
    mixture_.remove_cluster(k);
    registry_.remove(k);
    candidates_.move(last, k);
  }
  tell(event);
  return {};
}

// ---- persistent state ---------------------------------------------------------------------------

std::size_t ClusterLearner::most_bytes(const LearnerConfig& config) {
  const MixtureConfig mixture = {.shape = config.shape, .max_clusters = config.max_clusters};
  constexpr std::size_t kOwn = 8 + 8 + 4;
  return kOwn + Mixture::most_bytes(mixture) + CandidateDivisions::most_bytes(mixture) +
         ClusterRegistry::most_bytes(config.max_clusters, config.aliases) +
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
      stream_ >= kMostBlocks || registry_.ids_given() + kIdReserve > kMostIds) {
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
    registry_.take_back(kNoId);  // ids of what was here before are not the file's
    return {};
  }
  ByteReader back(spare_, writer.position());
  const Status restored = read_state(back);
  return restored.ok() ? status : restored;
}

void ClusterLearner::keep_state() {
  ByteWriter writer(spare_, state_bytes_);
  save(writer);
  kept_ = {writer.position(), undo_count_, registry_.highest_given()};
}

void ClusterLearner::restore_state() {
  mixture_.abandon_stream();
  ByteReader reader(spare_, kept_.size);
  (void)read_state(reader);  // what save() wrote is sound
  undo_count_ = kept_.undo_count;
  registry_.take_back(kept_.highest_given);
}

}  // namespace adapvae

// ClusterLearner: gains, made of rows beside a base that stands still, and added to it.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bounds.h"
#include "base/crc64.h"
#include "structure/cluster_learner.h"

namespace adapvae {
namespace {

constexpr double kAnySurprise = -1e300;

GainBirth read_birth(ByteReader& reader) {
  GainBirth birth;
  birth.parent = reader.read_u32();
  birth.gain = reader.read_f64();
  return birth;
}

// Where the births of a table are: behind its clusters.
ByteReader births_of(const std::byte* table, std::size_t bytes, Index born) {
  const std::size_t size = static_cast<std::size_t>(born) * GainBirth::kBytes;
  return {table + (bytes - size), size};
}

}  // namespace

std::uint64_t ClusterLearner::base_mark() const {
  ByteWriter writer(spare_, state_bytes_);
  mixture_.save(writer);
  for (Index k = 0; k < registry_.components(); ++k) writer.write_u64(registry_.info(k).id);
  return crc64(spare_, writer.position());
}

std::uint64_t ClusterLearner::most_gain_bytes(const LearnerConfig& config) {
  const auto clusters = static_cast<std::uint64_t>(config.max_clusters);
  return Mixture::table_bytes(config.shape, clusters) + clusters * GainBirth::kBytes;
}

// ---- making -------------------------------------------------------------------------------------

void ClusterLearner::begin_gain(GainTable& table) const {
  const auto clusters = static_cast<std::uint64_t>(mixture_.clusters());
  table.size = static_cast<std::size_t>(Mixture::table_bytes(config_.shape, clusters));
  table.born = 0;
  std::fill_n(table.bytes, table.size, std::byte{0});
}

Status ClusterLearner::gain_known(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                                  GainTable& table) {
  const Status status = mixture_.carry_rows_alone(backend, z, variance);
  if (status.ok()) {
    // Those born so far lie behind the base's clusters, and stay as they are.
    const Index known = mixture_.clusters();
    ByteReader reader(table.bytes, table.size);
    for (Index k = 0; k < known; ++k) (void)mixture_.add_from_table(reader, k, known, k, 1.0);
    ByteWriter writer(table.bytes, table.capacity);
    mixture_.write_table(writer);
  }
  restore_state();
  return status;
}

Status ClusterLearner::gain_novel(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                                  GainTable& table) {
  const EventSink sink = std::exchange(sink_, {});
  const Index known = mixture_.clusters();
  const double weight = weight_of_row(static_cast<double>(z.rows));
  meet(backend, z, variance);
  ++stream_;
  take_table(table, weight);
  own_rows_ = given_rows_ = z.rows;
  reconsider();
  birth_.set_arrivals(met_novel_);
  Status status = mixture_.begin_stream(z, variance, weight, 1);
  if (status.ok()) {
    // All of them were novel, even where it does not show in their features.
    if (settings_.unexplained_births) births_beyond(backend, kAnySurprise);
    settle(backend, settings_.laps);
    fit_rounds(backend, {});
    status = backend.status();
  }
  birth_.set_arrivals(nullptr);
  const Index clusters = mixture_.clusters();
  if (status.ok() && clusters > known) {
    mixture_.carry_stream_alone();
    ByteReader reader(table.bytes, table.size);
    for (Index k = 0; k < known + table.born; ++k) {
      (void)mixture_.add_from_table(reader, k, known, k, 1.0);
    }
    ByteWriter writer(table.bytes, table.capacity);
    mixture_.write_table(writer);
    for (Index k = known; k < clusters; ++k) {
      writer.write_u32(registry_.info(k).parent);
      writer.write_f64(registry_.info(k).birth_gain);
    }
    table.size = writer.position();
    table.born = clusters - known;
  }
  restore_state();
  sink_ = sink;
  if (!status.ok() || clusters > known) return status;
  return gain_known(backend, z, variance, table);
}

void ClusterLearner::add_newborn(const GainBirth& birth, double rows) {
  const Index k = mixture_.clusters() - 1;
  registry_.add(birth.parent, stream_, birth.gain, rows);
  candidates_.clear(k);
  refused_rows_[k] = -1.0;
  trial_[k] = {};
}

// The rows before these are a part of the past, and what was born of them has a past of its own.
void ClusterLearner::take_table(const GainTable& table, double weight) {
  const Index known = mixture_.clusters();
  ByteReader births = births_of(table.bytes, table.size, table.born);
  ByteReader reader(table.bytes, table.size);
  for (Index k = 0; k < known; ++k) (void)mixture_.add_from_table(reader, k, known, k, weight);
  for (Index b = 0; b < table.born; ++b) {
    const Index k = mixture_.add_cluster();
    const RowCount rows = mixture_.add_from_table(reader, k, known, k, weight);
    add_newborn(read_birth(births), rows.value());
  }
  mixture_.global_step();
}

// ---- adding -------------------------------------------------------------------------------------

bool ClusterLearner::check_gain(const GainView& gain) {
  const Index known = mixture_.clusters();
  if (gain.born < 0 || gain.born > config_.max_clusters - known) return false;
  ByteReader reader(gain.table, gain.bytes);
  RowCount rows;
  if (!mixture_.check_table(reader, known + gain.born, &rows) || rows.units != 0 ||
      static_cast<std::uint64_t>(rows.whole) != gain.rows) {
    return false;
  }
  for (Index b = 0; b < gain.born; ++b) {
    const GainBirth birth = read_birth(reader);
    if (!within(birth.gain, kLargestNumber) || birth.parent >= registry_.clusters().ids().next())
      return false;
  }
  return reader.ok() && reader.remaining() == 0;
}

// Rows count as they would in full streams, one after the other.
void ClusterLearner::begin_gains(double rows, double time, GainAlias* aliases) {
  aliases_ = aliases;
  alias_count_ = 0;
  known_ = mixture_.clusters();
  gain_weight_ = weight_of_row(std::min(rows, static_cast<double>(config_.max_rows)));
  open_stream(rows, time);
}

void ClusterLearner::add_known(const GainView& gain) {
  ByteReader reader(gain.table, gain.bytes);
  for (Index k = 0; k < known_; ++k) {
    const RowCount rows = mixture_.add_from_table(reader, k, known_, k, gain_weight_);
    if (rows.value() >= 0.5) registry_.info(k).seen_stream = stream_;
  }
}

void ClusterLearner::add_newborns(const GainView& gain) {
  if (gain.born == 0) return;
  mixture_.global_step();
  if (mixture_.clusters() + gain.born > config_.max_clusters) match_newborns();
  ByteReader births = births_of(gain.table, gain.bytes, gain.born);
  ByteReader reader(gain.table, gain.bytes);
  (void)reader.view(static_cast<std::size_t>(
      Mixture::table_bytes(config_.shape, static_cast<std::uint64_t>(known_))));
  for (Index b = 0; b < gain.born; ++b) {
    const GainBirth birth = read_birth(births);
    const bool room = mixture_.clusters() < config_.max_clusters;
    if (!room) mixture_.global_step();
    const Index k = room ? mixture_.add_cluster() : fits_best(reader);
    const RowCount rows =
        mixture_.add_from_table(reader, known_ + b, known_, k, gain_weight_, !room);
    if (room) add_newborn(birth, rows.value());
    if (aliases_ != nullptr) aliases_[alias_count_++].id = static_cast<ClusterId>(k);
  }
}

// The cluster under which the mean of a table's next cluster is most probable.
Index ClusterLearner::fits_best(ByteReader entry) const {
  const Index m = config_.shape.dims;
  (void)entry.view(12 + 8);  // rows and mass
  for (Index i = 0; i < m; ++i) scratch_[i] = entry.read_f64();
  Index best = 0;
  double most = -1e300;
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    const double density =
        std::log(mixture_.weight(k)) +
        log_predictive(config_.shape, mixture_.posterior(k), scratch_, scratch_ + m);
    if (density > most) {
      most = density;
      best = k;
    }
  }
  return best;
}

// Numbers of the base's clusters stay as they are: only newborns go.
bool ClusterLearner::both_newborn(const void* learner, Index a, Index b) {
  const auto& self = *static_cast<const ClusterLearner*>(learner);
  return a >= self.known_ && b >= self.known_;
}

void ClusterLearner::match_newborns() {
  while (true) {
    const MoveRecord record = merge_.merge_best(mixture_, 0.0, both_newborn, this);
    if (record.outcome != MoveOutcome::kAccepted) return;
    note_merge(record, ClusterEventKind::kMerged);
  }
}

void ClusterLearner::renumber_aliases(Index survivor, Index lost, Index last) {
  for (Index i = 0; i < alias_count_; ++i) {
    auto number = static_cast<Index>(aliases_[i].id);
    if (number == lost) number = survivor;
    if (number == last) number = lost;
    aliases_[i].id = static_cast<ClusterId>(number);
  }
}

void ClusterLearner::close_gains() {
  mixture_.global_step();
  merges();
  drop_weak_clusters();
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    if (registry_.info(k).id == kNoId) publish(k);
  }
  follow_components();
  for (Index i = 0; i < alias_count_; ++i) {
    aliases_[i].id = registry_.info(static_cast<Index>(aliases_[i].id)).cluster;
  }
  aliases_ = nullptr;
  alias_count_ = 0;
  if (settings_.prior.mode >= PriorMode::kEmpirical) {
    set_pooled_prior(mixture_, settings_.prior, scratch_);
  }
}

}  // namespace adapvae

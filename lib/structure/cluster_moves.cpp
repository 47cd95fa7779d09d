// ClusterLearner: births, divisions and merges, with everything that goes by number kept in step.
#include <algorithm>
#include <cmath>

#include "base/special_functions.h"
#include "structure/cluster_learner.h"

namespace adapvae {
namespace {

// Sizes of a birth, in the order they are tried.
constexpr Index kBirthSizes[] = {10, 4, 3, 2, 1};
constexpr Index kUnexplainedSizes[] = {3, 1};
constexpr double kEmptyRows = 0.01;
// A candidate division whose halves do not lie apart by then is given up.
constexpr double kTrialRows = 50.0;
// Standard deviations that a half reaches from its mean: halves of one Gaussian lie 1.3 times as
// far apart as the sum of their standard deviations, of a uniform distribution 1.7 times.
constexpr double kReach = 2.0;

}  // namespace

// ---- births -------------------------------------------------------------------------------------

Philox ClusterLearner::proposal_random(std::uint32_t round, std::uint32_t index) const {
  return Philox({.seed = settings_.seed,
                 .purpose = RandomPurpose::kProposal,
                 .stream = static_cast<std::uint32_t>(stream_),
                 .epoch = round,
                 .index = index});
}

// A cluster that took in another lately is not parted again, unless it has grown; one that the user
// wants whole is not parted at all.
bool ClusterLearner::rests(Index target) const {
  const ComponentInfo& info = registry_.info(target);
  if (info.kept_whole != 0) return true;
  if (info.merged_stream == 0) return false;
  const auto rest = static_cast<std::uint64_t>(std::max(settings_.hysteresis_streams, 0));
  return stream_ - info.merged_stream < rest &&
         mixture_.mass(target) < settings_.hysteresis_growth * info.merged_mass;
}

// Many proposals are judged in a long stream, and a few of them gain by chance. The chance that a
// gain exceeds log x is at most 1/x; with x the square of the number of proposals, the sum over an
// endless stream is finite.
ProposalSettings ClusterLearner::proposal_settings() const {
  ProposalSettings settings = settings_.proposal;
  const double judged = static_cast<double>(stream_) * static_cast<double>(mixture_.clusters());
  settings.least_gain += 2.0 * std::log(judged);
  return settings;
}

// Keeps everything that goes by number in step with an accepted birth; true if it was one.
bool ClusterLearner::note_birth(const MoveRecord& record) {
  if (record.outcome != MoveOutcome::kAccepted) return false;
  const ComponentInfo& target = registry_.info(record.cluster);
  const ClusterId parent = target.cluster != kNoId ? target.cluster : target.parent;
  candidates_.clear(record.cluster);
  refused_rows_[record.cluster] = -1.0;
  for (Index born = record.other; born < mixture_.clusters(); ++born) {
    registry_.add(parent, stream_, record.gain, record.rows);
    candidates_.clear(born);
    refused_rows_[born] = -1.0;
    trial_[born] = record;
  }
  return true;
}

void ClusterLearner::tell_refused(Index target, const MoveRecord& record) const {
  tell({.kind = ClusterEventKind::kRefused,
        .outcome = record.outcome,
        .stream = stream_,
        .id = registry_.info(target).cluster,
        .gain = record.gain,
        .rows = record.rows});
}

Index ClusterLearner::births(Backend& backend, int round, const GoOn& go_on) {
  Index born = 0;
  const Index targets = mixture_.clusters();  // newborns have their turn in the next round
  for (Index target = 0; target < targets; ++target) {
    const double present =
        (mixture_.mass(target) - mixture_.carried().mass(target)) / mixture_.row_weight();
    const bool same = std::fabs(present - refused_rows_[target]) < std::max(0.5, 0.01 * present);
    if (same || rests(target)) continue;
    Philox random =
        proposal_random(static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(target));
    ProposalSettings settings = proposal_settings();
    if (mixture_.rows_of(target) - present < kKnownRows) settings.usual_novelty = 0.0;
    MoveRecord best;
    best.gain = -1e300;
    for (const Index fresh : kBirthSizes) {
      if (!go_on()) return born;  // nothing of this target has been done yet
      const MoveRecord record = birth_.try_cluster(backend, mixture_, target, fresh, settings,
                                                   random, fresh != kBirthSizes[0]);
      // The size that came nearest is the one to tell of.
      const bool judged = record.outcome == MoveOutcome::kBoundWouldFall;
      const bool best_judged = best.gain != -1e300 && best.outcome == MoveOutcome::kBoundWouldFall;
      if (best.gain == -1e300 || judged > best_judged ||
          (judged == best_judged && record.gain > best.gain)) {
        best = record;
      }
      if (record.outcome != MoveOutcome::kAccepted && record.outcome != MoveOutcome::kTooFewRows &&
          record.outcome != MoveOutcome::kNoRoom) {
        continue;
      }
      best = record;
      break;
    }
    if (note_birth(best)) {
      born += best.count;
    } else {
      refused_rows_[target] = present;
      if (round == 0 && registry_.info(target).cluster != kNoId) tell_refused(target, best);
    }
  }
  return born;
}

Index ClusterLearner::births_on_arrival(Backend& backend) {
  return births_beyond(backend, boundary());
}

Index ClusterLearner::births_beyond(Backend& backend, double surprise) {
  score_stream(backend);
  Index count = 0;
  for (Index i = 0; i < mixture_.stream_rows().rows && count < BirthMove::kMostRows; ++i) {
    if (!(novelty_.novelty(-score_[i].log_density, surprise) > 0.5F)) continue;
    log_density_[count] = score_[i].log_density;
    chosen_[count++] = static_cast<std::uint32_t>(i);
  }
  settle(backend, 1);
  Philox random = proposal_random(0, 0xFFFFFFFF);
  for (const Index fresh : kUnexplainedSizes) {
    const MoveRecord record = birth_.try_rows(backend, mixture_, chosen_, log_density_, count,
                                              fresh, proposal_settings(), random);
    if (note_birth(record)) return record.count;
  }
  return 0;
}

// Whether there is a gap between the halves of a candidate, each of which reaches so many standard
// deviations from its mean along the line between the means.
bool ClusterLearner::halves_apart(Index target, double reach) const {
  if (!candidates_.exists(target)) return false;
  const ClusterShape& shape = config_.shape;
  const StatisticsRef a = candidates_.half(target, 0);
  const StatisticsRef b = candidates_.half(target, 1);
  double length = 0.0;
  double spread[2] = {0.0, 0.0};
  for (Index i = 0; i < shape.dims; ++i) {
    const double x = a.mean[i] - b.mean[i];
    length += x * x;
    const Index first = shape.covariance == FactorShape::kDiagonal ? i : 0;
    for (Index j = first; j <= i; ++j) {
      const Index at = shape.diagonal_at(i) - (i - j);
      const double product = (i == j ? 1.0 : 2.0) * x * (a.mean[j] - b.mean[j]);
      spread[0] += product * a.scatter[at];
      spread[1] += product * b.scatter[at];
    }
  }
  return length > reach * (std::sqrt(std::max(spread[0] / *a.mass, 0.0)) +
                           std::sqrt(std::max(spread[1] / *b.mass, 0.0)));
}

Index ClusterLearner::divisions(Backend& backend, Divide which) {
  Index divided = 0;
  const Index targets = mixture_.clusters();
  for (Index target = 0; target < targets; ++target) {
    if (rests(target)) continue;
    const bool known = mixture_.rows_of(target) > kKnownRows;
    if (known && which == Divide::kYoung) continue;  // see rare_births()
    // Features are never quite Gaussian: of a cluster that is known, or in a block that brings
    // nothing new, two are made only where there is a gap.
    ProposalSettings settings = proposal_settings();
    constexpr double kNever = 1e300;
    if ((known || which == Divide::kYoung) && !halves_apart(target, kReach)) {
      settings.least_gain = kNever;
      // Rows stay in the half that they were put in: halves that began badly do not get better.
      if (which == Divide::kYoung && candidates_.rows(target) > kTrialRows) {
        candidates_.clear(target);
      }
    }
    Philox random = proposal_random(0xFFFFFFFF, static_cast<std::uint32_t>(target));
    const MoveRecord record =
        birth_.try_division(backend, mixture_, target, own_rows_, candidates_, settings, random);
    if (note_birth(record)) ++divided;
  }
  return divided;
}

// A state that shows a row now and then is explained by no block: its rows are gathered apart from
// the others of the known cluster that they fall to, until they are evidence enough. They count
// only while they lie together: outliers on all sides do not.
Index ClusterLearner::rare_births(Backend& backend) {
  constexpr double kOrdinary = 0.9999;
  const double limit = half_chi_squared_quantile(config_.shape.dims, kOrdinary);
  Index born = 0;
  const Index targets = mixture_.clusters();
  for (Index target = 0; target < targets; ++target) {
    if (rests(target) || !(mixture_.rows_of(target) > kKnownRows)) continue;
    const double reach = std::sqrt(2.0 * limit);
    // It may be a candidate of another block, in halves that lie next to each other.
    if (!halves_apart(target, reach)) candidates_.clear(target);
    std::fill_n(far_, mixture_.stream_rows().rows, std::uint8_t{0});
    bool any = candidates_.exists(target);
    for (Index i = 0; i < met_rows_; ++i) {
      if (score_[i].cluster != target || !(static_cast<double>(score_[i].remoteness) > limit))
        continue;
      far_[i] = 1;
      any = true;
    }
    if (!any) continue;
    ProposalSettings settings = proposal_settings();
    settings.least_rows = std::max(settings.least_rows, static_cast<double>(config_.shape.dims));
    birth_.gather_rare(mixture_, target, far_, candidates_, settings);
    if (!halves_apart(target, reach) || candidates_.rows(target) > settings.hopeless_rows) {
      candidates_.clear(target);
      continue;
    }
    const MoveRecord record =
        birth_.try_rare(backend, mixture_, target, far_, candidates_, settings);
    if (note_birth(record)) ++born;
  }
  return born;
}

// ---- merges -------------------------------------------------------------------------------------

// Everything that goes by number follows a merge that the mixture has made.
void ClusterLearner::note_merge(const MoveRecord& record, ClusterEventKind kind) {
  const ClusterId ids[] = {registry_.info(record.cluster).id, registry_.info(record.other).id};
  const Index last = registry_.components() - 1;
  const Index survivor = record.cluster == last ? record.other : record.cluster;
  const ClusterId ended = registry_.merge(record.cluster, record.other);
  if (alias_count_ > 0) renumber_aliases(record.cluster, record.other, last);
  candidates_.clear(record.cluster);
  candidates_.move(last, record.other);
  if (record.cluster == last) candidates_.clear(survivor);
  refused_rows_[record.cluster] = -1.0;
  refused_rows_[record.other] = refused_rows_[last];
  trial_[record.other] = trial_[last];
  if (ids[0] == kNoId || ids[1] == kNoId) return;  // only a trial has ended
  ComponentInfo& info = registry_.info(survivor);
  info.merged_stream = stream_;
  info.merged_mass = mixture_.mass(survivor);
  if (ended == kNoId) return;  // the cluster has other components, or it was one cluster
  tell({.kind = kind,
        .stream = stream_,
        .id = info.cluster,
        .other = ended,
        .gain = record.gain,
        .rows = record.rows});
}

// Halves that the user wants apart stay apart, and so does a newborn from the old if so set.
bool ClusterLearner::may_merge(const void* learner, Index a, Index b) {
  const auto& self = *static_cast<const ClusterLearner*>(learner);
  const ComponentInfo& x = self.registry_.info(a);
  const ComponentInfo& y = self.registry_.info(b);
  if (!self.settings_.merge_old_with_new && (x.id == kNoId) != (y.id == kNoId)) return false;
  return x.kept_apart == 0 || x.kept_apart != y.kept_apart || x.cluster == y.cluster;
}

Index ClusterLearner::merges() {
  Index merged = 0;
  while (true) {
    const MoveRecord record = merge_.merge_best(mixture_, 0.0, may_merge, this);
    if (record.outcome != MoveOutcome::kAccepted) break;
    note_merge(record, ClusterEventKind::kMerged);
    ++merged;
  }
  while (true) {
    const MoveRecord record = merge_.retire_lightest(mixture_, kEmptyRows);
    if (record.outcome != MoveOutcome::kAccepted) break;
    note_merge(record, ClusterEventKind::kRetired);
    ++merged;
  }
  return merged;
}

}  // namespace adapvae

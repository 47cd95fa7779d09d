// Model: what a stream came to, told in its report and as events.
#include <algorithm>

#include "base/bounds.h"
#include "model/model.h"

namespace adapvae {
namespace {

constexpr double kLargeDrift = 1.0;  // deviations

}  // namespace

void Model::hear(void* ring, const ClusterEvent& event) {
  static_cast<EventRing*>(ring)->add(event);
}

void Model::open_report(Index rows, StreamReport* report) {
  *report = {};
  absorbed_ = false;
  report->rows = rows;
  before_ = {.births = events_.count(ModelEventKind::kBorn),
             .merges = events_.count(ModelEventKind::kMerged),
             .retirements = events_.count(ModelEventKind::kRetired),
             .refusals = events_.count(ModelEventKind::kRefused),
             .skipped_steps = vae_.optimiser().skipped_steps(),
             .taken_steps = vae_.optimiser().taken_steps(),
             .repairs = learner_.mixture().repairs()};
}

void Model::note_drift(Index k, double shift, StreamReport* report) {
  report->largest_drift = std::max(report->largest_drift, shift);
  if (!(shift > kLargeDrift)) return;
  ++report->drifted;
  events_.add({.kind = ModelEventKind::kDrifted,
               .stream = stream_,
               .id = learner_.registry().info(k).cluster,
               .gain = shift,
               .rows = learner_.mixture().rows_of(k)});
}

// The latents of replay rows are those of the network as it is: the last that training did was to
// follow their drift.
double Model::replay_accuracy(Backend& backend) {
  if (replay_.rows() == 0) return 0.0;
  renumber_replay();
  const Mixture& mixture = learner_.mixture();
  Index right = 0;
  for (Index begin = 0; begin < replay_.rows(); begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, replay_.rows() - begin);
    const MatrixView r(score_r_, n, mixture.clusters());
    mixture.responsibilities(backend, replay_.latent().row_range(begin, n), {}, r, nullptr);
    for (Index i = 0; i < n; ++i) {
      const float* p = r.row(i);
      right += std::max_element(p, p + r.cols) - p == replay_.cluster(begin + i) ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(replay_.rows());
}

void Model::close_report(Backend& backend, StreamReport* report) {
  const Mixture& mixture = learner_.mixture();
  const auto since = [this](ModelEventKind kind, std::uint64_t before) {
    return static_cast<Index>(events_.count(kind) - before);
  };
  report->clusters = learner_.registry().clusters().count();
  report->components = mixture.clusters();
  report->bound_parts = mixture.bound();
  report->bound = report->bound_parts.total();
  report->births = since(ModelEventKind::kBorn, before_.births);
  report->merges = since(ModelEventKind::kMerged, before_.merges);
  report->retirements = since(ModelEventKind::kRetired, before_.retirements);
  report->refusals = since(ModelEventKind::kRefused, before_.refusals);
  report->replay_rows = replay_.rows();
  report->replay_accuracy = replay_accuracy(backend);
  report->skipped_steps = vae_.optimiser().skipped_steps() - before_.skipped_steps;
  report->repairs = mixture.repairs() - before_.repairs;
  note_repairs(EventReason::kStepSkipped, report->skipped_steps);
  note_repairs(EventReason::kRateReduced, static_cast<std::uint64_t>(retries_));
  note_repairs(EventReason::kCovarianceRepaired, report->repairs);
  const bool full = 10 * report->components >= 9 * learner_.config().max_clusters;
  if (full && report->births > 0) {
    events_.add({.kind = ModelEventKind::kWarned,
                 .reason = EventReason::kNearlyFull,
                 .stream = stream_,
                 .clusters = static_cast<std::uint64_t>(report->components)});
  }
  events_.add({.kind = ModelEventKind::kStreamClosed,
               .reason = absorbed_ ? EventReason::kNothingNew : EventReason::kNone,
               .stream = stream_,
               .rows = static_cast<double>(report->rows),
               .clusters = static_cast<std::uint64_t>(report->clusters)});
}

// Rows that are not as the inputs were before are told of, unless clusters already explain them.
void Model::note_range(const Standardiser::Beyond& beyond, Index rows, bool rescaled) {
  constexpr Index kPart = 100;
  if (!rescaled && (beyond.rows < 2 || kPart * beyond.rows < rows)) return;
  events_.add({.kind = rescaled ? ModelEventKind::kRescaled : ModelEventKind::kWarned,
               .reason = EventReason::kBeyondRange,
               .stream = stream_,
               .gain = std::min(beyond.ranges, kLargestNumber),
               .rows = static_cast<double>(beyond.rows),
               .input = static_cast<std::int32_t>(beyond.feature)});
}

// At most eight inputs of a block are reported.
void Model::note_input(EventReason reason, Index rows, Index input, Index* told) {
  constexpr Index kMostTold = 8;
  if (++*told > kMostTold) return;
  events_.add({.kind = ModelEventKind::kWarned,
               .reason = reason,
               .stream = stream_,
               .rows = static_cast<double>(rows),
               .input = static_cast<std::int32_t>(input)});
}

// Inputs that have varied, and in this block, which brings something new, do not. Without scaling
// nothing is known of their variance.
void Model::note_stuck(ConstMatrixView rows) {
  constexpr Index kLeastRows = 20;
  if (config_.scale_inputs == 0 || stream_ == 1 || rows.rows < kLeastRows) return;
  Index told = 0;
  for (Index j = 0; j < rows.cols; ++j) {
    Index same = 1;
    while (same < rows.rows && rows(same, j) == rows(0, j)) ++same;
    if (same < rows.rows || input_scale_.is_constant(j)) continue;
    note_input(EventReason::kStuckInput, rows.rows, j, &told);
  }
}

void Model::note_missing(Index rows) {
  if (!missing_.any()) return;
  Index told = 0;
  for (Index j = 0; j < config_.inputs; ++j) {
    Index i = 0;
    while (i < rows && missing_.missing(i, j)) ++i;
    if (i == rows) note_input(EventReason::kMissingInput, rows, j, &told);
  }
}

// Training on a block is to lower the errors of its rows.
void Model::note_training(Index rows) {
  constexpr double kHarm = 1.0;  // standard deviations of usual errors
  constexpr Index kLeastRows = 20;
  if (absorbed_ || frozen() || !met_errors_ || !arrived() || rows < kLeastRows) return;
  double rise = 0.0;
  const Index worse = row_novelty_.reconstructed_worse(rows, &rise);
  if (!(rise > kHarm)) return;
  events_.add({.kind = ModelEventKind::kWarned,
               .reason = EventReason::kTrainingIneffective,
               .stream = stream_,
               .rows = static_cast<double>(worse)});
}

void Model::note_repairs(EventReason reason, std::uint64_t times) {
  if (times == 0) return;
  events_.add({.kind = ModelEventKind::kRepaired,
               .reason = reason,
               .stream = stream_,
               .rows = static_cast<double>(times)});
}

}  // namespace adapvae

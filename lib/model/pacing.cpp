#include "model/pacing.h"

#include <algorithm>
#include <cmath>

#include "model/configuration_parts.h"

namespace adapvae {
namespace {

constexpr int at(Stage stage) { return static_cast<int>(stage); }

// Parts of a budget in time; of a stage that a stream does not have, the others take the part.
constexpr double kTrainingPart = 0.75;
constexpr double kBirthsPart = 0.20;
constexpr double kClosePart = 0.05;
// Of training, for features: between these as the epochs ask. What they leave joint training has.
constexpr double kLeastFeatures = 0.5;
constexpr double kMostFeatures = 0.75;
// Without one: of all steps of training.
constexpr double kBirthsWork = 0.2;
constexpr double kCloseWork = 0.05;
// Nobody knows how many moves there will be.
constexpr double kBirthSteps = 30.0;

}  // namespace

Status check_pacing(const Pacing& pacing) {
  if (!(pacing.seconds_per_stream >= 0.0) || !std::isfinite(pacing.seconds_per_stream)) {
    return {StatusCode::kInvalidArgument, "seconds_per_stream must be 0 or a positive number"};
  }
  if (pacing.seconds_per_stream > 0.0 && pacing.seconds == nullptr) {
    return {StatusCode::kInvalidArgument, "seconds_per_stream needs a clock: give seconds"};
  }
  return {};
}

StreamPlan plan_stream(const Configuration& config, std::uint32_t stream, Index rows, bool frozen,
                       bool timed) {
  StreamPlan plan;
  const bool first = stream == 1;
  const Index all = rows + (first || frozen ? 0 : replay_wanted(config, rows));
  const Index whole = (all + config.batch - 1) / config.batch;
  const auto batches = static_cast<double>(whole);
  const bool neighbours = config.neighbour_weight > 0.0;
  double* steps = plan.steps;
  if (first) {
    steps[at(Stage::kPretrain)] = batches * config.pretrain_epochs;
    steps[at(Stage::kEmbed)] = neighbours ? 2.0 * batches * config.neighbour_epochs : 0.0;
  } else if (!frozen) {
    steps[at(Stage::kAdapt)] = batches * config.adapt_epochs;
  }
  steps[at(Stage::kJoint)] = frozen ? 0.0 : batches * config.joint_epochs;
  const double features =
      steps[at(Stage::kPretrain)] + steps[at(Stage::kAdapt)] + steps[at(Stage::kEmbed)];
  const double joint = steps[at(Stage::kJoint)];

  const double training = std::max(features + joint, 1.0);
  double first_part = features / training;
  if (joint > 0.0 && features > 0.0) {
    first_part = std::clamp(first_part, kLeastFeatures, kMostFeatures);
  }
  double* share = plan.share;
  for (const Stage stage : {Stage::kPretrain, Stage::kAdapt, Stage::kEmbed}) {
    if (features <= 0.0) break;
    share[at(stage)] = steps[at(stage)] * (timed ? kTrainingPart * first_part / features : 1.0);
  }
  if (joint > 0.0) share[at(Stage::kJoint)] = timed ? kTrainingPart * (1.0 - first_part) : joint;
  share[at(Stage::kBirths)] = timed ? kBirthsPart : kBirthsWork * training;
  share[at(Stage::kClose)] = timed ? kClosePart : kCloseWork * training;
  double sum = 0.0;
  for (const double part : plan.share) sum += part;
  for (double& part : plan.share) part /= sum;
  steps[at(Stage::kBirths)] = kBirthSteps;
  steps[at(Stage::kClose)] = 1.0;
  return plan;
}

void Pace::begin(const Pacing& pacing, const StreamPlan& plan, bool again) {
  pacing_ = pacing;
  plan_ = plan;
  if (!again) fraction_ = 0.0;
  stopped_ = false;
  cut_short_ = false;
  if (timed() && !again) start_ = pacing_.seconds(pacing_.context);
  int first = 0;
  while (plan.share[first] == 0.0) ++first;  // there is always the close
  enter(static_cast<Stage>(first));
  go_on();
  done_ = 0.0;
}

void Pace::enter(Stage stage) {
  stage_ = stage;
  from_ = 0.0;
  for (int i = 0; i < at(stage); ++i) from_ += plan_.share[i];
  until_ = std::min(1.0, from_ + plan_.share[at(stage)]);
  done_ = 0.0;
  late_ = false;
  if (!timed() || stopped_) return;
  deadline_ = until_ * pacing_.seconds_per_stream;
  // Births take no more than their part, whatever is left over before.
  if (stage == Stage::kBirths) {
    const double part = plan_.share[at(stage)] * pacing_.seconds_per_stream;
    deadline_ = std::min(deadline_, elapsed() + part);
  }
}

bool Pace::go_on() {
  if (ended()) return false;
  // A clock that gives no number gives no deadline, either.
  if (timed() && elapsed() >= deadline_) {
    late_ = true;
    cut_short_ = true;
    return false;
  }
  const double steps = std::max(1.0, plan_.steps[at(stage_)]);
  fraction_ = std::max(fraction_, from_ + (until_ - from_) * std::min(1.0, done_ / steps));
  done_ += 1.0;
  if (pacing_.go_on != nullptr && !pacing_.go_on(pacing_.context, {stage_, fraction_})) {
    stopped_ = true;
    cut_short_ = true;
    return false;
  }
  return true;
}

void Pace::finish() {
  if (pacing_.go_on != nullptr) pacing_.go_on(pacing_.context, {Stage::kClose, 1.0});
}

}  // namespace adapvae

#include "model/model.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/bounds.h"
#include "base/input_check.h"

namespace adapvae {
namespace {

constexpr Index kNeighbours = 15;
constexpr std::int32_t kReplayCounted = 2;  // replay_in_fit
// What an input may cost after training (input_cost()). An error of some ten deviations, the range
// of scaled inputs, costs less even if the decoder gives its least variance. At a higher cost
// Adam's steps are far too large for the numbers in the network, and clusters and replay made with
// it would spoil the training of later blocks.
constexpr double kMostCost = 1e7;
// The same, if it is also so many times what it was in the block's first epoch.
constexpr double kMostRisenCost = 1e4;
constexpr double kMostRise = 10.0;
// Times that a block is learnt again when training has diverged, and by how much more slowly.
constexpr int kMostRetries = 3;
constexpr double kRetryRate = 0.1;

Index neighbour_tile(const Configuration& config) {
  return std::min<Index>(config.pass_rows, NeighbourGraph::kLargestTile);
}

}  // namespace

ComputeLimits Model::limits(const Configuration& config, ModelUse use) {
  ComputeLimits limits = compute_limits(network_config(config));
  const LearnerConfig clusters = learner_config(config, use);
  if (learns(use)) {
    limits.rows = std::max(limits.rows, neighbour_tile(config));
    limits.widest_layer = std::max(limits.widest_layer, neighbour_tile(config));
  }
  limits.clusters = std::max({limits.clusters, clusters.max_clusters, Proposal::kMostPieces});
  return limits;
}

std::array<MemoryRange, Model::kDeviceMemories> Model::device_memory() const {
  return {vae_.memory(), learns(use_) ? trainer_.memory() : MemoryRange()};
}

Index Model::stream_rows(const Configuration& config) {
  return learner_config(config, ModelUse::kLearn).stream_rows();
}

// The mixture's precisions, and rows that the neighbour graph multiplies others by.
std::size_t Model::loose_weight_bytes(const Configuration& config) {
  const Index columns = std::max<Index>(learner_config(config, ModelUse::kLearn).max_clusters,
                                        neighbour_tile(config));
  return static_cast<std::size_t>(columns * config.latent) * sizeof(float);
}

void Model::place(Arena& arena, const Configuration& config, ModelUse use, MemoryLayout layout) {
  config_ = config;
  use_ = use;
  // Room is made once; a ratio that changes later must not seem to change it.
  config_.replay_rows = static_cast<std::int32_t>(replay_room(config));
  VaeConfig network = network_config(config_);
  network.trainable = learns(use);
  network.own_parameters = use != ModelUse::kScoreInPlace;
  const LearnerConfig clusters = learner_config(config_, use);
  const Index all = Index{config_.block_rows} + config_.replay_rows;
  const Index codes = std::max<Index>(learns(use) ? all : 0, config_.pass_rows);
  const Index m = config_.latent;
  input_scale_.place(arena, config_.inputs,
                     config_.scale_inputs != 0 ? Scaling::kMeanVariance : Scaling::kOff,
                     kInputRange);
  const bool apart = layout == MemoryLayout::kApart;
  if (apart) {
    vae_.place(arena, network);
    learner_.place(arena, clusters);
  } else {
    vae_.place_lasting(arena, network);
    learner_.place_lasting(arena, clusters);
    // The network is trained or clusters are moved, by turns.
    Arena moves = arena;
    learner_.place_moves(moves);
    vae_.place_gradient(arena);
    arena.go_on_behind(moves);
  }
  learner_.settings() = learner_settings(config_);
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  take(z_, codes * m);
  take(variance_, codes * m);
  take(score_r_, config_.pass_rows * clusters.max_clusters);
  take(score_, config_.pass_rows);
  take(novelty_, config_.pass_rows);
  take(error_, config_.pass_rows);
  take(cluster_of_, clusters.max_clusters);
  const bool ink = network.likelihood.kind == Likelihood::kBernoulli;
  row_novelty_.place(arena, m, config_.novelty_error_weight, !ink,
                     learns(use) ? config_.block_rows : 0, clusters.max_clusters);
  column_novelty_.place(arena, config_.inputs, column_kind(config_), learns(use));
  if (config_.scale_inputs != 0 || config_.missing_values != 0) {
    take(pass_x_, Index{config_.pass_rows} * config_.inputs);
  }
  // A block, what pretrain() takes, or the rows of a pass; for explanations always a row.
  missing_.place(arena, config_.missing_values != 0 ? codes : 1, config_.inputs);
  take(scratch_, 3 * m + clusters.max_clusters);
  events_.place(arena, learns(use) ? config_.events : 0);
  learner_.set_event_sink({hear, &events_});
  // Snapshots and explanations are made between streams: where a stream has what it leaves nothing
  // in.
  Arena between_streams = arena;
  Arena explanation = arena;
  snapshot_.place(between_streams, learns(use));
  place_explanation(explanation);
  between_streams.go_on_behind(explanation);
  if (apart)
    arena.go_on_behind(between_streams);
  else
    vae_.place_moments(arena);
  if (learns(use)) {
    trainer_.place(arena, all, network);
    neighbours_.place(arena, all, m, kNeighbours, neighbour_tile(config_));
  }
  arena.go_on_behind(between_streams);
  if (learns(use)) place_learning(arena, network, clusters, all);
}

// What only a model that learns needs.
void Model::place_learning(Arena& arena, const VaeConfig& network, const LearnerConfig& clusters,
                           Index all) {
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  replay_.place(arena, config_.replay_rows, network, clusters.shape, clusters.max_clusters);
  take(all_, all * config_.inputs);
  take(latent_target_, all * config_.latent);
  take(latent_weight_, all);
  take(row_cluster_, all);
  take(tightness_, clusters.max_clusters);
  take(root_, 2 * clusters.shape.scatter_size());
  take(replay_id_, clusters.max_clusters);
  take(number_, clusters.max_clusters);
  place_kept(arena);
}

void Model::reset() {
  input_scale_.reset();
  if (use_ == ModelUse::kScoreInPlace)
    vae_.borrow_parameters(nullptr);
  else if (kBuiltToLearn)
    vae_.initialise(config_.seed);
  learner_.reset();
  row_novelty_.reset();
  column_novelty_.reset();
  replay_.clear();
  neighbours_.clear();
  stream_ = 0;
  time_ = 0.0;
  rows_learnt_ = 0;
  waiting_ = 0;
  waiting_time_ = 0.0;
  events_.reset();
  pretrained_ = false;
  broken_ = false;
}

// The learner follows at once: what it says of novelty between streams is by the new settings.
Status Model::set_live(const FieldInfo& field, double value) {
  if (!field.live) {
    return {StatusCode::kInvalidArgument, "this field is fixed when the model is created",
            &field - configuration_fields().data()};
  }
  Configuration next = config_;
  ADAPVAE_RETURN_IF_ERROR(set_field(next, field, value));
  // With no room at all, check_configuration would think that room is still to be made.
  if (replay_wanted(next, next.block_rows) > config_.replay_rows) {
    return {StatusCode::kInvalidArgument,
            "replay_ratio must not ask for more rows than replay_rows gave room for",
            &field - configuration_fields().data()};
  }
  ADAPVAE_RETURN_IF_ERROR(check_configuration(next));
  config_ = next;
  learner_.settings() = learner_settings(config_);
  return {};
}

// The network has been learnt: from now on the mixture alone changes.
bool Model::frozen() const {
  return config_.freeze_encoder_after > 0 &&
         stream_ > static_cast<std::uint32_t>(config_.freeze_encoder_after);
}

Status Model::set_pacing(const Pacing& pacing) {
  ADAPVAE_RETURN_IF_ERROR(check_pacing(pacing));
  pacing_ = pacing;
  return {};
}

// Before anything changes: a row that would leave the range of a float on its way through the
// network would be met in the middle of a stream.
Status Model::check_stream(ConstMatrixView rows, Index most) const {
  ADAPVAE_RETURN_IF_ERROR(check_whole());
  if (rows.rows > most) {
    return {StatusCode::kShapeMismatch, "more rows than block_rows: learn them in pieces, or push",
            most};
  }
  ADAPVAE_RETURN_IF_ERROR(check_shape(rows, most, config_.inputs));
  ADAPVAE_RETURN_IF_ERROR(check_numbers(rows));
  if (config_.scale_inputs != 0) return {};
  const InputRange range = input_range(config_);
  for (Index i = 0; i < rows.rows; ++i) {
    const float* row = rows.row(i);
    const auto inside = [range](float x) { return !(x < range.low || x > range.high); };
    if (std::all_of(row, row + rows.cols, inside)) continue;
    if (range.low < 0.0F) {
      return {StatusCode::kInvalidArgument, "numbers beyond 1e12 need scale_inputs", i};
    }
    return {StatusCode::kInvalidArgument,
            "a bernoulli likelihood is for numbers in [0, 1]: use a gaussian likelihood (with "
            "scale_inputs for raw measurements) or scale the rows",
            i};
  }
  return {};
}

// The first rows say what is usual; later ones are seen by that.
Status Model::scale_stream(Backend& backend, ConstMatrixView rows, ConstMatrixView* scaled) {
  *scaled = rows;
  if (config_.scale_inputs == 0 && !missing_.any()) return {};
  if (stream_ <= 1 && !pretrained_) input_scale_.update(rows);
  const MatrixView x(all_, rows.rows, config_.inputs);  // where gather() wants them
  input_scale_.apply(rows, x);
  *scaled = x;
  return complete(backend, x, Fill::kDrawn);
}

Status Model::learn(Backend& backend, ConstMatrixView rows, StreamReport* report, double time) {
  ADAPVAE_RETURN_IF_ERROR(check_stream(rows, config_.block_rows));
  if (!within(time, kLargestNumber) || (stream_ > 0 && time < time_)) {
    return {StatusCode::kInvalidArgument, "time must not run backwards"};
  }
  if (waiting_ > 0) return rows_wait();
  ADAPVAE_RETURN_IF_ERROR(check_room(static_cast<std::uint64_t>(rows.rows)));
  keep(rows);
  retries_ = 0;
  Status status = learn_stream(backend, rows, report, time);
  while (status.code() == StatusCode::kDiverged && config_.restore_on_failure != 0 &&
         retries_ < kMostRetries && !pace_.cut_short()) {
    restore(rows);
    ++retries_;
    status = learn_stream(backend, rows, report, time);
  }
  return finish(status, rows);
}

Status Model::diverged() {
  return {
      StatusCode::kDiverged,
      "training diverged: use scale_inputs, a smaller learning_rate or rows of a smaller range"};
}

Status Model::run_epoch(Backend& backend, const TrainingSettings& settings, ConstMatrixView all,
                        const VaeBatch& pattern, EpochReport* report) {
  ADAPVAE_RETURN_IF_ERROR(
      trainer_.run_epoch(backend, vae_, settings, epoch_, all, pattern, report));
  if (epoch_++ == 0) first_cost_ = input_cost(*report);
  return {};
}

// Nats that the reconstruction of an input costs; with a fixed variance below 1, as if it were 1.
double Model::input_cost(const EpochReport& epoch) const {
  const bool fixed = static_cast<Likelihood>(config_.likelihood) == Likelihood::kGaussian;
  const double variance = fixed ? std::min(1.0, config_.likelihood_variance) : 1.0;
  return -epoch.loss.log_likelihood * variance / config_.inputs;
}

// Asked after the last epoch of a stage.
Status Model::check_epoch(const EpochReport& epoch) const {
  const double cost = input_cost(epoch);
  const bool risen = cost > kMostRisenCost && cost > kMostRise * first_cost_;
  return cost <= kMostCost && !risen ? Status() : diverged();
}

// A step that was skipped shows that the network has left the range in which it can be trained. If
// that cannot be undone, a block that took most of its steps is kept.
Status Model::check_trained(const StreamReport& report) const {
  const std::uint64_t taken = vae_.optimiser().taken_steps() - before_.taken_steps;
  const std::uint64_t most_skipped = config_.restore_on_failure != 0 ? 0 : taken;
  return report.skipped_steps <= most_skipped && vae_.sound() && learner_.sound() ? Status()
                                                                                  : diverged();
}

void Model::start_training() {
  double rate = config_.learning_rate;
  for (int i = 0; i < retries_; ++i) rate *= kRetryRate;
  vae_.optimiser().reset();
  vae_.optimiser().settings().adam.learning_rate = static_cast<float>(rate);
}

// A file may say anything of how much has been learnt.
Status Model::check_room(std::uint64_t rows) const {
  constexpr auto kMost = static_cast<std::uint64_t>(kMostRows);
  constexpr std::uint64_t kEventReserve = std::uint64_t{1} << 40;  // more than a block has
  if (stream_ < kMostBlocks && rows_learnt_ + rows <= kMost &&
      events_.last() <= kMost - kEventReserve) {
    return learner_.check_room(rows);
  }
  return {StatusCode::kUnavailable,
          "the model cannot count more rows, blocks or ids: create a new one"};
}

// The storyboard of a stream.
Status Model::learn_stream(Backend& backend, ConstMatrixView rows, StreamReport* report,
                           double time) {
  open_report(rows.rows, report);
  neighbours_.clear();  // those of the stream before
  ++stream_;
  epoch_ = 0;
  time_ = time;
  const ConstMatrixView arrived_rows = rows;
  missing_.note(rows);
  note_missing(rows.rows);
  const Standardiser::Beyond beyond = input_scale_.beyond(rows);
  const bool begins = stream_ == 1 || range_has_changed(beyond);
  pace_.begin(pacing_,
              plan_stream(config_, begins ? 1 : stream_, rows.rows, frozen(),
                          pacing_.seconds_per_stream > 0.0),
              retries_ > 0);
  start_training();
  rescaled_ = stream_ > 1 && begins && !pace_.stopped();
  if (rescaled_) {
    ADAPVAE_RETURN_IF_ERROR(rescale(backend, rows));
    rows = ConstMatrixView(all_, rows.rows, config_.inputs);
  } else {
    ADAPVAE_RETURN_IF_ERROR(scale_stream(backend, rows, &rows));
  }
  if (stream_ == 1 && !pretrained_) ADAPVAE_RETURN_IF_ERROR(learn_features(backend, rows));
  if (begins) ADAPVAE_RETURN_IF_ERROR(refine(backend, MatrixView(all_, rows.rows, rows.cols)));
  if (stream_ > 1) ADAPVAE_RETURN_IF_ERROR(meet(backend, rows));
  if (stream_ > 1 && explained(rows.rows)) return absorb(backend, rows, report, time);
  note_range(beyond, rows.rows, rescaled_);
  note_stuck(arrived_rows);
  if (stream_ > 1 && !frozen() && !pace_.stopped()) learner_.fade_novelty(most_counted(rows.rows));
  ADAPVAE_RETURN_IF_ERROR(draw_replay(backend, rows));
  const ConstMatrixView all = gather(rows);
  if (arrived() && !frozen()) {
    ADAPVAE_RETURN_IF_ERROR(reconstruct(backend, all, config_.adapt_epochs));
  }
  ADAPVAE_RETURN_IF_ERROR(encode(backend, all));
  follow_drift(rows.rows, report);
  const Index fitted = config_.replay_in_fit != 0 ? all.rows : rows.rows;
  const Index stand_ins = config_.replay_in_fit == kReplayCounted ? 0 : fitted - rows.rows;
  const LatentCodes now = codes(fitted);
  ADAPVAE_RETURN_IF_ERROR(learner_.begin(now.mean, now.variance, 1, time, stand_ins));
  pace_.enter(Stage::kBirths);
  if (drift_correction(config_) == DriftCorrection::kTwoStage) births_beside_narrow(backend);
  learner_.fit(backend, pace_.asker());
  ADAPVAE_RETURN_IF_ERROR(backend.status());
  if (!frozen()) ADAPVAE_RETURN_IF_ERROR(join(backend, all, fitted, report));
  pace_.enter(Stage::kClose);
  learner_.close(backend);
  ADAPVAE_RETURN_IF_ERROR(backend.status());
  ADAPVAE_RETURN_IF_ERROR(finish_stream(backend, rows, report));
  count_novelty(rows, !frozen());  // last: after it nothing can fail
  return {};
}

// A block that brings nothing new: its rows join the clusters, and nothing else changes.
Status Model::absorb(Backend& backend, ConstMatrixView rows, StreamReport* report, double time) {
  absorbed_ = true;
  replay_.clear();
  const LatentCodes now = codes(rows.rows);
  ADAPVAE_RETURN_IF_ERROR(learner_.begin(now.mean, now.variance, 1, time));
  pace_.enter(Stage::kClose);
  learner_.absorb(backend);
  VaeBatch batch = objective(rows, prior_weight(config_));
  batch.input = batch.target = rows.row_range(0, std::min<Index>(config_.pass_rows, rows.rows));
  batch.noise_key = {
      .seed = config_.seed, .purpose = RandomPurpose::kLatentNoise, .stream = stream_};
  ADAPVAE_RETURN_IF_ERROR(vae_.compute_loss(backend, batch, &report->loss));
  // Nothing new for the mixture, but a network (of a file) that cannot compute with these rows.
  if (!std::isfinite(report->loss.loss)) return diverged();
  ADAPVAE_RETURN_IF_ERROR(finish_stream(backend, rows, report));
  count_novelty(rows, false);
  return {};
}

// What every block ends with, however much was learnt from it.
Status Model::finish_stream(Backend& backend, ConstMatrixView rows, StreamReport* report) {
  ADAPVAE_RETURN_IF_ERROR(backend.status());
  rows_learnt_ += static_cast<std::uint64_t>(rows.rows);
  ADAPVAE_RETURN_IF_ERROR(look_back(backend, rows));
  note_training(rows.rows);
  close_report(backend, report);
  report->stopped = pace_.cut_short();
  ADAPVAE_RETURN_IF_ERROR(backend.status());
  ADAPVAE_RETURN_IF_ERROR(check_trained(*report));
  pace_.finish();
  return {};
}

// What is new of the rows is seen before the network has learnt them.
Status Model::meet(Backend& backend, ConstMatrixView rows) {
  assert(learner_.streams() > 0);  // else met_scores() is not written
  ADAPVAE_RETURN_IF_ERROR(encode(backend, rows));
  learner_.meet(backend, codes(rows.rows).mean, codes(rows.rows).variance);
  for (Index i = 0; i < rows.rows; ++i) {
    const ClusterFit fit = fit_of(learner_.met_scores()[i]);
    row_novelty_.cluster()[i] = fit.cluster;
    row_novelty_.misfit()[i] = static_cast<float>(fit.misfit);
  }
  met_errors_ = row_novelty_.wants_errors() && column_novelty_.ready();
  // Found whether they count or not: a file may say that they do.
  if (!row_novelty_.wants_errors()) return backend.status();
  return find_errors(backend, codes(rows.rows).mean, rows, 1.0, row_novelty_.errors());
}

// Epochs of reconstruction alone: on the first stream to learn features at all, on later ones so
// that the network meets the new rows before the mixture judges them.
Status Model::reconstruct(Backend& backend, ConstMatrixView all, int epochs) {
  pace_.enter(stream_ > 1 && !rescaled_ ? Stage::kAdapt : Stage::kPretrain);
  TrainingSettings settings = training_settings(config_, pretrain_corruption(config_), stream_);
  settings.go_on = pace_.asker();
  EpochReport report;
  for (int i = 0; i < epochs && !pace_.ended(); ++i) {
    ADAPVAE_RETURN_IF_ERROR(run_epoch(backend, settings, all, objective(all, 0.0F), &report));
  }
  return check_epoch(report);
}

// Epochs of reconstruction in which rows that lie next to each other are drawn together.
Status Model::embed(Backend& backend, ConstMatrixView all, int epochs) {
  pace_.enter(Stage::kEmbed);
  if (pace_.ended()) return {};
  ADAPVAE_RETURN_IF_ERROR(encode(backend, all));
  ADAPVAE_RETURN_IF_ERROR(
      neighbours_.build(backend, ConstMatrixView(z_, all.rows, config_.latent)));
  if (neighbours_.neighbours() < 1) return {};
  TrainingSettings settings = training_settings(config_, pretrain_corruption(config_), stream_);
  settings.neighbours = &neighbours_;
  settings.go_on = pace_.asker();
  VaeBatch pattern = objective(all, 0.0F);
  pattern.neighbour_weight = neighbour_weight(config_);
  EpochReport report;
  for (int i = 0; i < 2 * epochs && !pace_.ended(); ++i) {  // each visits half of the rows
    ADAPVAE_RETURN_IF_ERROR(run_epoch(backend, settings, all, pattern, &report));
  }
  return check_epoch(report);
}

// The latent's scale is fixed once, on the first stream: the prior can then be, too.
Status Model::standardise(Backend& backend, ConstMatrixView rows) {
  ADAPVAE_RETURN_IF_ERROR(encode(backend, rows));
  const Index m = config_.latent;
  const auto n = static_cast<double>(rows.rows);
  double* mean = scratch_;
  double* deviation = scratch_ + m;
  for (Index j = 0; j < m; ++j) {
    double sum = 0.0;
    for (Index i = 0; i < rows.rows; ++i) sum += z_[i * m + j];
    mean[j] = sum / n;
    double square = 0.0;
    for (Index i = 0; i < rows.rows; ++i) {
      const double d = z_[i * m + j] - mean[j];
      square += d * d;
    }
    // A feature that does not vary, of rows that are all alike, has no scale: to stretch its
    // rounding noise would make every later row an outlier.
    constexpr double kLeastSpread = 1e-3;
    const double spread = std::sqrt(square / n);
    deviation[j] = spread > kLeastSpread ? spread : 1.0;
  }
  vae_.standardise_latent(mean, deviation);
  return {};
}

Status Model::draw_replay(Backend& backend, ConstMatrixView rows) {
  replay_.clear();
  if (stream_ == 1 || frozen() || pace_.stopped()) return {};
  note_replay_ids();
  // Behind the stream's rows, where gather() wants them.
  const Index d = config_.inputs;
  const MatrixView x(all_ + rows.rows * d, replay_wanted(config_, rows.rows), d);
  return replay_.draw(backend, vae_, learner_.mixture(), replay_settings(config_), config_.seed,
                      stream_, x);
}

void Model::note_replay_ids() {
  replay_ids_ = learner_.registry().components();
  for (Index k = 0; k < replay_ids_; ++k) replay_id_[k] = learner_.registry().info(k).id;
}

// The stream's rows and the replay rows as one block, with the latents that replay is to keep.
ConstMatrixView Model::gather(ConstMatrixView rows) {
  const Index d = config_.inputs;
  const Index m = config_.latent;
  const Index n = rows.rows;
  if (rows.data != all_) {
    for (Index i = 0; i < n; ++i) std::copy_n(rows.row(i), d, all_ + i * d);
  }
  std::fill_n(latent_target_, n * m, 0.0F);
  std::fill_n(latent_weight_, n, 0.0F);
  std::copy_n(replay_.latent().data, replay_.rows() * m, latent_target_ + n * m);
  std::fill_n(latent_weight_ + n, replay_.rows(), static_cast<float>(config_.distillation));
  return {all_, n + replay_.rows(), d};
}

VaeBatch Model::objective(ConstMatrixView all, float prior_weight) const {
  VaeBatch batch;
  batch.mixture.gaussians = learner_.mixture().gaussians();
  batch.mixture.log_weight = learner_.mixture().local_log_weight();
  batch.prior_weight = prior_weight;
  batch.sample = prior_weight != 0.0F;
  if (replay_.rows() > 0) {
    batch.latent_target = ConstMatrixView(latent_target_, all.rows, config_.latent);
    batch.latent_weight = latent_weight_;
  }
  return batch;
}

// Network and mixture in turn, each with what the other last was.
Status Model::join(Backend& backend, ConstMatrixView all, Index fitted, StreamReport* report) {
  pace_.enter(Stage::kJoint);
  TrainingSettings settings = training_settings(config_, joint_corruption(config_), stream_);
  settings.go_on = pace_.asker();
  settings.codes = codes(all.rows);
  const float weight = prior_weight(config_);
  EpochReport epoch;
  for (int i = 0; i < config_.joint_epochs && !pace_.ended(); ++i) {
    ADAPVAE_RETURN_IF_ERROR(run_epoch(backend, settings, all, objective(all, weight), &epoch));
    if (epoch.rows == 0) break;  // the network is where the mixture has seen it
    report->loss = epoch.loss;
    ADAPVAE_RETURN_IF_ERROR(encode(backend, all));
    follow_drift(all.rows - replay_.rows(), report);
    learner_.refresh(codes(fitted).mean, codes(fitted).variance);
    learner_.settle(backend, config_.sweeps);
    // At first nothing is known: what the latent shows only now may still be born.
    if (stream_ == 1 && i + 1 == config_.joint_epochs) learner_.reconsider();
    if (stream_ == 1 && learner_.births(backend, i + 1, pace_.asker()) > 0) {
      learner_.settle(backend, config_.sweeps);
    }
    learner_.merges();
  }
  return check_epoch(epoch);
}

Status Model::encode(Backend& backend, ConstMatrixView rows) {
  const Index m = config_.latent;
  const Index pass = config_.pass_rows;
  for (Index begin = 0; begin < rows.rows; begin += pass) {
    const Index n = std::min(pass, rows.rows - begin);
    ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, rows.row_range(begin, n),
                                        MatrixView(z_ + begin * m, n, m),
                                        MatrixView(variance_ + begin * m, n, m)));
  }
  return {};
}

LatentCodes Model::codes(Index rows) const {
  return {{z_, rows, config_.latent}, {variance_, rows, config_.latent}};
}

}  // namespace adapvae

#include "structure/cluster_learner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/input_check.h"
#include "base/special_functions.h"

namespace adapvae {
namespace {

constexpr double kHandful = 0.01;  // part of the first stream's rows

// The median of n numbers that are not negative, to half a percent: bit by bit, as such floats are
// ordered like their bits. No order of the numbers makes it slow.
double median_of(const float* values, Index n) {
  float median = 0.0F;
  std::uint32_t bits = 0;
  for (std::uint32_t bit = 1U << 30; bit >= 1U << 15; bit >>= 1) {
    const std::uint32_t trial_bits = bits | bit;
    float trial = 0.0F;
    std::memcpy(&trial, &trial_bits, sizeof(trial));
    Index below = 0;
    for (Index i = 0; i < n; ++i) below += values[i] < trial ? 1 : 0;
    if (2 * below > n || !std::isfinite(trial)) continue;
    bits = trial_bits;
    median = trial;
  }
  return static_cast<double>(median);
}

MixtureConfig mixture_config(const LearnerConfig& config) {
  return {.shape = config.shape,
          .max_clusters = config.max_clusters,
          .max_rows = config.stream_rows(),
          .max_batches = config.max_batches};
}

Status check_stream(ConstMatrixView z, ConstMatrixView variance, const LearnerConfig& config) {
  ADAPVAE_RETURN_IF_ERROR(check_shape(z, config.max_rows, config.shape.dims));
  ADAPVAE_RETURN_IF_ERROR(check_finite(z));
  if (variance.data == nullptr) return {};
  ADAPVAE_RETURN_IF_ERROR(check_shape(variance, config.max_rows, config.shape.dims));
  ADAPVAE_RETURN_IF_ERROR(check_finite(variance));
  if (variance.rows != z.rows) {
    return {StatusCode::kShapeMismatch, "variance must have as many rows as z"};
  }
  for (Index i = 0; i < variance.rows; ++i) {
    for (Index j = 0; j < variance.cols; ++j) {
      if (variance(i, j) < 0.0F) {
        return {StatusCode::kInvalidArgument, "a variance must not be negative", i};
      }
    }
  }
  return {};
}

}  // namespace

void ClusterLearner::place(Arena& arena, const LearnerConfig& config) {
  place_lasting(arena, config);
  place_moves(arena);
}

void ClusterLearner::place_lasting(Arena& arena, const LearnerConfig& config) {
  config_ = config;
  const Index rows = config.stream_rows();
  const Index m = config.shape.dims;
  const MixtureConfig mixture = mixture_config(config);
  const auto take = [&arena]<typename T>(T*& to, Index count) {
    to = arena.take<T>(static_cast<std::size_t>(count));
  };
  mixture_.place(arena, mixture);
  merge_.place(arena, mixture);
  candidates_.place(arena, mixture);
  registry_.place(arena, config.max_clusters, config.aliases);
  pending_.place(arena, m, config.pending_rows);
  if (config.pending_rows > 0) {
    take(z_, rows * m);
    take(variance_, rows * m);
  }
  take(met_surprise_, config.max_rows);
  take(met_novel_, rows);
  take(far_, rows);
  take(present_, config.max_clusters);
  take(difference_, config.max_rows);
  take(present_novel_, config.max_clusters);
  take(score_, rows);
  take(score_r_, std::min(Mixture::kLocalRows, rows) * config.max_clusters);
  take(chosen_, rows);
  take(age_, config.pending_rows);
  take(surprise_, config.pending_rows);
  take(log_density_, std::min(rows, BirthMove::kMostRows));
  if (config.groups) {
    grouping_.place(arena, config.shape, config.max_clusters);
    take(group_, config.max_clusters);
    take(group_rows_, config.max_clusters);
  }
  take(refused_rows_, config.max_clusters);
  take(trial_, config.max_clusters);
  take(scratch_, division_scratch(config.shape) + 4 * m + 3 * config.shape.scatter_size() + 2);
  state_bytes_ = most_bytes(config);
  undo_ = arena.take<std::byte>(state_bytes_ * static_cast<std::size_t>(config.undo_steps));
  take(undo_size_, config.undo_steps);
  if (config.keeps_state) spare_ = arena.take<std::byte>(state_bytes_);
}

void ClusterLearner::place_moves(Arena& arena) {
  Arena between_streams = arena;
  if (!config_.keeps_state) spare_ = between_streams.take<std::byte>(state_bytes_);
  birth_.place(arena, mixture_config(config_));
  arena.go_on_behind(between_streams);
}

void ClusterLearner::reset() {
  mixture_.reset();
  registry_.reset();
  candidates_.reset();
  pending_.reset();
  novelty_.reset(config_.shape.dims);
  stream_ = 0;
  time_ = 0.0;
  prior_set_ = false;
  undo_count_ = 0;
  met_rows_ = 0;
}

void ClusterLearner::tell(const ClusterEvent& event) const {
  if (sink_.tell != nullptr) sink_.tell(sink_.context, event);
}

// ---- a stream -----------------------------------------------------------------------------------

Status ClusterLearner::learn(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                             double time) {
  if (z.rows == 0 && !mixture_.stream_open()) return {};  // nothing came, nothing is learnt
  ADAPVAE_RETURN_IF_ERROR(check_begin(z, variance, time));
  meet(backend, z, variance);
  ADAPVAE_RETURN_IF_ERROR(begin(z, variance, 1, time));
  fit(backend);
  close(backend);
  return {};
}

Status ClusterLearner::check_begin(ConstMatrixView z, ConstMatrixView variance, double time) const {
  if (mixture_.stream_open()) {
    return {StatusCode::kInvalidArgument, "the stream before has not been closed"};
  }
  ADAPVAE_RETURN_IF_ERROR(check_stream(z, variance, config_));
  if (!std::isfinite(time) || (stream_ > 0 && time < time_)) {
    return {StatusCode::kInvalidArgument, "time must not run backwards"};
  }
  return {};
}

void ClusterLearner::meet(Backend& backend, ConstMatrixView z, ConstMatrixView variance) {
  if (mixture_.stream_open()) return;
  met_rows_ = 0;
  const bool fits = z.rows <= config_.max_rows && z.cols == config_.shape.dims &&
                    (variance.data == nullptr || variance.rows == z.rows);
  if (stream_ == 0 || !fits) return;
  const double limit = boundary();
  for (Index begin = 0; begin < z.rows; begin += Mixture::kLocalRows) {
    const Index count = std::min(Mixture::kLocalRows, z.rows - begin);
    mixture_.score(backend, z.row_range(begin, count),
                   variance.data != nullptr ? variance.row_range(begin, count) : ConstMatrixView(),
                   {score_r_, count, mixture_.clusters()}, score_ + begin);
  }
  for (Index i = 0; i < z.rows; ++i) {
    met_surprise_[i] = -score_[i].log_density;
    met_novel_[i] = novelty_.novelty(-score_[i].log_density, limit) > 0.5F ? 1 : 0;
  }
  met_rows_ = z.rows;
  met_evidence_ = evidence_of(z);
}

// Rows that come one after another are not independent: sensors are smooth. Of a process with
// lag-1 correlation ρ, differences at lag 2 have 1 + ρ times the variance of those at lag 1, and
// those at lag 3 have 1 + ρ + ρ². Medians stand for variances: the jumps between states that last
// for a while do not move them. The smaller ρ counts: states that come in turns show one alone.
double ClusterLearner::evidence_of(ConstMatrixView z) const {
  constexpr Index kLags = 3;
  constexpr Index kLeastRows = 10;
  const Index n = z.rows - kLags;
  if (n < kLeastRows) return 1.0;
  double sums[2] = {0.0, 0.0};
  double dims = 0.0;
  for (Index j = 0; j < z.cols; ++j) {
    double square[kLags];
    for (Index lag = 1; lag <= kLags; ++lag) {
      for (Index i = 0; i < n; ++i) difference_[i] = std::fabs(z(i + lag, j) - z(i, j));
      const double median = median_of(difference_, n);
      square[lag - 1] = median * median;
    }
    if (!(square[0] > 0.0)) continue;
    const double second = std::min(square[1] / square[0], 2.0);
    const double third = std::clamp(square[2] / square[0], 0.75, 3.0);
    sums[0] += second - 1.0;
    sums[1] += 0.5 * (std::sqrt(4.0 * third - 3.0) - 1.0);
    dims += 1.0;
  }
  const double sum = std::min(sums[0], sums[1]);
  // What chance alone gives is none: the standard error of the ratio is about 3.3 / √n.
  constexpr double kSignificant = 2.0 * 3.3;
  if (!(sum * std::sqrt(static_cast<double>(n)) > kSignificant * std::sqrt(dims))) return 1.0;
  constexpr double kLargest = 0.98;
  const double correlation = std::min(sum / dims, kLargest);
  return (1.0 - correlation) / (1.0 + correlation);
}

Status ClusterLearner::begin(ConstMatrixView z, ConstMatrixView variance, Index batches,
                             double time, Index stand_ins) {
  ADAPVAE_RETURN_IF_ERROR(check_begin(z, variance, time));
  if (batches < 1 || batches > config_.max_batches) {
    return {StatusCode::kInvalidArgument, "batches must be between 1 and max_batches"};
  }
  if (stand_ins < 0 || stand_ins >= z.rows) {
    return {StatusCode::kInvalidArgument, "rows must not all stand for the past"};
  }
  const Index own = z.rows - stand_ins;
  double evidence = met_rows_ > 0 ? met_evidence_ : evidence_of(z.row_range(0, own));
  // The first block has to show what clusters there are.
  constexpr double kFirstRows = 50.0;
  if (stream_ == 0) {
    evidence = std::max(evidence, std::min(kFirstRows / static_cast<double>(own), 1.0));
  }
  const double weight = evidence * weight_of_row(static_cast<double>(own));
  if (!(weight > 1e-12) || weight > 1.0) {
    return {StatusCode::kInvalidArgument, "the weight of a row must be in (0, 1]"};
  }
  own_rows_ = own;
  given_rows_ = z.rows;
  lapped_ = false;
  if (met_rows_ > own) met_rows_ = 0;
  std::fill(met_novel_ + met_rows_, met_novel_ + z.rows, std::uint8_t{0});
  std::fill_n(met_novel_ + z.rows, pending_.count(), std::uint8_t{1});
  birth_.set_arrivals(met_rows_ > 0 ? met_novel_ : nullptr);
  if (config_.pending_rows > 0) {
    const Index m = config_.shape.dims;
    const Index all = z.rows + pending_.count();
    const MatrixView rows(z_, all, m);
    const MatrixView spread(variance_, all, m);
    for (Index i = 0; i < all; ++i) {
      const Index waiting = i - z.rows;
      std::copy_n(waiting < 0 ? z.row(i) : pending_.rows().row(waiting), m, rows.row(i));
      if (waiting >= 0) {
        std::copy_n(pending_.variance().row(waiting), m, spread.row(i));
      } else if (variance.data != nullptr) {
        std::copy_n(variance.row(i), m, spread.row(i));
      }
    }
    z = rows;
    if (variance.data != nullptr) variance = spread;
  }

  open_stream(static_cast<double>(own_rows_), time);
  if (!prior_set_ && settings_.prior.mode != PriorMode::kFixed) {
    prior_set_ = set_scaled_prior(mixture_, z, variance, settings_.prior, scratch_);
  }
  std::fill_n(refused_rows_, config_.max_clusters, -1.0);
  return mixture_.begin_stream(z, variance, weight, batches);
}

double ClusterLearner::weight_of_row(double rows) const {
  if (!(settings_.effective_rows > 0.0)) return settings_.row_weight;
  return std::min(settings_.row_weight,
                  std::max(settings_.effective_rows / rows, settings_.effective_part));
}

void ClusterLearner::open_stream(double rows, double time) {
  double factor = 1.0;
  if (settings_.half_life_rows > 0.0) factor *= power(0.5, rows / settings_.half_life_rows);
  if (settings_.half_life_time > 0.0 && stream_ > 0) {
    factor *= power(0.5, (time - time_) / settings_.half_life_time);
  }
  ++stream_;
  time_ = time;
  undo_count_ = 0;
  mixture_.set_concentration(settings_.concentration);
  if (factor < 1.0) {
    mixture_.fade(factor);
    candidates_.fade(factor);
  }
}

double ClusterLearner::settle(Backend& backend, int laps) {
  const double enough = settings_.least_progress * mixture_.row_weight() *
                        static_cast<double>(mixture_.stream_rows().rows);
  lapped_ = true;
  double bound = mixture_.lap(backend);
  for (int lap = 1; lap < laps; ++lap) {
    const double next = mixture_.lap(backend);
    const double progress = next - bound;
    bound = next;
    if (progress < enough) break;
  }
  return bound;
}

void ClusterLearner::refresh(ConstMatrixView z, ConstMatrixView variance) {
  if (config_.pending_rows == 0) return;  // the mixture looks at the caller's own
  const Index m = config_.shape.dims;
  for (Index i = 0; i < given_rows_; ++i) {
    std::copy_n(z.row(i), m, z_ + i * m);
    if (variance.data != nullptr) std::copy_n(variance.row(i), m, variance_ + i * m);
  }
}

void ClusterLearner::reconsider() { std::fill_n(refused_rows_, config_.max_clusters, -1.0); }

void ClusterLearner::fit_arrivals(Backend& backend, const GoOn& go_on) {
  if (settings_.unexplained_births && stream_ > 1 && go_on()) births_on_arrival(backend);
  settle(backend, go_on() ? settings_.laps : 1);
}

void ClusterLearner::fit_births(Backend& backend, const GoOn& go_on) {
  fit_arrivals(backend, go_on);
  fit_rounds(backend, go_on);
}

void ClusterLearner::fit_rounds(Backend& backend, const GoOn& go_on) {
  for (int round = 0; round < settings_.rounds && go_on(); ++round) {
    if (births(backend, round, go_on) == 0) break;
    settle(backend, settings_.laps);
  }
}

void ClusterLearner::fit(Backend& backend, const GoOn& go_on) {
  fit_moves(backend, go_on);
  if (stream_ > 1 || settings_.prior.mode != PriorMode::kFitted) return;
  // How wide clusters are is seen when the block has been divided, and then it may be divided
  // further.
  constexpr int kMostTimes = 8;
  for (int time = 0; time < kMostTimes && go_on(); ++time) {
    const Index before = mixture_.clusters();
    if (!set_fitted_prior(mixture_, settings_.prior, scratch_)) return;
    reconsider();
    fit_moves(backend, go_on);
    if (mixture_.clusters() == before) return;
  }
}

void ClusterLearner::fit_moves(Backend& backend, const GoOn& go_on) {
  fit_arrivals(backend, go_on);
  bool divided = !settings_.divisions;
  for (int round = 0; round < settings_.rounds && go_on(); ++round) {
    Index moves = births(backend, round, go_on);
    if (moves > 0) settle(backend, settings_.laps);
    moves += merges();
    if (moves == 0 && !divided && go_on()) {
      // Last, when the clusters of this stream stand: a row counts once in a candidate.
      divided = true;
      moves = divisions(backend);
    }
    if (moves == 0) break;
    settle(backend, settings_.laps);
  }
}

void ClusterLearner::close(Backend& backend) {
  if (!mixture_.stream_open()) return;
  if (!lapped_) settle(backend, 1);  // rows belong somewhere, whatever the caller left out
  let_stand_ins_go(backend);
  merges();
  drop_weak_clusters();
  finish_close(backend, true);
}

void ClusterLearner::absorb(Backend& backend) {
  if (!mixture_.stream_open()) return;
  settle(backend, 1);
  const bool born =
      settings_.divisions && divisions(backend, Divide::kYoung) + rare_births(backend) > 0;
  if (born) settle(backend, settings_.laps);
  finish_close(backend, born);
}

// changed: there may be other components than before, or they may lie elsewhere.
void ClusterLearner::finish_close(Backend& backend, bool changed) {
  score_stream(backend);
  count_present();
  hold_back_pending(backend);
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    const double present = mixture_.mass(k) - mixture_.carried().mass(k);
    if (present >= 0.5 * mixture_.row_weight()) registry_.info(k).seen_stream = stream_;
  }
  publish_newborns();
  met_rows_ = 0;
  birth_.set_arrivals(nullptr);
  const ConstMatrixView z = mixture_.stream_rows().row_range(0, given_rows_);
  mixture_.close_stream();
  follow_components(changed ? GroupedRows{z, score_, chosen_, difference_} : GroupedRows{});
  // One cluster may be several that are still to be parted: it does not say how wide they are.
  const bool alone = settings_.prior.mode == PriorMode::kFitted && mixture_.clusters() == 1;
  if (settings_.prior.mode >= PriorMode::kEmpirical && !alone) {
    set_pooled_prior(mixture_, settings_.prior, scratch_);
  }
}

// ---- the end of a stream ------------------------------------------------------------------------

// A newborn needs a few rows to be told from chance, and an old cluster that gave almost all of its
// rows to newborns is no more than one of them: the heaviest heir keeps its id.
void ClusterLearner::drop_weak_clusters() {
  const double least = std::max(5.0, 0.5 * static_cast<double>(config_.shape.dims));
  for (Index k = mixture_.clusters() - 1; k >= 0 && mixture_.clusters() > 1; --k) {
    if (mixture_.rows_of(k) >= least || registry_.info(k).kept_apart != 0) continue;
    mixture_.refresh_pairs();
    note_merge(merge_.retire(mixture_, k), ClusterEventKind::kRetired);
  }
}

void ClusterLearner::score_stream(Backend& backend) {
  const ConstMatrixView z = mixture_.stream_rows();
  const ConstMatrixView variance = mixture_.stream_variance();
  for (Index begin = 0; begin < z.rows; begin += Mixture::kLocalRows) {
    const Index count = std::min(Mixture::kLocalRows, z.rows - begin);
    mixture_.score(backend, z.row_range(begin, count),
                   variance.data != nullptr ? variance.row_range(begin, count) : ConstMatrixView(),
                   {score_r_, count, mixture_.clusters()}, score_ + begin);
  }
}

void ClusterLearner::count_present() {
  std::fill_n(present_, mixture_.clusters(), 0.0);
  std::fill_n(present_novel_, mixture_.clusters(), 0.0);
  for (Index i = 0; i < met_rows_; ++i) {
    present_[score_[i].cluster] += 1.0;
    present_novel_[score_[i].cluster] += met_novel_[i] != 0 ? 1.0 : 0.0;
  }
}

void ClusterLearner::let_stand_ins_go(Backend& backend) {
  if (given_rows_ == own_rows_) return;
  for (Index i = own_rows_; i < given_rows_; ++i) mixture_.hold_out(i);
  mixture_.recount(backend);
}

// Rows that are far from every cluster go to the pool, if there is room and they have not waited
// too long. Every row is counted once in the scale of novelty: a row of a kind that was known as it
// was met, others as they are now; if it waited and was explained later, as it is then.
void ClusterLearner::hold_back_pending(Backend& backend) {
  const Index m = config_.shape.dims;
  const Index rows = mixture_.stream_rows().rows;
  const double far = half_chi_squared_quantile(m, settings_.pending_part);
  const auto parameters = static_cast<double>(m + config_.shape.scatter_size());
  // Far from every cluster, or novel as it was met and near none but one of too few rows to say how
  // wide it is: strays of many kinds would take every new kind in.
  const auto apart = [&](Index i) {
    const Index k = score_[i].cluster;
    return score_[i].remoteness > far || (met_novel_[i] != 0 && registry_.info(k).id != kNoId &&
                                          mixture_.rows_of(k) < 2.0 * parameters);
  };
  Index held = 0;
  // Those that wait already come last in the stream, and first here.
  for (Index i = rows - 1; i >= 0 && held < config_.pending_rows; --i) {
    if (i >= own_rows_ && i < given_rows_) continue;
    const Index waiting = i - given_rows_;
    const bool tired =
        waiting >= 0 && static_cast<int>(pending_.age(waiting)) + 1 >= settings_.pending_streams;
    if (apart(i) && !tired) chosen_[held++] = static_cast<std::uint32_t>(i);
  }
  std::sort(chosen_, chosen_ + held);
  const double usual = mixture_.surprise_quantile(0.5);
  Index next = 0;
  for (Index i = 0; i < rows; ++i) {
    if (i >= own_rows_ && i < given_rows_) continue;
    const Index waiting = i - given_rows_;
    const bool waits = next < held && chosen_[next] == static_cast<std::uint32_t>(i);
    const Index k = score_[i].cluster;
    const bool known = i < met_rows_ && registry_.info(k).id != kNoId && !mostly_novel(k);
    const float surprise = known ? met_surprise_[i] : -score_[i].log_density;
    if (waiting < 0) {
      novelty_.count(surprise, usual, settings_.novelty);
    } else if (!waits && !apart(i)) {
      novelty_.uncount(pending_.surprise(waiting));
      novelty_.count(surprise, usual, settings_.novelty);
    }
    if (!waits) continue;
    // The pool is written anew below: ages and surprises are set aside first.
    age_[next] = waiting < 0 ? 0 : pending_.age(waiting) + 1;
    surprise_[next] = waiting < 0 ? surprise : pending_.surprise(waiting);
    ++next;
  }
  pending_.clear();
  for (Index h = 0; h < held; ++h) {
    const Index i = chosen_[h];
    const bool spread = mixture_.stream_variance().data != nullptr || i >= given_rows_;
    pending_.add(z_ + i * m, spread ? variance_ + i * m : nullptr, age_[h], surprise_[h]);
    mixture_.hold_out(i);
  }
  if (held > 0) mixture_.recount(backend);
}

// In the first stream nothing is known of what is usual: a handful of rows apart, fewer than a
// cluster has parameters, may be strays of what is there. They are announced when as many again,
// and enough to see a shape, have come: perhaps the first rows of a kind that is met only now.
void ClusterLearner::publish_newborns() {
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    ComponentInfo& info = registry_.info(k);
    const double rows = mixture_.rows_of(k);
    const bool grown = info.provisional != 0 &&
                       rows >= 2.0 * static_cast<double>(config_.shape.dims) &&
                       rows >= 2.0 * info.birth_rows;
    const Index c = registry_.cluster_of(k);
    const bool untouched = (c < 0 || registry_.clusters()[c].name[0] == '\0') &&
                           info.kept_whole == 0 && info.kept_apart == 0;
    if (info.id == kNoId || grown) {
      publish(k);
    } else if (met_rows_ > 0 && untouched && present_novel_[k] > rows - present_[k] &&
               birth_.past_is_different(mixture_, k)) {
      publish_successor(k);
    }
  }
}

void ClusterLearner::publish(Index k) {
  const ClusterShape& shape = config_.shape;
  const auto parameters = static_cast<double>(shape.dims + shape.scatter_size());
  const double few =
      stream_ == 1 ? std::min(parameters, kHandful * static_cast<double>(own_rows_)) : 0.0;
  ComponentInfo& info = registry_.info(k);
  const bool newborn = info.id == kNoId;
  if (newborn) registry_.publish(k);
  info.birth_rows = mixture_.rows_of(k);
  info.provisional = newborn && info.birth_rows < few ? 1 : 0;
  info.born_stream = stream_;
}

// Rows that nothing explained came to where a few strays of other kinds lay, and outnumber them:
// what the cluster was is a part of what it has become. If the old rows could be of the new rows'
// distribution, they were no strays but the first rows of this kind.
void ClusterLearner::publish_successor(Index k) {
  candidates_.clear(k);
  ComponentInfo& info = registry_.info(k);
  info.birth_gain = 0.0;
  info.birth_rows = present_[k];
  if (!registry_.succeed(k, stream_)) return;  // a part of its cluster: follow_components() tells
  tell({.kind = ClusterEventKind::kBorn,
        .stream = stream_,
        .id = info.cluster,
        .other = info.parent,
        .rows = info.birth_rows});
  tell({.kind = ClusterEventKind::kMerged,
        .stream = stream_,
        .id = info.cluster,
        .other = info.parent,
        .rows = mixture_.rows_of(k) - present_[k]});
}

void ClusterLearner::follow_components(const GroupedRows& rows) {
  if (settings_.group)
    grouping_.group(mixture_, registry_, rows, stream_ == 1, settings_.group_resolution, group_);
  else
    grouping_.keep_apart(mixture_, registry_, group_);
  for (Index k = 0; k < mixture_.clusters(); ++k) group_rows_[k] = mixture_.rows_of(k);
  for (const ClusterChange& change : registry_.regroup(group_, group_rows_, stream_)) {
    constexpr ClusterEventKind kKinds[] = {ClusterEventKind::kBorn, ClusterEventKind::kNoticed,
                                           ClusterEventKind::kMerged};
    tell({.kind = kKinds[static_cast<int>(change.what)],
          .stream = stream_,
          .id = change.id,
          .other = change.other,
          .gain = change.gain,
          .rows = change.rows});
  }
}

// ---- rows, without learning ---------------------------------------------------------------------

void ClusterLearner::score(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                           MatrixView r, RowScore* out, float* novelty) const {
  mixture_.score(backend, z, variance, r, out);
  const bool empty = mixture_.rows_learnt() == 0.0;
  const double limit = boundary();
  for (Index i = 0; i < z.rows; ++i) {
    novelty[i] = empty ? 1.0F : novelty_.novelty(-out[i].log_density, limit);
  }
}

NoveltyReason ClusterLearner::explain(const float* z, double* contribution) const {
  const Index m = config_.shape.dims;
  NoveltyReason reason;
  reason.boundary = boundary();
  double* point = scratch_;
  double* work = scratch_ + m;
  for (Index i = 0; i < m; ++i) point[i] = z[i];
  // The cluster with the largest share in the density there.
  Index nearest = 0;
  double largest = -1e300;
  double sum = 0.0;
  for (Index k = 0; k < mixture_.clusters(); ++k) {
    const double density = std::log(mixture_.weight(k)) +
                           log_predictive(config_.shape, mixture_.posterior(k), point, work);
    if (density > largest) {
      sum = sum * std::exp(largest - density) + 1.0;
      largest = density;
      nearest = k;
    } else {
      sum += std::exp(density - largest);
    }
  }
  reason.surprise = -(largest + std::log(sum));
  reason.nearest = registry_.info(nearest).cluster;
  const Posterior& p = mixture_.posterior(nearest);
  if (config_.shape.covariance == FactorShape::kDiagonal) {
    for (Index i = 0; i < m; ++i) {
      const double d = point[i] - p.mean[i];
      contribution[i] = d * d * p.nu / p.factor[i];
    }
  } else {
    // d ⊙ ν B⁻¹ d, whose sum is the squared distance.
    for (Index i = 0; i < m; ++i) work[i] = point[i] - p.mean[i];
    solve_positive_definite(p.factor, m, work);
    for (Index i = 0; i < m; ++i) contribution[i] = p.nu * work[i] * (point[i] - p.mean[i]);
  }
  for (Index i = 0; i < m; ++i) reason.squared_distance += contribution[i];
  return reason;
}

}  // namespace adapvae

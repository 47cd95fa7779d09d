// Model: gains of a base, made of rows and added to it. The network stands still meanwhile.
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/bounds.h"
#include "base/crc64.h"
#include "model/model.h"

namespace adapvae {

// Everything that a row's features depend on.
GainBase Model::gain_base() const {
  GainBase base;
  const auto add = [&base](const void* bytes, std::size_t size) {
    base.encoder = crc64(bytes, size, base.encoder);
  };
  for (const std::int32_t field :
       {config_.inputs, config_.latent, config_.hidden1, config_.hidden2, config_.hidden3,
        config_.hidden4, config_.activation, config_.scale_inputs}) {
    add(&field, sizeof field);
  }
  add(vae_.parameters(),
      static_cast<std::size_t>(vae_.encoder().parameter_count()) * sizeof(float));
  for (Index i = 0; i < config_.inputs && config_.scale_inputs != 0; ++i) {
    for (const double number : {input_scale_.first(i), input_scale_.second(i)}) {
      add(&number, sizeof number);
    }
  }
  base.clusters = learner_.base_mark();
  base.sequence = stream_;
  base.known = static_cast<std::uint32_t>(learner_.mixture().clusters());
  base.shape = learner_.config().shape;
  return base;
}

std::size_t Model::most_gain_bytes() const {
  return kGainHeadBytes + kGainKeyBytes +
         static_cast<std::size_t>(ClusterLearner::most_gain_bytes(learner_.config())) +
         kGainTailBytes;
}

// ---- making -------------------------------------------------------------------------------------

Status Model::gain(Backend& backend, ConstMatrixView rows, std::uint64_t worker,
                   std::uint64_t sequence, std::byte* out, std::size_t capacity,
                   std::size_t* size) {
  ADAPVAE_RETURN_IF_ERROR(check_whole());
  if (rows.rows > 0) ADAPVAE_RETURN_IF_ERROR(check_stream(rows, rows.rows));
  if (nothing_learnt()) {
    return {StatusCode::kUnavailable, "nothing has been learnt that rows could be added to"};
  }
  if (waiting_ > 0) return rows_wait();
  if (config_.restore_on_failure == 0) {
    return {StatusCode::kUnavailable, "gains are made where restore_on_failure has its memory"};
  }
  if (capacity < most_gain_bytes()) {
    *size = most_gain_bytes();
    return {StatusCode::kOutOfMemory, "gains need more memory to be made in: size says how much"};
  }
  const GainBase base = gain_base();
  GainTable table = {out + kGainHeadBytes + kGainKeyBytes,
                     capacity - kGainHeadBytes - kGainKeyBytes - kGainTailBytes};
  learner_.begin_gain(table);
  learner_.keep_state();
  ADAPVAE_RETURN_IF_ERROR(gain_rows(backend, rows, table));
  GainView gain;
  gain.worker = worker;
  gain.sequence = sequence;
  gain.rows = static_cast<std::uint64_t>(rows.rows);
  gain.born = table.born;
  gain.bytes = table.size;
  *size = close_gain(base, gain, out);
  return {};
}

// In pieces of half a stream: novel rows wait until there are that many, and a piece of them fits
// behind.
Status Model::gain_rows(Backend& backend, ConstMatrixView rows, GainTable& table) {
  const Index piece = std::max<Index>(config_.block_rows / 2, 1);
  Index novel = 0;
  for (Index begin = 0; begin < rows.rows; begin += piece) {
    const Index n = std::min(piece, rows.rows - begin);
    if (novel + n > config_.block_rows) {
      ADAPVAE_RETURN_IF_ERROR(gain_waiting(backend, novel, table));
      novel = 0;
    }
    Index known = 0;
    ADAPVAE_RETURN_IF_ERROR(part_rows(backend, rows.row_range(begin, n), &known, &novel));
    if (known == 0) continue;
    const LatentCodes now = codes(known);
    ADAPVAE_RETURN_IF_ERROR(learner_.gain_known(backend, now.mean, now.variance, table));
  }
  return novel > 0 ? gain_waiting(backend, novel, table) : Status();
}

// Features of known rows to the front of z_; novel rows behind those that wait in all_.
Status Model::part_rows(Backend& backend, ConstMatrixView rows, Index* known, Index* novel) {
  const Index m = config_.latent;
  for (Index begin = 0; begin < rows.rows; begin += config_.pass_rows) {
    const Index n = std::min<Index>(config_.pass_rows, rows.rows - begin);
    const MatrixView z(z_ + *known * m, n, m);
    const MatrixView variance(variance_ + *known * m, n, m);
    ConstMatrixView x;
    ADAPVAE_RETURN_IF_ERROR(scaled_pass(backend, rows.row_range(begin, n), &x));
    ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, x, z, variance));
    learner_.score(backend, z, variance, MatrixView(score_r_, n, learner_.mixture().clusters()),
                   score_, novelty_);
    ADAPVAE_RETURN_IF_ERROR(judge(backend, z, x));
    ADAPVAE_RETURN_IF_ERROR(backend.status());
    Index kept = 0;
    for (Index i = 0; i < n; ++i) {
      if (novelty_[i] > 0.5F) {
        std::copy_n(x.row(i), config_.inputs, all_ + (*novel)++ * config_.inputs);
        continue;
      }
      if (kept < i) {
        std::copy_n(z.row(i), m, z.row(kept));
        std::copy_n(variance.row(i), m, variance.row(kept));
      }
      ++kept;
    }
    *known += kept;
  }
  return {};
}

Status Model::gain_waiting(Backend& backend, Index novel, GainTable& table) {
  ADAPVAE_RETURN_IF_ERROR(encode(backend, ConstMatrixView(all_, novel, config_.inputs)));
  const LatentCodes now = codes(novel);
  return learner_.gain_novel(backend, now.mean, now.variance, table);
}

// ---- adding -------------------------------------------------------------------------------------

Status Model::check_gains(const GainSet& set, double time) {
  ADAPVAE_RETURN_IF_ERROR(check_whole());
  if (!within(time, kLargestNumber) || time < time_) {
    return {StatusCode::kInvalidArgument, "time must not run backwards"};
  }
  if (waiting_ > 0) return rows_wait();
  ADAPVAE_RETURN_IF_ERROR(check_room(set.rows()));
  const GainBase own = gain_base();
  if (set.base().encoder != own.encoder) {
    return {StatusCode::kForeign,
            "gains of another network, or of this one before it was trained on"};
  }
  if (set.base().sequence < own.sequence) {
    return {StatusCode::kLate, "gains of a base that this model has gone on from"};
  }
  if (!(set.base() == own)) {
    return {StatusCode::kForeign, "gains of other clusters, or of these before a correction"};
  }
  GainSet::Place at;
  GainView gain;
  while (set.next(at, &gain)) {
    if (learner_.check_gain(gain)) continue;
    return {StatusCode::kCorruptData, "a gain holds numbers that cannot be", at.number - 1};
  }
  return {};
}

Status Model::apply(Backend& backend, const GainSet& set, double time, GainAlias* aliases,
                    StreamReport* report) {
  ADAPVAE_RETURN_IF_ERROR(check_gains(set, time));
  *report = {};
  if (set.gains() == 0) return {};
  keep_counts();
  learner_.keep_state();
  retries_ = 0;
  open_report(static_cast<Index>(set.rows()), report);
  replay_.clear();
  neighbours_.clear();
  ++stream_;
  time_ = time;
  learner_.begin_gains(static_cast<double>(set.rows()), time, aliases);
  GainView gain;
  for (GainSet::Place at; set.next(at, &gain);) learner_.add_known(gain);
  Index next = 0;
  for (GainSet::Place at; set.next(at, &gain);) {
    for (Index b = 0; b < gain.born && aliases != nullptr; ++b) {
      aliases[next++] = {gain.worker, gain.sequence, static_cast<std::uint32_t>(b + 1), kNoId};
    }
    learner_.add_newborns(gain);
  }
  learner_.close_gains();
  if (!learner_.sound()) {
    restore_counts();
    learner_.restore_state();
    return {StatusCode::kCorruptData, "the gains add up to numbers that no model holds"};
  }
  rows_learnt_ += set.rows();
  close_report(backend, report);
  return {};
}

}  // namespace adapvae

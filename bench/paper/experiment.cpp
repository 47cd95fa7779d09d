#include "bench/paper/experiment.h"

#include <algorithm>

#include "bench/bench_support.h"
#include "bench/event_printer.h"

namespace adapvae::bench {

Status configure(const Protocol& protocol, const Streams& streams, std::string_view preset,
                 Index inputs, DataSet& set, Configuration& config) {
  ADAPVAE_RETURN_IF_ERROR(apply_preset(config, preset));
  if (!pool_inputs(set, inputs > 0 ? inputs : config.inputs, protocol.ordered) && inputs > 0) {
    return {StatusCode::kInvalidArgument, "the rows of this set cannot be made that long"};
  }
  if (set.width == 0) config.augment = 0;
  if (config.image_width > 0) {
    config.image_width = set.width;
    config.image_height = set.height;
  }
  config.inputs = static_cast<std::int32_t>(set.inputs);
  if (protocol.scaling != RowScaling::kNone) {
    config.likelihood = static_cast<std::int32_t>(Likelihood::kGaussian);
  }
  if (protocol.max_clusters > 0) config.max_clusters = protocol.max_clusters;
  const std::size_t longest = streams.longest();
  config.block_rows = static_cast<std::int32_t>(longest);
  config.batch = std::min(config.batch, config.block_rows);
  if (streams.stages.size() == 1) config.replay_ratio = 0.0;  // nothing is ever replayed: no room
  if (streams.pretrain.size() > longest) {
    // Pretraining may use the room of replay rows, too; only as many as wanted are drawn.
    const auto wanted = static_cast<std::size_t>(replay_wanted(config, config.block_rows));
    config.replay_rows =
        static_cast<std::int32_t>(std::max(wanted, streams.pretrain.size() - longest));
  }
  return {};
}

Experiment::Experiment(const Protocol& protocol, const Streams& streams, const DataSet& set,
                       const Configuration& config, int threads, bool quiet)
    : protocol_(protocol), streams_(streams), set_(set), pool_(threads), quiet_(quiet) {
  ComputeLimits limits = Model::limits(config);
  limits.workers = threads;
  memory_ = std::make_unique<tools::PlacedMemory>([&](Arena& arena) {
    backend_.place(arena, limits, *select_kernels(IsaLevel::kAuto));
    model_.place(arena, config);
  });
  model_.reset();
  if (threads > 1) backend_.set_parallel_for({&tools::ThreadPool::run, &pool_});
  model_.clusters().set_event_sink({&Experiment::tell, this});
}

void Experiment::tell(void* experiment, const ClusterEvent& event) {
  auto* self = static_cast<Experiment*>(experiment);
  if (self->current_ != nullptr) {
    self->current_->births += event.kind == ClusterEventKind::kBorn ? 1 : 0;
    self->current_->merges +=
        event.kind == ClusterEventKind::kMerged || event.kind == ClusterEventKind::kRetired ? 1 : 0;
  }
  if (!self->quiet_) write_event(stderr, event);
}

std::vector<float> Experiment::rows_of(const std::vector<std::uint32_t>& numbers) const {
  std::vector<float> rows;
  rows.reserve(numbers.size() * static_cast<std::size_t>(set_.inputs));
  for (const std::uint32_t i : numbers) {
    rows.insert(rows.end(), set_.train_row(i), set_.train_row(i) + set_.inputs);
  }
  return rows;
}

Status Experiment::judge(const std::vector<float>& rows, Judgement& out) {
  const Index d = set_.inputs;
  const Index count = static_cast<Index>(rows.size()) / d;
  out.id.resize(static_cast<std::size_t>(count));
  out.component.resize(out.id.size());
  out.novelty.resize(out.id.size());
  std::vector<RowResult> results(out.id.size());
  ADAPVAE_RETURN_IF_ERROR(model_.score(backend_, {rows.data(), count, d}, results.data()));
  for (std::size_t i = 0; i < out.id.size(); ++i) {
    out.id[i] = results[i].id;
    out.component[i] = results[i].component;
    out.novelty[i] = results[i].novelty;
  }
  return {};
}

std::set<ClusterId> Experiment::born_in(std::uint64_t first, std::uint64_t last) const {
  const ClusterTable& clusters = model_.clusters().registry().clusters();
  std::set<ClusterId> out;
  for (Index c = 0; c < clusters.count(); ++c) {
    // The cluster that is there from the start was born with the first stream.
    const std::uint64_t stream = std::max<std::uint64_t>(clusters[c].born_stream, 1);
    if (stream >= first && stream <= last) out.insert(clusters[c].id);
  }
  return out;
}

Scores Experiment::score(const std::set<int>& classes) const {
  Scores scores;
  scores.clusters = model_.clusters().registry().clusters().count();
  scores.components = model_.clusters().mixture().clusters();
  scores.by_cluster = agreement(held_out_.id, set_.test.label, classes);
  scores.by_component = agreement(held_out_.component, set_.test.label, classes);
  return scores;
}

// What the model thinks of rows before it learns from them.
Status Experiment::look_ahead(std::size_t stage, StageReport& report) {
  report.false_alarms = flagged(held_out_.novelty, set_.test.label, seen_);
  if (protocol_.streams == StreamKind::kBatch || protocol_.streams == StreamKind::kRare) return {};
  const Stage& now = streams_.stages[stage];
  Judgement first;
  ADAPVAE_RETURN_IF_ERROR(judge(rows_of(now.rows), first));
  std::vector<int> label;
  for (const std::uint32_t i : now.rows) label.push_back(set_.train.label[i]);
  for (const int fresh : now.fresh) {
    Novelty novelty;
    novelty.stream = static_cast<int>(stage) + 1;
    novelty.held_out.label = fresh;
    novelty.delay_rows = detection_delay(first.novelty, label, fresh);
    novelty.flagged = flagged(first.novelty, label, {fresh});
    novelty_.push_back(novelty);
  }
  return {};
}

// What the held-out rows say of the model as this stream has left it.
void Experiment::look_back(std::size_t stage, StageReport& report) {
  const std::vector<int>& label = set_.test.label;
  const std::set<int> earlier = seen_;
  seen_.insert(report.fresh.begin(), report.fresh.end());
  report.scores = score(seen_);
  const auto majority = majorities(held_out_.id, label, seen_);
  frozen_.insert(majority.begin(), majority.end());  // what is there already stays
  const std::set<ClusterId> born = born_in(stage + 1, stage + 1);
  for (const auto& [cluster, most] : majority) {
    const bool wanted =
        std::find(report.fresh.begin(), report.fresh.end(), most) != report.fresh.end();
    if (born.count(cluster) != 0 && !wanted) ++report.strays;
  }
  for (Novelty& novelty : novelty_) {
    if (novelty.stream != static_cast<int>(stage) + 1) continue;
    const int wanted = novelty.held_out.label;
    novelty.held_out =
        finding(held_out_.id, label, seen_, clusters_of(majority, born, wanted), wanted);
  }
  if (earlier.empty()) return;
  report.earlier_nmi = agreement(held_out_.id, label, earlier).nmi;
  report.earlier_frozen = accuracy(held_out_.id, label, earlier, frozen_);
}

Status Experiment::learn(std::size_t stage, StageReport& report) {
  const Stage& now = streams_.stages[stage];
  report.rows = now.rows.size();
  report.fresh = now.fresh;
  ADAPVAE_RETURN_IF_ERROR(look_ahead(stage, report));
  const std::vector<float> rows = rows_of(now.rows);
  const double start = bench::now();
  StreamReport stream;
  current_ = &report;
  const Status status = model_.learn(
      backend_, {rows.data(), static_cast<Index>(now.rows.size()), set_.inputs}, &stream);
  current_ = nullptr;
  ADAPVAE_RETURN_IF_ERROR(status);
  report.seconds = bench::now() - start;
  report.replay_rows = stream.replay_rows;
  report.drift = stream.largest_drift;
  ADAPVAE_RETURN_IF_ERROR(judge(set_.test.values, held_out_));
  look_back(stage, report);
  const ClusterMetrics& m = report.scores.by_cluster;
  std::fprintf(
      stderr,
      "stream %zu: K %td, components %td, NMI %.3f, ARI %.3f, loss %.1f, drift %.2f, %.1f s\n",
      stage + 1, report.scores.clusters, report.scores.components, m.nmi, m.ari, stream.loss.loss,
      stream.largest_drift, report.seconds);
  return {};
}

Status Experiment::score_rare(RareReport& report) {
  const std::uint64_t last = streams_.stages.size();
  const std::set<ClusterId> born = born_in(2, last);
  const auto find = [&](const Judgement& at, const std::vector<int>& label) {
    const auto own = clusters_of(majorities(at.id, label, seen_), born, kRareClass);
    return finding(at.id, label, seen_, own, kRareClass);
  };
  report.held_out = find(held_out_, set_.test.label);
  std::vector<std::uint32_t> numbers;
  std::vector<int> label;
  for (std::size_t t = 1; t < streams_.stages.size(); ++t) {
    for (const std::uint32_t i : streams_.stages[t].rows) {
      numbers.push_back(i);
      label.push_back(set_.train.label[i]);
    }
  }
  Judgement own;
  ADAPVAE_RETURN_IF_ERROR(judge(rows_of(numbers), own));
  report.streams = find(own, label);
  const auto majority = majorities(held_out_.id, set_.test.label, seen_);
  for (std::uint64_t t = last; t >= 2; --t) {
    if (!clusters_of(majority, born_in(t, t), kRareClass).empty()) {
      report.first_stream = static_cast<int>(t);
    }
  }
  return {};
}

Status Experiment::run(Report& report, Watcher* watcher) {
  report = {};
  report.rows = streams_.rows();
  report.held_out_rows = set_.test.size();
  report.model_mb = static_cast<double>(memory_->bytes()) / 1e6;
  if (!streams_.pretrain.empty()) {
    const std::vector<float> rows = rows_of(streams_.pretrain);
    const double start = now();
    ADAPVAE_RETURN_IF_ERROR(model_.pretrain(
        backend_, {rows.data(), static_cast<Index>(streams_.pretrain.size()), set_.inputs}));
    report.seconds += now() - start;
    std::fprintf(stderr, "pretrained on %zu rows, %.1f s\n", streams_.pretrain.size(),
                 report.seconds);
  }
  report.stages.resize(streams_.stages.size());
  for (std::size_t t = 0; t < streams_.stages.size(); ++t) {
    ADAPVAE_RETURN_IF_ERROR(learn(t, report.stages[t]));
    report.seconds += report.stages[t].seconds;
    if (report.stages[t].fresh.empty()) report.false_births += report.stages[t].births;
    if (watcher != nullptr) watcher->after_stream(*this);
  }
  report.scores = report.stages.back().scores;
  report.frozen = accuracy(held_out_.id, set_.test.label, seen_, frozen_);
  report.novelty = novelty_;
  return protocol_.streams == StreamKind::kRare ? score_rare(report.rare) : Status();
}

}  // namespace adapvae::bench

// AdapVAE: network and mixture as one model that learns from streams. model.cpp is the storyboard:
// it calls the stages in order and does no mathematics itself. model_inference.cpp has what changes
// nothing. Not for concurrent use.
#pragma once

#include <array>

#include "model/column_novelty.h"
#include "model/configuration_parts.h"
#include "model/event_ring.h"
#include "model/gain_set.h"
#include "model/inference.h"
#include "model/metrics.h"
#include "model/missing_cells.h"
#include "model/pacing.h"
#include "model/row_novelty.h"
#include "model/snapshot.h"
#include "model/stream_report.h"
#include "network/standardiser.h"

namespace adapvae {

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // The configuration must have passed check_configuration, here and in place().
  static ComputeLimits limits(const Configuration& config, ModelUse use = ModelUse::kLearn);
  void place(Arena& arena, const Configuration& config, ModelUse use = ModelUse::kLearn,
             MemoryLayout layout = MemoryLayout::kShared);
  // As before anything was learnt, from the configuration's seed. Must follow place().
  void reset();

  // As placed (replay_rows never 0 unless there is no replay), with what set_live() changed.
  const Configuration& configuration() const { return config_; }
  ModelUse use() const { return use_; }
  // Changes a live field between streams. kInvalidArgument, and nothing changed, for a frozen one,
  // a value that it does not take or that does not fit the others.
  Status set_live(const FieldInfo& field, double value);

  // Corrections, events, what is known of clusters. Its settings come from the configuration.
  ClusterLearner& clusters() { return learner_; }
  const ClusterLearner& clusters() const { return learner_; }
  Vae& network() { return vae_; }
  // What a device keeps a copy of, of a model that was placed kApart; the second is empty in one
  // that only scores.
  static constexpr std::size_t kDeviceMemories = 2;
  std::array<MemoryRange, kDeviceMemories> device_memory() const;
  // The most rows of operations on codes and clusters, and bytes of weights outside that memory.
  static Index stream_rows(const Configuration& config);
  static std::size_t loose_weight_bytes(const Configuration& config);
  std::uint64_t streams() const { return stream_; }
  std::uint64_t rows_learnt() const { return rows_learnt_; }
  // What the first stream said of the inputs' scale; off unless scale_inputs is set.
  Standardiser& input_scale() { return input_scale_; }

  // kUnavailable if `rows` more rows, or the events and ids of another block or correction, cannot
  // be counted.
  Status check_room(std::uint64_t rows) const;

  // For the streams to come; not part of what the model knows.
  Status set_pacing(const Pacing& pacing);
  // For experiments and tests: the network also trains on blocks that bring nothing new.
  void learn_every_block(bool every) { learn_every_block_ = every; }

  // The first stream's pretraining, on rows given apart: up to block_rows + replay_rows of them,
  // once, before any stream. Nothing else is learnt from them, and the first stream then goes
  // straight to its clusters.
  Status pretrain(Backend& backend, ConstMatrixView rows);

  // One stream: up to block_rows rows. time is used by half_life_time alone; it must not run
  // backwards. Rows that are refused (a shape, a number that is not finite, with a Bernoulli
  // likelihood one outside [0, 1]) change nothing; the index is the row's.
  // kInvalidArgument while rows of push() wait. If the backend fails half-way, its status, and the
  // model is as it was before the call; without restore_on_failure it takes nothing but reset()
  // then. Likewise pretrain().
  Status learn(Backend& backend, ConstMatrixView rows, StreamReport* report, double time = 0.0);

  // Any number of rows, which wait until there are block_rows of them and are then learnt as a
  // stream, at the time of the last push. All of them are checked before anything changes. *report
  // is of the last stream learnt in this call, and means nothing if *streams_learnt is 0. If the
  // backend fails, the streams learnt before are, and of the rows that did not go into one none has
  // been taken.
  Status push(Backend& backend, ConstMatrixView rows, double time, StreamReport* report,
              Index* streams_learnt);
  // Learns the rows that wait, however few; nothing happens if none do. If it fails they still
  // wait.
  Status flush(Backend& backend, StreamReport* report);
  Index rows_pending() const { return waiting_; }
  // Whether a stream was learnt or rows wait, and the time of the last of them; 0 if not.
  bool has_time() const { return stream_ > 0 || waiting_ > 0; }
  double latest_time() const { return waiting_ > 0 ? waiting_time_ : time_; }

  // What happened since event number `after` (0: since ever), oldest first: see event_ring.h. The
  // learner's event sink is taken by this: another one there silences it.
  EventRead read_events(std::uint64_t after, ModelEvent* out, Index capacity) const {
    return events_.read(after, out, capacity);
  }
  std::uint64_t last_event() const { return events_.last(); }

  // ---- rows, without learning ----
  // Any number of rows, in the units of the input, none included. A refusal (kShapeMismatch,
  // kNonFinite with the row) comes before anything is written. All may be called before the first
  // stream: the network is then as it was drawn, and there are no clusters.
  Status score(Backend& backend, ConstMatrixView rows, RowResult* out);
  // Of every cluster: out [n × cluster_count()]. Before the first stream: nothing is written.
  Status probabilities(Backend& backend, ConstMatrixView rows, MatrixView out);
  // contribution [m] and error [d] are where those parts of *reason go.
  Status explain(Backend& backend, const float* row, RowReason* reason, double* contribution,
                 float* error);
  // Features: mean [n × m], variance [n × m] or empty.
  Status encode(Backend& backend, ConstMatrixView rows, MatrixView mean, MatrixView variance);
  // The network's mean of a row with features z, in the units of the input.
  Status decode(Backend& backend, ConstMatrixView z, MatrixView x);
  // decode of the mean of encode.
  Status reconstruct(Backend& backend, ConstMatrixView rows, MatrixView out);

  // Of cluster number c, as of one Gaussian: mean [m] and covariance [m × m]; either may be null.
  void moments(Index c, double* mean, double* covariance) const;

  // ---- rows made up ----
  // As many as the outputs have rows: features z and decoded x; either may be empty. Ids are
  // resolved. kInvalidArgument for an id that is nobody's, kUnavailable while nothing is learnt.
  // id [n], which may be null: the cluster of each.
  Status generate(Backend& backend, const GenerateSettings& settings, MatrixView z, MatrixView x,
                  ClusterId* id = nullptr);
  // Steps from one cluster's prototype to the other's, both included.
  Status interpolate(Backend& backend, ClusterId from, ClusterId to, MatrixView z, MatrixView x);
  // The mean of the cluster's largest component: one row.
  Status prototype(Backend& backend, ClusterId id, MatrixView z, MatrixView x);
  // Of all clusters, cluster_count() of them: 0 while nothing is learnt.
  Status prototypes(Backend& backend, MatrixView z, MatrixView x, ClusterId* id = nullptr);
  Index cluster_count() const {
    return nothing_learnt() ? 0 : learner_.registry().clusters().count();
  }

  // ---- gains: statistics that add up, while the network stands still (model_gain.cpp) ----
  // At most so many bytes is a gain.
  std::size_t most_gain_bytes() const;
  // What rows, any number of them, would add to this model, the base, which is left as it is; as a
  // set of one gain. Rows that are not novel to the base are counted where it puts them: there a
  // gain is a sum over rows. Novel ones are learnt beside it, in streams of at most block_rows.
  // kOutOfMemory, and nothing written, if capacity is less than most_gain_bytes(); kUnavailable
  // without restore_on_failure.
  Status gain(Backend& backend, ConstMatrixView rows, std::uint64_t worker, std::uint64_t sequence,
              std::byte* out, std::size_t capacity, std::size_t* size);
  // The gains of a set become a stream. aliases: null, or room for set.born() of them. kLate for
  // gains of this model as it was, kForeign for another's, kCorruptData for numbers that cannot be.
  Status apply(Backend& backend, const GainSet& set, double time, GainAlias* aliases,
               StreamReport* report);

  // ---- snapshots, between streams (docs/format.md) ----
  // What save() writes, exactly. Both change nothing.
  std::size_t snapshot_bytes() const;
  // kOutOfMemory, and nothing written, if capacity is less than that.
  Status save(std::byte* out, std::size_t capacity, std::size_t* size) const;
  // All that save() wrote, live fields included: what is learnt from now on is, byte for byte, what
  // the model that was saved would have learnt. Corrections before it can no longer be undone, and
  // events before it no longer be read.
  // kInvalidArgument if a frozen field differs (index: its number); kCorruptData for bytes that are
  // not right, kUnavailable for a newer version's. On failure nothing has changed.
  Status load(const std::byte* bytes, std::size_t size);

 private:
  // Counters when the stream began.
  struct Before {
    std::uint64_t births = 0;
    std::uint64_t merges = 0;
    std::uint64_t retirements = 0;
    std::uint64_t refusals = 0;
    std::uint64_t skipped_steps = 0;
    std::uint64_t taken_steps = 0;
    std::uint64_t repairs = 0;
  };

  static void hear(void* ring, const ClusterEvent& event);
  void open_report(Index rows, StreamReport* report);
  void close_report(Backend& backend, StreamReport* report);
  void note_drift(Index k, double shift, StreamReport* report);
  void note_repairs(EventReason reason, std::uint64_t times);
  void note_range(const Standardiser::Beyond& beyond, Index rows, bool rescaled);
  void note_input(EventReason reason, Index rows, Index input, Index* told);
  void note_stuck(ConstMatrixView rows);
  void note_missing(Index rows);
  void note_training(Index rows);
  double replay_accuracy(Backend& backend);
  void renumber_replay();
  SnapshotInfo snapshot_info() const;
  TensorFileContent snapshot_content() const;
  Status check_novelty(const TensorReader& reader) const;
  void take_snapshot(const TensorReader& reader, const SnapshotInfo& info);

  GainBase gain_base() const;
  Status part_rows(Backend& backend, ConstMatrixView rows, Index* known, Index* novel);
  Status gain_rows(Backend& backend, ConstMatrixView rows, GainTable& table);
  Status gain_waiting(Backend& backend, Index novel, GainTable& table);
  Status check_gains(const GainSet& set, double time);

  // What a stream may change, set aside before it and given back if it fails: model_restore.cpp.
  static Status broken_stream();
  static Status rows_wait();
  Status check_whole() const;  // not broken, and made to learn
  void place_kept(Arena& arena);
  bool changes_waiting_rows() const;
  void place_learning(Arena& arena, const VaeConfig& network, const LearnerConfig& clusters,
                      Index all);
  void keep(ConstMatrixView rows);
  void keep_counts();
  void restore_counts();
  Status finish(const Status& status, ConstMatrixView rows);
  void restore(ConstMatrixView rows);
  void start_training();
  Status learn_stream(Backend& backend, ConstMatrixView rows, StreamReport* report, double time);

  bool nothing_learnt() const { return learner_.mixture().rows_learnt() == 0.0; }
  Status check_stream(ConstMatrixView rows, Index most) const;
  static Status diverged();
  Status run_epoch(Backend& backend, const TrainingSettings& settings, ConstMatrixView all,
                   const VaeBatch& pattern, EpochReport* report);
  double input_cost(const EpochReport& epoch) const;
  Status check_epoch(const EpochReport& epoch) const;
  Status check_trained(const StreamReport& report) const;
  Status scale_stream(Backend& backend, ConstMatrixView rows, ConstMatrixView* scaled);
  Status check_rows(ConstMatrixView rows) const;
  Status check_numbers(ConstMatrixView rows) const;
  // Missing values are filled with what is expected, for scoring, or with draws of it, to be
  // learnt.
  enum class Fill : std::int32_t { kExpected, kDrawn };
  Status complete(Backend& backend, MatrixView x, Fill fill);
  void fill_from_rows(MatrixView x, Fill fill) const;
  void fill_from_others(MatrixView x) const;
  float squared_distance(Index i, const float* row, const float* other) const;
  float decoded_value(float output) const;
  Status fill_from_clusters(Backend& backend, MatrixView x, Index from, Fill fill);
  Status refine(Backend& backend, MatrixView x);
  bool range_has_changed(const Standardiser::Beyond& beyond) const;
  Status rescale(Backend& backend, ConstMatrixView rows);
  Status scaled_pass(Backend& backend, ConstMatrixView rows, ConstMatrixView* scaled);
  Status decode_pass(Backend& backend, ConstMatrixView z, MatrixView x);
  Status find_errors(Backend& backend, ConstMatrixView z, ConstMatrixView x, double inflation,
                     float* out);
  static ColumnNovelty::Kind column_kind(const Configuration& config);
  double optimism(Index rows) const;
  Status note_columns(Backend& backend, ConstMatrixView rows);
  struct ClusterFit {
    Index cluster = 0;  // by number
    double misfit = 0.0;
  };
  ClusterFit fit_of(const RowScore& score) const;
  double held_out_misfit(Index i, const float* z);
  float log_density_of(Index i, const float* row) const;
  struct Surprise {
    double features;
    double error;
    double boundary;  // of the sum of both
  };
  Status judge(Backend& backend, ConstMatrixView z, ConstMatrixView x);
  Surprise surprise_of(Index i) const;
  void place_explanation(Arena& arena);
  Status find_excess(Backend& backend, double* excess);
  Index choose_tried(const float* row, const float* error);
  Status attribute(Backend& backend, const float* row, const float* error, RowReason* reason);
  double most_counted(Index rows) const;
  Status look_back(Backend& backend, ConstMatrixView rows);
  void count_novelty(ConstMatrixView rows, bool trained);
  // Whether the features in which the block is learnt were there when it came.
  bool arrived() const { return stream_ > 1 && !rescaled_; }
  bool explained(Index rows) const;
  Status absorb(Backend& backend, ConstMatrixView rows, StreamReport* report, double time);
  Status finish_stream(Backend& backend, ConstMatrixView rows, StreamReport* report);
  Status find_cluster(ClusterId id, Index* c) const;
  Index largest_component(Index c) const;
  void find_numbers();
  void put_result(Index row, RowResult& result);
  Status check_made(MatrixView z, MatrixView x, Index* rows) const;
  void cluster_mean(Index c, float* z) const;
  template <typename Point>
  Status make_rows(Backend& backend, Index rows, MatrixView z, MatrixView x, const Point& point);
  Status pretrain_rows(Backend& backend, ConstMatrixView rows);
  Status learn_features(Backend& backend, ConstMatrixView rows);
  void project_on_axes(ConstMatrixView rows);
  Status start_variances(Backend& backend, ConstMatrixView rows);
  Status reconstruct(Backend& backend, ConstMatrixView all, int epochs);
  Status standardise(Backend& backend, ConstMatrixView rows);
  Status draw_replay(Backend& backend, ConstMatrixView rows);
  Status meet(Backend& backend, ConstMatrixView rows);
  void births_beside_narrow(Backend& backend);
  void scale_past(Index k, double factor);
  Status join(Backend& backend, ConstMatrixView all, Index fitted, StreamReport* report);
  Status encode(Backend& backend, ConstMatrixView rows);
  LatentCodes codes(Index rows) const;  // of the first rows that encode() met last
  void follow_drift(Index rows, StreamReport* report);
  double drift_trust(Index k) const;
  ConstMatrixView gather(ConstMatrixView rows);
  void note_replay_ids();
  VaeBatch objective(ConstMatrixView all, float prior_weight) const;
  bool frozen() const;
  Status embed(Backend& backend, ConstMatrixView all, int epochs);

  Configuration config_;
  ModelUse use_ = ModelUse::kLearn;
  Pacing pacing_;
  Pace pace_;
  Standardiser input_scale_;
  MissingCells missing_;  // of the block, or of the rows that are scored
  Vae vae_;
  RowNovelty row_novelty_;
  ColumnNovelty column_novelty_;
  Trainer trainer_;
  ClusterLearner learner_;
  Replay replay_;
  NeighbourGraph neighbours_;
  Index* row_cluster_ = nullptr;  // [block + replay] clusters of rows, when inputs are rescaled
  std::uint32_t stream_ = 0;
  std::uint32_t epoch_ = 0;  // within the stream
  bool rescaled_ = false;    // in this stream
  bool absorbed_ = false;    // this stream
  bool met_errors_ = false;  // in this stream
  int retries_ = 0;          // of the stream, because training diverged
  double first_cost_ = 0.0;  // input_cost() of the stream's first epoch
  double time_ = 0.0;        // of the last stream
  std::uint64_t rows_learnt_ = 0;
  EventRing events_;
  Before before_;
  SnapshotScratch snapshot_;
  struct {
    std::uint32_t stream = 0;
    double time = 0.0;
    std::uint64_t rows_learnt = 0;
    EventRing::Mark events;
    float* parameters = nullptr;  // null: nothing is kept
    std::byte* scale = nullptr;   // of the inputs; null without scaling
    float* waiting = nullptr;     // [block × d] rows of push() as they came; null if not needed
  } kept_;
  bool learn_every_block_ = false;
  bool broken_ = false;        // a stream has failed, and nothing was kept
  Index waiting_ = 0;          // rows of push(), the first of all_
  double waiting_time_ = 0.0;  // of the last push
  // [block + replay × d] rows, then replay; between streams, the rows of push().
  float* all_ = nullptr;
  bool pretrained_ = false;         // by pretrain()
  float* latent_target_ = nullptr;  // [block + replay × m]
  float* latent_weight_ = nullptr;  // [block + replay]
  float* z_ = nullptr;              // [block + replay or pass_rows × m]
  float* variance_ = nullptr;       // [block + replay or pass_rows × m]
  float* score_r_ = nullptr;        // [pass_rows × K]
  RowScore* score_ = nullptr;       // [pass_rows]
  float* novelty_ = nullptr;        // [pass_rows]
  float* error_ = nullptr;          // [pass_rows]
  Index* cluster_of_ = nullptr;     // [K] numbers of the components' clusters, see find_numbers()
  float* pass_x_ = nullptr;  // [pass_rows × d] scaled and completed rows; null: taken as they are
  struct {
    float* row = nullptr;           // [d] a row, some of its inputs taken as missing
    float* x = nullptr;             // [d] the same as the network gets it
    std::int32_t* tried = nullptr;  // numbers of inputs
  } explanation_;
  double* scratch_ = nullptr;    // [2m + K]
  double* tightness_ = nullptr;  // [K] by which two_stage has narrowed clusters
  double* root_ = nullptr;       // [2 × scatter]
  // Who the replay rows' clusters are: ids by number, as of the last look.
  ClusterId* replay_id_ = nullptr;  // [K]
  Index* number_ = nullptr;         // [K]
  Index replay_ids_ = 0;
};

}  // namespace adapvae

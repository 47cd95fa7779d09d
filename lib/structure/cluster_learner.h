// Clusters learnt from streams of vectors: the mixture, its moves, identities, novelty and the
// user's corrections, as one thing that can be used on its own or under a network.
//
// A stream:  begin → settle, births, merges, divisions (in any order, any number of times) → close,
// or learn(), which does all of that. Not for concurrent use, const functions included. Moves are
// judged by the exact evidence bound; a newborn is on trial until its stream closes and gets its id
// then.
#pragma once

#include "base/go_on.h"
#include "mixture/novelty.h"
#include "mixture/prior.h"
#include "structure/birth.h"
#include "structure/gain.h"
#include "structure/grouping.h"
#include "structure/merge.h"
#include "structure/pending_pool.h"
#include "structure/registry.h"

namespace adapvae {

struct LearnerConfig {
  ClusterShape shape;
  Index max_clusters = 60;
  Index max_rows = 1000;    // of a stream
  Index max_batches = 1;    // mini-batches of a stream
  Index pending_rows = 0;   // room of the pending pool; 0: no past row is ever stored
  Index aliases = 4096;     // ids of merged clusters that are remembered
  Index undo_steps = 4;     // corrections that can be undone
  bool keeps_state = true;  // keep_state() will be called; false saves the memory for that
  bool groups = true;       // learns, so that components must be grouped; false saves memory

  Index stream_rows() const { return max_rows + pending_rows; }
};

// May be changed between streams.
struct LearnerSettings {
  PriorSettings prior;
  NoveltySettings novelty;
  Concentration concentration = fixed_concentration(5.0);
  double row_weight = 1.0;      // κ: what a row counts; below 1 for latents that are not Gaussian
  double effective_rows = 0.0;  // > 0: a stream counts as at most so many rows (κ shrinks) …
  double effective_part = 0.0;  // … but at least as this part of its own
  ProposalSettings proposal;
  int laps = 8;                  // between moves, at most
  double least_progress = 1e-4;  // laps end when the bound gains less than this per row
  int rounds = 6;                // of births and merges in a stream, at most
  bool divisions = true;
  bool merge_old_with_new = true;  // false: a newborn on trial is not merged with an old cluster
  bool unexplained_births = true;
  // Components whose rows cannot be told apart are one cluster; otherwise each is one.
  bool group = false;
  double group_resolution = 1.0;   // higher: smaller groups
  int hysteresis_streams = 2;      // so long a merged cluster is not parted again …
  double hysteresis_growth = 1.5;  // … unless it has grown by this factor
  // The pool takes rows farther out than this part of every cluster's own, and novel ones that are
  // near none but a cluster of few rows.
  double pending_part = 0.995;
  int pending_streams = 10;     // so long a row may wait in the pool
  double half_life_rows = 0.0;  // > 0: the past counts half after so many rows …
  double half_life_time = 0.0;  // … or after so much time
  std::uint64_t seed = 1;
};

// Of clusters. A component that is added to a known cluster is no event.
enum class ClusterEventKind : std::int32_t {
  kBorn = 0,       // id, out of `other`; or what was noticed before, or took over `other`
  kMerged = 1,     // `other` went into id
  kRetired = 2,    // `other`, nearly empty, went into id
  kRefused = 3,    // a division of a component of id that was not made: see outcome
  kForgotten = 4,  // by the user: id
  kSplit = 5,      // by the user: `other` out of id
  kNoticed = 6,    // a handful of rows apart in the first stream: id, provisional
  kNamed = 7,      // by the user: id
  kUndone = 8,     // the user's last correction
};

struct ClusterEvent {
  ClusterEventKind kind = ClusterEventKind::kBorn;
  MoveOutcome outcome = MoveOutcome::kAccepted;
  std::uint64_t stream = 0;  // number of the stream, from 1
  ClusterId id = kNoId;
  ClusterId other = kNoId;
  double gain = 0.0;  // of the evidence bound
  double rows = 0.0;
};

// Told of every event as it happens, within the call that makes it.
struct EventSink {
  void (*tell)(void* context, const ClusterEvent& event) = nullptr;
  void* context = nullptr;
};

// Whether a state that has been read fits what the caller knows; null: it does.
class ClusterLearner;
struct StateCheck {
  bool (*accept)(const void* context, const ClusterLearner& state) = nullptr;
  const void* context = nullptr;
};

// Why a row is as novel as it is.
struct NoveltyReason {
  ClusterId nearest = kNoId;  // cluster
  double surprise = 0.0;
  double boundary = 0.0;          // surprise of novelty 0.5
  double squared_distance = 0.0;  // from the nearest cluster, in its own metric
};

class ClusterLearner {
 public:
  // A cluster that has seen so many rows is known.
  static constexpr double kKnownRows = 1000.0;

  // The backend's limits must allow for stream_rows() rows and max(max_clusters,
  // Proposal::kMostPieces) clusters.
  void place(Arena& arena, const LearnerConfig& config);
  // The same in two parts: place_moves() is for memory that may be another's before and after every
  // call of this object.
  void place_lasting(Arena& arena, const LearnerConfig& config);
  void place_moves(Arena& arena);
  void reset();

  LearnerSettings& settings() { return settings_; }
  const LearnerSettings& settings() const { return settings_; }
  const LearnerConfig& config() const { return config_; }
  void set_event_sink(const EventSink& sink) { sink_ = sink; }

  // ---- a stream ----
  // variance may be empty. time is used by half_life_time alone; it must not run backwards. On
  // failure nothing has changed.
  Status learn(Backend& backend, ConstMatrixView z, ConstMatrixView variance, double time = 0.0);
  // The next stream's rows as they come, before anything is made of them; z and variance as the
  // features are until then. Not needed, but it tells what is novel: births out of an old cluster
  // need that (ProposalSettings::usual_novelty), and the scale of novelty is set by rows of known
  // kinds as they were met, not as they were learnt.
  void meet(Backend& backend, ConstMatrixView z, ConstMatrixView variance);
  // The last `stand_ins` of the rows stand for the past in the fit: they take part in everything
  // but are let go before the stream closes, and never counted.
  Status begin(ConstMatrixView z, ConstMatrixView variance, Index batches, double time = 0.0,
               Index stand_ins = 0);
  // Laps until the bound rests or `laps` are done; the bound.
  double settle(Backend& backend, int laps);
  // Each: the number of moves made.
  // Births from rows that surprised the mixture as the stream before left it: call it first, before
  // a light cluster can be pulled over to them.
  Index births_on_arrival(Backend& backend);
  Index births(Backend& backend, int round, const GoOn& go_on = {});
  Index merges();
  // Once a stream: rows count once in a candidate.
  enum class Divide : std::uint8_t { kAll, kYoung };
  Index divisions(Backend& backend, Divide which = Divide::kAll);
  // Laps, births, merges and divisions until nothing gains, or go_on, asked before each of them,
  // says no.
  void fit(Backend& backend, const GoOn& go_on = {});
  // Births alone, of which nothing of the past is touched.
  void fit_births(Backend& backend, const GoOn& go_on = {});
  // The rows that begin() was given have other features now, in the same place.
  void refresh(ConstMatrixView z, ConstMatrixView variance);
  // Births that were refused are judged again, even out of clusters that hold as many rows as then:
  // the features have changed.
  void reconsider();
  void close(Backend& backend);
  // Instead of all of the above but begin(): the rows join the clusters as they are. Nothing is
  // born, merged or divided.
  void absorb(Backend& backend);

  // The features are about to move: what the scale of novelty has counted weighs at most so many
  // rows.
  void fade_novelty(double rows) { novelty_.fade_to(rows); }
  // What cluster k holds of the past, its candidate division included, in other coordinates.
  // mixture().global_step() or a lap must follow.
  void map_past(Index k, const AffineMap& map);
  // The features were made anew. Rows z [n × m] with these variances, of which row i stands for
  // cluster[i] (at least one for every cluster), say where what the clusters carry lies now. What
  // else is in the old features is dropped: candidates, the pool, the scale of novelty. Ids stay.
  // Between streams.
  void move_past(ConstMatrixView z, ConstMatrixView variance, const Index* cluster);

  // ---- rows, without learning ----
  // out [n], novelty [n]; r [n × clusters] is scratch memory and holds the probabilities after.
  // Before anything is learnt novelty is 1.
  void score(Backend& backend, ConstMatrixView z, ConstMatrixView variance, MatrixView r,
             RowScore* out, float* novelty) const;
  // The part of each dimension in the squared distance from the nearest cluster: contribution [m]
  // sums to it.
  NoveltyReason explain(const float* z, double* contribution) const;

  // ---- clusters ----
  Mixture& mixture() { return mixture_; }
  const Mixture& mixture() const { return mixture_; }
  const ComponentRegistry& registry() const { return registry_; }
  const PendingPool& pending() const { return pending_; }
  const NoveltyScale& novelty_scale() const { return novelty_; }
  // Of the rows that meet() was last told of, once something has been learnt; until begin().
  const RowScore* met_scores() const { return score_; }
  // Their evidence, as a fraction of as many independent rows: (1 - ρ)/(1 + ρ), ρ the correlation
  // of successive rows. The rows of the next begin() count so much.
  double met_evidence() const { return met_evidence_; }
  const CandidateDivisions& candidates() const { return candidates_; }
  // The surprise at novelty 0.5.
  double boundary() const {
    const NoveltySettings& s = settings_.novelty;
    return novelty_.boundary(mixture_.surprise_quantile(1.0 - s.false_alarm_rate), s);
  }
  std::uint64_t streams() const { return stream_; }
  double time() const { return time_; }  // of the last stream
  // Rows that came in streams: in clusters, faded or forgotten, and pending. Exact, between
  // streams.
  double rows_seen() const {
    return mixture_.rows_learnt() + static_cast<double>(pending_.count());
  }

  // ---- the user's corrections, between streams; each can be undone until the next stream ----
  // Ids of clusters, which are resolved. kInvalidArgument for an id that is nobody's, and while a
  // stream is open.
  Status rename(ClusterId id, const char* name);
  // Without force only if the bound rises when the two components that are most alike become one;
  // record says by how much. By force against the bound, components stay as they are, and the
  // cluster stays one in later streams. `id` survives.
  Status merge(ClusterId id, ClusterId other, bool force, MoveRecord& record);
  // In two, which by force stay two in later streams; *part: id of the new one. A cluster of
  // several components is divided between those that overlap least, which is never evidence enough
  // without force. A single component is divided along its candidate division if there is one, else
  // across its widest direction, and the bound must rise.
  Status split(ClusterId id, bool force, MoveRecord& record, ClusterId* part = nullptr);
  // All that the cluster holds is gone.
  Status forget(ClusterId id);
  // Everything as it was before the last correction, byte for byte. (An id that the correction gave
  // is not given again by this object.)
  Status undo();
  Index undo_steps() const { return undo_count_; }

  // ---- gains: what rows add to a base, this learner as it is (cluster_gain.cpp) ----
  // Learners of the same mark have the same clusters, by number: gains of one fit the other.
  std::uint64_t base_mark() const;
  // At most so many bytes has the table of a gain (structure/gain.h).
  static std::uint64_t most_gain_bytes(const LearnerConfig& config);
  // A table of nothing.
  void begin_gain(GainTable& table) const;
  // Rows of known kinds: each is divided by the base's posteriors, whatever other rows there are.
  // For this and the next keep_state() must have been called; the learner is as it was then again
  // when they return, and so it is if the backend fails.
  Status gain_known(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                    GainTable& table);
  // Rows that may be of new kinds, learnt beside a past that stands. What is born stays in the
  // table, and later rows may join it; if nothing is, these are as rows of known kinds.
  Status gain_novel(Backend& backend, ConstMatrixView z, ConstMatrixView variance,
                    GainTable& table);
  // Whether the table is sound and of so many rows, and can be one of this base.
  bool check_gain(const GainView& gain);
  // Gains of this base, all checked, become a stream: begin_gains(); add_known() for every gain;
  // add_newborns() for every gain in the same order; close_gains(). rows: of all of them. The
  // result depends on the order in no more than rounding, but for births. aliases: null, or one for
  // each newborn, in that order, whose ids are found.
  void begin_gains(double rows, double time, GainAlias* aliases);
  void add_known(const GainView& gain);
  void add_newborns(const GainView& gain);
  void close_gains();

  // ---- persistent state, between streams; settings are not part of it ----
  static std::size_t most_bytes(const LearnerConfig& config);
  void save(ByteWriter& writer) const;
  // kCorruptData, and nothing changed, unless the bytes, to their end, are a state of a learner of
  // this configuration that `check` accepts.
  Status load(ByteReader& reader, const StateCheck& check = {});
  // Whether every number is within base/bounds.h: then load() takes what save() writes.
  bool sound() const;
  // kUnavailable if `rows` more rows, or the ids of another block, cannot be counted.
  Status check_room(std::uint64_t rows) const;
  // For a stream that may fail: keep_state() before it, and restore_state() gives everything back,
  // byte for byte, undo included, whether the stream is open or closed. load() must not come
  // between.
  void keep_state();
  void restore_state();

 private:
  void tell(const ClusterEvent& event) const;
  Status check_begin(ConstMatrixView z, ConstMatrixView variance, double time) const;
  void tell_refused(Index target, const MoveRecord& record) const;
  ProposalSettings proposal_settings() const;
  bool rests(Index target) const;
  bool halves_apart(Index target, double reach) const;
  // Births of states that are rare, in blocks that bring nothing else; see BirthMove::try_rare().
  Index rare_births(Backend& backend);
  // What a row of a stream of so many counts.
  double weight_of_row(double rows) const;
  // Time and rows go by: what is carried fades, and the corrections of before are settled.
  void open_stream(double rows, double time);
  void take_table(const GainTable& table, double weight);
  void add_newborn(const GainBirth& birth, double rows);
  Index fits_best(ByteReader entry) const;
  static bool both_newborn(const void* learner, Index a, Index b);
  void match_newborns();
  void renumber_aliases(Index survivor, Index lost, Index last);
  static bool may_merge(const void* learner, Index a, Index b);
  Philox proposal_random(std::uint32_t round, std::uint32_t index) const;
  bool note_birth(const MoveRecord& record);
  void note_merge(const MoveRecord& record, ClusterEventKind kind);
  void drop_weak_clusters();
  void score_stream(Backend& backend);
  double evidence_of(ConstMatrixView z) const;
  void finish_close(Backend& backend, bool changed);
  void fit_moves(Backend& backend, const GoOn& go_on);
  void fit_arrivals(Backend& backend, const GoOn& go_on);
  void fit_rounds(Backend& backend, const GoOn& go_on);
  // Births from rows of more surprise than this.
  Index births_beyond(Backend& backend, double surprise);
  void let_stand_ins_go(Backend& backend);
  void hold_back_pending(Backend& backend);
  void count_present();
  bool mostly_novel(Index k) const { return present_novel_[k] > 0.5 * present_[k]; }
  void publish_newborns();
  void publish(Index k);
  void publish_successor(Index k);
  // Clusters follow the components of the block that has closed.
  void follow_components(const GroupedRows& rows = {});
  Status check_correction(ClusterId* id) const;
  void announce(ClusterId cluster);
  void forget_component(Index k);
  MoveRecord best_merge(ClusterId id, ClusterId other);
  bool halves_of(Index k, StatisticsRef half[2]);
  Status split_component(Index k, bool force, MoveRecord& record);
  // keep_state() must have been called before the correction.
  void remember();
  // kDiverged, and the kept state again, unless sound(); else remember().
  Status accept_correction();
  Status read_state(ByteReader& reader);

  LearnerConfig config_;
  LearnerSettings settings_;
  EventSink sink_;
  Mixture mixture_;
  BirthMove birth_;
  MergeMove merge_;
  CandidateDivisions candidates_;
  ComponentRegistry registry_;
  ComponentGrouping grouping_;
  NoveltyScale novelty_;
  PendingPool pending_;
  std::uint64_t stream_ = 0;
  double time_ = 0.0;
  bool prior_set_ = false;

  // The stream as it came, for as many rows as were met: pending rows are novel.
  Index met_rows_ = 0;
  double met_evidence_ = 1.0;
  float* met_surprise_ = nullptr;      // [max_rows]
  std::uint8_t* met_novel_ = nullptr;  // [stream_rows]
  std::uint8_t* far_ = nullptr;        // [stream_rows] scratch
  float* difference_ = nullptr;        // [max_rows] scratch
  double* present_ = nullptr;          // [K] the caller's rows in each cluster at the close …
  double* present_novel_ = nullptr;    // [K] … and those that were novel when they came

  // The open stream: the caller's rows, those that stand for the past, those that were pending.
  bool lapped_ = false;
  Index own_rows_ = 0;               // of the caller
  Index given_rows_ = 0;             // with those that stand for the past
  float* z_ = nullptr;               // [stream_rows × m], with a pool only
  float* variance_ = nullptr;        // [stream_rows × m], with a pool only
  RowScore* score_ = nullptr;        // [stream_rows]
  float* score_r_ = nullptr;         // [kLocalRows × K]
  std::uint32_t* age_ = nullptr;     // [pending_rows]
  float* surprise_ = nullptr;        // [pending_rows]
  float* log_density_ = nullptr;     // [BirthMove::kMostRows, or stream_rows]
  std::uint32_t* chosen_ = nullptr;  // [stream_rows]
  Index* group_ = nullptr;           // [K]
  double* group_rows_ = nullptr;     // [K]
  double* refused_rows_ = nullptr;   // [K] rows of a target when it was last refused; -1 = never
  double* scratch_ = nullptr;
  MoveRecord* trial_ = nullptr;  // [K] births of newborns on trial

  // Gains that are being added.
  GainAlias* aliases_ = nullptr;  // until close_gains() the id is a cluster's number
  Index alias_count_ = 0;
  Index known_ = 0;           // clusters of the base
  double gain_weight_ = 1.0;  // of a row

  // Corrections: states before the last of them, oldest first; and one place for load(), and for
  // keep_state() if it is called: else that is where births have their scratch memory.
  std::byte* undo_ = nullptr;   // [undo_steps × state_bytes]
  std::byte* spare_ = nullptr;  // [state_bytes]
  std::size_t* undo_size_ = nullptr;
  std::size_t state_bytes_ = 0;
  Index undo_count_ = 0;
  struct {
    std::size_t size = 0;
    Index undo_count = 0;
    ComponentRegistry::Given given = {};
  } kept_;
};

}  // namespace adapvae

// What happened to a model, as a list that is pulled: the last `capacity` events, numbered from 1
// on, each with its reason. Oldest ones are overwritten; whoever reads too late is told so. Not
// part of a snapshot, except that numbers go on where they were.
//
//   ModelEvent events[16];
//   EventRead read;
//   do {
//     read = ring.read(seen, events, 16);
//     for (Index i = 0; i < read.count; ++i) seen = events[i].sequence;
//   } while (read.count > 0);
#pragma once

#include <span>
#include <string_view>

#include "base/text_writer.h"
#include "structure/cluster_learner.h"

namespace adapvae {

// Up to kUndone as ClusterEventKind.
enum class ModelEventKind : std::int32_t {
  kBorn = 0,
  kMerged = 1,
  kRetired = 2,
  kRefused = 3,
  kForgotten = 4,
  kSplit = 5,
  kNoticed = 6,
  kNamed = 7,
  kUndone = 8,
  kDrifted = 9,        // training has moved cluster id by more than a deviation: see gain
  kRepaired = 10,      // numbers that went wrong and were caught: see reason; rows: how many times
  kStreamClosed = 11,  // all that came in it is learnt: rows, clusters
  kRescaled = 12,  // input `input` left its range by a factor `gain`: scale and network made anew
  kWarned = 13,    // something that a person should look at: see reason
};
inline constexpr int kModelEventKinds = 14;

// Up to kNothingSeparated as MoveOutcome: why there was no birth.
enum class EventReason : std::int32_t {
  kNone = 0,
  kBoundWouldFall = 1,
  kTooFewRows = 2,
  kNoRoom = 3,
  kNothingSeparated = 4,
  kCovarianceRepaired = 5,  // was not positive definite: its diagonal was raised
  kStepSkipped = 6,         // loss or gradient of a training step was not finite
  kRateReduced = 7,         // training diverged and was repeated with a smaller learning rate
  kNothingNew = 8,          // kStreamClosed: rows joined the clusters, the network was not trained
  kBeyondRange = 9,         // `rows` rows lie beyond the range of the inputs
  kNearlyFull = 10,         // kWarned: there is hardly room for more clusters
  kStuckInput = 11,         // kWarned: an input that has varied has one value in all rows
  kTrainingIneffective = 12,  // kWarned: training left `rows` rows reconstructed worse than before
  kMissingInput = 13,         // kWarned: an input has no value in any row
};
inline constexpr int kEventReasons = 14;

struct ModelEvent {
  std::uint64_t sequence = 0;  // from 1, given by the ring
  ModelEventKind kind = ModelEventKind::kBorn;
  EventReason reason = EventReason::kNone;
  std::uint64_t stream = 0;  // number of the stream, from 1; between streams that of the last
  ClusterId id = kNoId;
  ClusterId other = kNoId;
  double gain = 0.0;  // of the evidence bound; kDrifted: the shift, in the cluster's deviations
  double rows = 0.0;
  std::uint64_t clusters = 0;  // kStreamClosed, kNearlyFull
  std::int32_t input =
      -1;  // kBeyondRange: the input that is farthest out; kStuckInput, kMissingInput
};

// One line of English, without a line break: the view is in `buffer`, a zero follows. Cut short if
// the buffer is too small; kEventTextBytes are enough.
inline constexpr std::size_t kEventTextBytes = 200;
std::string_view format_event(const ModelEvent& event, std::span<char> buffer);

// The same, and as one JSON object. kind and reason must be such.
void write_event(const ModelEvent& event, TextWriter& text);
void write_event_json(const ModelEvent& event, TextWriter& text);

struct EventRead {
  Index count = 0;
  bool missed = false;  // events between `after` and the first of these are not here any more
};

class EventRing {
 public:
  void place(Arena& arena, Index capacity);
  // Nothing has happened.
  void reset();
  // Empty, but for the number of the last event.
  void restart(std::uint64_t last);

  // What came since mark() never happened. What it has overwritten is gone.
  struct Mark {
    std::uint64_t last = 0;
    std::uint64_t count[kModelEventKinds] = {};
  };
  Mark mark() const;
  void rewind(const Mark& mark);

  // Numbers the event and takes it in.
  void add(ModelEvent event);
  void add(const ClusterEvent& event);

  // The events after number `after`, oldest first, up to `capacity` of them, into out.
  EventRead read(std::uint64_t after, ModelEvent* out, Index capacity) const;
  std::uint64_t last() const { return last_; }
  // Events of this kind since reset() or restart(), those overwritten included.
  std::uint64_t count(ModelEventKind kind) const { return count_[static_cast<int>(kind)]; }

 private:
  Index capacity_ = 0;
  std::uint64_t first_ = 1;  // number of the first since restart()
  std::uint64_t last_ = 0;
  std::uint64_t count_[kModelEventKinds] = {};
  ModelEvent* event_ = nullptr;  // [capacity], number n at n % capacity
};

}  // namespace adapvae

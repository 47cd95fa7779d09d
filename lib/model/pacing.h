// How long a stream may take, and telling how far it is. The library has no clock: the caller gives
// one if he wants a budget in time.
//
//   Pacing pacing;
//   pacing.go_on = ...;             // progress bar, stop button
//   pacing.seconds = ...;           // any clock, e.g. seconds since the start of the program
//   pacing.seconds_per_stream = 0.2;
//   model.set_pacing(pacing);
//
// A stream that is ended early is closed as any other: its rows are counted, the model is whole and
// the next stream can come. StreamReport::stopped tells. The first stream teaches the network its
// features: give it more time than the others.
#pragma once

#include "base/go_on.h"
#include "base/matrix_view.h"
#include "model/configuration.h"

namespace adapvae {

// In the order of a stream; which of them it has depends on the configuration.
enum class Stage : std::int32_t {
  kPretrain = 0,  // first stream: reconstruction alone
  kAdapt = 1,     // later streams: reconstruction alone
  kEmbed = 2,     // neighbours are drawn together
  kBirths = 3,    // the mixture alone
  kJoint = 4,     // network and mixture in turn
  kClose = 5,
};
constexpr int kStages = 6;

struct Progress {
  Stage stage = Stage::kPretrain;
  double fraction = 0.0;  // of the stream, 0 to 1; never falls
};

// Both functions are called within learn(), by its thread, and must not use the model. The same
// calls give the same model unless it is ended early, by when that happens.
struct Pacing {
  // Asked before each mini-batch and each move of the mixture; null: always true. After false it is
  // not asked again in this stream, but for the last call, which every stream ends with: kClose,
  // fraction 1. The answer to that one does not matter.
  bool (*go_on)(void* context, const Progress& progress) = nullptr;
  // The caller's clock; never asked without a budget.
  double (*seconds)(void* context) = nullptr;
  void* context = nullptr;
  // 0: as long as it takes. Else the stages share it: features and joint training about two fifths
  // each (the first stream's features up to 56 %), births at most a fifth, a little is kept to
  // close. What one does not need the next has. It is looked at between mini-batches and between
  // moves: what cannot be divided (drawing replay, finding neighbours, closing) takes what it
  // takes, which a lower replay_ratio makes less. If nothing is left, clusters keep the kinds that
  // they had.
  double seconds_per_stream = 0.0;
};

// kInvalidArgument for a budget that is negative or not finite, or that has no clock.
Status check_pacing(const Pacing& pacing);

// What a stream is expected to take.
struct StreamPlan {
  double share[kStages] = {};  // of the stream; their sum is 1
  double steps[kStages] = {};  // questions that the stage will ask, about
};
// `stream` counts from 1; frozen: the network does not learn in it.
StreamPlan plan_stream(const Configuration& config, std::uint32_t stream, Index rows, bool frozen,
                       bool timed);

// The open stream's: where it is, and whether it goes on.
class Pace {
 public:
  // Asks once, before anything is done. again: the block is repeated, within the same budget, and
  // its fraction does not fall.
  void begin(const Pacing& pacing, const StreamPlan& plan, bool again = false);
  void enter(Stage stage);
  // For the stage's loops.
  GoOn asker() { return {ask, this}; }
  // The stage is to do no more. Without asking.
  bool ended() const { return stopped_ || late_; }
  // The caller wants no more of this stream.
  bool stopped() const { return stopped_; }
  // A stage was, or is to be, ended early.
  bool cut_short() const { return cut_short_; }
  // The last call.
  void finish();

 private:
  static bool ask(void* self) { return static_cast<Pace*>(self)->go_on(); }
  bool go_on();
  bool timed() const { return pacing_.seconds_per_stream > 0.0; }
  double elapsed() const { return pacing_.seconds(pacing_.context) - start_; }

  Pacing pacing_;
  StreamPlan plan_;
  Stage stage_ = Stage::kPretrain;
  double from_ = 0.0;   // fraction at the stage's beginning …
  double until_ = 0.0;  // … and end
  double done_ = 0.0;   // questions that it asked
  double fraction_ = 0.0;
  double start_ = 0.0;
  double deadline_ = 0.0;  // of the stage, from the start
  bool late_ = false;
  bool stopped_ = false;
  bool cut_short_ = false;
};

}  // namespace adapvae

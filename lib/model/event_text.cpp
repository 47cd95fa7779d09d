// Events as text. In a file of its own, so that a device that reads numbers alone does not link the
// printing of floating-point numbers.
#include "base/text_writer.h"
#include "model/event_ring.h"

namespace adapvae {
namespace {

std::uint64_t number_of_input(const ModelEvent& e) {
  return e.input > 0 ? static_cast<std::uint64_t>(e.input) : 0;
}

void say_refusal(const ModelEvent& e, TextWriter& line) {
  line << "no birth out of cluster " << e.id << ": ";
  switch (e.reason) {
    case EventReason::kTooFewRows:
      line << e.rows << " rows of it in this stream are too few";
      break;
    case EventReason::kNoRoom:
      line << "max_clusters are there already";
      break;
    case EventReason::kNothingSeparated:
      line << "nothing in it stands apart";
      break;
    default:
      line << "the evidence bound would change by " << e.gain;
      break;
  }
}

void say_repair(const ModelEvent& e, TextWriter& line) {
  if (e.reason == EventReason::kStepSkipped) {
    line << e.rows << " training steps skipped: loss or gradient was not finite";
  } else if (e.reason == EventReason::kRateReduced) {
    line << "training diverged and was repeated " << e.rows
         << " times, each with a tenth of the learning rate";
  } else {
    line << e.rows << " covariances repaired: not positive definite";
  }
}

void say_range(const ModelEvent& e, TextWriter& line) {
  line << e.rows << " rows lie beyond the range of the inputs, input " << number_of_input(e)
       << " by a factor " << e.gain;
}

void say_warning(const ModelEvent& e, TextWriter& line) {
  line << "warning: ";
  if (e.reason == EventReason::kStuckInput) {
    line << "input " << number_of_input(e) << " has the same value in all " << e.rows
         << " rows of the block; it varied before";
    return;
  }
  if (e.reason == EventReason::kMissingInput) {
    line << "input " << number_of_input(e) << " has no value in any of the " << e.rows
         << " rows of the block";
    return;
  }
  if (e.reason == EventReason::kTrainingIneffective) {
    line << "training on the block did not help: " << e.rows
         << " of its rows are reconstructed worse than before; a smaller learning_rate may";
    return;
  }
  if (e.reason != EventReason::kNearlyFull) return say_range(e, line);
  line << e.clusters << " clusters, max_clusters is nearly reached";
}

void say_gain(const ModelEvent& e, TextWriter& line) {
  line << "; the evidence bound changes by " << e.gain;
}

void say(const ModelEvent& e, TextWriter& line) {
  switch (e.kind) {
    case ModelEventKind::kBorn:
      line << "cluster " << e.id << " born";
      if (e.other != kNoId) line << " out of cluster " << e.other;
      line << " for " << e.rows << " rows";
      return say_gain(e, line);
    case ModelEventKind::kMerged:
      line << "cluster " << e.other << " merged into cluster " << e.id;
      return say_gain(e, line);
    case ModelEventKind::kRetired:
      line << "cluster " << e.other << " retired into cluster " << e.id << ": " << e.rows
           << " rows are too few";
      return;
    case ModelEventKind::kRefused:
      return say_refusal(e, line);
    case ModelEventKind::kForgotten:
      line << "cluster " << e.id << " forgotten by request, with " << e.rows << " rows";
      return;
    case ModelEventKind::kSplit:
      line << "cluster " << e.other << " split off cluster " << e.id << " by request";
      return say_gain(e, line);
    case ModelEventKind::kNoticed:
      line << "cluster " << e.id << " noticed: " << e.rows
           << " rows apart, announced as born when more have joined them";
      return;
    case ModelEventKind::kNamed:
      line << "cluster " << e.id << " given a name by request";
      return;
    case ModelEventKind::kUndone:
      line << "the last correction undone by request";
      return;
    case ModelEventKind::kDrifted:
      line << "cluster " << e.id << " moved by training, by " << e.gain << " of its deviations";
      return;
    case ModelEventKind::kRepaired:
      return say_repair(e, line);
    case ModelEventKind::kStreamClosed:
      line << "closed with " << e.rows << " rows, " << e.clusters << " clusters";
      if (e.reason == EventReason::kNothingNew) line << "; nothing new";
      return;
    case ModelEventKind::kRescaled:
      say_range(e, line);
      line << "; inputs are scaled anew";
      return;
    case ModelEventKind::kWarned:
      return say_warning(e, line);
  }
}

// In the order of ModelEventKind and EventReason.
constexpr const char* kKindName[kModelEventKinds] = {
    "born",     "merged", "retired", "not_born", "forgotten", "split",    "noticed",
    "labelled", "undone", "drifted", "repaired", "learnt",    "rescaled", "warned"};
constexpr const char* kReasonName[kEventReasons] = {"none",
                                                    "bound_would_fall",
                                                    "too_few_rows",
                                                    "no_room",
                                                    "nothing_separated",
                                                    "covariance_repaired",
                                                    "step_skipped",
                                                    "rate_reduced",
                                                    "nothing_new",
                                                    "beyond_range",
                                                    "nearly_full",
                                                    "stuck_input",
                                                    "training_ineffective",
                                                    "missing_input"};

}  // namespace

void write_event(const ModelEvent& event, TextWriter& text) {
  text << "stream " << event.stream << ": ";
  say(event, text);
}

void write_event_json(const ModelEvent& event, TextWriter& text) {
  text << "{\"sequence\":" << event.sequence << ",\"stream\":" << event.stream << ",\"event\":\""
       << kKindName[static_cast<int>(event.kind)] << "\",\"reason\":\""
       << kReasonName[static_cast<int>(event.reason)] << "\",\"id\":" << event.id
       << ",\"other\":" << event.other << ",\"gain\":";
  text.exact(event.gain) << ",\"rows\":";
  text.exact(event.rows) << ",\"clusters\":" << event.clusters;
  const bool of_input = event.reason == EventReason::kBeyondRange ||
                        event.reason == EventReason::kStuckInput ||
                        event.reason == EventReason::kMissingInput;
  if (of_input) text << ",\"input\":" << number_of_input(event);
  text << "}";
}

std::string_view format_event(const ModelEvent& event, std::span<char> buffer) {
  TextWriter text(buffer.data(), buffer.size());
  write_event(event, text);
  return text.finish();
}

}  // namespace adapvae

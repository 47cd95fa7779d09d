// Events as text. In a file of its own, so that a device that reads numbers alone does not link the
// printing of floating-point numbers.
#include <algorithm>
#include <charconv>

#include "model/event_ring.h"

namespace adapvae {
namespace {

// A line that is cut where its buffer ends; the last byte is kept for the zero.
class Line {
 public:
  explicit Line(std::span<char> buffer)
      : begin_(buffer.data()), at_(begin_), last_(begin_ + buffer.size() - 1) {}

  Line& operator<<(std::string_view text) {
    // Not within a character: from the first that does not fit on, there is nothing.
    if (text.size() > static_cast<std::size_t>(last_ - at_))
      last_ = at_;
    else
      at_ = std::copy(text.begin(), text.end(), at_);
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    char digits[24];
    return *this << text_of(digits, std::to_chars(digits, digits + sizeof(digits), number).ptr);
  }
  // To four digits: for people.
  Line& operator<<(double number) {
    char digits[40];
    const auto end =
        std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::general, 4);
    return *this << text_of(digits, end.ptr);
  }
  std::string_view finish() {
    *at_ = '\0';
    return text_of(begin_, at_);
  }

 private:
  static std::string_view text_of(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  char* begin_;
  char* at_;
  char* last_;
};

void say_refusal(const ModelEvent& e, Line& line) {
  line << "no birth out of cluster " << e.id << ": ";
  switch (e.reason) {
    case EventReason::kTooFewRows:
      line << "its " << e.rows << " rows are too few";
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

void say_repair(const ModelEvent& e, Line& line) {
  if (e.reason == EventReason::kStepSkipped) {
    line << e.rows << " training steps skipped: loss or gradient was not finite";
  } else {
    line << e.rows << " covariances repaired: not positive definite";
  }
}

void say_gain(const ModelEvent& e, Line& line) {
  line << "; the evidence bound changes by " << e.gain;
}

void say(const ModelEvent& e, Line& line) {
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
      return;
  }
}

}  // namespace

std::string_view format_event(const ModelEvent& event, std::span<char> buffer) {
  if (buffer.empty()) return {};
  Line line(buffer);
  line << "stream " << event.stream << ": ";
  say(event, line);
  return line.finish();
}

}  // namespace adapvae

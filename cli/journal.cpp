#include "cli/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <unistd.h>

#include "cli/arguments.h"
#include "cli/byte_stream.h"
#include "cli/memory_limit.h"
#include "cli/model_file.h"
#include "cli/output_file.h"
#include "cli/row_lines.h"
#include "cli/text_rows.h"

namespace adapvae::cli {
namespace {

constexpr long kLargestJournal = 64L << 20;  // bytes; with the one set aside twice that
constexpr std::size_t kJournalPart = 8;      // of the memory limit that a journal may be long
constexpr int kEventTypes = ADAPVAE_WARNED + 1;
constexpr int kReasons = ADAPVAE_REASON_MISSING + 1;

std::string shares_text(const ReportStream& stream) {
  std::string text;
  for (const auto& [id, rows] : stream.shares) {
    if (!text.empty()) text += ' ';
    text += std::to_string(id) + ':' + std::to_string(rows);
  }
  return text;
}

std::string stream_members(const ReportStream& s) {
  std::string out;
  const auto whole = [&out](const char* name, std::int64_t value) {
    out += std::string(",\"") + name + "\":" + std::to_string(value);
  };
  const auto number = [&out](const char* name, double value) {
    out += std::string(",\"") + name + "\":" + json_number(value);
  };
  whole("first_row", s.first_row);
  whole("components", s.components);
  whole("births", s.births);
  whole("merges", s.merges);
  number("bound", s.bound);
  number("loss", s.loss);
  number("replay_accuracy", s.replay_accuracy);
  number("largest_drift", s.largest_drift);
  number("seconds", s.seconds);
  whole("novel", s.novel);
  number("novelty_median", s.novelty_median);
  number("novelty_p90", s.novelty_p90);
  number("novelty_max", s.novelty_max);
  return out + ",\"rows_by_cluster\":\"" + shares_text(s) + "\"";
}

std::string event_text(const adapvae_event& event, int format) {
  char text[256];
  if (adapvae_event_text(&event, format, text, sizeof text, nullptr) != ADAPVAE_OK) return {};
  return text;
}

// A line of the journal as it was read.
class Line {
 public:
  explicit Line(const std::vector<Field>& fields) : fields_(fields) {}
  std::string_view text(std::string_view name) const {
    for (const Field& field : fields_) {
      if (field.name == name) return field.text;
    }
    return {};
  }
  double number(std::string_view name) const { return parse_number(text(name)).value_or(0.0); }
  template <typename T>
  T whole(std::string_view name) const {
    const double value = number(name);
    const double most = std::min(9e15, static_cast<double>(std::numeric_limits<T>::max()) / 2.0);
    return value > 0.0 ? static_cast<T>(std::min(value, most)) : T{0};  // also if it is none
  }

 private:
  const std::vector<Field>& fields_;
};

// The names that the library prints for `count` types of events, or reasons.
std::vector<std::string> names_of(const char* member, int count,
                                  std::int32_t adapvae_event::*field) {
  LineSplitter splitter;
  std::string error;
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    auto event = sized<adapvae_event>();
    event.*field = i;
    const bool good = splitter.json(event_text(event, ADAPVAE_JSON), error);
    names.emplace_back(good ? Line(splitter.fields()).text(member) : std::string_view());
  }
  return names;
}

// The number behind a name; -1: none.
int number_of(std::string_view name, const std::vector<std::string>& names) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

bool read_event(const Line& line, ReportEvent& out) {
  auto event = sized<adapvae_event>();
  static const std::vector<std::string> types =
      names_of("event", kEventTypes, &adapvae_event::type);
  static const std::vector<std::string> reasons =
      names_of("reason", kReasons, &adapvae_event::reason);
  event.type = number_of(line.text("event"), types);
  event.reason = number_of(line.text("reason"), reasons);
  event.sequence = line.whole<std::uint64_t>("sequence");
  if (event.type < 0 || event.reason < 0 || event.sequence == 0) return false;
  event.stream = line.whole<std::uint64_t>("stream");
  event.id = line.whole<adapvae_id>("id");
  event.other = line.whole<adapvae_id>("other");
  event.gain = line.number("gain");
  event.rows = line.number("rows");
  event.clusters = line.whole<std::int32_t>("clusters");
  event.input = line.text("input").empty() ? -1 : line.whole<std::int32_t>("input");
  out.sequence = event.sequence;
  out.stream = event.stream;
  out.type = line.text("event");
  out.id = event.id;
  out.other = event.other;
  out.gain = event.gain;
  out.rows = event.rows;
  out.text = event_text(event, ADAPVAE_TEXT);
  return true;
}

void read_shares(std::string_view text, ReportStream& stream) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t colon = word.find(':');
    if (colon != std::string_view::npos) {
      const double id = parse_number(word.substr(0, colon)).value_or(0.0);
      const double rows = parse_number(word.substr(colon + 1)).value_or(0.0);
      if (id >= 1.0 && id < 4294967296.0 && rows >= 0.0 && rows < 9e15) {
        stream.shares.emplace_back(static_cast<adapvae_id>(id), static_cast<std::int64_t>(rows));
      }
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

ReportStream read_stream(const Line& line) {
  ReportStream s;
  s.number = line.whole<std::uint64_t>("stream");
  s.first_row = line.whole<std::int64_t>("first_row");
  s.rows = line.whole<std::int64_t>("rows");
  s.clusters = line.whole<int>("clusters");
  s.components = line.whole<int>("components");
  s.births = line.whole<int>("births");
  s.merges = line.whole<int>("merges");
  s.bound = line.number("bound");
  s.loss = line.number("loss");
  s.replay_accuracy = line.number("replay_accuracy");
  s.largest_drift = line.number("largest_drift");
  s.seconds = line.number("seconds");
  s.novel = line.whole<std::int64_t>("novel");
  s.novelty_median = line.number("novelty_median");
  s.novelty_p90 = line.number("novelty_p90");
  s.novelty_max = line.number("novelty_max");
  read_shares(line.text("rows_by_cluster"), s);
  return s;
}

// The last event did not happen; if it was a stream's end, the stream did not, either.
void drop_last(std::vector<ReportEvent>& events, std::vector<ReportStream>& streams) {
  if (events.back().type == "learnt" && !streams.empty() &&
      streams.back().number == events.back().stream) {
    streams.pop_back();
  }
  events.pop_back();
}

bool read_lines(const std::string& path, std::vector<ReportEvent>& events,
                std::vector<ReportStream>& streams, std::string& error) {
  ByteStream bytes;
  if (!bytes.open(path, error)) return false;
  LineSplitter splitter;
  std::string_view text;
  std::string ignored;
  // What is kept of a line takes some times its length.
  std::size_t left = memory_limit / kJournalPart;
  while (bytes.line(text)) {
    if (text.size() >= left) {
      error = too_large(path + ":");
      return false;
    }
    left -= text.size() + 1;
    ReportEvent event;
    if (!splitter.json(text, ignored)) continue;
    const Line line(splitter.fields());
    if (!read_event(line, event)) continue;
    while (!events.empty() && events.back().sequence >= event.sequence) {
      drop_last(events, streams);
    }
    if (event.type == "learnt" && !line.text("first_row").empty()) {
      while (!streams.empty() && streams.back().number >= event.stream) streams.pop_back();
      streams.push_back(read_stream(line));
    }
    events.push_back(std::move(event));
  }
  error = bytes.error();
  return error.empty();
}

}  // namespace

std::string journal_path(const std::string& model_path) {
  return resolved_path(model_path) + ".events";
}

Journal::~Journal() {
  if (file_ != nullptr) std::fclose(file_);
}

bool Journal::open(const std::string& path, const std::string& model_path, std::string& error) {
  Target target;
  const Links links = model_path.empty() ? Links::kAll : Links::kOwn;
  if (!find_target(path, links, target, error)) return false;
  path_ = target.path;
  model_path_ = model_path;
  int file = -1;
  if (target.regular && target.exists && target.status.st_size > kLargestJournal) {
    // The new one is like the old one.
    const std::string aside = path_ + ".1";
    std::rename(path_.c_str(), aside.c_str());
    file = open_to_append(path_, aside, error);
  } else {
    file = open_to_append(path, model_path, error);
  }
  if (file < 0) return false;
  file_ = ::fdopen(file, target.regular ? "a+" : "a");
  if (file_ != nullptr) {
    // A crash may have cut the last line; the next one must not hang on to it.
    if (target.regular && std::fseek(file_, -1, SEEK_END) == 0 && std::fgetc(file_) != '\n') {
      std::fseek(file_, 0, SEEK_END);
      std::fputc('\n', file_);
    }
    std::fseek(file_, 0, SEEK_END);
    return true;
  }
  error = path + ": " + std::strerror(errno);
  ::close(file);
  return false;
}

void Journal::write(const adapvae_event& event, const ReportStream* stream) {
  if (file_ == nullptr) return;
  std::string line = event_text(event, ADAPVAE_JSON);
  if (line.empty()) return;
  if (stream != nullptr) {
    line.pop_back();
    line += stream_members(*stream) + "}";
  }
  std::fprintf(file_, "%s\n", line.c_str());
}

bool Journal::flush() {
  if (file_ == nullptr) return true;
  if (std::fflush(file_) != 0 || std::ferror(file_) != 0) return false;
  if (std::ftell(file_) <= kLargestJournal) return true;
  std::fclose(file_);
  file_ = nullptr;
  std::string error;
  return open(path_, model_path_, error);
}

bool read_journal(const std::string& path, std::uint64_t last, std::vector<ReportEvent>& events,
                  std::vector<ReportStream>& streams, std::string& error) {
  if (file_exists(path + ".1") && !read_lines(path + ".1", events, streams, error)) return false;
  if (!read_lines(path, events, streams, error)) return false;
  while (!events.empty() && events.back().sequence > last) drop_last(events, streams);
  return true;
}

}  // namespace adapvae::cli

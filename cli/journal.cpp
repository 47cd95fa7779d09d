#include "cli/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <sys/stat.h>

#include "cli/arguments.h"
#include "cli/byte_stream.h"
#include "cli/model_file.h"
#include "cli/row_lines.h"
#include "cli/text_rows.h"

namespace adapvae::cli {
namespace {

constexpr long kLargestJournal = 64L << 20;  // bytes; with the one set aside twice that
constexpr int kEventTypes = ADAPVAE_LEARNT + 1;
constexpr int kReasons = ADAPVAE_REASON_STEP + 1;

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
  whole("kinds", s.kinds);
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

// The number behind a name that the library prints for a type of events or a reason; -1: none.
int number_of(std::string_view name, const char* member, int count,
              std::int32_t adapvae_event::*field) {
  LineSplitter splitter;
  std::string error;
  for (int i = 0; i < count; ++i) {
    auto event = sized<adapvae_event>();
    event.*field = i;
    const std::string text = event_text(event, ADAPVAE_JSON);
    if (splitter.json(text, error) && Line(splitter.fields()).text(member) == name) return i;
  }
  return -1;
}

bool read_event(const Line& line, ReportEvent& out) {
  auto event = sized<adapvae_event>();
  event.type = number_of(line.text("event"), "event", kEventTypes, &adapvae_event::type);
  event.reason = number_of(line.text("reason"), "reason", kReasons, &adapvae_event::reason);
  event.sequence = line.whole<std::uint64_t>("sequence");
  if (event.type < 0 || event.reason < 0 || event.sequence == 0) return false;
  event.stream = line.whole<std::uint64_t>("stream");
  event.id = line.whole<adapvae_id>("id");
  event.other = line.whole<adapvae_id>("other");
  event.gain = line.number("gain");
  event.rows = line.number("rows");
  event.clusters = line.whole<std::int32_t>("clusters");
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
  s.kinds = line.whole<int>("kinds");
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
  while (bytes.line(text)) {
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

std::string journal_path(const std::string& model_path) { return model_path + ".events"; }

Journal::~Journal() {
  if (file_ != nullptr) std::fclose(file_);
}

bool Journal::open(const std::string& path, std::string& error) {
  path_ = path;
  struct stat found;
  if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
      found.st_size > kLargestJournal) {
    std::rename(path.c_str(), (path + ".1").c_str());
  }
  file_ = std::fopen(path.c_str(), "a+");
  if (file_ != nullptr) {
    // A crash may have cut the last line; the next one must not hang on to it.
    if (std::fseek(file_, -1, SEEK_END) == 0 && std::fgetc(file_) != '\n') {
      std::fseek(file_, 0, SEEK_END);
      std::fputc('\n', file_);
    }
    std::fseek(file_, 0, SEEK_END);
    return true;
  }
  error = path + ": " + std::strerror(errno);
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
  if (std::fflush(file_) != 0) return false;
  if (std::ftell(file_) <= kLargestJournal) return true;
  std::fclose(file_);
  file_ = nullptr;
  std::string error;
  return open(path_, error);
}

bool read_journal(const std::string& path, std::uint64_t last, std::vector<ReportEvent>& events,
                  std::vector<ReportStream>& streams, std::string& error) {
  if (file_exists(path + ".1") && !read_lines(path + ".1", events, streams, error)) return false;
  if (!read_lines(path, events, streams, error)) return false;
  while (!events.empty() && events.back().sequence > last) drop_last(events, streams);
  return true;
}

}  // namespace adapvae::cli

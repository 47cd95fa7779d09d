#include "cli/filter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "cli/byte_stream.h"
#include "cli/memory_limit.h"
#include "cli/row_lines.h"
#include "cli/terminal.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kScoreRows = 256;  // that score() looks at together

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

// The value below which this part of the numbers lies; reorders them.
double quantile(std::vector<float>& numbers, double part) {
  if (numbers.empty()) return 0.0;
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(numbers.size() - 1) + 0.5);
  std::nth_element(numbers.begin(), numbers.begin() + at, numbers.end());
  return static_cast<double>(numbers[static_cast<std::size_t>(at)]);
}

}  // namespace

Filter::Filter(adapvae_model* model, const FilterOptions& options, RunRecord* record)
    : model_(model), options_(options), record_(record) {
  auto info = sized<adapvae_info>();
  adapvae_get_info(model, &info);
  inputs_ = static_cast<std::size_t>(info.inputs);
  last_event_ = info.events;
  room_ =
      options.learn ? static_cast<std::size_t>(info.block_rows - info.rows_waiting) : kScoreRows;
  start_ = saved_ = Clock::now();
  // Lines on the same terminal would break it up.
  showing_ = !options.quiet && ::isatty(STDERR_FILENO) != 0 &&
             (!options.lines || ::isatty(STDOUT_FILENO) == 0);
}

bool Filter::open(std::string& error) {
  return options_.journal_path.empty() ||
         journal_.open(options_.journal_path, options_.journal_model, error);
}

bool Filter::run(RowSource& source, std::string& error) {
  Row row;
  while (!stop_requested) {
    const Next next = source.next(row);
    if (next == Next::kEnd) return true;
    if (next == Next::kError) {
      error = source.error();
      return false;
    }
    part_done_ = source.fraction();
    if (!add(row, error)) return false;
  }
  return true;
}

bool Filter::add(const Row& row, std::string& error) {
  if (rows_.empty()) block_start_ = Clock::now();
  values_.insert(values_.end(), row.values.begin(), row.values.end());
  rows_.push_back({{}, row.number, row.time, row.label, row.file});
  if (options_.as_met && options_.learn) {
    adapvae_result result;
    if (adapvae_score(model_, row.values.data(), 1, 0, &result) != ADAPVAE_OK) {
      error = "row " + std::to_string(row.number) + ": " + last_error(model_);
      return false;
    }
    RowLine line = {row.number,     row.time,           &row.file, result,
                    result.novelty, name_of(result.id), {},        false};
    line.events.swap(pending_events_);
    line_.clear();
    format_row(line, line_);
    write_line();
  }
  const bool late =
      options_.block_seconds > 0.0 && seconds_since(block_start_) >= options_.block_seconds;
  if (rows_.size() < room_ && !late && !(options_.flush && !options_.learn)) {
    return save_waiting(error);
  }
  return options_.learn ? learn_block(error) : say_rows(false, error);
}

bool Filter::score(std::vector<adapvae_result>& results, std::string& error) {
  results.resize(rows_.size());
  if (adapvae_score(model_, values_.data(), static_cast<std::int32_t>(rows_.size()), 0,
                    results.data()) == ADAPVAE_OK) {
    return true;
  }
  error = last_error(model_);
  return false;
}

// The time of the rows that are gathered is that of the last.
bool Filter::tell_time(std::string& error) {
  if (rows_.empty() || !rows_.back().time) return true;
  if (adapvae_set_time(model_, *rows_.back().time) == ADAPVAE_OK) return true;
  error = "row " + std::to_string(rows_.back().number) + ": " + last_error(model_);
  return false;
}

// Those of the gathered rows that are not in the model yet go there.
adapvae_status Filter::push_rows(adapvae_report* report) {
  const std::size_t from = pushed_;
  pushed_ = rows_.size();
  return adapvae_push(model_, values_.data() + from * inputs_,
                      static_cast<std::int32_t>(rows_.size() - from), 0, report);
}

// A save that is due although the block is not full: rows wait in the file, as after a stop.
bool Filter::save_waiting(std::string& error) {
  const Every& every = options_.save_every;
  if (!options_.learn || !(every.seconds > 0.0) || seconds_since(saved_) < every.seconds) {
    return true;
  }
  if (!tell_time(error)) return false;
  if (push_rows(nullptr) != ADAPVAE_OK) {
    error = last_error(model_);
    return false;
  }
  return save_if_due(error);
}

bool Filter::learn_block(std::string& error) {
  if (!score(met_, error)) return false;
  if (!tell_time(error)) return false;
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_, &info);
  const auto first_row = static_cast<std::int64_t>(info.rows) + 1;
  const Clock::time_point start = Clock::now();
  const std::size_t before = pushed_;
  auto report = sized<adapvae_report>();
  adapvae_status status = push_rows(&report);
  if (status == ADAPVAE_OK && report.streams == 0) status = adapvae_flush(model_, &report);
  if (status != ADAPVAE_OK) {
    auto why = sized<adapvae_error>();
    adapvae_last_error(model_, &why);
    const std::size_t row = before + static_cast<std::size_t>(std::max(0, why.index));
    error = why.index >= 0 && row < rows_.size() ? "row " + std::to_string(rows_[row].number) + ": "
                                                 : "";
    error += why.message;
    return false;
  }
  const double seconds = seconds_since(start);
  totals_.streams += report.streams;
  totals_.births += report.births;
  room_ = static_cast<std::size_t>(info.block_rows);
  names_.clear();
  if (!score(now_, error)) return false;
  const ReportStream stream = describe(report, first_row, seconds);
  last_novelty_ = stream.novelty_median;
  take_events(stream);
  if (!say_rows(false, error)) return false;
  show_progress();
  return save_if_due(error);
}

ReportStream Filter::describe(const adapvae_report& report, std::int64_t first_row,
                              double seconds) const {
  ReportStream out;
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_, &info);
  out.number = info.streams;
  out.first_row = first_row;
  out.rows = report.rows;
  out.clusters = report.clusters;
  out.components = report.components;
  out.births = report.births;
  out.merges = report.merges;
  out.bound = report.bound;
  out.loss = report.loss;
  out.replay_accuracy = report.replay_accuracy;
  out.largest_drift = report.largest_drift;
  out.seconds = seconds;
  std::vector<float> novelty;
  std::map<adapvae_id, std::int64_t> shares;
  for (std::size_t i = 0; i < met_.size(); ++i) {
    novelty.push_back(met_[i].novelty);
    out.novel += met_[i].novelty > 0.5F ? 1 : 0;
    ++shares[now_[i].id];
  }
  out.novelty_median = quantile(novelty, 0.5);
  out.novelty_p90 = quantile(novelty, 0.9);
  out.novelty_max = quantile(novelty, 1.0);
  out.shares.assign(shares.begin(), shares.end());
  return out;
}

void Filter::write_line() {
  const bool good = std::fwrite(line_.data(), 1, line_.size(), stdout) == line_.size() &&
                    (!options_.flush || std::fflush(stdout) == 0);
  if (!good && output_error_ == 0) output_error_ = errno;
}

void Filter::say_row(std::size_t i, bool waiting) {
  const Row& row = rows_[i];
  RowLine line = {row.number,          row.time, &row.file, now_[i], met_[i].novelty,
                  name_of(now_[i].id), {},       waiting};
  if (i + 1 == rows_.size()) line.events.swap(pending_events_);
  line_.clear();
  format_row(line, line_);
  write_line();
}

// A line for each row that is gathered; then there are none.
bool Filter::say_rows(bool waiting, std::string& error) {
  if (now_.size() != rows_.size() && !score(now_, error)) return false;
  if (met_.size() != rows_.size()) met_ = now_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    ++totals_.rows;
    totals_.novel += met_[i].novelty > 0.5F ? 1 : 0;
    if (record_ != nullptr) {
      record_->add({rows_[i].number, values_.data() + i * inputs_, met_[i].novelty, now_[i].id,
                    now_[i].component, &rows_[i].label});
    }
    if (options_.lines && !(options_.as_met && options_.learn)) say_row(i, waiting);
  }
  rows_.clear();
  values_.clear();
  pushed_ = 0;
  met_.clear();
  now_.clear();
  if (!options_.learn) show_progress();
  if (record_ != nullptr && record_->labels().memory() > memory_limit) {
    error = too_large("--labels: the table of labels");
    return false;
  }
  if (std::fflush(stdout) != 0 && output_error_ == 0) output_error_ = errno;
  if (output_error_ == 0) return true;
  // Whoever reads has gone: no error, but the end. A full disk is one.
  stop_requested = true;
  if (output_error_ == EPIPE) return true;
  error = std::string("standard output: ") + std::strerror(output_error_);
  return false;
}

// What happened since the last look: into the journal, onto the terminal, and what users wait for
// into the next line.
void Filter::take_events(const ReportStream& stream) {
  auto event = sized<adapvae_event>();
  event.sequence = last_event_;
  while (adapvae_next_event(model_, &event) == ADAPVAE_OK) {
    last_event_ = event.sequence;
    journal_.write(event, event.type == ADAPVAE_LEARNT ? &stream : nullptr);
    if (event.type == ADAPVAE_NOT_BORN || event.type == ADAPVAE_LEARNT ||
        event.type == ADAPVAE_DRIFTED) {
      continue;
    }
    char text[256];
    if (showing_ &&
        adapvae_event_text(&event, ADAPVAE_TEXT, text, sizeof text, nullptr) == ADAPVAE_OK) {
      const Style style = event.type == ADAPVAE_BORN ? Style::kGood : Style::kPlain;
      std::fprintf(stderr, "\r\033[K%s\n", styled(text, style, stderr).c_str());
    }
    if (adapvae_event_text(&event, ADAPVAE_JSON, text, sizeof text, nullptr) != ADAPVAE_OK) {
      continue;
    }
    if (!pending_events_.empty()) pending_events_ += ',';
    pending_events_ += text;
  }
}

const char* Filter::name_of(adapvae_id id) {
  if (id == ADAPVAE_NO_ID) return "";
  const auto known = names_.find(id);
  if (known != names_.end()) return known->second.c_str();
  auto cluster = sized<adapvae_cluster>();
  const bool found = adapvae_cluster_of(model_, id, &cluster) == ADAPVAE_OK;
  return names_.emplace(id, found ? cluster.name : "").first->second.c_str();
}

bool Filter::save_if_due(std::string& error) {
  if (options_.model_path.empty()) return true;
  const Every& every = options_.save_every;
  const bool due =
      (every.rows > 0.0 && static_cast<double>(totals_.rows - rows_saved_) >= every.rows) ||
      (every.seconds > 0.0 && seconds_since(saved_) >= every.seconds);
  if (!due) return true;
  saved_ = Clock::now();
  rows_saved_ = totals_.rows;
  return save(error);
}

// The journal first: what the model knows of is then written down.
bool Filter::save(std::string& error) {
  if (!journal_.flush()) {
    error = options_.journal_path + ": " + std::strerror(errno);
    return false;
  }
  return options_.lock->save(model_, options_.model_path, error);
}

void Filter::show_progress() {
  if (!showing_) return;
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_, &info);
  const double seconds = std::max(1e-9, seconds_since(start_));
  std::fprintf(stderr, "\r\033[K%lld rows, %.0f rows/s, %d clusters, ",
               static_cast<long long>(totals_.rows), static_cast<double>(totals_.rows) / seconds,
               info.clusters);
  if (options_.learn) {
    std::fprintf(stderr, "%lld born, novelty %.2f, ", static_cast<long long>(totals_.births),
                 last_novelty_);
  }
  std::fprintf(stderr, "%lld novel", static_cast<long long>(totals_.novel));
  if (part_done_ > 0.0 && part_done_ < 1.0) {
    std::fprintf(stderr, ", %s left", short_time(seconds * (1.0 / part_done_ - 1.0)).c_str());
  }
  std::fflush(stderr);
}

bool Filter::finish(std::string& error) {
  bool good = true;
  if (!options_.learn) {
    good = say_rows(false, error);
  } else if (stop_requested && !rows_.empty()) {
    good = tell_time(error);
    if (good && push_rows(nullptr) != ADAPVAE_OK) {
      error = last_error(model_);
      good = false;
    }
    good = good && say_rows(true, error);
  } else if (!stop_requested) {
    auto info = sized<adapvae_info>();
    adapvae_get_info(model_, &info);
    if (!rows_.empty() || info.rows_waiting > 0) good = learn_block(error);
  }
  if (showing_ && totals_.rows > 0) std::fputs("\r\033[K", stderr);
  if (!options_.learn || options_.model_path.empty()) {
    if (journal_.flush()) return good;
    error = options_.journal_path + ": " + std::strerror(errno);
    return false;
  }
  // A model that has met nothing is not worth a file: it would hold the next command to its shape.
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_, &info);
  if (info.rows == 0 && info.rows_waiting == 0 && !file_exists(options_.model_path)) return good;
  std::string problem;
  if (save(problem)) return good;
  error = problem;
  return false;
}

}  // namespace adapvae::cli

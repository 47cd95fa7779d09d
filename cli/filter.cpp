#include "cli/filter.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "cli/byte_stream.h"
#include "cli/row_lines.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kScoreRows = 256;  // that score() looks at together

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

Filter::Filter(adapvae_model* model, const FilterOptions& options)
    : model_(model), options_(options) {
  auto info = sized<adapvae_info>();
  adapvae_get_info(model, &info);
  inputs_ = info.inputs;
  last_event_ = info.events;
  room_ =
      options.learn ? static_cast<std::size_t>(info.block_rows - info.rows_waiting) : kScoreRows;
  start_ = saved_ = Clock::now();
  showing_ = !options.quiet && ::isatty(STDERR_FILENO) != 0;
}

Filter::~Filter() {
  if (events_ != nullptr) std::fclose(events_);
}

bool Filter::open(std::string& error) {
  if (options_.events_path.empty()) return true;
  events_ = std::fopen(options_.events_path.c_str(), "a");
  if (events_ != nullptr) return true;
  error = options_.events_path + ": " + std::strerror(errno);
  return false;
}

bool Filter::run(RowSource& source, std::string& error) {
  if (source.shape().inputs != inputs_) {
    error = "the model is for rows of " + std::to_string(inputs_) + " numbers, these have " +
            std::to_string(source.shape().inputs) + "; --columns chooses";
    return false;
  }
  Row row;
  while (!stop_requested) {
    const Next next = source.next(row);
    if (next == Next::kEnd) return true;
    if (next == Next::kError) {
      error = source.error();
      return false;
    }
    if (!add(row, error)) return false;
  }
  return true;
}

bool Filter::add(const Row& row, std::string& error) {
  if (rows_.empty()) block_start_ = Clock::now();
  values_.insert(values_.end(), row.values.begin(), row.values.end());
  rows_.push_back({{}, row.number, row.time, row.label});
  if (options_.as_met && options_.learn) {
    adapvae_result result;
    if (adapvae_score(model_, row.values.data(), 1, 0, &result) != ADAPVAE_OK) {
      error = "row " + std::to_string(row.number) + ": " + last_error(model_);
      return false;
    }
    const RowLine line = {row.number,         row.time, result, result.novelty,
                          name_of(result.id), {},       false};
    std::fputs(format_row(line).c_str(), stdout);
    if (options_.flush) std::fflush(stdout);
  }
  const bool late =
      options_.block_seconds > 0.0 && seconds_since(block_start_) >= options_.block_seconds;
  if (rows_.size() < room_ && !late && !(options_.flush && !options_.learn)) return true;
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

bool Filter::learn_block(std::string& error) {
  if (!score(met_, error)) return false;
  if (!tell_time(error)) return false;
  auto report = sized<adapvae_report>();
  adapvae_status status =
      adapvae_push(model_, values_.data(), static_cast<std::int32_t>(rows_.size()), 0, &report);
  if (status == ADAPVAE_OK && report.streams == 0) status = adapvae_flush(model_, &report);
  if (status != ADAPVAE_OK) {
    auto why = sized<adapvae_error>();
    adapvae_last_error(model_, &why);
    const bool known = why.index >= 0 && why.index < static_cast<std::int32_t>(rows_.size());
    error = known
                ? "row " + std::to_string(rows_[static_cast<std::size_t>(why.index)].number) + ": "
                : "";
    error += why.message;
    return false;
  }
  totals_.streams += report.streams;
  totals_.births += report.births;
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_, &info);
  room_ = static_cast<std::size_t>(info.block_rows);
  names_.clear();
  pending_events_ = take_events();
  if (!say_rows(false, error)) return false;
  show_progress();
  return save_if_due(error);
}

// A line for each row that is gathered; then there are none.
bool Filter::say_rows(bool waiting, std::string& error) {
  if (!score(now_, error)) return false;
  if (met_.size() != now_.size()) met_ = now_;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    ++totals_.rows;
    totals_.novel += met_[i].novelty > 0.5F ? 1 : 0;
    if (!row.label.empty()) {
      totals_.labels.push_back(row.label);
      totals_.ids.push_back(now_[i].id);
      totals_.kinds.push_back(now_[i].kind);
    }
    if (options_.as_met && options_.learn) continue;
    RowLine line = {row.number,          row.time, now_[i], met_[i].novelty,
                    name_of(now_[i].id), {},       waiting};
    if (i + 1 == rows_.size()) line.events.swap(pending_events_);
    std::fputs(format_row(line).c_str(), stdout);
    if (options_.flush) std::fflush(stdout);
  }
  rows_.clear();
  values_.clear();
  met_.clear();
  // Whoever reads has gone: no error, but the end.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) stop_requested = true;
  return true;
}

std::string Filter::take_events() {
  std::string all;
  auto event = sized<adapvae_event>();
  event.sequence = last_event_;
  while (adapvae_next_event(model_, &event) == ADAPVAE_OK) {
    last_event_ = event.sequence;
    char text[1024];
    if (adapvae_event_text(&event, ADAPVAE_JSON, text, sizeof text, nullptr) != ADAPVAE_OK)
      continue;
    if (events_ != nullptr) std::fprintf(events_, "%s\n", text);
    // What users wait for; the rest is in the file.
    if (event.type == ADAPVAE_NOT_BORN || event.type == ADAPVAE_LEARNT ||
        event.type == ADAPVAE_DRIFTED) {
      continue;
    }
    if (!all.empty()) all += ',';
    all += text;
  }
  if (events_ != nullptr) std::fflush(events_);
  return all;
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
  return save_model(model_, options_.model_path, error);
}

void Filter::show_progress() {
  if (!showing_) return;
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_, &info);
  std::fprintf(stderr, "\r%lld rows, %.0f rows/s, %d clusters, %lld born, %lld novel ",
               static_cast<long long>(totals_.rows),
               static_cast<double>(totals_.rows) / std::max(1e-9, seconds_since(start_)),
               info.clusters, static_cast<long long>(totals_.births),
               static_cast<long long>(totals_.novel));
}

bool Filter::finish(std::string& error) {
  bool good = true;
  if (!options_.learn) {
    good = say_rows(false, error);
  } else if (stop_requested && !rows_.empty()) {
    good = tell_time(error);
    if (good && adapvae_push(model_, values_.data(), static_cast<std::int32_t>(rows_.size()), 0,
                             nullptr) != ADAPVAE_OK) {
      error = last_error(model_);
      good = false;
    }
    good = good && say_rows(true, error);
  } else if (!stop_requested) {
    auto info = sized<adapvae_info>();
    adapvae_get_info(model_, &info);
    if (!rows_.empty() || info.rows_waiting > 0) good = learn_block(error);
  }
  if (showing_ && totals_.rows > 0) std::fputc('\n', stderr);
  if (!options_.learn || options_.model_path.empty()) return good;
  std::string problem;
  if (save_model(model_, options_.model_path, problem)) return good;
  error = problem;
  return false;
}

}  // namespace adapvae::cli

// The streaming filter behind `learn` and `score`: rows in, a line of JSON for each out.
//
// learn: rows gather in a block; a full block is scored as it is met, learnt, and scored once more:
// a line has the novelty of the first and the cluster of the second look. Rows that a stop leaves
// in an unfinished block go into the model's file and are learnt by the next run.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "cli/row_source.h"
#include "cli/settings.h"

namespace adapvae::cli {

struct FilterOptions {
  bool learn = true;
  bool as_met = false;  // lines as rows come, before they are learnt
  bool flush = false;   // every line at once
  bool quiet = false;
  double block_seconds = 0.0;  // > 0: a block is also full after so long
  Every save_every;            // neither: only at the end
  std::string model_path;      // empty: the model is not kept
  std::string events_path;     // empty: none
};

// What came of it, for the last line on standard error and for metrics.
struct FilterTotals {
  std::int64_t rows = 0;
  std::int64_t novel = 0;
  std::int64_t streams = 0;
  std::int64_t births = 0;
  std::vector<std::string> labels;  // of rows that have one
  std::vector<adapvae_id> ids;      // of those
  std::vector<adapvae_id> kinds;
};

class Filter {
 public:
  Filter(adapvae_model* model, const FilterOptions& options);
  ~Filter();
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  bool open(std::string& error);  // the file of events
  // All rows of a source; false: `error`. What came before it is learnt all the same.
  bool run(RowSource& source, std::string& error);
  // The last block, and the file; also after an error or a stop.
  bool finish(std::string& error);
  const FilterTotals& totals() const { return totals_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool add(const Row& row, std::string& error);
  bool tell_time(std::string& error);
  bool learn_block(std::string& error);  // what is gathered
  bool say_rows(bool waiting, std::string& error);
  bool score(std::vector<adapvae_result>& results, std::string& error);
  std::string take_events();
  const char* name_of(adapvae_id id);
  bool save_if_due(std::string& error);
  void show_progress();

  adapvae_model* model_;
  FilterOptions options_;
  FilterTotals totals_;
  int inputs_ = 0;
  std::size_t room_ = 0;  // rows until the block is full
  bool showing_ = false;  // progress, on a terminal
  Clock::time_point start_, block_start_, saved_;
  std::int64_t rows_saved_ = 0;
  std::vector<float> values_;  // of the block
  std::vector<Row> rows_;      // of the block, without their values
  std::vector<adapvae_result> met_, now_;
  std::uint64_t last_event_ = 0;
  std::string pending_events_;  // of the block, for its last line
  std::map<adapvae_id, std::string> names_;
  std::FILE* events_ = nullptr;
};

}  // namespace adapvae::cli

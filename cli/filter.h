// The streaming filter behind `learn`, `score`, `evaluate` and `report`: rows in, a line of JSON
// for each out.
//
// learn: rows gather in a block; a full block is scored as it is met, learnt, and scored once more:
// a line has the novelty of the first and the cluster of the second look. Rows that a stop leaves
// in an unfinished block go into the model's file and are learnt by the next run.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "cli/journal.h"
#include "cli/row_source.h"
#include "cli/run_record.h"
#include "cli/settings.h"

namespace adapvae::cli {

struct FilterOptions {
  bool learn = true;
  bool lines = true;    // a line for each row
  bool as_met = false;  // lines as rows come, before they are learnt
  bool flush = false;   // every line at once
  bool quiet = false;
  double block_seconds = 0.0;  // > 0: a block is also full after so long
  Every save_every;            // neither: only at the end
  std::string model_path;      // empty: the model is not kept
  ModelLock* lock = nullptr;   // held on model_path, if the model is kept
  std::string journal_path;    // empty: none
  std::string journal_model;   // the model that the journal is a companion of; empty: of none
};

// What came of it, for the last line on standard error.
struct FilterTotals {
  std::int64_t rows = 0;
  std::int64_t novel = 0;
  std::int64_t streams = 0;
  std::int64_t births = 0;
};

class Filter {
 public:
  // The record, if there is one, must outlive the filter.
  Filter(adapvae_model* model, const FilterOptions& options, RunRecord* record);
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;

  bool open(std::string& error);  // the journal
  // All rows of a source, which must be of the model's shape; false: `error`. What came before it
  // is learnt all the same.
  bool run(RowSource& source, std::string& error);
  // The last block, and the file; also after an error or a stop.
  bool finish(std::string& error);
  const FilterTotals& totals() const { return totals_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool add(const Row& row, std::string& error);
  bool tell_time(std::string& error);
  adapvae_status push_rows(adapvae_report* report);
  bool save_waiting(std::string& error);
  bool learn_block(std::string& error);  // what is gathered
  ReportStream describe(const adapvae_report& report, std::int64_t first_row, double seconds) const;
  bool say_rows(bool waiting, std::string& error);
  void say_row(std::size_t i, bool waiting);
  void write_line();
  bool score(std::vector<adapvae_result>& results, std::string& error);
  void take_events(const ReportStream& stream);
  const char* name_of(adapvae_id id);
  bool save_if_due(std::string& error);
  bool save(std::string& error);
  void show_progress();

  adapvae_model* model_;
  FilterOptions options_;
  RunRecord* record_;
  FilterTotals totals_;
  std::size_t inputs_ = 0;
  std::size_t room_ = 0;       // rows until the block is full
  bool showing_ = false;       // progress, on a terminal
  double part_done_ = -1.0;    // of the input; below 0: not known
  double last_novelty_ = 0.0;  // median of the last block
  Clock::time_point start_, block_start_, saved_;
  std::int64_t rows_saved_ = 0;
  std::vector<float> values_;  // of the block
  std::vector<Row> rows_;      // of the block, without their values
  std::size_t pushed_ = 0;     // of them, that wait in the model
  std::vector<adapvae_result> met_, now_;
  std::uint64_t last_event_ = 0;
  std::string pending_events_;  // of the block, for its last line
  std::string line_;
  int output_error_ = 0;  // errno of the first line that could not be written
  std::map<adapvae_id, std::string> names_;
  Journal journal_;
};

}  // namespace adapvae::cli

// Gathers what a report says: from a model, its journal and what a run left.
#pragma once

#include <string>

#include <adapvae/adapvae.h>

#include "cli/report/page.h"
#include "cli/run_record.h"

namespace adapvae::cli {

struct ReportSources {
  adapvae_model* model = nullptr;
  std::string model_path;             // empty: not kept
  std::string journal_path;           // empty, or no such file: no history
  const RunRecord* record = nullptr;  // null: no rows
  std::vector<std::string> input_names;
  std::string title;
};

// False: `error` says why not.
bool gather_report(const ReportSources& from, ReportData& data, std::string& error);
// Metrics and the table of labels and clusters; nothing if there are no labels.
bool gather_labels(const LabelTable& labels, ReportData& data, std::string& error);
// The page, all of it or nothing. `model_path`: the model that it belongs to, or empty.
bool write_report(const ReportData& data, const std::string& path, const std::string& model_path,
                  std::string& error);

// Where `report` writes the page unless told.
std::string page_path(const std::string& model_path);

// The words of the command line, as typed; said in reports. Kept by main().
void keep_command(int count, char** words);
std::string kept_command();

}  // namespace adapvae::cli

// learn, score, evaluate and report: rows through a model.
#include <cmath>
#include <csignal>

#include <unistd.h>

#include "cli/byte_stream.h"
#include "cli/filter.h"
#include "cli/plain_text.h"
#include "cli/report/gather.h"
#include "cli/row_lines.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

void on_signal(int) { stop_requested = true; }

// A block that is being learnt is learnt to its end, so that a resumed run is the uninterrupted
// one. A second signal of the same component ends the program as usual. A reader that goes away is
// seen by the write that fails.
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a read that waits ends
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // SIGHUP: the terminal was closed. The shell and the kernel may both send it, and the second one
  // must not interrupt a save. Under nohup it stays ignored.
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) {
    action.sa_flags = 0;
    sigaction(SIGHUP, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
}

// A file for the history of a model that is not kept; gone when this is.
class TemporaryFile {
 public:
  TemporaryFile() {
    const char* folder = std::getenv("TMPDIR");
    path_ =
        std::string(folder != nullptr && folder[0] != '\0' ? folder : "/tmp") + "/adapvae-XXXXXX";
    const int file = ::mkstemp(path_.data());
    if (file < 0) path_.clear();
    if (file >= 0) ::close(file);
  }
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One run of rows through a model. Each step gives an exit code; 0: go on.
class Run {
 public:
  Run(const Arguments& arguments, const FilterOptions& options)
      : arguments_(arguments), options_(options) {}

  // `rows` false: there are none, only the model is looked at.
  int prepare(bool rows);
  int filter_rows();
  int say_metrics(std::FILE* file, bool json);
  // `model_path`: the model that the page is a companion of (output_file.h), or empty.
  int write_page(const std::string& path, const std::string& title, const std::string& model_path);
  bool has_labels() const { return record_ && !record_->labels().empty(); }
  const std::string& model_path() const { return options_.model_path; }

 private:
  bool read_options(std::string& error);
  bool make_model(std::string& error);
  bool set_budget(std::string& error);
  void say_totals(const FilterTotals& totals, std::int64_t skipped) const;

  const Arguments& arguments_;
  FilterOptions options_;
  SourceOptions from_;
  std::unique_ptr<TemporaryFile> history_;
  std::unique_ptr<RowSource> source_;
  ModelLock lock_;
  std::unique_ptr<Threads> threads_;
  ModelHandle model_;
  std::unique_ptr<RunRecord> record_;
};

bool Run::read_options(std::string& error) {
  if (!source_options(arguments_, from_, error) || !check_settings(arguments_, error)) return false;
  options_.model_path = arguments_.value("--model").value_or("");
  options_.as_met = arguments_.has("--as-met");
  options_.flush = arguments_.has("--flush");
  options_.quiet = arguments_.has("--quiet");
  if (!options_.learn && options_.model_path.empty()) {
    error = "--model FILE is needed";
    return false;
  }
  const std::string own_journal =
      options_.model_path.empty() ? "" : journal_path(options_.model_path);
  options_.journal_path = arguments_.value("--events").value_or(own_journal);
  if (!arguments_.has("--events")) options_.journal_model = options_.model_path;
  options_.lock = &lock_;
  if (const auto every = arguments_.value("--save-every")) {
    if (!parse_every(*every, options_.save_every)) {
      error = "--save-every " + *every + ": rows (10000) or seconds (60s)";
      return false;
    }
    if (options_.model_path.empty()) {
      error = "--save-every needs --model";
      return false;
    }
  }
  Every block;
  if (const auto text = arguments_.value("--block"); text && parse_every(*text, block)) {
    options_.block_seconds = block.seconds;
  }
  return true;
}

// The model in the file, or a new one for rows of this shape.
bool Run::make_model(std::string& error) {
  threads_ = std::make_unique<Threads>(thread_count(arguments_));
  const adapvae_options made_with = threads_->options();
  if (!options_.model_path.empty() && (!options_.learn || file_exists(options_.model_path))) {
    if (!file_exists(options_.model_path)) {
      error = options_.model_path + ": there is no such model; adapvae learn makes one";
      return false;
    }
    model_ = load_model(options_.model_path, &made_with, error);
    return model_ && change_settings(arguments_, model_.get(), error);
  }
  if (!options_.model_path.empty()) forget_undo(options_.model_path);  // of one that is gone
  adapvae_config config;
  if (!model_config(arguments_, source_->shape(), source_->first_rows(), from_.missing, config,
                    error)) {
    return false;
  }
  model_ = create_model(config, &made_with, error);
  return model_ != nullptr;
}

bool Run::set_budget(std::string& error) {
  const auto budget = arguments_.value("--max-seconds-per-block");
  if (!budget) return true;
  const std::optional<double> seconds = parse_number(*budget);
  if (seconds && adapvae_set_budget(model_.get(), *seconds) == ADAPVAE_OK) return true;
  error = "--max-seconds-per-block " + *budget + ": seconds, 0 or more";
  return false;
}

int Run::prepare(bool rows) {
  std::string error;
  if (!read_options(error)) return fail(error, 2);
  if (rows) {
    const std::vector<std::string>& given = arguments_.operands();
    source_ = open_rows(given.empty() ? std::vector<std::string>{"-"} : given, from_, error);
    if (!source_) return fail(error);
  }
  if (options_.learn && !options_.model_path.empty() && !lock_.take(options_.model_path, error)) {
    return fail(error);
  }
  if (!make_model(error)) return fail(error);
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_.get(), &info);
  if (source_ && source_->shape().inputs != info.inputs) {
    return fail("the model is for rows of " + std::to_string(info.inputs) +
                " numbers, these have " + std::to_string(source_->shape().inputs) +
                "; --columns chooses");
  }
  if (source_ && !takes_missing_values(model_.get())) source_->refuse_missing();
  if (!set_budget(error)) return fail(error, 2);
  if (options_.learn && options_.journal_path.empty() && arguments_.has("--report")) {
    history_ = std::make_unique<TemporaryFile>();
    options_.journal_path = history_->path();
  }
  return 0;
}

void Run::say_totals(const FilterTotals& totals, std::int64_t skipped) const {
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_.get(), &info);
  const auto rows = static_cast<long long>(totals.rows);
  const auto novel = static_cast<long long>(totals.novel);
  const auto births = static_cast<long long>(totals.births);
  const auto streams = static_cast<long long>(totals.streams);
  const auto left_out = static_cast<long long>(skipped);
  if (arguments_.has("--json")) {
    std::fprintf(stderr,
                 "{\"rows\":%lld,\"novel\":%lld,\"clusters\":%d,\"births\":%lld,\"streams\":%lld,"
                 "\"waiting\":%d,\"skipped\":%lld}\n",
                 rows, novel, info.clusters, births, streams, info.rows_waiting, left_out);
    return;
  }
  std::fprintf(stderr, "adapvae: %lld rows, %lld novel, %d clusters", rows, novel, info.clusters);
  if (streams > 0) std::fprintf(stderr, ", %lld born in %lld streams", births, streams);
  if (info.rows_waiting > 0) std::fprintf(stderr, ", %d rows wait for more", info.rows_waiting);
  if (skipped > 0) std::fprintf(stderr, ", %lld rows left out: no value", left_out);
  std::fputc('\n', stderr);
}

int Run::filter_rows() {
  std::string error;
  const bool wanted = !options_.lines || arguments_.has("--report") || arguments_.has("--labels");
  if (wanted) record_ = std::make_unique<RunRecord>(source_->shape().inputs);
  FilterOptions options = options_;
  if (!options.learn) options.journal_path.clear();
  Filter filter(model_.get(), options, record_.get());
  if (!filter.open(error)) return fail(error);
  catch_signals();
  const bool read = filter.run(*source_, error);
  std::string problem;
  const bool finished = filter.finish(problem);
  if (error.empty()) error = problem;
  if (!options.quiet) say_totals(filter.totals(), source_->skipped());
  if (read && finished) return 0;
  const bool kept =
      finished && options.learn && !options.model_path.empty() && filter.totals().rows > 0;
  return fail(error + (kept ? "; what came before is learnt and saved" : ""));
}

void print_metrics(std::FILE* file, const char* level, const adapvae_metrics& m) {
  std::fprintf(file, "%-9s %4d %7.4f %7.4f %12.4f %13.4f %9.4f %9.4f\n", level, m.clusters, m.nmi,
               m.ari, m.homogeneity, m.completeness, m.accuracy, m.purity);
}

int Run::say_metrics(std::FILE* file, bool json) {
  if (!has_labels()) return 0;
  std::string error;
  adapvae_metrics clusters, components;
  if (!record_->labels().metrics(clusters, components, error)) return fail(error);
  if (json) {
    std::fprintf(file, "%s\n%s\n", metrics_json("clusters", clusters).c_str(),
                 metrics_json("components", components).c_str());
    return 0;
  }
  std::fprintf(file, "%d rows, %d labels\n%-9s %4s %7s %7s %12s %13s %9s %9s\n", clusters.rows,
               clusters.labels, "", "K", "NMI", "ARI", "homogeneity", "completeness", "accuracy",
               "purity");
  print_metrics(file, "clusters", clusters);
  print_metrics(file, "components", components);
  return 0;
}

int Run::write_page(const std::string& path, const std::string& title,
                    const std::string& model_path) {
  ReportSources sources;
  sources.model = model_.get();
  sources.model_path = options_.model_path;
  sources.journal_path = options_.journal_path;
  sources.record = record_.get();
  if (source_) sources.input_names = source_->names();
  sources.title = title;
  ReportData data;
  std::string error;
  if (!gather_report(sources, data, error) || !write_report(data, path, model_path, error)) {
    return fail(error);
  }
  if (!options_.quiet) std::fprintf(stderr, "adapvae: report in %s\n", printable(path).c_str());
  return 0;
}

std::string title_of(const Arguments& arguments) {
  if (const auto title = arguments.value("--title")) return *title;
  const std::string path = !arguments.operands().empty()
                               ? arguments.operands()[0]
                               : arguments.value("--model").value_or("standard input");
  return path.substr(path.rfind('/') + 1);
}

int run_filter(const Arguments& arguments, const FilterOptions& options) {
  Run run(arguments, options);
  if (const int code = run.prepare(true)) return code;
  if (const int code = run.filter_rows()) return code;
  if (!arguments.has("--quiet")) {
    if (const int code = run.say_metrics(stderr, true)) return code;
  }
  const auto page = arguments.value("--report");
  return page ? run.write_page(*page, title_of(arguments), "") : 0;
}

}  // namespace

int run_learn(const Arguments& arguments) { return run_filter(arguments, {}); }

int run_score(const Arguments& arguments) {
  FilterOptions options;
  options.learn = false;
  return run_filter(arguments, options);
}

int run_evaluate(const Arguments& arguments) {
  if (!arguments.has("--labels")) return fail("--labels is needed: a column, or a file", 2);
  FilterOptions options;
  options.learn = options.lines = false;
  Run run(arguments, options);
  if (const int code = run.prepare(true)) return code;
  if (const int code = run.filter_rows()) return code;
  if (!run.has_labels()) return fail("no row has a label");
  return run.say_metrics(stdout, arguments.has("--json"));
}

int run_report(const Arguments& arguments) {
  FilterOptions options;
  options.learn = options.lines = false;
  Run run(arguments, options);
  const bool rows = !arguments.operands().empty();
  if (const int code = run.prepare(rows)) return code;
  if (rows) {
    if (const int code = run.filter_rows()) return code;
  }
  const auto page = arguments.value("--output");
  return run.write_page(page.value_or(page_path(run.model_path())), title_of(arguments),
                        page ? "" : run.model_path());
}

}  // namespace adapvae::cli

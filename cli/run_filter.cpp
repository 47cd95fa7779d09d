// learn and score: rows through a model.
#include <cmath>
#include <csignal>
#include <map>

#include <unistd.h>

#include "cli/byte_stream.h"
#include "cli/filter.h"
#include "cli/row_lines.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

void on_signal(int) { stop_requested = true; }

// A block that is being learnt is learnt to its end, so that a resumed run is the uninterrupted
// one. A second signal of the same kind ends the program as usual. A reader that goes away is seen
// by the write that fails.
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // no SA_RESTART: a read that waits ends
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

std::vector<std::string> inputs_of(const Arguments& arguments) {
  return arguments.operands().empty() ? std::vector<std::string>{"-"} : arguments.operands();
}

bool filter_options(const Arguments& arguments, FilterOptions& options, std::string& error) {
  options.model_path = arguments.value("--model").value_or("");
  options.events_path = arguments.value("--events").value_or("");
  options.as_met = arguments.has("--as-met");
  options.flush = arguments.has("--flush");
  options.quiet = arguments.has("--quiet");
  if (const auto every = arguments.value("--save-every")) {
    if (!parse_every(*every, options.save_every)) {
      error = "--save-every " + *every + ": rows (10000) or seconds (60s)";
      return false;
    }
    if (options.model_path.empty()) {
      error = "--save-every needs --model";
      return false;
    }
  }
  Every block;
  if (const auto text = arguments.value("--block"); text && parse_every(*text, block)) {
    options.block_seconds = block.seconds;
  }
  return true;
}

// The model in the file, or a new one for rows of this shape.
ModelHandle make_model(const Arguments& arguments, const std::string& path, const RowShape& shape,
                       const adapvae_options& options, std::string& error) {
  if (!path.empty() && file_exists(path)) {
    ModelHandle model = load_model(path, &options, error);
    if (model && !change_settings(arguments, model.get(), error)) return nullptr;
    return model;
  }
  adapvae_config config;
  if (!model_config(arguments, shape, config, error)) return nullptr;
  adapvae_model* model = nullptr;
  auto why = sized<adapvae_error>();
  if (adapvae_create(&config, &options, &model, &why) != ADAPVAE_OK) error = why.message;
  return ModelHandle(model);
}

bool evaluate(const FilterTotals& totals, const std::vector<adapvae_id>& ids, const char* level,
              std::string& text) {
  std::map<std::string, std::int32_t> numbers;
  std::vector<std::int32_t> labels;
  for (const std::string& label : totals.labels) {
    labels.push_back(
        numbers.emplace(label, static_cast<std::int32_t>(numbers.size())).first->second);
  }
  auto metrics = sized<adapvae_metrics>();
  auto why = sized<adapvae_error>();
  if (adapvae_evaluate(labels.data(), ids.data(), static_cast<std::int32_t>(labels.size()), nullptr,
                       &metrics, &why) != ADAPVAE_OK) {
    text = why.message;
    return false;
  }
  char line[512];
  std::snprintf(line, sizeof line,
                "{\"level\":\"%s\",\"rows\":%d,\"labels\":%d,\"k\":%d,\"nmi\":%.6f,"
                "\"nmi_geometric\":%.6f,\"ari\":%.6f,\"hs\":%.6f,\"cs\":%.6f,\"vm\":%.6f,"
                "\"acc\":%.6f,\"purity\":%.6f}\n",
                level, metrics.rows, metrics.labels, metrics.clusters, metrics.nmi,
                metrics.nmi_geometric, metrics.ari, metrics.homogeneity, metrics.completeness,
                metrics.v_measure, metrics.accuracy, metrics.purity);
  text = line;
  return true;
}

void say_totals(const FilterTotals& totals, const adapvae_model* model, std::int64_t skipped) {
  auto info = sized<adapvae_info>();
  adapvae_get_info(model, &info);
  std::fprintf(stderr, "adapvae: %lld rows, %lld novel, %d clusters",
               static_cast<long long>(totals.rows), static_cast<long long>(totals.novel),
               info.clusters);
  if (totals.streams > 0) {
    std::fprintf(stderr, ", %lld born in %lld streams", static_cast<long long>(totals.births),
                 static_cast<long long>(totals.streams));
  }
  if (info.rows_waiting > 0) std::fprintf(stderr, ", %d rows wait for more", info.rows_waiting);
  if (skipped > 0) {
    std::fprintf(stderr, ", %lld rows left out: no value", static_cast<long long>(skipped));
  }
  std::fputc('\n', stderr);
}

int run_filter(const Arguments& arguments, FilterOptions options) {
  std::string error;
  SourceOptions from;
  if (!source_options(arguments, from, error) || !filter_options(arguments, options, error)) {
    return fail(error, 2);
  }
  if (!options.learn && options.model_path.empty()) return fail("--model FILE is needed", 2);
  if (!options.learn && !file_exists(options.model_path)) {
    return fail(options.model_path + ": there is no such model; adapvae learn makes one");
  }
  const std::vector<std::string> inputs = inputs_of(arguments);
  std::unique_ptr<RowSource> source = open_rows(inputs[0], from, error);
  if (!source) return fail(error);

  Threads threads(thread_count(arguments));
  const adapvae_options made_with = threads.options();
  const ModelHandle model =
      make_model(arguments, options.model_path, source->shape(), made_with, error);
  if (!model) return fail(error);
  if (const auto budget = arguments.value("--max-seconds-per-block")) {
    const std::optional<double> seconds = parse_number(*budget);
    if (!seconds || adapvae_set_budget(model.get(), *seconds) != ADAPVAE_OK) {
      return fail("--max-seconds-per-block " + *budget + ": seconds, 0 or more", 2);
    }
  }
  Filter filter(model.get(), options);
  if (!filter.open(error)) return fail(error);
  catch_signals();
  std::int64_t skipped = 0;
  bool good = true;
  for (std::size_t i = 0; good && i < inputs.size(); ++i) {
    if (i > 0) source = open_rows(inputs[i], from, error);
    good = source != nullptr && filter.run(*source, error);
    if (source) skipped += source->skipped();
  }
  std::string problem;
  const bool finished = filter.finish(problem);
  if (error.empty()) error = problem;
  good = good && finished;
  if (!options.quiet) say_totals(filter.totals(), model.get(), skipped);
  if (!good) {
    const bool kept = finished && options.learn && !options.model_path.empty();
    return fail(error + (kept ? "; what came before is learnt and saved" : ""));
  }
  if (from.label_column.empty()) return 0;
  std::string text;
  for (const auto& [level, ids] :
       {std::pair{"clusters", &filter.totals().ids}, std::pair{"kinds", &filter.totals().kinds}}) {
    if (!evaluate(filter.totals(), *ids, level, text)) return fail(text);
    std::fputs(text.c_str(), stderr);
  }
  return 0;
}

}  // namespace

int run_learn(const Arguments& arguments) { return run_filter(arguments, {}); }

int run_score(const Arguments& arguments) {
  FilterOptions options;
  options.learn = false;
  return run_filter(arguments, options);
}

}  // namespace adapvae::cli

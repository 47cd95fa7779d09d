// What is in a model, and the user's corrections of it.
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cli/journal.h"
#include "cli/memory_limit.h"
#include "cli/output_file.h"
#include "cli/plain_text.h"
#include "cli/row_lines.h"
#include "cli/row_source.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

ModelHandle open_model(const Arguments& arguments, std::string& path, std::string& error) {
  const auto given = arguments.value("--model");
  if (!given) {
    error = "--model FILE is needed";
    return nullptr;
  }
  path = *given;
  return load_model(path, nullptr, error);
}

// An id among the operands.
bool id_at(const Arguments& arguments, std::size_t index, adapvae_id& id, std::string& error) {
  if (index >= arguments.operands().size()) {
    error = "the id of a cluster is needed; adapvae clusters lists them";
    return false;
  }
  const std::string& text = arguments.operands()[index];
  const std::optional<double> value = parse_number(text);
  if (!value || !(*value >= 1.0 && *value < 4294967296.0) || *value != std::floor(*value)) {
    error = "'" + text + "' is no id: a whole number from 1 on";
    return false;
  }
  id = static_cast<adapvae_id>(*value);
  return true;
}

std::string cluster_json(const adapvae_cluster& c) {
  std::string out =
      "{\"id\":" + std::to_string(c.id) + ",\"components\":" + std::to_string(c.components);
  out += ",\"name\":" + json_string(c.name) + ",\"rows\":" + json_number(c.rows);
  out += ",\"weight\":" + json_number(c.weight);
  out += ",\"parent\":" + (c.parent == ADAPVAE_NO_ID ? "null" : std::to_string(c.parent));
  out += ",\"born_stream\":" + std::to_string(c.born_stream);
  out += ",\"seen_stream\":" + std::to_string(c.seen_stream);
  return out + (c.provisional != 0 ? ",\"provisional\":true}" : ",\"provisional\":false}");
}

constexpr int kUndoSteps = 4;

// What the model was before the last correction, the one before, and so on.
std::string undo_path(const std::string& path, int step) {
  return resolved_path(path) + ".undo" + (step > 1 ? std::to_string(step) : "");
}

}  // namespace

void forget_undo(const std::string& path) {
  for (int step = 1; step <= kUndoSteps; ++step) std::remove(undo_path(path, step).c_str());
}

namespace {

bool keep_for_undo(const std::string& path, const std::vector<std::uint8_t>& bytes,
                   std::string& error) {
  for (int step = kUndoSteps - 1; step >= 1; --step) {
    std::rename(undo_path(path, step).c_str(), undo_path(path, step + 1).c_str());
  }
  WriteOptions options;
  options.model_path = path;
  return write_file(undo_path(path, 1), bytes, error, options);
}

bool write_events_since(adapvae_model* model, std::uint64_t last, const std::string& path,
                        std::string& error) {
  Journal journal;
  if (!journal.open(journal_path(path), path, error)) return false;
  auto event = sized<adapvae_event>();
  event.sequence = last;
  while (adapvae_next_event(model, &event) == ADAPVAE_OK) journal.write(event, nullptr);
  if (journal.flush()) return true;
  error = journal_path(path) + ": " + std::strerror(errno);
  return false;
}

// One correction: all of it or nothing, and in the file only if it was made.
template <typename Correct>
int correct(const Arguments& arguments, const Correct& change) {
  std::string path;
  std::string error;
  ModelLock lock;
  if (arguments.has("--model") && file_exists(*arguments.value("--model")) &&
      !lock.take(*arguments.value("--model"), error)) {
    return fail(error);
  }
  const ModelHandle model = open_model(arguments, path, error);
  if (!model) return fail(error, arguments.has("--model") ? 1 : 2);
  auto before = sized<adapvae_info>();
  adapvae_get_info(model.get(), &before);
  std::vector<std::uint8_t> bytes;
  if (!read_file(path, bytes, error)) return fail(error);
  double gain = 0.0;
  bool understood = true;
  const adapvae_status status = change(model.get(), &gain, understood, error);
  if (!understood) return fail(error, 2);
  if (status == ADAPVAE_REFUSED) {
    return fail("the evidence speaks against it (the bound would change by " + json_number(gain) +
                "); --force does it all the same");
  }
  if (status != ADAPVAE_OK) return fail(last_error(model.get()));
  // What fails first leaves all as it was.
  if (!write_events_since(model.get(), before.events, path, error) ||
      !lock.save(model.get(), path, error) || !keep_for_undo(path, bytes, error)) {
    return fail(error);
  }
  return 0;
}

bool read_snapshot(const std::string& path, std::vector<std::uint8_t>& bytes,
                   adapvae_snapshot& snapshot, std::string& error) {
  snapshot = sized<adapvae_snapshot>();
  if (!read_file(path, bytes, error)) return false;
  auto why = sized<adapvae_error>();
  if (adapvae_inspect(bytes.data(), bytes.size(), &snapshot, nullptr, &why) == ADAPVAE_OK) {
    return true;
  }
  error = path + ": " + why.message;
  return false;
}

}  // namespace

int run_clusters(const Arguments& arguments) {
  std::string path;
  std::string error;
  const ModelHandle model = open_model(arguments, path, error);
  if (!model) return fail(error, arguments.has("--model") ? 1 : 2);
  auto info = sized<adapvae_info>();
  adapvae_get_info(model.get(), &info);
  if (!arguments.has("--json")) {
    std::printf("%8s %10s %12s %8s %8s %8s  %s\n", "id", "components", "rows", "weight", "born",
                "seen", "name");
  }
  for (std::int32_t i = 0; i < info.clusters; ++i) {
    auto c = sized<adapvae_cluster>();
    if (adapvae_cluster_at(model.get(), i, &c) != ADAPVAE_OK) return fail(last_error(model.get()));
    if (arguments.has("--json")) {
      std::printf("%s\n", cluster_json(c).c_str());
    } else {
      std::printf("%8u %10d %12.1f %8.4f %8llu %8llu  %s\n", c.id, c.components, c.rows, c.weight,
                  static_cast<unsigned long long>(c.born_stream),
                  static_cast<unsigned long long>(c.seen_stream), printable(c.name).c_str());
    }
  }
  return 0;
}

int run_inspect(const Arguments& arguments) {
  const std::string path = arguments.operands().empty() ? arguments.value("--model").value_or("")
                                                        : arguments.operands()[0];
  if (path.empty()) return fail("a model's file is needed", 2);
  std::vector<std::uint8_t> bytes;
  std::string error;
  if (!read_file(path, bytes, error)) return fail(error);
  auto snapshot = sized<adapvae_snapshot>();
  auto config = sized<adapvae_config>();
  auto why = sized<adapvae_error>();
  if (adapvae_inspect(bytes.data(), bytes.size(), &snapshot, &config, &why) != ADAPVAE_OK) {
    return fail(path + ": " + why.message);
  }
  std::size_t memory = 0;
  adapvae_memory_required(&config, nullptr, &memory, nullptr);
  std::printf(
      "file       %s, %zu bytes\nformat     %llu, by adapvae %s\nclusters   %d\nrows       %llu "
      "learnt in "
      "%llu streams, %llu wait\nmemory     %zu bytes to learn on%s\n",
      printable(path).c_str(), bytes.size(), static_cast<unsigned long long>(snapshot.format),
      snapshot.version[0] != '\0' ? printable(snapshot.version).c_str() : "(not known)",
      snapshot.clusters, static_cast<unsigned long long>(snapshot.rows),
      static_cast<unsigned long long>(snapshot.streams),
      static_cast<unsigned long long>(snapshot.rows_waiting), memory,
      memory > memory_limit ? ", more than --max-memory allows" : "");
  for (const auto& [name, value] : changed_settings(config, arguments.has("--all"))) {
    std::printf("setting    %s=%s\n", name.c_str(), printable(value).c_str());
  }
  return 0;
}

namespace {

// "  input 3: …" becomes "  pressure (input 3): …".
std::string with_names(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::string_view kBegin = "\n  input ";
  std::string out;
  std::size_t at = 0;
  for (std::size_t found = text.find(kBegin); found != std::string::npos;
       found = text.find(kBegin, at)) {
    const std::size_t number = found + kBegin.size();
    const std::size_t end = std::min(text.find(':', number), text.size());
    const double input = parse_number(text.substr(number, end - number)).value_or(-1.0);
    const auto i = static_cast<std::size_t>(std::max(input, 0.0));
    const bool named = input >= 0.0 && i < names.size() && names[i] != std::to_string(i + 1);
    out += text.substr(at, found - at);
    out += named ? "\n  " + printable(names[i]) + " (input " + std::to_string(i) + ")"
                 : text.substr(found, end - found);
    at = end;
  }
  return out + text.substr(at);
}

}  // namespace

int run_explain(const Arguments& arguments) {
  std::string path;
  std::string error;
  SourceOptions from;
  if (!source_options(arguments, from, error)) return fail(error, 2);
  const ModelHandle model = open_model(arguments, path, error);
  if (!model) return fail(error, arguments.has("--model") ? 1 : 2);
  const std::string input = arguments.operands().empty() ? "-" : arguments.operands()[0];
  std::unique_ptr<RowSource> source = open_rows({input}, from, error);
  if (!source) return fail(error);
  auto info = sized<adapvae_info>();
  adapvae_get_info(model.get(), &info);
  if (source->shape().inputs != info.inputs) {
    return fail("the model is for rows of " + std::to_string(info.inputs) +
                " numbers, these have " + std::to_string(source->shape().inputs) +
                "; --columns chooses");
  }
  if (!takes_missing_values(model.get())) source->refuse_missing();
  const int format = arguments.has("--json") ? ADAPVAE_JSON : ADAPVAE_TEXT;
  Row row;
  Next next = Next::kEnd;
  while ((next = source->next(row)) == Next::kRow) {
    std::size_t needed = 0;
    if (adapvae_explain(model.get(), row.values.data(), format, nullptr, 0, &needed) !=
        ADAPVAE_OK) {
      return fail("row " + std::to_string(row.number) + ": " + last_error(model.get()));
    }
    std::string text(needed, '\0');
    adapvae_explain(model.get(), row.values.data(), format, text.data(), text.size(), &needed);
    if (format == ADAPVAE_TEXT) std::printf("row %lld\n", static_cast<long long>(row.number));
    // JSON has its zero counted, too.
    text.resize(std::char_traits<char>::length(text.c_str()));
    if (format == ADAPVAE_TEXT) text = with_names(text, source->names());
    std::printf("%s\n", text.c_str());
  }
  return next == Next::kError ? fail(source->error()) : 0;
}

int run_label(const Arguments& arguments) {
  return correct(
      arguments, [&](adapvae_model* model, double*, bool& understood, std::string& error) {
        adapvae_id id = 0;
        understood = id_at(arguments, 0, id, error);
        if (understood && arguments.operands().size() != 2) {
          understood = false;
          error = "a name is needed behind the id; '' takes one away";
        }
        return understood ? adapvae_label(model, id, arguments.operands()[1].c_str()) : ADAPVAE_OK;
      });
}

int run_merge(const Arguments& arguments) {
  return correct(
      arguments, [&](adapvae_model* model, double* gain, bool& understood, std::string& error) {
        adapvae_id id = 0;
        adapvae_id other = 0;
        understood = id_at(arguments, 0, id, error) && id_at(arguments, 1, other, error);
        return understood ? adapvae_merge(model, id, other, arguments.has("--force") ? 1 : 0, gain)
                          : ADAPVAE_OK;
      });
}

int run_split(const Arguments& arguments) {
  return correct(
      arguments, [&](adapvae_model* model, double* gain, bool& understood, std::string& error) {
        adapvae_id id = 0;
        adapvae_id part = 0;
        understood = id_at(arguments, 0, id, error);
        const adapvae_status status =
            understood ? adapvae_split(model, id, arguments.has("--force") ? 1 : 0, &part, gain)
                       : ADAPVAE_OK;
        if (understood && status == ADAPVAE_OK) std::printf("%u\n", part);
        return status;
      });
}

int run_forget(const Arguments& arguments) {
  return correct(arguments,
                 [&](adapvae_model* model, double*, bool& understood, std::string& error) {
                   adapvae_id id = 0;
                   understood = id_at(arguments, 0, id, error);
                   return understood ? adapvae_forget(model, id) : ADAPVAE_OK;
                 });
}

int run_undo(const Arguments& arguments) {
  const auto path = arguments.value("--model");
  if (!path) return fail("--model FILE is needed", 2);
  std::string error;
  ModelLock lock;
  if (file_exists(*path) && !lock.take(*path, error)) return fail(error);
  std::vector<std::uint8_t> bytes;
  adapvae_snapshot now, then;
  if (!read_snapshot(*path, bytes, now, error)) return fail(error);
  if (!file_exists(undo_path(*path, 1))) return fail("there is no correction to undo");
  if (!read_snapshot(undo_path(*path, 1), bytes, then, error)) return fail(error);
  if (then.streams != now.streams || then.rows != now.rows ||
      then.rows_waiting != now.rows_waiting || then.events >= now.events) {
    return fail("rows were learnt since the last correction: it cannot be undone");
  }
  if (!lock.write(*path, bytes, error)) return fail(error);
  std::remove(undo_path(*path, 1).c_str());
  for (int step = 2; step <= kUndoSteps; ++step) {
    std::rename(undo_path(*path, step).c_str(), undo_path(*path, step - 1).c_str());
  }
  return 0;
}

int run_events(const Arguments& arguments) {
  const auto model = arguments.value("--model");
  if (!model) return fail("--model FILE is needed", 2);
  const std::string path = arguments.value("--events").value_or(journal_path(*model));
  std::string error;
  std::vector<std::uint8_t> bytes;
  adapvae_snapshot snapshot;
  if (!read_snapshot(*model, bytes, snapshot, error)) return fail(error);
  std::vector<ReportEvent> events;
  std::vector<ReportStream> streams;
  if (!read_journal(path, snapshot.events, events, streams, error)) return fail(error);
  const bool all = arguments.has("--all");
  for (const ReportEvent& e : events) {
    if (!all && (e.type == "not_born" || e.type == "drifted")) continue;
    if (!arguments.has("--json")) {
      const Style style = e.type == "born" ? Style::kGood : Style::kPlain;
      std::printf("%s\n", styled(printable(e.text), style, stdout).c_str());
      continue;
    }
    std::printf(
        "{\"sequence\":%llu,\"stream\":%llu,\"event\":%s,\"id\":%u,\"other\":%u,"
        "\"gain\":%s,\"rows\":%s,\"text\":%s}\n",
        static_cast<unsigned long long>(e.sequence), static_cast<unsigned long long>(e.stream),
        json_string(e.type).c_str(), e.id, e.other, json_number(e.gain).c_str(),
        json_number(e.rows).c_str(), json_string(e.text).c_str());
  }
  return 0;
}

}  // namespace adapvae::cli

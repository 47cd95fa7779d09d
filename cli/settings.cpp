#include "cli/settings.h"

#include <algorithm>
#include <cmath>
#include <thread>

namespace adapvae::cli {
namespace {

bool set_field(adapvae_config& config, const std::string& name, const std::string& value,
               std::string& error) {
  auto why = sized<adapvae_error>();
  if (adapvae_config_set(&config, name.c_str(), value.c_str(), &why) == ADAPVAE_OK) return true;
  error = "--set " + name + "=" + value + ": " + why.message;
  return false;
}

std::string field_text(const adapvae_config& config, const char* name) {
  char text[128] = "";
  adapvae_config_get(&config, name, text, sizeof text, nullptr);
  return text;
}

// What the library makes of such rows.
bool suit(const RowShape& shape, const std::vector<float>& rows, adapvae_config& config,
          std::string& error) {
  if (shape.unit) {
    config.image_width = shape.image_width;
    config.image_height = shape.image_height;
  }
  auto why = sized<adapvae_error>();
  const auto count =
      static_cast<std::int32_t>(rows.size() / static_cast<std::size_t>(shape.inputs));
  if (adapvae_config_for_rows(&config, rows.data(), count, shape.inputs, 0, nullptr, &why) ==
      ADAPVAE_OK) {
    return true;
  }
  error = why.message;
  return false;
}

// WIDTHxHEIGHT, of an option that need not be there.
bool parse_size(const Arguments& arguments, const char* name, int& width, int& height,
                std::string& error) {
  const auto text = arguments.value(name);
  if (!text) return true;
  const std::size_t cross = std::min(text->find('x'), text->size());
  const double w = parse_number(text->substr(0, cross)).value_or(0.0);
  const double h = parse_number(text->substr(std::min(cross + 1, text->size()))).value_or(0.0);
  const auto good = [](double x) { return x >= 1.0 && x <= 16384.0 && x == std::floor(x); };
  if (!good(w) || !good(h)) {
    error = std::string(name) + " " + *text + ": pixels are needed, as in 28x28";
    return false;
  }
  width = static_cast<int>(w);
  height = static_cast<int>(h);
  return true;
}

}  // namespace

bool parse_every(const std::string& text, Every& every) {
  const bool time = !text.empty() && text.back() == 's';
  const std::optional<double> value = parse_number(time ? text.substr(0, text.size() - 1) : text);
  if (!value || !std::isfinite(*value) || *value <= 0.0) return false;
  if (!time && *value != std::floor(*value)) return false;
  (time ? every.seconds : every.rows) = *value;
  return true;
}

bool source_options(const Arguments& arguments, SourceOptions& options, std::string& error) {
  struct FormatName {
    const char* name;
    Format format;
  };
  constexpr FormatName kFormats[] = {{"csv", Format::kCsv},     {"tsv", Format::kTsv},
                                     {"jsonl", Format::kJsonl}, {"idx", Format::kIdx},
                                     {"npy", Format::kNpy},     {"image", Format::kImage}};
  if (const auto name = arguments.value("--format")) {
    for (const FormatName& known : kFormats) {
      if (*name == known.name) options.format = known.format;
    }
    if (options.format == Format::kSniff) {
      error = "--format is one of: csv, tsv, jsonl, idx, npy, image";
      return false;
    }
  }
  if (const auto name = arguments.value("--missing")) {
    if (*name != "fill" && *name != "refuse" && *name != "skip" && *name != "last") {
      error = "--missing is one of: fill, refuse, skip, last";
      return false;
    }
    if (*name == "refuse") options.missing = Missing::kRefuse;
    if (*name == "skip") options.missing = Missing::kSkip;
    if (*name == "last") options.missing = Missing::kLast;
  }
  if (const auto list = arguments.value("--columns")) {
    for (std::size_t at = 0; at <= list->size();) {
      const std::size_t end = std::min(list->find(',', at), list->size());
      options.columns.push_back(list->substr(at, end - at));
      at = end + 1;
    }
  }
  if (const auto text = arguments.value("--divide")) {
    options.divide = parse_number(*text).value_or(0.0);
    if (!(options.divide > 0.0) || !std::isfinite(options.divide)) {
      error = "--divide " + *text + ": a number above 0";
      return false;
    }
  }
  options.time_column = arguments.value("--time").value_or("");
  options.labels = arguments.value("--labels").value_or("");
  return parse_size(arguments, "--tile", options.tile_width, options.tile_height, error) &&
         parse_size(arguments, "--size", options.image_width, options.image_height, error);
}

bool apply_settings(const Arguments& arguments, adapvae_config& config, std::string& error) {
  auto why = sized<adapvae_error>();
  if (const auto preset = arguments.value("--preset")) {
    if (adapvae_config_preset(&config, preset->c_str(), &why) != ADAPVAE_OK) {
      error = "--preset " + *preset + ": " + why.message;
      return false;
    }
  }
  if (const auto seed = arguments.value("--seed")) {
    if (!set_field(config, "seed", *seed, error)) return false;
  }
  if (const auto block = arguments.value("--block")) {
    Every every;
    if (!parse_every(*block, every)) {
      error = "--block " + *block + ": rows (500) or seconds (10s)";
      return false;
    }
    if (every.rows > 0.0 && !set_field(config, "block_rows", *block, error)) return false;
    config.batch = std::min(config.batch, config.block_rows);
  }
  for (const std::string& setting : arguments.values("--set")) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      error = "--set " + setting + ": name=value is needed; docs/configuration.md has the names";
      return false;
    }
    if (!set_field(config, setting.substr(0, equals), setting.substr(equals + 1), error)) {
      return false;
    }
  }
  return true;
}

bool check_settings(const Arguments& arguments, std::string& error) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  if (!apply_settings(arguments, config, error)) return false;
  const auto threads = arguments.value("--threads");
  const double count = threads ? parse_number(*threads).value_or(0.0) : 1.0;
  if (count >= 1.0 && count <= 256.0 && count == std::floor(count)) return true;
  error = "--threads " + *threads + ": a whole number from 1 to 256";
  return false;
}

bool model_config(const Arguments& arguments, const RowShape& shape, const std::vector<float>& rows,
                  Missing missing, adapvae_config& config, std::string& error) {
  adapvae_config_init(&config, sizeof config);
  if (!arguments.has("--preset") && !suit(shape, rows, config, error)) return false;
  const bool gaps = std::any_of(rows.begin(), rows.end(), [](float x) { return std::isnan(x); });
  if (gaps && missing == Missing::kFill) config.missing_values = 1;  // with a preset, too
  if (!apply_settings(arguments, config, error)) return false;
  if (config.inputs == shape.inputs) return true;
  error = "these settings are for rows of " + std::to_string(config.inputs) +
          " numbers, these have " + std::to_string(shape.inputs);
  return false;
}

bool takes_missing_values(adapvae_model* model) {
  auto config = sized<adapvae_config>();
  adapvae_get_config(model, &config);
  return config.missing_values != 0;
}

bool change_settings(const Arguments& arguments, adapvae_model* model, std::string& error) {
  auto have = sized<adapvae_config>();
  adapvae_get_config(model, &have);
  adapvae_config want = have;
  if (!apply_settings(arguments, want, error)) return false;
  if (want.replay_rows == 0) want.replay_rows = have.replay_rows;  // as many as were needed
  auto field = sized<adapvae_field>();
  for (std::int32_t i = 0; adapvae_config_field(i, &field) == ADAPVAE_OK; ++i) {
    const std::string now = field_text(have, field.name);
    const std::string then = field_text(want, field.name);
    if (now == then) continue;
    if (field.live == 0) {
      error = std::string(field.name) + " is " + now + " in this model for good; " + then +
              " needs a new one";
      return false;
    }
    if (adapvae_set(model, field.name, then.c_str()) == ADAPVAE_OK) continue;
    error = std::string(field.name) + "=" + then + ": " + last_error(model);
    return false;
  }
  return true;
}

std::vector<std::pair<std::string, std::string>> changed_settings(const adapvae_config& config,
                                                                  bool all) {
  adapvae_config usual;
  adapvae_config_init(&usual, sizeof usual);
  std::vector<std::pair<std::string, std::string>> out;
  auto field = sized<adapvae_field>();
  for (std::int32_t i = 0; adapvae_config_field(i, &field) == ADAPVAE_OK; ++i) {
    const std::string value = field_text(config, field.name);
    if (all || value != field_text(usual, field.name)) out.emplace_back(field.name, value);
  }
  return out;
}

adapvae_options Threads::options() {
  auto options = sized<adapvae_options>();
  if (count_ > 1) {
    options.parallel_for = run;
    options.parallel_context = this;
    options.threads = count_;
  }
  return options;
}

void Threads::run(void* context, std::int32_t count, adapvae_task task, void* argument) {
  struct Call {
    adapvae_task task;
    void* argument;
  } call = {task, argument};
  tools::ThreadPool::run(
      &static_cast<Threads*>(context)->pool_, count,
      [](void* c, std::ptrdiff_t i) {
        const Call& one = *static_cast<Call*>(c);
        one.task(one.argument, static_cast<std::int32_t>(i));
      },
      &call);
}

int thread_count(const Arguments& arguments) {
  const auto given = arguments.value("--threads");
  const std::optional<double> number = given ? parse_number(*given) : std::nullopt;
  if (number && *number >= 1.0 && *number <= 256.0) return static_cast<int>(*number);
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 4U));
}

}  // namespace adapvae::cli

// generate: rows that a model makes up, as lines or as a picture.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/memory_limit.h"
#include "cli/model_file.h"
#include "cli/output_file.h"
#include "cli/row_lines.h"
#include "cli/verbs.h"
#include "tools/image_grid.h"

namespace adapvae::cli {
namespace {

struct Made {
  std::vector<float> rows;  // [ids × inputs]
  std::vector<adapvae_id> ids;
  int columns = 10;  // of the picture
};

bool whole_number(const Arguments& arguments, const char* name, double otherwise, double least,
                  double most, double& out, std::string& error) {
  out = otherwise;
  const auto text = arguments.value(name);
  if (!text) return true;
  out = parse_number(*text).value_or(-1.0);
  if (out >= least && out <= most && out == std::floor(out)) return true;
  error = std::string(name) + " " + *text + ": a whole number from " + json_number(least) + " to " +
          json_number(most);
  return false;
}

struct Wish {
  double count = 0.0, seed = 0.0, cluster = 0.0, to = 0.0;
};

bool read_wish(const Arguments& arguments, Wish& wish, std::string& error) {
  constexpr double kLargestId = 4294967295.0;
  return whole_number(arguments, "--count", 10.0, 1.0, 1e6, wish.count, error) &&
         whole_number(arguments, "--seed", 1.0, 0.0, kLargestId, wish.seed, error) &&
         whole_number(arguments, "--cluster", 0.0, 1.0, kLargestId, wish.cluster, error) &&
         whole_number(arguments, "--to", 0.0, 1.0, kLargestId, wish.to, error);
}

adapvae_status add_draws(adapvae_model* model, adapvae_id id, const Wish& wish, std::size_t inputs,
                         Made& made) {
  const auto count = static_cast<std::size_t>(wish.count);
  const std::size_t before = made.ids.size();
  made.ids.resize(before + count);
  made.rows.resize((before + count) * inputs);
  return adapvae_generate(model, id, static_cast<std::uint32_t>(wish.seed),
                          static_cast<std::int32_t>(count), made.rows.data() + before * inputs,
                          nullptr, made.ids.data() + before);
}

adapvae_status add_way(adapvae_model* model, adapvae_id from, adapvae_id to, std::size_t count,
                       std::size_t inputs, Made& made) {
  const std::size_t before = made.ids.size();
  made.ids.resize(before + count, from);
  made.rows.resize((before + count) * inputs);
  return adapvae_interpolate(model, from, to, static_cast<std::int32_t>(count),
                             made.rows.data() + before * inputs, nullptr);
}

// --means: what each cluster's middle looks like; --to: the way from one to another; --each: a line
// of draws for every cluster; else draws of one cluster or of all.
adapvae_status make(adapvae_model* model, const Arguments& arguments, const Wish& wish,
                    Made& made) {
  auto info = sized<adapvae_info>();
  adapvae_get_info(model, &info);
  const auto inputs = static_cast<std::size_t>(info.inputs);
  const auto id = static_cast<adapvae_id>(wish.cluster);
  if (wish.to > 0.0) {
    made.columns = static_cast<int>(wish.count);
    return add_way(model, id, static_cast<adapvae_id>(wish.to),
                   static_cast<std::size_t>(wish.count), inputs, made);
  }
  if (!arguments.has("--means") && !arguments.has("--each")) {
    return add_draws(model, id, wish, inputs, made);
  }
  if (arguments.has("--each")) made.columns = static_cast<int>(wish.count);
  for (std::int32_t i = 0; i < info.clusters; ++i) {
    auto cluster = sized<adapvae_cluster>();
    adapvae_status status = adapvae_cluster_at(model, i, &cluster);
    if (status == ADAPVAE_OK) {
      status = arguments.has("--means") ? add_way(model, cluster.id, cluster.id, 1, inputs, made)
                                        : add_draws(model, cluster.id, wish, inputs, made);
    }
    if (status != ADAPVAE_OK) return status;
  }
  return ADAPVAE_OK;
}

void print_rows(const Made& made, std::size_t inputs) {
  for (std::size_t i = 0; i < made.ids.size(); ++i) {
    std::string line = "{\"cluster\":" + std::to_string(made.ids[i]) + ",\"row\":[";
    for (std::size_t j = 0; j < inputs; ++j) {
      line += (j > 0 ? "," : "") + json_number(made.rows[i * inputs + j]);
    }
    std::printf("%s]}\n", line.c_str());
  }
}

}  // namespace

int run_generate(const Arguments& arguments) {
  std::string error;
  Wish wish;
  const auto path = arguments.value("--model");
  if (!path) return fail("--model FILE is needed", 2);
  if (!read_wish(arguments, wish, error)) return fail(error, 2);
  if (wish.to > 0.0 && wish.cluster == 0.0) return fail("--to needs --cluster, to start from", 2);
  const ModelHandle model = load_model(*path, nullptr, error);
  if (!model) return fail(error);
  auto config = sized<adapvae_config>();
  auto info = sized<adapvae_info>();
  adapvae_get_config(model.get(), &config);
  adapvae_get_info(model.get(), &info);
  const double needed = sizeof(float) * wish.count * config.inputs *
                        (arguments.has("--each") ? std::max(1, info.clusters) : 1);
  if (needed > static_cast<double>(memory_limit)) {
    return fail(too_large("--count " + json_number(wish.count), needed), 2);
  }
  Made made;
  if (make(model.get(), arguments, wish, made) != ADAPVAE_OK) return fail(last_error(model.get()));
  if (made.ids.empty()) return fail("the model has learnt nothing yet");
  const auto picture = arguments.value("--output");
  if (!picture) {
    print_rows(made, static_cast<std::size_t>(config.inputs));
    return 0;
  }
  if (config.image_width == 0) {
    return fail("rows of this model are not images; without --output they are printed", 2);
  }
  tools::ImageGridLayout layout;
  layout.image_width = config.image_width;
  layout.image_height = config.image_height;
  layout.columns = made.columns;
  layout.zoom = 2;
  layout.gap = 4;
  layout.gap_grey = 32;
  std::vector<std::uint8_t> png;
  if (!tools::encode_image_grid({made.rows.data(), static_cast<std::ptrdiff_t>(made.ids.size()),
                                 static_cast<std::ptrdiff_t>(config.inputs)},
                                layout, png, error) ||
      !write_file(*picture, png, error)) {
    return fail(error);
  }
  return 0;
}

}  // namespace adapvae::cli

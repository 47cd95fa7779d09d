#include "cli/report/gather.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <numeric>

#include "cli/journal.h"
#include "cli/model_file.h"
#include "cli/output_file.h"
#include "cli/report/latent_map.h"
#include "cli/report/parts.h"
#include "cli/settings.h"

namespace adapvae::cli {
namespace {

constexpr std::int32_t kDraws = 600;  // for the map, if there are no rows

std::string command;

// As a shell reads it.
std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-./=,:+@%") == std::string::npos;
  if (plain) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// SOURCE_DATE_EPOCH, if it is set, stands for now: the same input then gives the same file.
std::string now_text() {
  std::time_t now = std::time(nullptr);
  if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH")) {
    now = static_cast<std::time_t>(std::strtoll(fixed, nullptr, 10));
  }
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

// What a picture needs of a cluster.
struct Drawn {
  std::size_t cluster;  // in ReportData::clusters
  FeatureMoments moments;
};

// Only the largest clusters are drawn. With many features and inputs, those of all clusters would
// not fit into memory, although the model does.
std::vector<std::size_t> drawn_clusters(const adapvae_info& info, const ReportData& data) {
  constexpr std::size_t kMost = 500;
  constexpr std::size_t kMostBytes = std::size_t{1} << 28;
  const auto m = static_cast<std::size_t>(info.latent);
  const std::size_t each =
      sizeof(double) * (m * m + m) + sizeof(float) * static_cast<std::size_t>(info.inputs);
  const std::size_t most = std::clamp<std::size_t>(kMostBytes / each, 1, kMost);
  std::vector<std::size_t> out(data.clusters.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  if (out.size() <= most) return out;
  std::stable_sort(out.begin(), out.end(), [&data](std::size_t a, std::size_t b) {
    return finite_or_zero(data.clusters[a].cluster.rows) >
           finite_or_zero(data.clusters[b].cluster.rows);
  });
  out.resize(most);
  return out;
}

bool gather_clusters(adapvae_model* model, const adapvae_info& info, ReportData& data,
                     std::vector<Drawn>& drawn, std::string& error) {
  for (std::int32_t i = 0; i < info.clusters; ++i) {
    ReportCluster out;
    out.cluster = sized<adapvae_cluster>();
    if (adapvae_cluster_at(model, i, &out.cluster) != ADAPVAE_OK) {
      error = last_error(model);
      return false;
    }
    data.clusters.push_back(std::move(out));
  }
  const auto m = static_cast<std::size_t>(info.latent);
  for (const std::size_t i : drawn_clusters(info, data)) {
    ReportCluster& of = data.clusters[i];
    Drawn out{i, {}};
    out.moments.mean.resize(m);
    out.moments.covariance.resize(m * m);
    out.moments.weight = of.cluster.weight;
    of.prototype.resize(static_cast<std::size_t>(info.inputs));
    if (adapvae_moments(model, of.cluster.id, out.moments.mean.data(),
                        out.moments.covariance.data()) != ADAPVAE_OK ||
        adapvae_interpolate(model, of.cluster.id, of.cluster.id, 1, of.prototype.data(), nullptr) !=
            ADAPVAE_OK) {
      error = last_error(model);
      return false;
    }
    drawn.push_back(std::move(out));
  }
  return true;
}

// Where rows lie, as the network sees them now.
bool place_rows(adapvae_model* model, const RunRecord& record, const LatentMap& map,
                std::size_t latent, ReportData& data, std::string& error) {
  std::vector<float> mean(latent);
  for (const RunRecord::Sample& sample : record.samples()) {
    adapvae_result result;
    if (adapvae_encode(model, sample.values.data(), 1, 0, mean.data(), nullptr) != ADAPVAE_OK ||
        adapvae_score(model, sample.values.data(), 1, 0, &result) != ADAPVAE_OK) {
      error = last_error(model);
      return false;
    }
    ReportPoint point;
    const std::vector<double> features(mean.begin(), mean.end());
    map.place(features.data(), point.x, point.y);
    point.row = sample.number;
    point.id = result.id;
    point.novelty = result.novelty;  // now: what is strange to it still
    point.label = sample.label;
    data.points.push_back(std::move(point));
  }
  return true;
}

bool place_draws(adapvae_model* model, const LatentMap& map, std::size_t latent, ReportData& data,
                 std::string& error) {
  std::vector<float> drawn(static_cast<std::size_t>(kDraws) * latent);
  std::vector<adapvae_id> ids(static_cast<std::size_t>(kDraws));
  if (adapvae_generate(model, ADAPVAE_NO_ID, 1, kDraws, nullptr, drawn.data(), ids.data()) !=
      ADAPVAE_OK) {
    error = last_error(model);
    return false;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ReportPoint point;
    const float* begin = drawn.data() + i * latent;
    const std::vector<double> features(begin, begin + latent);
    map.place(features.data(), point.x, point.y);
    point.id = ids[i];
    data.points.push_back(point);
  }
  return true;
}

bool gather_map(const ReportSources& from, const adapvae_info& info, std::vector<Drawn> drawn,
                ReportData& data, std::string& error) {
  if (drawn.empty()) return true;
  std::vector<FeatureMoments> moments;
  for (Drawn& of : drawn) moments.push_back(std::move(of.moments));
  const LatentMap map(moments);
  for (std::size_t i = 0; i < moments.size(); ++i) {
    ReportCluster& cluster = data.clusters[drawn[i].cluster];
    map.place(moments[i].mean.data(), cluster.mean[0], cluster.mean[1]);
    map.spread(moments[i].covariance, cluster.covariance);
  }
  const bool rows = from.record != nullptr && !from.record->samples().empty();
  data.projection = std::string(rows ? "a sample of the rows" : "rows that the model made up") +
                    ", in the two directions of its " + std::to_string(info.latent) +
                    " features in which clusters lie farthest apart for their width (linear "
                    "discriminants)";
  const auto latent = static_cast<std::size_t>(info.latent);
  return rows ? place_rows(from.model, *from.record, map, latent, data, error)
              : place_draws(from.model, map, latent, data, error);
}

}  // namespace

bool gather_report(const ReportSources& from, ReportData& data, std::string& error) {
  auto info = sized<adapvae_info>();
  auto config = sized<adapvae_config>();
  adapvae_get_info(from.model, &info);
  adapvae_get_config(from.model, &config);
  data.title = from.title;
  data.command = kept_command();
  data.made = now_text();
  data.model_path = from.model_path;
  data.version = adapvae_version_string();
  data.backend = info.backend;
  data.inputs = info.inputs;
  data.latent = info.latent;
  data.image_width = config.image_width;
  data.image_height = config.image_height;
  data.rows = info.rows;
  data.streams = info.streams;
  data.memory_bytes = info.memory_bytes;
  data.snapshot_bytes = info.snapshot_bytes;
  data.input_names = from.input_names;
  data.settings = changed_settings(config);
  if (!from.journal_path.empty() && file_exists(from.journal_path) &&
      !read_journal(from.journal_path, info.events, data.events, data.history, error)) {
    return false;
  }
  std::vector<Drawn> drawn;
  if (!gather_clusters(from.model, info, data, drawn, error) ||
      !gather_map(from, info, std::move(drawn), data, error)) {
    return false;
  }
  if (from.record == nullptr) return true;
  data.novelty = from.record->novelty();
  return gather_labels(from.record->labels(), data, error);
}

bool gather_labels(const LabelTable& labels, ReportData& data, std::string& error) {
  if (labels.empty()) return true;
  adapvae_metrics clusters, components;
  if (!labels.metrics(clusters, components, error)) return false;
  data.metrics = {{"clusters", clusters}, {"components", components}};
  data.confusion = labels.confusion();
  return true;
}

bool write_report(const ReportData& data, const std::string& path, const std::string& model_path,
                  std::string& error) {
  const std::string page = report_page(data);
  WriteOptions options;
  options.model_path = model_path;
  return write_file(path, {page.begin(), page.end()}, error, options);
}

std::string page_path(const std::string& model_path) { return model_path + ".html"; }

void keep_command(int count, char** words) {
  command.clear();
  for (int i = 0; i < count; ++i) {
    std::string word = words[i];
    if (i == 0) word = word.substr(word.rfind('/') + 1);
    command += (i > 0 ? " " : "") + quoted(word);
  }
}

std::string kept_command() { return command; }

}  // namespace adapvae::cli

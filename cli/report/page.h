// A report: one HTML file that opens offline, with its plots as inline SVG and a table behind each.
// ReportData is all that the page knows; gather.cpp gathers it from a model, its journal and
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <adapvae/adapvae.h>

namespace adapvae::cli {

// A stream (block) that was learnt.
struct ReportStream {
  std::uint64_t number = 0;    // from 1
  std::int64_t first_row = 0;  // of the whole input, from 1
  std::int64_t rows = 0;
  int clusters = 0;
  int components = 0;
  int births = 0;
  int merges = 0;
  double bound = 0.0;
  double loss = 0.0;
  double replay_accuracy = 0.0;
  double largest_drift = 0.0;
  double seconds = 0.0;
  // Of its rows as they were met.
  std::int64_t novel = 0;
  double novelty_median = 0.0;
  double novelty_p90 = 0.0;
  double novelty_max = 0.0;
  // Rows that each cluster got.
  std::vector<std::pair<adapvae_id, std::int64_t>> shares;
};

struct ReportEvent {
  std::uint64_t sequence = 0;
  std::uint64_t stream = 0;
  std::string type;  // "born", "merged", "retired", "not_born", "forgotten", "split", ...
  adapvae_id id = 0;
  adapvae_id other = 0;
  double gain = 0.0;
  double rows = 0.0;
  std::string text;  // one sentence of English, with the reason
};

struct ReportCluster {
  adapvae_cluster cluster = {};
  std::vector<float> prototype;  // [inputs], the decoded mean; empty: not known
  double mean[2] = {};           // on the map
  double covariance[3] = {};     // xx, xy, yy
};

struct ReportPoint {
  double x = 0.0, y = 0.0;  // on the map
  std::int64_t row = 0;
  adapvae_id id = 0;
  float novelty = 0.0F;
  std::string label;  // empty: none
};

struct ReportConfusion {
  struct Count {
    std::size_t label;    // in labels
    std::size_t cluster;  // in clusters
    std::int64_t rows;
  };
  std::vector<std::string> labels;
  std::vector<adapvae_id> clusters;
  std::vector<Count> counts;  // of pairs that have rows: labels × clusters may be very many
};

// How a class that came anew was found, beside a published figure where there is one. In percent.
struct ReportDiscovery {
  std::string label;
  std::uint64_t stream = 0;
  double precision = 0.0;
  double recall = 0.0;
  std::optional<double> published_precision;
  std::optional<double> published_recall;
};

struct ReportData {
  std::string title;
  std::string command;  // that made it, as typed
  std::string made;     // when, "2026-01-31 12:00 UTC"
  std::string model_path;
  std::string version;
  std::string backend;
  int inputs = 0;
  int latent = 0;
  int image_width = 0;  // 0: rows are not images
  int image_height = 0;
  std::uint64_t rows = 0;
  std::uint64_t streams = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t snapshot_bytes = 0;
  std::vector<std::string> input_names;                       // of columns; may be empty
  std::vector<std::pair<std::string, std::string>> settings;  // that are not the default
  std::vector<ReportStream> history;                          // may be empty
  std::vector<ReportEvent> events;                            // may be empty
  std::vector<ReportCluster> clusters;
  std::string projection;                               // what the map shows
  std::vector<ReportPoint> points;                      // rows; may be empty
  std::vector<std::pair<std::int64_t, float>> novelty;  // row, novelty as met; may be empty
  std::vector<std::pair<std::string, adapvae_metrics>> metrics;  // level; empty: no labels
  std::optional<ReportConfusion> confusion;
  std::vector<ReportDiscovery> discoveries;  // empty: not known
  std::string discovery_note;                // whose published figures these are
};

std::string report_page(const ReportData& data);

}  // namespace adapvae::cli

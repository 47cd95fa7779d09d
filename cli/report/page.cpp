// Header, order of the sections, and what all of them share.
#include "cli/report/page.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/report/digest.h"
#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr int kColours = 9;

// Facts of the whole, for the summary and the tiles.
struct Totals {
  std::int64_t streams = 0;
  std::int64_t rows = 0;
  std::int64_t clusters = 0;
  std::int64_t components = 0;
  std::int64_t births = 0;
  std::int64_t merges = 0;
  bool changes_known = false;
  std::optional<double> novel;  // part of the rows
};

void count_changes(const ReportData& data, Totals& totals) {
  totals.changes_known = !data.history.empty() || !data.events.empty();
  for (const ReportStream& stream : data.history) {
    totals.births += stream.births;
    totals.merges += stream.merges;
  }
  if (!data.history.empty()) return;
  for (const ReportEvent& event : data.events) {
    if (event.type == "born") ++totals.births;
    if (event.type == "merged") ++totals.merges;
  }
}

std::optional<double> novel_part(const ReportData& data) {
  std::int64_t novel = 0;
  std::int64_t rows = 0;
  for (const ReportStream& stream : data.history) {
    novel += stream.novel;
    rows += stream.rows;
  }
  if (rows == 0) {
    for (const auto& [row, value] : data.novelty) novel += value > 0.5F ? 1 : 0;
    rows = static_cast<std::int64_t>(data.novelty.size());
  }
  if (rows == 0) return std::nullopt;
  return static_cast<double>(novel) / static_cast<double>(rows);
}

Totals find_totals(const ReportData& data) {
  Totals totals;
  totals.streams = static_cast<std::int64_t>(data.streams);
  totals.rows = static_cast<std::int64_t>(data.rows);
  totals.clusters = static_cast<std::int64_t>(data.clusters.size());
  for (const ReportCluster& c : data.clusters) totals.components += c.cluster.components;
  count_changes(data, totals);
  totals.novel = novel_part(data);
  return totals;
}

std::string summary(const Totals& totals) {
  if (totals.clusters == 0) return "The model has not learnt anything yet.";
  std::string out = counted(totals.streams, "stream") + ", " + counted(totals.rows, "row") + ", " +
                    counted(totals.clusters, "cluster") + " of " +
                    counted(totals.components, "component");
  if (totals.changes_known) {
    out += "; " + count_text(totals.births) + " born, " + count_text(totals.merges) + " merged";
  }
  if (totals.novel)
    out += "; " + percent_text(*totals.novel) + " of the rows were novel when they came";
  return out + ".";
}

std::string tile(const std::string& value, const std::string& label, bool hot = false) {
  return std::string("<div><dt>") + label + "</dt><dd" + (hot ? " class=hot" : "") + ">" + value +
         "</dd></div>\n";
}

std::string tiles(const ReportData& data, const Totals& totals) {
  std::string out = "<dl class=tiles>\n";
  out += tile(count_text(totals.rows), "rows learnt");
  out += tile(count_text(totals.streams), "streams");
  out += tile(count_text(totals.clusters), "clusters");
  if (totals.changes_known) {
    out += tile(count_text(totals.births), "born");
    out += tile(count_text(totals.merges), "merged");
  }
  if (totals.novel) out += tile(percent_text(*totals.novel), "novel when met", *totals.novel > 0.0);
  if (data.inputs > 0) out += tile(count_text(data.inputs), "inputs");
  if (data.latent > 0) out += tile(count_text(data.latent), "features learnt");
  return out + "</dl>\n";
}

std::string made_line(const ReportData& data) {
  std::string out;
  const auto add = [&out](const std::string& part) {
    if (!out.empty()) out += " · ";
    out += part;
  };
  if (!data.model_path.empty()) add(escape_html(data.model_path));
  if (!data.made.empty()) add(escape_html(data.made));
  return out.empty() ? out : "<p class=made>" + out + "</p>\n";
}

std::string header(const ReportData& data, const std::string& title) {
  const Totals totals = find_totals(data);
  return "<header>\n<h1>" + escape_html(title) + "</h1>\n<p class=lead>" + summary(totals) +
         "</p>\n" + made_line(data) + tiles(data, totals) + "</header>\n";
}

std::string contents(const std::vector<ReportSection>& sections) {
  std::string out = "<nav aria-label=\"Sections\"><ul>\n";
  for (const ReportSection& section : sections) {
    out += "<li><a href=\"#" + section.id + "\">" + section.heading + "</a></li>\n";
  }
  return out + "</ul></nav>\n";
}

std::string section_html(const ReportSection& section) {
  std::string out =
      "<section id=\"" + section.id + "\" aria-labelledby=\"" + section.id + "-h\">\n";
  out += "<div class=side><h2 id=\"" + section.id + "-h\">" + section.heading + "</h2>\n";
  if (!section.note.empty()) out += "<p>" + section.note + "</p>\n";
  return out + section.legend + "</div>\n<div class=body>\n" + section.body +
         "</div>\n</section>\n";
}

std::vector<ReportSection> all_sections(const ReportData& data) {
  const ClusterLooks looks(data);
  std::vector<ReportSection> sections = {
      timeline_section(data, looks), novelty_section(data),  prototypes_section(data, looks),
      map_section(data, looks),      learning_section(data), labels_section(data, looks),
      clusters_section(data, looks), events_section(data),   settings_section(data)};
  std::erase_if(sections, [](const ReportSection& section) { return section.body.empty(); });
  return sections;
}

// What a browser may load for this page: its own style sheet and the pictures in it. No script
// runs, whatever a name or a label may hold; report.ts of demo-web says the same.
std::string policy() {
  return "default-src 'none'; style-src 'sha256-" + base64(sha256(report_style())) +
         "'; img-src data:; base-uri 'none'; form-action 'none'";
}

}  // namespace

ClusterLooks::ClusterLooks(const ReportData& data) {
  for (const ReportCluster& c : data.clusters) looks_[c.cluster.id].name = cluster_name(c.cluster);
  int rank = 0;
  for (auto& [id, look] : looks_) look.rank = rank++;
  std::set<adapvae_id> gone;
  for (const ReportStream& stream : data.history) {
    for (const auto& [id, rows] : stream.shares) gone.insert(id);
  }
  for (const ReportEvent& event : data.events) gone.insert({event.id, event.other});
  gone.erase(ADAPVAE_NO_ID);
  for (const adapvae_id id : gone) {
    const auto [at, is_new] = looks_.try_emplace(id);
    if (is_new) at->second.rank = rank++;
  }
}

std::string ClusterLooks::colour(adapvae_id id) const {
  const auto found = looks_.find(id);
  return found == looks_.end() ? "kn" : "k" + std::to_string(found->second.rank % kColours);
}

int ClusterLooks::shape(adapvae_id id) const {
  const auto found = looks_.find(id);
  return found == looks_.end() ? 0 : found->second.rank % kShapes;
}

std::string ClusterLooks::swatch(adapvae_id id) const {
  return "<svg class=\"sw " + colour(id) +
         "\" viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path class=fill d=\"" +
         shape_path(shape(id), 6.0, 6.0, 4.6) + "\"/></svg>";
}

std::string ClusterLooks::name(adapvae_id id) const {
  const auto found = looks_.find(id);
  return found == looks_.end() ? "" : found->second.name;
}

std::string cluster_title(const ClusterLooks& looks, adapvae_id id) {
  const std::string name = looks.name(id);
  return std::to_string(id) + (name.empty() ? "" : " " + name);
}

std::string cluster_name(const adapvae_cluster& cluster) {
  const char* end = cluster.name + sizeof cluster.name;
  return std::string(cluster.name, std::find(cluster.name, end, '\0'));
}

double finite_or_zero(double value) { return std::isfinite(value) ? value : 0.0; }

std::string empty_note(const std::string& sentence) {
  return "<p class=empty>" + sentence + "</p>\n";
}

std::string report_page(const ReportData& data) {
  const std::string title = data.title.empty() ? "Report on a model" : data.title;
  const std::vector<ReportSection> sections = all_sections(data);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
      policy() +
      "\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
      escape_html(title) + "</title>\n<style>" + std::string(report_style()) +
      "</style>\n</head>\n<body>\n" + header(data, title) + contents(sections) + "<main>\n";
  for (const ReportSection& section : sections) out += section_html(section);
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace adapvae::cli

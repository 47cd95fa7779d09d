// Clusters, events and settings as plain tables.
#include <algorithm>
#include <cmath>

#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

using Align = HtmlTable::Align;

std::string stream_text(std::uint64_t stream) {
  return stream == 0 ? "–" : count_text(static_cast<std::int64_t>(stream));
}

std::string id_text(adapvae_id id) { return id == ADAPVAE_NO_ID ? "–" : std::to_string(id); }

std::string weight_bar(double weight, double largest) {
  const double part =
      largest > 0.0 && std::isfinite(weight) ? std::clamp(weight / largest, 0.0, 1.0) : 0.0;
  return "<svg class=\"bar kn\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" "
         "aria-hidden=\"true\"><rect class=fill y=\"2\" width=\"" +
         coordinate(100.0 * part) + "\" height=\"8\"/></svg><span class=v>" + percent_text(weight) +
         "</span>";
}

// The sentence without the stream, which has a column of its own.
std::string sentence(const ReportEvent& event) {
  const std::string prefix = "stream " + std::to_string(event.stream) + ": ";
  return event.text.rfind(prefix, 0) == 0 ? event.text.substr(prefix.size()) : event.text;
}

// "not_born" → "not born".
std::string spaced(std::string type) {
  std::replace(type.begin(), type.end(), '_', ' ');
  return type;
}

std::string fact(const char* name, const std::string& value) {
  return value.empty() ? "" : std::string("<dt>") + name + "</dt><dd>" + value + "</dd>\n";
}

}  // namespace

ReportSection clusters_section(const ReportData& data, const ClusterLooks& looks) {
  ReportSection section{"clusters", "Clusters", "", "", ""};
  if (data.clusters.empty()) return section;
  double largest = 0.0;
  for (const ReportCluster& c : data.clusters) {
    if (std::isfinite(c.cluster.weight)) largest = std::max(largest, c.cluster.weight);
  }
  HtmlTable table({{"cluster", Align::kText},
                   {"components"},
                   {"name", Align::kText},
                   {"out of"},
                   {"rows"},
                   {"weight"},
                   {"born in stream"},
                   {"last seen"},
                   {"gain of its birth"}});
  for (const std::size_t i : thinned(data.clusters.size(), kTableLines)) {
    const adapvae_cluster& k = data.clusters[i].cluster;
    table.add({looks.swatch(k.id) + " " + std::to_string(k.id), count_text(k.components),
               escape_html(cluster_name(k)) +
                   (k.provisional != 0 ? " <span class=small>provisional</span>" : ""),
               id_text(k.parent), fixed_text(k.rows, 0), weight_bar(k.weight, largest),
               k.born_stream == 0 ? "from the start" : stream_text(k.born_stream),
               stream_text(k.seen_stream), k.born_stream == 0 ? "–" : number_text(k.birth_gain)});
  }
  section.note =
      "The clusters that live, each of one or several components of the mixture. The gain is what "
      "the "
      "evidence bound rose by when the cluster was born. " +
      thinned_note(data.clusters.size(), "clusters");
  section.body = "<div class=tall>" + table.html("Clusters") + "</div>\n";
  return section;
}

ReportSection events_section(const ReportData& data) {
  ReportSection section{"events", "Events", "", "", ""};
  const std::size_t n = data.events.size();
  if (n == 0) {
    if (!data.clusters.empty()) section.body = empty_note("No events were recorded.");
    return section;
  }
  const std::size_t first = n > kTableLines ? n - kTableLines : 0;
  HtmlTable table({{"no."}, {"stream"}, {"event", Align::kText}, {"what happened", Align::kText}});
  for (std::size_t i = first; i < n; ++i) {
    const ReportEvent& event = data.events[i];
    table.add({count_text(static_cast<std::int64_t>(event.sequence)), stream_text(event.stream),
               "<span class=type>" + event_swatch(event_mark(event)) + "</span>" +
                   escape_html(spaced(event.type)),
               event_mark(event) == EventMark::kNone
                   ? "<span class=quiet>" + escape_html(sentence(event)) + "</span>"
                   : escape_html(sentence(event))});
  }
  section.note = "What changed, and why; the newest comes last.";
  if (first > 0) {
    section.note += " These are the last " + std::to_string(kTableLines) + " of " +
                    counted(static_cast<std::int64_t>(n), "event") + ".";
  }
  section.body = "<div class=tall>" + table.html("Events") + "</div>\n";
  return section;
}

ReportSection settings_section(const ReportData& data) {
  ReportSection section{"settings", "Settings", "", "", ""};
  std::string out;
  if (!data.command.empty()) {
    out += "<h3>Command</h3>\n<pre><code>" + escape_html(data.command) + "</code></pre>\n";
  }
  out += "<h3>Settings that are not the default</h3>\n";
  if (data.settings.empty()) {
    out += empty_note("All settings have their default.");
  } else {
    HtmlTable table({{"setting", Align::kText}, {"value", Align::kText}});
    for (const auto& [name, value] : data.settings) {
      table.add(
          {"<code>" + escape_html(name) + "</code>", "<code>" + escape_html(value) + "</code>"});
    }
    out += table.html("Settings");
  }
  const std::string facts =
      fact("Version", data.version.empty() ? "" : "adapvae " + escape_html(data.version)) +
      fact("Computed by", escape_html(data.backend)) +
      fact("Memory of the model", data.memory_bytes == 0 ? "" : bytes_text(data.memory_bytes)) +
      fact("Size of its file", data.snapshot_bytes == 0 ? "" : bytes_text(data.snapshot_bytes)) +
      fact("File", escape_html(data.model_path)) + fact("Report made", escape_html(data.made));
  if (!facts.empty()) out += "<h3>The model</h3>\n<dl class=facts>\n" + facts + "</dl>\n";
  section.note = "What this report was made with.";
  section.body = out;
  return section;
}

}  // namespace adapvae::cli

// How learning went from stream to stream: small charts side by side.
#include <algorithm>
#include <cmath>
#include <span>

#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kStretches = 100;
constexpr std::size_t kSinglePoints = 240;  // more are drawn as a band and its middle

struct Series {
  std::string name;
  Curve curve;
  const char* classes;
};

struct Chart {
  std::string heading;
  std::vector<Series> series;
  bool from_zero = false;
  bool whole_numbers = false;
  std::optional<double> top;
  std::string (*format)(double) = number_text;
};

template <typename Value>
Curve curve_of(const ReportData& data, const Value& value) {
  Curve out;
  for (const ReportStream& stream : data.history) {
    const double y = value(stream);
    if (std::isfinite(y)) out.emplace_back(static_cast<double>(stream.number), y);
  }
  return out;
}

bool says_something(const Chart& chart) {
  for (const Series& series : chart.series) {
    for (const auto& [x, y] : series.curve) {
      if (y != 0.0) return true;
    }
  }
  return false;
}

Plot plot_of(const Chart& chart) {
  Plot plot;
  plot.width = 320.0;
  plot.height = 178.0;
  plot.left = 30.0;
  plot.right = 10.0;
  plot.top = 8.0;
  plot.bottom = 24.0;
  double low = 1e300;
  double high = -1e300;
  plot.x = {1e300, -1e300};
  for (const Series& series : chart.series) {
    for (const auto& [x, y] : series.curve) {
      low = std::min(low, y);
      high = std::max(high, y);
      plot.x.from = std::min(plot.x.from, x);
      plot.x.to = std::max(plot.x.to, x);
    }
  }
  if (chart.from_zero) low = std::min(low, 0.0);
  if (chart.top) high = *chart.top;
  if (!(high > low)) high = low + std::max(1.0, 0.1 * std::fabs(low));
  const double air = chart.top ? 0.0 : (chart.series.size() > 1 ? 0.16 : 0.06) * (high - low);
  plot.y = {chart.from_zero ? low : low - air, high + air};
  plot.fit();
  return plot;
}

// Calls `use` with each of kStretches parts of a curve.
template <typename Use>
void for_stretches(const Curve& curve, const Use& use) {
  for (std::size_t i = 0; i < kStretches; ++i) {
    const std::size_t from = i * curve.size() / kStretches;
    const std::size_t to = (i + 1) * curve.size() / kStretches;
    if (from < to) use(std::span(curve).subspan(from, to - from));
  }
}

using Stretch = std::span<const std::pair<double, double>>;

Curve means(const Curve& curve) {
  Curve out;
  for_stretches(curve, [&out](Stretch part) {
    double sum = 0.0;
    for (const auto& [x, y] : part) sum += y;
    out.emplace_back(part[part.size() / 2].first, sum / static_cast<double>(part.size()));
  });
  return out;
}

// From the lowest to the highest of each stretch.
std::string band(const Curve& curve, const Plot& plot) {
  std::string upper;
  std::string lower;
  for_stretches(curve, [&](Stretch part) {
    const auto [low, high] = std::minmax_element(
        part.begin(), part.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const double x = plot.x.at(part[part.size() / 2].first);
    upper += (upper.empty() ? "M" : "L") + coordinates(x, plot.y.at(high->second));
    lower = "L" + coordinates(x, plot.y.at(low->second)) + lower;
  });
  return "<path class=band d=\"" + upper + lower + "z\"/>";
}

std::string draw_series(const Series& series, const Plot& plot, const Chart& chart) {
  const bool many = series.curve.size() > kSinglePoints;
  const Curve curve = many ? means(series.curve) : series.curve;
  const bool is_first = &series == &chart.series[0];
  std::string out = std::string("<g class=\"") + series.classes + "\">" +
                    (many ? band(series.curve, plot) : "") + "<path class=\"curve" +
                    (is_first ? "" : " dash") + "\" d=\"" + curve_path(curve, plot.x, plot.y) +
                    "\"/>\n";
  if (curve.size() <= 40) {
    for (const auto& [x, y] : curve) {
      out += titled("path", "class=dot d=\"" + circle_path(plot.x.at(x), plot.y.at(y), 3.2) + "\"",
                    "stream " + number_text(x) + ": " + series.name + " " + chart.format(y));
    }
  }
  if (chart.series.size() > 1 && !curve.empty()) {
    const double y = plot.y.at(curve.back().second);
    out += svg_text(plot.inner_right(), is_first ? y - 8.0 : y + 17.0, "t e i halo", series.name);
  }
  return out + "</g>\n";
}

// Where it stands now.
std::string last_values(const Chart& chart) {
  std::string out;
  for (const Series& series : chart.series) {
    if (series.curve.empty()) continue;
    out += (out.empty() ? "" : " and ") + chart.format(series.curve.back().second);
  }
  return out;
}

std::vector<Tick> y_ticks(const Chart& chart, const Scale& y) {
  const bool percents = chart.format == percent_text;
  const double unit = percents ? 100.0 : 1.0;
  std::vector<Tick> ticks = round_ticks(unit * y.from, unit * y.to, 3, chart.whole_numbers);
  for (Tick& tick : ticks) {
    tick.at /= unit;
    if (percents) tick.label += "\u00A0%";
  }
  return ticks;
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string draw(const Chart& chart) {
  Plot plot = plot_of(chart);
  const std::vector<Tick> ticks = y_ticks(chart, plot.y);
  for (const Tick& tick : ticks) {
    plot.left = std::max(plot.left, 7.6 * static_cast<double>(characters(tick.label)) + 8.0);
  }
  plot.fit();
  std::string out =
      plot.y_axis(ticks) + plot.x_axis(round_ticks(plot.x.from, plot.x.to, 5, true), "");
  for (const Series& series : chart.series) out += draw_series(series, plot, chart);
  return "<figure><figcaption><b>" + chart.heading + "</b><span>" + last_values(chart) +
         "</span></figcaption>" +
         svg_picture(plot.width, plot.height, "chart", chart.heading + " over the streams", out) +
         "</figure>\n";
}

std::vector<Chart> charts_of(const ReportData& data) {
  using S = ReportStream;
  const auto part = [](const S& s) {
    return s.rows > 0 ? static_cast<double>(s.novel) / static_cast<double>(s.rows) : std::nan("");
  };
  std::vector<Chart> out;
  const auto add = [&out](const char* heading, const char* name, Curve curve,
                          const char* classes) -> Chart& {
    Chart& chart = out.emplace_back();
    chart.heading = heading;
    chart.series = {{name, std::move(curve), classes}};
    return chart;
  };
  add("Loss per row", "loss", curve_of(data, [](const S& s) { return s.loss; }), "k1");
  add("Evidence bound", "bound", curve_of(data, [](const S& s) { return s.bound; }), "k0");
  Chart& counts = add("Clusters and components", "clusters",
                      curve_of(data, [](const S& s) { return double(s.clusters); }), "k2");
  counts.series.push_back(
      {"components", curve_of(data, [](const S& s) { return double(s.components); }), "k6"});
  counts.from_zero = true;
  counts.whole_numbers = true;
  Chart& novel = add("Novel rows", "novel", curve_of(data, part), "hot");
  novel.from_zero = true;
  novel.format = percent_text;
  Chart& found = add("Past rows still found", "found",
                     curve_of(data, [](const S& s) { return s.replay_accuracy; }), "k2");
  found.from_zero = true;
  found.top = 1.0;
  found.format = percent_text;
  add("Largest drift", "drift", curve_of(data, [](const S& s) { return s.largest_drift; }), "k3")
      .from_zero = true;
  std::erase_if(out, [](const Chart& chart) { return !says_something(chart); });
  return out;
}

std::string streams_table(const ReportData& data) {
  HtmlTable table({{"stream"},
                   {"rows"},
                   {"novel"},
                   {"clusters"},
                   {"components"},
                   {"born"},
                   {"merged"},
                   {"loss"},
                   {"bound"},
                   {"still found"},
                   {"drift"},
                   {"seconds"}});
  for (const std::size_t i : thinned(data.history.size(), kTableLines)) {
    const ReportStream& s = data.history[i];
    table.add({count_text(static_cast<std::int64_t>(s.number)), count_text(s.rows),
               count_text(s.novel), count_text(s.clusters), count_text(s.components),
               count_text(s.births), count_text(s.merges), number_text(s.loss),
               number_text(s.bound), percent_text(s.replay_accuracy), number_text(s.largest_drift),
               number_text(s.seconds)});
  }
  return folded_table(table, "Streams", thinned_note(data.history.size(), "streams"));
}

}  // namespace

ReportSection learning_section(const ReportData& data) {
  ReportSection section{"learning", "Learning", "", "", ""};
  if (data.history.empty()) {
    if (!data.clusters.empty()) {
      section.body = empty_note("How learning went from stream to stream was not recorded.");
    }
    return section;
  }
  section.note =
      "What each stream left behind, against the number of the stream; the figure at the right is "
      "that of the last. A lower loss and a higher bound are better. Past rows are drawn anew from "
      "the "
      "clusters; they are found if they still go to their own. Drift is how far training moved a "
      "cluster, in its deviations.";
  if (data.history.size() > kSinglePoints) {
    section.note +=
        " Lines are means of stretches of streams, bands reach from the lowest to the highest.";
  }
  section.body = "<div class=charts>\n";
  for (const Chart& chart : charts_of(data)) section.body += draw(chart);
  section.body += "</div>\n" + streams_table(data);
  return section;
}

}  // namespace adapvae::cli

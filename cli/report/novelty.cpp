// Novelty of the rows as they were met, or of the streams if the rows are not known.
#include <algorithm>
#include <cmath>

#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kStretches = 1000;  // with two marks each
constexpr std::size_t kTitledPeaks = 600;
constexpr std::size_t kBandColumns = 300;

Plot novelty_plot(double first, double last) {
  Plot plot;
  plot.height = 288.0;
  plot.left = 34.0;
  plot.right = 92.0;
  plot.top = 22.0;
  plot.bottom = 40.0;
  plot.x = {first, last};
  plot.y = {0.0, 1.0};
  plot.fit();
  return plot;
}

std::string boundary(const Plot& plot) {
  const double y = plot.y.at(0.5);
  return svg_line(plot.inner_left(), y, plot.inner_right(), y, "rule") +
         svg_text(plot.inner_right() + 8.0, y - 6.0, "t i", "novel") +
         svg_text(plot.inner_right() + 8.0, y + 4.0 + 12.0, "t", "known") +
         svg_text(plot.inner_right() + 8.0, y + 4.0 + 28.0, "t", "boundary 0.5");
}

// Where streams begin: lines and numbers if they are few, else ticks.
std::string stream_starts(const ReportData& data, const Plot& plot) {
  std::string out;
  const std::size_t n = data.history.size();
  const bool few = n <= 40;
  double free_from = plot.inner_left() - 20.0;
  for (const std::size_t i : thinned(n, 240)) {
    const ReportStream& stream = data.history[i];
    const double first = static_cast<double>(stream.first_row);
    const double x = plot.x.at(first - 0.5);
    if (x < plot.inner_left() - 1.0 || x > plot.inner_right()) continue;
    out += svg_line(x, few ? plot.inner_top() - 6.0 : plot.inner_top() - 10.0, x,
                    few ? plot.inner_bottom() : plot.inner_top() - 4.0, few ? "grid" : "axis");
    const double middle = 0.5 * (x + plot.x.at(first + static_cast<double>(stream.rows) - 0.5));
    const std::string label = count_text(static_cast<std::int64_t>(stream.number));
    const double half = 3.4 * static_cast<double>(label.size());
    if (!few || middle - half < free_from || middle > plot.inner_right()) continue;
    free_from = middle + half + 8.0;
    out += svg_text(middle, 11.0, "t m", label);
  }
  return out.empty() ? out : out + svg_text(plot.inner_right() + 8.0, 11.0, "t", "stream");
}

Curve finite_rows(const ReportData& data) {
  Curve out;
  for (const auto& [row, value] : data.novelty) {
    if (std::isfinite(value))
      out.emplace_back(static_cast<double>(row), std::clamp(value, 0.0F, 1.0F));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

// Medians of stretches, to show what is usual behind the extremes.
Curve medians(const Curve& rows) {
  constexpr std::size_t kColumns = 160;
  Curve out;
  std::vector<double> values;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::size_t from = i * rows.size() / kColumns;
    const std::size_t to = (i + 1) * rows.size() / kColumns;
    if (from >= to) continue;
    values.clear();
    for (std::size_t k = from; k < to; ++k) values.push_back(rows[k].second);
    const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), half, values.end());
    out.emplace_back(rows[(from + to) / 2].first, *half);
  }
  return out;
}

std::string peaks(const Curve& marks, const Plot& plot) {
  std::string out;
  std::string rest;
  std::size_t titles = 0;
  const double radius = marks.size() > 1000 ? 2.4 : 3.0;
  for (const auto& [row, value] : marks) {
    if (!(value > 0.5)) continue;
    const std::string path = circle_path(plot.x.at(row), plot.y.at(value), radius);
    if (++titles > kTitledPeaks) {
      rest += path;
      continue;
    }
    out += titled("path", "d=\"" + path + "\"",
                  "row " + count_text(std::llround(row)) + ": novelty " + fixed_text(value, 2));
  }
  if (!rest.empty()) out += "<path d=\"" + rest + "\"/>\n";
  return out.empty() ? out : "<g class=peak>\n" + out + "</g>\n";
}

std::string rows_picture(const ReportData& data, const Curve& rows) {
  const Curve marks = thinned_extremes(rows, kStretches);
  const Plot plot = novelty_plot(rows.front().first, rows.back().first);
  std::string dots;
  for (const auto& [row, value] : marks) {
    if (!(value > 0.5)) dots += "M" + coordinates(plot.x.at(row), plot.y.at(value)) + "h0";
  }
  std::string out = plot.y_axis(round_ticks(0.0, 1.0, 2, false)) + stream_starts(data, plot);
  out += std::string("<path class=\"dots") + (marks.size() > 800 ? " many" : "") + "\" d=\"" +
         dots + "\"/>\n";
  out += boundary(plot);
  if (marks.size() < rows.size()) {
    out += "<path class=\"curve k0\" d=\"" + curve_path(medians(rows), plot.x, plot.y) + "\"/>\n";
  }
  out += peaks(marks, plot);
  out += plot.x_axis(round_ticks(plot.x.from, plot.x.to, 8, true), "row");
  return svg_picture(plot.width, plot.height, "wide",
                     "Novelty of " + counted(static_cast<std::int64_t>(rows.size()), "row") +
                         " as they were met, against the row number",
                     out);
}

std::string rows_table(const Curve& rows) {
  HtmlTable table({{"row"}, {"novelty"}, {"", HtmlTable::Align::kText}});
  const Curve listed = thinned_extremes(rows, kTableLines / 2);
  for (const auto& [row, value] : listed) {
    table.add({count_text(std::llround(row)), fixed_text(value, 3), value > 0.5 ? "novel" : ""});
  }
  std::string note;
  if (listed.size() < rows.size()) {
    note = count_text(static_cast<std::int64_t>(listed.size())) + " of " +
           count_text(static_cast<std::int64_t>(rows.size())) +
           " rows are listed: the lowest and the highest of each stretch.";
  }
  return folded_table(table, "Novelty of rows", note);
}

// Streams side by side, several in one if there are many: the largest of each figure.
struct Band {
  double number = 0.0, median = 0.0, p90 = 0.0, max = 0.0;
};

std::vector<Band> bands(const ReportData& data) {
  const std::size_t n = data.history.size();
  const std::size_t kept = std::min(n, kBandColumns);
  std::vector<Band> out(kept);
  const auto sane = [](double v) { return std::isfinite(v) ? std::clamp(v, 0.0, 1.0) : 0.0; };
  for (std::size_t i = 0; i < kept; ++i) {
    const std::size_t from = i * n / kept;
    out[i].number = static_cast<double>(data.history[from].number);
    for (std::size_t k = from; k < (i + 1) * n / kept; ++k) {
      out[i].median = std::max(out[i].median, sane(data.history[k].novelty_median));
      out[i].p90 = std::max(out[i].p90, sane(data.history[k].novelty_p90));
      out[i].max = std::max(out[i].max, sane(data.history[k].novelty_max));
    }
  }
  return out;
}

std::string bands_picture(const std::vector<Band>& columns) {
  const double first = columns.front().number;
  const double last = columns.back().number;
  const Plot plot = novelty_plot(first - 0.5, last + 0.5);
  std::string upper;
  std::string lower;
  std::string dots;
  Curve medians_of;
  for (const Band& band : columns) {
    const double x = plot.x.at(band.number);
    upper += (upper.empty() ? "M" : "L") + coordinates(x, plot.y.at(band.p90));
    lower = "L" + coordinates(x, plot.y.at(band.median)) + lower;
    medians_of.emplace_back(band.number, band.median);
    dots += titled("path",
                   "class=\"fill " + std::string(band.max > 0.5 ? "hot" : "kn") + "\" d=\"" +
                       circle_path(x, plot.y.at(band.max), columns.size() > 100 ? 2.0 : 3.2) + "\"",
                   "stream " + number_text(band.number) + ": median " + fixed_text(band.median, 2) +
                       ", nine of ten below " + fixed_text(band.p90, 2) + ", highest " +
                       fixed_text(band.max, 2));
  }
  std::string out = plot.y_axis(round_ticks(0.0, 1.0, 2, false));
  out += "<g class=k0><path class=band d=\"" + upper + lower + "z\"/>\n<path class=curve d=\"" +
         curve_path(medians_of, plot.x, plot.y) + "\"/></g>\n";
  out += boundary(plot) + dots + plot.x_axis(round_ticks(first, last, 10, true), "stream");
  return svg_picture(plot.width, plot.height, "wide", "Novelty of the rows of each stream", out);
}

std::string bands_table(const ReportData& data) {
  HtmlTable table(
      {{"stream"}, {"rows"}, {"novel"}, {"median"}, {"nine of ten below"}, {"highest"}});
  for (const std::size_t i : thinned(data.history.size(), kTableLines)) {
    const ReportStream& s = data.history[i];
    table.add({count_text(static_cast<std::int64_t>(s.number)), count_text(s.rows),
               count_text(s.novel), fixed_text(s.novelty_median, 3), fixed_text(s.novelty_p90, 3),
               fixed_text(s.novelty_max, 3)});
  }
  return folded_table(table, "Novelty of streams", thinned_note(data.history.size(), "streams"));
}

std::string rows_note(const Curve& curve) {
  const std::size_t rows = curve.size();
  std::string out =
      "How novel each row was when it came, before it was learnt: 0 is well known, 1 is like "
      "nothing before. Rows above 0.5 are called novel.";
  if (rows > 2 * kStretches) {
    const auto novel = std::count_if(curve.begin(), curve.end(),
                                     [](const auto& point) { return point.second > 0.5; });
    out += " Only the lowest and the highest row of each stretch of " +
           count_text(static_cast<std::int64_t>(rows / kStretches)) +
           " are drawn; the line is the median. Of all rows, " +
           percent_text(static_cast<double>(novel) / static_cast<double>(rows)) + " were novel.";
  }
  return out;
}

}  // namespace

ReportSection novelty_section(const ReportData& data) {
  ReportSection section{"novelty", "Novelty", "", "", ""};
  const Curve rows = finite_rows(data);
  if (!rows.empty()) {
    section.note = rows_note(rows);
    section.body = scroll_box("Novelty of rows", rows_picture(data, rows)) + rows_table(rows);
  } else if (!data.history.empty()) {
    section.note =
        "How novel the rows of each stream were when they came: the line is the median, nine of "
        "ten "
        "lie below the band's upper edge, and the dots are the highest. Above 0.5 a row is called "
        "novel.";
    section.body = scroll_box("Novelty of streams", bands_picture(bands(data))) + bands_table(data);
  } else if (!data.clusters.empty()) {
    section.body = empty_note("How novel the rows were when they came was not recorded.");
  }
  return section;
}

}  // namespace adapvae::cli

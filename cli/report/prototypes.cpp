// What each cluster stands for: its decoded mean, as a picture or as bars.
#include <algorithm>
#include <cmath>
#include <limits>

#include <stb/stb_image_write.h>

#include "cli/report/digest.h"
#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kShown = 120;
constexpr std::size_t kBars = 96;  // of one prototype
constexpr int kNamedInputs = 24;   // up to here inputs are measures of their own
constexpr int kLargestSide = 128;  // pixels of a picture
constexpr double kBarsWidth = 180.0;
constexpr double kBarsHeight = 72.0;

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // From 0 to 1; the middle if there is nothing to compare with.
  double part(double value) const {
    if (!std::isfinite(value)) return 0.0;
    return high > low ? std::clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
  }
};

using Chosen = std::vector<const ReportCluster*>;

bool by_id(const ReportCluster* a, const ReportCluster* b) { return a->cluster.id < b->cluster.id; }

// Those with a prototype, the largest if they are many; by id.
Chosen choose(const ReportData& data) {
  Chosen out;
  for (const ReportCluster& c : data.clusters) {
    if (!c.prototype.empty()) out.push_back(&c);
  }
  if (out.size() > kShown) {
    std::stable_sort(out.begin(), out.end(), [](const ReportCluster* a, const ReportCluster* b) {
      return finite_or_zero(a->cluster.rows) > finite_or_zero(b->cluster.rows);
    });
    out.resize(kShown);
  }
  std::stable_sort(out.begin(), out.end(), by_id);
  return out;
}

void append_bytes(void* context, void* data, int size) {
  static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                             static_cast<std::size_t>(size));
}

// Grey pixels; of a large picture only every step-th.
std::string png_of(const ReportCluster& c, int width, int height, const Range& range) {
  const int step = std::max(1, (std::max(width, height) + kLargestSide - 1) / kLargestSide);
  const int across = (width + step - 1) / step;
  const int down = (height + step - 1) / step;
  std::string pixels;
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const auto at = static_cast<std::size_t>(y * step) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x * step);
      pixels += static_cast<char>(std::lround(255.0 * range.part(c.prototype[at])));
    }
  }
  std::string png;
  stbi_write_png_to_func(append_bytes, &png, across, down, 1, pixels.data(), across);
  return "data:image/png;base64," + base64(png);
}

// Greys are usually from 0 to 1; else they are stretched over what is there.
Range grey_range(const Chosen& chosen) {
  Range range;
  for (const ReportCluster* c : chosen) {
    for (const float value : c->prototype) range.add(value);
  }
  if (range.low > -0.25 && range.high < 1.25 && range.high > 0.3) range = {0.0, 1.0};
  return range;
}

std::string card(const ReportCluster& c, const ClusterLooks& looks, const std::string& picture) {
  const adapvae_cluster& cluster = c.cluster;
  const std::string name = escape_html(cluster_name(cluster));
  std::string out = "<li>" + picture + "<div" + (name.empty() ? "" : " title=\"" + name + "\"") +
                    ">" + looks.swatch(cluster.id) + " <b>" + std::to_string(cluster.id) + "</b> " +
                    name + "</div><span>" + percent_text(cluster.weight) + "</span><span>" +
                    fixed_text(cluster.rows, 0) + " rows" + "</span>";
  if (cluster.provisional != 0) out += "<span>provisional</span>";
  return out + "</li>\n";
}

std::string image_cards(const ReportData& data, const Chosen& chosen, const ClusterLooks& looks) {
  const Range range = grey_range(chosen);
  std::string out = "<ul class=protos>\n";
  for (const ReportCluster* c : chosen) {
    out += card(*c, looks,
                "<img width=" + std::to_string(data.image_width) +
                    " height=" + std::to_string(data.image_height) +
                    " alt=\"Typical row of cluster " + std::to_string(c->cluster.id) + "\" src=\"" +
                    png_of(*c, data.image_width, data.image_height, range) + "\">");
  }
  return out + "</ul>\n";
}

bool inputs_are_alike(const ReportData& data) {
  return data.input_names.empty() || data.inputs > kNamedInputs;
}

std::string input_name(const ReportData& data, std::size_t input) {
  return input < data.input_names.size() && !data.input_names[input].empty()
             ? shortened(data.input_names[input], kNameLength)
             : "input " + std::to_string(input + 1);
}

// A range for each input, or one for all if they are alike or there is nothing to compare with.
std::vector<Range> input_ranges(const ReportData& data, const Chosen& chosen) {
  std::size_t inputs = 0;
  for (const ReportCluster* c : chosen) inputs = std::max(inputs, c->prototype.size());
  std::vector<Range> out(inputs);
  Range all;
  for (const ReportCluster* c : chosen) {
    for (std::size_t i = 0; i < c->prototype.size(); ++i) {
      out[i].add(c->prototype[i]);
      all.add(c->prototype[i]);
    }
  }
  if (!inputs_are_alike(data) && chosen.size() > 1) return out;
  all.low = std::min(all.low, 0.0);
  all.high = std::max(all.high, 0.0);
  std::fill(out.begin(), out.end(), all);
  return out;
}

std::string bars_picture(const ReportData& data, const ReportCluster& c,
                         const std::vector<Range>& ranges, const ClusterLooks& looks) {
  const std::vector<std::size_t> shown = thinned(c.prototype.size(), kBars);
  const double step = (kBarsWidth - 12.0) / static_cast<double>(shown.size());
  const double gap = shown.size() > 40 ? 0.0 : std::min(6.0, 0.25 * step);
  // Bars begin at 0 if all have one scale, else at the lowest value of their input.
  const bool alike = inputs_are_alike(data);
  std::string out;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const double value = c.prototype[shown[i]];
    const Range& range = ranges[shown[i]];
    const double base = alike && range.high > range.low ? range.part(0.0) : 0.0;
    const double y = kBarsHeight - 8.0 - (kBarsHeight - 16.0) * range.part(value);
    const double foot = kBarsHeight - 8.0 - (kBarsHeight - 16.0) * base;
    const double x = 6.0 + step * static_cast<double>(i);
    const double top = std::min(y, foot - 1.0);
    const double low = std::max(y, foot + (y > foot ? 0.0 : 1.0));
    out +=
        titled("path",
               "d=\"M" + coordinates(x + 0.5 * gap, top) + "H" + coordinate(x + step - 0.5 * gap) +
                   "V" + coordinate(low) + "H" + coordinate(x + 0.5 * gap) + "z\"",
               input_name(data, shown[i]) + ": " + number_text(value));
  }
  return svg_picture(kBarsWidth, kBarsHeight, looks.colour(c.cluster.id),
                     "Typical row of cluster " + std::to_string(c.cluster.id),
                     "<g class=ribbon>" + out + "</g>");
}

std::string bar_cards(const ReportData& data, const Chosen& chosen, const ClusterLooks& looks) {
  const std::vector<Range> ranges = input_ranges(data, chosen);
  std::string out = "<ul class=\"protos bars\">\n";
  for (const ReportCluster* c : chosen)
    out += card(*c, looks, bars_picture(data, *c, ranges, looks));
  return out + "</ul>\n";
}

// Inputs down, clusters across.
std::string values_table(const ReportData& data, const Chosen& chosen) {
  constexpr std::size_t kAcross = 24;
  std::vector<HtmlTable::Column> columns = {{"input", HtmlTable::Align::kText}};
  const std::size_t across = std::min(kAcross, chosen.size());
  for (std::size_t k = 0; k < across; ++k) {
    columns.push_back({std::to_string(chosen[k]->cluster.id)});
  }
  HtmlTable table(columns);
  const std::size_t inputs = chosen[0]->prototype.size();
  // Together at most as many cells as a long table of a few columns has.
  const std::size_t lines = std::min(kTableLines, 2400 / across);
  for (const std::size_t i : thinned(inputs, lines)) {
    std::vector<std::string> cells = {escape_html(input_name(data, i))};
    for (std::size_t k = 0; k < across; ++k) {
      const std::vector<float>& values = chosen[k]->prototype;
      cells.push_back(i < values.size() ? number_text(values[i]) : "–");
    }
    table.add(cells);
  }
  std::string note = "A column for each cluster.";
  if (across < chosen.size()) note += " The first " + std::to_string(across) + " are listed.";
  if (inputs > lines) {
    note += " " + std::to_string(lines) + " of " + count_text(static_cast<std::int64_t>(inputs)) +
            " inputs are listed, evenly spaced.";
  }
  return folded_table(table, "Prototypes", note);
}

bool are_images(const ReportData& data, const Chosen& chosen) {
  if (data.image_width <= 0 || data.image_height <= 0) return false;
  const auto pixels =
      static_cast<std::size_t>(data.image_width) * static_cast<std::size_t>(data.image_height);
  return std::all_of(chosen.begin(), chosen.end(),
                     [pixels](const ReportCluster* c) { return c->prototype.size() == pixels; });
}

std::string bars_note(const ReportData& data, const Chosen& chosen) {
  if (inputs_are_alike(data)) return " A bar for each input, all on one scale.";
  std::string out = " The bars are, from the left: ";
  for (std::size_t i = 0; i < chosen[0]->prototype.size(); ++i) {
    out += (i > 0 ? ", " : "") + escape_html(input_name(data, i));
  }
  return out + (chosen.size() > 1
                    ? ". Each is scaled from its lowest to its highest value among the clusters."
                    : ".");
}

}  // namespace

ReportSection prototypes_section(const ReportData& data, const ClusterLooks& looks) {
  ReportSection section{"prototypes", "Prototypes", "", "", ""};
  const Chosen chosen = choose(data);
  if (chosen.empty()) {
    if (!data.clusters.empty()) {
      section.body = empty_note("The typical rows of the clusters are not known.");
    }
    return section;
  }
  const bool images = are_images(data, chosen);
  section.note =
      "What each cluster stands for: the row that the network decodes from its middle. "
      "The percentage is the part of all rows that "
      "is expected in it.";
  if (!images) section.note += bars_note(data, chosen);
  if (chosen.size() < data.clusters.size()) section.note += " The largest are shown.";
  section.body = (images ? image_cards(data, chosen, looks) : bar_cards(data, chosen, looks)) +
                 values_table(data, chosen);
  return section;
}

}  // namespace adapvae::cli

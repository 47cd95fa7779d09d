// How well the clusters agree with labels that were known but never learnt from.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kMatrixColumns = 80;
constexpr std::size_t kMatrixLines = 80;
constexpr int kShades = 9;

std::string metrics_table(const ReportData& data) {
  if (data.metrics.empty()) return "";
  using Align = HtmlTable::Align;
  HtmlTable table({{"level", Align::kText},
                   {"NMI"},
                   {"ARI"},
                   {"homogeneity"},
                   {"completeness"},
                   {"V-measure"},
                   {"accuracy"},
                   {"purity"},
                   {"K"}});
  for (const auto& [level, m] : data.metrics) {
    table.add({escape_html(level), fixed_text(m.nmi, 3), fixed_text(m.ari, 3),
               fixed_text(m.homogeneity, 3), fixed_text(m.completeness, 3),
               fixed_text(m.v_measure, 3), fixed_text(m.accuracy, 3), fixed_text(m.purity, 3),
               count_text(m.clusters)});
  }
  const adapvae_metrics& first = data.metrics[0].second;
  return "<h3>Agreement</h3>\n" + table.html("Agreement with the labels") + "<p class=small>Of " +
         counted(first.rows, "row") + " with " + counted(first.labels, "label") +
         ". 1 is perfect. Accuracy matches each label with one cluster; purity lets every cluster "
         "choose its label. K: how many there are.</p>\n";
}

// The matrix with columns in the order in which they are shown.
class Matrix {
 public:
  explicit Matrix(const ReportConfusion& confusion) : confusion_(confusion) {
    const std::size_t lines = confusion.labels.size();
    const std::size_t columns = confusion.clusters.size();
    sums_.assign(columns, 0);
    line_sums_.assign(lines, 0);
    main_.assign(columns, 0);
    std::vector<std::int64_t> most(columns, 0);
    for (const auto& [label, cluster, rows] : confusion.counts) {
      sums_[cluster] += rows;
      line_sums_[label] += rows;
      if (label < kMatrixLines) shown_[{label, cluster}] = rows;
      if (rows > most[cluster] || (rows == most[cluster] && label < main_[cluster])) {
        most[cluster] = rows;
        main_[cluster] = label;
      }
    }
    order();
  }

  static bool fits(const ReportConfusion& c) {
    return !c.labels.empty() && !c.clusters.empty() &&
           std::all_of(c.counts.begin(), c.counts.end(), [&c](const ReportConfusion::Count& count) {
             return count.label < c.labels.size() && count.cluster < c.clusters.size();
           });
  }

  std::string html(const ClusterLooks& looks) const {
    std::string out = std::string("<table class=\"matrix") +
                      (columns_.size() > 24 ? " dense" : "") +
                      "\"><thead><tr><th scope=col>label</th>";
    for (const std::size_t k : columns_) {
      const adapvae_id id = confusion_.clusters[k];
      out += "<th scope=col title=\"" + escape_html("cluster " + cluster_title(looks, id)) + "\">" +
             std::to_string(id) + "</th>";
    }
    out += "<th scope=col class=sum>rows</th></tr></thead>\n<tbody>\n";
    for (std::size_t l = 0; l < std::min(kMatrixLines, confusion_.labels.size()); ++l) {
      out += "<tr><th scope=row>" + escape_html(shortened(confusion_.labels[l], 24)) + "</th>";
      for (const std::size_t k : columns_) out += cell(l, k);
      out += "<td class=sum>" + count_text(line_sums_[l]) + "</td></tr>\n";
    }
    return out + "</tbody></table>";
  }

  std::string note() const {
    std::string out =
        "Rows of a label (down) in a cluster (across). The stronger the shade, the larger the part "
        "of its "
        "cluster; "
        "clusters stand in the order of the label that most of their rows have.";
    if (columns_.size() < confusion_.clusters.size()) {
      out += " The " + std::to_string(columns_.size()) + " largest of " +
             count_text(static_cast<std::int64_t>(confusion_.clusters.size())) +
             " clusters are shown.";
    }
    if (confusion_.labels.size() > kMatrixLines) {
      out += " The first " + std::to_string(kMatrixLines) + " of " +
             count_text(static_cast<std::int64_t>(confusion_.labels.size())) + " labels are shown.";
    }
    return out;
  }

 private:
  std::int64_t at(std::size_t label, std::size_t cluster) const {
    const auto found = shown_.find({label, cluster});
    return found == shown_.end() ? 0 : found->second;
  }

  void order() {
    columns_.resize(confusion_.clusters.size());
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
    const auto larger = [this](std::size_t a, std::size_t b) { return sums_[a] > sums_[b]; };
    std::stable_sort(columns_.begin(), columns_.end(), larger);
    if (columns_.size() > kMatrixColumns) columns_.resize(kMatrixColumns);
    const auto before = [this](std::size_t a, std::size_t b) { return main_[a] < main_[b]; };
    std::stable_sort(columns_.begin(), columns_.end(), before);
  }

  std::string cell(std::size_t label, std::size_t cluster) const {
    const std::int64_t n = at(label, cluster);
    if (n <= 0) return "<td></td>";
    const double part = static_cast<double>(n) / static_cast<double>(sums_[cluster]);
    const int shade = std::clamp(static_cast<int>(std::ceil(part * kShades)), 1, kShades);
    return "<td class=s" + std::to_string(shade) + ">" + count_text(n) + "</td>";
  }

  const ReportConfusion& confusion_;
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> shown_;  // label, cluster
  std::vector<std::int64_t> sums_;                                     // of each cluster
  std::vector<std::int64_t> line_sums_;                                // of each label
  std::vector<std::size_t> main_;                                      // label of most rows
  std::vector<std::size_t> columns_;
};

// A percentage as a bar, with a stroke where the published one is.
std::string bullet(double percent, const std::optional<double>& published) {
  const auto x = [](double p) {
    return coordinate(std::clamp(std::isfinite(p) ? p : 0.0, 0.0, 100.0));
  };
  std::string out =
      "<svg class=\"bar k0\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" "
      "aria-hidden=\"true\"><rect class=bed y=\"2\" width=\"100\" height=\"8\"/>"
      "<rect class=fill y=\"2\" width=\"" +
      x(percent) + "\" height=\"8\"/>";
  if (published && std::isfinite(*published)) {
    out += "<path class=goal d=\"M" + x(*published) + " 0v12\"/>";
  }
  return out + "</svg><span class=v>" + fixed_text(percent, 1) + "</span>";
}

std::string in_percent(const std::optional<double>& percent) {
  return percent ? fixed_text(*percent, 1) : "–";
}

std::string discoveries_table(const ReportData& data) {
  if (data.discoveries.empty()) return "";
  using Align = HtmlTable::Align;
  const bool published = std::any_of(
      data.discoveries.begin(), data.discoveries.end(),
      [](const ReportDiscovery& d) { return d.published_precision || d.published_recall; });
  std::vector<HtmlTable::Column> columns = {
      {"label", Align::kText}, {"came in stream"}, {"precision, %"}, {"recall, %"}};
  if (published) {
    columns.insert(columns.begin() + 3, {"published"});
    columns.push_back({"published"});
  }
  HtmlTable table(columns);
  for (const ReportDiscovery& d : data.discoveries) {
    std::vector<std::string> cells = {escape_html(d.label),
                                      count_text(static_cast<std::int64_t>(d.stream))};
    cells.push_back(bullet(d.precision, d.published_precision));
    if (published) cells.push_back(in_percent(d.published_precision));
    cells.push_back(bullet(d.recall, d.published_recall));
    if (published) cells.push_back(in_percent(d.published_recall));
    table.add(cells);
  }
  std::string note =
      "Precision: how much of what was announced as new had the label. Recall: how much "
      "of the label was announced.";
  if (published) note += " The stroke in a bar is the published figure.";
  if (!data.discovery_note.empty()) note += " " + escape_html(data.discovery_note);
  return "<h3>New classes</h3>\n" + table.html("New classes") + "<p class=small>" + note + "</p>\n";
}

}  // namespace

ReportSection labels_section(const ReportData& data, const ClusterLooks& looks) {
  ReportSection section{"labels", "Labels", "", "", ""};
  section.body = metrics_table(data);
  if (data.confusion && Matrix::fits(*data.confusion)) {
    const Matrix matrix(*data.confusion);
    section.body += "<h3>Labels against clusters</h3>\n" +
                    scroll_box("Labels against clusters", matrix.html(looks)) + "<p class=small>" +
                    matrix.note() + "</p>\n";
  }
  section.body += discoveries_table(data);
  if (!section.body.empty()) {
    section.note =
        "How well the clusters agree with labels that came with the rows. The model never saw "
        "them.";
  }
  return section;
}

}  // namespace adapvae::cli

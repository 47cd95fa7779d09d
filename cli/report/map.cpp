// The map: rows as points in a plane, clusters as ellipses.
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/report/html.h"
#include "cli/report/parts.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr double kWidth = 960.0;
constexpr double kMargin = 22.0;
constexpr std::size_t kPoints = 5000;
constexpr std::size_t kLegend = 120;
constexpr std::size_t kSideLegend = 20;

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& o) const {
    return left < o.right && o.left < right && top < o.bottom && o.top < bottom;
  }
};

// Equal scales in both directions, else the ellipses would lie.
struct MapFrame {
  double height = 600.0;
  double scale = 1.0;
  double middle_x = 0.0, middle_y = 0.0;
  double x(double value) const { return 0.5 * kWidth + scale * (value - middle_x); }
  double y(double value) const { return 0.5 * height - scale * (value - middle_y); }
};

struct Extent {
  double low = 1e300, high = -1e300;
  void add(double from, double to) {
    low = std::min(low, from);
    high = std::max(high, to);
  }
  double span() const { return std::max(high - low, 1e-12); }
  double middle() const { return 0.5 * (low + high); }
};

bool is_placed(const ReportCluster& c) {
  return std::isfinite(c.mean[0]) && std::isfinite(c.mean[1]) &&
         std::isfinite(c.covariance[0] + c.covariance[1] + c.covariance[2]) &&
         c.covariance[0] > 0.0 && c.covariance[2] > 0.0;
}

bool is_placed(const ReportPoint& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

// Ellipses count by one deviation only: a wide one must not make all else small.
MapFrame frame_of(const std::vector<const ReportPoint*>& points,
                  const std::vector<const ReportCluster*>& clusters) {
  Extent x;
  Extent y;
  for (const ReportPoint* p : points) {
    x.add(p->x, p->x);
    y.add(p->y, p->y);
  }
  const double reach = points.empty() ? 2.1 : 1.0;
  for (const ReportCluster* c : clusters) {
    const double dx = reach * std::sqrt(c->covariance[0]);
    const double dy = reach * std::sqrt(c->covariance[2]);
    x.add(c->mean[0] - dx, c->mean[0] + dx);
    y.add(c->mean[1] - dy, c->mean[1] + dy);
  }
  MapFrame frame;
  const double inner = kWidth - 2.0 * kMargin;
  frame.height = std::clamp(inner * y.span() / x.span() + 2.0 * kMargin, 420.0, 680.0);
  frame.scale = std::min(inner / x.span(), (frame.height - 2.0 * kMargin) / y.span());
  frame.middle_x = x.middle();
  frame.middle_y = y.middle();
  return frame;
}

// Two deviations along the axes of the covariance.
std::string ellipse(const ReportCluster& c, const MapFrame& frame, const ClusterLooks& looks) {
  const double xx = c.covariance[0];
  const double xy = c.covariance[1];
  const double yy = c.covariance[2];
  const double half = 0.5 * (xx - yy);
  const double root = std::sqrt(half * half + xy * xy);
  const double mean = 0.5 * (xx + yy);
  const double angle = -0.5 * std::atan2(2.0 * xy, xx - yy) * 180.0 / 3.14159265358979;
  const auto axis = [&](double variance) {
    return coordinate(std::max(1.0, 2.0 * frame.scale * std::sqrt(std::max(0.0, variance))));
  };
  const std::string at = coordinates(frame.x(c.mean[0]), frame.y(c.mean[1]));
  return titled("ellipse",
                "class=\"ellipse " + looks.colour(c.cluster.id) + "\" rx=\"" + axis(mean + root) +
                    "\" ry=\"" + axis(mean - root) + "\" transform=\"translate(" + at + ")rotate(" +
                    coordinate(angle) + ")\"",
                "cluster " + cluster_title(looks, c.cluster.id));
}

// One path for all points of a cluster keeps the page small.
std::string point_paths(const std::vector<const ReportPoint*>& points, const MapFrame& frame,
                        const ClusterLooks& looks) {
  const double radius = points.size() > 2500 ? 2.6 : points.size() > 800 ? 3.1 : 3.8;
  std::map<adapvae_id, std::string> paths;
  std::string rings;
  for (const ReportPoint* p : points) {
    const double x = frame.x(p->x);
    const double y = frame.y(p->y);
    paths[p->id] += shape_path(looks.shape(p->id), x, y, radius);
    if (p->novelty > 0.5F) rings += circle_path(x, y, radius + 2.6);
  }
  std::string out;
  for (const auto& [id, path] : paths) {
    out += titled("path", "class=\"points " + looks.colour(id) + "\" d=\"" + path + "\"",
                  id == ADAPVAE_NO_ID ? "no cluster" : "cluster " + cluster_title(looks, id));
  }
  if (!rings.empty()) out += titled("path", "class=ring d=\"" + rings + "\"", "novel");
  return out;
}

// Ids at the means, moved a little where they would cover each other; the largest choose first.
std::string ids(std::vector<const ReportCluster*> clusters, const MapFrame& frame) {
  constexpr double kMoves[][2] = {{0, 0},    {0, -17},  {0, 17},    {22, 0},  {-22, 0}, {20, 15},
                                  {20, -15}, {-20, 15}, {-20, -15}, {0, -34}, {0, 34}};
  std::stable_sort(clusters.begin(), clusters.end(),
                   [](const ReportCluster* a, const ReportCluster* b) {
                     return finite_or_zero(a->cluster.weight) > finite_or_zero(b->cluster.weight);
                   });
  std::vector<Box> taken;
  std::string out;
  for (const ReportCluster* c : clusters) {
    const std::string text = std::to_string(c->cluster.id);
    const double half = 4.5 * static_cast<double>(text.size()) + 2.0;
    double x = frame.x(c->mean[0]);
    double y = frame.y(c->mean[1]);
    for (const auto& move : kMoves) {
      const double tx = frame.x(c->mean[0]) + move[0];
      const double ty = frame.y(c->mean[1]) + move[1];
      const Box box{tx - half, ty - 8.0, tx + half, ty + 8.0};
      if (std::any_of(taken.begin(), taken.end(), [&](const Box& o) { return o.meets(box); }))
        continue;
      x = tx;
      y = ty;
      break;
    }
    taken.push_back({x - half, y - 8.0, x + half, y + 8.0});
    out += svg_text(x, y + 5.0, "id m halo", text);
  }
  return out;
}

std::string legend(const ReportData& data, const ClusterLooks& looks, bool novel) {
  std::string out = "<ul class=legend>\n";
  if (novel) {
    out +=
        "<li><svg class=sw viewBox=\"0 0 12 12\" aria-hidden=\"true\"><circle class=ring cx=6 cy=6 "
        "r=5 "
        "/></svg><span>novel</span></li>\n";
  }
  const std::size_t n = std::min(kLegend, data.clusters.size());
  for (std::size_t i = 0; i < n; ++i) {
    const adapvae_id id = data.clusters[i].cluster.id;
    out += "<li>" + looks.swatch(id) + "<span>" + escape_html(cluster_title(looks, id)) +
           "</span></li>\n";
  }
  return out + "</ul>\n";
}

std::string points_table(const std::vector<const ReportPoint*>& points, const ClusterLooks& looks) {
  using Align = HtmlTable::Align;
  HtmlTable table({{"row"},
                   {"cluster"},
                   {"name", Align::kText},
                   {"label", Align::kText},
                   {"across"},
                   {"up"},
                   {"novelty"}});
  for (const std::size_t i : thinned(points.size(), kTableLines)) {
    const ReportPoint& p = *points[i];
    table.add({count_text(p.row), p.id == ADAPVAE_NO_ID ? "–" : std::to_string(p.id),
               escape_html(looks.name(p.id)), escape_html(shortened(p.label, kNameLength)),
               fixed_text(p.x, 3), fixed_text(p.y, 3), fixed_text(p.novelty, 2)});
  }
  return folded_table(table, "Rows on the map", thinned_note(points.size(), "rows"));
}

std::string note(const ReportData& data, std::size_t points, std::size_t clusters) {
  const std::size_t all = data.points.size();
  std::string out = points > 0 ? "Each mark is a row; " : "";
  out += points > 0 ? "an ellipse holds two deviations of a cluster, with its id in the middle."
                    : "An ellipse holds two deviations of a cluster, with its id in the middle.";
  if (!data.projection.empty()) out += " Shown: " + escape_html(data.projection) + ".";
  if (points < all) {
    out += " " + count_text(static_cast<std::int64_t>(points)) + " of " +
           count_text(static_cast<std::int64_t>(all)) + " rows are drawn.";
  }
  if (clusters < data.clusters.size()) {
    out += " " + count_text(static_cast<std::int64_t>(clusters)) + " of " +
           count_text(static_cast<std::int64_t>(data.clusters.size())) + " clusters are drawn.";
  }
  return out;
}

}  // namespace

ReportSection map_section(const ReportData& data, const ClusterLooks& looks) {
  ReportSection section{"map", "Map", "", "", ""};
  std::vector<const ReportPoint*> points;
  for (const std::size_t i : thinned(data.points.size(), kPoints)) {
    if (is_placed(data.points[i])) points.push_back(&data.points[i]);
  }
  std::vector<const ReportCluster*> clusters;
  for (const ReportCluster& c : data.clusters) {
    if (is_placed(c)) clusters.push_back(&c);
  }
  if (points.empty() && clusters.empty()) return section;
  const MapFrame frame = frame_of(points, clusters);
  const bool novel = std::any_of(points.begin(), points.end(),
                                 [](const ReportPoint* p) { return p->novelty > 0.5F; });
  std::string inner =
      "<rect class=frame width=\"960\" height=\"" + coordinate(frame.height) + "\" rx=\"4\"/>\n";
  for (const ReportCluster* c : clusters) inner += ellipse(*c, frame, looks);
  inner += point_paths(points, frame, looks) + ids(clusters, frame);
  const std::string label = "Map of " + counted(static_cast<std::int64_t>(points.size()), "row") +
                            " and " +
                            counted(static_cast<std::int64_t>(clusters.size()), "cluster");
  section.note = note(data, points.size(), clusters.size());
  section.body = scroll_box("Map", svg_picture(kWidth, frame.height, "map", label, inner));
  // A long list would be taller than the map.
  (data.clusters.size() <= kSideLegend ? section.legend : section.body) +=
      legend(data, looks, novel);
  section.body += points_table(points, looks);
  return section;
}

}  // namespace adapvae::cli

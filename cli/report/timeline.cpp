// Lives of the clusters: a lane for each, as thick as its part of the rows.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "cli/report/html.h"
#include "cli/report/lanes.h"
#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

constexpr std::size_t kLanes = 60;
constexpr std::size_t kColumns = 200;
constexpr std::size_t kStems = 30;  // lanes up to which parents are shown
constexpr double kWidth = 960.0;
constexpr double kLeft = 132.0;
constexpr double kRight = 66.0;
constexpr double kTop = 24.0;

class Timeline {
 public:
  Timeline(const ReportData& data, const ClusterLooks& looks, std::vector<ReportLane> lanes,
           const StreamColumns& columns)
      : looks_(looks), lanes_(std::move(lanes)), columns_(columns) {
    pitch_ = lanes_.size() <= 14 ? 28.0 : lanes_.size() <= 30 ? 21.0 : 16.0;
    fill_shares(data, columns_, lanes_);
    for (std::size_t i = 0; i < lanes_.size(); ++i) line_of_[lanes_[i].id] = i;
    find_full_share();
  }

  std::string draw() const {
    std::string out = axis();
    for (std::size_t i = 0; i < lanes_.size(); ++i) out += gutter(lanes_[i], middle(i));
    // Lines pass under the ribbons that they cross; many would be a thicket.
    for (std::size_t i = 0; i < lanes_.size() && lanes_.size() <= kStems; ++i) {
      out += stems(lanes_[i], middle(i));
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) out += ribbon(lanes_[i], middle(i));
    for (std::size_t i = 0; i < lanes_.size(); ++i) out += marks(lanes_[i], middle(i));
    return svg_picture(kWidth, bottom() + 38.0, "wide",
                       "Lanes of " + counted(static_cast<std::int64_t>(lanes_.size()), "cluster") +
                           " over the streams, from birth to end",
                       out);
  }

 private:
  // The thickest lanes are those above nearly all others: one lane that is alone in a stream must
  // not make all else thin.
  void find_full_share() {
    std::vector<double> all;
    for (const ReportLane& lane : lanes_) {
      std::copy_if(lane.shares.begin(), lane.shares.end(), std::back_inserter(all),
                   [](double share) { return share > 0.0; });
    }
    if (all.empty()) return;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) * 19 / 20);
    std::nth_element(all.begin(), at, all.end());
    full_share_ = *at;
  }

  double bottom() const { return kTop + pitch_ * static_cast<double>(lanes_.size()) + 4.0; }
  double middle(std::size_t line) const {
    return kTop + pitch_ * (static_cast<double>(line) + 0.5);
  }
  double column_width() const {
    return (kWidth - kLeft - kRight) / static_cast<double>(columns_.count());
  }
  double left_of(std::size_t column) const {
    return kLeft + column_width() * static_cast<double>(column);
  }
  double right_of(std::size_t column) const { return left_of(column + 1); }

  std::string axis() const {
    std::string out = svg_text(kWidth, 12.0, "t e", "rows");
    const double low = static_cast<double>(columns_.first);
    const double high = static_cast<double>(columns_.last);
    std::vector<Tick> ticks = round_ticks(low, high, 10, true);
    // The first stream is worth a tick, if the next does not stand too near.
    if (ticks.size() < 2 || ticks[0].at - low > 0.4 * (ticks[1].at - ticks[0].at)) {
      if (ticks.empty() || ticks[0].at > low) {
        ticks.insert(ticks.begin(), {low, count_text(static_cast<std::int64_t>(low))});
      }
    }
    for (const Tick& tick : ticks) {
      const std::size_t column = columns_.of(static_cast<std::uint64_t>(tick.at));
      const double x = 0.5 * (left_of(column) + right_of(column));
      out += svg_line(x, kTop - 4.0, x, bottom(), "grid");
      out += svg_text(x, bottom() + 16.0, "t m", tick.label);
    }
    out += svg_line(kLeft, bottom(), kWidth - kRight, bottom(), "axis");
    return out + svg_text(kWidth - kRight, bottom() + 34.0, "t e", "stream");
  }

  std::string gutter(const ReportLane& lane, double y) const {
    const std::string name = looks_.name(lane.id);
    const std::string id = std::to_string(lane.id);
    std::string out = "<g class=\"" + looks_.colour(lane.id) + "\"><title>" +
                      escape_html("cluster " + cluster_title(looks_, lane.id)) +
                      "</title><path class=fill d=\"" +
                      shape_path(looks_.shape(lane.id), 7.0, y, 4.6) + "\"/></g>\n";
    out += "<text x=\"20\" y=\"" + coordinate(y + 4.0) + "\" class=\"t\"><tspan class=\"b\">" + id +
           "</tspan>";
    if (!name.empty()) out += " " + escape_html(shortened(name, id.size() > 3 ? 9 : 12));
    out += "</text>\n";
    return out + svg_text(kWidth, y + 4.0, lane.lives ? "t e i" : "t e", fixed_text(lane.rows, 0));
  }

  // Half of the thickness: its square grows with the share, so that small ones are still seen.
  double half(const ReportLane& lane, std::size_t column) const {
    if (lane.shares.empty()) return 1.6;
    const double share = lane.shares[column];
    if (share <= 0.0 || full_share_ <= 0.0) return 0.6;
    return std::max(1.0, 0.45 * pitch_ * std::sqrt(std::min(1.0, share / full_share_)));
  }

  std::string ribbon(const ReportLane& lane, double y) const {
    const std::size_t first = columns_.of(lane.born);
    const std::size_t last = columns_.of(lane.ended != 0 ? lane.ended : lane.seen);
    std::string upper;
    std::string lower;
    for (std::size_t i = first; i <= last; ++i) {
      const double h = half(lane, i);
      // Runs of the same thickness are one step.
      std::size_t end = i;
      while (end < last && std::fabs(half(lane, end + 1) - h) < 0.05) ++end;
      upper += (upper.empty() ? "M" : "L") + coordinates(left_of(i), y - h) + "H" +
               coordinate(right_of(end));
      lower = "L" + coordinates(right_of(end), y + h) + "H" + coordinate(left_of(i)) + lower;
      i = end;
    }
    std::string out = "<g class=\"" + looks_.colour(lane.id) + "\">" +
                      titled("path", "class=ribbon d=\"" + upper + lower + "z\"", life(lane));
    if (lane.lives && last + 1 < columns_.count()) {
      out += svg_line(right_of(last) + 5.0, y, kWidth - kRight, y, "rest");
    }
    return out + "</g>\n";
  }

  std::string life(const ReportLane& lane) const {
    return "cluster " + cluster_title(looks_, lane.id) + ": " + fixed_text(lane.rows, 0) +
           " rows, from stream " + count_text(static_cast<std::int64_t>(lane.born)) + " to " +
           count_text(static_cast<std::int64_t>(lane.seen));
  }

  // Thin lines from a parent to its child and from an end to the heir.
  std::string stems(const ReportLane& lane, double y) const {
    std::string out;
    const auto parent = line_of_.find(lane.parent);
    if (parent != line_of_.end() && lane.birth != EventMark::kNone) {
      const double x = left_of(columns_.of(lane.born));
      const double begin = left_of(columns_.of(lanes_[parent->second].born));
      out += stem(std::max(begin, x - 8.0), x - 8.0, middle(parent->second), x, y, "stem");
    }
    const auto heir = line_of_.find(lane.heir);
    if (heir != line_of_.end() && lane.end != EventMark::kNone) {
      const double x = right_of(columns_.of(lane.ended));
      out += stem(x + 8.0, x + 8.0, middle(heir->second), x, y, "stem dash");
    }
    return out;
  }

  // From (begin, from) along the vertical line at `x`, then with a bend to (x_to, y_to).
  static std::string stem(double begin, double x, double from, double x_to, double y_to,
                          const char* classes) {
    const double bend = from < y_to ? -6.0 : 6.0;
    return std::string("<path class=\"") + classes + "\" d=\"M" + coordinates(begin, from) + "H" +
           coordinate(x) + "V" + coordinate(y_to + bend) + "Q" + coordinates(x, y_to) + " " +
           coordinates(x_to, y_to) + "\"/>\n";
  }

  std::string marks(const ReportLane& lane, double y) const {
    std::string out;
    const double radius = pitch_ > 20.0 ? 5.0 : 4.2;
    const auto stream = [](std::uint64_t n) { return std::to_string(n) + ": "; };
    const std::string who = "cluster " + cluster_title(looks_, lane.id);
    if (lane.birth != EventMark::kNone) {
      const double x = left_of(columns_.of(lane.born));
      out += mark(lane.birth, x, y, radius,
                  lane.birth_text.empty() ? "stream " + stream(lane.born) + who + " born"
                                          : lane.birth_text);
    }
    if (lane.end != EventMark::kNone) {
      const double x = right_of(columns_.of(lane.ended));
      out += mark(
          lane.end, x, y, radius,
          lane.end_text.empty() ? "stream " + stream(lane.ended) + who + " ended" : lane.end_text);
    }
    return out;
  }

  static std::string mark(EventMark kind, double x, double y, double radius,
                          const std::string& text) {
    const bool solid = kind == EventMark::kForgotten || kind == EventMark::kMerged;
    return titled("path",
                  std::string("class=") + (solid ? "solid" : "mark") + " d=\"" +
                      event_path(kind, x, y, radius) + "\"",
                  text);
  }

  const ClusterLooks& looks_;
  std::vector<ReportLane> lanes_;
  StreamColumns columns_;
  std::map<adapvae_id, std::size_t> line_of_;
  double pitch_ = 24.0;
  double full_share_ = 0.0;
};

std::string stream_text(std::uint64_t stream) {
  return stream == 0 ? "–" : count_text(static_cast<std::int64_t>(stream));
}

std::string lanes_table(const std::vector<ReportLane>& lanes, const ClusterLooks& looks) {
  using Align = HtmlTable::Align;
  HtmlTable table({{"cluster"},
                   {"name", Align::kText},
                   {"rows"},
                   {"born in stream"},
                   {"out of"},
                   {"last seen"},
                   {"ended in"},
                   {"why", Align::kText}});
  for (const std::size_t i : thinned(lanes.size(), kTableLines)) {
    const ReportLane& lane = lanes[i];
    table.add({std::to_string(lane.id), escape_html(looks.name(lane.id)), fixed_text(lane.rows, 0),
               lane.birth == EventMark::kNone ? "from the start" : stream_text(lane.born),
               lane.parent == ADAPVAE_NO_ID ? "–" : std::to_string(lane.parent),
               stream_text(lane.seen), stream_text(lane.ended),
               escape_html(lane.ended != 0 ? lane.end_text : lane.birth_text)});
  }
  return folded_table(table, "Lives of the clusters", thinned_note(lanes.size(), "clusters"));
}

std::string legend(const std::vector<ReportLane>& lanes) {
  constexpr std::pair<EventMark, const char*> kMarks[] = {
      {EventMark::kBorn, "born"},
      {EventMark::kSplit, "split off by request"},
      {EventMark::kMerged, "merged into another"},
      {EventMark::kRetired, "retired, nearly empty"},
      {EventMark::kForgotten, "forgotten by request"}};
  std::string out;
  for (const auto& [mark, text] : kMarks) {
    const EventMark wanted = mark;
    if (std::none_of(lanes.begin(), lanes.end(), [wanted](const ReportLane& lane) {
          return lane.birth == wanted || lane.end == wanted;
        })) {
      continue;
    }
    out += "<li>" + event_swatch(mark) + "<span>" + text + "</span></li>\n";
  }
  return out.empty() ? out : "<ul class=\"legend rows\">\n" + out + "</ul>\n";
}

bool has_parents(const std::vector<ReportLane>& lanes) {
  return lanes.size() <= kStems && std::any_of(lanes.begin(), lanes.end(), [](const auto& lane) {
           return lane.parent != ADAPVAE_NO_ID;
         });
}

bool has_resting(const std::vector<ReportLane>& lanes, const StreamColumns& columns) {
  return std::any_of(lanes.begin(), lanes.end(), [&columns](const ReportLane& lane) {
    return lane.lives && lane.seen < columns.last;
  });
}

std::string note(const ReportData& data, const StreamColumns& columns,
                 const std::vector<ReportLane>& lanes) {
  std::string out = "A lane for each cluster, in the order of birth.";
  out += data.history.empty()
             ? " How many rows each stream gave it is not known."
             : " The thicker, the more of the rows of its stream it got; the number at the right "
               "is their sum.";
  if (has_parents(lanes)) out += " Thin lines lead from the cluster out of which it was born.";
  if (has_resting(lanes, columns)) out += " Dots: it is kept, but got no rows.";
  if (columns.per_column > 1) {
    out +=
        " Each step is " + count_text(static_cast<std::int64_t>(columns.per_column)) + " streams.";
  }
  if (lanes.size() > kLanes) {
    out += " The " + std::to_string(kLanes) + " largest are drawn, and " +
           count_text(static_cast<std::int64_t>(lanes.size() - kLanes)) + " more are in the table.";
  }
  return out;
}

}  // namespace

ReportSection timeline_section(const ReportData& data, const ClusterLooks& looks) {
  ReportSection section{"timeline", "Clusters over time", "", "", ""};
  const std::vector<ReportLane> lanes = find_lanes(data);
  if (lanes.empty()) {
    section.body = empty_note("There is no cluster yet: nothing was learnt.");
    return section;
  }
  const StreamColumns columns = find_columns(data, lanes, kColumns);
  const std::vector<ReportLane> drawn = largest_lanes(lanes, kLanes);
  section.note = note(data, columns, lanes);
  section.legend = legend(drawn);
  section.body = scroll_box("Clusters over time", Timeline(data, looks, drawn, columns).draw()) +
                 lanes_table(lanes, looks);
  return section;
}

}  // namespace adapvae::cli

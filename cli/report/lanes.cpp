#include "cli/report/lanes.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/report/svg.h"

namespace adapvae::cli {
namespace {

using Lanes = std::map<adapvae_id, ReportLane>;

ReportLane& lane_of(Lanes& lanes, adapvae_id id) {
  ReportLane& lane = lanes[id];
  lane.id = id;
  return lane;
}

void see(ReportLane& lane, std::uint64_t stream) {
  if (lane.born == 0 || stream < lane.born) lane.born = stream;
  lane.seen = std::max(lane.seen, stream);
}

void be_born(Lanes& lanes, adapvae_id id, adapvae_id parent, const ReportEvent& event) {
  ReportLane& lane = lane_of(lanes, id);
  see(lane, event.stream);
  lane.parent = parent;
  lane.birth = event_mark(event);
  lane.birth_text = event.text;
}

void be_ended(Lanes& lanes, adapvae_id id, adapvae_id heir, const ReportEvent& event) {
  ReportLane& lane = lane_of(lanes, id);
  see(lane, event.stream);
  lane.ended = event.stream;
  lane.heir = heir;
  lane.end = event_mark(event);
  lane.end_text = event.text;
}

void add_event(Lanes& lanes, const ReportEvent& event) {
  switch (event_mark(event)) {
    case EventMark::kBorn:
      return be_born(lanes, event.id, event.other, event);
    case EventMark::kSplit:
      return be_born(lanes, event.other, event.id, event);
    case EventMark::kMerged:
    case EventMark::kRetired:
      return be_ended(lanes, event.other, event.id, event);
    case EventMark::kForgotten:
      return be_ended(lanes, event.id, ADAPVAE_NO_ID, event);
    case EventMark::kNone:
      return;
  }
}

void add_cluster(Lanes& lanes, const adapvae_cluster& cluster, bool history_known) {
  ReportLane& lane = lane_of(lanes, cluster.id);
  lane.lives = true;
  // An end that was undone is none.
  lane.ended = 0;
  lane.end = EventMark::kNone;
  lane.heir = ADAPVAE_NO_ID;
  if (cluster.parent != ADAPVAE_NO_ID) lane.parent = cluster.parent;
  see(lane, std::max<std::uint64_t>(1, cluster.born_stream));
  see(lane, std::max<std::uint64_t>(lane.born, cluster.seen_stream));
  if (!history_known) lane.rows = finite_or_zero(cluster.rows);
  if (lane.birth == EventMark::kNone && cluster.born_stream > 0) lane.birth = EventMark::kBorn;
}

}  // namespace

EventMark event_mark(const ReportEvent& event) {
  if (event.type == "born") return EventMark::kBorn;
  if (event.type == "split") return EventMark::kSplit;
  if (event.type == "merged") return EventMark::kMerged;
  if (event.type == "retired") return EventMark::kRetired;
  if (event.type == "forgotten") return EventMark::kForgotten;
  return EventMark::kNone;
}

std::string event_path(EventMark mark, double x, double y, double radius) {
  switch (mark) {
    case EventMark::kBorn:
      return shape_path(0, x, y, radius);
    case EventMark::kSplit:
      return shape_path(2, x, y, 1.1 * radius);
    case EventMark::kMerged:
      return shape_path(3, x, y, radius);
    case EventMark::kRetired:
      return shape_path(1, x, y, radius);
    default:
      return shape_path(6, x, y, 1.2 * radius);
  }
}

std::string event_swatch(EventMark mark) {
  if (mark == EventMark::kNone) return "";
  const bool solid = mark == EventMark::kForgotten || mark == EventMark::kMerged;
  return std::string("<svg class=sw viewBox=\"0 0 12 12\" aria-hidden=\"true\"><path class=") +
         (solid ? "solid" : "mark") + " d=\"" + event_path(mark, 6.0, 6.0, 4.4) + "\"/></svg>";
}

std::vector<ReportLane> find_lanes(const ReportData& data) {
  Lanes lanes;
  for (const ReportStream& stream : data.history) {
    for (const auto& [id, rows] : stream.shares) {
      if (rows <= 0) continue;
      ReportLane& lane = lane_of(lanes, id);
      see(lane, stream.number);
      lane.rows += static_cast<double>(rows);
    }
  }
  for (const ReportEvent& event : data.events) add_event(lanes, event);
  const bool shares_known = !lanes.empty() && !data.history.empty();
  for (const ReportCluster& c : data.clusters) add_cluster(lanes, c.cluster, shares_known);
  lanes.erase(ADAPVAE_NO_ID);
  std::vector<ReportLane> out;
  for (auto& [id, lane] : lanes) out.push_back(std::move(lane));
  std::stable_sort(out.begin(), out.end(),
                   [](const ReportLane& a, const ReportLane& b) { return a.born < b.born; });
  return out;
}

std::vector<ReportLane> largest_lanes(std::vector<ReportLane> lanes, std::size_t limit) {
  if (lanes.size() <= limit) return lanes;
  // Those that live come before those that are gone.
  const auto larger = [](const ReportLane& a, const ReportLane& b) {
    return std::tuple(!a.lives, -a.rows, a.id) < std::tuple(!b.lives, -b.rows, b.id);
  };
  std::sort(lanes.begin(), lanes.end(), larger);
  lanes.resize(limit);
  std::sort(lanes.begin(), lanes.end(), [](const ReportLane& a, const ReportLane& b) {
    return std::tuple(a.born, a.id) < std::tuple(b.born, b.id);
  });
  return lanes;
}

StreamColumns find_columns(const ReportData& data, const std::vector<ReportLane>& lanes,
                           std::size_t limit) {
  StreamColumns columns;
  std::uint64_t first = UINT64_MAX;
  columns.last = std::max<std::uint64_t>(1, data.streams);
  for (const ReportStream& stream : data.history) {
    first = std::min(first, stream.number);
    columns.last = std::max(columns.last, stream.number);
  }
  for (const ReportLane& lane : lanes) {
    first = std::min(first, lane.born);
    columns.last = std::max(columns.last, lane.seen);
  }
  columns.first = std::clamp<std::uint64_t>(first, 1, columns.last);
  const std::uint64_t streams = columns.last - columns.first + 1;
  columns.per_column = (streams - 1) / limit + 1;
  return columns;
}

void fill_shares(const ReportData& data, const StreamColumns& columns,
                 std::vector<ReportLane>& lanes) {
  std::map<adapvae_id, ReportLane*> by_id;
  for (ReportLane& lane : lanes) by_id[lane.id] = &lane;
  std::vector<double> totals(columns.count(), 0.0);
  for (const ReportStream& stream : data.history) {
    const std::size_t column = columns.of(stream.number);
    for (const auto& [id, rows] : stream.shares) {
      if (rows <= 0) continue;
      totals[column] += static_cast<double>(rows);
      const auto found = by_id.find(id);
      if (found == by_id.end()) continue;
      std::vector<double>& shares = found->second->shares;
      shares.resize(columns.count(), 0.0);
      shares[column] += static_cast<double>(rows);
    }
  }
  for (ReportLane& lane : lanes) {
    for (std::size_t i = 0; i < lane.shares.size(); ++i) {
      if (totals[i] > 0.0) lane.shares[i] /= totals[i];
    }
  }
}

}  // namespace adapvae::cli

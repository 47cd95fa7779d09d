// The sections of a report, each made by a function of its own.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cli/report/page.h"

namespace adapvae::cli {

// What stands above and beside the pictures of a section. All but id and heading is HTML; a section
// without a body is left out.
struct ReportSection {
  std::string id;
  std::string heading;
  std::string note;
  std::string legend;
  std::string body;
};

// Colour and shape of each cluster, the same in all pictures. Those that live come first, so that
// they get pairs that are all different as long as there are enough.
class ClusterLooks {
 public:
  explicit ClusterLooks(const ReportData& data);
  std::string colour(adapvae_id id) const;  // a class of the style sheet
  int shape(adapvae_id id) const;
  std::string swatch(adapvae_id id) const;  // the mark by itself, for a legend or a table
  std::string name(adapvae_id id) const;    // "" if it has none; not escaped

 private:
  struct Look {
    int rank = 0;
    std::string name;
  };
  std::map<adapvae_id, Look> looks_;
};

// "3" or "3 swan"; not escaped.
std::string cluster_title(const ClusterLooks& looks, adapvae_id id);
// The name of a cluster, also if the final 0 is missing.
std::string cluster_name(const adapvae_cluster& cluster);
// For comparing: numbers that are not finite come as 0.
double finite_or_zero(double value);
// One plain sentence instead of a picture.
std::string empty_note(const std::string& sentence);

// What an event does to a lane of the timeline.
enum class EventMark { kBorn, kSplit, kMerged, kRetired, kForgotten, kNone };
EventMark event_mark(const ReportEvent& event);
// The mark as a path; those of births and ends differ in shape.
std::string event_path(EventMark mark, double x, double y, double radius);
// The mark by itself, for a legend or a table.
std::string event_swatch(EventMark mark);

ReportSection timeline_section(const ReportData& data, const ClusterLooks& looks);
ReportSection novelty_section(const ReportData& data);
ReportSection prototypes_section(const ReportData& data, const ClusterLooks& looks);
ReportSection map_section(const ReportData& data, const ClusterLooks& looks);
ReportSection learning_section(const ReportData& data);
ReportSection labels_section(const ReportData& data, const ClusterLooks& looks);
ReportSection clusters_section(const ReportData& data, const ClusterLooks& looks);
ReportSection events_section(const ReportData& data);
ReportSection settings_section(const ReportData& data);

// The style sheet.
std::string_view report_style();

}  // namespace adapvae::cli

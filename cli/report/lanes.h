// Lives of clusters as lanes: from a birth to an end, over columns of streams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/report/parts.h"

namespace adapvae::cli {

struct ReportLane {
  adapvae_id id = ADAPVAE_NO_ID;
  adapvae_id parent = ADAPVAE_NO_ID;
  adapvae_id heir = ADAPVAE_NO_ID;  // into which it went
  bool lives = false;
  std::uint64_t born = 0;  // stream
  std::uint64_t seen = 0;  // last stream that gave it rows
  std::uint64_t ended = 0;
  EventMark birth = EventMark::kNone;  // kNone: was there from the start
  EventMark end = EventMark::kNone;
  std::string birth_text;  // sentences
  std::string end_text;
  double rows = 0.0;           // of the streams in the history; else those that it holds
  std::vector<double> shares;  // of the rows of each column; empty: not known
};

// Streams side by side, several in a column if there are many.
struct StreamColumns {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
  std::uint64_t per_column = 1;
  std::size_t of(std::uint64_t stream) const {
    return static_cast<std::size_t>(((stream < first ? first : stream) - first) / per_column);
  }
  std::size_t count() const { return of(last) + 1; }
};

// All lanes by birth, then id; shares are not filled.
std::vector<ReportLane> find_lanes(const ReportData& data);
// The `limit` lanes with most rows, still by birth.
std::vector<ReportLane> largest_lanes(std::vector<ReportLane> lanes, std::size_t limit);
StreamColumns find_columns(const ReportData& data, const std::vector<ReportLane>& lanes,
                           std::size_t limit);
void fill_shares(const ReportData& data, const StreamColumns& columns,
                 std::vector<ReportLane>& lanes);

}  // namespace adapvae::cli

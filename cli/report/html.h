// Pieces of HTML: text that is safe to put into it, numbers for people, tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adapvae::cli {

// Text for an element or a quoted attribute. Bytes that are no UTF-8 and control characters become
// U+FFFD, so that no name can spoil the page.
std::string escape_html(std::string_view text);
// At most `characters` of it, the last one an ellipsis if more were there; not escaped.
std::string shortened(std::string_view text, std::size_t characters);

// Characters of a name from a file that are shown: it may be as long as the file, and stands in
// many places.
inline constexpr std::size_t kNameLength = 80;

// Numbers as people write them; what is not finite is a dash.
std::string count_text(std::int64_t value);            // 4,000
std::string fixed_text(double value, int digits);      // 0.93
std::string number_text(double value);                 // as many digits as help
std::string percent_text(double part);                 // of 1: 3.1 %
std::string bytes_text(std::uint64_t bytes);           // 1.2 MB
std::string counted(std::int64_t n, const char* one);  // 1 cluster, 2 clusters
std::string counted(std::int64_t n, const char* one, const char* many);

// Indices of at most `limit` of n things, evenly spaced, the first and the last among them.
std::vector<std::size_t> thinned(std::size_t n, std::size_t limit);

// A table; cells are HTML, so text in them must have been escaped.
class HtmlTable {
 public:
  enum class Align { kText, kNumber };
  struct Column {
    std::string heading;
    Align align = Align::kNumber;
  };

  explicit HtmlTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(const std::vector<std::string>& cells);
  bool empty() const { return body_.empty(); }
  // In a box that scrolls by itself; `label` names the box.
  std::string html(const std::string& label) const;

 private:
  std::vector<Column> columns_;
  std::string body_;
};

// The largest number of lines in a table behind a plot.
inline constexpr std::size_t kTableLines = 500;
// "500 of 2,000 rows are listed, evenly spaced." or nothing if all are.
std::string thinned_note(std::size_t n, const char* things);
// A table that opens on demand, with a note above it (may be empty).
std::string folded_table(const HtmlTable& table, const std::string& label, const std::string& note);

// A box that scrolls sideways by itself, so that the page never does.
std::string scroll_box(const std::string& label, const std::string& inner);

}  // namespace adapvae::cli

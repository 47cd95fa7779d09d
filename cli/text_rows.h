// A line of text as fields: CSV and TSV with quotes, JSON lines of numbers.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace adapvae::cli {

// Views of the line that was split, or of the splitter's own copy where a quote or an escape stood
// in the way: good until the next line.
struct Field {
  std::string_view name;  // JSON objects; else empty
  std::string_view text;  // empty: missing
};

class LineSplitter {
 public:
  // A quote that is not closed on the line, or something behind a closing one: false, `error` says
  // which field.
  bool delimited(std::string_view line, char delimiter, std::string& error);
  // An array or an object of numbers, strings, true, false and null.
  bool json(std::string_view line, std::string& error);
  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
  std::deque<std::string> copies_;
};

// Tab, semicolon or comma: the one that the line has most of; comma if it has none.
char guess_delimiter(std::string_view line);

// "", NA, NaN, null and the like.
bool is_missing(std::string_view text);

}  // namespace adapvae::cli

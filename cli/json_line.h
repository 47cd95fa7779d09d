// One line of JSON as fields, read by simdjson. Every character of the line is checked: grammar,
// escapes, UTF-8, numbers.
#pragma once

#include <cstddef>
#include <memory>
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

// Of a record or a line: no model takes more inputs.
constexpr std::size_t kMostColumns = std::size_t{1} << 20;
constexpr const char* kTooManyColumns = "more than 1048576 columns";

class JsonLine {
 public:
  JsonLine();
  ~JsonLine();
  JsonLine(const JsonLine&) = delete;
  JsonLine& operator=(const JsonLine&) = delete;

  // An array or an object of numbers, strings, true (text "1"), false ("0") and null (no text).
  // Names of an object differ. False: `error` says which column or character is wrong. The fields
  // are views of this object's memory: good until the next line.
  bool read(std::string_view line, std::vector<Field>& fields, std::string& error);
  // Whether the line was an object.
  bool object() const { return object_; }
  // Whether its names, or their order, differ from those of the line before.
  bool names_changed() const { return names_changed_; }

 private:
  struct Parser;

  bool read_fields(std::string_view line, std::vector<Field>& fields, std::string& error);
  bool compare_names(const std::vector<Field>& fields, std::string& error);

  std::unique_ptr<Parser> parser_;
  std::vector<std::string> names_;  // of the last line; they differ
  bool object_ = false;
  bool names_changed_ = false;
};

}  // namespace adapvae::cli

// A line of text as fields: CSV and TSV with quotes, JSON lines of numbers.
#pragma once

#include <string>
#include <vector>

namespace adapvae::cli {

struct Field {
  std::string name;  // JSON objects; else empty
  std::string text;  // empty: missing
};

// A quote that is not closed on the line, or something behind a closing one: false, `error` says
// which field.
bool split_delimited(const std::string& line, char delimiter, std::vector<Field>& fields,
                     std::string& error);
// An array or an object of numbers, strings, true, false and null.
bool split_json(const std::string& line, std::vector<Field>& fields, std::string& error);

// Tab, semicolon or comma: the one that the line has most of; comma if it has none.
char guess_delimiter(const std::string& line);

// "", NA, NaN, null and the like.
bool is_missing(const std::string& text);

}  // namespace adapvae::cli

#include "cli/json_line.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

namespace adapvae::cli {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

// simdjson takes 6 bytes for each byte of a line.
constexpr std::size_t kLongestLine = std::size_t{1} << 24;
constexpr std::size_t kShownText = 60;  // of a token, in a message

// A token without the blanks that follow it.
std::string_view trimmed(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last + 1);
}

// "column 3 (name): ", as it stands in front of what is wrong with a field.
std::string place_of(std::size_t column, std::string_view name) {
  std::string place = "column " + std::to_string(column + 1);
  if (!name.empty()) place += " (" + std::string(name.substr(0, kShownText)) + ")";
  return place + ": ";
}

// What is wrong with a token that is no value.
std::string bad_token(std::string_view token) {
  const std::string shown(token.substr(0, kShownText));
  for (const char* word : {"NaN", "Infinity", "-Infinity"}) {
    if (token == word) return shown + " is not valid JSON; write null for a missing value";
  }
  if (token.empty() || std::strchr(",:]}", token.front()) != nullptr) {
    return "a value is missing";
  }
  double ignored = 0.0;
  const auto [stop, status] = std::from_chars(token.data(), token.data() + token.size(), ignored);
  if (status == std::errc::result_out_of_range && stop == token.data() + token.size()) {
    return "'" + shown + "' is not a finite number";
  }
  return "'" + shown + "' is not a JSON value";
}

// A value that holds no others. False: `error` says what it is instead.
bool read_value(ondemand::value value, std::string_view& text, std::string& error) {
  const std::string_view token = trimmed(value.raw_json_token());
  ondemand::json_type type = ondemand::json_type::null;
  if (value.type().get(type) != simdjson::SUCCESS) {
    error = bad_token(token);
    return false;
  }
  switch (type) {
    case ondemand::json_type::array:
    case ondemand::json_type::object:
      error = "only numbers, strings, true, false and null can be read, no array or object";
      return false;
    case ondemand::json_type::string:
      if (value.get_string().get(text) == simdjson::SUCCESS) return true;
      error = "a string with an escape that is not valid JSON";
      return false;
    case ondemand::json_type::number: {
      double ignored = 0.0;
      text = token;
      if (value.get_double().get(ignored) == simdjson::SUCCESS) return true;
      break;
    }
    case ondemand::json_type::boolean: {
      bool yes = false;
      if (value.get_bool().get(yes) == simdjson::SUCCESS) {
        text = yes ? "1" : "0";
        return true;
      }
      break;
    }
    case ondemand::json_type::null:
      text = {};
      if (token == "null") return true;
      break;
  }
  error = bad_token(token);
  return false;
}

}  // namespace

struct JsonLine::Parser {
  ondemand::parser parser{kLongestLine};
  ondemand::document document;
  std::vector<char> bytes;  // the line and what simdjson may read behind it

  // Where the document was read up to; it must have been opened.
  bool refuse_here(error_code code, std::string& error) {
    const char* at = nullptr;
    refuse(code, error);
    if (code != simdjson::INCOMPLETE_ARRAY_OR_OBJECT &&
        document.current_location().get(at) == simdjson::SUCCESS && at >= bytes.data() &&
        at < bytes.data() + bytes.size()) {
      error = "character " + std::to_string(at - bytes.data() + 1) + ": " + error;
    }
    return false;
  }
  // An error that concerns no single field.
  static bool refuse(error_code code, std::string& error) {
    error = code == simdjson::UTF8_ERROR ? "text that is not valid UTF-8" : "not valid JSON";
    switch (code) {
      case simdjson::UNCLOSED_STRING:
        error += ", a string is not closed on its line";
        break;
      case simdjson::UNESCAPED_CHARS:
        error += ", a string holds a control character";
        break;
      case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
        error += ", the line does not end where its array or object does";
        break;
      case simdjson::TAPE_ERROR:
        error += ", a comma, a colon or a name in quotes is missing";
        break;
      default:
        break;
    }
    return false;
  }
};

JsonLine::JsonLine() : parser_(std::make_unique<Parser>()) {}
JsonLine::~JsonLine() = default;

bool JsonLine::read(std::string_view line, std::vector<Field>& fields, std::string& error) {
  fields.clear();
  return read_fields(line, fields, error) && compare_names(fields, error);
}

bool JsonLine::read_fields(std::string_view line, std::vector<Field>& fields, std::string& error) {
  Parser& p = *parser_;
  if (line.size() > kLongestLine) {
    error = "a JSON line of more than 16 MiB";
    return false;
  }
  const std::size_t start = line.find_first_not_of(" \t\r");
  const char first = start == std::string_view::npos ? '\0' : line[start];
  if (first != '[' && first != '{') {
    error = "a JSON line is an array or an object";
    return false;
  }
  object_ = first == '{';
  p.bytes.resize(std::max(p.bytes.size(), line.size() + simdjson::SIMDJSON_PADDING));
  std::memcpy(p.bytes.data(), line.data(), line.size());
  std::memset(p.bytes.data() + line.size(), 0, simdjson::SIMDJSON_PADDING);
  error_code code = p.parser.iterate(p.bytes.data(), line.size(), p.bytes.size()).get(p.document);
  if (code != simdjson::SUCCESS) return Parser::refuse(code, error);
  std::string what;
  if (object_) {
    ondemand::object object;
    if ((code = p.document.get_object().get(object)) != simdjson::SUCCESS) {
      return p.refuse_here(code, error);
    }
    for (auto next : object) {
      ondemand::field member;
      Field field;
      if ((code = std::move(next).get(member)) != simdjson::SUCCESS)
        return p.refuse_here(code, error);
      if (member.unescaped_key().get(field.name) != simdjson::SUCCESS) {
        error = place_of(fields.size(), {}) + "a name with an escape that is not valid JSON";
        return false;
      }
      if (!read_value(member.value(), field.text, what)) {
        error = place_of(fields.size(), field.name) + what;
        return false;
      }
      fields.push_back(field);
      if (fields.size() > kMostColumns) {
        error = kTooManyColumns;
        return false;
      }
    }
  } else {
    ondemand::array array;
    if ((code = p.document.get_array().get(array)) != simdjson::SUCCESS) {
      return p.refuse_here(code, error);
    }
    for (auto next : array) {
      ondemand::value value;
      Field field;
      if ((code = std::move(next).get(value)) != simdjson::SUCCESS)
        return p.refuse_here(code, error);
      if (!read_value(value, field.text, what)) {
        error = place_of(fields.size(), {}) + what;
        return false;
      }
      fields.push_back(field);
      if (fields.size() > kMostColumns) {
        error = kTooManyColumns;
        return false;
      }
    }
  }
  const char* left = nullptr;  // what is still to be read
  if (p.document.current_location().get(left) == simdjson::OUT_OF_BOUNDS) return true;
  error = "something follows the JSON value";
  return false;
}

// Lines of a file have the same names in the same order, as a rule: only others are sorted.
bool JsonLine::compare_names(const std::vector<Field>& fields, std::string& error) {
  const auto same = [](const Field& field, const std::string& name) { return field.name == name; };
  names_changed_ =
      object_ && !std::equal(fields.begin(), fields.end(), names_.begin(), names_.end(), same);
  if (!names_changed_) return true;
  std::vector<std::string_view> sorted;
  for (const Field& field : fields) sorted.push_back(field.name);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    error = "the name '" + std::string(twice->substr(0, kShownText)) + "' occurs twice";
    return false;
  }
  names_.clear();
  for (const Field& field : fields) names_.emplace_back(field.name);
  return true;
}

}  // namespace adapvae::cli

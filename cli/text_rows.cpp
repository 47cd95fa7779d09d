#include "cli/text_rows.h"

#include <algorithm>
#include <cctype>

namespace adapvae::cli {
namespace {

std::string trimmed(const std::string& text) {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (begin < end && std::isspace(static_cast<unsigned char>(text[begin])) != 0) ++begin;
  while (end > begin && std::isspace(static_cast<unsigned char>(text[end - 1])) != 0) --end;
  return text.substr(begin, end - begin);
}

// Reads one line of JSON; what it cannot read it refuses.
class JsonLine {
 public:
  explicit JsonLine(const std::string& text) : text_(text) {}

  bool read(std::vector<Field>& fields, std::string& error) {
    const char open = next();
    if (open != '[' && open != '{') return refuse("a JSON line is an array or an object", error);
    const char close = open == '[' ? ']' : '}';
    ++at_;
    for (bool first = true;; first = false) {
      if (next() == close && (first || !after_comma_)) break;
      after_comma_ = false;
      Field field;
      if (open == '{') {
        if (next() != '"' || !string(field.name))
          return refuse("a name in quotes is missing", error);
        if (next() != ':') return refuse("':' is missing behind a name", error);
        ++at_;
      }
      if (!value(field.text)) {
        return refuse("only numbers, strings, true, false and null can be read", error);
      }
      fields.push_back(std::move(field));
      if (next() == ',') {
        ++at_;
        after_comma_ = true;
      } else if (next() != close) {
        return refuse("',' is missing", error);
      }
    }
    ++at_;
    return next() == '\0' || refuse("something follows the JSON value", error);
  }

 private:
  bool refuse(const char* what, std::string& error) const {
    error = "column " + std::to_string(at_ + 1) + ": " + what;
    return false;
  }
  // The next character that is no blank; '\0' at the end.
  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool string(std::string& out) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\' && ++at_ == text_.size()) return false;
      out += text_[at_];  // an escape stands for its own letter: names are only compared
    }
    return false;
  }
  bool value(std::string& out) {
    const char first = next();
    if (first == '"') return string(out);
    if (first == '[' || first == '{') return false;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}' &&
           std::isspace(static_cast<unsigned char>(text_[at_])) == 0) {
      out += text_[at_++];
    }
    if (out == "null") out.clear();
    if (out == "true") out = "1";
    if (out == "false") out = "0";
    return first != '\0';
  }

  const std::string& text_;
  std::size_t at_ = 0;
  bool after_comma_ = false;
};

}  // namespace

bool split_delimited(const std::string& line, char delimiter, std::vector<Field>& fields,
                     std::string& error) {
  const auto refuse = [&](const char* what) {
    error = "column " + std::to_string(fields.size() + 1) + ": " + what;
    return false;
  };
  std::size_t at = 0;
  for (;;) {
    Field field;
    std::size_t start = at;
    while (start < line.size() && line[start] == ' ') ++start;
    if (start < line.size() && line[start] == '"') {
      at = start + 1;
      for (;; ++at) {
        if (at >= line.size()) return refuse("a quote is not closed on its line");
        if (line[at] == '"' && (at + 1 >= line.size() || line[at + 1] != '"')) break;
        if (line[at] == '"') ++at;
        field.text += line[at];
      }
      ++at;
      while (at < line.size() && line[at] == ' ') ++at;
      if (at < line.size() && line[at] != delimiter)
        return refuse("something follows a closing quote");
    } else {
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      field.text = trimmed(line.substr(at, end - at));
      at = end;
    }
    fields.push_back(std::move(field));
    if (at >= line.size()) return true;
    ++at;
  }
}

bool split_json(const std::string& line, std::vector<Field>& fields, std::string& error) {
  return JsonLine(line).read(fields, error);
}

char guess_delimiter(const std::string& line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', '\t', ';'}) {
    const std::ptrdiff_t count = std::count(line.begin(), line.end(), candidate);
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

bool is_missing(const std::string& text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"", "na", "n/a", "nan", "null", "none", "?"}) {
    if (lower == word) return true;
  }
  return false;
}

}  // namespace adapvae::cli

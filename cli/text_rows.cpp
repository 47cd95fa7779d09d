#include "cli/text_rows.h"

#include <algorithm>
#include <cctype>

namespace adapvae::cli {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Reads one line of JSON; what it cannot read it refuses.
class JsonLine {
 public:
  JsonLine(std::string_view text, std::deque<std::string>& copies)
      : text_(text), copies_(&copies) {}

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
      fields.push_back(field);
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
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool string(std::string_view& out) {
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\') ++at_;
    if (at_ < text_.size() && text_[at_] == '"') {
      out = text_.substr(begin, at_++ - begin);
      return true;
    }
    std::string& copy = copies_->emplace_back(text_.substr(begin, at_ - begin));
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        out = copy;
        return true;
      }
      if (text_[at_] == '\\' && ++at_ == text_.size()) return false;
      copy += text_[at_];  // an escape stands for its own letter: names are only compared
    }
    return false;
  }
  bool value(std::string_view& out) {
    const char first = next();
    if (first == '"') return string(out);
    if (first == '[' || first == '{') return false;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '}' &&
           !is_blank(text_[at_])) {
      ++at_;
    }
    out = text_.substr(begin, at_ - begin);
    if (out == "null") out = {};
    if (out == "true") out = "1";
    if (out == "false") out = "0";
    return first != '\0';
  }

  std::string_view text_;
  std::deque<std::string>* copies_;
  std::size_t at_ = 0;
  bool after_comma_ = false;
};

// The field in quotes that begins at line[at]; `at` is then behind it. False: not closed.
bool quoted(std::string_view line, std::size_t& at, std::string& text) {
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"') {
      if (at + 1 >= line.size() || line[at + 1] != '"') {
        ++at;
        return true;
      }
      ++at;  // a quote twice is a quote
    }
    text += line[at];
  }
  return false;
}

}  // namespace

bool LineSplitter::delimited(std::string_view line, char delimiter, std::string& error) {
  fields_.clear();
  copies_.clear();
  const auto refuse = [&](const char* what) {
    error = "column " + std::to_string(fields_.size() + 1) + ": " + what;
    return false;
  };
  std::size_t at = 0;
  for (;;) {
    std::size_t start = at;
    while (start < line.size() && line[start] == ' ') ++start;
    if (start < line.size() && line[start] == '"') {
      at = start;
      std::string& copy = copies_.emplace_back();
      if (!quoted(line, at, copy)) return refuse("a quote is not closed on its line");
      while (at < line.size() && line[at] == ' ') ++at;
      if (at < line.size() && line[at] != delimiter) {
        return refuse("something follows a closing quote");
      }
      fields_.push_back({{}, copy});
    } else {
      const std::size_t end = std::min(line.find(delimiter, at), line.size());
      fields_.push_back({{}, trimmed(line.substr(at, end - at))});
      at = end;
    }
    if (at >= line.size()) return true;
    ++at;
  }
}

bool LineSplitter::json(std::string_view line, std::string& error) {
  fields_.clear();
  copies_.clear();
  return JsonLine(line, copies_).read(fields_, error);
}

char guess_delimiter(std::string_view line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', '\t', ';'}) {
    const std::ptrdiff_t count = std::count(line.begin(), line.end(), candidate);
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

bool is_missing(std::string_view text) {
  if (text.size() > 4) return false;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"", "na", "n/a", "nan", "null", "none", "?"}) {
    if (lower == word) return true;
  }
  return false;
}

}  // namespace adapvae::cli

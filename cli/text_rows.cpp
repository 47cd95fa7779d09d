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

}  // namespace

// What is in quotes, from line[at] on; `at` is then behind the closing quote.
LineSplitter::Split LineSplitter::finish_quoted(std::string_view line, std::size_t& at,
                                                std::string& error) {
  std::string& text = copies_.back();
  for (;;) {
    const std::size_t quote = line.find('"', at);
    if (quote == std::string_view::npos) {
      text.append(line.substr(at));
      text += '\n';
      return Split::kOpen;
    }
    text.append(line.substr(at, quote - at));
    at = quote + 1;
    if (at >= line.size() || line[at] != '"') break;
    text += '"';  // a quote twice is a quote
    ++at;
  }
  while (at < line.size() && line[at] == ' ') ++at;
  if (at + 1 == line.size() && line[at] == '\r') ++at;
  if (at < line.size() && line[at] != delimiter_) {
    offset_ = lines_;
    error = "column " + std::to_string(fields_.size() + 1) +
            ": something follows a closing quote; a quote within quotes is written twice";
    return Split::kError;
  }
  fields_.push_back({{}, text});
  if (lines_ > 0) offsets_.push_back(offset_);
  return Split::kDone;
}

LineSplitter::Split LineSplitter::split(std::string_view line, std::size_t at, std::string& error) {
  for (;;) {
    offset_ = lines_;
    std::size_t start = at;
    while (start < line.size() && line[start] == ' ') ++start;
    if (start < line.size() && line[start] == '"') {
      at = start + 1;
      copies_.emplace_back();
      const Split split = finish_quoted(line, at, error);
      if (split == Split::kOpen) keep_fields();
      if (split != Split::kDone) return split;
    } else {
      const std::size_t end = std::min(line.find(delimiter_, at), line.size());
      fields_.push_back({{}, trimmed(line.substr(at, end - at))});
      if (lines_ > 0) offsets_.push_back(offset_);
      at = end;
    }
    if (at >= line.size()) return Split::kDone;
    ++at;
    if (fields_.size() == kMostColumns) {
      offset_ = lines_;
      error = kTooManyColumns;
      return Split::kError;
    }
  }
}

// The line that they are views of goes.
void LineSplitter::keep_fields() {
  std::string open = std::move(copies_.back());
  copies_.pop_back();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (i < offsets_.size() && offsets_[i] < lines_) continue;
    fields_[i].text = copies_.emplace_back(fields_[i].text);
  }
  offsets_.resize(fields_.size(), lines_);
  copies_.push_back(std::move(open));
}

LineSplitter::Split LineSplitter::delimited(std::string_view line, char delimiter,
                                            std::string& error) {
  fields_.clear();
  copies_.clear();
  offsets_.clear();
  lines_ = 0;
  delimiter_ = delimiter;
  return split(line, 0, error);
}

LineSplitter::Split LineSplitter::more(std::string_view line, std::string& error) {
  ++lines_;
  std::size_t at = 0;
  const Split done = finish_quoted(line, at, error);
  if (done != Split::kDone || at >= line.size()) return done;
  return split(line, at + 1, error);
}

bool LineSplitter::json(std::string_view line, std::string& error) {
  if (json_ == nullptr) json_ = std::make_unique<JsonLine>();
  return json_->read(line, fields_, error);
}

bool DelimiterGuess::add(std::string_view line) {
  bool start = true;  // of a field: a quote there opens it
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted_) {
      if (c != '"') continue;
      const bool twice = i + 1 < line.size() && line[i + 1] == '"';
      quoted_ = twice;
      if (twice) ++i;
      continue;
    }
    quoted_ = start && c == '"';
    start = c == ',' || c == '\t' || c == ';' || (start && c == ' ');
    commas_ += c == ',';
    tabs_ += c == '\t';
    semicolons_ += c == ';';
  }
  return quoted_;
}

char DelimiterGuess::best() const {
  if (tabs_ > commas_ && tabs_ >= semicolons_) return '\t';
  return semicolons_ > commas_ ? ';' : ',';
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

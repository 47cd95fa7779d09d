// Text as fields: records of CSV and TSV, JSON lines.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json_line.h"

namespace adapvae::cli {

class LineSplitter {
 public:
  enum class Split {
    kDone,
    kOpen,   // a quote is open at the end of the line: call more() with the next one
    kError,  // `error` says which column, `offset()` which line of the record
  };

  // A record of RFC 4180, from the first line of it: without its '\n', with its '\r' if it has one.
  // Blanks around a field do not belong to it unless they are quoted. A quote within a field that
  // does not begin with one is a character like others.
  Split delimited(std::string_view line, char delimiter, std::string& error);
  // The next line of a record that is open.
  Split more(std::string_view line, std::string& error);
  // An array or an object of numbers, strings, true, false and null.
  bool json(std::string_view line, std::string& error);

  const std::vector<Field>& fields() const { return fields_; }
  // Lines of the record before the one in which a field begins; fields().size(): the field that is
  // open or wrong.
  std::int64_t offset(std::size_t field) const {
    return field < offsets_.size() ? offsets_[field] : offset_;
  }
  // Of JSON: see JsonLine.
  bool object() const { return json_ != nullptr && json_->object(); }
  bool names_changed() const { return json_ != nullptr && json_->names_changed(); }

 private:
  Split split(std::string_view line, std::size_t at, std::string& error);
  Split finish_quoted(std::string_view line, std::size_t& at, std::string& error);
  void keep_fields();

  std::vector<Field> fields_;
  std::deque<std::string> copies_;
  char delimiter_ = ',';
  std::vector<std::int64_t> offsets_;  // of the fields, if the record has several lines
  std::int64_t offset_ = 0;            // of the field that is being read
  std::int64_t lines_ = 0;             // of the record, before the one that is being read
  std::unique_ptr<JsonLine> json_;
};

// What separates the fields of a record: the one of tab, semicolon and comma that it has most of
// outside quotes; comma if it has none.
class DelimiterGuess {
 public:
  // A line of the record; true: a quote is open at its end, and the next line belongs to it, too.
  bool add(std::string_view line);
  char best() const;

 private:
  std::int64_t commas_ = 0;
  std::int64_t tabs_ = 0;
  std::int64_t semicolons_ = 0;
  bool quoted_ = false;
};

// "", NA, NaN, null and the like.
bool is_missing(std::string_view text);

}  // namespace adapvae::cli

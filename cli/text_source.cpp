#include "cli/text_source.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cli/arguments.h"

namespace adapvae::cli {
namespace {

constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kShownText = 60;  // of a cell, in a message
// Of several lines. A quote that is not closed must not keep what follows back for long.
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;
constexpr std::size_t kNowhere = ~std::size_t{0};

}  // namespace

bool TextSource::refuse_line(std::int64_t line, const std::string& what) {
  error_ = bytes_->name() + ", line " + std::to_string(line) + what;
  return false;
}

bool TextSource::read_fields() {
  std::string_view line;
  const bool json = options_.format == Format::kJsonl;
  // Tabs alone are a record if they separate fields.
  const char* blanks = !json && delimiter_ == '\t' ? " \r" : " \t\r";
  do {
    if (!next_line(line)) {
      error_ = bytes_->error();
      return false;
    }
    if (line_++ == 0) {
      if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF")) {
        return refuse_line(1, ": text in UTF-16; save it as UTF-8");
      }
      if (line.starts_with(kByteOrderMark)) line.remove_prefix(3);
    }
  } while (line.find_first_not_of(blanks) == std::string_view::npos);
  begin_ = line_;
  if (!json) return read_record(line);
  std::string what;
  if (!line_fields_.json(line, what)) return refuse_line(line_, ", " + what);
  if (names_.empty()) return true;
  if (line_fields_.object() != named_) {
    return refuse_line(line_, named_ ? ": an array where the first line is an object"
                                     : ": an object where the first line is an array");
  }
  if (line_fields_.names_changed()) place_fields();
  return true;
}

bool TextSource::next_line(std::string_view& line) {
  if (held_.empty()) return bytes_->raw_line(line);
  current_ = std::move(held_.front());
  held_.pop_front();
  line = current_;
  return true;
}

// By the whole first record, of which `line` is the first line.
void TextSource::guess_delimiter(std::string_view& line) {
  DelimiterGuess guess;
  if (guess.add(line)) {
    std::string_view more;
    std::size_t size = line.size();
    current_ = line;
    line = current_;
    while (size <= kLongestRecord && bytes_->raw_line(more)) {
      size += more.size() + 1;
      held_.emplace_back(more);
      if (!guess.add(more)) break;
    }
  }
  delimiter_ = guess.best();
}

bool TextSource::read_record(std::string_view line) {
  using Split = LineSplitter::Split;
  if (names_.empty() && options_.format == Format::kCsv) guess_delimiter(line);
  std::string what;
  Split split = line_fields_.delimited(line, delimiter_, what);
  for (std::size_t size = 0; split == Split::kOpen;) {
    size += line.size() + 1;
    const bool more = size <= kLongestRecord && next_line(line);
    if (more) {
      ++line_;
      split = line_fields_.more(line, what);
      continue;
    }
    error_ = bytes_->error();
    // A stop in the middle of a record: the rest of it may still be on its way.
    if (!error_.empty() || (stop_requested && size <= kLongestRecord)) return false;
    what = "column " + std::to_string(line_fields_.fields().size() + 1) +
           ": the quote that begins here is not closed " +
           (size <= kLongestRecord ? "before the end of the input" : "within 1 MiB");
    split = Split::kError;
  }
  if (split == Split::kDone) return true;
  return refuse_line(begin_ + line_fields_.offset(line_fields_.fields().size()), ", " + what);
}

// Where the names of the columns are on this line.
void TextSource::place_fields() {
  const std::vector<Field>& fields = line_fields_.fields();
  places_.assign(names_.size(), kNowhere);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto column = columns_by_name_.find(fields[i].name);
    if (column != columns_by_name_.end()) places_[column->second] = i;
  }
}

bool TextSource::open(std::unique_ptr<ByteStream> bytes, const SourceOptions& options,
                      std::string& error) {
  bytes_ = std::move(bytes);
  options_ = options;
  if (options.format == Format::kTsv) delimiter_ = '\t';
  if (!read_fields()) {
    error = error_.empty() ? bytes_->name() + ": no rows" : error_;
    return false;
  }
  const std::vector<Field>& fields = line_fields_.fields();
  named_ = options.format == Format::kJsonl && line_fields_.object();
  // Names of columns are no numbers; a row has at least one.
  const bool header = options.format != Format::kJsonl &&
                      std::none_of(fields.begin(), fields.end(), [](const Field& field) {
                        return parse_number(field.text).has_value();
                      });
  for (std::size_t i = 0; i < fields.size(); ++i) {
    names_.emplace_back(named_   ? std::string(fields[i].name)
                        : header ? std::string(fields[i].text)
                                 : std::to_string(i + 1));
  }
  if (named_) {
    for (std::size_t i = 0; i < names_.size(); ++i) columns_by_name_.emplace(names_[i], i);
    place_fields();
  }
  fresh_ = !header;
  return choose_columns(error);
}

bool TextSource::find_column(const std::string& name, std::size_t& column,
                             std::string& error) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
  if (at != names_.end() && std::find(at + 1, names_.end(), name) != names_.end()) {
    error = bytes_->name() + ": several columns are named '" + name + "'; give the column's number";
    return false;
  }
  if (at != names_.end()) {
    column = static_cast<std::size_t>(at - names_.begin());
    return true;
  }
  const std::optional<double> number = parse_number(name);
  if (number && *number >= 1.0 && *number <= static_cast<double>(names_.size()) &&
      *number == std::floor(*number)) {
    column = static_cast<std::size_t>(*number) - 1;
    return true;
  }
  error = bytes_->name() + ": no column '" + name + "'; there are:";
  for (std::size_t i = 0; i < names_.size() && i < 20; ++i) error += " " + names_[i];
  if (names_.size() > 20) error += " ...";
  return false;
}

bool TextSource::choose_columns(std::string& error) {
  time_ = label_ = names_.size();
  if (!options_.time_column.empty() && !find_column(options_.time_column, time_, error))
    return false;
  if (!options_.labels.empty() && !find_column(options_.labels, label_, error)) {
    return false;
  }
  for (const std::string& name : options_.columns) {
    std::size_t column = 0;
    if (!find_column(name, column, error)) return false;
    inputs_.push_back(column);
  }
  if (options_.columns.empty()) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i != time_ && i != label_) inputs_.push_back(i);
    }
  }
  if (inputs_.empty()) {
    error = bytes_->name() + ": no column is left for the rows";
    return false;
  }
  shape_.inputs = static_cast<int>(inputs_.size());
  last_.resize(inputs_.size());
  return true;
}

std::string_view TextSource::text_of(std::size_t column) const {
  const std::vector<Field>& fields = line_fields_.fields();
  const std::size_t place = named_ ? places_[column] : column;
  return place < fields.size() ? fields[place].text : std::string_view();
}

std::vector<std::string> TextSource::names() const {
  std::vector<std::string> names;
  for (const std::size_t column : inputs_) names.push_back(names_[column]);
  return names;
}

Next TextSource::refuse(std::size_t column, const std::string& what) {
  refuse_line(begin_ + line_fields_.offset(column), ", column " + std::to_string(column + 1));
  if (names_[column] != std::to_string(column + 1)) error_ += " (" + names_[column] + ")";
  error_ += ": " + what;
  return Next::kError;
}

// Missing: no number is there, or one that says so.
TextSource::Cell TextSource::read_number(std::size_t column, float& value) {
  const std::string_view text = text_of(column);
  const std::optional<double> number = parse_number(text);
  if (number && std::isfinite(*number)) {
    value = static_cast<float>(options_.divide > 0.0 ? *number / options_.divide : *number);
    if (std::isfinite(value)) return Cell::kNumber;
  } else if (is_missing(text)) {
    if (options_.missing != Missing::kRefuse) return Cell::kMissing;
    refuse(column,
           "no value; --missing skip leaves such rows out, --missing last takes the value before, "
           "a new model with --set missing_values=on fills it");
    return Cell::kError;
  }
  const std::string shown(text.substr(0, kShownText));
  refuse(column, number ? "'" + shown + "' is not a finite number of single precision"
                        : "'" + shown + "' is no number; --columns chooses others");
  return Cell::kError;
}

Next TextSource::next(Row& row) {
  for (;;) {
    if (!fresh_ && !read_fields()) return error_.empty() ? Next::kEnd : Next::kError;
    fresh_ = false;
    if (!named_ && line_fields_.fields().size() != names_.size()) {
      refuse_line(begin_, ": " + std::to_string(line_fields_.fields().size()) +
                              " columns where the first line has " + std::to_string(names_.size()));
      return Next::kError;
    }
    ++rows_;
    row.values.resize(inputs_.size());
    bool skip = false;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Cell cell = read_number(inputs_[i], row.values[i]);
      if (cell == Cell::kError) return Next::kError;
      if (cell == Cell::kNumber) continue;
      ++missing;
      if (options_.missing == Missing::kFill) {
        row.values[i] = std::numeric_limits<float>::quiet_NaN();
        continue;
      }
      skip = skip || options_.missing == Missing::kSkip || !have_last_;
      row.values[i] = last_[i];
    }
    if (skip || (options_.missing == Missing::kFill && missing == inputs_.size())) {
      ++skipped_;
      continue;
    }
    if (options_.missing == Missing::kLast) last_ = row.values;
    have_last_ = true;
    row.number = rows_;
    row.time.reset();
    if (time_ < names_.size()) {
      row.time = parse_number(text_of(time_));
      if (!row.time || !std::isfinite(*row.time)) return refuse(time_, "a time is a number");
    }
    row.label = label_ < names_.size() ? text_of(label_) : std::string_view();
    return Next::kRow;
  }
}

}  // namespace adapvae::cli

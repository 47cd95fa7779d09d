#include "cli/text_source.h"

#include <algorithm>
#include <cmath>

#include "cli/arguments.h"

namespace adapvae::cli {
namespace {

constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kShownText = 60;  // of a cell, in a message

}  // namespace

bool TextSource::read_fields() {
  std::string_view line;
  do {
    if (!bytes_->line(line)) {
      error_ = bytes_->error();
      return false;
    }
    ++line_;
    if (line_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(3);
  } while (line.find_first_not_of(" \t") == std::string_view::npos);
  if (names_.empty() && options_.format == Format::kCsv) delimiter_ = guess_delimiter(line);
  std::string what;
  const bool good = options_.format == Format::kJsonl
                        ? line_fields_.json(line, what)
                        : line_fields_.delimited(line, delimiter_, what);
  if (!good) error_ = bytes_->name() + ", line " + std::to_string(line_) + ", " + what;
  return good;
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
  named_ = !fields.empty() && !fields.front().name.empty();
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
  fresh_ = !header;
  return choose_columns(error);
}

bool TextSource::find_column(const std::string& name, std::size_t& column,
                             std::string& error) const {
  const auto at = std::find(names_.begin(), names_.end(), name);
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
  if (column < fields.size() && (!named_ || fields[column].name == names_[column])) {
    return fields[column].text;
  }
  if (!named_) return {};
  for (const Field& field : fields) {
    if (field.name == names_[column]) return field.text;
  }
  return {};
}

std::vector<std::string> TextSource::names() const {
  std::vector<std::string> names;
  for (const std::size_t column : inputs_) names.push_back(names_[column]);
  return names;
}

Next TextSource::refuse(std::size_t column, const std::string& what) {
  error_ =
      bytes_->name() + ", line " + std::to_string(line_) + ", column " + std::to_string(column + 1);
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
           "no value; --missing skip leaves such rows out, --missing last takes the value before");
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
      error_ = bytes_->name() + ", line " + std::to_string(line_) + ": " +
               std::to_string(line_fields_.fields().size()) + " columns where the first line has " +
               std::to_string(names_.size());
      return Next::kError;
    }
    ++rows_;
    row.values.resize(inputs_.size());
    bool skip = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Cell cell = read_number(inputs_[i], row.values[i]);
      if (cell == Cell::kError) return Next::kError;
      if (cell == Cell::kNumber) continue;
      skip = skip || options_.missing == Missing::kSkip || !have_last_;
      row.values[i] = last_[i];
    }
    if (skip) {
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

#include "cli/text_source.h"

#include <algorithm>
#include <cmath>

#include "cli/arguments.h"

namespace adapvae::cli {
namespace {

constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

bool TextSource::read_fields() {
  std::string line;
  do {
    if (!bytes_->line(line)) {
      error_ = bytes_->error();
      return false;
    }
    ++line_;
    if (line_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, 3);
  } while (line.find_first_not_of(" \t") == std::string::npos);
  if (line_ == 1 && options_.format == Format::kCsv) delimiter_ = guess_delimiter(line);
  fields_.clear();
  std::string what;
  const bool good = options_.format == Format::kJsonl
                        ? split_json(line, fields_, what)
                        : split_delimited(line, delimiter_, fields_, what);
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
  named_ = !fields_.empty() && !fields_.front().name.empty();
  const bool header = options.format != Format::kJsonl &&
                      std::any_of(fields_.begin(), fields_.end(), [](const Field& field) {
                        return !parse_number(field.text) && !is_missing(field.text);
                      });
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    names_.push_back(named_ ? fields_[i].name : header ? fields_[i].text : std::to_string(i + 1));
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
  if (!options_.label_column.empty() && !find_column(options_.label_column, label_, error)) {
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

const std::string* TextSource::text_of(std::size_t column) const {
  if (!named_) return column < fields_.size() ? &fields_[column].text : nullptr;
  if (column < fields_.size() && fields_[column].name == names_[column]) {
    return &fields_[column].text;
  }
  for (const Field& field : fields_) {
    if (field.name == names_[column]) return &field.text;
  }
  return nullptr;
}

Next TextSource::refuse(std::size_t column, const std::string& what) {
  error_ =
      bytes_->name() + ", line " + std::to_string(line_) + ", column " + std::to_string(column + 1);
  if (names_[column] != std::to_string(column + 1)) error_ += " (" + names_[column] + ")";
  error_ += ": " + what;
  return Next::kError;
}

Next TextSource::next(Row& row) {
  for (;;) {
    if (!fresh_ && !read_fields()) return error_.empty() ? Next::kEnd : Next::kError;
    fresh_ = false;
    if (!named_ && fields_.size() != names_.size()) {
      error_ = bytes_->name() + ", line " + std::to_string(line_) + ": " +
               std::to_string(fields_.size()) + " columns where the first line has " +
               std::to_string(names_.size());
      return Next::kError;
    }
    ++rows_;
    row.values.resize(inputs_.size());
    bool skip = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::string* text = text_of(inputs_[i]);
      if (text == nullptr || is_missing(*text)) {
        if (options_.missing == Missing::kRefuse) {
          return refuse(inputs_[i],
                        "no value; --missing skip leaves such rows out, --missing last "
                        "takes the value before");
        }
        skip = skip || options_.missing == Missing::kSkip || !have_last_;
        row.values[i] = last_[i];
        continue;
      }
      const std::optional<double> value = parse_number(*text);
      if (!value) {
        return refuse(inputs_[i], "'" + *text + "' is no number; --columns chooses others");
      }
      row.values[i] = static_cast<float>(options_.divide > 0.0 ? *value / options_.divide : *value);
      if (!std::isfinite(row.values[i])) {
        return refuse(inputs_[i], "'" + *text + "' is not a finite number of single precision");
      }
    }
    if (skip) {
      ++skipped_;
      continue;
    }
    last_ = row.values;
    have_last_ = true;
    row.number = rows_;
    row.time.reset();
    if (time_ < names_.size()) {
      const std::string* text = text_of(time_);
      const std::optional<double> time = text != nullptr ? parse_number(*text) : std::nullopt;
      if (!time || !std::isfinite(*time)) return refuse(time_, "a time is a number");
      row.time = time;
    }
    const std::string* label = label_ < names_.size() ? text_of(label_) : nullptr;
    row.label = label != nullptr ? *label : "";
    return Next::kRow;
  }
}

}  // namespace adapvae::cli

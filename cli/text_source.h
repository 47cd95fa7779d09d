// Rows of CSV, TSV and JSON lines.
#pragma once

#include <deque>
#include <unordered_map>

#include "cli/byte_stream.h"
#include "cli/row_source.h"
#include "cli/text_rows.h"

namespace adapvae::cli {

class TextSource : public RowSource {
 public:
  // Reads up to the first row, which says how many columns there are.
  bool open(std::unique_ptr<ByteStream> bytes, const SourceOptions& options, std::string& error);

  const RowShape& shape() const override { return shape_; }
  Next next(Row& row) override;
  void refuse_missing() override {
    if (options_.missing == Missing::kFill) options_.missing = Missing::kRefuse;
  }
  std::int64_t skipped() const override { return skipped_; }
  double fraction() const override { return bytes_->fraction(); }
  std::vector<std::string> names() const override;

 private:
  enum class Cell { kNumber, kMissing, kError };

  bool read_fields();  // of the next record that is not empty; false: end, or error_
  bool read_record(std::string_view line);
  bool next_line(std::string_view& line);
  void guess_delimiter(std::string_view& line);
  bool refuse_line(std::int64_t line, const std::string& what);  // false
  void place_fields();
  bool choose_columns(std::string& error);
  bool find_column(const std::string& name, std::size_t& column, std::string& error) const;
  // The text of a column in the fields that were read; empty: the line has none.
  std::string_view text_of(std::size_t column) const;
  Cell read_number(std::size_t column, float& value);
  Next refuse(std::size_t column, const std::string& what);

  std::unique_ptr<ByteStream> bytes_;
  SourceOptions options_;
  RowShape shape_;
  char delimiter_ = ',';
  bool named_ = false;               // JSON objects
  std::vector<std::string> names_;   // of columns, or their numbers
  std::vector<std::size_t> inputs_;  // columns of the row's numbers
  std::size_t time_ = 0;             // column; names_.size(): none
  std::size_t label_ = 0;            // likewise
  std::unordered_map<std::string_view, std::size_t> columns_by_name_;  // JSON objects
  std::vector<std::size_t> places_;  // JSON objects: where the line has a column; or kNowhere
  LineSplitter line_fields_;
  std::string current_;           // the last line of those held
  std::deque<std::string> held_;  // lines of the first record that were read to guess
  bool fresh_ = false;            // they hold a row that was not given yet
  std::vector<float> last_;
  bool have_last_ = false;
  std::int64_t line_ = 0;   // lines that were read
  std::int64_t begin_ = 0;  // the line in which the record begins, from 1
  std::int64_t rows_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace adapvae::cli

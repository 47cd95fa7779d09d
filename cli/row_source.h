// Where rows come from: text (CSV, TSV, JSON lines), IDX and NumPy files, one row after the other.
// Text is read as it comes, in bounded memory, from a pipe as well as from a file.
//
// An error names file, line and column and says what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace adapvae::cli {

enum class Format { kSniff, kCsv, kTsv, kJsonl, kIdx, kNpy };
enum class Missing {
  kRefuse,  // an error
  kSkip,    // the row is left out
  kLast,    // the column's last value; before the first there is none: the row is left out
};

struct SourceOptions {
  Format format = Format::kSniff;
  Missing missing = Missing::kRefuse;
  std::vector<std::string> columns;  // names or numbers from 1; empty: all but those below
  std::string time_column;           // empty: none
  std::string label_column;          // for scoring alone
  double divide = 0.0;               // numbers are divided by this; 0: bytes by 255, others by 1
};

struct Row {
  std::vector<float> values;
  std::int64_t number = 0;  // from 1, of the rows that were read
  std::optional<double> time;
  std::string label;
};

// What is known of rows before the first is read.
struct RowShape {
  int inputs = 0;
  int image_width = 0;  // 0: not images
  int image_height = 0;
  bool unit = false;  // numbers in [0, 1]
};

enum class Next { kRow, kEnd, kError };

class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;

  virtual const RowShape& shape() const = 0;
  // The next row, of shape().inputs numbers. After kError: error().
  virtual Next next(Row& row) = 0;
  // Rows that the policy on missing values left out.
  virtual std::int64_t skipped() const { return 0; }
  const std::string& error() const { return error_; }

 protected:
  std::string error_;
};

// path "-": standard input. Null: `error` says why.
std::unique_ptr<RowSource> open_rows(const std::string& path, const SourceOptions& options,
                                     std::string& error);

}  // namespace adapvae::cli

// Where rows come from: text (CSV, TSV, JSON lines), IDX and NumPy files, images, one row after the
// other. Text is read as it comes, in bounded memory, from a pipe as well as from a file.
//
// An error names file, line and column and says what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace adapvae::cli {

enum class Format { kSniff, kCsv, kTsv, kJsonl, kIdx, kNpy, kImage };
enum class Missing {
  kFill,    // NaN, which the model fills; a row without any value is left out
  kRefuse,  // an error
  kSkip,    // the row is left out
  kLast,    // the column's last value; before the first there is none: the row is left out
};

struct SourceOptions {
  Format format = Format::kSniff;
  Missing missing = Missing::kFill;
  std::vector<std::string> columns;  // names or numbers from 1; empty: all but those below
  std::string time_column;           // empty: none
  std::string labels;                // for scoring alone: a column of text; else a file
  double divide = 0.0;               // numbers are divided by this; 0: bytes by 255, others by 1
  int tile_width = 0;                // images are sheets of tiles of this size; 0: they are not
  int tile_height = 0;
  int image_width = 0;  // images (or tiles) are made this large; 0: as they are
  int image_height = 0;
};

struct Row {
  std::vector<float> values;
  std::int64_t number = 0;  // from 1, of the rows that were read
  std::optional<double> time;
  std::string label;
  std::string file;  // of an image
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
  // Some of the first rows, one after the other, before any was given; next() gives them all the
  // same. Empty if rows come from a pipe: nobody should wait for them.
  virtual std::vector<float> first_rows() { return {}; }
  // The model does not take rows with missing values: kFill becomes kRefuse.
  virtual void refuse_missing() {}
  // Rows that the policy on missing values left out.
  virtual std::int64_t skipped() const { return 0; }
  // Part of the source that is read, 0 to 1; below 0: not known.
  virtual double fraction() const { return -1.0; }
  // Names of the inputs; empty: they have none.
  virtual std::vector<std::string> names() const { return {}; }
  const std::string& error() const { return error_; }

 protected:
  std::string error_;
};

// The rows of all these, one after the other; "-" is standard input, a folder all images in it by
// name. Null: `error` says why.
std::unique_ptr<RowSource> open_rows(const std::vector<std::string>& paths,
                                     const SourceOptions& options, std::string& error);

}  // namespace adapvae::cli

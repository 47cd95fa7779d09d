// A recorded stream, in the order in which it was recorded. Every fifth row of a state is held out
// of the stream, for probes.
#pragma once

#include <string>

#include "source.h"

namespace endurance {

class Recording : public Source {
 public:
  // A file of int32 rows, int32 inputs, then for each row an int32 state and its float32 inputs, in
  // this machine's byte order (bench/endurance.py writes them). Ends the program if it cannot.
  Recording(const std::string& path, int block_rows);

  int inputs() const { return inputs_; }
  int blocks() const;
  int states() const override { return states_; }
  std::vector<Row> block(int number) override;
  // Those that were recorded last.
  std::vector<Row> probe(int state, int number, int rows) override;

 private:
  struct HeldOut {
    Row row;
    int block = 0;  // in which it would have been
  };

  int inputs_ = 0;
  int states_ = 0;
  int block_rows_ = 0;
  std::vector<Row> rows_;
  std::vector<HeldOut> held_out_;
};

}  // namespace endurance

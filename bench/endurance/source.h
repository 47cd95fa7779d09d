// Where rows with a known truth come from: made by a family (families.h) or recorded (recording.h).
#pragma once

#include <vector>

namespace endurance {

struct Row {
  std::vector<float> x;
  int state = 0;
};

class Source {
 public:
  virtual ~Source() = default;
  // Number of states that there ever are.
  virtual int states() const = 0;
  // The rows of block `number`, which is asked for once, in order.
  virtual std::vector<Row> block(int number) = 0;
  // Up to `rows` rows of a state as it is in block `number`. They are not part of the stream.
  virtual std::vector<Row> probe(int state, int number, int rows) = 0;
};

}  // namespace endurance

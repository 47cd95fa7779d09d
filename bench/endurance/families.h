// Synthetic sensor streams with a known truth, in physical units: columns of very different scale
// and offset.
//
// A machine has states. Each state is a point in standardised units with noise of standard
// deviation 1 around it; states lie 20 to 30 standard deviations apart. A family says how states
// follow each other, what the noise is like, and what changes with time.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "source.h"

namespace endurance {

struct Family {
  std::string name;
  int inputs = 6;
  int states = 3;
  int block = 200;
  int blocks = 500;
  double correlation = 0.0;  // lag-1 correlation of the noise
  int least_dwell = 1;       // rows that a state lasts, at least and at most
  int most_dwell = 1;
  double rarest = 1.0;       // weight of the last state; the others have weight 1
  bool heavy_tails = false;  // Student's t with 3 degrees of freedom
  double drift = 0.0;        // standard deviations that all states move over the run
  double season = 0.0;       // amplitude of a sine with a period of 50 blocks, common to all states
  double growth = 1.0;       // the last column's range grows by this factor over the run
  int tiny_after = 0;        // > 0: from this block on, blocks of 1 to 3 rows
  // The last state is there in blocks [from, until) only, and again from `again` on; -1: no bound.
  int from = 0;
  int until = -1;
  int again = -1;
  int burst = 0;        // > 0: the last state has this many rows, all in block `from`
  int stuck_from = -1;  // the first column is constant in blocks [stuck_from, stuck_until)
  int stuck_until = -1;
  bool standstill =
      false;  // blocks before `moving`: all columns at rest; then operation, then a fault
  int moving = 0;
  int jump_at = -1;  // at this block the first state jumps to a new place: a new state
};

std::vector<Family> families(bool small);

// The rows of a family, in order.
class Stream : public Source {
 public:
  Stream(const Family& family, std::uint64_t seed);

  // Those of a jump, a burst and a standstill included.
  int states() const override { return static_cast<int>(centre_.size()); }
  std::vector<Row> block(int number) override;
  // With independent noise.
  std::vector<Row> probe(int state, int number, int rows) override;

 private:
  bool present(int state, int number) const;
  double normal() { return normal_(random_); }
  double noise();
  void choose(int number);
  Row make(int state, int number, const std::vector<double>& noise) const;

  Family family_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::vector<std::vector<double>> centre_;
  std::vector<double> direction_;  // of drift and season
  std::vector<double> scale_;
  std::vector<double> offset_;
  std::vector<double> state_noise_;
  int state_ = 0;
  int left_ = 0;
};

}  // namespace endurance

// Whether a block brings anything new: a test of its rows as they came, before anything is learnt
// from them.
//
// Rows that are like those of the blocks before have p-values (the fraction of counted rows that
// surprised as much) that are spread evenly over [0, 1]. Two bets are made against that, row by
// row. One wins if many rows are a little odd, the other if a few rows are very odd. By Ville's
// inequality the product of a bet's gains rarely exceeds e⁷ by chance. Rows that resemble the row
// before them count less, unless they lie farther out than such a process can wander.
//
// The network also keeps learning while it has seen few rows of a cluster, and while that pays off:
// while the training on one block lowers the reconstruction errors of the next.
#pragma once

#include "mixture/novelty.h"

namespace adapvae {

class BlockTest {
 public:
  // effective_rows: how many independent rows the block is worth, at most `rows`.
  BlockTest(double effective_rows, Index rows) : effective_rows_(effective_rows), rows_(rows) {}

  // surprise [rows], in standard deviations, against those that were counted.
  void compare(const NoveltyScale& scale, const float* surprise);
  // The mean error of so many of the block's rows, in standard deviations from what it was in the
  // block before, on which the network was trained; and the variance of that.
  void compare_errors(double deviations, double rows, double variance_before);

  // The number of rows whose clusters the network has hardly been trained on.
  void note_unlearnt(Index rows) { unlearnt_ = rows; }

  bool explained() const {
    return !(evidence_ > kEvidence) && !improving_ && unlearnt_ < kUnlearntRows;
  }
  double evidence() const { return evidence_; }  // log of the bets' product
  bool improving() const { return improving_; }

 private:
  static constexpr double kEvidence = 7.0;  // e⁷ ≈ 1,100: one block in a thousand by chance
  static constexpr Index kUnlearntRows = 20;

  static double p_value(const NoveltyScale& scale, double surprise);
  static double log_bet_on_many(double p);
  static double log_bet_on_few(double p);

  double effective_rows_;
  Index rows_;
  double evidence_ = 0.0;
  bool improving_ = false;
  Index unlearnt_ = 0;
};

}  // namespace adapvae

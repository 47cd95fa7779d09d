#include "model/block_test.h"

#include <algorithm>
#include <cmath>

namespace adapvae {

double BlockTest::p_value(const NoveltyScale& scale, double surprise) {
  if (!(scale.rows() > 0.0)) return 1.0;
  return std::max(scale.fraction_above(surprise), 0.5 / (scale.rows() + 1.0));
}

// ½ p^(-½), whose mean over [0, 1] is 1.
double BlockTest::log_bet_on_many(double p) { return -std::log(2.0) - 0.5 * std::log(p); }

// A twentieth of the stake on a tenth of p^(-0.9), likewise.
double BlockTest::log_bet_on_few(double p) {
  constexpr double kStake = 0.05;
  constexpr double kPower = 0.1;
  return std::log(1.0 - kStake + kStake * kPower * std::exp((kPower - 1.0) * std::log(p)));
}

void BlockTest::compare(const NoveltyScale& scale, const float* surprise) {
  constexpr double kRare = 0.999;
  constexpr double kFar = 2.0;
  const double far = scale.rows() > 0.0 ? kFar * std::max(scale.quantile(kRare), 1.0) : 0.0;
  const double evidence_of_row = effective_rows_ / static_cast<double>(rows_);
  double many = 0.0;
  double few = 0.0;
  for (Index i = 0; i < rows_; ++i) {
    const double p = p_value(scale, surprise[i]);
    const double evidence = static_cast<double>(surprise[i]) > far ? 1.0 : evidence_of_row;
    many += evidence * log_bet_on_many(p);
    few += evidence * log_bet_on_few(p);
  }
  evidence_ = std::max(many, few);
}

void BlockTest::compare_errors(double deviations, double rows, double variance_before) {
  constexpr double kSignificant = 2.0;
  const double independent = effective_rows_ / static_cast<double>(rows_);
  const double variance = 1.0 / std::max(independent * rows, 1.0) + variance_before / independent;
  improving_ = deviations < -kSignificant * std::sqrt(variance);
}

}  // namespace adapvae

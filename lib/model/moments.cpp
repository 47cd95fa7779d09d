#include "model/moments.h"

#include <algorithm>
#include <cmath>

#include "base/bounds.h"

namespace adapvae {
namespace {

constexpr double kFarthestDeviation = 1e6;
// A number farther out than this moves the mean as if it were there.
constexpr double kFarOut = 4.0;
// Rows that the estimate for all clusters counts as in that for one. Means of clusters differ by
// much, variances by little.
constexpr double kPriorRowsOfMean = 1.0;
constexpr double kPriorRowsOfVariance = 20.0;
// Numbers of rows are far smaller; squares of this are still within kLargestNumber.
constexpr double kLargestMean = 1e40;

}  // namespace

void Moments::add(double value, double most) {
  constexpr double kEnoughRows = 20.0;
  if (rows >= kEnoughRows) {
    const double reach = kFarOut * deviation();
    value = std::clamp(value, mean - reach, mean + reach);
  }
  rows = std::min(rows + 1.0, std::max(most, 1.0));
  const double step = value - mean;
  mean += step / rows;
  variance = std::max(variance + (step * (value - mean) - variance) / rows, 0.0);
}

void Moments::fade(double factor) {
  constexpr double kNothing = 1e-3;
  rows *= factor;
  if (rows < kNothing) *this = {};
}

void Moments::add(const Moments& other) {
  if (!(other.rows > 0.0)) return;
  const double part = other.rows / (rows + other.rows);
  const double step = other.mean - mean;
  variance += part * (other.variance - variance) + part * (1.0 - part) * step * step;
  mean += part * step;
  rows += other.rows;
}

Moments Moments::shrunk_to(const Moments& prior) const {
  const double own_mean = rows / (rows + kPriorRowsOfMean);
  const double own_variance = rows / (rows + kPriorRowsOfVariance);
  return {.rows = rows,
          .mean = prior.mean + own_mean * (mean - prior.mean),
          .variance = prior.variance + own_variance * (variance - prior.variance)};
}

double Moments::deviation() const {
  constexpr double kLeast = 1e-3;
  return std::max(std::sqrt(variance), kLeast * (1.0 + std::fabs(mean)));
}

double Moments::deviations(double value) const {
  return std::clamp((value - mean) / deviation(), -kFarthestDeviation, kFarthestDeviation);
}

void Moments::write(ByteWriter& writer) const {
  for (const double value : {rows, mean, variance}) writer.write_f64(value);
}

bool Moments::read(ByteReader& reader) {
  rows = reader.read_f64();
  mean = reader.read_f64();
  variance = reader.read_f64();
  return rows >= 0.0 && variance >= 0.0 && within(rows, static_cast<double>(kMostRows)) &&
         within(mean, kLargestMean) && within(variance, kLargestMean * kLargestMean);
}

}  // namespace adapvae

#include "structure/density_dip.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/special_functions.h"

namespace adapvae {
namespace {

constexpr int kCells = 128;
constexpr int kPoints = 64;
constexpr double kKernelReach = 3.0;  // of a kernel, in bandwidths
constexpr double kDeepest = 50.0;
// Beyond so many times the sum of their standard deviations nothing lies between components.
constexpr double kFarApart = 8.0;

struct Extent {
  double count = 0.0;
  double mean = 0.0;
  double sigma = 0.0;  // standard deviation
};

Extent extent_of(std::span<const float> positions) {
  Extent extent;
  extent.count = static_cast<double>(positions.size());
  for (const float t : positions) extent.mean += static_cast<double>(t) / extent.count;
  for (const float t : positions) {
    const double d = static_cast<double>(t) - extent.mean;
    extent.sigma += d * d / extent.count;
  }
  extent.sigma = std::sqrt(extent.sigma);
  return extent;
}

// Follows a density from the first mean to the second.
class DensityPath {
 public:
  void pass(double density) {
    peak_ = std::max(peak_, density);
    second_peak_ = std::max(second_peak_, density);
    if (density < least_) {
      least_ = density;
      first_peak_ = peak_;
      second_peak_ = density;
    }
  }
  double from_first() const { return fall(first_peak_); }
  double from_second() const { return fall(second_peak_); }
  double lower_peak() const { return std::min(first_peak_, second_peak_); }

 private:
  double fall(double peak) const {
    const double floor = std::exp(-kDeepest) * std::max(first_peak_, second_peak_);
    return std::log(std::max(peak, floor) / std::max(least_, floor));
  }
  double least_ = 1e300;
  double peak_ = 0.0;
  double first_peak_ = 0.0;   // before the least density
  double second_peak_ = 0.0;  // behind it
};

}  // namespace

bool DensityDip::certainly_exceeds(double least) const {
  constexpr double kSigmas = 3.0;
  const double expected = peak_rows * std::exp(-least);
  const double found = peak_rows * std::exp(-std::min(from_first, from_second));
  return expected - found > kSigmas * std::sqrt(expected);
}

DensityDip density_dip(std::span<const float> first, std::span<const float> second) {
  const Extent a = extent_of(first);
  const Extent b = extent_of(second);
  const double length = b.mean - a.mean;
  const double fewer = std::min(a.count, b.count);
  if (!(length > 0.0)) return {};
  if (length > kFarApart * (a.sigma + b.sigma)) {
    return {kDeepest, kDeepest, kDeepest, fewer};
  }
  // Silverman's rule for the component with fewer rows, but no narrower than a cell.
  const double bandwidth =
      std::max(1.06 * std::min(a.sigma, b.sigma) * power(fewer, -0.2), length / kCells);

  const double begin = a.mean - kKernelReach * bandwidth;
  const double cell = (length + 2.0 * kKernelReach * bandwidth) / kCells;
  std::array<float, kCells> cells = {};
  for (const std::span<const float> rows : {first, second}) {
    for (const float t : rows) {
      const double place = (static_cast<double>(t) - begin) / cell;
      if (place >= 0.0 && place < kCells) cells[static_cast<std::size_t>(place)] += 1.0F;
    }
  }
  DensityPath path;
  DensityPath gaussians;
  const auto widened = [bandwidth](double sigma) {
    return std::sqrt(sigma * sigma + bandwidth * bandwidth);
  };
  const double wide[] = {widened(a.sigma), widened(b.sigma)};
  const auto gaussian = [](double x, double sigma) {
    return std::exp(-0.5 * (x / sigma) * (x / sigma)) / sigma;
  };
  const int reach = static_cast<int>(kKernelReach * bandwidth / cell) + 1;
  for (int point = 0; point < kPoints; ++point) {
    const double t = a.mean + length * point / (kPoints - 1);
    const int at = static_cast<int>((t - begin) / cell);
    double sum = 0.0;
    for (int i = std::max(at - reach, 0); i <= std::min(at + reach, kCells - 1); ++i) {
      if (cells[static_cast<std::size_t>(i)] == 0.0F) continue;
      sum += static_cast<double>(cells[static_cast<std::size_t>(i)]) *
             gaussian(begin + (i + 0.5) * cell - t, bandwidth);
    }
    path.pass(sum);
    gaussians.pass(a.count * gaussian(t - a.mean, wide[0]) +
                   b.count * gaussian(t - b.mean, wide[1]));
  }
  return {path.from_first(), path.from_second(),
          std::min(gaussians.from_first(), gaussians.from_second()),
          std::sqrt(2.0) * bandwidth * path.lower_peak()};
}

}  // namespace adapvae

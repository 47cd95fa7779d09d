#include "cli/report/latent_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace adapvae::cli {
namespace {

using Matrix = std::vector<double>;  // [m × m]

// The lower triangle L of a = L Lᵀ, with a little added to the diagonal where it is needed.
Matrix cholesky(const Matrix& a, std::size_t m) {
  Matrix l(m * m, 0.0);
  double largest = 0.0;
  for (std::size_t i = 0; i < m; ++i) largest = std::max(largest, a[i * m + i]);
  const double least = std::max(1e-9 * largest, 1e-12);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * m + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * m + k] * l[j * m + k];
      l[i * m + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / l[j * m + j];
    }
  }
  return l;
}

// x with L x = b.
void solve_lower(const Matrix& l, std::size_t m, double* b) {
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i * m + k] * b[k];
    b[i] /= l[i * m + i];
  }
}

// x with Lᵀ x = b.
void solve_upper(const Matrix& l, std::size_t m, double* b) {
  for (std::size_t i = m; i-- > 0;) {
    for (std::size_t k = i + 1; k < m; ++k) b[i] -= l[k * m + i] * b[k];
    b[i] /= l[i * m + i];
  }
}

// Turns the symmetric `a` to its diagonal; the columns of the result are eigenvectors.
Matrix jacobi(Matrix& a, std::size_t m) {
  Matrix v(m * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) v[i * m + i] = 1.0;
  constexpr int kSweeps = 30;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t p = 0; p < m; ++p) {
      for (std::size_t q = p + 1; q < m; ++q) {
        if (std::abs(a[p * m + q]) < 1e-14 * (std::abs(a[p * m + p]) + std::abs(a[q * m + q]))) {
          continue;
        }
        const double theta = (a[q * m + q] - a[p * m + p]) / (2.0 * a[p * m + q]);
        const double t =
            (theta >= 0.0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0);
        const double s = t * c;
        for (std::size_t k = 0; k < m; ++k) {
          const double kp = a[k * m + p], kq = a[k * m + q];
          a[k * m + p] = c * kp - s * kq;
          a[k * m + q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < m; ++k) {
          const double pk = a[p * m + k], qk = a[q * m + k];
          a[p * m + k] = c * pk - s * qk;
          a[q * m + k] = s * pk + c * qk;
          const double vp = v[k * m + p], vq = v[k * m + q];
          v[k * m + p] = c * vp - s * vq;
          v[k * m + q] = s * vp + c * vq;
        }
      }
    }
  }
  return v;
}

// A file may have a thousand features. Up to these all eigenvectors are found, beyond only two.
constexpr std::size_t kManyFeatures = 64;

// The direction in which the symmetric `a` is strongest, square to `first` unless that is empty.
std::vector<double> strongest(const Matrix& a, std::size_t m, const std::vector<double>& first) {
  constexpr int kRounds = 200;
  std::vector<double> axis(m);
  std::vector<double> next(m);
  for (std::size_t i = 0; i < m; ++i) next[i] = std::sin(1.0 + static_cast<double>(i));
  for (int round = 0; round < kRounds; ++round) {
    if (!first.empty()) {
      const double along = std::inner_product(next.begin(), next.end(), first.begin(), 0.0);
      for (std::size_t i = 0; i < m; ++i) next[i] -= along * first[i];
    }
    const double size = std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
    if (!(size > 1e-12)) break;
    for (std::size_t i = 0; i < m; ++i) axis[i] = next[i] / size;
    for (std::size_t i = 0; i < m; ++i) {
      const auto row = a.begin() + static_cast<std::ptrdiff_t>(i * m);
      next[i] = std::inner_product(axis.begin(), axis.end(), row, 0.0);
    }
  }
  return axis;
}

// The two strongest eigenvectors of `a`, which is spoilt; the second is 0 if m is 1.
void strongest_two(Matrix& a, std::size_t m, std::vector<double> axes[2]) {
  if (m > kManyFeatures) {
    axes[0] = strongest(a, m, {});
    axes[1] = strongest(a, m, axes[0]);
    return;
  }
  const Matrix vectors = jacobi(a, m);
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t p, std::size_t q) { return a[p * m + p] > a[q * m + q]; });
  for (std::size_t k = 0; k < 2; ++k) {
    axes[k].assign(m, 0.0);
    for (std::size_t i = 0; i < m && k < m; ++i) axes[k][i] = vectors[i * m + order[k]];
  }
}

}  // namespace

LatentMap::LatentMap(const std::vector<FeatureMoments>& clusters) : m_(clusters[0].mean.size()) {
  const std::size_t m = m_;
  Matrix within(m * m, 0.0);
  std::vector<double> mean(m, 0.0);
  double total = 0.0;
  for (const FeatureMoments& c : clusters) total += c.weight;
  for (const FeatureMoments& c : clusters) {
    const double part = total > 0.0 ? c.weight / total : 1.0 / static_cast<double>(clusters.size());
    for (std::size_t i = 0; i < m * m; ++i) within[i] += part * c.covariance[i];
    for (std::size_t i = 0; i < m; ++i) mean[i] += part * c.mean[i];
  }
  const Matrix l = cholesky(within, m);
  // Means, in units of the clusters' own width. All count alike: a rare kind is to be seen, too.
  Matrix between(m * m, 0.0);
  std::vector<double> d(m);
  for (const FeatureMoments& c : clusters) {
    for (std::size_t i = 0; i < m; ++i) d[i] = c.mean[i] - mean[i];
    solve_lower(l, m, d.data());
    for (std::size_t i = 0; i < m * m; ++i) between[i] += d[i / m] * d[i % m];
  }
  strongest_two(between, m, axis_);
  for (std::vector<double>& axis : axis_) solve_upper(l, m, axis.data());
}

void LatentMap::place(const double* features, double& x, double& y) const {
  x = std::inner_product(axis_[0].begin(), axis_[0].end(), features, 0.0);
  y = std::inner_product(axis_[1].begin(), axis_[1].end(), features, 0.0);
}

void LatentMap::spread(const std::vector<double>& covariance, double out[3]) const {
  const std::size_t pair[3][2] = {{0, 0}, {0, 1}, {1, 1}};
  for (std::size_t k = 0; k < 3; ++k) {
    out[k] = 0.0;
    for (std::size_t i = 0; i < m_ * m_; ++i) {
      out[k] += axis_[pair[k][0]][i / m_] * covariance[i] * axis_[pair[k][1]][i % m_];
    }
  }
}

}  // namespace adapvae::cli

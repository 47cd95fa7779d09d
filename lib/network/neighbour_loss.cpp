#include "network/neighbour_loss.h"

#include <cmath>

namespace adapvae {
namespace {

constexpr float kNear = 1e-3F;  // keeps the push of two rows at one place finite
constexpr float kPush = 2.0F;

float squared_difference(const float* a, const float* b, Index m) {
  float sum = 0.0F;
  for (Index j = 0; j < m; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

}  // namespace

double neighbour_loss(ConstMatrixView mean, float weight, MatrixView gradient) {
  const Index pairs = mean.rows / 2;
  const Index m = mean.cols;
  if (pairs == 0) return 0.0;
  const float pull = 1.0F / static_cast<float>(pairs);
  const float push = pairs > 1 ? kPush * pull / static_cast<float>(pairs - 1) : 0.0F;
  double loss = 0.0;
  for (Index i = 0; i < pairs; ++i) {
    const float* a = mean.row(i);
    double pushed = 0.0;
    for (Index l = 0; l < pairs; ++l) {
      const float* b = mean.row(pairs + l);
      const float d = squared_difference(a, b, m);
      // With respect to d: pull / (1 + d), or push (1 / (1 + d) - 1 / (near + d)).
      float slope = 0.0F;
      if (l == i) {
        loss += pull * std::log1p(static_cast<double>(d));
        slope = pull / (1.0F + d);
      } else {
        pushed -= std::log((d + kNear) / (1.0F + d));
        slope = push * (1.0F / (1.0F + d) - 1.0F / (kNear + d));
      }
      if (gradient.data == nullptr) continue;
      float* da = gradient.row(i);
      float* db = gradient.row(pairs + l);
      for (Index j = 0; j < m; ++j) {
        const float step = 2.0F * weight * slope * (a[j] - b[j]);
        da[j] += step;
        db[j] -= step;
      }
    }
    loss += push * pushed;
  }
  return loss;
}

}  // namespace adapvae

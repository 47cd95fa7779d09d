#include "base/sampling.h"

#include <cmath>

#include "base/special_functions.h"

namespace adapvae {

namespace {

constexpr double kTwoPi = 6.283185307179586;

struct NormalPair {
  double first;
  double second;
};

// Box-Muller rather than a rejection method: each pair takes exactly one Philox block, so the
// position of a number in the sequence does not depend on the numbers before it.
NormalPair sample_normal_pair(Philox& random) {
  const double radius = std::sqrt(-2.0 * std::log(random.uniform_double()));
  const double angle = kTwoPi * random.uniform_double();
  const SinCos way = sin_cos(angle);
  return {radius * way.cosine, radius * way.sine};
}

}  // namespace

double sample_normal(Philox& random) { return sample_normal_pair(random).first; }

// An odd end takes the same path as all others, so that out[i] has the same bits whatever count is.
void fill_normal(Philox& random, float* out, Index count) {
  for (Index i = 0; i < count; i += 2) {
    const NormalPair pair = sample_normal_pair(random);
    out[i] = static_cast<float>(pair.first);
    if (i + 1 < count) out[i + 1] = static_cast<float>(pair.second);
  }
}

double sample_gamma(Philox& random, double shape) {
  // A NaN would make every comparison below false and the loop endless.
  if (!(shape > 0.0)) return NAN;

  // Below 1 the density has a pole that the method cannot follow: draw at shape + 1 and multiply
  // by uniform^(1 / shape), which gives the right law exactly.
  const bool boosted = shape < 1.0;
  const double d = (boosted ? shape + 1.0 : shape) - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double normal = sample_normal(random);
    const double t = c * normal;
    if (t <= -1.0) continue;
    const double v = (1.0 + t) * (1.0 + t) * (1.0 + t);
    const double u = random.uniform_double();
    const double square = normal * normal;
    // The first test is the cheap one that nearly always accepts. The second is exact; it is
    // 1 - v + log(v) written in t, because for a large shape v is so close to 1 that the plain
    // form loses all its digits.
    const bool accepted =
        u < 1.0 - 0.0331 * square * square ||
        std::log(u) < 0.5 * square + d * (3.0 * (std::log1p(t) - t) - t * t * (3.0 + t));
    if (!accepted) continue;
    const double gamma = d * v;
    return boosted ? gamma * std::exp(std::log(random.uniform_double()) / shape) : gamma;
  }
}

// Bailey 1994: Box-Muller with another radius. A pair with the bivariate t law has
// radius^2 = dof * (uniform^(-2 / dof) - 1), and either coordinate is Student-t. Unlike
// normal / sqrt(gamma) it takes a fixed number of words. With w = -log(uniform) / dof the radius is
// sqrt(dof * (1 - exp(-2 w))) * exp(w): expm1 keeps the digits when dof is large, and taking exp(w)
// out of the root keeps the square from overflowing when dof is small.
double sample_student_t(Philox& random, double dof) {
  const double w = -std::log(random.uniform_double()) / dof;
  const double angle = kTwoPi * random.uniform_double();
  return std::sqrt(-dof * std::expm1(-2.0 * w)) * std::exp(w) * sin_cos(angle).cosine;
}

Index sample_categorical(Philox& random, const double* weight, Index count) {
  double total = 0.0;
  for (Index i = 0; i < count; ++i) {
    if (weight[i] > 0.0) total += weight[i];
  }
  const double target = random.uniform_double() * total;

  // The same additions in the same order as above, so the last sum is exactly the total. Rounding
  // can still make target equal to it; then the last positive entry is the right one.
  double sum = 0.0;
  Index drawn = 0;
  for (Index i = 0; i < count; ++i) {
    if (!(weight[i] > 0.0)) continue;
    drawn = i;
    sum += weight[i];
    if (target < sum) break;
  }
  return drawn;
}

void fill_permutation(Philox& random, std::uint32_t* out, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) out[i] = i;
  for (std::uint32_t i = count; i > 1; --i) {
    const std::uint32_t other = random.below(i);
    const std::uint32_t last = out[i - 1];
    out[i - 1] = out[other];
    out[other] = last;
  }
}

}  // namespace adapvae

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "base/special_functions.h"

using namespace adapvae;

namespace {

constexpr int kDraws = 20000;
constexpr double kPi = 3.14159265358979323846;

// A right sampler exceeds this Kolmogorov-Smirnov distance once in a thousand times. The seeds are
// fixed, so the tests below do not flicker; the bound says how wrong a sampler has to be.
const double kDistanceBound = 1.95 / std::sqrt(static_cast<double>(kDraws));

Philox test_random(std::uint64_t seed) { return Philox(RandomKey{.seed = seed}); }

template <typename Sampler>
std::vector<double> draw(std::uint64_t seed, Sampler sampler) {
  Philox random = test_random(seed);
  std::vector<double> sample(kDraws);
  for (double& value : sample) value = sampler(random);
  return sample;
}

// Kolmogorov-Smirnov: the largest distance between the empirical and the given distribution.
template <typename Cdf>
double distance(std::vector<double> sample, Cdf cdf) {
  std::sort(sample.begin(), sample.end());
  const double n = static_cast<double>(sample.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double p = cdf(sample[i]);
    if (!(p >= 0.0 && p <= 1.0)) return 1.0;
    largest =
        std::max({largest, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return largest;
}

struct Moments {
  double mean = 0.0;
  double variance = 0.0;
};

Moments moments(const std::vector<double>& sample) {
  Moments result;
  const double n = static_cast<double>(sample.size());
  for (const double value : sample) result.mean += value / n;
  for (const double value : sample) {
    result.variance += (value - result.mean) * (value - result.mean) / n;
  }
  return result;
}

// Mean and variance within four standard errors of what they should be.
void check_moments(const std::vector<double>& sample, double mean, double variance,
                   double excess_kurtosis) {
  const Moments found = moments(sample);
  const double n = static_cast<double>(sample.size());
  CHECK(std::fabs(found.mean - mean) < 4.0 * std::sqrt(variance / n));
  CHECK(std::fabs(found.variance - variance) <
        4.0 * variance * std::sqrt((2.0 + excess_kurtosis) / n));
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// The regularised lower incomplete gamma function by its power series: all terms are positive.
double gamma_cdf(double shape, double x) {
  if (x <= 0.0) return 0.0;
  double term = 1.0;
  double sum = 1.0;
  for (double k = 1.0; term > 1e-12 * sum; k += 1.0) {
    term *= x / (shape + k);
    sum += term;
  }
  return std::min(1.0, sum * std::exp(shape * std::log(x) - x - log_gamma(shape + 1.0)));
}

// The continued fraction of the incomplete beta function (modified Lentz), for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  double c = 1.0;
  double d = 1.0 / (1.0 - (a + b) * x / (a + 1.0));
  double result = d;
  for (double m = 1.0; m < 500.0; m += 1.0) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / (1.0 + even * d);
    c = 1.0 + even / c;
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / (1.0 + odd * d);
    c = 1.0 + odd / c;
    result *= d * c;
    if (std::fabs(d * c - 1.0) < 1e-12) break;
  }
  return result;
}

double student_t_cdf(double dof, double t) {
  const double a = 0.5 * dof;
  const double b = 0.5;
  const double ratio = t * t / dof;
  const double x = 1.0 / (1.0 + ratio);
  const double y = std::isinf(ratio) ? 1.0 : ratio / (1.0 + ratio);
  double tails = 0.0;  // the probability of |T| > |t|
  if (x > 0.0) {
    const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) +
                                  (y > 0.0 ? b * std::log(y) : -INFINITY));
    tails = x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                          : 1.0 - front * beta_fraction(b, a, y) / b;
  }
  return t > 0.0 ? 1.0 - 0.5 * tails : 0.5 * tails;
}

}  // namespace

TEST_CASE("the reference distributions agree with closed forms") {
  for (const double x : {0.01, 0.5, 1.0, 3.0, 12.0}) {
    CHECK(gamma_cdf(1.0, x) == doctest::Approx(1.0 - std::exp(-x)).epsilon(1e-9));
    CHECK(gamma_cdf(0.5, x) == doctest::Approx(std::erf(std::sqrt(x))).epsilon(1e-9));
    CHECK(gamma_cdf(2.0, x) == doctest::Approx(1.0 - (1.0 + x) * std::exp(-x)).epsilon(1e-9));
  }
  for (const double t : {-50.0, -3.0, -0.2, 0.1, 1.0, 7.0, 1e5}) {
    CHECK(student_t_cdf(1.0, t) == doctest::Approx(0.5 + std::atan(t) / kPi).epsilon(1e-9));
    CHECK(student_t_cdf(2.0, t) ==
          doctest::Approx(0.5 + t / (2.0 * std::sqrt(2.0 + t * t))).epsilon(1e-9));
  }
}

TEST_CASE("fill_normal is pinned") {
  const double expected[] = {-0.41389781465270736, -0.24733359080497033, -0.8811635467900178,
                             0.13619777101788777,  -0.3837412718578143,  -1.6267232008203025,
                             0.4626542451644897,   0.5840210073494959};
  Philox random = test_random(1);
  float out[8];
  fill_normal(random, out, 8);
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i);
    CHECK(std::fabs(out[i] - expected[i]) < 1e-6);
  }
  // The single form is the first of each pair.
  Philox singles = test_random(1);
  for (int i = 0; i < 8; i += 2) CHECK(std::fabs(sample_normal(singles) - expected[i]) < 1e-12);
}

TEST_CASE("fill_normal does not depend on an even split and writes no more than asked") {
  float whole[9];
  float parts[10];
  Philox one = test_random(2);
  fill_normal(one, whole, 9);
  Philox two = test_random(2);
  parts[9] = 42.0f;
  fill_normal(two, parts, 2);
  fill_normal(two, parts + 2, 0);
  fill_normal(two, parts + 2, 7);
  for (int i = 0; i < 9; ++i) CHECK(whole[i] == parts[i]);
  CHECK(parts[9] == 42.0f);
  CHECK(one.next_u32() == two.next_u32());
  // A shorter count gives the beginning of a longer one.
  float more[10];
  Philox three = test_random(2);
  fill_normal(three, more, 10);
  for (int i = 0; i < 9; ++i) CHECK(whole[i] == more[i]);
}

TEST_CASE("samplers of fixed length take four words") {
  Philox words = test_random(3);
  for (int i = 0; i < 4; ++i) words.next_u32();
  const std::uint32_t fifth = words.next_u32();
  Philox normal = test_random(3);
  sample_normal(normal);
  CHECK(normal.next_u32() == fifth);
  Philox student = test_random(3);
  sample_student_t(student, 0.7);
  CHECK(student.next_u32() == fifth);
}

TEST_CASE("normal") {
  const std::vector<double> single = draw(11, [](Philox& r) { return sample_normal(r); });
  check_moments(single, 0.0, 1.0, 0.0);
  CHECK(distance(single, normal_cdf) < kDistanceBound);

  std::vector<float> filled(kDraws);
  Philox random = test_random(12);
  fill_normal(random, filled.data(), kDraws);
  const std::vector<double> sample(filled.begin(), filled.end());
  check_moments(sample, 0.0, 1.0, 0.0);
  CHECK(distance(sample, normal_cdf) < kDistanceBound);

  // The halves of a pair share radius and angle and are independent all the same.
  double product_sum = 0.0;
  double square_product_sum = 0.0;
  for (std::size_t i = 0; i + 1 < sample.size(); i += 2) {
    const double a = sample[i];
    const double b = sample[i + 1];
    product_sum += a * b;
    square_product_sum += (a * a - 1.0) * (b * b - 1.0);
  }
  const double pairs = kDraws / 2.0;
  CHECK(std::fabs(product_sum / pairs) < 4.0 / std::sqrt(pairs));
  CHECK(std::fabs(square_product_sum / pairs) < 4.0 * 2.0 / std::sqrt(pairs));
}

TEST_CASE("gamma of small and moderate shape") {
  for (const double shape : {0.02, 0.1, 0.5, 0.99, 1.0, 1.5, 4.0, 30.0, 1000.0}) {
    CAPTURE(shape);
    const std::vector<double> sample =
        draw(21, [shape](Philox& r) { return sample_gamma(r, shape); });
    check_moments(sample, shape, shape, 6.0 / shape);
    CHECK(distance(sample, [shape](double x) { return gamma_cdf(shape, x); }) < kDistanceBound);
  }
}

// At these shapes the law is normal far beyond what the test can see.
TEST_CASE("gamma of large shape") {
  for (const double shape : {1e9, 1e15}) {
    CAPTURE(shape);
    std::vector<double> sample = draw(22, [shape](Philox& r) { return sample_gamma(r, shape); });
    for (double& value : sample) value = (value - shape) / std::sqrt(shape);
    check_moments(sample, 0.0, 1.0, 0.0);
    CHECK(distance(sample, normal_cdf) < kDistanceBound);
  }
}

TEST_CASE("gamma at the edges") {
  Philox random = test_random(23);
  bool sane = true;
  for (int i = 0; i < 1000; ++i) {
    const double value = sample_gamma(random, 1e-3);
    sane = sane && value >= 0.0 && std::isfinite(value);
  }
  CHECK(sane);
  CHECK(sample_gamma(random, 1e-300) == 0.0);
  CHECK(sample_gamma(random, 1e300) == doctest::Approx(1e300));
  CHECK(std::isnan(sample_gamma(random, 0.0)));
  CHECK(std::isnan(sample_gamma(random, -1.0)));
  CHECK(std::isnan(sample_gamma(random, NAN)));
}

TEST_CASE("gamma and Student-t are pinned") {
  Philox random = test_random(24);
  CHECK(sample_gamma(random, 0.3) == doctest::Approx(0.0017446842528720601).epsilon(1e-9));
  CHECK(sample_gamma(random, 7.5) == doctest::Approx(6.363540970999702).epsilon(1e-9));
  CHECK(sample_student_t(random, 2.5) == doctest::Approx(-0.5556795733532129).epsilon(1e-9));
}

TEST_CASE("Student-t of small and moderate dof") {
  for (const double dof : {0.2, 0.5, 1.0, 2.0, 3.0, 10.0, 100.0}) {
    CAPTURE(dof);
    const std::vector<double> sample =
        draw(31, [dof](Philox& r) { return sample_student_t(r, dof); });
    CHECK(distance(sample, [dof](double t) { return student_t_cdf(dof, t); }) < kDistanceBound);
    if (dof > 4.0) check_moments(sample, 0.0, dof / (dof - 2.0), 6.0 / (dof - 4.0));
  }
}

TEST_CASE("Student-t of large dof is normal") {
  for (const double dof : {1e6, 1e12, 1e300}) {
    CAPTURE(dof);
    const std::vector<double> sample =
        draw(32, [dof](Philox& r) { return sample_student_t(r, dof); });
    check_moments(sample, 0.0, 1.0, 0.0);
    CHECK(distance(sample, normal_cdf) < kDistanceBound);
  }
  // With the same words it is the very same number.
  Philox student = test_random(33);
  Philox normal = test_random(33);
  for (int i = 0; i < 10; ++i) {
    CHECK(sample_student_t(student, 1e14) == doctest::Approx(sample_normal(normal)).epsilon(1e-10));
  }
}

TEST_CASE("Student-t of a very small dof stays finite") {
  Philox random = test_random(34);
  bool finite = true;
  for (int i = 0; i < 1000; ++i) finite = finite && std::isfinite(sample_student_t(random, 0.06));
  CHECK(finite);
}

// The bound of the tests above is worth something: it refuses neighbours of the right law.
TEST_CASE("the distance test tells neighbouring distributions apart") {
  const std::vector<double> gamma = draw(41, [](Philox& r) { return sample_gamma(r, 2.0); });
  CHECK(distance(gamma, [](double x) { return gamma_cdf(2.0, x); }) < kDistanceBound);
  CHECK(distance(gamma, [](double x) { return gamma_cdf(2.1, x); }) > kDistanceBound);
  CHECK(distance(gamma, [](double x) { return gamma_cdf(2.0, 1.04 * x); }) > kDistanceBound);
  const std::vector<double> student = draw(42, [](Philox& r) { return sample_student_t(r, 3.0); });
  CHECK(distance(student, [](double t) { return student_t_cdf(3.0, t); }) < kDistanceBound);
  CHECK(distance(student, [](double t) { return student_t_cdf(5.0, t); }) > kDistanceBound);
  const std::vector<double> normal = draw(43, [](Philox& r) { return sample_normal(r); });
  CHECK(distance(normal, [](double x) { return normal_cdf(x - 0.04); }) > kDistanceBound);
}

TEST_CASE("categorical follows the weights") {
  const double weight[] = {0.0, 3.0, 0.5, 0.0, 1.5, 5.0, 0.0};
  std::vector<int> count(7);
  Philox random = test_random(51);
  for (int i = 0; i < kDraws; ++i) {
    ++count[static_cast<std::size_t>(sample_categorical(random, weight, 7))];
  }
  double chi_square = 0.0;
  for (std::size_t i = 0; i < 7; ++i) {
    if (weight[i] == 0.0) {
      CHECK(count[i] == 0);
      continue;
    }
    const double expected = kDraws * weight[i] / 10.0;
    chi_square += (count[i] - expected) * (count[i] - expected) / expected;
  }
  CHECK(chi_square < 16.27);  // three degrees of freedom, once in a thousand times

  // The scale of the weights does not matter.
  double scaled[7];
  for (int i = 0; i < 7; ++i) scaled[i] = weight[i] * 0x1p-900;
  Philox first = test_random(52);
  Philox second = test_random(52);
  for (int i = 0; i < 100; ++i) {
    CHECK(sample_categorical(first, weight, 7) == sample_categorical(second, scaled, 7));
  }
}

// With the smallest positive double as the total, target is rounded up to the total half of the
// time: a sampler that relies on target < total runs off the end, into a zero weight.
TEST_CASE("categorical never draws a zero weight, even with rounding") {
  constexpr double kSmallest = 0x1p-1074;
  const double one[] = {0.0, kSmallest, 0.0, 0.0};
  const double two[] = {0.0, kSmallest, 0.0, kSmallest, 0.0};
  const double uneven[] = {0.0, 1e-300, 0.0, 1e300, 0.0, 1e-300, 0.0};
  Philox random = test_random(53);
  bool positive = true;
  for (int i = 0; i < 2000; ++i) {
    positive = positive && sample_categorical(random, one, 4) == 1;
    positive = positive && two[sample_categorical(random, two, 5)] > 0.0;
    positive = positive && uneven[sample_categorical(random, uneven, 7)] > 0.0;
  }
  CHECK(positive);
  const double single = 0.25;
  CHECK(sample_categorical(random, &single, 1) == 0);
}

TEST_CASE("permutation is pinned and a permutation") {
  Philox pinned(RandomKey{.seed = 5, .purpose = RandomPurpose::kShuffle});
  std::uint32_t out[10];
  fill_permutation(pinned, out, 10);
  const std::uint32_t expected[] = {4, 6, 9, 5, 2, 8, 0, 3, 1, 7};
  for (int i = 0; i < 10; ++i) CHECK(out[i] == expected[i]);

  Philox random = test_random(61);
  for (const std::uint32_t count : {0u, 1u, 2u, 257u}) {
    std::vector<std::uint32_t> order(count + 1, 12345u);
    fill_permutation(random, order.data(), count);
    CHECK(order[count] == 12345u);
    order.pop_back();
    std::sort(order.begin(), order.end());
    bool complete = true;
    for (std::uint32_t i = 0; i < count; ++i) complete = complete && order[i] == i;
    CHECK(complete);
  }
}

TEST_CASE("all permutations are equally likely") {
  constexpr int kPermutations = 24;
  std::vector<int> count(256);
  Philox random = test_random(62);
  for (int i = 0; i < kDraws; ++i) {
    std::uint32_t order[4];
    fill_permutation(random, order, 4);
    ++count[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]];
  }
  const double expected = static_cast<double>(kDraws) / kPermutations;
  double chi_square = 0.0;
  int seen = 0;
  for (const int value : count) {
    if (value == 0) continue;
    ++seen;
    chi_square += (value - expected) * (value - expected) / expected;
  }
  CHECK(seen == kPermutations);
  CHECK(chi_square < 49.73);  // 23 degrees of freedom, once in a thousand times
}

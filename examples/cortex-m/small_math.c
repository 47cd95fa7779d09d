/* exp() and log() without tables, in the place of the C library's, which bring 4 KB of them where
 * the FPU has doubles. Within a unit in the last place. Leave the file out, and the library's are
 * linked. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ln 2 in two parts: multiples of the first are exact. */
static const double kLog2 = 0x1.62e42feep-1;
static const double kLog2Rest = 0x1.a39ef35793c76p-33;

/* 1 / i! and 2 / (2 i + 1) */
static const double kExp[] = {1.0,
                              1.0,
                              1.0 / 2,
                              1.0 / 6,
                              1.0 / 24,
                              1.0 / 120,
                              1.0 / 720,
                              1.0 / 5040,
                              1.0 / 40320,
                              1.0 / 362880,
                              1.0 / 3628800,
                              1.0 / 39916800,
                              1.0 / 479001600,
                              1.0 / 6227020800};
static const double kLog[] = {0.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                              2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21, 2.0 / 23};

static double polynomial(const double* coefficient, int last, double x) {
  double sum = coefficient[last];
  while (last > 0) sum = sum * x + coefficient[--last];
  return sum;
}

double exp(double x) {
  if (!(x < 709.79)) return x == x ? INFINITY : x;
  if (x < -745.2) return 0.0;
  int n = (int)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
  double r = x - n * kLog2 - n * kLog2Rest;
  double sum = polynomial(kExp, 13, r);
  /* 2^n in two steps: neither overflows nor is too small. */
  int half = n / 2;
  return sum * from_bits((uint64_t)(1023 + half) << 52) *
         from_bits((uint64_t)(1023 + n - half) << 52);
}

double log(double x) {
  int n = 0;
  if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
  if (x > 1.7976931348623157e308) return x;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0; /* 2^54 */
    n = -54;
  }
  /* x = 2^n (1 + f), sqrt(1/2) <= 1 + f < sqrt(2) */
  uint64_t bits = bits_of(x);
  int over = (bits & 0xFFFFFFFFFFFFFu) >= 0x6A09E667F3BCDu;
  n += (int)(bits >> 52) - 1023 + over;
  double f = from_bits((bits & 0xFFFFFFFFFFFFFu) | (uint64_t)(1023 - over) << 52) - 1.0;
  /* log(1 + f) = f - s (f - 2 (s^2/3 + s^4/5 + ...)), s = f / (2 + f) */
  double s = f / (2.0 + f);
  return n * kLog2 + (f - (s * (f - polynomial(kLog, 11, s * s)) - n * kLog2Rest));
}

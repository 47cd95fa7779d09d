/* examples/cortex-m/small_math.c beside the PC's C library: a unit in the last place, and the ends.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define exp small_exp
#define log small_log
#include "small_math.c"
#undef exp
#undef log

static int wrong = 0;
static void near(const char* name, double x, double got, long double want) {
  if (fabsl(got - want) <= 2.3e-16L * fabsl(want)) return;
  printf("%s(%.17g): %.17g, not %.17Lg\n", name, x, got, want);
  ++wrong;
}
static void same(const char* name, double got, double want) {
  if (got == want || (got != got && want != want)) return;
  printf("%s: %g, not %g\n", name, got, want);
  ++wrong;
}

int main(void) {
  for (int i = -700000; i <= 700000; ++i) {
    double x = i * 1.0007e-3;
    near("exp", x, small_exp(x), expl(x));
    near("exp", x * 1e-3, small_exp(x * 1e-3), expl(x * 1e-3));
    double y = small_exp(x);
    near("log", y, small_log(y), logl(y));
    double z = 1.0 + i * 7e-7;
    near("log", z, small_log(z), logl(z));
  }
  same("exp(800)", small_exp(800.0), INFINITY);
  same("exp(-800)", small_exp(-800.0), 0.0);
  same("exp(-inf)", small_exp(-INFINITY), 0.0);
  same("exp(nan)", small_exp(NAN), NAN);
  same("exp(-745.1)", small_exp(-745.1), 4.9406564584124654e-324);
  same("log(0)", small_log(0.0), -INFINITY);
  same("log(-1)", small_log(-1.0), NAN);
  same("log(nan)", small_log(NAN), NAN);
  same("log(inf)", small_log(INFINITY), INFINITY);
  near("log", 4.9406564584124654e-324, small_log(4.9406564584124654e-324),
       -744.440071921381262314L);
  return wrong != 0;
}

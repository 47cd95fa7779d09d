#include <algorithm>
#include <cfloat>
#include <cmath>
#include <initializer_list>

#include <doctest/doctest.h>

#include "base/special_functions.h"

using namespace adapvae;

namespace {

struct Reference {
  double x;
  double log_gamma;
  double digamma;
};

// Printed by tests/reference/special_functions.py: mpmath at 40 digits.
constexpr Reference kReference[] = {
    {1e-300, 690.77552789821370518, -9.9999999999999997494e+299},
    {1e-100, 230.25850929940456838, -9.9999999999999998001e+99},
    {1e-20, 46.051701859880913735, -1.0000000000000000549e+20},
    {1e-08, 18.420680738180208884, -100000000.57721564636},
    {3e-08, 17.322068437967786663, -33333333.910548951866},
    {1e-07, 16.118095593236761568, -10000000.577215500861},
    {1e-06, 13.815509980749431714, -1000000.5772140200139},
    {1e-05, 11.512919692895825626, -100000.57719921567289},
    {0.0001, 9.2102826586339622105, -10000.577051183513856},
    {0.001, 6.9071788853838536617, -1000.5755719318102797},
    {0.01, 4.5994798780420217016, -100.56088545786867242},
    {0.03, 3.4899710434424119543, -33.86225442061876507},
    {0.1, 2.252712651734205902, -10.423754940411076232},
    {0.2, 1.5240638224307844662, -5.2890398965921880039},
    {0.3, 1.0957979948180755606, -3.5025242222001331249},
    {0.4, 0.79667781770178370967, -2.5613845445851159842},
    {0.4999999999999999, 0.57236494292470030507, -1.9635100260214240273},
    {0.5, 0.57236494292470008707, -1.9635100260214234794},
    {0.5000000000000001, 0.57236494292469986908, -1.9635100260214229316},
    {0.6, 0.39823385806923493383, -1.5406192138931904955},
    {0.75, 0.20328095143129537148, -1.0858608797864721696},
    {0.9, 0.066376239734742954426, -0.7549269499470513492},
    {0.99, 0.0058548067647097814532, -0.59378630405559515926},
    {0.999, 0.00057803853289138023817, -0.57886180210864542792},
    {0.999999, 5.7721648738556523794e-7, -0.57721730983680181412},
    {0.999999999, 5.7721564939922597355e-10, -0.57721566654646688213},
    {0.9999999999999999, 6.4083812134800072426e-17, -0.57721566490153304323},
    {1.0, 0.0, -0.57721566490153286061},
    {1.0000000000000002, -1.2816762426960008403e-16, -0.57721566490153249536},
    {1.000000001, -5.7721571183810395192e-10, -0.57721566325659865886},
    {1.000001, -5.7721484238741466506e-7, -0.57721401996866820352},
    {1.001, -0.00057639359828330615152, -0.57557193181030065237},
    {1.01, -0.0056903079460696505037, -0.56088545786867448308},
    {1.1, -0.049872441259839761785, -0.42375494041107666787},
    {1.25, -0.098271836421813161464, -0.22745353337626540809},
    {1.46, -0.12148500100400742945, -0.0015805619870834521062},
    {1.4616321449683622, -0.1214862905358496081, -9.2412655217294275168e-17},
    {1.4616321449683625, -0.1214862905358496081, 1.2245374622004069031e-16},
    {1.47, -0.1214524980076560097, 0.0080664890113648684423},
    {1.4999999999999998, -0.12078223763524523045, 0.036489973978576312991},
    {1.5, -0.12078223763524522235, 0.036489973978576520559},
    {1.6, -0.11259176569675577239, 0.12604745277347632815},
    {1.75, -0.084401121020485555958, 0.24747245354686116371},
    {1.9, -0.038984275923083361674, 0.35618416116405965812},
    {1.99, -0.0041955290887916687019, 0.41631470604541495081},
    {1.999, -0.00042246180069210728418, 0.42213919889235564562},
    {1.999999, -4.2278401259658537019e-7, 0.42278369016419828724},
    {1.999999999, -4.2278436975733279119e-10, 0.42278433445353301898},
    {1.9999999999999998, -9.3876980655431167609e-17, 0.42278433509846699619},
    {2.0, 0.0, 0.42278433509846713939},
    {2.0000000000000004, 1.8775396131086243061e-16, 0.4227843350984674258},
    {2.000000001, 4.2278437040226696476e-10, 0.4227843357434012594},
    {2.000001, 4.227846576245292362e-7, 0.42278498003233202095},
    {2.001, 0.00042310673480011699119, 0.42342906719069845854},
    {2.01, 0.0042600229070983458338, 0.42921355203231546491},
    {2.1, 0.045437738544485179002, 0.48533596867983234964},
    {2.25, 0.1248717148923965943, 0.57254646662373459191},
    {2.5, 0.28468287047291915963, 0.70315664064524318723},
    {2.5000000000000004, 0.2846828704729194719, 0.70315664064524340499},
    {3.0, 0.69314718055994530942, 0.92278433509846713939},
    {3.5, 1.2009736023470742248, 1.1031566406452431872},
    {4.0, 1.7917594692280550008, 1.2561176684318004727},
    {5.0, 3.1780538303479456196, 1.5061176684318004727},
    {6.7, 6.0244338298720843767, 1.8256283635698182655},
    {8.0, 8.5251613610654143002, 2.0156414779556099965},
    {9.5, 11.689333420797268483, 2.1977378764029495332},
    {9.99, 12.77931521435019336, 2.250700372831201122},
    {9.999999999999998, 12.801827480081465611, 2.2517525890667209208},
    {10.0, 12.801827480081469611, 2.2517525890667211076},
    {10.000000000000002, 12.801827480081473611, 2.2517525890667212945},
    {10.5, 13.940625219403763633, 2.3030010342976863753},
    {12.0, 17.502307845873885839, 2.4426616799758120167},
    {15.5, 26.536914491115613624, 2.7082352425903654326},
    {20.0, 39.339884187199494036, 2.9705239922421490509},
    {33.3, 82.603723581654943008, 3.4904672385202427773},
    {50.0, 144.56574394634488601, 3.901989673427892197},
    {100.0, 359.13420536957539878, 4.6001618527380874002},
    {171.5, 709.14316303092824227, 5.1416649814339996289},
    {1000.0, 5905.2204232091812118, 6.9072551956488120521},
    {12345.678, 103959.91990554605982, 9.4210208207417608775},
    {10000.0, 82099.717496442377273, 9.2102903711428494036},
    {100000.0, 1051287.7089736568949, 11.512920464961895087},
    {1000000.0, 12815504.56914761166, 13.815510057964190771},
    {10000000.0, 151180949.36947391394, 16.118095600958318955},
    {100000000.0, 1742068066.1038347093, 18.420680738952365464},
    {1000000000000.0, 26631021115915.651636, 27.631021115928048208},
    {1e+16, 358413614879047291.94, 36.841361487904730894},
    {1e+100, 2.2925850929940457206e+102, 230.25850929940456842},
    {1e+300, 6.8977552789821374147e+302, 690.77552789821370526},
};

double scaled_error(double value, double expected) {
  return std::fabs(value - expected) / std::max(1.0, std::fabs(expected));
}

}  // namespace

TEST_CASE("log_gamma and digamma keep the promised accuracy") {
  for (const Reference& reference : kReference) {
    CAPTURE(reference.x);
    CHECK(scaled_error(log_gamma(reference.x), reference.log_gamma) <= 1e-12);
    CHECK(scaled_error(digamma(reference.x), reference.digamma) <= 1e-12);
  }
}

// The promise leaves room for other compilers and libraries. What this code reaches is far better,
// and a slightly wrong coefficient would hide in that room.
TEST_CASE("log_gamma and digamma are accurate to a few units in the last place") {
  for (const Reference& reference : kReference) {
    CAPTURE(reference.x);
    CHECK(std::fabs(log_gamma(reference.x) - reference.log_gamma) <=
          4e-15 * std::fabs(reference.log_gamma));
    CHECK(scaled_error(digamma(reference.x), reference.digamma) <= 4e-15);
  }
}

TEST_CASE("log_gamma is exactly zero at 1 and 2") {
  CHECK(log_gamma(1.0) == 0.0);
  CHECK(log_gamma(2.0) == 0.0);
}

TEST_CASE("log_gamma and digamma follow their recurrences across all formulas") {
  for (double x = 1e-3; x < 200.0; x *= 1.01) {
    CAPTURE(x);
    const double next = log_gamma(x + 1.0);
    CHECK(std::fabs(next - (log_gamma(x) + std::log(x))) <=
          1e-14 * std::max(1.0, std::fabs(next)) + 4e-16 * std::fabs(std::log(x)));
    CHECK(std::fabs(digamma(x + 1.0) - (digamma(x) + 1.0 / x)) <= 1e-14 + 1e-15 / x);
  }
}

TEST_CASE("log_gamma and digamma outside their domain and at its ends") {
  for (const double x :
       {0.0, -0.0, -1.0, -0.5, -1e300, -static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    CAPTURE(x);
    CHECK(std::isnan(log_gamma(x)));
    CHECK(std::isnan(digamma(x)));
  }
  CHECK(log_gamma(INFINITY) == INFINITY);
  CHECK(digamma(INFINITY) == INFINITY);
  CHECK(log_gamma(DBL_MIN) == doctest::Approx(708.3964185322641).epsilon(1e-14));
  CHECK(digamma(DBL_MIN) == doctest::Approx(-1.0 / DBL_MIN).epsilon(1e-14));
  // x log(x) is too large for a double here, log_gamma is not; then one where it is.
  CHECK(log_gamma(2.558e305) == doctest::Approx(1.7962984030516992e+308).epsilon(1e-13));
  CHECK(log_gamma(3e305) == INFINITY);
  CHECK(std::isfinite(digamma(DBL_MAX)));
}

TEST_CASE("log_sum_exp of ordinary numbers") {
  const double x[] = {0.5, -1.0, 2.0, 2.0, -30.0};
  double sum = 0.0;
  for (const double value : x) sum += std::exp(value);
  CHECK(log_sum_exp(x, 5) == doctest::Approx(std::log(sum)).epsilon(1e-15));
  CHECK(log_sum_exp(x, 1) == 0.5);
  const double equal[] = {-3.0, -3.0, -3.0, -3.0};
  CHECK(log_sum_exp(equal, 4) == doctest::Approx(-3.0 + std::log(4.0)).epsilon(1e-15));
}

TEST_CASE("log_sum_exp neither overflows nor underflows") {
  const double large[] = {1000.0, 1001.0};
  CHECK(log_sum_exp(large, 2) == doctest::Approx(1001.0 + std::log1p(std::exp(-1.0))));
  const double small[] = {-5000.0, -5001.0};
  CHECK(log_sum_exp(small, 2) == doctest::Approx(-5000.0 + std::log1p(std::exp(-1.0))));
  const double apart[] = {-1e300, 0.0};
  CHECK(log_sum_exp(apart, 2) == 0.0);
  // A rest far below the rounding of 1 is not lost.
  const double tiny[] = {-50.0, 0.0};
  CHECK(std::fabs(log_sum_exp(tiny, 2) / std::exp(-50.0) - 1.0) < 1e-12);
}

TEST_CASE("log_sum_exp of infinities and NaN") {
  constexpr double kInfinity = INFINITY;
  CHECK(log_sum_exp(nullptr, 0) == -kInfinity);
  const double none[] = {-kInfinity, -kInfinity};
  CHECK(log_sum_exp(none, 2) == -kInfinity);
  const double one[] = {-kInfinity, 3.0, -kInfinity};
  CHECK(log_sum_exp(one, 3) == 3.0);
  const double infinite[] = {1.0, kInfinity, -kInfinity, kInfinity};
  CHECK(log_sum_exp(infinite, 4) == kInfinity);
  const double with_nan[] = {kInfinity, NAN, -kInfinity};
  CHECK(std::isnan(log_sum_exp(with_nan, 3)));
  const double nan_first[] = {NAN, 1.0};
  CHECK(std::isnan(log_sum_exp(nan_first, 2)));
}

TEST_CASE("sin_cos is within a unit in the last place") {
  double worst = 0.0;
  int same_float = 0;
  constexpr int kAngles = 200000;
  for (int i = 0; i <= kAngles; ++i) {
    // A turn, finely, and what lies around it, coarsely.
    const double angle = i % 2 == 0 ? 6.283185307179586 * i / kAngles : (i - kAngles / 2) * 0.009;
    const SinCos way = sin_cos(angle);
    worst = std::max(
        {worst, std::fabs(way.sine - std::sin(angle)), std::fabs(way.cosine - std::cos(angle))});
    same_float += static_cast<float>(way.cosine) == static_cast<float>(std::cos(angle)) ? 1 : 0;
  }
  CHECK(worst <= 1.2e-16);
  CHECK(same_float == kAngles + 1);
  CHECK(sin_cos(0.0).sine == 0.0);
  CHECK(sin_cos(0.0).cosine == 1.0);
}

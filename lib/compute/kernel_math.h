// Vector types and elementwise mathematics for one instruction set. Included by kernel_body.h
// only, once per kernels_<level>.cpp, inside an unnamed namespace: see kernels.h for why.
//
// Written with the compilers' own vector types, so that one source serves every level;
// ADAPVAE_LANES is the number of floats in a vector (1 = plain scalars).

#if ADAPVAE_LANES == 1
using Vec = float;
using VecInt = std::int32_t;
using VecDouble = double;
using VecHalf = float;  // as many floats as VecDouble has doubles
constexpr int kDoubleLanes = 1;
#else
using Vec = float __attribute__((vector_size(ADAPVAE_LANES * 4)));
using VecInt = std::int32_t __attribute__((vector_size(ADAPVAE_LANES * 4)));
using VecDouble = double __attribute__((vector_size(ADAPVAE_LANES * 4)));
using VecHalf = float __attribute__((vector_size(ADAPVAE_LANES * 2)));
constexpr int kDoubleLanes = ADAPVAE_LANES / 2;
#endif
constexpr int kLanes = ADAPVAE_LANES;

#define ADAPVAE_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#define ADAPVAE_UNROLL _Pragma("unroll")
#else
#define ADAPVAE_UNROLL _Pragma("GCC unroll 64")
#endif
// What is written out where it is used, if code need not be small.
#if defined(ADAPVAE_SMALL_CODE)
#define ADAPVAE_OFTEN_INLINE __attribute__((noinline))
#else
#define ADAPVAE_OFTEN_INLINE ADAPVAE_INLINE
#endif

ADAPVAE_INLINE Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
ADAPVAE_INLINE void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
ADAPVAE_INLINE VecDouble load_double(const double* p) {
  VecDouble v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
ADAPVAE_INLINE void store_double(double* p, VecDouble v) { __builtin_memcpy(p, &v, sizeof v); }

// The first `count` < kLanes numbers; the rest is `fill`. Not inlined: rows have one end each.
__attribute__((noinline)) Vec load_partial(const float* p, Index count, float fill) {
  float buffer[kLanes];
  for (int i = 0; i < kLanes; ++i) buffer[i] = i < count ? p[i] : fill;
  return load(buffer);
}
__attribute__((noinline)) void store_partial(float* p, Vec v, Index count) {
  float buffer[kLanes];
  store(buffer, v);
  for (int i = 0; i < count; ++i) p[i] = buffer[i];
}

#if ADAPVAE_LANES == 1
ADAPVAE_INLINE Vec splat(float x) { return x; }
ADAPVAE_INLINE VecInt bits_of(Vec v) { return __builtin_bit_cast(std::int32_t, v); }
ADAPVAE_INLINE Vec from_bits(VecInt v) { return __builtin_bit_cast(float, v); }
ADAPVAE_INLINE Vec to_float(VecInt v) { return static_cast<float>(v); }
ADAPVAE_INLINE double lane_sum(Vec v) { return v; }
ADAPVAE_INLINE float lane_max(Vec v) { return v; }
#else
ADAPVAE_INLINE Vec splat(float x) { return x - Vec{}; }
ADAPVAE_INLINE VecInt bits_of(Vec v) { return (VecInt)v; }
ADAPVAE_INLINE Vec from_bits(VecInt v) { return (Vec)v; }
ADAPVAE_INLINE Vec to_float(VecInt v) { return __builtin_convertvector(v, Vec); }
ADAPVAE_INLINE double lane_sum(Vec v) {
  double sum = 0.0;
  for (int i = 0; i < kLanes; ++i) sum += v[i];
  return sum;
}
// NaN in any lane gives NaN.
ADAPVAE_INLINE float lane_max(Vec v) {
  float most = v[0];
  for (int i = 1; i < kLanes; ++i) most = (v[i] > most || v[i] != v[i]) ? v[i] : most;
  return most;
}
#endif

// NaN in `a` stays NaN.
ADAPVAE_INLINE Vec max_of(Vec a, Vec b) { return a < b ? b : a; }
ADAPVAE_INLINE Vec min_of(Vec a, Vec b) { return a > b ? b : a; }
ADAPVAE_INLINE Vec abs_of(Vec a) { return a < 0.0F ? -a : a; }

// e^x: relative error about 2e-7 (2 ulp) over the range of normal results, 0 below it, saturating
// at e^88 above. NaN stays NaN. Range reduction by ln 2 in two parts, then a degree-6 polynomial
// (coefficients: Cephes expf, S. Moshier).
ADAPVAE_OFTEN_INLINE Vec exp_of(Vec x) {
  const Vec zero = splat(0.0F);
  const Vec clamped = min_of(max_of(x, splat(-87.0F)), splat(88.0F));
  constexpr float kRound = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer
  const Vec shifted = clamped * 1.44269504088896341F + kRound;
  const Vec n = shifted - kRound;
  Vec r = clamped - n * 0.693359375F;
  r = r + n * 2.12194440e-4F;
  Vec p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  const VecInt exponent = (bits_of(shifted) - 0x4B400000 + 127) << 23;
  return x < -87.0F ? zero : p * from_bits(exponent);
}

// Natural logarithm of a positive normal number: absolute error about 1e-7 near 1, relative 2e-7
// elsewhere. (Coefficients: Cephes logf.)
ADAPVAE_INLINE Vec log_of(Vec x) {
  const VecInt bits = bits_of(x);
  const VecInt exponent = (bits - 0x3F3504F3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
  const Vec f = from_bits(bits - (exponent << 23)) - 1.0F;
  const Vec e = to_float(exponent);
  Vec p = f * 7.0376836292e-2F - 1.1514610310e-1F;
  p = p * f + 1.1676998740e-1F;
  p = p * f - 1.2420140846e-1F;
  p = p * f + 1.4249322787e-1F;
  p = p * f - 1.6668057665e-1F;
  p = p * f + 2.0000714765e-1F;
  p = p * f - 2.4999993993e-1F;
  p = p * f + 3.3333331174e-1F;
  const Vec square = f * f;
  Vec y = p * f * square - e * 2.12194440e-4F - square * 0.5F;
  return f + y + e * 0.693359375F;
}

// log(1 + e^x) and, beside it, the sigmoid of x, from one exponential.
struct SoftplusSigmoid {
  Vec softplus, sigmoid;
};
ADAPVAE_OFTEN_INLINE SoftplusSigmoid softplus_sigmoid(Vec x) {
  const Vec small = exp_of(-abs_of(x));  // in [0, 1]
  const Vec denominator = small + 1.0F;
  const Vec larger = 1.0F / denominator;
  return {max_of(x, splat(0.0F)) + log_of(denominator), x < 0.0F ? small * larger : larger};
}

ADAPVAE_INLINE Vec tanh_of(Vec x) {
  const Vec magnitude = abs_of(x);
  const Vec small = exp_of(magnitude * -2.0F);
  const Vec large = (1.0F - small) / (small + 1.0F);
  // Near zero the difference cancels: odd Taylor terms instead.
  const Vec square = x * x;
  Vec p = square * (-17.0F / 315.0F) + (2.0F / 15.0F);
  p = p * square - (1.0F / 3.0F);
  const Vec near_zero = x + x * square * p;
  return magnitude < 0.25F ? near_zero : (x < 0.0F ? -large : large);
}

ADAPVAE_INLINE Vec activate(Activation kind, Vec a) {
  switch (kind) {
    case Activation::kRelu:
      return a < 0.0F ? splat(0.0F) : a;  // written so that NaN passes through
    case Activation::kLeakyRelu:
      return a < 0.0F ? a * kLeakySlope : a;
    case Activation::kTanh:
      return tanh_of(a);
    case Activation::kSigmoid:
      return softplus_sigmoid(a).sigmoid;
    case Activation::kSoftplus:
      return softplus_sigmoid(a).softplus;
    case Activation::kLinear:
      break;
  }
  return a;
}

// Derivative of the activation, from its output.
ADAPVAE_INLINE Vec derivative(Activation kind, Vec y) {
  const Vec one = splat(1.0F);
  switch (kind) {
    case Activation::kRelu:
      return y > 0.0F ? one : (y <= 0.0F ? splat(0.0F) : y);  // NaN passes through
    case Activation::kLeakyRelu:
      return y > 0.0F ? one : (y <= 0.0F ? splat(kLeakySlope) : y);
    case Activation::kTanh:
      return one - y * y;
    case Activation::kSigmoid:
      return y * (one - y);
    case Activation::kSoftplus:
      return one - exp_of(-y);
    case Activation::kLinear:
      break;
  }
  return one;
}

// The hot loops, one table of them per instruction set.
//
// Files named kernels_<level>.cpp compile the same source, kernel_body.h, with that level's
// compiler flags and vector width and hand out one KernelTable each. To keep code of different
// instruction sets apart, those files and this header use no inline function and no template from
// anywhere else (the linker would keep one copy for all levels): only plain structs and pointers.
//
// Everything is row-major; `*_row` members are strides in elements. Kernels trust their
// arguments: shapes were checked when the model was created. They never allocate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace adapvae {

// With ADAPVAE_SMALL_CODE there is one short way through each kernel, whatever it costs in speed;
// products are never packed. Results are the same.
#if defined(ADAPVAE_SMALL_CODE)
constexpr bool kSmallCode = true;
#else
constexpr bool kSmallCode = false;
#endif

// y = activation(a); all derivatives can be had from y alone, so only outputs are kept.
enum class Activation : std::int32_t {
  kLinear = 0,
  kRelu = 1,
  kLeakyRelu = 2,  // slope kLeakySlope below zero
  kTanh = 3,
  kSigmoid = 4,
  kSoftplus = 5,
};
constexpr float kLeakySlope = 0.01F;

// How decoder outputs a [n × d or 2d] explain x [n × d].
enum class Likelihood : std::int32_t {
  kBernoulli = 0,        // x in [0,1], a = logits
  kGaussian = 1,         // a = means, one fixed variance for all inputs
  kGaussianLearned = 2,  // a = means | log-variances (clamped), 2d columns
};

// Shape of a cluster's precision factor F, E[Λ] = FᵀF.
enum class FactorShape : std::int32_t {
  kLower = 0,     // row-major packed lower triangle, m(m+1)/2 numbers
  kDiagonal = 1,  // m numbers
};

// C [m × n] = finish(A [m × k] · B [k × n]), any strides for A and B.
// finish: + bias[j], then activation; then × derivative of gate_activation at gate(i,j).
struct GemmCall {
  std::ptrdiff_t m, n, k;
  // Of one packed block, at most the table's depth_block; depends on k only.
  std::ptrdiff_t depth = 0;
  const float* a;
  std::ptrdiff_t a_row, a_col;
  const float* b;
  std::ptrdiff_t b_row, b_col;
  float* c;
  std::ptrdiff_t c_row;
  const float* bias = nullptr;  // [n] or null
  Activation activation = Activation::kLinear;
  const float* gate = nullptr;  // [m × n] or null
  std::ptrdiff_t gate_row = 0;
  Activation gate_activation = Activation::kLinear;
};

// One block of the product: rows [i0,i1) × columns [j0,j1), depth [p0,p1). first: overwrite C
// rather than add; last: apply finish. packed_a and packed_b are what pack_a and pack_b wrote for
// this depth range and all rows / columns; packed_a null: A is read where it is. i0 and j0 are
// multiples of tile_rows / tile_cols.
struct GemmBlock {
  std::ptrdiff_t i0, i1, j0, j1, p0, p1;
  const float* packed_a;
  const float* packed_b;
  bool first, last;
};

struct ReconstructCall {
  Likelihood likelihood;
  std::ptrdiff_t rows, inputs;
  const float* output;  // [rows × inputs or 2·inputs] decoder outputs
  std::ptrdiff_t output_row;
  const float* target;  // [rows × inputs]
  std::ptrdiff_t target_row;
  float variance;                            // kGaussian
  float log_variance_min, log_variance_max;  // kGaussianLearned
  bool way_back;                             // kGaussianLearned
  float scale;                               // multiplies the gradient
  float* gradient;  // like output; of -log p; may be the same memory; null = not wanted
  std::ptrdiff_t gradient_row;
  float* log_likelihood;  // [rows]
};

struct MahalanobisCall {
  std::ptrdiff_t rows, dims, clusters;
  const float* z;  // [rows × dims]
  std::ptrdiff_t z_row;
  const float* variance;  // [rows × dims] or null: adds sum_d variance · precision_diagonal
  std::ptrdiff_t variance_row;
  const float* mean;                // [clusters × dims]
  const float* factor;              // [clusters × size of FactorShape]
  const float* precision_diagonal;  // [clusters × dims]; only with variance
  FactorShape shape;
  const float* weight;  // [rows × clusters], only for the pull
  std::ptrdiff_t weight_row;
  float* out;  // distances [rows × clusters], or the pull [rows × dims]
  std::ptrdiff_t out_row;
  float* scratch;  // [4 · dims · rows at once: 4 · lanes]
};

// Responsibilities are whole multiples of this, so that sums of them are exact.
constexpr double kResponsibilityUnit = 1.0 / 4294967296.0;
// A row so far away that its squared distance overflows (or is not a number) is as far as a float
// can tell, from every cluster alike.
constexpr float kFarthestDistance = 1e37F;
// Which clusters have a part of a row is written as bit k % kMemberBits of word k / kMemberBits.
constexpr std::ptrdiff_t kMemberBits = 32;

struct DivideCall {
  MahalanobisCall distance;  // its weight and out are not used
  const float* log_weight;   // [clusters]
  const double* budget;      // [rows], whole units, or null: 1
  double* share;             // [rows × clusters]
  std::ptrdiff_t share_row;
  std::uint32_t* member;  // [rows × words] shares that are not zero
  std::ptrdiff_t member_row;
  float* weight;  // scratch [clusters · 4 · lanes]
};

// Rows that weighted_moments adds at a time.
constexpr int kMomentGroup = kSmallCode ? 1 : 4;

struct MomentsCall {
  std::ptrdiff_t rows, dims, clusters;  // clusters of this call; pointers below are at the first
  const float* z;                       // [rows × dims]
  std::ptrdiff_t z_row;
  const float* variance;  // [rows × dims] or null
  std::ptrdiff_t variance_row;
  const double* weight;  // [rows × clusters]
  std::ptrdiff_t weight_row;
  const std::uint32_t* member;  // [rows × words] weights that are not zero, or null: to be found
  std::ptrdiff_t member_row;
  std::ptrdiff_t first;  // number of the first cluster in those words
  const double* center;  // [clusters × dims]
  FactorShape shape;
  double* mass;     // [clusters]                 Σ w
  double* sum;      // [clusters × dims]          Σ w (z - center)
  double* scatter;  // [clusters × size of shape] Σ w {(z - center)(z - center)ᵀ + diag variance}
  double* scratch;  // [(clusters · dims + kMomentGroup) · dims rounded up to half of the lanes]
};

struct AdamCall {
  std::ptrdiff_t count;
  float* parameter;
  const float* gradient;
  float* first_moment;
  float* second_moment;
  float gradient_scale;  // clipping
  float beta1, beta2;
  float step_size;                // learning rate / (1 - beta1^t)
  float inverse_root_correction;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
  float decay;  // learning rate · weight decay
};

struct KernelTable {
  const char* name;
  std::ptrdiff_t tile_rows, tile_cols;  // register tile of the product
  std::ptrdiff_t depth_block;           // largest depth of one packed block
  std::ptrdiff_t row_block;             // rows of packed A that stay in the second-level cache
  std::ptrdiff_t lanes;                 // floats in a vector

  // Rows [i0,i1) of A, depth [p0,p1), into panels of tile_rows rows; `out` is for row i0.
  void (*pack_a)(const GemmCall* call, std::ptrdiff_t i0, std::ptrdiff_t i1, std::ptrdiff_t p0,
                 std::ptrdiff_t p1, float* out);
  // Columns [j0,j1) of B, depth [p0,p1), into panels of tile_cols columns; `out` is for column j0.
  void (*pack_b)(const GemmCall* call, std::ptrdiff_t j0, std::ptrdiff_t j1, std::ptrdiff_t p0,
                 std::ptrdiff_t p1, float* out);
  void (*gemm_block)(const GemmCall* call, const GemmBlock* block);
  // The whole product without packing A, for products too small to be worth it; the same bits.
  // packed_b: room for depth_block × tile_cols floats.
  void (*gemm_small)(const GemmCall* call, float* packed_b);

  void (*column_sums)(const float* x, std::ptrdiff_t x_row, std::ptrdiff_t rows,
                      std::ptrdiff_t cols, float* out);
  void (*reconstruct)(const ReconstructCall* call);
  // out = softmax over each row of offset[j] + scale · in(i,j); in and out may be the same.
  void (*softmax_rows)(const float* in, std::ptrdiff_t in_row, std::ptrdiff_t rows,
                       std::ptrdiff_t cols, const float* offset, float scale, float* out,
                       std::ptrdiff_t out_row, float* log_sum);
  void (*mahalanobis)(const MahalanobisCall* call);
  void (*mahalanobis_pull)(const MahalanobisCall* call);
  void (*divide_rows)(const DivideCall* call);
  void (*weighted_moments)(const MomentsCall* call);
  void (*adam)(const AdamCall* call);
  double (*squared_norm)(const float* x, std::ptrdiff_t count);
};

// Room that any level may need.
constexpr std::ptrdiff_t kMaxLanes = 16;
constexpr std::ptrdiff_t kMahalanobisRows = 4 * kMaxLanes;  // most rows handled at once

// Defined for the levels that this build has (see ADAPVAE_HAS_* in lib/CMakeLists.txt); ask
// select_kernels() of isa.h rather than these.
const KernelTable* kernels_scalar();
const KernelTable* kernels_baseline();
const KernelTable* kernels_avx2();
const KernelTable* kernels_avx512();
const KernelTable* kernels_neon();
const KernelTable* kernels_simd128();

}  // namespace adapvae

// dense_forward, dense_backward_input and dense_backward_weights beside their reference. All three
// are one matrix product [m × k] · [k × n] inside, so shapes are chosen for that product: around
// the edges of register tiles, of depth blocks and of row blocks, without packing and with it.
#include <algorithm>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

struct Product {
  Index m, n, k;
};

constexpr Activation kActivations[] = {Activation::kLinear,    Activation::kRelu,
                                       Activation::kLeakyRelu, Activation::kTanh,
                                       Activation::kSigmoid,   Activation::kSoftplus};
// More than this is packed (kSmallProduct, kFewRows of cpu_backend.cpp), with room for tuning.
constexpr Index kSurelyPacked = 150000;
constexpr Index kManyRows = 13;

std::vector<Index> around(std::initializer_list<Index> values) {
  std::vector<Index> sizes;
  for (const Index value : values) {
    for (const Index size : {value - 1, value, value + 1}) {
      if (size > 0) sizes.push_back(size);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

using Levels = std::vector<const KernelTable*>;

// Every combination of rows and columns around one and two tiles, at small depths.
std::vector<Product> small_products(const KernelTable& kernels) {
  std::vector<Product> products;
  for (const Index m : around({1, kernels.tile_rows, 2 * kernels.tile_rows})) {
    for (const Index n : around({1, kernels.tile_cols, 2 * kernels.tile_cols})) {
      for (const Index k : {1, 3, 4, 18}) products.push_back({m, n, k});
    }
  }
  return products;
}

// Few rows, which are never packed, and depths around one and two depth blocks. One row takes a
// path of its own over eight vectors at once: give it several of those and a rest.
std::vector<Product> deep_products(const KernelTable& kernels) {
  std::vector<Product> products;
  const Index block = kernels.depth_block;
  for (const Index k : {block - 1, block, block + 1, 2 * block + 3}) {
    for (const Index n : {Index{1}, kernels.tile_cols + 1}) {
      for (const Index m : {Index{1}, kernels.tile_rows + 1}) products.push_back({m, n, k});
    }
    products.push_back({1, 261, k});
  }
  for (const Index n : {31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
    products.push_back({1, n, 5});
  }
  return products;
}

// Many rows and enough work. Narrow products, of three tiles or less, pack one side only; from
// four tiles on, several are packed together.
std::vector<Product> packed_products(const KernelTable& kernels) {
  std::vector<Product> products;
  const Index block = kernels.depth_block;
  const Index depths[] = {block - 1, block, block + 1, 2 * block + 3};
  std::size_t next_depth = 0;
  std::vector<Index> rows = around({3 * kernels.tile_rows, kernels.row_block});
  rows.insert(rows.end(), {kManyRows, 2 * kernels.row_block + 5});
  std::vector<Index> cols =
      around({kernels.tile_cols, 3 * kernels.tile_cols, 4 * kernels.tile_cols});
  cols.insert(cols.end(), {1, 9 * kernels.tile_cols + 2});
  for (const Index m : rows) {
    if (m < kManyRows) continue;
    for (const Index n : cols) {
      const Index shallow = kSurelyPacked / (m * n) + 1;
      products.push_back({m, n, shallow < 2 * block + 3 ? shallow : 2 * block + 3});
      const Index deep = depths[next_depth++ % std::size(depths)];
      if (m * n * deep > kSurelyPacked && m * n < 60 * 150) products.push_back({m, n, deep});
    }
  }
  return products;
}

// What a call is like apart from its shape.
struct Manner {
  Activation activation = Activation::kLinear;
  bool bias = true;
  Index padding = 0;
  double left = 1.0;   // magnitude of x or dy
  double right = 1.0;  // magnitude of the weights
};
// A manner for the case of a given number: all of them take turns.
Manner manner_of(std::size_t number) {
  Manner manner;
  manner.activation = kActivations[number % std::size(kActivations)];
  manner.bias = number % 4 != 0;
  manner.padding = number % 5 < 2 ? 0 : static_cast<Index>(number % 5);
  return manner;
}

// Numbers of which some k make a sum of about 1, not centred, so that single sums seldom cancel.
Matrix factor_matrix(TestRandom& random, Index rows, Index cols, double size, Index padding) {
  return random.uniform_matrix(rows, cols, -0.7 * size, 1.3 * size, padding);
}
double part_of_sum(Index k) { return 1.5 / std::sqrt(static_cast<double>(k)); }

void check_forward(const Levels& levels, Product p, const Manner& manner) {
  TestRandom random(static_cast<std::uint64_t>(p.m * 1000003 + p.n * 1009 + p.k));
  const Matrix x = factor_matrix(random, p.m, p.k, manner.left, manner.padding);
  const Matrix w = factor_matrix(random, p.k, p.n, manner.right * part_of_sum(p.k), manner.padding);
  const Matrix bias = random.uniform_matrix(1, p.n, -1.0, 1.0);
  MatrixD want(p.m, p.n);
  reference::dense_forward(to_double(x).view(), to_double(w).view(),
                           manner.bias ? to_double(bias).data() : nullptr, manner.activation,
                           want.view());
  const ComputeLimits limits = {.rows = p.m, .widest_layer = std::max(p.n, p.k)};
  for (const KernelTable* kernels : levels) {
    for (const auto& backend : make_test_backends(*kernels, limits)) {
      Matrix y(p.m, p.n, manner.padding);
      (*backend)->dense_forward(x.view(), w.view(), manner.bias ? bias.data() : nullptr,
                                manner.activation, y.view());
      check_close(Quantity::kDenseForward, *backend, y, want);
    }
  }
}

void check_backward_input(const Levels& levels, Product p, const Manner& manner) {
  TestRandom random(static_cast<std::uint64_t>(p.m * 1000003 + p.n * 1009 + p.k + 1));
  const Matrix dy = factor_matrix(random, p.m, p.k, manner.left, manner.padding);
  const Matrix w = factor_matrix(random, p.n, p.k, manner.right * part_of_sum(p.k), manner.padding);
  Matrix x = random.uniform_matrix(p.m, p.n, -2.0, 2.0, manner.padding);
  for (Index i = 0; i < p.m; ++i) {
    for (Index j = 0; j < p.n; ++j) {
      x(i, j) = static_cast<float>(reference::activate(manner.activation, x(i, j)));
    }
  }
  MatrixD want(p.m, p.n);
  reference::dense_backward_input(to_double(dy).view(), to_double(w).view(), to_double(x).view(),
                                  manner.activation, want.view());
  const ComputeLimits limits = {.rows = p.m, .widest_layer = std::max(p.n, p.k)};
  for (const KernelTable* kernels : levels) {
    for (const auto& backend : make_test_backends(*kernels, limits)) {
      Matrix dx(p.m, p.n, manner.padding);
      (*backend)->dense_backward_input(dy.view(), w.view(), x.view(), manner.activation, dx.view());
      check_close(Quantity::kDenseBackwardInput, *backend, dx, want);
    }
  }
}

void check_backward_weights(const Levels& levels, Product p, const Manner& manner) {
  TestRandom random(static_cast<std::uint64_t>(p.m * 1000003 + p.n * 1009 + p.k + 2));
  const Matrix x = factor_matrix(random, p.k, p.m, manner.left, manner.padding);
  const Matrix dy =
      factor_matrix(random, p.k, p.n, manner.right * part_of_sum(p.k), manner.padding);
  MatrixD want(p.m, p.n);
  MatrixD want_bias(1, p.n);
  reference::dense_backward_weights(to_double(x).view(), to_double(dy).view(), want.view(),
                                    want_bias.data());
  const ComputeLimits limits = {.rows = p.k, .widest_layer = std::max(p.m, p.n)};
  for (const KernelTable* kernels : levels) {
    for (const auto& backend : make_test_backends(*kernels, limits)) {
      Matrix dw(p.m, p.n, manner.padding);
      Matrix dbias(1, p.n);
      (*backend)->dense_backward_weights(x.view(), dy.view(), dw.view(), dbias.data());
      check_close(Quantity::kDenseBackwardWeights, *backend, dw, want);
      check_close(Quantity::kDenseBiasGradient, *backend, dbias, want_bias);
    }
  }
}

using CheckProduct = void (*)(const Levels&, Product, const Manner&);
constexpr CheckProduct kChecks[] = {check_forward, check_backward_input, check_backward_weights};

void check_products(const std::vector<Product>& products, const Levels& levels) {
  for (std::size_t i = 0; i < products.size(); ++i) {
    for (std::size_t c = 0; c < std::size(kChecks); ++c) {
      const Product p = products[i];
      CAPTURE(p.m);
      CAPTURE(p.n);
      CAPTURE(p.k);
      kChecks[c](levels, p, manner_of(i + c));
    }
  }
}

}  // namespace

TEST_CASE("dense operations are right around the edges of the register tile") {
  for (const KernelTable* kernels : test_kernels()) {
    check_products(small_products(*kernels), {kernels});
  }
}

TEST_CASE("dense operations are right with few rows and much depth") {
  for (const KernelTable* kernels : test_kernels()) {
    check_products(deep_products(*kernels), {kernels});
  }
}

TEST_CASE("dense operations are right when packed") {
  for (const KernelTable* kernels : test_kernels()) {
    check_products(packed_products(*kernels), {kernels});
  }
}

// Large enough for several tasks in packing and in multiplying.
TEST_CASE("dense operations are right when split into tasks") {
  check_products({{509, 261, 509}}, test_kernels());
}

TEST_CASE("every activation is right, with and without a bias, packed or not") {
  for (const KernelTable* kernels : test_kernels()) {
    const Index cols = 2 * kernels->tile_cols + 3;
    for (const Product p : {Product{7, cols, 33}, Product{40, cols, 290}, Product{40, 199, 30}}) {
      for (const Activation activation : kActivations) {
        for (const bool bias : {false, true}) {
          const Manner manner = {.activation = activation, .bias = bias, .padding = 1};
          check_forward({kernels}, p, manner);
          check_backward_input({kernels}, p, manner);
        }
      }
    }
  }
}

TEST_CASE("dense operations keep their precision at extreme magnitudes") {
  const double magnitudes[][2] = {{1e15, 1e15}, {1e15, 1e-15}, {1e-15, 1e15}, {1e-15, 1e-15}};
  for (const Product p : {Product{5, 19, 21}, Product{40, 51, 290}, Product{40, 151, 290}}) {
    for (const auto& [left, right] : magnitudes) {
      const Manner manner = {.bias = false, .padding = 2, .left = left, .right = right};
      for (const CheckProduct check : kChecks) check(test_kernels(), p, manner);
    }
  }
}

TEST_CASE("dense_backward_weights of no rows is zero") {
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, {.rows = 1, .widest_layer = 5})) {
      const Matrix x(1, 5);
      const Matrix dy(1, 3);
      Matrix dw(5, 3);
      Matrix dbias(1, 3);
      (*backend)->dense_backward_weights(x.view().row_range(0, 0), dy.view().row_range(0, 0),
                                         dw.view(), dbias.data());
      Index not_zero = 0;
      for (Index j = 0; j < 3; ++j) {
        not_zero += dbias(0, j) != 0.0F;
        for (Index i = 0; i < 5; ++i) not_zero += dw(i, j) != 0.0F;
      }
      CHECK(not_zero == 0);
    }
  }
}

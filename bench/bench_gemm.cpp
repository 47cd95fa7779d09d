// The three products of a dense layer beside OpenBLAS and Eigen, in one process, in turn, best of
// many. Prints one line a case: name, GFLOP/s of ours, OpenBLAS, Eigen built for this machine,
// Eigen built for any x86-64 (what a distributed binary has).
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <cblas.h>

#include "base/philox.h"
#include "bench/bench_support.h"
#include "bench/eigen_peer.h"
#include "compute/cpu_backend.h"

extern "C" void openblas_set_num_threads(int);

namespace {

using namespace adapvae;
using bench::now;

struct Shape {
  int rows, inputs, outputs;
};
// Layers of the paper's network at batch 500, the widest first head, and a small layer.
constexpr Shape kShapes[] = {{500, 784, 500}, {500, 500, 500}, {500, 500, 2000}, {500, 2000, 500},
                             {500, 2000, 20}, {500, 10, 2000}, {100, 784, 128},  {32, 64, 32}};

struct Problem {
  Shape shape;
  std::vector<float> x, w, y, dx, dw, bias;
};

std::vector<float> noise(std::size_t count, std::uint32_t index) {
  std::vector<float> values(count);
  Philox random({.seed = 3, .index = index});
  for (float& value : values) value = 2.0F * random.uniform_float() - 1.0F;
  return values;
}

enum Direction { kForward, kInput, kWeights };
constexpr const char* kDirectionName[] = {"forward", "backward_input", "backward_weights"};

void ours(CpuBackend& backend, Direction direction, Problem& p) {
  const auto [n, in, out] = p.shape;
  const MatrixView x(p.x.data(), n, in);
  const MatrixView w(p.w.data(), in, out);
  const MatrixView y(p.y.data(), n, out);
  switch (direction) {
    case kForward:
      return backend.dense_forward(x, w, nullptr, Activation::kLinear, y);
    case kInput:
      return backend.dense_backward_input(y, w, x, Activation::kLinear,
                                          MatrixView(p.dx.data(), n, in));
    case kWeights:
      return backend.dense_backward_weights(x, y, MatrixView(p.dw.data(), in, out), p.bias.data());
  }
}

void blas(Direction direction, Problem& p) {
  const auto [n, in, out] = p.shape;
  switch (direction) {
    case kForward:
      return cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, out, in, 1, p.x.data(), in,
                         p.w.data(), out, 0, p.y.data(), out);
    case kInput:
      return cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, in, out, 1, p.y.data(), out,
                         p.w.data(), out, 0, p.dx.data(), in);
    case kWeights:
      return cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, in, out, n, 1, p.x.data(), in,
                         p.y.data(), out, 0, p.dw.data(), out);
  }
}

void eigen(EigenProduct product, Direction direction, Problem& p) {
  const auto [n, in, out] = p.shape;
  switch (direction) {
    case kForward:
      return product(false, false, n, out, in, p.x.data(), in, p.w.data(), out, p.y.data(), out);
    case kInput:
      return product(false, true, n, in, out, p.y.data(), out, p.w.data(), out, p.dx.data(), in);
    case kWeights:
      return product(true, false, in, out, n, p.x.data(), in, p.y.data(), out, p.dw.data(), out);
  }
}

}  // namespace

int main() {
  openblas_set_num_threads(1);
  const ComputeLimits limits = {.rows = 500, .widest_layer = 2000, .dims = 1, .clusters = 1};
  CpuBackend backend;
  const auto place = [&](Arena& arena) {
    backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
  };
  const std::size_t bytes = planned_bytes(place);
  void* memory = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  Arena arena(memory, bytes);
  place(arena);
  for (const Shape& shape : kShapes) {
    const std::size_t n = shape.rows, in = shape.inputs, out = shape.outputs;
    Problem p = {shape,
                 noise(n * in, 1),
                 noise(in * out, 2),
                 noise(n * out, 3),
                 std::vector<float>(n * in),
                 std::vector<float>(in * out),
                 std::vector<float>(out)};
    const double flop = 2.0 * static_cast<double>(n * in * out);
    const int repeat = std::clamp(static_cast<int>(5e7 / flop), 1, 2000);
    for (int direction = 0; direction < 3; ++direction) {
      const auto d = static_cast<Direction>(direction);
      double best[4] = {1e30, 1e30, 1e30, 1e30};
      for (int round = 0; round < 25; ++round) {
        const auto measure = [&](int which, auto&& product) {
          const double start = now();
          for (int i = 0; i < repeat; ++i) product();
          best[which] = std::min(best[which], (now() - start) / repeat);
        };
        measure(0, [&] { ours(backend, d, p); });
        measure(1, [&] { blas(d, p); });
        measure(2, [&] { eigen(eigen_product_native, d, p); });
        measure(3, [&] { eigen(eigen_product_portable, d, p); });
      }
      std::printf("gemm_%zux%zux%zu_%s", n, in, out, kDirectionName[direction]);
      for (const double seconds : best) std::printf(" %.3f", flop / seconds * 1e-9);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  std::free(memory);
  return 0;
}

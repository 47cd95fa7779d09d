// Bits: a row's result depends neither on the batch it is in nor on the number of threads, and
// nothing depends on the order in which tasks run.
#include <atomic>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "compute/operation_check.h"
#include "support/test_thread.h"

using namespace adapvae;

namespace {

// ---- batches ------------------------------------------------------------------------------------

constexpr Index kRows = 300;

// Rows [first, first + count) of an operation's input, into as many rows of output.
using RunRows = std::function<void(Index first, Index count, MatrixView out)>;

void check_batches(Index out_cols, const RunRows& run) {
  Matrix whole(kRows, out_cols);
  run(0, kRows, whole.view());
  CHECK(all_finite(whole));
  for (const Index batch : {1, 7, 64}) {
    CAPTURE(batch);
    Index different = 0;
    for (Index first = 0; first < kRows; first += batch) {
      const Index count = kRows - first < batch ? kRows - first : batch;
      Matrix part(count, out_cols);
      run(first, count, part.view());
      for (Index i = 0; i < count; ++i) {
        different += !same_bytes(part.view().row(i), whole.view().row(first + i), out_cols);
      }
    }
    CHECK(different == 0);
  }
}

template <typename Body>
void for_every_level(const ComputeLimits& limits, const Body& body) {
  for (const KernelTable* kernels : test_kernels()) {
    TestBackend backend(*kernels, limits, false);
    CAPTURE(backend.name());
    body(backend);
    CHECK(backend.memory_intact());
  }
}

struct LayerShape {
  Index in, out;
};
// Small enough for no packing at any batch; packed from some batch size on; several depth blocks
// with whole and partial tiles.
constexpr LayerShape kLayers[] = {{5, 3}, {33, 50}, {270, 17}, {1100, 67}};

// ---- threads ------------------------------------------------------------------------------------

// Ways to run tasks that remember the largest number of tasks they were given.
class TaskRunner {
 public:
  static constexpr int kNone = -1;      // no ParallelFor at all
  static constexpr int kBackwards = 0;  // the calling thread, from the last task to the first
  // Positive: that many threads, the calling one included.
  explicit TaskRunner(int workers) : workers_(workers) {}
  ParallelFor parallel_for() {
    return workers_ == kNone ? ParallelFor{} : ParallelFor{&TaskRunner::run, this};
  }
  Index take_most_tasks() {
    const Index most = most_tasks_;
    most_tasks_ = 0;
    return most;
  }

 private:
  static void run(void* context, Index count, ParallelFor::Task task, void* argument) {
    auto& runner = *static_cast<TaskRunner*>(context);
    runner.most_tasks_ = runner.most_tasks_ > count ? runner.most_tasks_ : count;
    if (runner.workers_ == kBackwards) {
      for (Index i = count; i-- > 0;) task(argument, i);
      return;
    }
    std::atomic<Index> next{0};
    const auto work = [&] {
      for (Index i = next++; i < count; i = next++) task(argument, i);
    };
    std::vector<TestThread> threads;
    for (int i = 1; i < runner.workers_; ++i) threads.emplace_back(work);
    work();
    for (TestThread& thread : threads) thread.join();
  }

  int workers_;
  Index most_tasks_ = 0;
};

struct Outcome {
  const char* operation;
  std::string bytes;  // of all outputs
  Index most_tasks;
};

template <typename T>
void append(std::string& bytes, const TestMatrix<T>& matrix) {
  for (Index i = 0; i < matrix.rows(); ++i) {
    bytes.append(reinterpret_cast<const char*>(matrix.view().row(i)),
                 static_cast<std::size_t>(matrix.cols()) * sizeof(T));
  }
}

// Sizes at which every operation is split into several tasks.
constexpr Index kManyRows = 300;
constexpr Index kIn = 508;
constexpr Index kOut = 261;
constexpr Index kDims = 11;
constexpr Index kClusters = 30;
constexpr ComputeLimits kLargeLimits = {
    .rows = kManyRows, .widest_layer = kIn, .dims = kDims, .clusters = kClusters, .workers = 3};

struct LargeInputs {
  TestRandom random{31};
  Matrix x = random.uniform_matrix(kManyRows, kIn, -1.0, 1.0);
  Matrix target = random.uniform_matrix(kManyRows, kIn, 0.0, 1.0);
  Matrix w = random.uniform_matrix(kIn, kOut, -0.1, 0.1);
  Matrix bias = random.uniform_matrix(1, kOut, -1.0, 1.0);
  Matrix dy = random.uniform_matrix(kManyRows, kOut, -1.0, 1.0);
  Matrix z = random.uniform_matrix(kManyRows, kDims, -2.0, 2.0);
  Matrix variance = random.uniform_matrix(kManyRows, kDims, 0.1, 1.0);
  Matrix weight = random.uniform_matrix(kManyRows, kClusters, 0.0, 1.0);
  TestGaussians gaussians[2] = {{random, kClusters, kDims, FactorShape::kLower},
                                {random, kClusters, kDims, FactorShape::kDiagonal}};
};

// Collects what operations give, and into how many tasks they were split.
class Recorder {
 public:
  explicit Recorder(TaskRunner& runner) : runner_(runner) {}
  template <typename... Outputs>
  void add(const char* operation, const Outputs&... outputs) {
    outcomes.push_back({operation, {}, runner_.take_most_tasks()});
    (append(outcomes.back().bytes, outputs), ...);
  }
  std::vector<Outcome> outcomes;

 private:
  TaskRunner& runner_;
};

void run_network_operations(Backend& backend, const LargeInputs& in, Recorder& record) {
  Matrix y(kManyRows, kOut);
  backend.dense_forward(in.x.view(), in.w.view(), in.bias.data(), Activation::kTanh, y.view());
  record.add("dense_forward", y);

  Matrix dx(kManyRows, kIn);
  backend.dense_backward_input(in.dy.view(), in.w.view(), in.x.view(), Activation::kTanh,
                               dx.view());
  record.add("dense_backward_input", dx);

  Matrix dw(kIn, kOut);
  Matrix dbias(1, kOut);
  backend.dense_backward_weights(in.x.view(), in.dy.view(), dw.view(), dbias.data());
  record.add("dense_backward_weights", dw, dbias);

  for (const Likelihood kind :
       {Likelihood::kBernoulli, Likelihood::kGaussian, Likelihood::kGaussianLearned}) {
    const Index inputs = kind == Likelihood::kGaussianLearned ? kIn / 2 : kIn;
    Matrix gradient(kManyRows, kIn);
    Matrix value(1, kManyRows);
    backend.reconstruct({.kind = kind}, in.x.view(), in.target.view().col_range(0, inputs), 1.0F,
                        gradient.view(), value.data());
    record.add("reconstruct", gradient, value);
  }
}

void run_mixture_operations(Backend& backend, const LargeInputs& in, Recorder& record) {
  for (const TestGaussians& gaussians : in.gaussians) {
    Matrix distance(kManyRows, kClusters);
    backend.mahalanobis(in.z.view(), in.variance.view(), gaussians.view(), distance.view());
    record.add("mahalanobis", distance);

    Matrix pull(kManyRows, kDims);
    backend.mahalanobis_pull(in.z.view(), in.weight.view(), gaussians.view(), pull.view());
    record.add("mahalanobis_pull", pull);

    MatrixD share(kManyRows, kClusters);
    std::vector<std::uint32_t> members(kManyRows);
    const MemberView member_view(members.data(), kManyRows, 1);
    backend.divide_rows(in.z.view(), in.variance.view(), gaussians.view(), in.weight.data(),
                        nullptr, share.view(), member_view);
    record.add("divide_rows", share);

    const MatrixD center = to_double(gaussians.mean);
    const MatrixD weight = to_double(in.weight);
    MatrixD mass(1, kClusters);
    MatrixD sum(kClusters, kDims);
    MatrixD scatter(kClusters, factor_size(gaussians.shape, kDims));
    backend.weighted_moments(in.z.view(), in.variance.view(), weight.view(), {}, center.view(),
                             gaussians.shape, mass.data(), sum.view(), scatter.view());
    record.add("weighted_moments", mass, sum, scatter);
    backend.weighted_moments(in.z.view(), in.variance.view(), share.view(), member_view,
                             center.view(), gaussians.shape, mass.data(), sum.view(),
                             scatter.view());
    record.add("weighted_moments", mass, sum, scatter);
  }
  Matrix probability(kManyRows, kIn);
  Matrix log_sum(1, kManyRows);
  backend.softmax_rows(in.x.view(), nullptr, 3.0F, probability.view(), log_sum.data());
  record.add("softmax_rows", probability, log_sum);
}

void run_parameter_operations(Backend& backend, const LargeInputs& in, Recorder& record) {
  constexpr Index kCount = kManyRows * kIn;
  MatrixD norm(1, 1);
  norm(0, 0) = backend.squared_norm(in.x.data(), kCount);
  record.add("squared_norm", norm);

  Matrix parameter = in.x;
  Matrix first = in.x;
  Matrix second = in.target;
  backend.adam({}, 3, 0.5F, kCount, in.x.data(), parameter.data(), first.data(), second.data());
  record.add("adam", parameter, first, second);
}

// Every operation that may be split.
std::vector<Outcome> run_operations(TestBackend& backend, const LargeInputs& inputs,
                                    TaskRunner& runner) {
  Recorder record(runner);
  backend.set_parallel_for(runner.parallel_for());
  run_network_operations(*backend, inputs, record);
  run_mixture_operations(*backend, inputs, record);
  run_parameter_operations(*backend, inputs, record);
  backend.set_parallel_for({});
  return record.outcomes;
}

}  // namespace

TEST_CASE("a row of dense_forward has the same bits in every batch") {
  if (!products_keep_bits()) return;
  TestRandom random(41);
  for (const LayerShape layer : kLayers) {
    CAPTURE(layer.in);
    const Matrix x = random.uniform_matrix(kRows, layer.in, -1.0, 1.0, 1);
    const Matrix w = random.uniform_matrix(layer.in, layer.out, -0.2, 0.2);
    const Matrix bias = random.uniform_matrix(1, layer.out, -1.0, 1.0);
    for_every_level({.rows = kRows, .widest_layer = 1100}, [&](TestBackend& backend) {
      for (const Activation activation : {Activation::kLinear, Activation::kSoftplus}) {
        check_batches(layer.out, [&](Index first, Index count, MatrixView out) {
          backend->dense_forward(x.view().row_range(first, count), w.view(), bias.data(),
                                 activation, out);
        });
      }
    });
  }
}

TEST_CASE("a row with many zeros has the same bits in every batch, too") {
  if (!products_keep_bits()) return;
  TestRandom random(48);
  for (const LayerShape layer : kLayers) {
    CAPTURE(layer.in);
    Matrix x = random.uniform_matrix(kRows, layer.in, -1.0, 1.0, 1);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < layer.in; ++j) {
        // From a few zeros to nothing else, of both signs.
        if ((i * 7 + j * 13) % 10 <= i % 11) x(i, j) = j % 3 == 0 ? -0.0F : 0.0F;
      }
    }
    const Matrix w = random.uniform_matrix(layer.in, layer.out, -0.2, 0.2);
    for_every_level({.rows = kRows, .widest_layer = 1100}, [&](TestBackend& backend) {
      check_batches(layer.out, [&](Index first, Index count, MatrixView out) {
        backend->dense_forward(x.view().row_range(first, count), w.view(), nullptr,
                               Activation::kLinear, out);
      });
    });
  }
}

TEST_CASE("a row of dense_backward_input has the same bits in every batch") {
  if (!products_keep_bits()) return;
  TestRandom random(42);
  for (const LayerShape layer : kLayers) {
    CAPTURE(layer.in);
    const Matrix dy = random.uniform_matrix(kRows, layer.in, -1.0, 1.0, 1);
    const Matrix w = random.uniform_matrix(layer.out, layer.in, -0.2, 0.2);
    const Matrix x = random.uniform_matrix(kRows, layer.out, 0.0, 1.0);
    for_every_level({.rows = kRows, .widest_layer = 1100}, [&](TestBackend& backend) {
      for (const Activation activation : {Activation::kLinear, Activation::kSoftplus}) {
        check_batches(layer.out, [&](Index first, Index count, MatrixView out) {
          backend->dense_backward_input(dy.view().row_range(first, count), w.view(),
                                        x.view().row_range(first, count), activation, out);
        });
      }
    });
  }
}

TEST_CASE("a row of reconstruct has the same bits in every batch") {
  constexpr Index d = 133;
  TestRandom random(43);
  for (const Likelihood kind :
       {Likelihood::kBernoulli, Likelihood::kGaussian, Likelihood::kGaussianLearned}) {
    const Index cols = kind == Likelihood::kGaussianLearned ? 2 * d : d;
    const Matrix output = random.uniform_matrix(kRows, cols, -3.0, 3.0);
    const Matrix target = random.uniform_matrix(kRows, d, 0.0, 1.0, 3);
    for_every_level({.rows = kRows}, [&](TestBackend& backend) {
      check_batches(cols + 1, [&](Index first, Index count, MatrixView out) {
        Matrix value(1, count);
        backend->reconstruct({.kind = kind}, output.view().row_range(first, count),
                             target.view().row_range(first, count), 0.5F, out.col_range(0, cols),
                             value.data());
        for (Index i = 0; i < count; ++i) out(i, cols) = value(0, i);
      });
    });
  }
}

TEST_CASE("a row of the latent operations has the same bits in every batch") {
  constexpr Index m = 9;
  TestRandom random(44);
  const Matrix heads = random.uniform_matrix(kRows, 2 * m, -3.0, 3.0);
  const Matrix rest = random.uniform_matrix(kRows, m, 0.1, 2.0);
  for_every_level({.rows = kRows}, [&](TestBackend& backend) {
    check_batches(2 * m, [&](Index first, Index count, MatrixView out) {
      backend->sample_latent(heads.view().row_range(first, count),
                             rest.view().row_range(first, count), {}, out.col_range(0, m),
                             out.col_range(m, m));
    });
    check_batches(2 * m, [&](Index first, Index count, MatrixView out) {
      const ConstMatrixView part = rest.view().row_range(first, count);
      backend->latent_gradient(heads.view().row_range(first, count), part, part, part, part, part,
                               {}, 0.5F, out);
    });
  });
}

TEST_CASE("a row of mahalanobis and of its pull has the same bits in every batch") {
  constexpr Index m = 11;
  constexpr Index K = 9;
  TestRandom random(45);
  const Matrix z = random.uniform_matrix(kRows, m, -2.0, 2.0);
  const Matrix variance = random.uniform_matrix(kRows, m, 0.1, 1.0);
  // Mostly zeros, so that whole blocks of rows want nothing of a cluster in small batches only.
  Matrix weight = random.uniform_matrix(kRows, K, -9.0, 1.0);
  for (Index i = 0; i < kRows; ++i) {
    for (Index k = 0; k < K; ++k) weight(i, k) = weight(i, k) < 0.0F ? 0.0F : weight(i, k);
  }
  for (const FactorShape shape : {FactorShape::kLower, FactorShape::kDiagonal}) {
    const TestGaussians gaussians(random, K, m, shape);
    for_every_level({.rows = kRows, .dims = m, .clusters = K}, [&](TestBackend& backend) {
      check_batches(K, [&](Index first, Index count, MatrixView out) {
        backend->mahalanobis(z.view().row_range(first, count),
                             variance.view().row_range(first, count), gaussians.view(), out);
      });
      check_batches(m, [&](Index first, Index count, MatrixView out) {
        backend->mahalanobis_pull(z.view().row_range(first, count),
                                  weight.view().row_range(first, count), gaussians.view(), out);
      });
    });
  }
}

TEST_CASE("a row is divided into the same bits in every batch") {
  constexpr Index m = 11;
  constexpr Index K = 35;
  TestRandom random(46);
  const Matrix z = random.uniform_matrix(kRows, m, -2.0, 2.0);
  const Matrix variance = random.uniform_matrix(kRows, m, 0.1, 1.0);
  const Matrix log_weight = random.uniform_matrix(1, K, -3.0, 0.0);
  for (const FactorShape shape : {FactorShape::kLower, FactorShape::kDiagonal}) {
    const TestGaussians gaussians(random, K, m, shape);
    for_every_level({.rows = kRows, .dims = m, .clusters = K}, [&](TestBackend& backend) {
      check_batches(K, [&](Index first, Index count, MatrixView out) {
        MatrixD share(count, K);
        std::vector<std::uint32_t> members(static_cast<std::size_t>(count * member_words(K)));
        backend->divide_rows(z.view().row_range(first, count),
                             variance.view().row_range(first, count), gaussians.view(),
                             log_weight.data(), nullptr, share.view(),
                             {members.data(), count, member_words(K)});
        for (Index i = 0; i < count; ++i) {
          for (Index k = 0; k < K; ++k) out(i, k) = static_cast<float>(share(i, k));
        }
      });
    });
  }
}

TEST_CASE("a cluster of weight zero adds nothing to the pull, whatever the neighbours want") {
  TestRandom random(47);
  TestGaussians gaussians(random, 2, 2, FactorShape::kLower);
  for (Index j = 0; j < 3; ++j) gaussians.factor(1, j) = 1e10F;
  Matrix z(2, 2);
  Matrix weight(2, 2);
  for (Index j = 0; j < 2; ++j) {
    z(0, j) = 1e30F;  // too far from the second cluster for a float
    z(1, j) = 1.0F;
    weight(0, j) = j == 0 ? 1.0F : 0.0F;
    weight(1, j) = 0.5F;
  }
  for_every_level({.rows = 2, .dims = 2, .clusters = 2}, [&](TestBackend& backend) {
    Matrix together(2, 2);
    Matrix alone(1, 2);
    backend->mahalanobis_pull(z.view(), weight.view(), gaussians.view(), together.view());
    backend->mahalanobis_pull(z.view().row_range(0, 1), weight.view().row_range(0, 1),
                              gaussians.view(), alone.view());
    CHECK(same_bytes(together.data(), alone.data(), 2));
  });
}

TEST_CASE("a row of softmax_rows has the same bits in every batch") {
  TestRandom random(46);
  for (const Index K : {1, 5, 37, 250}) {
    const Matrix in = random.uniform_matrix(kRows, K, 0.0, 60.0);
    const Matrix offset = random.uniform_matrix(1, K, -3.0, 0.0);
    for_every_level({.rows = kRows, .clusters = K}, [&](TestBackend& backend) {
      check_batches(K + 1, [&](Index first, Index count, MatrixView out) {
        Matrix log_sum(1, count);
        backend->softmax_rows(in.view().row_range(first, count), offset.data(), -0.5F,
                              out.col_range(0, K), log_sum.data());
        for (Index i = 0; i < count; ++i) out(i, K) = log_sum(0, i);
      });
    });
  }
}

TEST_CASE("one thread, several threads and any order of tasks give the same bytes") {
  const LargeInputs inputs;
  for (const KernelTable* kernels : task_kernels()) {
    TestBackend alone(*kernels, kLargeLimits, false);
    TaskRunner in_turn(TaskRunner::kNone);
    const std::vector<Outcome> want = run_operations(alone, inputs, in_turn);
    for (const int workers : {TaskRunner::kBackwards, 2, 3}) {
      TestBackend backend(*kernels, kLargeLimits, workers == 3);
      CAPTURE(backend.name());
      CAPTURE(workers);
      TaskRunner runner(workers);
      const std::vector<Outcome> got = run_operations(backend, inputs, runner);
      REQUIRE(got.size() == want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        CAPTURE(want[i].operation);
        CHECK((kSmallCode || got[i].most_tasks >= 2));  // otherwise this test shows nothing
        CHECK((got[i].bytes == want[i].bytes));
      }
      CHECK(backend.memory_intact());
    }
  }
}

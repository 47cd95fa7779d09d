// mahalanobis, mahalanobis_pull, softmax_rows, divide_rows and weighted_moments beside their
// reference.
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "compute/operation_check.h"

using namespace adapvae;

namespace {

struct Shape {
  Index rows, dims, clusters;
};

// Rows around every level's block of 2 × lanes, n < K, K = 1, m = 1.
std::vector<Shape> mixture_shapes() {
  std::vector<Shape> shapes;
  for (const Index rows : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 67}) {
    for (const Index dims : {1, 2, 3, 8, 17}) {
      for (const Index clusters : {1, 2, 5, 11}) shapes.push_back({rows, dims, clusters});
    }
  }
  shapes.push_back({130, 10, 40});  // several tasks
  return shapes;
}

ComputeLimits limits_of(Shape shape) {
  return {.rows = shape.rows, .widest_layer = 1, .dims = shape.dims, .clusters = shape.clusters};
}

std::uint64_t seed_of(Shape shape) {
  return static_cast<std::uint64_t>((shape.rows * 101 + shape.dims) * 101 + shape.clusters);
}

// spread scales means and data alike; the factors shrink with it, unless they are kept.
void check_mahalanobis(Shape shape, FactorShape factor, bool with_variance, double spread) {
  CAPTURE(shape.rows);
  CAPTURE(shape.dims);
  CAPTURE(shape.clusters);
  CAPTURE(with_variance);
  const Index padding = shape.rows % 3;
  TestRandom random(seed_of(shape));
  const TestGaussians gaussians(random, shape.clusters, shape.dims, factor, spread);
  const Matrix z =
      random.uniform_matrix(shape.rows, shape.dims, -3.0 * spread, 3.0 * spread, padding);
  const Matrix variance = with_variance
                              ? random.uniform_matrix(shape.rows, shape.dims, 0.1 * spread * spread,
                                                      2.0 * spread * spread, 2 * padding)
                              : Matrix();
  MatrixD want(shape.rows, shape.clusters);
  reference::mahalanobis(to_double(z).view(), to_double(variance).view(),
                         TestGaussiansD(gaussians).view(), want.view());
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of(shape))) {
      Matrix out(shape.rows, shape.clusters, padding);
      (*backend)->mahalanobis(z.view(), variance.view(), gaussians.view(), out.view());
      check_close(Quantity::kMahalanobis, *backend, out, want);
    }
  }
}

// Probabilities, about half of them exactly zero; some clusters nobody wants.
Matrix make_weights(TestRandom& random, Index rows, Index clusters, Index padding) {
  Matrix weight = random.uniform_matrix(rows, clusters, -1.0, 1.0, padding);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < clusters; ++k) {
      if (weight(i, k) < 0.0F || k % 4 == 3) weight(i, k) = 0.0F;
    }
  }
  return weight;
}

void check_pull(Shape shape, FactorShape factor, double spread) {
  CAPTURE(shape.rows);
  CAPTURE(shape.dims);
  CAPTURE(shape.clusters);
  const Index padding = shape.rows % 3;
  TestRandom random(seed_of(shape));
  const TestGaussians gaussians(random, shape.clusters, shape.dims, factor, spread);
  const Matrix z =
      random.uniform_matrix(shape.rows, shape.dims, -3.0 * spread, 3.0 * spread, padding);
  const Matrix weight = make_weights(random, shape.rows, shape.clusters, 2 * padding);
  MatrixD want(shape.rows, shape.dims);
  reference::mahalanobis_pull(to_double(z).view(), to_double(weight).view(),
                              TestGaussiansD(gaussians).view(), want.view());
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of(shape))) {
      Matrix pull(shape.rows, shape.dims, padding);
      (*backend)->mahalanobis_pull(z.view(), weight.view(), gaussians.view(), pull.view());
      check_close(Quantity::kMahalanobisPull, *backend, pull, want);
    }
  }
}

void check_softmax(Index rows, Index clusters, bool with_offset, float scale, double range) {
  CAPTURE(rows);
  CAPTURE(clusters);
  CAPTURE(with_offset);
  TestRandom random(static_cast<std::uint64_t>(rows * 1009 + clusters));
  const Matrix in = random.uniform_matrix(rows, clusters, 0.0, range, clusters % 3);
  const Matrix offset = random.uniform_matrix(1, clusters, -5.0, 0.0);
  MatrixD want(rows, clusters);
  MatrixD want_log_sum(1, rows);
  reference::softmax_rows(to_double(in).view(), with_offset ? to_double(offset).data() : nullptr,
                          scale, want.view(), want_log_sum.data());
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of({rows, 1, clusters}))) {
      const float* offset_data = with_offset ? offset.data() : nullptr;
      Matrix probability(rows, clusters, 1);
      Matrix log_sum(1, rows);
      (*backend)->softmax_rows(in.view(), offset_data, scale, probability.view(), log_sum.data());
      check_close(Quantity::kProbability, *backend, probability, want);
      check_close(Quantity::kLogSum, *backend, log_sum, want_log_sum);

      Matrix alone(rows, clusters, 1);  // without the normaliser
      (*backend)->softmax_rows(in.view(), offset_data, scale, alone.view(), nullptr);
      Matrix in_place = in;
      Matrix log_sum_in_place(1, rows);
      (*backend)->softmax_rows(in_place.view(), offset_data, scale, in_place.view(),
                               log_sum_in_place.data());
      CHECK(in_place.margins_intact());
      CHECK(same_bytes(log_sum.data(), log_sum_in_place.data(), rows));
      bool same = true;
      for (Index i = 0; i < rows; ++i) {
        same = same && same_bytes(probability.view().row(i), in_place.view().row(i), clusters) &&
               same_bytes(probability.view().row(i), alone.view().row(i), clusters);
      }
      CHECK(same);
    }
  }
}

std::vector<std::uint32_t> members_of(const MatrixD& weight) {
  const Index words = member_words(weight.cols());
  std::vector<std::uint32_t> members(static_cast<std::size_t>(weight.rows() * words), 0);
  for (Index i = 0; i < weight.rows(); ++i) {
    for (Index k = 0; k < weight.cols(); ++k) {
      if (weight(i, k) == 0.0) continue;
      members[static_cast<std::size_t>(i * words + k / kMemberBits)] |= 1U << (k % kMemberBits);
    }
  }
  return members;
}

bool same_values(const MatrixD& a, const MatrixD& b) {
  bool same = true;
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.cols(); ++k) same = same && a(i, k) == b(i, k);
  }
  return same;
}

// Beside the softmax, in double, of the backend's own distances.
void check_division(Shape shape, FactorShape factor, bool with_variance, bool with_budget) {
  CAPTURE(shape.rows);
  CAPTURE(shape.dims);
  CAPTURE(shape.clusters);
  const Index padding = shape.rows % 3;
  const Index words = member_words(shape.clusters);
  TestRandom random(seed_of(shape));
  const TestGaussians gaussians(random, shape.clusters, shape.dims, factor, 1.0);
  const Matrix z = random.uniform_matrix(shape.rows, shape.dims, -3.0, 3.0, padding);
  const Matrix variance =
      with_variance ? random.uniform_matrix(shape.rows, shape.dims, 0.1, 2.0) : Matrix();
  const Matrix log_weight = random.uniform_matrix(1, shape.clusters, -5.0, 0.0);
  MatrixD budget(1, shape.rows);
  for (Index i = 0; i < shape.rows; ++i) {
    budget(0, i) = with_budget ? kResponsibilityUnit * (1.0 + random.below(0xFFFFFFF0)) : 1.0;
  }
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of(shape))) {
      MatrixD share(shape.rows, shape.clusters, padding);
      std::vector<std::uint32_t> members(static_cast<std::size_t>(shape.rows * words));
      (*backend)->divide_rows(z.view(), variance.view(), gaussians.view(), log_weight.data(),
                              with_budget ? budget.data() : nullptr, share.view(),
                              {members.data(), shape.rows, words});
      Matrix distance(shape.rows, shape.clusters);
      (*backend)->mahalanobis(z.view(), variance.view(), gaussians.view(), distance.view());
      MatrixD want(shape.rows, shape.clusters);
      MatrixD log_sum(1, shape.rows);
      reference::softmax_rows(to_double(distance).view(), to_double(log_weight).data(), -0.5,
                              want.view(), log_sum.data());
      Index wrong = 0;
      for (Index i = 0; i < shape.rows; ++i) {
        double sum = 0.0;
        for (Index k = 0; k < shape.clusters; ++k) {
          want(i, k) *= budget(0, i);
          const double units = share(i, k) / kResponsibilityUnit;
          wrong += units != std::floor(units) || units < 0.0;
          sum += share(i, k);
        }
        wrong += sum != budget(0, i);
      }
      CHECK(wrong == 0);
      CHECK(members == members_of(share));
      check_close(Quantity::kProbability, *backend, share, want);
    }
  }
}

void check_moments(Shape shape, FactorShape factor, bool with_variance, double magnitude) {
  CAPTURE(shape.rows);
  CAPTURE(shape.dims);
  CAPTURE(shape.clusters);
  CAPTURE(with_variance);
  const Index padding = shape.rows % 3;
  TestRandom random(seed_of(shape));
  const Matrix z =
      random.uniform_matrix(shape.rows, shape.dims, -3.0 * magnitude, 3.0 * magnitude, padding);
  const Matrix variance = with_variance
                              ? random.uniform_matrix(shape.rows, shape.dims, 0.0,
                                                      2.0 * magnitude * magnitude, 2 * padding)
                              : Matrix();
  const Matrix weight = make_weights(random, shape.rows, shape.clusters, 3 * padding);
  MatrixD center(shape.clusters, shape.dims);
  for (Index k = 0; k < shape.clusters; ++k) {
    for (Index j = 0; j < shape.dims; ++j) {
      center(k, j) = random.uniform(-magnitude, magnitude);
    }
  }
  const MatrixD exact_weight = to_double(weight);
  const Index size = factor_size(factor, shape.dims);
  MatrixD want_mass(1, shape.clusters);
  MatrixD want_sum(shape.clusters, shape.dims);
  MatrixD want_scatter(shape.clusters, size);
  reference::weighted_moments(to_double(z).view(), to_double(variance).view(), exact_weight.view(),
                              center.view(), factor, want_mass.data(), want_sum.view(),
                              want_scatter.view());
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of(shape))) {
      MatrixD mass(1, shape.clusters);
      MatrixD sum(shape.clusters, shape.dims);
      MatrixD scatter(shape.clusters, size);
      (*backend)->weighted_moments(z.view(), variance.view(), exact_weight.view(), {},
                                   center.view(), factor, mass.data(), sum.view(), scatter.view());
      check_close(Quantity::kMomentSum, *backend, sum, want_sum);
      check_close(Quantity::kMomentScatter, *backend, scatter, want_scatter);
      // The reference sums in the order of rows, and so must everyone: equal, not close.
      CHECK(mass.margins_intact());
      Index different = 0;
      for (Index k = 0; k < shape.clusters; ++k) different += mass(0, k) != want_mass(0, k);
      CHECK(different == 0);
      // Told which weights are not zero: the same bits.
      const std::vector<std::uint32_t> members = members_of(exact_weight);
      MatrixD listed_mass(1, shape.clusters);
      MatrixD listed_sum(shape.clusters, shape.dims);
      MatrixD listed_scatter(shape.clusters, size);
      (*backend)->weighted_moments(z.view(), variance.view(), exact_weight.view(),
                                   {members.data(), shape.rows, member_words(shape.clusters)},
                                   center.view(), factor, listed_mass.data(), listed_sum.view(),
                                   listed_scatter.view());
      CHECK(same_values(mass, listed_mass));
      CHECK(same_values(sum, listed_sum));
      CHECK(same_values(scatter, listed_scatter));
    }
  }
}

}  // namespace

TEST_CASE("mahalanobis is right for both factor shapes, with variance and without") {
  for (const Shape shape : mixture_shapes()) {
    for (const FactorShape factor : {FactorShape::kLower, FactorShape::kDiagonal}) {
      for (const bool with_variance : {false, true}) {
        check_mahalanobis(shape, factor, with_variance, 1.0);
      }
    }
  }
}

TEST_CASE("mahalanobis_pull is right for both factor shapes") {
  for (const Shape shape : mixture_shapes()) {
    for (const FactorShape factor : {FactorShape::kLower, FactorShape::kDiagonal}) {
      check_pull(shape, factor, 1.0);
    }
  }
}

TEST_CASE("distances keep their precision at extreme magnitudes") {
  for (const double spread : {1e15, 1e-15}) {
    for (const FactorShape factor : {FactorShape::kLower, FactorShape::kDiagonal}) {
      check_mahalanobis({19, 5, 6}, factor, false, spread);
      check_mahalanobis({19, 5, 6}, factor, true, spread);
      check_pull({19, 5, 6}, factor, spread);
    }
  }
}

TEST_CASE("softmax_rows is right, in place or not, with an offset or without") {
  for (const Index clusters : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 100}) {
    for (const Index rows : {1, 3, 20}) {
      for (const bool with_offset : {false, true}) {
        check_softmax(rows, clusters, with_offset, -0.5F, 40.0);
        check_softmax(rows, clusters, with_offset, 1.0F, 5.0);
      }
    }
  }
  check_softmax(1500, 45, true, -0.5F, 40.0);  // several tasks
}

TEST_CASE("softmax_rows of one column is exactly one") {
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of({5, 1, 1}))) {
      Matrix in(5, 1);
      for (Index i = 0; i < 5; ++i) in(i, 0) = std::ldexp(-3.0F, static_cast<int>(30 * i - 60));
      Matrix probability(5, 1);
      Matrix log_sum(1, 5);
      (*backend)->softmax_rows(in.view(), nullptr, 1.0F, probability.view(), log_sum.data());
      for (Index i = 0; i < 5; ++i) {
        CHECK(probability(i, 0) == 1.0F);
        CHECK(log_sum(0, i) == in(i, 0));
      }
    }
  }
}

// A row far from every cluster still belongs to the nearest; the others vanish without a trace.
TEST_CASE("softmax_rows of far clusters is zero and never NaN") {
  for (const KernelTable* kernels : test_kernels()) {
    for (const Index clusters : {2, 3, 8, 21}) {
      for (const auto& backend : make_test_backends(*kernels, limits_of({4, 1, clusters}))) {
        CAPTURE(backend->name());
        CAPTURE(clusters);
        const float far[] = {1e3F, 1e6F, 1e15F, 3e38F};
        Matrix in(4, clusters);
        for (Index i = 0; i < 4; ++i) {
          for (Index k = 0; k < clusters; ++k) in(i, k) = far[i];
          in(i, clusters / 2) = 0.5F * far[i];
        }
        Matrix offset(1, clusters);
        for (Index k = 0; k < clusters; ++k) offset(0, k) = 0.0F;
        offset(0, 0) = clusters > 2 ? -HUGE_VALF : 0.0F;  // a cluster without any weight
        for (const bool with_offset : {false, true}) {
          Matrix probability(4, clusters);
          Matrix log_sum(1, 4);
          (*backend)->softmax_rows(in.view(), with_offset ? offset.data() : nullptr, -0.5F,
                                   probability.view(), log_sum.data());
          Index wrong = 0;
          for (Index i = 0; i < 4; ++i) {
            for (Index k = 0; k < clusters; ++k) {
              wrong += probability(i, k) != (k == clusters / 2 ? 1.0F : 0.0F);
            }
            CHECK(log_sum(0, i) == -0.25F * far[i]);
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("divide_rows gives whole units that sum to the budget, and says to whom") {
  for (const Shape shape : mixture_shapes()) {
    for (const bool with_variance : {false, true}) {
      check_division(shape, FactorShape::kLower, with_variance, with_variance);
      check_division(shape, FactorShape::kDiagonal, with_variance, !with_variance);
    }
  }
  for (const Index clusters : {31, 32, 33, 64, 65, 100}) {
    check_division({50, 2, clusters}, FactorShape::kLower, false, false);
  }
}

// A row far from every cluster belongs to the nearest, and one that is too far to tell, to the
// heaviest.
TEST_CASE("divide_rows of far rows is defined") {
  for (const KernelTable* kernels : test_kernels()) {
    for (const auto& backend : make_test_backends(*kernels, limits_of({4, 1, 3}))) {
      TestRandom random(5);
      TestGaussians gaussians(random, 3, 1, FactorShape::kDiagonal);
      Matrix z(4, 1);
      Matrix log_weight(1, 3);
      for (Index k = 0; k < 3; ++k) {
        gaussians.mean(k, 0) = static_cast<float>(k);
        gaussians.factor(k, 0) = 1.0F;
        log_weight(0, k) = k == 1 ? -1.0F : -2.0F;
      }
      const float rows[] = {-1e4F, 1e4F, 1e30F, NAN};
      const Index belongs[] = {0, 2, 1, 1};
      for (Index i = 0; i < 4; ++i) z(i, 0) = rows[i];
      MatrixD share(4, 3);
      std::vector<std::uint32_t> members(4);
      (*backend)->divide_rows(z.view(), {}, gaussians.view(), log_weight.data(), nullptr,
                              share.view(), {members.data(), 4, 1});
      for (Index i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(share(i, belongs[i]) > 0.3);
        CHECK(share(i, 0) + share(i, 1) + share(i, 2) == 1.0);
        if (i < 2) CHECK(share(i, belongs[i]) == 1.0);
      }
    }
  }
}

TEST_CASE("weighted_moments is right for both shapes, with variance and without") {
  for (const FactorShape factor : {FactorShape::kLower, FactorShape::kDiagonal}) {
    for (const bool with_variance : {false, true}) {
      for (const Index dims : {1, 2, 3, 4, 5, 7, 8, 9, 16, 17}) {
        for (const Index clusters : {1, 2, 9}) {
          for (const Index rows : {1, 3, 50}) {
            check_moments({rows, dims, clusters}, factor, with_variance, 1.0);
          }
        }
      }
      check_moments({300, 3, 70}, factor, with_variance, 1.0);  // more than one word of members
      check_moments({700, 9, 13}, factor, with_variance, 1.0);  // several tasks
      check_moments({2000, 5, 3}, factor, with_variance, 1.0);  // more tasks than clusters
      check_moments({19, 5, 6}, factor, with_variance, 1e15);
      check_moments({19, 5, 6}, factor, with_variance, 1e-15);
    }
  }
}

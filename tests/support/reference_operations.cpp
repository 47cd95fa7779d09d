#include "support/reference_operations.h"

#include <cmath>
#include <vector>

namespace adapvae::reference {
namespace {

constexpr double kLogTwoPi = 1.83787706640934548356;

double clamp(double value, double least, double most) {
  return value < least ? least : (value > most ? most : value);
}

// F_k as a full square matrix, zeros above the diagonal.
std::vector<double> full_factor(const Gaussians& gaussians, Index k) {
  const Index m = gaussians.mean.cols;
  std::vector<double> full(static_cast<std::size_t>(m * m), 0.0);
  const double* packed = gaussians.factor.row(k);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j <= i; ++j) {
      if (gaussians.shape == FactorShape::kLower) {
        full[static_cast<std::size_t>(i * m + j)] = *packed++;
      } else if (i == j) {
        full[static_cast<std::size_t>(i * m + j)] = packed[i];
      }
    }
  }
  return full;
}

// F (z - mean).
std::vector<double> whiten(const std::vector<double>& factor, const double* z, const double* mean,
                           Index m) {
  std::vector<double> whitened(static_cast<std::size_t>(m), 0.0);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) {
      whitened[static_cast<std::size_t>(i)] +=
          factor[static_cast<std::size_t>(i * m + j)] * (z[j] - mean[j]);
    }
  }
  return whitened;
}

}  // namespace

double activate(Activation activation, double a) {
  switch (activation) {
    case Activation::kLinear:
      return a;
    case Activation::kRelu:
      return a < 0.0 ? 0.0 : a;
    case Activation::kLeakyRelu:
      return a < 0.0 ? kLeakySlope * a : a;
    case Activation::kTanh:
      return std::tanh(a);
    case Activation::kSigmoid:
      return a < 0.0 ? std::exp(a) / (1.0 + std::exp(a)) : 1.0 / (1.0 + std::exp(-a));
    case Activation::kSoftplus:
      return (a > 0.0 ? a : 0.0) + std::log1p(std::exp(-std::fabs(a)));
  }
  return NAN;
}

double derivative(Activation activation, double y) {
  switch (activation) {
    case Activation::kLinear:
      return 1.0;
    case Activation::kRelu:
      return y > 0.0 ? 1.0 : 0.0;
    case Activation::kLeakyRelu:
      return y > 0.0 ? 1.0 : static_cast<double>(kLeakySlope);
    case Activation::kTanh:
      return 1.0 - y * y;
    case Activation::kSigmoid:
      return y * (1.0 - y);
    case Activation::kSoftplus:
      return -std::expm1(-y);
  }
  return NAN;
}

void dense_forward(ConstMatrixViewD x, ConstMatrixViewD w, const double* bias,
                   Activation activation, MatrixViewD y) {
  for (Index i = 0; i < y.rows; ++i) {
    double* out = y.row(i);
    for (Index j = 0; j < y.cols; ++j) out[j] = bias != nullptr ? bias[j] : 0.0;
    for (Index p = 0; p < x.cols; ++p) {
      const double value = x(i, p);
      const double* weight = w.row(p);
      for (Index j = 0; j < y.cols; ++j) out[j] += value * weight[j];
    }
    for (Index j = 0; j < y.cols; ++j) out[j] = activate(activation, out[j]);
  }
}

void dense_backward_input(ConstMatrixViewD dy, ConstMatrixViewD w, ConstMatrixViewD x,
                          Activation activation, MatrixViewD dx) {
  for (Index i = 0; i < dx.rows; ++i) {
    const double* slope = dy.row(i);
    for (Index j = 0; j < dx.cols; ++j) {
      const double* weight = w.row(j);
      double sum = 0.0;
      for (Index p = 0; p < dy.cols; ++p) sum += slope[p] * weight[p];
      dx(i, j) = sum * derivative(activation, x(i, j));
    }
  }
}

void dense_backward_weights(ConstMatrixViewD x, ConstMatrixViewD dy, MatrixViewD dw,
                            double* dbias) {
  for (Index i = 0; i < dw.rows; ++i) {
    for (Index j = 0; j < dw.cols; ++j) dw(i, j) = 0.0;
  }
  for (Index j = 0; j < dy.cols; ++j) dbias[j] = 0.0;
  for (Index n = 0; n < x.rows; ++n) {
    const double* slope = dy.row(n);
    for (Index i = 0; i < dw.rows; ++i) {
      const double value = x(n, i);
      double* out = dw.row(i);
      for (Index j = 0; j < dw.cols; ++j) out[j] += value * slope[j];
    }
    for (Index j = 0; j < dy.cols; ++j) dbias[j] += slope[j];
  }
}

void reconstruct(const LikelihoodSettings& likelihood, ConstMatrixViewD output,
                 ConstMatrixViewD target, double scale, MatrixViewD gradient,
                 double* log_likelihood) {
  const Index d = target.cols;
  const bool wanted = gradient.data != nullptr;
  for (Index i = 0; i < target.rows; ++i) {
    double sum = 0.0;
    for (Index j = 0; j < d; ++j) {
      const double a = output(i, j);
      const double x = target(i, j);
      if (likelihood.kind == Likelihood::kBernoulli) {
        sum += x * a - activate(Activation::kSoftplus, a);
        if (wanted) gradient(i, j) = scale * (activate(Activation::kSigmoid, a) - x);
        continue;
      }
      double log_variance = std::log(static_cast<double>(likelihood.variance));
      bool below = false;
      bool above = false;
      if (likelihood.kind == Likelihood::kGaussianLearned) {
        const double raw = output(i, d + j);
        log_variance = clamp(raw, likelihood.log_variance_min, likelihood.log_variance_max);
        below = raw < likelihood.log_variance_min;
        above = raw > likelihood.log_variance_max;
      }
      const double precision = std::exp(-log_variance);
      const double square = (a - x) * (a - x) * precision;
      sum -= 0.5 * (kLogTwoPi + log_variance + square);
      if (!wanted) continue;
      gradient(i, j) = scale * (a - x) * precision;
      if (likelihood.kind == Likelihood::kGaussianLearned) {
        const double slope = scale * 0.5 * (1.0 - square);
        const bool away = (below && slope > 0.0) || (above && slope < 0.0);
        const bool held = (below || above) && !likelihood.way_back;
        gradient(i, d + j) = away || held ? 0.0 : slope;
      }
    }
    log_likelihood[i] = sum;
  }
}

void sample_latent(ConstMatrixViewD heads, ConstMatrixViewD noise, LogVarianceClamp bounds,
                   MatrixViewD z, MatrixViewD variance) {
  const Index m = z.cols;
  for (Index i = 0; i < z.rows; ++i) {
    for (Index j = 0; j < m; ++j) {
      const double log_variance = clamp(heads(i, m + j), bounds.min, bounds.max);
      variance(i, j) = std::exp(log_variance);
      z(i, j) = heads(i, j);
      if (noise.data != nullptr) z(i, j) += std::sqrt(variance(i, j)) * noise(i, j);
    }
  }
}

void latent_gradient(ConstMatrixViewD heads, ConstMatrixViewD noise, ConstMatrixViewD variance,
                     ConstMatrixViewD dz, ConstMatrixViewD pull, ConstMatrixViewD precision,
                     LogVarianceClamp bounds, double weight, MatrixViewD dheads) {
  const Index m = dz.cols;
  for (Index i = 0; i < dz.rows; ++i) {
    for (Index j = 0; j < m; ++j) {
      dheads(i, j) = dz(i, j) + weight * pull(i, j);
      const double raw = heads(i, m + j);
      double slope = weight * 0.5 * (variance(i, j) * precision(i, j) - 1.0);
      if (noise.data != nullptr) slope += 0.5 * std::sqrt(variance(i, j)) * noise(i, j) * dz(i, j);
      dheads(i, m + j) = raw < bounds.min || raw > bounds.max ? 0.0 : slope;
    }
  }
}

void mahalanobis(ConstMatrixViewD z, ConstMatrixViewD variance, const Gaussians& gaussians,
                 MatrixViewD out) {
  const Index m = z.cols;
  for (Index k = 0; k < out.cols; ++k) {
    const std::vector<double> factor = full_factor(gaussians, k);
    for (Index i = 0; i < z.rows; ++i) {
      double sum = 0.0;
      for (const double y : whiten(factor, z.row(i), gaussians.mean.row(k), m)) sum += y * y;
      for (Index j = 0; variance.data != nullptr && j < m; ++j) {
        sum += variance(i, j) * gaussians.precision_diagonal(k, j);
      }
      out(i, k) = sum;
    }
  }
}

void mahalanobis_pull(ConstMatrixViewD z, ConstMatrixViewD weight, const Gaussians& gaussians,
                      MatrixViewD pull) {
  const Index m = z.cols;
  for (Index i = 0; i < z.rows; ++i) {
    for (Index j = 0; j < m; ++j) pull(i, j) = 0.0;
  }
  for (Index k = 0; k < weight.cols; ++k) {
    const std::vector<double> factor = full_factor(gaussians, k);
    for (Index n = 0; n < z.rows; ++n) {
      const std::vector<double> y = whiten(factor, z.row(n), gaussians.mean.row(k), m);
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < m; ++j) {
          pull(n, j) += weight(n, k) * factor[static_cast<std::size_t>(i * m + j)] *
                        y[static_cast<std::size_t>(i)];
        }
      }
    }
  }
}

void softmax_rows(ConstMatrixViewD in, const double* offset, double scale, MatrixViewD probability,
                  double* log_sum) {
  for (Index i = 0; i < in.rows; ++i) {
    double most = -INFINITY;
    for (Index k = 0; k < in.cols; ++k) {
      probability(i, k) = (offset != nullptr ? offset[k] : 0.0) + scale * in(i, k);
      most = probability(i, k) > most ? probability(i, k) : most;
    }
    double sum = 0.0;
    for (Index k = 0; k < in.cols; ++k) sum += std::exp(probability(i, k) - most);
    log_sum[i] = most + std::log(sum);
    for (Index k = 0; k < in.cols; ++k)
      probability(i, k) = std::exp(probability(i, k) - log_sum[i]);
  }
}

void weighted_moments(ConstMatrixViewD z, ConstMatrixViewD variance, ConstMatrixViewD weight,
                      ConstMatrixViewD center, FactorShape shape, double* mass, MatrixViewD sum,
                      MatrixViewD scatter) {
  const Index m = z.cols;
  for (Index k = 0; k < weight.cols; ++k) {
    mass[k] = 0.0;
    for (Index j = 0; j < m; ++j) sum(k, j) = 0.0;
    for (Index j = 0; j < scatter.cols; ++j) scatter(k, j) = 0.0;
    for (Index n = 0; n < z.rows; ++n) {
      const double w = weight(n, k);
      mass[k] += w;
      double* out = scatter.row(k);
      for (Index i = 0; i < m; ++i) {
        const double difference = z(n, i) - center(k, i);
        sum(k, i) += w * difference;
        for (Index j = 0; j <= i; ++j) {
          if (shape == FactorShape::kDiagonal && j != i) continue;
          *out += w * difference * (z(n, j) - center(k, j));
          if (j == i && variance.data != nullptr) *out += w * variance(n, i);
          ++out;
        }
      }
    }
  }
}

double squared_norm(const double* x, Index count) {
  long double sum = 0.0L;  // backends add in parts, which is better than double in one go
  for (Index i = 0; i < count; ++i) sum += static_cast<long double>(x[i]) * x[i];
  return static_cast<double>(sum);
}

void adam(const AdamSettings& settings, std::uint32_t step, double gradient_scale, Index count,
          const double* gradient, double* parameter, double* first_moment, double* second_moment) {
  const double beta1 = settings.beta1;
  const double beta2 = settings.beta2;
  const double rate = settings.learning_rate;
  for (Index i = 0; i < count; ++i) {
    const double g = gradient[i] * gradient_scale;
    first_moment[i] = beta1 * first_moment[i] + (1.0 - beta1) * g;
    second_moment[i] = beta2 * second_moment[i] + (1.0 - beta2) * g * g;
    const double mean = first_moment[i] / (1.0 - std::pow(beta1, step));
    const double square = second_moment[i] / (1.0 - std::pow(beta2, step));
    parameter[i] -= rate * settings.weight_decay * parameter[i];
    parameter[i] -= rate * mean / (std::sqrt(square) + settings.epsilon);
  }
}

}  // namespace adapvae::reference

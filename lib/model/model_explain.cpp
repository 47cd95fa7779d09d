// Model: which inputs make a row novel. An input counts by how much less novel the row would be if
// that input were what the others say of it: the same completion that fills missing values answers
// that. Inputs are named one after the other, each with those before it corrected, so that of two
// faults the second is found, too.
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/model.h"

namespace adapvae {
namespace {

// Inputs that are tried; of more, those that are farthest from what the network makes of them.
constexpr Index kMostTried = 64;
// What naming another input must explain, in standard deviations of the surprise.
constexpr double kLeastEffect = 0.25;

}  // namespace

void Model::place_explanation(Arena& arena) {
  const auto d = static_cast<std::size_t>(config_.inputs);
  const auto tried = static_cast<std::size_t>(std::min<Index>(kMostTried, config_.inputs));
  explanation_.row = arena.take<float>(d);
  explanation_.x = arena.take<float>(d);
  explanation_.tried = arena.take<std::int32_t>(tried);
}

// How far the surprise of explanation_.row is beyond its boundary. NaN is completed, also in a
// model whose rows have no missing values; what stands there then is in explanation_.x, in the
// units of the network.
Status Model::find_excess(Backend& backend, double* excess) {
  const ConstMatrixView row(explanation_.row, 1, config_.inputs);
  const MatrixView x(explanation_.x, 1, config_.inputs);
  const MatrixView z(z_, 1, config_.latent);
  const MatrixView variance(variance_, 1, config_.latent);
  input_scale_.apply(row, x);
  missing_.note(row);
  ADAPVAE_RETURN_IF_ERROR(complete(backend, x, Fill::kExpected));
  ADAPVAE_RETURN_IF_ERROR(vae_.encode(backend, x, z, variance));
  learner_.score(backend, z, variance, MatrixView(score_r_, 1, learner_.mixture().clusters()),
                 score_, novelty_);
  ADAPVAE_RETURN_IF_ERROR(judge(backend, z, x));
  const Surprise surprise = surprise_of(0);
  *excess = surprise.features + surprise.error - surprise.boundary;
  return {};
}

// Numbers of the inputs worth trying, to explanation_.tried. error [d]: of the reconstruction.
Index Model::choose_tried(const float* row, const float* error) {
  const auto size = [&](Index j) {
    return std::fabs(static_cast<double>(error[j])) / input_scale_.unit(j);
  };
  const Index most = std::min<Index>(kMostTried, config_.inputs);
  Index count = 0;
  for (Index j = 0; j < config_.inputs; ++j) {
    if (std::isnan(row[j])) continue;
    Index at = count;
    if (config_.inputs > kMostTried) {
      while (at > 0 && size(explanation_.tried[at - 1]) < size(j)) --at;
    }
    if (at == most) continue;
    count = std::min(count + 1, most);
    std::copy_backward(explanation_.tried + at, explanation_.tried + count - 1,
                       explanation_.tried + count);
    explanation_.tried[at] = static_cast<std::int32_t>(j);
  }
  return count;
}

Status Model::attribute(Backend& backend, const float* row, const float* error, RowReason* reason) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  reason->inputs = 0;
  if (nothing_learnt()) return {};
  const Index tried = choose_tried(row, error);
  std::copy_n(row, config_.inputs, explanation_.row);
  double excess = 0.0;
  ADAPVAE_RETURN_IF_ERROR(find_excess(backend, &excess));
  while (reason->inputs < RowReason::kMostInputs) {
    Index best = -1;
    double least = excess;
    for (Index t = 0; t < tried; ++t) {
      const Index j = explanation_.tried[t];
      if (std::isnan(explanation_.row[j])) continue;
      explanation_.row[j] = kMissing;
      double without = 0.0;
      ADAPVAE_RETURN_IF_ERROR(find_excess(backend, &without));
      explanation_.row[j] = row[j];
      if (!(without < least)) continue;
      least = without;
      best = j;
    }
    if (best < 0 || !(excess - least > kLeastEffect)) return {};
    explanation_.row[best] = kMissing;
    double without = 0.0;
    ADAPVAE_RETURN_IF_ERROR(find_excess(backend, &without));
    const MatrixView expected(explanation_.x, 1, config_.inputs);
    input_scale_.invert(expected, expected);
    InputReason& input = reason->input[reason->inputs++];
    input.number = best;
    input.value = row[best];
    input.expected = expected(0, best);
    const double off = static_cast<double>(input.value) - static_cast<double>(input.expected);
    input.deviations = config_.scale_inputs != 0 ? off / input_scale_.unit(best) : 0.0;
    input.effect = excess - without;
    excess = without;
  }
  return {};
}

}  // namespace adapvae

// Layer-wise pretraining: the gradient of a pair of layers, what moves and what stays, and that it
// helps.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "support/network_fixture.h"
#include "support/reference_vae.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

constexpr Activation kActivations[] = {Activation::kLinear,    Activation::kRelu,
                                       Activation::kLeakyRelu, Activation::kTanh,
                                       Activation::kSigmoid,   Activation::kSoftplus};
constexpr Likelihood kLikelihoods[] = {Likelihood::kBernoulli, Likelihood::kGaussian,
                                       Likelihood::kGaussianLearned};
constexpr Index kRows = 7;
constexpr double kStep = 1e-5;
constexpr double kKinkMargin = 100.0 * kStep;
constexpr double kGradientTolerance = 1e-4;
constexpr std::uint32_t kEpoch = 13;

VaeConfig tiny_config(int hidden_layers, Activation activation, Likelihood likelihood) {
  VaeConfig config;
  config.inputs = 6;
  config.latent = 2;
  config.hidden_layers = hidden_layers;
  config.hidden[0] = 5;
  config.hidden[1] = 4;
  config.activation = activation;
  config.likelihood.kind = likelihood;
  config.likelihood.variance = 0.7F;
  config.likelihood.log_variance_min = -1.0F;
  config.likelihood.log_variance_max = 0.8F;
  config.max_rows = kRows;
  return config;
}

TrainingSettings noisy_settings(Index batch) {
  TrainingSettings settings;
  settings.batch = batch;
  settings.corruption = {.mask_probability = 0.25F, .noise_deviation = 0.2F};
  settings.seed = 17;
  settings.stream = 2;
  return settings;
}

// Input of a level, clean and corrupted, in the order of the rows. A row's corruption depends on
// its number only, so the order in which an epoch visits the rows does not matter to the mean.
struct LevelInput {
  Rows clean, corrupted;
};

LevelInput input_of_level(const VaeConfig& config, const std::vector<double>& parameters,
                          const TrainingSettings& settings, const Rows& rows, int level) {
  const std::vector<double> hidden = reference_hidden(config, parameters, rows.view(), level);
  const Index cols = static_cast<Index>(hidden.size()) / rows.rows;
  LevelInput input = {Rows(rows.rows, cols), Rows(rows.rows, cols)};
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    input.clean.data[i] = static_cast<float>(hidden[i]);
  }
  input.corrupted = input.clean;
  const RandomKey key = {.seed = settings.seed,
                         .purpose = RandomPurpose::kCorruption,
                         .stream = settings.stream,
                         .epoch = kEpoch};
  if (level == 0 && settings.augmentation.active()) {
    RandomKey augmentation_key = key;
    augmentation_key.purpose = RandomPurpose::kAugmentation;
    augment_rows(settings.augmentation, augmentation_key, nullptr, input.clean.view(),
                 input.corrupted.view());
  }
  corrupt_rows(settings.corruption, key, nullptr, input.corrupted.view());
  return input;
}

bool belongs_to(const DenseLayer& layer, Index i) {
  return i >= layer.weights && i < layer.weights + layer.parameter_count();
}

// Gradient of one level from one mini-batch of all rows. The learning rate is zero: parameters
// stay, and gradients() is theirs.
double layer_gradient_error(const VaeConfig& config, int level, std::uint64_t first_seed,
                            const TrainingSettings& settings) {
  const auto make_rows = [&](std::uint64_t seed) {
    return config.likelihood.kind == Likelihood::kBernoulli
               ? uniform_rows(kRows, config.inputs, seed + 70, 1)
               : random_rows(kRows, config.inputs, seed + 70, 1);
  };
  std::uint64_t seed = first_seed;
  std::vector<float> start;
  ReferenceLoss reference;
  std::unique_ptr<Rows> rows;
  std::unique_ptr<LevelInput> input;
  for (;; ++seed) {
    start = random_normals(reference_parameter_count(config), seed, 0.6);
    rows = std::make_unique<Rows>(make_rows(seed));
    input = std::make_unique<LevelInput>(
        input_of_level(config, to_double(start), settings, *rows, level));
    reference = reference_layer_loss(config, to_double(start), level, input->corrupted.view(),
                                     input->clean.view());
    if (reference.kink_distance > kKinkMargin) break;
  }
  const std::vector<double> numeric =
      central_differences(to_double(start), kStep, [&](const std::vector<double>& parameters) {
        return reference_layer_loss(config, parameters, level, input->corrupted.view(),
                                    input->clean.view(), &reference.returning)
            .loss;
      });
  double worst = 0.0;
  for (const IsaLevel isa : available_levels()) {
    NetworkFixture network(config, kRows, isa);
    CAPTURE(network.backend.name());
    network.vae.initialise(0);
    network.set_parameters(start);
    network.vae.optimiser().settings().adam.learning_rate = 0.0F;
    EpochReport report;
    REQUIRE(network.trainer
                .run_layer_epoch(network.backend, network.vae, settings, level, kEpoch,
                                 rows->view(), &report)
                .ok());
    CHECK(same_bytes(network.parameters(), start));
    CHECK(report.loss.loss == doctest::Approx(reference.loss).epsilon(1e-5));
    CHECK(report.loss.log_likelihood == -report.loss.loss);
    const DenseLayer& down = network.vae.encoder().layer(level);
    const DenseLayer& up = network.vae.decoder().layer(config.hidden_layers - level);
    std::vector<float> pair_gradient;
    std::vector<double> pair_numeric;
    bool outside_flat = true;
    for (Index i = 0; i < network.vae.parameter_count(); ++i) {
      if (belongs_to(down, i) || belongs_to(up, i)) {
        pair_gradient.push_back(network.vae.gradients()[i]);
        pair_numeric.push_back(numeric[i]);
      } else {
        outside_flat = outside_flat && numeric[i] == 0.0;
      }
    }
    CHECK(outside_flat);
    worst = std::max(worst, worst_relative_error(pair_gradient, pair_numeric));
    // The last level trains means only: the log-variance half of the heads gets an exact zero.
    if (level == config.hidden_layers) {
      bool zero = true;
      for (Index i = 0; i <= down.inputs; ++i) {
        for (Index j = config.latent; j < down.outputs; ++j) {
          zero = zero && network.vae.gradients()[down.weights + i * down.outputs + j] == 0.0F;
        }
      }
      CHECK(zero);
    }
  }
  return worst;
}

// Rows with structure: six prototypes of zeros and ones, blurred.
Rows structured_rows(Index rows, Index inputs, std::uint64_t seed) {
  const Rows prototypes = uniform_rows(6, inputs, seed);
  Rows result = random_rows(rows, inputs, seed + 1);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < inputs; ++j) {
      const float base = prototypes(i % 6, j) > 0.5F ? 0.85F : 0.15F;
      result(i, j) = std::clamp(base + 0.05F * result(i, j), 0.0F, 1.0F);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("the gradient of a pair of layers agrees with central differences") {
  for (const Activation activation : kActivations) {
    CAPTURE(static_cast<int>(activation));
    double worst = 0.0;
    for (const Likelihood likelihood : kLikelihoods) {
      CAPTURE(static_cast<int>(likelihood));
      for (const int level : {0, 1, 2}) {
        CAPTURE(level);
        const double error = layer_gradient_error(tiny_config(2, activation, likelihood), level, 10,
                                                  noisy_settings(kRows));
        CHECK(error <= kGradientTolerance);
        worst = std::max(worst, error);
      }
    }
    CHECK_MESSAGE(worst <= kGradientTolerance, "worst of activation ", static_cast<int>(activation),
                  ": ", worst);
  }
}

TEST_CASE("the gradient of a pair without hidden layers, and of augmented rows") {
  for (const Likelihood likelihood : kLikelihoods) {
    CAPTURE(static_cast<int>(likelihood));
    CHECK(layer_gradient_error(tiny_config(0, Activation::kTanh, likelihood), 0, 20,
                               noisy_settings(kRows)) <= kGradientTolerance);
    TrainingSettings settings = noisy_settings(kRows);
    settings.augmentation = {.width = 3,
                             .height = 2,
                             .channels = 1,
                             .shift = 0.5F,
                             .rotation = 0.3F,
                             .scale = 0.2F,
                             .shear = 0.1F};
    // Above the inputs the same settings must not augment.
    for (const int level : {0, 1}) {
      CAPTURE(level);
      CHECK(layer_gradient_error(tiny_config(1, Activation::kTanh, likelihood), level, 30,
                                 settings) <= kGradientTolerance);
    }
  }
}

TEST_CASE("a level moves its own pair of layers and no other byte") {
  VaeConfig config = tiny_config(2, Activation::kSoftplus, Likelihood::kBernoulli);
  const Rows rows = uniform_rows(20, config.inputs, 3);
  NetworkFixture network(config, rows.rows);
  for (int level = 0; level <= 2; ++level) {
    CAPTURE(level);
    network.vae.initialise(5);
    const std::vector<float> before = network.parameters();
    EpochReport report;
    REQUIRE(network.trainer
                .run_layer_epoch(network.backend, network.vae, noisy_settings(kRows), level, 0,
                                 rows.view(), &report)
                .ok());
    CHECK(network.vae.optimiser().steps() == 3);
    const std::vector<float> after = network.parameters();
    const DenseLayer& down = network.vae.encoder().layer(level);
    const DenseLayer& up = network.vae.decoder().layer(2 - level);
    Index moved_down = 0;
    Index moved_up = 0;
    Index moved_outside = 0;
    for (Index i = 0; i < network.vae.parameter_count(); ++i) {
      if (before[i] == after[i]) continue;
      ++(belongs_to(down, i) ? moved_down : belongs_to(up, i) ? moved_up : moved_outside);
    }
    CHECK(moved_outside == 0);
    CHECK(moved_up == up.parameter_count());
    CHECK(moved_down == (level == 2 ? (down.inputs + 1) * config.latent : down.parameter_count()));
  }
}

TEST_CASE("every level lowers its loss, then denoising end to end lowers the whole") {
  VaeConfig config;
  config.inputs = 24;
  config.latent = 3;
  config.hidden_layers = 2;
  config.hidden[0] = 18;
  config.hidden[1] = 10;
  config.activation = Activation::kTanh;
  config.initialisation = Initialisation::kXavier;
  config.max_rows = 50;
  const Rows rows = structured_rows(300, config.inputs, 8);
  const MixtureData prior = standard_normal(config.latent);
  NetworkFixture network(config, rows.rows);
  network.vae.initialise(6);
  network.vae.optimiser().settings().adam.learning_rate = 3e-3F;
  TrainingSettings settings = noisy_settings(50);
  settings.corruption = {.mask_probability = 0.1F, .noise_deviation = 0.05F};
  EpochReport report;

  // The share of the first epoch's loss, above what is left when the input is rebuilt perfectly,
  // that must be gone after the last.
  const auto check_lower = [](double first, double last, double perfect, double share) {
    CHECK((first - last) >= share * (first - perfect));
  };
  double entropy = 0.0;  // of the rows as Bernoulli means: no likelihood can be better
  for (const float x : rows.data) {
    const double p = std::clamp<double>(x, 1e-9, 1.0 - 1e-9);
    entropy -= (p * std::log(p) + (1.0 - p) * std::log(1.0 - p)) / static_cast<double>(rows.rows);
  }
  constexpr double kHalfLogTwoPi = 0.9189385332046727;
  const double perfect[] = {entropy, 18.0 * kHalfLogTwoPi, 10.0 * kHalfLogTwoPi};
  for (int level = 0; level <= 2; ++level) {
    CAPTURE(level);
    double first = 0.0;
    for (std::uint32_t epoch = 0; epoch < 25; ++epoch) {
      REQUIRE(network.trainer
                  .run_layer_epoch(network.backend, network.vae, settings, level, epoch,
                                   rows.view(), &report)
                  .ok());
      REQUIRE(report.skipped_steps == 0);
      if (epoch == 0) first = report.loss.loss;
    }
    check_lower(first, report.loss.loss, perfect[level], 0.6);
  }

  VaeBatch pattern;
  pattern.mixture = prior.view();
  pattern.prior_weight = 0.0F;
  pattern.sample = false;
  double first = 0.0;
  for (std::uint32_t epoch = 0; epoch < 25; ++epoch) {
    REQUIRE(
        network.trainer
            .run_epoch(network.backend, network.vae, settings, epoch, rows.view(), pattern, &report)
            .ok());
    REQUIRE(report.skipped_steps == 0);
    if (epoch == 0) first = report.loss.loss;
    CHECK(report.loss.mixture == 0.0);
    CHECK(report.loss.entropy == 0.0);
  }
  check_lower(first, report.loss.loss, entropy, 0.4);

  // Pretraining pays: a network without it starts the same epochs higher.
  NetworkFixture raw(config, rows.rows);
  raw.vae.initialise(6);
  raw.vae.optimiser().settings().adam.learning_rate = 3e-3F;
  REQUIRE(
      raw.trainer.run_epoch(raw.backend, raw.vae, settings, 0, rows.view(), pattern, &report).ok());
  CHECK(report.loss.loss > first + 1.0);
}

// The same seed gives the same bytes, whatever the number of threads; a row's result and its noise
// do not depend on the rows beside it.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "base/sampling.h"
#include "support/network_fixture.h"
#include "support/test_thread.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

// Runs task i on worker i mod `workers`, each a thread of its own for the length of the call.
class ThreadTeam {
 public:
  explicit ThreadTeam(Index workers) : workers_(workers) {}

  ParallelFor parallel_for() { return {&ThreadTeam::run, this}; }
  Index split_operations() const { return split_operations_; }

 private:
  static void run(void* context, Index count, ParallelFor::Task task, void* argument) {
    auto* const team = static_cast<ThreadTeam*>(context);
    if (count > 1) ++team->split_operations_;
    std::vector<TestThread> threads;
    for (Index worker = 0; worker < team->workers_; ++worker) {
      threads.emplace_back([=] {
        // From the end: neither the order of the tasks may matter.
        for (Index i = count - 1; i >= 0; --i) {
          if (i % team->workers_ == worker) task(argument, i);
        }
      });
    }
    for (TestThread& thread : threads) thread.join();
  }

  Index workers_;
  Index split_operations_ = 0;
};

// Large enough that products, rows, softmax, norm and Adam are all cut into tasks.
VaeConfig large_config() {
  VaeConfig config;
  config.inputs = 300;
  config.latent = 10;
  config.hidden_layers = 2;
  config.hidden[0] = 400;
  config.hidden[1] = 200;
  config.max_rows = 256;
  config.max_clusters = 260;
  return config;
}

VaeConfig image_config() {
  VaeConfig config;
  config.inputs = 48;
  config.latent = 3;
  config.hidden_layers = 1;
  config.hidden[0] = 20;
  config.max_rows = 32;
  config.max_clusters = 4;
  return config;
}

TrainingSettings image_settings(std::uint64_t seed) {
  TrainingSettings settings;
  settings.batch = 32;
  settings.corruption = {.mask_probability = 0.2F, .noise_deviation = 0.1F};
  settings.augmentation = {.width = 8,
                           .height = 6,
                           .channels = 1,
                           .shift = 1.0F,
                           .rotation = 0.2F,
                           .scale = 0.1F,
                           .shear = 0.1F};
  settings.seed = seed;
  settings.stream = 3;
  return settings;
}

// Parameters after some epochs of everything random.
std::vector<float> trained(std::uint64_t network_seed, std::uint64_t training_seed,
                           IsaLevel level = IsaLevel::kAuto) {
  const VaeConfig config = image_config();
  const Rows rows = uniform_rows(100, config.inputs, 21);
  const MixtureData mixture = random_mixture(4, config.latent, FactorShape::kLower, 22);
  NetworkFixture network(config, rows.rows, level);
  network.vae.initialise(network_seed);
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  EpochReport report;
  const TrainingSettings settings = image_settings(training_seed);
  for (std::uint32_t epoch = 0; epoch < 2; ++epoch) {
    for (int layer = 0; layer <= 1; ++layer) {
      REQUIRE(network.trainer
                  .run_layer_epoch(network.backend, network.vae, settings, layer, epoch,
                                   rows.view(), &report)
                  .ok());
    }
  }
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    REQUIRE(
        network.trainer
            .run_epoch(network.backend, network.vae, settings, epoch, rows.view(), pattern, &report)
            .ok());
    REQUIRE(report.skipped_steps == 0);
  }
  return network.parameters();
}

struct LargeRun {
  std::vector<float> parameters;
  std::vector<float> rebuilt;
  double loss = 0.0;
};

LargeRun run_large(Index workers, IsaLevel level, Index* split_operations) {
  const VaeConfig config = large_config();
  const Rows rows = uniform_rows(config.max_rows, config.inputs, 31);
  const MixtureData mixture =
      random_mixture(config.max_clusters, config.latent, FactorShape::kLower, 32);
  NetworkFixture network(config, 1, level, std::max<Index>(1, workers));
  ThreadTeam team(workers);
  if (workers > 0) network.backend.set_parallel_for(team.parallel_for());
  network.vae.initialise(7);
  VaeBatch batch;
  batch.input = rows.view();
  batch.target = rows.view();
  batch.mixture = mixture.view();
  LargeRun run;
  for (std::uint32_t step = 0; step < 3; ++step) {
    batch.noise_key.epoch = step;
    VaeLoss loss;
    StepReport report;
    REQUIRE(network.vae.train_step(network.backend, batch, &loss, &report).ok());
    REQUIRE(report.applied);
    run.loss += loss.loss;
  }
  Rows out(config.max_rows, config.inputs);
  REQUIRE(network.vae.reconstruct(network.backend, rows.view(), out.view()).ok());
  run.rebuilt = out.data;
  run.parameters = network.parameters();
  *split_operations = team.split_operations();
  CHECK(network.memory.guards_untouched());
  return run;
}

}  // namespace

TEST_CASE("the same seeds give the same bytes after epochs of every kind") {
  for (const IsaLevel level : available_levels()) {
    CAPTURE(isa_level_name(level));
    const std::vector<float> first = trained(1, 2, level);
    CHECK(same_bytes(first, trained(1, 2, level)));
    CHECK_FALSE(same_bytes(first, trained(2, 2, level)));
    CHECK_FALSE(same_bytes(first, trained(1, 3, level)));
  }
}

TEST_CASE("an epoch is the steps that one would make by hand") {
  const VaeConfig config = image_config();
  const Rows rows = uniform_rows(100, config.inputs, 23, 2);  // three batches of 32 and one of 4
  const MixtureData mixture = random_mixture(4, config.latent, FactorShape::kDiagonal, 24);
  const TrainingSettings settings = image_settings(25);
  NetworkFixture by_trainer(config, rows.rows);
  NetworkFixture by_hand(config);
  for (NetworkFixture* network : {&by_trainer, &by_hand}) {
    network->vae.initialise(1);
    network->vae.optimiser().settings().epoch_decay = 0.5F;
    network->vae.optimiser().settings().step_decay = 0.9F;
  }
  VaeBatch pattern;
  pattern.mixture = mixture.view();
  pattern.prior_weight = 0.5F;
  for (const std::uint32_t epoch : {7U, 8U}) {
    CAPTURE(epoch);
    EpochReport report;
    REQUIRE(by_trainer.trainer
                .run_epoch(by_trainer.backend, by_trainer.vae, settings, epoch, rows.view(),
                           pattern, &report)
                .ok());

    const auto key = [&](RandomPurpose purpose) {
      return RandomKey{
          .seed = settings.seed, .purpose = purpose, .stream = settings.stream, .epoch = epoch};
    };
    std::vector<std::uint32_t> order(100);
    Philox shuffle(key(RandomPurpose::kShuffle));
    fill_permutation(shuffle, order.data(), 100);
    VaeLoss mean;
    for (Index first = 0; first < 100; first += 32) {
      const Index count = std::min<Index>(32, 100 - first);
      const std::uint32_t* const row_id = order.data() + first;
      Rows target(count, config.inputs);
      Rows input(count, config.inputs);
      for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < config.inputs; ++j) target(i, j) = rows(row_id[i], j);
      }
      augment_rows(settings.augmentation, key(RandomPurpose::kAugmentation), row_id, target.view(),
                   input.view());
      corrupt_rows(settings.corruption, key(RandomPurpose::kCorruption), row_id, input.view());
      VaeBatch batch = pattern;
      batch.input = input.view();
      batch.target = target.view();
      batch.noise_key = key(RandomPurpose::kLatentNoise);
      batch.row_id = row_id;
      VaeLoss loss;
      StepReport step;
      REQUIRE(by_hand.vae.train_step(by_hand.backend, batch, &loss, &step).ok());
      REQUIRE(step.applied);
      const double share = static_cast<double>(count) / 100.0;
      mean.log_likelihood += share * loss.log_likelihood;
      mean.mixture += share * loss.mixture;
      mean.entropy += share * loss.entropy;
      mean.loss += share * loss.loss;
    }
    by_hand.vae.optimiser().end_epoch();
    CHECK(same_bytes(by_trainer.parameters(), by_hand.parameters()));
    CHECK(by_trainer.vae.optimiser().learning_rate() == by_hand.vae.optimiser().learning_rate());
    CHECK(report.loss.log_likelihood == doctest::Approx(mean.log_likelihood).epsilon(1e-12));
    CHECK(report.loss.mixture == doctest::Approx(mean.mixture).epsilon(1e-12));
    CHECK(report.loss.entropy == doctest::Approx(mean.entropy).epsilon(1e-12));
    CHECK(report.loss.loss == doctest::Approx(mean.loss).epsilon(1e-12));
    CHECK(report.skipped_steps == 0);
  }
}

TEST_CASE("one thread, two and three give the same bytes") {
  for (const IsaLevel level : available_levels()) {
    // The scalar level is slow, and splits in the same way.
    if (level == IsaLevel::kScalar && available_levels().size() > 1) continue;
    CAPTURE(isa_level_name(level));
    Index splits = 0;
    const LargeRun alone = run_large(0, level, &splits);
    CHECK(splits == 0);
    for (const Index workers : {Index{1}, Index{2}, Index{3}}) {
      CAPTURE(workers);
      const LargeRun together = run_large(workers, level, &splits);
      if (workers > 1)
        CHECK(splits > 30);
      else
        CHECK(splits == 0);  // one worker cuts nothing
      CHECK(same_bytes(together.parameters, alone.parameters));
      CHECK(same_bytes(together.rebuilt, alone.rebuilt));
      CHECK(together.loss == alone.loss);
    }
  }
}

TEST_CASE("encode, decode and reconstruct give a row the same bits in any batch") {
  for (const IsaLevel level : available_levels()) {
    CAPTURE(isa_level_name(level));
    const VaeConfig config = large_config();
    NetworkFixture network(config, 1, level);
    network.vae.initialise(5);
    const Rows rows = uniform_rows(config.max_rows, config.inputs, 41);
    const auto run = [&](Index batch) {
      std::vector<float> all;
      for (Index first = 0; first < rows.rows; first += batch) {
        const Index count = std::min(batch, rows.rows - first);
        const ConstMatrixView x = rows.view().row_range(first, count);
        Rows mean(count, config.latent);
        Rows variance(count, config.latent);
        Rows decoded(count, config.inputs);
        Rows rebuilt(count, config.inputs);
        REQUIRE(network.vae.encode(network.backend, x, mean.view(), variance.view()).ok());
        REQUIRE(network.vae.decode(network.backend, mean.view(), decoded.view()).ok());
        REQUIRE(network.vae.reconstruct(network.backend, x, rebuilt.view()).ok());
        for (Index i = 0; i < count; ++i) {
          for (Index j = 0; j < config.latent; ++j) all.push_back(mean(i, j));
          for (Index j = 0; j < config.latent; ++j) all.push_back(variance(i, j));
          for (Index j = 0; j < config.inputs; ++j) all.push_back(decoded(i, j));
          for (Index j = 0; j < config.inputs; ++j) all.push_back(rebuilt(i, j));
        }
      }
      return all;
    };
    const std::vector<float> whole = run(config.max_rows);
    for (const Index batch : {1, 2, 5, 13, 100}) {
      CAPTURE(batch);
      CHECK(same_bytes(run(batch), whole));
    }
  }
}

TEST_CASE("the noise of a row does not depend on the split into batches") {
  const VaeConfig config = image_config();
  NetworkFixture network(config);
  network.vae.initialise(6);
  constexpr Index kRows = 29;
  const Rows rows = uniform_rows(kRows, config.inputs, 51);
  const MixtureData mixture = random_mixture(3, config.latent, FactorShape::kLower, 52);
  std::vector<std::uint32_t> row_id(kRows);
  for (Index i = 0; i < kRows; ++i) row_id[i] = static_cast<std::uint32_t>((i * 17) % kRows);

  // The loss of a batch is a mean over its rows in double, so sums of parts equal the whole up to
  // the rounding of a double, if and only if each row got the same noise.
  const auto total_loss = [&](Index batch_rows, const std::uint32_t* ids) {
    double total = 0.0;
    for (Index first = 0; first < kRows; first += batch_rows) {
      const Index count = std::min(batch_rows, kRows - first);
      VaeBatch batch;
      batch.input = rows.view().row_range(first, count);
      batch.target = batch.input;
      batch.mixture = mixture.view();
      batch.noise_key.seed = 8;
      batch.row_id = ids == nullptr ? nullptr : ids + first;
      VaeLoss loss;
      REQUIRE(network.vae.compute_loss(network.backend, batch, &loss).ok());
      total += loss.loss * static_cast<double>(count);
    }
    return total;
  };
  const double whole = total_loss(kRows, row_id.data());
  for (const Index batch : {1, 4, 10, 28}) {
    CAPTURE(batch);
    CHECK(std::fabs(total_loss(batch, row_id.data()) - whole) <= 1e-10 * std::fabs(whole));
  }
  // Without ids a row is numbered by its place in the batch: other noise, another loss.
  CHECK(std::fabs(total_loss(kRows, nullptr) - whole) > 1e-4 * std::fabs(whole));
  std::vector<std::uint32_t> in_order(kRows);
  for (Index i = 0; i < kRows; ++i) in_order[i] = static_cast<std::uint32_t>(i);
  CHECK(total_loss(kRows, in_order.data()) == total_loss(kRows, nullptr));
}

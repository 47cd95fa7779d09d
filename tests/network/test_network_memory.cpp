// Nothing allocates after place(), the plan is exact to the byte, and nobody writes beyond it.
#include <cmath>
#include <cstdlib>
#include <new>
#include <vector>

#include <doctest/doctest.h>

#include "network/standardiser.h"
#include "support/allocation_trap.h"
#include "support/network_fixture.h"

using namespace adapvae;
using namespace adapvae::testing;

namespace {

// Odd sizes: hardly a block ends on a multiple of the alignment.
VaeConfig odd_config(Likelihood likelihood, bool trainable = true) {
  VaeConfig config;
  config.inputs = 35;
  config.latent = 3;
  config.hidden_layers = 2;
  config.hidden[0] = 53;
  config.hidden[1] = 17;
  config.likelihood.kind = likelihood;
  config.max_rows = 61;
  config.max_clusters = 5;
  config.trainable = trainable;
  return config;
}

TrainingSettings busy_settings() {
  TrainingSettings settings;
  settings.batch = 61;
  settings.corruption = {.mask_probability = 0.2F, .noise_deviation = 0.1F};
  settings.augmentation = {.width = 7,
                           .height = 5,
                           .channels = 1,
                           .shift = 1.0F,
                           .rotation = 0.2F,
                           .scale = 0.1F,
                           .shear = 0.1F};
  settings.seed = 5;
  return settings;
}

// What the trap must see, done through pointers that the optimiser cannot look through.
void* (*volatile allocate)(std::size_t) = std::malloc;
void* (*volatile allocate_cleared)(std::size_t, std::size_t) = std::calloc;
void* (*volatile resize)(void*, std::size_t) = std::realloc;
void* (*volatile allocate_aligned)(std::size_t, std::size_t) = std::aligned_alloc;
void (*volatile release)(void*) = std::free;
int* volatile sink = nullptr;

// Every call that a running model makes. Counts the calls that failed; allocates nothing itself.
int use_everything(NetworkFixture& network, Standardiser& standardiser, const Rows& rows,
                   const MixtureData& mixture, Rows& mean, Rows& variance, Rows& out) {
  int failures = 0;
  const auto expect = [&failures](const Status& status) { failures += status.ok() ? 0 : 1; };
  const Index capacity = network.vae.config().max_rows;
  const ConstMatrixView some = rows.view().row_range(0, capacity);
  const TrainingSettings settings = busy_settings();

  network.vae.initialise(3);
  VaeBatch batch;
  batch.input = some;
  batch.target = some;
  batch.mixture = mixture.view();
  VaeLoss loss;
  StepReport step;
  expect(network.vae.compute_loss(network.backend, batch, &loss));
  expect(network.vae.compute_gradient(network.backend, batch, &loss));
  expect(network.vae.train_step(network.backend, batch, &loss, &step));
  failures += step.applied ? 0 : 1;
  expect(network.vae.encode(network.backend, some, mean.view(), variance.view()));
  expect(network.vae.decode(network.backend, mean.view(), out.view()));
  expect(network.vae.reconstruct(network.backend, some, out.view()));
  EpochReport report;
  for (int level = 0; level <= network.vae.config().hidden_layers; ++level) {
    expect(network.trainer.run_layer_epoch(network.backend, network.vae, settings, level, 1,
                                           rows.view(), &report));
    failures += report.skipped_steps == 0 ? 0 : 1;
  }
  expect(network.trainer.run_epoch(network.backend, network.vae, settings, 2, rows.view(), batch,
                                   &report));
  failures += report.skipped_steps == 0 ? 0 : 1;
  standardiser.reset();
  standardiser.update(some);
  standardiser.apply(some, out.view());
  standardiser.invert(out.view(), out.view());
  return failures;
}

}  // namespace

TEST_CASE("the allocation trap sees every kind of allocation") {
  if (!allocation_trap_active()) {
    MESSAGE("no allocation trap under a sanitizer");
    CHECK(allocation_count().allocations == 0);
    return;
  }
  const auto counted = [](auto&& work) {
    const AllocationCount before = allocation_count();
    work();
    const AllocationCount after = allocation_count();
    return AllocationCount{after.allocations - before.allocations,
                           after.releases - before.releases};
  };
  const AllocationCount nothing = counted([] {});
  CHECK(nothing.allocations == 0);
  CHECK(nothing.releases == 0);
  const AllocationCount vector = counted([] {
    std::vector<int> numbers(100);
    sink = numbers.data();
    release(nullptr);
  });
  CHECK(vector.allocations == 1);
  CHECK(vector.releases == 1);
  const AllocationCount aligned = counted([] {
    ::operator delete (::operator new (256, std::align_val_t{64}), std::align_val_t{64});
    ::operator delete(::operator new(256));
  });
  CHECK(aligned.allocations == 2);
  CHECK(aligned.releases == 2);
  if (!allocation_trap_sees_malloc()) return;
  const AllocationCount plain = counted([] {
    void* block = allocate(10);
    block = resize(block, 1000);
    release(block);
    release(allocate_cleared(10, 10));
    release(allocate_aligned(64, 128));
  });
  CHECK(plain.allocations == 4);
  CHECK(plain.releases == 3);
}

TEST_CASE("nothing allocates between place and the end") {
  for (const Likelihood likelihood :
       {Likelihood::kBernoulli, Likelihood::kGaussian, Likelihood::kGaussianLearned}) {
    for (const IsaLevel level : available_levels()) {
      const VaeConfig config = odd_config(likelihood);
      CAPTURE(static_cast<int>(likelihood));
      CAPTURE(isa_level_name(level));
      const Rows rows = uniform_rows(150, config.inputs, 11, 2);
      const MixtureData mixture =
          random_mixture(config.max_clusters, config.latent, FactorShape::kLower, 12);
      Rows mean(config.max_rows, config.latent);
      Rows variance(config.max_rows, config.latent);
      Rows out(config.max_rows, config.inputs);
      Standardiser standardiser;
      GuardedMemory standardiser_memory(planned_bytes([&](Arena& arena) {
        Standardiser().place(arena, config.inputs, Scaling::kMeanVariance);
      }));
      NetworkFixture network(config, rows.rows, level);

      const AllocationCount before = allocation_count();
      // Placing itself allocates nothing, either.
      Arena again(network.memory.data(), network.memory.size());
      network.backend.place(again, compute_limits(config), *select_kernels(level));
      network.vae.place(again, config);
      network.trainer.place(again, rows.rows, config);
      Arena arena(standardiser_memory.data(), standardiser_memory.size());
      standardiser.place(arena, config.inputs, Scaling::kMeanVariance);
      const int failures =
          use_everything(network, standardiser, rows, mixture, mean, variance, out);
      const AllocationCount after = allocation_count();

      CHECK(failures == 0);
      CHECK(after.allocations == before.allocations);
      CHECK(after.releases == before.releases);
      CHECK(network.memory.guards_untouched());
      CHECK(standardiser_memory.guards_untouched());
    }
  }
}

TEST_CASE("the plan is exact: as many bytes as used, and not one less would do") {
  for (const bool trainable : {true, false}) {
    for (const int hidden_layers : {0, 1, 2}) {
      CAPTURE(trainable);
      CAPTURE(hidden_layers);
      VaeConfig config = odd_config(Likelihood::kGaussianLearned, trainable);
      config.hidden_layers = hidden_layers;
      REQUIRE(check_config(config).ok());
      const std::size_t planned = NetworkFixture::planned(config, 77);
      NetworkFixture network(config, 77);
      CHECK(planned > 0);
      CHECK_FALSE(network.arena.failed());
      CHECK(network.arena.used() == planned);
      CHECK(network.memory.size() == planned);

      GuardedMemory small(planned - 1);
      Arena arena(small.data(), small.size());
      CpuBackend backend;
      Vae vae;
      Trainer trainer;
      backend.place(arena, compute_limits(config), *select_kernels(IsaLevel::kAuto));
      vae.place(arena, config);
      CHECK_FALSE(arena.failed());
      trainer.place(arena, 77, config);
      CHECK(arena.failed());
    }
  }
}

TEST_CASE("each part's plan is exact on its own") {
  const VaeConfig config = odd_config(Likelihood::kBernoulli);
  const auto check = [](auto&& place) {
    const std::size_t planned = planned_bytes(place);
    REQUIRE(planned > 0);
    GuardedMemory memory(planned);
    Arena arena(memory.data(), planned);
    place(arena);
    CHECK_FALSE(arena.failed());
    CHECK(arena.used() == planned);
    Arena small(memory.data(), planned - 1);
    place(small);
    CHECK(small.failed());
    CHECK(memory.guards_untouched());
  };
  check([&](Arena& arena) { Vae().place(arena, config); });
  check([&](Arena& arena) { Trainer().place(arena, 1000, config); });
  check([&](Arena& arena) { Optimiser().place(arena, 1001); });
  check([&](Arena& arena) { Standardiser().place(arena, 13, Scaling::kMinMax); });
  CHECK(planned_bytes([&](Arena& arena) { Standardiser().place(arena, 13, Scaling::kOff); }) == 0);
}

TEST_CASE("a network for inference needs less memory and still encodes and decodes") {
  const VaeConfig config = odd_config(Likelihood::kBernoulli);
  const VaeConfig inference = odd_config(Likelihood::kBernoulli, false);
  const auto bytes = [](const VaeConfig& of) {
    return planned_bytes([&](Arena& arena) { Vae().place(arena, of); });
  };
  const Index parameters = NetworkFixture(config).vae.parameter_count();
  CHECK(bytes(inference) + 3 * sizeof(float) * static_cast<std::size_t>(parameters) <=
        bytes(config));

  NetworkFixture network(inference);
  network.vae.initialise(1);
  const Rows rows = uniform_rows(config.max_rows, config.inputs, 4);
  Rows out(config.max_rows, config.inputs);
  CHECK(network.vae.reconstruct(network.backend, rows.view(), out.view()).ok());
  VaeBatch batch;
  VaeLoss loss;
  StepReport step;
  EpochReport report;
  CHECK(network.vae.compute_gradient(network.backend, batch, &loss).code() ==
        StatusCode::kUnavailable);
  CHECK(network.vae.train_step(network.backend, batch, &loss, &step).code() ==
        StatusCode::kUnavailable);
  CHECK(network.trainer.run_epoch(network.backend, network.vae, {}, 0, rows.view(), batch, &report)
            .code() == StatusCode::kUnavailable);
  CHECK(
      network.trainer.run_layer_epoch(network.backend, network.vae, {}, 0, 0, rows.view(), &report)
          .code() == StatusCode::kUnavailable);
  CHECK(network.memory.guards_untouched());
}

TEST_CASE("nothing is read before it was written") {
  // All memory starts as NaN: one number too many would poison a result.
  for (const IsaLevel level : available_levels()) {
    CAPTURE(isa_level_name(level));
    const VaeConfig config = odd_config(Likelihood::kGaussianLearned);
    const Rows rows = random_rows(150, config.inputs, 11);
    const MixtureData mixture =
        random_mixture(config.max_clusters, config.latent, FactorShape::kDiagonal, 12);
    NetworkFixture network(config, rows.rows, level);
    network.vae.initialise(9);
    VaeBatch batch;
    batch.mixture = mixture.view();
    EpochReport report;
    TrainingSettings settings = busy_settings();
    settings.batch = 40;
    for (int i = 0; i <= 2; ++i) {
      REQUIRE(
          network.trainer
              .run_layer_epoch(network.backend, network.vae, settings, i, 0, rows.view(), &report)
              .ok());
      CHECK(report.skipped_steps == 0);
    }
    REQUIRE(network.trainer
                .run_epoch(network.backend, network.vae, settings, 0, rows.view(), batch, &report)
                .ok());
    CHECK(report.skipped_steps == 0);
    bool finite = true;
    for (const float value : network.parameters()) finite = finite && std::isfinite(value);
    CHECK(finite);
    CHECK(network.memory.guards_untouched());
  }
}

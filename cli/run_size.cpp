// size: what a configuration takes, before anything runs on the device that it is for.
#include <cstdio>
#include <cstdlib>

#include "cli/settings.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

struct Sizes {
  std::size_t learner = 0;   // all that a model takes
  std::size_t scorer = 0;    // that copies the weights …
  std::size_t in_place = 0;  // … or reads them in flash
  std::size_t weights = 0;
  std::size_t snapshot = 0;  // of a model that has learnt nothing
};

bool work_out(const adapvae_config& config, Sizes& sizes, std::string& error) {
  auto why = sized<adapvae_error>();
  auto options = sized<adapvae_options>();
  const ModelHandle model = create_model(config, nullptr, error);
  if (!model) return false;
  adapvae_model* made = model.get();
  adapvae_memory_required(&config, nullptr, &sizes.learner, nullptr);
  adapvae_save(made, nullptr, 0, &sizes.snapshot);
  std::vector<std::byte> bytes(sizes.snapshot);
  adapvae_status status = adapvae_save(made, bytes.data(), bytes.size(), &sizes.snapshot);
  const auto scorer = [&](std::size_t& size) {
    if (status != ADAPVAE_OK) return;
    status = adapvae_create_scorer_from(bytes.data(), bytes.size(), &options, nullptr, &size, &why);
  };
  scorer(sizes.scorer);
  options.in_place = 1;
  scorer(sizes.in_place);
  sizes.weights = sizes.scorer - sizes.in_place;
  if (status != ADAPVAE_OK) error = why.message;
  return status == ADAPVAE_OK;
}

}  // namespace

int run_size(const Arguments& arguments) {
  // Small devices compute with scalar kernels, whose scratch memory is smaller.
  setenv("ADAPVAE_ISA", "scalar", 0);
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  std::string error;
  if (!apply_settings(arguments, config, error)) return fail(error, 2);
  if (const auto inputs = arguments.value("--inputs")) {
    auto why = sized<adapvae_error>();
    if (adapvae_config_set(&config, "inputs", inputs->c_str(), &why) != ADAPVAE_OK) {
      return fail(std::string("--inputs: ") + why.message, 2);
    }
  }
  Sizes sizes;
  if (!work_out(config, sizes, error)) return fail(error);
  if (arguments.has("--json")) {
    std::printf(
        "{\"learner_bytes\":%zu,\"scorer_bytes\":%zu,\"scorer_in_place_bytes\":%zu,"
        "\"weight_bytes\":%zu,\"snapshot_bytes\":%zu,\"stream_bytes\":%zu}\n",
        sizes.learner, sizes.scorer, sizes.in_place, sizes.weights, sizes.snapshot,
        sizeof(float) * static_cast<std::size_t>(config.block_rows) *
            static_cast<std::size_t>(config.inputs));
    return 0;
  }
  std::printf("RAM, a model that learns        %9zu bytes\n", sizes.learner);
  std::printf("RAM, a scorer                   %9zu\n", sizes.scorer);
  std::printf("RAM, a scorer, weights in flash %9zu\n", sizes.in_place);
  std::printf("flash, a snapshot at first      %9zu, %zu of them weights; it grows with clusters\n",
              sizes.snapshot, sizes.weights);
  std::printf(
      "As this machine counts, with pointers of %zu bits; 32 bits take less. Stack of every call "
      "and"
      "\nflash of the library: docs/results/edge.md.\n",
      8 * sizeof(void*));
  return 0;
}

}  // namespace adapvae::cli

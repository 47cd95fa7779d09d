// ./run demo: trains the network as a plain variational autoencoder on the digits that ship with
// the project, prints its progress, and writes pictures of what it learnt.
//
//   vae_demo DATA_FOLDER OUTPUT_FOLDER
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/sampling.h"
#include "tools/idx_file.h"
#include "tools/image_grid.h"
#include "tools/plain_vae.h"
#include "tools/thread_pool.h"

namespace {

using namespace adapvae;

constexpr std::uint64_t kSeed = 1;
constexpr std::uint32_t kEpochs = 40;
constexpr Index kHeldOut = 500;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int fail(const std::string& message) {
  std::fprintf(stderr, "vae_demo: %s\n", message.c_str());
  return 1;
}
int fail(const Status& status) { return fail(std::string(status.message())); }

// Two lines of digits and, under each, its reconstruction; then new ones from the prior.
Status draw_pictures(Backend& backend, Vae& vae, ConstMatrixView held_out,
                     const std::filesystem::path& folder, std::string& error) {
  constexpr Index kColumns = 16;
  const Index d = held_out.cols;
  std::vector<float> pairs(static_cast<std::size_t>(4 * kColumns * d));
  for (Index line = 0; line < 2; ++line) {
    const ConstMatrixView digits = held_out.row_range(line * kColumns, kColumns);
    const MatrixView top(pairs.data() + 2 * line * kColumns * d, kColumns, d);
    for (Index i = 0; i < kColumns; ++i) std::copy_n(digits.row(i), d, top.row(i));
    ADAPVAE_RETURN_IF_ERROR(
        vae.reconstruct(backend, digits, MatrixView(top.data + kColumns * d, kColumns, d)));
  }
  std::vector<float> z(static_cast<std::size_t>(4 * kColumns * vae.config().latent));
  Philox random({.seed = kSeed});
  fill_normal(random, z.data(), static_cast<Index>(z.size()));
  std::vector<float> samples(static_cast<std::size_t>(4 * kColumns * d));
  ADAPVAE_RETURN_IF_ERROR(vae.decode(backend,
                                     ConstMatrixView(z.data(), 4 * kColumns, vae.config().latent),
                                     MatrixView(samples.data(), 4 * kColumns, d)));
  const tools::ImageGridLayout layout = {
      .image_width = 28, .image_height = 28, .columns = kColumns, .zoom = 2};
  const auto write = [&](const std::vector<float>& images, const char* name) {
    return tools::write_image_grid(ConstMatrixView(images.data(), 4 * kColumns, d), layout,
                                   (folder / name).string(), error);
  };
  if (!write(pairs, "reconstructions.png") || !write(samples, "samples.png")) {
    return {StatusCode::kUnavailable, "could not write a picture"};
  }
  return {};
}

int run(const std::string& data_folder, const std::filesystem::path& output_folder) {
  std::string error;
  auto data = tools::read_idx_file(data_folder + "/mnist-5000-images.idx.gz", error);
  if (!data) return fail(error);
  for (float& value : data->values) value /= 255.0F;
  std::error_code folder_error;
  std::filesystem::create_directories(output_folder, folder_error);
  if (folder_error) return fail("cannot make " + output_folder.string());
  const ConstMatrixView all = data->matrix();
  const ConstMatrixView train = all.row_range(0, all.rows - kHeldOut);
  const ConstMatrixView held_out = all.row_range(all.rows - kHeldOut, kHeldOut);

  VaeConfig config;
  config.inputs = all.cols;
  config.latent = 10;
  config.hidden_layers = 2;
  config.hidden[0] = 256;
  config.hidden[1] = 128;
  config.max_rows = kHeldOut;
  if (const Status status = check_config(config); !status.ok()) return fail(status);

  const int workers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  tools::PlainVae network(config, train.rows, workers);
  CpuBackend& backend = network.backend();
  Vae& vae = network.vae();
  vae.initialise(kSeed);
  tools::ThreadPool pool(workers);
  if (workers > 1) backend.set_parallel_for(pool.parallel_for());

  std::printf(
      "plain VAE %td-256-128-%td and mirror, %td parameters, %.1f MB in all, %s, "
      "%d thread%s\n",
      config.inputs, config.latent, vae.parameter_count(),
      static_cast<double>(network.bytes()) / 1e6, backend.name(), workers, workers > 1 ? "s" : "");
  std::printf("%td digits to learn from, %td held out; nats per digit\n\n", train.rows,
              held_out.rows);
  std::printf("epoch     loss   log p(x|z)       KL   held out   rows/s\n");

  const VaeBatch objective = network.objective();
  TrainingSettings settings;
  settings.seed = kSeed;
  const double start = now();
  for (std::uint32_t epoch = 1; epoch <= kEpochs; ++epoch) {
    const double epoch_start = now();
    EpochReport report;
    Status status =
        network.trainer().run_epoch(backend, vae, settings, epoch, train, objective, &report);
    if (!status.ok()) return fail(status);
    const double seconds = now() - epoch_start;
    VaeBatch test = objective;
    test.input = held_out;
    test.target = held_out;
    VaeLoss held_out_loss;
    status = vae.compute_loss(backend, test, &held_out_loss);
    if (!status.ok()) return fail(status);
    std::printf("%5u %8.2f     %8.2f %8.2f   %8.2f %8.0f\n", epoch, report.loss.loss,
                report.loss.log_likelihood, -(report.loss.mixture + report.loss.entropy),
                held_out_loss.loss, static_cast<double>(train.rows) / seconds);
    std::fflush(stdout);
  }
  const Status status = draw_pictures(backend, vae, held_out, output_folder, error);
  if (!status.ok()) return error.empty() ? fail(status) : fail(error);
  std::printf("\n%.1f s. Pictures: %s, %s\n", now() - start,
              (output_folder / "reconstructions.png").c_str(),
              (output_folder / "samples.png").c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: vae_demo DATA_FOLDER OUTPUT_FOLDER\n");
    return 2;
  }
  return run(argv[1], argv[2]);
}

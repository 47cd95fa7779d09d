// Our half of ./run curve: trains a plain VAE on all rows of an IDX file and prints the mean loss
// of every epoch. The start is written to a file first, so that a peer can start from it.
//
//   vae_curve IMAGES EPOCHS INITIAL_PARAMETERS_OUT
// The network is 784-256-64-10, batch 100; parameters are float32 in the order of the library:
// encoder layers then decoder layers, each weights [inputs × outputs] then bias.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/idx_file.h"
#include "tools/plain_vae.h"

int main(int argc, char** argv) {
  using namespace adapvae;
  if (argc != 4) {
    std::fprintf(stderr, "usage: vae_curve IMAGES EPOCHS INITIAL_PARAMETERS_OUT\n");
    return 2;
  }
  std::string error;
  auto data = tools::read_idx_file(argv[1], error);
  if (!data) {
    std::fprintf(stderr, "vae_curve: %s\n", error.c_str());
    return 1;
  }
  for (float& value : data->values) value /= 255.0F;

  VaeConfig config;
  config.inputs = data->row_size();
  config.latent = 10;
  config.hidden_layers = 2;
  config.hidden[0] = 256;
  config.hidden[1] = 64;
  config.max_rows = 100;
  tools::PlainVae network(config, data->rows());
  Vae& vae = network.vae();
  vae.initialise(7);

  std::FILE* start = std::fopen(argv[3], "wb");
  const auto count = static_cast<std::size_t>(vae.parameter_count());
  if (start == nullptr || std::fwrite(vae.parameters(), sizeof(float), count, start) != count ||
      std::fclose(start) != 0) {
    std::fprintf(stderr, "vae_curve: cannot write %s\n", argv[3]);
    return 1;
  }

  const ConstMatrixView rows(data->values.data(), data->rows(), data->row_size());
  TrainingSettings settings;
  for (std::uint32_t epoch = 0; epoch < static_cast<std::uint32_t>(std::atoi(argv[2])); ++epoch) {
    EpochReport report;
    const Status status = network.trainer().run_epoch(network.backend(), vae, settings, epoch, rows,
                                                      network.objective(), &report);
    if (!status.ok()) {
      std::fprintf(stderr, "vae_curve: %s\n", status.message());
      return 1;
    }
    std::printf("%.6f\n", report.loss.loss);
    std::fflush(stdout);
  }
  return 0;
}

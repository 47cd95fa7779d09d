// tiny-dnn as a peer: the same layers as bench_vae's network with the latent mean alone, trained as
// an autoencoder (tiny-dnn has no variational loss), the same batch and optimiser, one thread.
//
//   tiny_dnn_autoencoder INPUTS,HIDDEN...,LATENT BATCH THREADS
// One line on standard input = one timed burst; prints the best seconds per step.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include <tiny_dnn/tiny_dnn.h>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::vector<std::size_t> widths;
  std::stringstream sizes(argv[1]);
  for (std::string part; std::getline(sizes, part, ',');) widths.push_back(std::stoul(part));
  const std::size_t batch = std::strtoul(argv[2], nullptr, 10);
  for (std::size_t i = widths.size() - 1; i-- > 0;) widths.push_back(widths[i]);

  tiny_dnn::network<tiny_dnn::sequential> network;
  const std::size_t middle = widths.size() / 2;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    using namespace tiny_dnn::activation;
    if (i + 2 == widths.size()) {
      network << tiny_dnn::fully_connected_layer<sigmoid>(widths[i], widths[i + 1]);
    } else if (i + 1 == middle) {
      network << tiny_dnn::fully_connected_layer<identity>(widths[i], widths[i + 1]);
    } else {
      network << tiny_dnn::fully_connected_layer<relu>(widths[i], widths[i + 1]);
    }
  }
  tiny_dnn::adam optimiser;
  constexpr std::size_t kBatches = 10;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform;
  std::vector<tiny_dnn::vec_t> rows(kBatches * batch, tiny_dnn::vec_t(widths.front()));
  for (auto& row : rows) {
    for (auto& value : row) value = uniform(random);
  }
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    const auto start = std::chrono::steady_clock::now();
    network.fit<tiny_dnn::cross_entropy>(optimiser, rows, rows, batch, 1);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9g tiny-dnn\n", seconds.count() / kBatches);
    std::fflush(stdout);
  }
  return 0;
}

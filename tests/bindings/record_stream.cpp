// The golden stream through adapvae.hpp; as tests/wasm/record_stream.c:
//
//   record_stream ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <adapvae/adapvae.hpp>

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  std::ifstream in(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<float> rows(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), rows.size() * sizeof(float), reinterpret_cast<char*>(rows.data()));
  const auto field = [](const std::string& text) { return text.substr(0, text.find('=')); };
  const auto value = [](const std::string& text) { return text.substr(text.find('=') + 1); };
  adapvae::Config config(value(argv[4]).c_str());
  for (int i = 5; i < argc; ++i) config.set(field(argv[i]).c_str(), value(argv[i]));
  adapvae::Model model(config);
  const std::size_t block = std::size_t(std::atoi(argv[2])) * std::size_t(config->inputs);
  for (std::size_t at = 0; at < rows.size(); at += block) {
    const auto report =
        model.learn({rows.begin() + std::ptrdiff_t(at),
                     rows.begin() + std::ptrdiff_t(std::min(at + block, rows.size()))});
    std::printf("{\"stream\":%zu,\"clusters\":%d,\"births\":%d,\"bound\":%.17g,\"loss\":%.17g}\n",
                at / block, report.clusters, report.births, report.bound, report.loss);
  }
  for (const auto& cluster : model.clusters()) {
    std::printf("{\"cluster\":%u,\"components\":%d,\"parent\":%u,\"rows\":%.17g}\n", cluster.id,
                cluster.components, cluster.parent, cluster.rows);
  }
  for (const auto& result : model.score(rows)) {
    std::printf("{\"id\":%u,\"component\":%u,\"novelty\":%.9g}\n", result.id, result.component,
                double(result.novelty));
  }
  const auto file = model.save();
  std::ofstream(argv[3], std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), std::streamsize(file.size()));
}

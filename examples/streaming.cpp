// The same in C++: streams, a scorer for another thread, gains from two places, and what it throws.
#include <cmath>
#include <iostream>
#include <thread>

#include <adapvae/adapvae.hpp>

namespace {

constexpr int kInputs = 12;

// Rows of kinds 0 to kinds - 1, in turn: bumps at different places.
std::vector<float> rows_of(int kinds, int count, unsigned seed) {
  std::vector<float> rows;
  for (int i = 0; i < count; ++i) {
    const float center = 1.5F + 3.0F * static_cast<float>(i % kinds);
    for (int j = 0; j < kInputs; ++j) {
      seed = seed * 1664525U + 1013904223U;
      const float noise = static_cast<float>(seed >> 8) / 16777216.0F;
      const float d = static_cast<float>(j) - center;
      rows.push_back(0.8F * std::exp(-d * d) + 0.1F * noise);
    }
  }
  return rows;
}

}  // namespace

int main() try {
  adapvae::Config config;
  config->inputs = kInputs;
  config->latent = 4;
  config->hidden1 = 64;
  config->hidden2 = 0;
  config->block_rows = 300;
  config.set("sensitivity", "1.0");
  adapvae::Model model(config);

  model.learn(rows_of(2, 300, 1));
  adapvae::Model scorer = model.scorer();  // knows two kinds, whatever comes
  std::thread watcher([&scorer] {
    int novel = 0;
    for (const adapvae_result& row : scorer.score(rows_of(3, 300, 2))) novel += row.novelty > 0.5F;
    std::cout << novel << " of 300 rows are novel\n";
  });
  const adapvae_report report = model.learn(rows_of(3, 300, 3));  // meanwhile
  watcher.join();

  std::cout << report.births << " born in the second stream, " << report.clusters << " clusters\n";
  for (const adapvae_cluster& each : model.clusters()) {
    std::cout << "cluster " << each.id << ": " << each.rows << " rows, out of " << each.parent
              << '\n';
  }
  adapvae::Model copy(model.save());
  if (copy.info().clusters != report.clusters) return 1;

  // Rows that come at two places, each with a copy: what they add comes together.
  const auto here = model.gain(rows_of(3, 300, 4), {1, 1});
  const auto there = copy.gain(rows_of(3, 300, 5), {2, 1});
  model.apply_gains(adapvae::merge_gains(here, there));
  std::cout << model.info().rows << " rows are learnt\n";
  if (model.info().rows != 1200) return 1;
  try {
    model.learn(std::vector<float>(kInputs, NAN));
    return 1;
  } catch (const adapvae::Error& error) {
    std::cout << "refused: " << error.what() << " (row " << error.index << ")\n";
  }
  return report.births >= 1 ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}

#include "bench/paper/outputs.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/sampling.h"
#include "mixture/component.h"
#include "tools/image_grid.h"

namespace adapvae::bench {
namespace {

constexpr int kDraws = 10;

// x of each z, a pass at a time.
std::vector<float> decode(Experiment& experiment, const std::vector<float>& z) {
  const Index m = experiment.model().configuration().latent;
  const Index d = experiment.set().inputs;
  const Index count = static_cast<Index>(z.size()) / m;
  std::vector<float> x(static_cast<std::size_t>(count * d));
  const Index pass = experiment.model().configuration().pass_rows;
  for (Index begin = 0; begin < count; begin += pass) {
    const Index n = std::min(pass, count - begin);
    const Status status = experiment.model().network().decode(
        experiment.backend(), {z.data() + begin * m, n, m}, {x.data() + begin * d, n, d});
    if (!status.ok()) std::fprintf(stderr, "decoding: %s\n", status.message());
  }
  return x;
}

bool write_grid(const DataSet& set, const std::vector<float>& images, int columns,
                const std::string& path, std::string& error) {
  tools::ImageGridLayout layout;
  layout.image_width = set.width;
  layout.image_height = set.height;
  layout.columns = columns;
  layout.zoom = 2;
  return tools::write_image_grid(
      {images.data(), static_cast<Index>(images.size()) / set.inputs, set.inputs}, layout, path,
      error);
}

bool write_floats(const std::string& path, const std::vector<float>& values, std::string& error) {
  FILE* file = std::fopen(path.c_str(), "wb");
  bool good = file != nullptr;
  if (good) good = std::fwrite(values.data(), sizeof(float), values.size(), file) == values.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (!good) error = path + ": cannot be written";
  return good;
}

bool write_pair(Experiment& experiment, const std::vector<float>& rows, const std::string& folder,
                const std::string& part, std::string& error) {
  const Index m = experiment.model().configuration().latent;
  const Index d = experiment.set().inputs;
  const Index count = static_cast<Index>(rows.size()) / d;
  const Index pass = experiment.model().configuration().pass_rows;
  std::vector<float> z(static_cast<std::size_t>(count * m));
  for (Index begin = 0; begin < count; begin += pass) {
    const Index n = std::min(pass, count - begin);
    const Status status = experiment.model().network().encode(
        experiment.backend(), {rows.data() + begin * d, n, d}, {z.data() + begin * m, n, m}, {});
    if (!status.ok()) {
      error = status.message();
      return false;
    }
  }
  return write_floats(folder + "/inputs-" + part + ".f32", rows, error) &&
         write_floats(folder + "/latent-" + part + ".f32", z, error);
}

}  // namespace

void MeansPicture::after_stream(Experiment& experiment) {
  const ClusterLearner& learner = experiment.model().clusters();
  const Index m = experiment.model().configuration().latent;
  const auto d = static_cast<std::ptrdiff_t>(experiment.set().inputs);
  std::vector<float> z;
  for (Index k = 0; k < learner.mixture().clusters(); ++k) {
    const double* mean = learner.mixture().posterior(k).mean;
    for (Index j = 0; j < m; ++j) z.push_back(static_cast<float>(mean[j]));
  }
  const std::vector<float> x = decode(experiment, z);
  streams_.emplace_back();
  for (Index k = 0; k < learner.mixture().clusters(); ++k) {
    streams_.back()[learner.registry().info(k).id] = {x.begin() + k * d, x.begin() + (k + 1) * d};
  }
}

bool MeansPicture::write(const DataSet& set, const std::string& path, std::string& error) const {
  std::set<ClusterId> ids;
  for (const auto& stream : streams_) {
    for (const auto& cluster : stream) ids.insert(cluster.first);
  }
  std::vector<float> images;
  const std::vector<float> dark(static_cast<std::size_t>(set.inputs), 0.0F);
  for (const auto& stream : streams_) {
    for (const ClusterId id : ids) {
      const auto at = stream.find(id);
      const std::vector<float>& image = at == stream.end() ? dark : at->second;
      images.insert(images.end(), image.begin(), image.end());
    }
  }
  return write_grid(set, images, static_cast<int>(ids.size()), path, error);
}

bool write_samples(Experiment& experiment, std::uint64_t seed, const std::string& path,
                   std::string& error) {
  const Mixture& mixture = experiment.model().clusters().mixture();
  const ClusterShape& shape = mixture.config().shape;
  const auto m = static_cast<std::size_t>(shape.dims);
  const double radius = experiment.model().configuration().replay_radius;
  std::vector<double> draw(m), scratch(m);
  std::vector<float> z;
  for (Index k = 0; k < mixture.clusters(); ++k) {
    Philox random({.seed = seed, .index = static_cast<std::uint32_t>(k)});
    for (int i = 0; i < kDraws; ++i) {
      sample_predictive(shape, mixture.posterior(k), radius, random, draw.data(), scratch.data());
      for (const double value : draw) z.push_back(static_cast<float>(value));
    }
  }
  return write_grid(experiment.set(), decode(experiment, z), kDraws, path, error);
}

bool write_vectors(Experiment& experiment, const std::string& folder, std::string& error) {
  const DataSet& set = experiment.set();
  std::vector<float> rows;
  for (const Stage& stage : experiment.streams().stages) {
    for (const std::uint32_t i : stage.rows) {
      rows.insert(rows.end(), set.train_row(i), set.train_row(i) + set.inputs);
    }
  }
  const std::vector<float> labels(set.test.label.begin(), set.test.label.end());
  return write_pair(experiment, rows, folder, "train", error) &&
         write_pair(experiment, set.test.values, folder, "test", error) &&
         write_floats(folder + "/labels-test.f32", labels, error);
}

}  // namespace adapvae::bench

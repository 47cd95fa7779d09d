// Streams that numbers find hard: constant, tiny, huge, exploding, heavy-tailed, discrete. Whatever
// comes, results are finite and within their range, a refusal is a documented one and leaves the
// same bytes, a model loads what it has saved, and ordinary rows are learnt again afterwards.
#include <algorithm>
#include <cfloat>
#include <functional>

#include "support/capi_fixture.h"
#include "support/test_size.h"

using namespace adapvae_test;
using adapvae::testing::brief_size;
using adapvae::testing::full_size;
using adapvae::testing::repeats;

namespace {

constexpr int32_t kRows = 60;
constexpr int32_t kWidth = 16;
constexpr double kLargestUnscaled = 1e12;

enum Likelihood : int32_t { kBernoulli = 0, kGaussian = 1, kLearned = 2 };

// Three kinds of rows in [0, 1].
void add_ordinary(Noise& noise, int32_t rows, int32_t inputs, std::vector<float>& out) {
  for (int32_t i = 0; i < rows; ++i) {
    Noise pattern(static_cast<uint64_t>(1 + noise.uniform() * 3.0) << 32);
    for (int32_t j = 0; j < inputs; ++j) {
      const double value = 0.15 + 0.7 * pattern.uniform() + 0.05 * noise.normal();
      out.push_back(static_cast<float>(std::clamp(value, 0.0, 1.0)));
    }
  }
}

std::vector<float> ordinary(Noise& noise, int32_t rows, int32_t inputs) {
  std::vector<float> out;
  add_ordinary(noise, rows, inputs, out);
  return out;
}

// What one number of a block is: block, row and column count from 0; `ordinary` is what an ordinary
// row has there.
struct Place {
  int block;
  int row;
  int column;
  double ordinary;
};
struct Stream {
  const char* name;
  double (*value)(Noise& noise, const Place& at);
};

const Stream kStreams[] = {
    {"constant", [](Noise&, const Place&) { return 0.5; }},
    {"zero", [](Noise&, const Place&) { return 0.0; }},
    {"the same row", [](Noise&, const Place& at) { return 0.05 * at.column; }},
    {"1e30", [](Noise& noise, const Place&) { return 1e30 * noise.normal(); }},
    {"1e12", [](Noise& noise, const Place&) { return 1e11 * noise.normal(); }},
    {"1e-30", [](Noise& noise, const Place&) { return 1e-30 * noise.normal(); }},
    {"1e30 and 1e-30",
     [](Noise& noise, const Place& at) {
       return (at.row % 2 == 0 ? 1e30 : 1e-30) * noise.normal();
     }},
    {"denormal", [](Noise& noise, const Place&) { return 1e-40 * noise.normal(); }},
    {"one column explodes",
     [](Noise&, const Place& at) {
       const double power = 3.0 * (at.block + 1) + 3.0 * at.row / kRows;
       return at.column == 0 ? at.ordinary * std::pow(10.0, power) : at.ordinary;
     }},
    {"a million times as large",
     [](Noise&, const Place& at) { return at.block == 0 ? at.ordinary : 1e6 * at.ordinary; }},
    {"heavy tails",
     [](Noise& noise, const Place&) {
       return std::tan(3.141592653589793 * (noise.uniform() - 0.5));
     }},
    {"integer codes",
     [](Noise& noise, const Place& at) {
       return std::floor(noise.uniform() * (at.column % 3 == 0 ? 1e6 : 10.0));
     }},
    {"sparse counts",
     [](Noise& noise, const Place&) {
       return noise.uniform() < 0.05 ? std::floor(1.0 + 20.0 * noise.uniform()) : 0.0;
     }},
    {"stuck now and then",
     [](Noise&, const Place& at) { return at.block % 2 == 0 ? 0.5 : at.ordinary; }},
};

std::vector<float> block_of(const Stream& stream, int block, int32_t rows, int32_t inputs,
                            int32_t likelihood, Noise& noise) {
  std::vector<float> out = ordinary(noise, rows, inputs);
  for (int32_t i = 0; i < rows; ++i) {
    for (int32_t j = 0; j < inputs; ++j) {
      float& value = out[static_cast<size_t>(i) * inputs + j];
      const double wide = stream.value(noise, {block, i, j, value});
      value = static_cast<float>(std::clamp(wide, -double{FLT_MAX}, double{FLT_MAX}));
      if (likelihood == kBernoulli) value = std::min(std::fabs(value), 1.0F);
    }
  }
  return out;
}

adapvae_config stress_config(int32_t likelihood, int32_t scale, bool small) {
  adapvae_config config;
  REQUIRE(adapvae_config_init(&config, sizeof config) == ADAPVAE_OK);
  config.inputs = kWidth;
  config.block_rows = config.pass_rows = kRows;
  config.batch = 20;
  config.likelihood = likelihood;
  config.scale_inputs = scale;
  if (small) {
    config.latent = 3;
    config.hidden1 = 16;
    config.hidden2 = 0;
  }
  return config;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}
bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

// A model under stress, with all that must hold of it.
struct Stressed : Handle {
  explicit Stressed(const adapvae_config& given) : Handle(given), config(given) {}

  // Learns a block; true: it was. A refusal must have its reason and leave the same bytes.
  bool learn_block(const std::vector<float>& rows) {
    const auto count = static_cast<int32_t>(rows.size()) / config.inputs;
    const std::vector<unsigned char> before = save();
    report.struct_size = sizeof report;
    const adapvae_status status = adapvae_learn(model, rows.data(), count, 0, &report);
    if (status == ADAPVAE_OK) {
      CHECK(std::isfinite(report.loss));
      CHECK(std::isfinite(report.bound));
      CHECK(std::isfinite(report.largest_drift));
      CHECK(report.skipped_steps == 0);
      return true;
    }
    const bool wide = std::any_of(rows.begin(), rows.end(), [](float x) {
      return std::fabs(x) > static_cast<float>(kLargestUnscaled);
    });
    INFO(message());
    CHECK(status ==
          (wide && config.scale_inputs == 0 ? ADAPVAE_INVALID_ARGUMENT : ADAPVAE_DIVERGED));
    CHECK(save() == before);
    return false;
  }

  void check_rows(const std::vector<float>& rows) {
    const auto count = static_cast<int32_t>(rows.size()) / config.inputs;
    std::vector<adapvae_result> results(static_cast<size_t>(count));
    REQUIRE(adapvae_score(model, rows.data(), count, 0, results.data()) == ADAPVAE_OK);
    bool sound = true;
    for (const adapvae_result& row : results) {
      sound = sound && row.probability >= 0.0F && row.probability <= 1.0F && row.novelty >= 0.0F &&
              row.novelty <= 1.0F && std::isfinite(row.log_density);
    }
    CHECK(sound);
    std::vector<float> features(static_cast<size_t>(count) * config.latent);
    std::vector<float> out(rows.size());
    REQUIRE(adapvae_encode(model, rows.data(), count, 0, features.data(), nullptr) == ADAPVAE_OK);
    REQUIRE(adapvae_reconstruct(model, rows.data(), count, 0, out.data()) == ADAPVAE_OK);
    CHECK(all_finite(features));
    CHECK(all_finite(out));
    for (const int32_t row : {0, count - 1}) {
      const float* numbers = &rows[static_cast<size_t>(row) * config.inputs];
      size_t needed = 0;
      REQUIRE(adapvae_explain(model, numbers, ADAPVAE_JSON, nullptr, 0, &needed) == ADAPVAE_OK);
      std::string text(needed, '\0');
      REQUIRE(adapvae_explain(model, numbers, ADAPVAE_JSON, text.data(), needed, nullptr) ==
              ADAPVAE_OK);
      CHECK(text.find("nan") == std::string::npos);
      CHECK(text.find("inf") == std::string::npos);
    }
  }

  void check_clusters() {
    const adapvae_info known = info();
    double weight = 0.0;
    for (int32_t k = 0; k < known.clusters; ++k) {
      adapvae_cluster cluster = {};
      cluster.struct_size = sizeof cluster;
      REQUIRE(adapvae_cluster_at(model, k, &cluster) == ADAPVAE_OK);
      CHECK((cluster.rows >= 0.0 && cluster.rows <= static_cast<double>(known.rows) * 1.0001));
      CHECK(std::isfinite(cluster.birth_gain));
      weight += cluster.weight;
      std::vector<double> mean(config.latent);
      std::vector<double> covariance(static_cast<size_t>(config.latent) * config.latent);
      REQUIRE(adapvae_moments(model, cluster.id, mean.data(), covariance.data()) == ADAPVAE_OK);
      CHECK(all_finite(mean));
      CHECK(all_finite(covariance));
      for (int32_t j = 0; j < config.latent; ++j) CHECK(covariance[j * (config.latent + 1)] > 0.0);
    }
    if (known.clusters == 0) return;
    CHECK((weight > 0.0 && weight < 1.0001));
    std::vector<float> rows(static_cast<size_t>(8) * config.inputs);
    std::vector<float> features(static_cast<size_t>(8) * config.latent);
    REQUIRE(adapvae_generate(model, ADAPVAE_NO_ID, 1, 8, rows.data(), features.data(), nullptr) ==
            ADAPVAE_OK);
    CHECK(all_finite(rows));
    CHECK(all_finite(features));
  }

  void check_saved() {
    const std::vector<unsigned char> bytes = save();
    Handle fresh(config);
    const adapvae_status status = adapvae_load(fresh.model, bytes.data(), bytes.size());
    INFO(fresh.message());
    REQUIRE(status == ADAPVAE_OK);
    CHECK(fresh.save() == bytes);
  }

  void check(const std::vector<float>& rows) {
    check_rows(rows);
    check_clusters();
    check_saved();
  }

  // Events of this type and reason; reason 0: of any.
  int events(int32_t type, int32_t reason) const {
    int count = 0;
    adapvae_event event = {};
    event.struct_size = sizeof event;
    while (adapvae_next_event(model, &event) == ADAPVAE_OK) {
      count += event.type == type && (reason == 0 || event.reason == reason) ? 1 : 0;
    }
    return count;
  }

  adapvae_config config;
  adapvae_report report = {};
};

// Root of the mean squared error of rows, in the units of the input.
double row_error(const Handle& handle, const std::vector<float>& rows, int32_t inputs) {
  std::vector<float> out(rows.size());
  REQUIRE(adapvae_reconstruct(handle.model, rows.data(), static_cast<int32_t>(rows.size()) / inputs,
                              0, out.data()) == ADAPVAE_OK);
  double sum = 0.0;
  for (size_t i = 0; i < rows.size(); ++i) sum += std::pow(out[i] - rows[i], 2.0);
  return std::sqrt(sum / static_cast<double>(rows.size()));
}

double ordinary_error(const Handle& handle, int32_t inputs) {
  Noise noise(99);
  return row_error(handle, ordinary(noise, 100, inputs), inputs);
}

}  // namespace

TEST_CASE("after a stream that numbers find hard, ordinary rows are learnt again") {
  struct Setting {
    int32_t likelihood;
    int32_t scale;
  };
  const Setting settings[] = {
      {kBernoulli, 0}, {kGaussian, 0}, {kGaussian, 1}, {kLearned, 0}, {kLearned, 1}};
  const int stress_blocks = repeats(3, 3, 6);
  const int ordinary_blocks = repeats(4, 4, 12);
  int turn = 0;
  for (const Setting& setting : settings) {
    for (const bool small : {true, false}) {
      const adapvae_config config = stress_config(setting.likelihood, setting.scale, small);
      Stressed fresh(config);
      Noise plain(7);
      for (int i = 0; i < ordinary_blocks; ++i) {
        REQUIRE(fresh.learn_block(ordinary(plain, kRows, kWidth)));
      }
      const double usual_loss = fresh.report.loss;
      const double usual_error = ordinary_error(fresh, kWidth);
      for (const Stream& stream : kStreams) {
        ++turn;
        for (const bool first : {true, false}) {
          // Usually the small network takes every stream once, the default one every fifth (a third
          // of that at the brief size).
          const int every = (small ? 1 : 5) * (brief_size() ? 3 : 1);
          if (!full_size() && (first != (turn % 2 == 0) || turn % every != 0)) continue;
          const std::string name = std::string(stream.name) + (first ? ", first" : ", later") +
                                   ", likelihood " + std::to_string(setting.likelihood) +
                                   ", scale_inputs " + std::to_string(setting.scale) +
                                   (small ? ", small network" : ", default network");
          INFO(name);
          Stressed stressed(config);
          Noise noise(3);
          if (!first) REQUIRE(stressed.learn_block(ordinary(noise, kRows, kWidth)));
          for (int block = 0; block < stress_blocks; ++block) {
            const std::vector<float> rows =
                block_of(stream, block, kRows, kWidth, setting.likelihood, noise);
            stressed.learn_block(rows);
            stressed.check(rows);
          }
          double stream_error = 0.0;
          for (int block = 0; block < stress_blocks; ++block) {
            const std::vector<float> rows =
                block_of(stream, block, kRows, kWidth, setting.likelihood, noise);
            stream_error = std::max(stream_error, row_error(stressed, rows, kWidth));
          }
          const int known = stressed.events(ADAPVAE_LEARNT, ADAPVAE_REASON_KNOWN);
          Noise later(7);
          for (int i = 0; i < ordinary_blocks; ++i) {
            CHECK(stressed.learn_block(ordinary(later, kRows, kWidth)));
          }
          const int nothing_new = stressed.events(ADAPVAE_LEARNT, ADAPVAE_REASON_KNOWN) - known;
          stressed.check(ordinary(later, kRows, kWidth));
          // Heavy tails that are not clipped stay in the model, and so in its replay.
          const bool tails = setting.scale == 0 && setting.likelihood != kBernoulli &&
                             std::string(stream.name) == "heavy tails";
          if (tails) continue;
          CHECK(stressed.report.loss < usual_loss + 10.0 * kWidth);
          // The first block sets the scale of the inputs, and another range sets it anew.
          if (setting.scale == 1 && (first || stressed.events(ADAPVAE_RESCALED, 0) > 0)) continue;
          // Ordinary rows are reconstructed nearly as well as by a fresh model, which begins as a
          // projection on the principal axes of these very rows. A network that rests, because they
          // fit no worse than what it has learnt, must at least fit them much better (sparse
          // counts).
          const bool rested = 2 * nothing_new > ordinary_blocks;
          const double enough = rested ? 0.5 * stream_error : 0.0;
          CHECK(ordinary_error(stressed, kWidth) < std::max(4.0 * usual_error, enough));
        }
      }
    }
  }
}

// A Bernoulli likelihood costs most for rows of one half; whatever comes then costs less.
TEST_CASE("rows are learnt after a sensor that was stuck at one half") {
  constexpr int32_t kBlock = 200;
  for (const int stuck : {3, 5}) {
    CAPTURE(stuck);
    adapvae_config config = stress_config(kBernoulli, 0, false);
    config.block_rows = config.pass_rows = kBlock;
    config.batch = 100;
    Stressed stressed(config);
    for (int block = 0; block < stuck; ++block) {
      CHECK(stressed.learn_block(std::vector<float>(kBlock * kWidth, 0.5F)));
    }
    CHECK(stressed.report.clusters == 1);
    Noise noise(7);
    for (int block = 0; block < 10; ++block) {
      CHECK(stressed.learn_block(ordinary(noise, kBlock, kWidth)));
    }
    stressed.check(ordinary(noise, kBlock, kWidth));
    CHECK(ordinary_error(stressed, kWidth) < 0.1);  // noise alone: 0.05
    // A cluster of 1,000 equal rows is not divided: what comes later stays in it.
    if (stuck * kBlock < 1000) CHECK(stressed.info().clusters >= 3);
  }
}

TEST_CASE("1 input and 5,000 inputs") {
  for (const int32_t inputs : {1, 5000}) {
    for (const int32_t scale : {0, 1}) {
      CAPTURE(inputs);
      CAPTURE(scale);
      adapvae_config config = stress_config(kGaussian, scale, true);
      config.inputs = inputs;
      config.pretrain_epochs = repeats(5, 5, 40);
      config.adapt_epochs = config.joint_epochs = repeats(2, 2, 8);
      Stressed stressed(config);
      Noise noise(5);
      for (int block = 0; block < repeats(4, 4, 30); ++block) {
        std::vector<float> rows = ordinary(noise, kRows, inputs);
        // The third block is constant, the fourth huge.
        if (block % 4 == 2) std::fill(rows.begin(), rows.end(), 0.25F);
        if (block % 4 == 3) {
          for (float& value : rows) value *= 1e9F;
        }
        const bool learnt = stressed.learn_block(rows);
        CHECK((learnt || (scale == 0 && block % 4 == 3)));
        stressed.check(rows);
      }
    }
  }
}

TEST_CASE("as many clusters as there is room for, and more kinds than that") {
  for (const int32_t room : {1, 2, 4}) {
    CAPTURE(room);
    adapvae_config config = small_config();
    config.max_clusters = room;
    config.block_rows = 200;
    Stressed stressed(config);
    int32_t clusters = 1;
    for (int block = 0; block < repeats(4, 4, 40); ++block) {
      CAPTURE(block);
      const std::vector<float> rows = kinds(2 * block, 2 * block + 3, 200, block);
      CHECK(stressed.learn_block(rows));
      stressed.check(rows);
      const adapvae_report& report = stressed.report;
      CHECK(report.clusters <= room);
      // The first block has as many kinds as there is room for. Later a cluster may merge with
      // another, on the last block, too: then there is room again.
      if (block == 0) CHECK(report.clusters == room);
      clusters += report.births - report.merges - report.retirements;
      CHECK(report.clusters == clusters);
      CHECK(stressed.info().clusters == clusters);
    }
  }
}

TEST_CASE("many blocks of 1 to 3 rows") {
  const int blocks = repeats(100, 300, 100000);
  for (const int32_t scale : {0, 1}) {
    CAPTURE(scale);
    adapvae_config config = stress_config(kGaussian, scale, true);
    config.adapt_epochs = config.joint_epochs = 1;
    Stressed stressed(config);
    Noise noise(11);
    REQUIRE(stressed.learn_block(ordinary(noise, kRows, kWidth)));
    const double error = ordinary_error(stressed, kWidth);
    uint64_t rows_learnt = kRows;
    for (int block = 0; block < blocks; ++block) {
      const int32_t count = 1 + block % 3;
      const std::vector<float> rows = ordinary(noise, count, kWidth);
      if (block % (blocks / 30) == 0) {
        CHECK(stressed.learn_block(rows));
        stressed.check(rows);
      } else {
        REQUIRE(adapvae_learn(stressed.model, rows.data(), count, 0, nullptr) == ADAPVAE_OK);
      }
      rows_learnt += static_cast<uint64_t>(count);
    }
    CHECK(stressed.info().rows == rows_learnt);
    CHECK(ordinary_error(stressed, kWidth) < 1.5 * error);
  }
}

// Steps that are far too large, then rows at the end of the scaled range.
TEST_CASE("training that diverges is repeated more slowly, and told as an event") {
  struct Watch {
    double fraction = 0.0;
    bool fell = false;
    int finished = 0;
  };
  int repeated = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    adapvae_config config = stress_config(kGaussian, 1, true);
    config.learning_rate = 1.0;
    config.seed = seed;
    Stressed stressed(config);
    Watch watch;
    const auto progress = [](void* context, int32_t, double fraction) -> int32_t {
      auto& seen = *static_cast<Watch*>(context);
      seen.fell = seen.fell || fraction < seen.fraction;
      seen.fraction = fraction;
      seen.finished += fraction == 1.0 ? 1 : 0;
      return 1;
    };
    REQUIRE(adapvae_set_progress(stressed.model, progress, &watch) == ADAPVAE_OK);
    Noise noise(seed);
    for (int block = 0; block < 5; ++block) {
      std::vector<float> rows = ordinary(noise, kRows, kWidth);
      for (float& value : rows) value *= block == 0 ? 1.0F : 1e3F;
      watch = {};
      const bool learnt = stressed.learn_block(rows);
      CHECK_FALSE(watch.fell);
      CHECK(watch.finished == (learnt ? 1 : 0));
      stressed.check(rows);
    }
    repeated += stressed.events(ADAPVAE_REPAIRED, ADAPVAE_REASON_RATE);
  }
  CHECK(repeated > 0);
}

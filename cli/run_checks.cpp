// bench and selftest: how fast this machine is, and whether the program works on it.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "cli/row_lines.h"
#include "cli/settings.h"
#include "cli/terminal.h"
#include "cli/verbs.h"

namespace adapvae::cli {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Numbers in [0, 1) that are the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  float next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<float>(state_ >> 40) / 16777216.0F;
  }

 private:
  std::uint64_t state_;
};

// Rows of some kinds in turn: each kind has inputs that are high and others that are low.
std::vector<float> made_up(std::size_t rows, std::size_t inputs, std::size_t kinds,
                           std::uint64_t seed) {
  Numbers numbers(seed);
  std::vector<float> out;
  out.reserve(rows * inputs);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < inputs; ++j) {
      const bool high = (j / 2) % kinds == i % kinds;
      out.push_back((high ? 0.7F : 0.1F) + 0.2F * numbers.next());
    }
  }
  return out;
}

struct Speed {
  const char* preset;
  double first_stream = 0.0;  // seconds
  double later_stream = 0.0;
  double score_one = 0.0;  // rows a second, one by one
  double score_many = 0.0;
  std::int32_t rows = 0;
  std::uint64_t memory = 0;
};

bool measure(const char* preset, const adapvae_options& options, Speed& speed, std::string& error) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  adapvae_config_preset(&config, preset, nullptr);
  config.block_rows = speed.rows = std::min(config.block_rows, 1000);
  const ModelHandle model = create_model(config, &options, error);
  if (!model) return false;
  const auto inputs = static_cast<std::size_t>(config.inputs);
  const auto count = static_cast<std::size_t>(speed.rows);
  const std::vector<float> first = made_up(count, inputs, 4, 1);
  const std::vector<float> later = made_up(count, inputs, 5, 2);
  std::vector<adapvae_result> results(count);
  double start = now();
  bool good = adapvae_learn(model.get(), first.data(), speed.rows, 0, nullptr) == ADAPVAE_OK;
  speed.first_stream = now() - start;
  start = now();
  good = good && adapvae_learn(model.get(), later.data(), speed.rows, 0, nullptr) == ADAPVAE_OK;
  speed.later_stream = now() - start;
  constexpr double kLong = 0.3;  // seconds that are long enough
  const auto rows_a_second = [&](std::int32_t at_once) {
    const double begin = now();
    double rows = 0.0;
    double seconds = 0.0;
    do {
      for (std::size_t i = 0; good && i + static_cast<std::size_t>(at_once) <= count;
           i += static_cast<std::size_t>(at_once)) {
        good = adapvae_score(model.get(), later.data() + i * inputs, at_once, 0, results.data()) ==
               ADAPVAE_OK;
        rows += at_once;
      }
      seconds = now() - begin;
    } while (good && seconds < kLong);
    return rows / seconds;
  };
  speed.score_one = rows_a_second(1);
  speed.score_many = rows_a_second(speed.rows);
  auto info = sized<adapvae_info>();
  adapvae_get_info(model.get(), &info);
  speed.memory = info.memory_bytes;
  if (!good) error = last_error(model.get());
  return good;
}

// ---- selftest
// ------------------------------------------------------------------------------------

class SelfTest {
 public:
  bool run();

 private:
  bool check(bool good, const char* what) {
    std::printf("%s %s\n",
                styled(good ? "ok  " : "FAIL", good ? Style::kGood : Style::kBad, stdout).c_str(),
                what);
    all_ = all_ && good;
    return good;
  }
  bool all_ = true;
};

bool SelfTest::run() {
  constexpr std::int32_t kRows = 300;
  constexpr std::size_t kInputs = 12;
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  config.inputs = kInputs;
  config.latent = 4;
  config.hidden1 = 32;
  config.hidden2 = 0;
  config.block_rows = kRows;
  std::string error;
  const auto plain = sized<adapvae_options>();
  const ModelHandle model = create_model(config, &plain, error);
  if (!check(model != nullptr, "a model is made")) return false;
  const std::vector<float> known = made_up(kRows, kInputs, 2, 1);
  const std::vector<float> more = made_up(kRows, kInputs, 3, 2);
  std::vector<adapvae_result> before(kRows), after(kRows);
  adapvae_model* m = model.get();
  check(adapvae_score(m, known.data(), 1, 0, before.data()) == ADAPVAE_OK &&
            before[0].id == ADAPVAE_NO_ID && before[0].novelty == 1.0F,
        "everything is novel to a model that has learnt nothing");
  auto report = sized<adapvae_report>();
  check(adapvae_learn(m, known.data(), kRows, 0, &report) == ADAPVAE_OK && report.clusters >= 2,
        "two kinds become clusters");
  adapvae_score(m, more.data(), kRows, 0, before.data());
  int novel = 0;
  for (std::size_t i = 2; i < kRows; i += 3) novel += before[i].novelty > 0.5F ? 1 : 0;
  check(novel > kRows / 3 * 9 / 10, "a third kind is novel");
  check(adapvae_learn(m, more.data(), kRows, 0, &report) == ADAPVAE_OK && report.births >= 1,
        "it is born");
  adapvae_score(m, more.data(), kRows, 0, after.data());
  novel = 0;
  for (std::size_t i = 2; i < kRows; i += 3) novel += after[i].novelty > 0.5F ? 1 : 0;
  check(novel < kRows / 30, "and is then known");
  check(after[2].id != after[0].id && after[2].id != after[1].id, "by a cluster of its own");

  const std::vector<std::uint8_t> bytes = take_snapshot(m);
  adapvae_model* loaded = nullptr;
  adapvae_create_from(bytes.data(), bytes.size(), nullptr, &loaded, nullptr);
  const ModelHandle other(loaded);
  check(other != nullptr && take_snapshot(loaded) == bytes, "saved and loaded it is the same");
  if (!other) return false;
  adapvae_learn(m, known.data(), kRows, 0, nullptr);
  adapvae_learn(loaded, known.data(), kRows, 0, nullptr);
  check(take_snapshot(m) == take_snapshot(loaded), "and goes on as if it had not been");
  std::vector<std::uint8_t> damaged = bytes;
  damaged[damaged.size() / 2] ^= 1U;
  adapvae_model* wrong = nullptr;
  check(adapvae_create_from(damaged.data(), damaged.size(), nullptr, &wrong, nullptr) != ADAPVAE_OK,
        "a damaged file is refused");
  adapvae_destroy(wrong);
  return all_;
}

}  // namespace

int run_bench(const Arguments& arguments) {
  Threads threads(thread_count(arguments));
  const adapvae_options options = threads.options();
  const bool json = arguments.has("--json");
  if (!json) {
    std::printf("adapvae %s, %s, %d thread%s; streams of made-up rows\n\n",
                adapvae_version_string(), adapvae_instruction_set(), thread_count(arguments),
                thread_count(arguments) > 1 ? "s" : "");
    std::printf("%-8s %6s %14s %14s %16s %16s %10s\n", "preset", "rows", "first stream",
                "later stream", "score, one", "score, many", "memory");
  }
  std::vector<std::string> presets = arguments.operands();
  if (presets.empty()) presets = {"edge", "browser", "desktop"};
  for (const std::string& preset : presets) {
    Speed s = {preset.c_str()};
    std::string error;
    adapvae_config config;
    adapvae_config_init(&config, sizeof config);
    auto why = sized<adapvae_error>();
    if (adapvae_config_preset(&config, preset.c_str(), &why) != ADAPVAE_OK) {
      return fail(preset + ": " + why.message, 2);
    }
    if (!measure(preset.c_str(), options, s, error)) return fail(error);
    if (json) {
      std::printf(
          "{\"preset\":%s,\"rows\":%d,\"first_stream_seconds\":%s,"
          "\"later_stream_seconds\":%s,\"score_one_rows_per_second\":%s,"
          "\"score_many_rows_per_second\":%s,\"memory_bytes\":%llu}\n",
          json_string(preset).c_str(), s.rows, json_number(s.first_stream).c_str(),
          json_number(s.later_stream).c_str(), json_number(std::round(s.score_one)).c_str(),
          json_number(std::round(s.score_many)).c_str(), static_cast<unsigned long long>(s.memory));
    } else {
      std::printf("%-8s %6d %12.2f s %12.2f s %9.0f rows/s %9.0f rows/s %10s\n", preset.c_str(),
                  s.rows, s.first_stream, s.later_stream, s.score_one, s.score_many,
                  short_bytes(static_cast<double>(s.memory)).c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}

int run_selftest(const Arguments&) {
  std::printf("adapvae %s, %s\n", adapvae_version_string(), adapvae_instruction_set());
  SelfTest test;
  if (test.run()) return 0;
  return fail("it does not work here as it should; please tell us, with the lines above");
}

}  // namespace adapvae::cli

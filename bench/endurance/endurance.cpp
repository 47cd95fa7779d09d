// Learns the streams of families.h, or recorded ones, through the C API and prints one JSON line
// for each stream and seed. usage: endurance [--small] [--family NAME]... [--recording
// NAME=FILE]...
// [--seed N]... [--blocks N] [--set name=value]... [--trace]
//
// Every block is scored on arrival, before it is learnt. bench/endurance.py makes the table.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "adapvae/adapvae.h"
#include "families.h"
#include "recording.h"

namespace {

using endurance::Family;
using endurance::Recording;
using endurance::Row;
using endurance::Source;
using endurance::Stream;

struct Options {
  bool small = false;
  bool trace = false;
  int blocks = 0;
  std::vector<std::string> families;
  std::vector<std::string> recordings;
  std::vector<unsigned long> seeds;
  std::vector<std::string> settings;
};

// What the program chooses for measurements that come from a pipe.
adapvae_config config_for(const Family& family, unsigned long seed, const Options& options) {
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  adapvae_config_for_rows(&config, nullptr, 0, family.inputs, 0, nullptr, nullptr);
  config.block_rows = family.block;
  config.batch = std::min(config.batch, config.block_rows);
  config.seed = seed;
  for (const std::string& setting : options.settings) {
    const std::size_t at = setting.find('=');
    adapvae_error error = {};
    error.struct_size = sizeof error;
    if (at == std::string::npos ||
        adapvae_config_set(&config, setting.substr(0, at).c_str(), setting.substr(at + 1).c_str(),
                           &error) != ADAPVAE_OK) {
      std::fprintf(stderr, "endurance: %s: %s\n", setting.c_str(), error.message);
      std::exit(2);
    }
  }
  return config;
}

double nmi(const std::vector<int32_t>& labels, const std::vector<adapvae_id>& ids) {
  adapvae_metrics metrics = {};
  metrics.struct_size = sizeof metrics;
  if (labels.empty() ||
      adapvae_evaluate(labels.data(), ids.data(), static_cast<int32_t>(labels.size()), nullptr,
                       &metrics, nullptr) != ADAPVAE_OK) {
    return std::nan("");
  }
  return metrics.nmi;
}

adapvae_id most_common(const std::vector<adapvae_id>& ids) {
  std::map<adapvae_id, int> count;
  for (const adapvae_id id : ids) ++count[id];
  adapvae_id best = 0;
  for (const auto& [id, n] : count) {
    if (best == 0 || n > count[best]) best = id;
  }
  return best;
}

class Run {
 public:
  Run(const Family& family, std::unique_ptr<Source> source, unsigned long seed,
      const Options& options)
      : family_(family), seed_(seed), trace_(options.trace), source_(std::move(source)) {
    const adapvae_config config = config_for(family, seed, options);
    adapvae_error error = {};
    error.struct_size = sizeof error;
    if (adapvae_create(&config, nullptr, &model_, &error) != ADAPVAE_OK) {
      std::fprintf(stderr, "endurance: %s\n", error.message);
      std::exit(2);
    }
    seen_.assign(static_cast<std::size_t>(source_->states()), 0);
    first_block_.assign(seen_.size(), -1);
    early_.resize(seen_.size());
    born_after_.assign(seen_.size(), -1);
  }
  ~Run() { adapvae_destroy(model_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void learn_all() {
    for (int b = 0; b < family_.blocks; ++b) learn(b);
    finish();
  }

  void print() const {
    std::printf(
        "{\"family\":\"%s\",\"seed\":%lu,\"blocks\":%d,\"rows\":%ld,\"states\":%d,\"nmi_arrival\":%"
        ".4f,"
        "\"nmi_end\":%.4f,\"ids_ever\":%zu,\"ids_kept\":%.4f,\"births\":%d,\"false_births\":%d,"
        "\"late_false_births\":%d,\"delay_rows\":%ld,\"not_found\":%d,\"first_block_novel\":%.4f,"
        "\"false_alarms\":%.5f,\"burst_known\":%.4f,\"loss_early\":%.4g,\"loss_end\":%.4g,"
        "\"largest_drift\":%.3g,\"clusters\":%d,\"refused\":%d,\"seconds\":%.2f,\"seconds_late\":%."
        "4g,"
        "\"memory\":%zu}\n",
        family_.name.c_str(), seed_, family_.blocks, rows_, static_cast<int>(states_seen()),
        nmi_arrival_, nmi_end_, ids_.size(), kept_, births_, false_births_, late_false_births_,
        delay_, not_found_,
        first_novel_rows_ > 0
            ? static_cast<double>(first_novel_) / static_cast<double>(first_novel_rows_)
            : std::nan(""),
        known_rows_ > 0 ? static_cast<double>(alarms_) / static_cast<double>(known_rows_)
                        : std::nan(""),
        burst_known_, loss_early_, loss_end_, drift_, clusters_, refused_, seconds_, late_seconds_,
        memory_);
    std::fflush(stdout);
  }

 private:
  std::vector<adapvae_result> score(const std::vector<Row>& rows) {
    if (rows.empty()) return {};
    std::vector<float> x;
    for (const Row& row : rows) x.insert(x.end(), row.x.begin(), row.x.end());
    std::vector<adapvae_result> results(rows.size());
    if (adapvae_score(model_, x.data(), static_cast<int32_t>(rows.size()), 0, results.data()) !=
        ADAPVAE_OK)
      std::abort();
    return results;
  }

  void learn(int number) {
    const std::vector<Row> rows = source_->block(number);
    if (rows_ > 0) look(number, rows);
    std::vector<float> x;
    for (const Row& row : rows) x.insert(x.end(), row.x.begin(), row.x.end());
    adapvae_report report = {};
    report.struct_size = sizeof report;
    const auto start = std::chrono::steady_clock::now();
    const adapvae_status status =
        adapvae_learn(model_, x.data(), static_cast<int32_t>(rows.size()), 0, &report);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    seconds_ += seconds;
    if (number >= family_.blocks / 2)
      late_seconds_ += seconds / static_cast<double>(rows.size()), ++late_blocks_;
    rows_ += static_cast<long>(rows.size());
    if (status != ADAPVAE_OK) ++refused_;
    bool fresh = false;  // a state came in this block or the one before
    for (const Row& row : rows) {
      const auto s = static_cast<std::size_t>(row.state);
      if (first_block_[s] < 0) first_block_[s] = number;
      ++seen_[s];
    }
    for (const int first : first_block_) fresh = fresh || (first >= 0 && number <= first + 1);
    births_ += report.births;
    if (!fresh && number > 1) false_births_ += report.births;
    if (!fresh && number > family_.blocks / 2) late_false_births_ += report.births;
    if (number == family_.blocks / 10) loss_early_ = report.loss;
    loss_end_ = report.loss;
    if (number >= family_.blocks / 2)
      drift_ = std::max(drift_, static_cast<double>(report.largest_drift));
    if (trace_) print_events();
    find_births(number);
    if (trace_ && (number < 10 || number % std::max(1, family_.blocks / 20) == 0)) {
      std::fprintf(stderr,
                   "%s %lu block %d: K %d births %d merges %d loss %.4g drift %.3g novel %.3f\n",
                   family_.name.c_str(), seed_, number, report.clusters, report.births,
                   report.merges, report.loss, report.largest_drift, last_novel_);
    }
  }

  void print_events() {
    event_.struct_size = sizeof event_;
    char text[512];
    while (adapvae_next_event(model_, &event_) == ADAPVAE_OK) {
      if (event_.type == ADAPVAE_LEARNT) continue;
      adapvae_event_text(&event_, ADAPVAE_TEXT, text, sizeof text, nullptr);
      std::fprintf(stderr, "  %s\n", text);
    }
  }

  // The block on arrival.
  void look(int number, const std::vector<Row>& rows) {
    const std::vector<adapvae_result> results = score(rows);
    int novel = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto s = static_cast<std::size_t>(rows[i].state);
      const bool alarm = (results[i].flags & ADAPVAE_NOVEL) != 0;
      novel += alarm ? 1 : 0;
      labels_.push_back(rows[i].state);
      answers_.push_back(results[i].id);
      ids_.insert(results[i].id);
      if (first_block_[s] < 0) {
        first_novel_rows_ += 1;
        first_novel_ += alarm ? 1 : 0;
      } else if (number > first_block_[s] + 1 && seen_[s] >= 20) {
        known_rows_ += 1;
        alarms_ += alarm ? 1 : 0;
      }
      // The id of a state is what its rows have right after they were learnt first: see
      // find_births().
    }
    last_novel_ = static_cast<double>(novel) / static_cast<double>(rows.size());
    if (labels_.size() > 400000) {  // the last ones count
      labels_.erase(labels_.begin(), labels_.begin() + 200000);
      answers_.erase(answers_.begin(), answers_.begin() + 200000);
    }
  }

  // A state is found when fresh rows of it have an id that no other state's rows have.
  void find_births(int number) {
    for (std::size_t s = 0; s < seen_.size(); ++s) {
      if (first_block_[s] < 0 || born_after_[s] >= 0 || seen_[s] < 5) continue;
      const adapvae_id own = id_of(static_cast<int>(s), number);
      bool apart = own != ADAPVAE_NO_ID;
      for (std::size_t t = 0; apart && t < seen_.size(); ++t) {
        if (t != s && first_block_[t] >= 0 && id_of(static_cast<int>(t), number) == own)
          apart = false;
      }
      if (!apart) continue;
      born_after_[s] = seen_[s];
      early_[s] = own;
    }
  }

  adapvae_id id_of(int state, int number) {
    std::vector<adapvae_id> ids;
    for (const adapvae_result& result : score(source_->probe(state, number, 21)))
      ids.push_back(result.id);
    return most_common(ids);
  }

  void finish() {
    const int last = family_.blocks - 1;
    std::vector<int32_t> labels;
    std::vector<adapvae_id> ids;
    long kept = 0, all = 0;
    for (std::size_t s = 0; s < seen_.size(); ++s) {
      if (first_block_[s] < 0) continue;
      if (born_after_[s] < 0) {
        ++not_found_;
      } else if (first_block_[s] > 0) {
        delay_ = std::max(delay_, born_after_[s]);
      }
      const bool moved = family_.jump_at >= 0 && s == 0;
      const auto results =
          score(source_->probe(static_cast<int>(s), moved ? family_.jump_at - 1 : last, 500));
      long known = 0;
      for (const adapvae_result& result : results) {
        labels.push_back(static_cast<int32_t>(s));
        ids.push_back(result.id);
        ids_.insert(result.id);
        ++all;
        if (born_after_[s] >= 0 && adapvae_resolve(model_, early_[s]) == result.id) ++kept;
        if ((result.flags & ADAPVAE_NOVEL) == 0) ++known;
      }
      if (family_.burst > 0 && static_cast<int>(s) == family_.states - 1)
        burst_known_ = static_cast<double>(known) / static_cast<double>(results.size());
    }
    nmi_end_ = nmi(labels, ids);
    nmi_arrival_ = nmi(labels_, answers_);
    kept_ = static_cast<double>(kept) / static_cast<double>(all);
    late_seconds_ /= std::max(1, late_blocks_);
    adapvae_info info = {};
    info.struct_size = sizeof info;
    adapvae_get_info(model_, &info);
    clusters_ = info.clusters;
    memory_ = static_cast<std::size_t>(info.memory_bytes);
    ids_.erase(ADAPVAE_NO_ID);
  }

  std::size_t states_seen() const {
    return static_cast<std::size_t>(
        std::count_if(first_block_.begin(), first_block_.end(), [](int b) { return b >= 0; }));
  }

  Family family_;
  unsigned long seed_;
  bool trace_;
  std::unique_ptr<Source> source_;
  adapvae_model* model_ = nullptr;
  adapvae_event event_ = {};
  long rows_ = 0;
  std::vector<long> seen_;
  std::vector<int> first_block_;
  std::vector<adapvae_id> early_;  // id of a state when it was found
  std::vector<long> born_after_;   // rows of a state until it was found; -1: never
  std::vector<int32_t> labels_;
  std::vector<adapvae_id> answers_;
  std::set<adapvae_id> ids_;
  int births_ = 0, false_births_ = 0, late_false_births_ = 0, not_found_ = 0, clusters_ = 0,
      refused_ = 0;
  long delay_ = 0, first_novel_ = 0, first_novel_rows_ = 0, known_rows_ = 0, alarms_ = 0;
  double nmi_arrival_ = 0.0, nmi_end_ = 0.0, kept_ = 0.0, burst_known_ = std::nan("");
  double loss_early_ = 0.0, loss_end_ = 0.0, drift_ = 0.0, seconds_ = 0.0, late_seconds_ = 0.0,
         last_novel_ = 0.0;
  int late_blocks_ = 0;
  std::size_t memory_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--small")
      options.small = true;
    else if (word == "--trace")
      options.trace = true;
    else if (word == "--family")
      options.families.push_back(value());
    else if (word == "--recording")
      options.recordings.push_back(value());
    else if (word == "--seed")
      options.seeds.push_back(std::stoul(value()));
    else if (word == "--blocks")
      options.blocks = std::stoi(value());
    else if (word == "--set")
      options.settings.push_back(value());
    else
      return std::fprintf(stderr, "endurance: unexpected argument '%s'\n", word.c_str()), 2;
  }
  if (options.seeds.empty()) options.seeds = {1};
  for (const std::string& recording : options.recordings) {
    const std::size_t at = std::min(recording.find('='), recording.size() - 1);
    for (const unsigned long seed : options.seeds) {
      Family family;
      auto source = std::make_unique<Recording>(recording.substr(at + 1), family.block);
      family.name = recording.substr(0, at);
      family.inputs = source->inputs();
      family.blocks = source->blocks();
      Run run(family, std::move(source), seed, options);
      run.learn_all();
      run.print();
    }
  }
  if (!options.recordings.empty() && options.families.empty()) return 0;
  for (Family family : endurance::families(options.small)) {
    if (!options.families.empty() && std::find(options.families.begin(), options.families.end(),
                                               family.name) == options.families.end()) {
      continue;
    }
    if (options.blocks > 0) family.blocks = options.blocks;
    for (const unsigned long seed : options.seeds) {
      Run run(family, std::make_unique<Stream>(family, seed), seed, options);
      run.learn_all();
      run.print();
    }
  }
}

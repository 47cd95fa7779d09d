// demo: handwritten digits come two kinds at a time, and the model finds out by itself that there
// is something new. Tells what happens, scores it on digits that were held out, writes a report.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include <unistd.h>

#include "cli/file_roles.h"
#include "cli/filter.h"
#include "cli/output_file.h"
#include "cli/plain_text.h"
#include "cli/report/gather.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "tools/idx_file.h"
#include "tools/image_grid.h"

namespace adapvae::cli {
namespace {

constexpr const char* kImages = "/mnist-5000-images.idx.gz";
constexpr const char* kLabels = "/mnist-5000-labels.idx.gz";
constexpr int kDigits = 10;
constexpr int kDigitsOfStream = 2;
constexpr int kStreams = kDigits / kDigitsOfStream;
constexpr std::size_t kHeldOut = 100;  // of each digit
constexpr int kSide = 28;
constexpr std::size_t kPixels = static_cast<std::size_t>(kSide) * kSide;

// The AdapVAE paper's table of this experiment: precision and recall in percent. Its ones lie in
// three clusters, here taken together.
struct Published {
  double precision, recall;
};
constexpr Published kPaper[kDigits] = {{100.0, 96.6}, {97.7, 97.9}, {93.0, 99.6}, {99.2, 95.2},
                                       {98.8, 99.6},  {99.6, 77.5}, {99.6, 97.0}, {97.5, 97.8},
                                       {88.0, 98.6},  {83.5, 96.3}};
constexpr const char* kPaperNote =
    "The figures beside ours are the AdapVAE paper's, of 10,000 rows a stream, by a network that "
    "had "
    "seen all ten digits before. Here a stream has 800 rows, and nothing was seen before.";

// Rows with their digits.
struct Digits {
  std::vector<float> rows;
  std::vector<int> label;
  std::size_t size() const { return label.size(); }
  const float* row(std::size_t i) const { return rows.data() + i * kPixels; }
};

class DigitSource : public RowSource {
 public:
  DigitSource(const Digits& digits, std::int64_t before) : digits_(digits), before_(before) {
    shape_ = {static_cast<int>(kPixels), kSide, kSide, true};
  }
  const RowShape& shape() const override { return shape_; }
  Next next(Row& row) override {
    if (at_ == digits_.size()) return Next::kEnd;
    row.values.assign(digits_.row(at_), digits_.row(at_) + kPixels);
    row.label = std::to_string(digits_.label[at_]);
    row.number = before_ + static_cast<std::int64_t>(++at_);
    return Next::kRow;
  }

 private:
  const Digits& digits_;
  RowShape shape_;
  std::int64_t before_;
  std::size_t at_ = 0;
};

// A line that is written over and over, on a terminal only.
std::int32_t show_learning(void*, std::int32_t, double fraction) {
  static int shown = -1;
  const int percent = static_cast<int>(100.0 * fraction);
  if (percent != shown) std::fprintf(stderr, "\r  learning: %3d %%", percent);
  if (percent == 100) std::fputs("\r\033[K", stderr);
  shown = percent;
  return 1;
}

class Demo {
 public:
  Demo(const Arguments& arguments, std::string folder)
      : arguments_(arguments), folder_(std::move(folder)) {}
  bool run();
  const std::string& error() const { return error_; }

 private:
  std::vector<FileRole> roles() const;
  bool read_digits();
  bool make_model();
  void introduce() const;
  bool learn(int stream);
  bool say_novelty(int stream);
  void tell_events();
  bool judge(int stream);  // what was found of the digits that came in this stream
  bool score(const Digits& digits, int below, std::vector<adapvae_result>& results,
             std::vector<int>& labels);
  void print_discoveries() const;
  bool say_metrics();
  bool draw();
  bool good(adapvae_status status) {
    if (status != ADAPVAE_OK) error_ = last_error(model_.get());
    return status == ADAPVAE_OK;
  }
  std::string path(const char* name) const { return folder_ + "/" + name; }

  const Arguments& arguments_;
  std::string folder_;
  Digits stream_[kStreams];
  Digits held_out_;
  std::unique_ptr<Threads> threads_;
  ModelLock lock_;
  ModelHandle model_;
  std::unique_ptr<RunRecord> record_;
  std::unique_ptr<Filter> filter_;
  LabelTable final_labels_;
  std::uint64_t events_read_ = 0;
  std::vector<ReportDiscovery> discoveries_;
  std::string error_;
};

// The digits that ship with the program: beside it in a build, or where it was installed.
std::string digits_folder(const Arguments& arguments) {
  if (const auto given = arguments.value("--data")) return *given;
  std::error_code problem;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
  for (const char* place : {"../share/adapvae/digits", "../../examples/data"}) {
    const std::filesystem::path at = program.parent_path() / place;
    if (std::filesystem::exists(at / "mnist-5000-images.idx.gz", problem)) return at.string();
  }
  return "examples/data";
}

std::vector<FileRole> Demo::roles() const {
  const std::string folder = digits_folder(arguments_);
  std::vector<FileRole> files = {{"--data", folder + kImages, false},
                                 {"--data", folder + kLabels, false}};
  const std::string model = path("digits.safetensors");
  for (const std::string& output :
       {model, journal_path(model), path("samples.png"), path("report.html")}) {
    files.push_back({"the output", output, true});
  }
  return files;
}

bool Demo::read_digits() {
  const std::string folder = digits_folder(arguments_);
  const auto images = tools::read_idx_file(folder + kImages, error_);
  if (!images) return false;
  const auto labels = tools::read_idx_file(folder + kLabels, error_);
  if (!labels) return false;
  if (images->row_size() != static_cast<std::int64_t>(kPixels) ||
      images->rows() != labels->rows()) {
    error_ = folder + ": not the digits that are needed";
    return false;
  }
  std::size_t seen[kDigits] = {};
  for (std::size_t i = 0; i < labels->values.size(); ++i) {
    const int digit = std::clamp(static_cast<int>(labels->values[i]), 0, kDigits - 1);
    Digits& to = seen[digit]++ < kHeldOut ? held_out_ : stream_[digit / kDigitsOfStream];
    const float* row = images->values.data() + i * kPixels;
    for (std::size_t j = 0; j < kPixels; ++j) to.rows.push_back(row[j] / 255.0F);
    to.label.push_back(digit);
  }
  return true;
}

// The desktop preset, for few rows: more epochs. More rows are called novel than by default, at the
// price of more false alarms.
bool Demo::make_model() {
  threads_ = std::make_unique<Threads>(thread_count(arguments_));
  const adapvae_options options = threads_->options();
  adapvae_config config;
  adapvae_config_init(&config, sizeof config);
  adapvae_config_preset(&config, "desktop", nullptr);
  config.block_rows = static_cast<std::int32_t>(stream_[0].size());
  config.pretrain_epochs = 60;
  config.false_alarm_rate = 0.05;
  RowShape shape = {static_cast<int>(kPixels), kSide, kSide, true};
  if (!apply_settings(arguments_, config, error_)) return false;
  model_ = create_model(config, &options, error_);
  if (!model_) return false;
  adapvae_model* model = model_.get();
  if (::isatty(STDERR_FILENO) != 0) adapvae_set_progress(model, show_learning, nullptr);
  record_ = std::make_unique<RunRecord>(shape.inputs);
  FilterOptions how;
  how.lines = false;
  how.quiet = true;
  how.model_path = path("digits.safetensors");
  how.lock = &lock_;
  if (!lock_.take(how.model_path, error_)) return false;
  how.journal_path = journal_path(how.model_path);
  std::error_code ignored;
  std::filesystem::remove(how.journal_path, ignored);  // of the demo before this
  filter_ = std::make_unique<Filter>(model, how, record_.get());
  return filter_->open(error_);
}

void Demo::introduce() const {
  auto config = sized<adapvae_config>();
  auto info = sized<adapvae_info>();
  adapvae_get_config(model_.get(), &config);
  adapvae_get_info(model_.get(), &info);
  std::printf(
      "Handwritten digits come two kinds at a time: 0 and 1, then 2 and 3, up to 8 and 9. Nobody\n"
      "tells the model what they are, how many kinds there are or when a new one comes, and no\n"
      "row is kept. Labels score it, on %zu digits that it never learns from.\n\n",
      held_out_.size());
  std::printf("network %d-%d-%d-%d, %s of memory in all, %s, %d thread%s\n", config.inputs,
              config.hidden1, config.hidden2, config.latent,
              short_bytes(static_cast<double>(info.memory_bytes)).c_str(), info.backend,
              thread_count(arguments_), thread_count(arguments_) > 1 ? "s" : "");
}

bool Demo::score(const Digits& digits, int below, std::vector<adapvae_result>& results,
                 std::vector<int>& labels) {
  results.clear();
  labels.clear();
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits.label[i] >= below) continue;
    labels.push_back(digits.label[i]);
    if (!good(adapvae_score(model_.get(), digits.row(i), 1, 0, &results.emplace_back()))) {
      return false;
    }
  }
  return true;
}

// What the model thinks of rows that it has not learnt from.
bool Demo::say_novelty(int stream) {
  const Digits& rows = stream_[stream];
  if (stream == 0) {
    std::printf("%zu rows; nothing is known yet\n", rows.size());
    return true;
  }
  std::vector<adapvae_result> results;
  std::vector<int> labels;
  const auto percent = [&results] {
    const auto novel = std::count_if(results.begin(), results.end(),
                                     [](const adapvae_result& r) { return r.novelty > 0.5F; });
    return 100.0 * static_cast<double>(novel) /
           static_cast<double>(std::max<std::size_t>(1, results.size()));
  };
  if (!score(rows, kDigits, results, labels)) return false;
  const double of_these = percent();
  if (!score(held_out_, stream * kDigitsOfStream, results, labels)) return false;
  std::printf(
      "of the %zu rows, %.0f %% were novel before they were learnt (of known digits, %.0f %%)\n",
      rows.size(), of_these, percent());
  return true;
}

// Births, merges and retirements since the last look.
void Demo::tell_events() {
  auto event = sized<adapvae_event>();
  event.sequence = events_read_;
  while (adapvae_next_event(model_.get(), &event) == ADAPVAE_OK) {
    events_read_ = event.sequence;
    char text[256];
    if (event.type > ADAPVAE_RETIRED ||
        adapvae_event_text(&event, ADAPVAE_TEXT, text, sizeof text, nullptr) != ADAPVAE_OK) {
      continue;
    }
    const Style style = event.type == ADAPVAE_BORN ? Style::kGood : Style::kPlain;
    std::printf("  %s\n", styled(text, style, stdout).c_str());
  }
}

// Of a digit that came in this stream: the clusters born in it whose held-out rows are mostly that
// digit.
bool Demo::judge(int stream) {
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_.get(), &info);
  std::set<adapvae_id> born;
  for (std::int32_t i = 0; i < info.clusters; ++i) {
    auto c = sized<adapvae_cluster>();
    if (!good(adapvae_cluster_at(model_.get(), i, &c))) return false;
    if (std::max<std::uint64_t>(c.born_stream, 1) == info.streams) born.insert(c.id);
  }
  std::vector<adapvae_result> results;
  std::vector<int> labels;
  if (!score(held_out_, (stream + 1) * kDigitsOfStream, results, labels)) return false;
  std::map<adapvae_id, std::vector<int>> count;
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto& of = count[results[i].id];
    of.resize(kDigits);
    ++of[static_cast<std::size_t>(labels[i])];
  }
  for (int digit = stream * kDigitsOfStream; digit < (stream + 1) * kDigitsOfStream; ++digit) {
    const auto at = static_cast<std::size_t>(digit);
    int right = 0, all = 0;
    for (const auto& [id, of] : count) {
      const bool main = std::max_element(of.begin(), of.end()) - of.begin() == digit;
      if (!main || born.count(id) == 0) continue;
      right += of[at];
      for (const int rows : of) all += rows;
    }
    ReportDiscovery found;
    found.label = std::to_string(digit);
    found.stream = static_cast<std::uint64_t>(stream) + 1;
    found.precision = all > 0 ? 100.0 * right / all : 0.0;
    found.recall = 100.0 * right / static_cast<double>(kHeldOut);
    found.published_precision = kPaper[at].precision;
    found.published_recall = kPaper[at].recall;
    discoveries_.push_back(found);
  }
  return true;
}

bool Demo::learn(int stream) {
  std::printf("\n%s ", styled("digits " + std::to_string(kDigitsOfStream * stream) + " and " +
                                  std::to_string(kDigitsOfStream * stream + 1) + ":",
                              Style::kStrong, stdout)
                           .c_str());
  if (!say_novelty(stream)) return false;
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  DigitSource source(stream_[stream], filter_->totals().rows);
  if (!filter_->run(source, error_)) return false;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tell_events();
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_.get(), &info);
  std::printf("  %.1f s; %d clusters\n", seconds, info.clusters);
  std::fflush(stdout);
  return judge(stream);
}

void Demo::print_discoveries() const {
  std::printf("\n%-8s %10s %8s     the paper's (see below)\n", "digit", "precision", "recall");
  double sum[4] = {};
  for (const ReportDiscovery& d : discoveries_) {
    std::printf("%-8s %8.1f %% %6.1f %% %8.1f %% %6.1f %%\n", d.label.c_str(), d.precision,
                d.recall, *d.published_precision, *d.published_recall);
    sum[0] += d.precision;
    sum[1] += d.recall;
    sum[2] += *d.published_precision;
    sum[3] += *d.published_recall;
  }
  const auto n = static_cast<double>(discoveries_.size());
  std::printf("%-8s %8.1f %% %6.1f %% %8.1f %% %6.1f %%\n", "mean", sum[0] / n, sum[1] / n,
              sum[2] / n, sum[3] / n);
  std::printf(
      "\nA digit is found by the clusters born when it came: precision and recall of these among\n"
      "held-out digits. The paper has 10,000 rows a stream, and a network that had seen all ten\n"
      "digits before; here a stream has 800, and nothing was seen before.\n");
}

bool Demo::say_metrics() {
  std::vector<adapvae_result> results;
  std::vector<int> labels;
  if (!score(held_out_, kDigits, results, labels)) return false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    final_labels_.add(std::to_string(labels[i]), results[i].id, results[i].component);
  }
  adapvae_metrics clusters, components;
  if (!final_labels_.metrics(clusters, components, error_)) return false;
  std::printf("\nall ten at the end, %zu held-out digits:\n", results.size());
  for (const auto& [name, m] :
       {std::pair{"clusters  ", clusters}, std::pair{"components", components}}) {
    std::printf("  %2d %s: NMI %.2f, accuracy %.2f one to one, %.2f if each is its main digit\n",
                m.clusters, name, m.nmi, m.accuracy, m.purity);
  }
  return true;
}

// A line for every cluster: its middle, then draws from it.
bool Demo::draw() {
  constexpr std::int32_t kDraws = 12;
  auto info = sized<adapvae_info>();
  adapvae_get_info(model_.get(), &info);
  std::vector<float> images;
  for (std::int32_t i = 0; i < info.clusters; ++i) {
    auto c = sized<adapvae_cluster>();
    const std::size_t before = images.size();
    images.resize(before + (kDraws + 1) * kPixels);
    if (!good(adapvae_cluster_at(model_.get(), i, &c)) ||
        !good(adapvae_interpolate(model_.get(), c.id, c.id, 1, images.data() + before, nullptr)) ||
        !good(adapvae_generate(model_.get(), c.id, 1, kDraws, images.data() + before + kPixels,
                               nullptr, nullptr))) {
      return false;
    }
  }
  tools::ImageGridLayout layout;
  layout.image_width = layout.image_height = kSide;
  layout.columns = kDraws + 1;
  layout.zoom = 2;
  layout.gap = 4;
  layout.gap_grey = 32;
  std::vector<std::uint8_t> png;
  return tools::encode_image_grid(
             {images.data(), static_cast<std::ptrdiff_t>(images.size() / kPixels), kPixels}, layout,
             png, error_) &&
         write_file(path("samples.png"), png, error_);
}

bool Demo::run() {
  const auto start = std::chrono::steady_clock::now();
  std::error_code problem;
  std::filesystem::create_directories(folder_, problem);
  if (problem) {
    error_ = folder_ + ": " + problem.message();
    return false;
  }
  if (!outputs_are_apart(roles(), error_) || !read_digits() || !make_model()) return false;
  introduce();
  for (int stream = 0; stream < kStreams; ++stream) {
    if (!learn(stream)) return false;
  }
  print_discoveries();
  if (!filter_->finish(error_) || !say_metrics() || !draw()) return false;
  ReportSources sources;
  sources.model = model_.get();
  sources.model_path = path("digits.safetensors");
  sources.journal_path = journal_path(sources.model_path);
  sources.record = record_.get();
  sources.title = "Handwritten digits, two new kinds at a time";
  ReportData data;
  if (!gather_report(sources, data, error_)) return false;
  // Scores are of the digits that were held out.
  data.metrics.clear();
  if (!gather_labels(final_labels_, data, error_)) return false;
  data.discoveries = discoveries_;
  data.discovery_note = kPaperNote;
  if (!write_report(data, path("report.html"), "", error_)) return false;
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("\nmodel     %s\nsamples   %s\nreport    %s\n\n%.0f s in all\n",
              printable(sources.model_path).c_str(), printable(path("samples.png")).c_str(),
              styled(printable(path("report.html")), Style::kStrong, stdout).c_str(), seconds);
  return true;
}

}  // namespace

int run_demo(const Arguments& arguments) {
  Demo demo(arguments, arguments.operands().empty() ? "adapvae-demo" : arguments.operands()[0]);
  return demo.run() ? 0 : fail(demo.error());
}

}  // namespace adapvae::cli

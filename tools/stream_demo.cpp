// ./run demo: handwritten digits come two kinds at a time, and the model finds out by itself that
// there is something new. Prints what happens, draws what it learnt, and at the end scores it.
//
//   stream_demo DATA_FOLDER OUTPUT_FOLDER [FIELD=VALUE]...
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "compute/cpu_backend.h"
#include "model/model.h"
#include "tools/idx_file.h"
#include "tools/image_grid.h"
#include "tools/placed_memory.h"
#include "tools/thread_pool.h"

namespace {

using namespace adapvae;

constexpr int kDigits = 10;
constexpr int kDigitsOfStream = 2;
constexpr int kStreams = kDigits / kDigitsOfStream;
constexpr std::size_t kHeldOut = 100;  // of each digit
constexpr Index kSide = 28;
constexpr Index kPixels = kSide * kSide;

struct Digits {
  std::vector<float> rows;
  std::vector<int> label;

  Index size() const { return static_cast<Index>(label.size()); }
  ConstMatrixView view() const { return {rows.data(), size(), kPixels}; }
  void add(const float* row, int digit) {
    rows.insert(rows.end(), row, row + kPixels);
    label.push_back(digit);
  }
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// ---- a model with its memory, backend and threads -----------------------------------------------

class Instance {
 public:
  Instance(const Configuration& config, int threads) : pool_(threads) {
    ComputeLimits limits = Model::limits(config);
    limits.workers = threads;
    memory_ = std::make_unique<tools::PlacedMemory>([&](Arena& arena) {
      backend.place(arena, limits, *select_kernels(IsaLevel::kAuto));
      model.place(arena, config);
    });
    model.reset();
    if (threads > 1) backend.set_parallel_for(pool_.parallel_for());
  }
  std::size_t bytes() const { return memory_->bytes(); }

  CpuBackend backend;
  Model model;

 private:
  tools::ThreadPool pool_;
  std::unique_ptr<tools::PlacedMemory> memory_;
};

// A line that is written over and over, on a terminal only.
bool show_progress(void* /*context*/, const Progress& progress) {
  static int shown = -1;
  const int percent = static_cast<int>(100.0 * progress.fraction);
  if (percent != shown) std::fprintf(stderr, "\r  learning: %3d %%", percent);
  if (percent == 100) std::fprintf(stderr, "\r                   \r");
  shown = percent;
  return true;
}

// ---- the demo -----------------------------------------------------------------------------------

class Demo {
 public:
  Demo(const Configuration& config, int threads, std::filesystem::path folder)
      : config_(config), threads_(threads), folder_(std::move(folder)), own_(config, threads) {
    if (isatty(fileno(stderr)) == 0) return;
    Pacing pacing;
    pacing.go_on = show_progress;
    (void)own_.model.set_pacing(pacing);  // a pacing without a budget is always taken
  }
  // On failure error() is a sentence.
  bool run(const tools::IdxData& images, const tools::IdxData& labels);
  const std::string& error() const { return error_; }

 private:
  bool good(const Status& status) {
    if (!status.ok()) error_ = status.message();
    return status.ok();
  }
  void divide(const tools::IdxData& images, const tools::IdxData& labels);
  void introduce() const;
  bool learn(int stream);
  bool say_novelty(int stream);
  void tell_events();
  bool keep_prototypes();
  bool draw_prototypes();
  bool draw_samples();
  bool score();
  void print_table(const std::vector<RowResult>& result) const;
  bool save_and_load(const std::vector<RowResult>& result);
  bool write(const std::vector<float>& images, Index columns, const char* name);

  Configuration config_;
  int threads_;
  std::filesystem::path folder_;
  Instance own_;
  Digits stream_[kStreams];
  Digits held_out_;
  std::uint64_t events_read_ = 0;
  std::map<ClusterId, std::vector<float>> prototype_[kStreams];
  int streams_drawn_ = 0;
  std::string error_;
};

void Demo::divide(const tools::IdxData& images, const tools::IdxData& labels) {
  std::size_t seen[kDigits] = {};
  for (Index i = 0; i < images.rows(); ++i) {
    const int digit = static_cast<int>(labels.values[static_cast<std::size_t>(i)]);
    const bool first = seen[digit]++ < kHeldOut;
    (first ? held_out_ : stream_[digit / kDigitsOfStream]).add(images.matrix().row(i), digit);
  }
}

void Demo::introduce() const {
  std::printf(
      "Handwritten digits come two kinds at a time: 0 and 1, then 2 and 3, up to 8 and 9. Nobody\n"
      "tells the model what they are, how many kinds there are or when a new one comes, and no\n"
      "row is kept. Labels score it, on %td digits that it never learns from.\n\n",
      held_out_.size());
  std::printf("network %d-%d-%d-%d, %.0f MB of memory in all, %s, %d thread%s\n", config_.inputs,
              config_.hidden1, config_.hidden2, config_.latent,
              static_cast<double>(own_.bytes()) / 1e6, own_.backend.name(), threads_,
              threads_ > 1 ? "s" : "");
}

// What the model thinks of rows that it has not learnt from.
bool Demo::say_novelty(int stream) {
  const Digits& rows = stream_[stream];
  if (stream == 0) {
    std::printf("%td rows; nothing is known yet\n", rows.size());
    return true;
  }
  Digits known;
  for (Index i = 0; i < held_out_.size(); ++i) {
    const int digit = held_out_.label[static_cast<std::size_t>(i)];
    if (digit < stream * kDigitsOfStream) known.add(held_out_.view().row(i), digit);
  }
  const auto percent = [this](const Digits& digits, double& out) {
    std::vector<RowResult> result(digits.label.size());
    if (!good(own_.model.score(own_.backend, digits.view(), result.data()))) return false;
    const auto novel = std::count_if(result.begin(), result.end(),
                                     [](const RowResult& r) { return r.novelty > 0.5F; });
    out = 100.0 * static_cast<double>(novel) / static_cast<double>(result.size());
    return true;
  };
  double of_these = 0.0, of_known = 0.0;
  if (!percent(rows, of_these) || !percent(known, of_known)) return false;
  std::printf(
      "of the %td rows, %.0f %% were novel before they were learnt (of known digits, %.0f %%)\n",
      rows.size(), of_these, of_known);
  return true;
}

// Births, merges and retirements since the last look.
void Demo::tell_events() {
  ModelEvent event[16];
  EventRead read;
  do {
    read = own_.model.read_events(events_read_, event, 16);
    for (Index i = 0; i < read.count; ++i) {
      events_read_ = event[i].sequence;
      if (event[i].kind > ModelEventKind::kRetired) continue;
      char text[kEventTextBytes];
      std::printf("  %s\n", format_event(event[i], text).data());
    }
  } while (read.count > 0);
}

bool Demo::learn(int stream) {
  std::printf("\ndigits %d and %d: ", kDigitsOfStream * stream, kDigitsOfStream * stream + 1);
  if (!say_novelty(stream)) return false;
  std::fflush(stdout);
  const double start = now();
  StreamReport report;
  if (!good(own_.model.learn(own_.backend, stream_[stream].view(), &report))) return false;
  const double seconds = now() - start;
  tell_events();
  std::printf("  %.1f s; %td clusters, of %td kinds\n", seconds, report.clusters, report.kinds);
  std::fflush(stdout);
  return keep_prototypes();
}

// ---- pictures -----------------------------------------------------------------------------------

bool Demo::write(const std::vector<float>& images, Index columns, const char* name) {
  tools::ImageGridLayout layout;
  layout.image_width = layout.image_height = kSide;
  layout.columns = static_cast<int>(columns);
  layout.zoom = 2;
  layout.gap = 4;
  layout.gap_grey = 32;
  const Index count = static_cast<Index>(images.size()) / kPixels;
  return tools::write_image_grid({images.data(), count, kPixels}, layout, (folder_ / name).string(),
                                 error_);
}

bool Demo::keep_prototypes() {
  const Index count = own_.model.prototype_count();
  std::vector<float> x(static_cast<std::size_t>(count * kPixels));
  std::vector<ClusterId> id(static_cast<std::size_t>(count));
  if (!good(own_.model.prototypes(own_.backend, {}, {x.data(), count, kPixels}, id.data()))) {
    return false;
  }
  auto& kept = prototype_[streams_drawn_++];
  for (Index k = 0; k < count; ++k) {
    kept[id[static_cast<std::size_t>(k)]].assign(x.begin() + k * kPixels,
                                                 x.begin() + (k + 1) * kPixels);
  }
  return true;
}

// A line for every stream; a cluster has its column for ever.
bool Demo::draw_prototypes() {
  std::map<ClusterId, int> column;
  for (const auto& line : prototype_) {
    for (const auto& [id, image] : line) column[id] = 0;
  }
  const std::vector<float> nothing(static_cast<std::size_t>(kPixels), 32.0F / 255.0F);
  std::vector<float> images;
  for (const auto& line : prototype_) {
    for (const auto& [id, unused] : column) {
      const auto at = line.find(id);
      const std::vector<float>& image = at != line.end() ? at->second : nothing;
      images.insert(images.end(), image.begin(), image.end());
    }
  }
  return write(images, static_cast<Index>(column.size()), "prototypes.png");
}

// A line for every cluster: its prototype, then draws from it.
bool Demo::draw_samples() {
  constexpr Index kDraws = 12;
  std::vector<float> images;
  for (const auto& [id, image] : prototype_[kStreams - 1]) {
    images.insert(images.end(), image.begin(), image.end());
    const std::size_t before = images.size();
    images.resize(before + static_cast<std::size_t>(kDraws * kPixels));
    const GenerateSettings settings = {.cluster = id};
    if (!good(own_.model.generate(own_.backend, settings, {},
                                  {images.data() + before, kDraws, kPixels}))) {
      return false;
    }
  }
  return write(images, kDraws + 1, "samples.png");
}

// ---- the score ----------------------------------------------------------------------------------

// Rows: digits; columns: clusters, by the digit that most of their rows are.
void Demo::print_table(const std::vector<RowResult>& result) const {
  std::map<ClusterId, std::vector<int>> count;
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto& of = count[result[i].id];
    of.resize(kDigits);
    ++of[static_cast<std::size_t>(held_out_.label[i])];
  }
  std::vector<std::pair<std::size_t, ClusterId>> order;
  for (const auto& [id, of] : count) {
    const auto most = std::max_element(of.begin(), of.end());
    order.emplace_back(static_cast<std::size_t>(most - of.begin()), id);
  }
  std::sort(order.begin(), order.end());
  std::printf("\ncluster");
  for (const auto& [digit, id] : order) std::printf(" %4llu", static_cast<unsigned long long>(id));
  for (std::size_t digit = 0; digit < kDigits; ++digit) {
    std::printf("\ndigit %zu", digit);
    for (const auto& [most, id] : order) {
      const int rows = count[id][digit];
      std::printf(rows > 0 ? " %4d" : "    ·", rows);
    }
  }
  std::printf("\n");
}

bool Demo::score() {
  std::vector<RowResult> result(held_out_.label.size());
  if (!good(own_.model.score(own_.backend, held_out_.view(), result.data()))) return false;
  std::printf("\n%td held-out digits, scored by their labels:\n", held_out_.size());
  for (const bool kinds : {false, true}) {
    ContingencyTable table;
    const tools::PlacedMemory room(
        [&](Arena& arena) { table.place(arena, kDigits, config_.max_clusters); });
    table.reset();
    for (std::size_t i = 0; i < result.size(); ++i) {
      const ClusterId found = kinds ? result[i].kind : result[i].id;
      if (!good(table.add(static_cast<std::uint64_t>(held_out_.label[i]), found))) return false;
    }
    const ClusterMetrics m = table.metrics();
    std::printf("  %2td %s: NMI %.2f, accuracy %.2f one to one, %.2f if each is its main digit\n",
                m.clusters, kinds ? "kinds   " : "clusters", m.nmi, m.accuracy, m.purity);
  }
  print_table(result);
  return save_and_load(result);
}

bool same(const RowResult& a, const RowResult& b) {
  return a.id == b.id && a.kind == b.kind && a.probability == b.probability &&
         a.novelty == b.novelty && a.log_density == b.log_density && a.flags == b.flags;
}

bool Demo::save_and_load(const std::vector<RowResult>& result) {
  std::vector<std::byte> bytes(own_.model.snapshot_bytes());
  std::size_t size = 0;
  if (!good(own_.model.save(bytes.data(), bytes.size(), &size))) return false;
  const std::string path = (folder_ / "digits.safetensors").string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(size));
  std::vector<std::byte> back(size);
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(back.data()), static_cast<std::streamsize>(size))) {
    error_ = path + ": cannot be written and read again";
    return false;
  }
  Instance other(config_, threads_);
  std::vector<RowResult> again(result.size());
  if (!good(other.model.load(back.data(), back.size())) ||
      !good(other.model.score(other.backend, held_out_.view(), again.data()))) {
    return false;
  }
  if (!std::equal(result.begin(), result.end(), again.begin(), same)) {
    error_ = "the model scores differently after it was saved and loaded";
    return false;
  }
  std::printf("\nsaved as %s (%.1f MB) and loaded again: all scores are the same to the bit\n",
              path.c_str(), static_cast<double>(size) / 1e6);
  return true;
}

bool Demo::run(const tools::IdxData& images, const tools::IdxData& labels) {
  const double start = now();
  divide(images, labels);
  introduce();
  for (int stream = 0; stream < kStreams; ++stream) {
    if (!learn(stream)) return false;
  }
  if (!score() || !draw_prototypes() || !draw_samples()) return false;
  std::printf(
      "pictures: %s (a line a stream, a column a cluster)\n          %s (a line a cluster)\n",
      (folder_ / "prototypes.png").c_str(), (folder_ / "samples.png").c_str());
  std::printf("%.0f s in all\n", now() - start);
  return true;
}

int fail(const std::string& message) {
  std::fprintf(stderr, "stream_demo: %s\n", message.c_str());
  return 1;
}

// The desktop preset, for few rows: more epochs. More rows are called novel than by default, at the
// price of more false alarms.
Status configure(int count, char** settings, Configuration& config) {
  ADAPVAE_RETURN_IF_ERROR(apply_preset(config, "desktop"));
  config.block_rows = 5000 / kStreams - kDigitsOfStream * static_cast<int>(kHeldOut);
  config.pretrain_epochs = 60;
  config.false_alarm_rate = 0.05;
  for (int i = 0; i < count; ++i) {
    const std::string setting = settings[i];
    const std::size_t equals = std::min(setting.find('='), setting.size() - 1);
    ADAPVAE_RETURN_IF_ERROR(
        set_field_text(config, setting.substr(0, equals), setting.substr(equals + 1)));
  }
  return check_configuration(config);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: stream_demo DATA_FOLDER OUTPUT_FOLDER [FIELD=VALUE]...\n");
    return 2;
  }
  std::string error;
  const std::string data = argv[1];
  auto images = tools::read_idx_file(data + "/mnist-5000-images.idx.gz", error);
  const auto labels = tools::read_idx_file(data + "/mnist-5000-labels.idx.gz", error);
  if (!images || !labels) return fail(error);
  for (float& value : images->values) value /= 255.0F;
  std::error_code folder_error;
  std::filesystem::create_directories(argv[2], folder_error);
  if (folder_error) return fail(std::string("cannot make ") + argv[2]);
  Configuration config;
  if (const Status status = configure(argc - 3, argv + 3, config); !status.ok()) {
    return fail(status.message());
  }
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Demo demo(config, threads, argv[2]);
  return demo.run(*images, *labels) ? 0 : fail(demo.error());
}

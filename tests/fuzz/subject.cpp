#include "subject.h"

#include <algorithm>
#include <utility>

#include "adapvae/adapvae_experimental.h"
#include "fuzz_target.h"

namespace fuzz {
namespace {

void* allocate(void* memory, size_t bytes, size_t) {
  auto* own = static_cast<Memory*>(memory);
  own->asked += bytes;
  void* block = bytes <= Memory::kMost ? std::malloc(bytes) : nullptr;
  // No result may depend on what was there before: a model and its twin find different bytes.
  if (block != nullptr) std::memset(block, own->fill, bytes);
  return block;
}
void release(void* memory, void* block, size_t bytes, size_t) {
  static_cast<Memory*>(memory)->asked -= bytes;
  std::free(block);
}

// A block ends after so many questions: whatever a file says of epochs, it takes no more.
constexpr int kQuestions = 120;
struct Patience {
  int asked = 0;
};
int32_t go_on(void* patience, int32_t, double fraction) {
  FUZZ_CHECK(fraction >= 0.0 && fraction <= 1.0);
  return ++static_cast<Patience*>(patience)->asked < kQuestions ? 1 : 0;
}

// A model within a call that may learn.
class Patient {
 public:
  explicit Patient(adapvae_model* model) : model_(model) {
    (void)adapvae_set_progress(model_, go_on, &patience_);
  }
  ~Patient() { (void)adapvae_set_progress(model_, nullptr, nullptr); }
  Patient(const Patient&) = delete;
  Patient& operator=(const Patient&) = delete;

 private:
  adapvae_model* model_;
  Patience patience_;
};

template <typename Numbers>
void check_finite(const Numbers& numbers) {
  for (const auto x : numbers) FUZZ_CHECK(std::isfinite(x));
}

void print_error(const adapvae_model* model) {
  adapvae_error error = {};
  error.struct_size = sizeof error;
  (void)adapvae_last_error(model, &error);
  std::fprintf(stderr, "%s: %s\n", adapvae_status_name(error.status), error.message);
}

adapvae_info info_of(const adapvae_model* model) {
  adapvae_info info = {};
  info.struct_size = sizeof info;
  FUZZ_CHECK(adapvae_get_info(model, &info) == ADAPVAE_OK);
  return info;
}

// Whether the last block failed half-way.
bool broken(const adapvae_model* model) {
  char byte = 0;
  size_t size = 0;
  return adapvae_save(model, &byte, 1, &size) == ADAPVAE_INVALID_ARGUMENT;
}

adapvae_report report_of() {
  adapvae_report report = {};
  report.struct_size = sizeof report;
  return report;
}

void check_report(const adapvae_report& report) {
  check_finite(std::initializer_list<double>{report.bound, report.loss, report.log_likelihood,
                                             report.mixture, report.entropy, report.distillation,
                                             report.replay_accuracy, report.largest_drift});
}

// ---- JSON -------------------------------------------------------------------------------------

bool skip_value(const char*& at, int depth);

void skip_blanks(const char*& at) {
  while (*at == ' ' || *at == '\n') ++at;
}

bool skip_string(const char*& at) {
  if (*at++ != '"') return false;
  for (; *at != '"'; ++at) {
    if (static_cast<unsigned char>(*at) < 32) return false;  // also the end of the text
    if (*at == '\\' && *++at == '\0') return false;
  }
  ++at;
  return true;
}

bool skip_digits(const char*& at) {
  const char* start = at;
  while (*at >= '0' && *at <= '9') ++at;
  return at > start;
}

bool skip_number(const char*& at) {
  if (*at == '-') ++at;
  if (!skip_digits(at)) return false;
  if (*at == '.' && !skip_digits(++at)) return false;
  if (*at != 'e' && *at != 'E') return true;
  ++at;
  if (*at == '-' || *at == '+') ++at;
  return skip_digits(at);
}

bool skip_members(const char*& at, char close, int depth) {
  ++at;
  skip_blanks(at);
  if (*at == close) return ++at, true;
  for (;;) {
    skip_blanks(at);
    if (close == '}') {
      if (!skip_string(at)) return false;
      skip_blanks(at);
      if (*at++ != ':') return false;
    }
    if (!skip_value(at, depth + 1)) return false;
    skip_blanks(at);
    if (*at == close) return ++at, true;
    if (*at++ != ',') return false;
  }
}

bool skip_value(const char*& at, int depth) {
  skip_blanks(at);
  if (depth > 8) return false;
  if (*at == '{') return skip_members(at, '}', depth);
  if (*at == '[') return skip_members(at, ']', depth);
  if (*at == '"') return skip_string(at);
  for (const char* word : {"true", "false", "null"}) {
    if (std::strncmp(at, word, std::strlen(word)) == 0) return at += std::strlen(word), true;
  }
  return skip_number(at);
}

// No number of a text is infinite or none.
bool plain_text(const char* text) {
  for (const char* word : {" nan", "-nan", " inf", "-inf"}) {
    if (std::strstr(text, word) != nullptr) return false;
  }
  return true;
}

}  // namespace

bool is_json(const char* text) {
  if (!skip_value(text, 0)) return false;
  skip_blanks(text);
  return *text == '\0';
}

adapvae_options Memory::options() {
  adapvae_options out = {};
  out.struct_size = sizeof out;
  out.allocate = allocate;
  out.release = release;
  out.allocate_context = this;
  return out;
}

Bytes saved(const adapvae_model* model) {
  size_t size = 0;
  const adapvae_status asked = adapvae_save(model, nullptr, 0, &size);
  if (asked == ADAPVAE_UNAVAILABLE) return {};
  FUZZ_CHECK(asked == ADAPVAE_OK);
  Bytes out(size);
  const adapvae_status status = adapvae_save(model, out.data(), out.size(), &size);
  if (status != ADAPVAE_OK) print_error(model);
  FUZZ_CHECK(status == ADAPVAE_OK);
  FUZZ_CHECK(size == out.size());
  return out;
}

// ---- what must hold -----------------------------------------------------------------------------

Subject::Subject(adapvae_model* model) : model_(model), bytes_(saved(model)) {
  const adapvae_info info = info_of(model);
  inputs_ = info.inputs;
  latent_ = info.latent;
  block_rows_ = info.block_rows;
  adapvae_config config = {};
  config.struct_size = sizeof config;
  FUZZ_CHECK(adapvae_get_config(model, &config) == ADAPVAE_OK);
  restores_ = config.restore_on_failure != 0;
  memory_.fill = 0x3F;
  const adapvae_options options = memory_.options();
  FUZZ_CHECK(adapvae_create_from(bytes_.data(), bytes_.size(), &options, &twin_, nullptr) ==
             ADAPVAE_OK);
  FUZZ_CHECK(memory_.asked == info_of(twin_).memory_bytes);
  check();
}

Subject::~Subject() {
  adapvae_destroy(twin_);
  FUZZ_CHECK(memory_.asked == 0);
}

void Subject::refresh() { bytes_ = saved(model_); }

void Subject::check() {
  const adapvae_status loaded = adapvae_load(twin_, bytes_.data(), bytes_.size());
  if (loaded != ADAPVAE_OK) print_error(twin_);
  FUZZ_CHECK(loaded == ADAPVAE_OK);
  FUZZ_CHECK(saved(twin_) == bytes_);
  check_clusters();
}

void Subject::check_clusters() const {
  const adapvae_info info = info_of(model_);
  FUZZ_CHECK(info.clusters >= 0);
  FUZZ_CHECK(info.rows_waiting >= 0 && info.rows_waiting < block_rows_);
  FUZZ_CHECK(std::isfinite(info.time));
  FUZZ_CHECK(info.snapshot_bytes == bytes_.size());
  const auto m = static_cast<size_t>(latent_);
  std::vector<double> mean(m), covariance(m * m);
  double weight = 0.0;
  for (int32_t k = 0; k < info.clusters; ++k) {
    adapvae_cluster cluster = {};
    cluster.struct_size = sizeof cluster;
    FUZZ_CHECK(adapvae_cluster_at(model_, k, &cluster) == ADAPVAE_OK);
    FUZZ_CHECK(cluster.id > 0 && adapvae_resolve(model_, cluster.id) == cluster.id);
    FUZZ_CHECK(cluster.components > 0);
    FUZZ_CHECK(std::memchr(cluster.name, 0, sizeof cluster.name) != nullptr);
    check_finite(std::initializer_list<double>{cluster.rows, cluster.weight, cluster.birth_rows,
                                               cluster.birth_gain});
    FUZZ_CHECK(cluster.rows >= 0.0 && cluster.weight >= 0.0);
    weight += cluster.weight;
    FUZZ_CHECK(adapvae_moments(model_, cluster.id, mean.data(), covariance.data()) == ADAPVAE_OK);
    check_finite(mean);
    check_finite(covariance);
    for (size_t i = 0; i < m; ++i) FUZZ_CHECK(covariance[i * (m + 1)] > 0.0);
  }
  FUZZ_CHECK(weight <= 1.0 + 1e-9);
}

void Subject::check_events() {
  adapvae_event event = {};
  event.struct_size = sizeof event;
  for (int i = 0; i < 300 && adapvae_next_event(model_, &event) == ADAPVAE_OK; ++i) {
    check_finite(std::initializer_list<double>{event.gain, event.rows});
    char text[256];
    FUZZ_CHECK(adapvae_event_text(&event, ADAPVAE_TEXT, text, sizeof text, nullptr) == ADAPVAE_OK);
    FUZZ_CHECK(plain_text(text));
    FUZZ_CHECK(adapvae_event_text(&event, ADAPVAE_JSON, text, sizeof text, nullptr) == ADAPVAE_OK);
    FUZZ_CHECK(is_json(text));
  }
}

// ---- calls --------------------------------------------------------------------------------------

adapvae_status Subject::call(Program& program) {
  const adapvae_status status = make_call(program);
  if (broken(model_)) {
    // Without restore_on_failure a block that diverged leaves nothing but a reset.
    FUZZ_CHECK(status == ADAPVAE_DIVERGED && !restores_);
    FUZZ_CHECK(adapvae_reset(model_) == ADAPVAE_OK);
    FUZZ_CHECK(!broken(twin_) || adapvae_reset(twin_) == ADAPVAE_OK);
    refresh();
    check();
    return status;
  }
  Bytes now = saved(model_);
  FUZZ_CHECK(status == ADAPVAE_OK || now == bytes_);
  if (status != ADAPVAE_OK) {
    adapvae_error error = {};
    error.struct_size = sizeof error;
    FUZZ_CHECK(adapvae_last_error(model_, &error) == ADAPVAE_OK);
    FUZZ_CHECK(error.message[0] != '\0');
  }
  if (now != bytes_) {
    bytes_ = std::move(now);
    check();
  }
  return status;
}

adapvae_id Subject::id(Program& program) const {
  const uint8_t b = program.byte();
  if (b >= 240) return b - 240U;
  adapvae_cluster cluster = {};
  cluster.struct_size = sizeof cluster;
  const int32_t clusters = info_of(model_).clusters;
  if (clusters == 0) return b;
  FUZZ_CHECK(adapvae_cluster_at(model_, b % clusters, &cluster) == ADAPVAE_OK);
  return cluster.id;
}

adapvae_status Subject::make_call(Program& program) {
  switch (program.below(24)) {
    case 0:
    case 1:
      return learn(program, false);
    case 2:
      return learn(program, true);
    case 3: {
      const int32_t count = program.below(2 * std::min(block_rows_, 60));
      const auto rows = rows_of(program, count, inputs_);
      adapvae_report report = report_of();
      const Patient patient(model_);
      const adapvae_status status = adapvae_push(model_, rows.data(), count, 0, &report);
      check_report(report);
      // Blocks before the one that failed have been learnt.
      if (status != ADAPVAE_OK && report.streams > 0 && !broken(model_)) refresh();
      return status;
    }
    case 4: {
      const Patient patient(model_);
      adapvae_report report = report_of();
      const adapvae_status status = adapvae_flush(model_, &report);
      check_report(report);
      return status;
    }
    case 5: {
      const int32_t count = program.below(20);
      return score(rows_of(program, count, inputs_), count);
    }
    case 6:
    case 7:
      return features(program);
    case 8:
      return explain(rows_of(program, 1, inputs_));
    case 9:
      check_events();
      return ADAPVAE_OK;
    case 10:
    case 11:
    case 12:
    case 13:
      return correct(program);
    case 14:
    case 15:
      return set(program);
    case 16: {
      const double times[] = {0.0, 1.0, static_cast<double>(program.byte()), extreme(program)};
      return adapvae_set_time(model_, times[program.below(4)]);
    }
    case 17:
    case 18:
    case 19:
      return gain(program);
    case 20:
    case 21:
      return copies(program);
    case 22: {
      const int32_t count = program.below(2 * std::min(block_rows_, 60));
      const auto rows = rows_of(program, count, inputs_);
      const Patient patient(model_);
      return adapvae_pretrain(model_, rows.data(), count, 0);
    }
    default:
      return program.byte() < 32 ? adapvae_reset(model_) : ADAPVAE_OK;
  }
}

// Both: the model that was saved and loaded goes on as the one that was not.
adapvae_status Subject::learn(Program& program, bool both) {
  const int32_t count = program.below(std::min(block_rows_, 60) + 2);
  const auto rows = rows_of(program, count, inputs_);
  const double time = info_of(model_).time;
  if (both && undone_) {
    // A snapshot does not know of ids that were given and undone.
    FUZZ_CHECK(adapvae_load(model_, bytes_.data(), bytes_.size()) == ADAPVAE_OK);
    undone_ = false;
  }
  if (both) {
    FUZZ_CHECK(adapvae_load(twin_, bytes_.data(), bytes_.size()) == ADAPVAE_OK);
    // Neither knows of a time that was only set.
    both = adapvae_set_time(model_, time) == ADAPVAE_OK;
    if (both) FUZZ_CHECK(adapvae_set_time(twin_, time) == ADAPVAE_OK);
  }
  const Patient patient(model_);
  adapvae_report report = report_of();
  const adapvae_status status = adapvae_learn(model_, rows.data(), count, 0, &report);
  check_report(report);
  if (both) {
    const Patient other(twin_);
    FUZZ_CHECK(adapvae_learn(twin_, rows.data(), count, 0, nullptr) == status);
    FUZZ_CHECK(broken(model_) == broken(twin_));
    FUZZ_CHECK(broken(model_) || saved(twin_) == saved(model_));
  }
  return status;
}

adapvae_status Subject::score(const std::vector<float>& rows, int32_t count) {
  std::vector<adapvae_result> results(static_cast<size_t>(count));
  const adapvae_status status = adapvae_score(model_, rows.data(), count, 0, results.data());
  if (status != ADAPVAE_OK) return status;
  for (const adapvae_result& result : results) {
    FUZZ_CHECK(result.novelty >= 0.0F && result.novelty <= 1.0F);
    FUZZ_CHECK(result.probability >= 0.0F && result.probability <= 1.0F);
    FUZZ_CHECK(std::isfinite(result.log_density));
    FUZZ_CHECK(result.id == ADAPVAE_NO_ID || adapvae_resolve(model_, result.id) == result.id);
  }
  // The one that was loaded says the same.
  FUZZ_CHECK(adapvae_load(twin_, bytes_.data(), bytes_.size()) == ADAPVAE_OK);
  std::vector<adapvae_result> again(results.size());
  FUZZ_CHECK(adapvae_score(twin_, rows.data(), count, 0, again.data()) == ADAPVAE_OK);
  FUZZ_CHECK(count == 0 || std::memcmp(results.data(), again.data(),
                                       results.size() * sizeof(adapvae_result)) == 0);
  const int32_t clusters = info_of(model_).clusters;
  if (clusters == 0) return status;
  std::vector<float> parts(results.size() * static_cast<size_t>(clusters) + 1);
  FUZZ_CHECK(adapvae_probabilities(model_, rows.data(), count, 0, parts.data()) == ADAPVAE_OK);
  for (const float part : parts) FUZZ_CHECK(part >= 0.0F && part <= 1.0F);
  return status;
}

adapvae_status Subject::features(Program& program) {
  const int32_t what = program.below(5);
  const int32_t count = program.below(12);
  const auto n = static_cast<size_t>(count);
  std::vector<float> rows(n * static_cast<size_t>(inputs_));
  std::vector<float> z(n * static_cast<size_t>(latent_));
  std::vector<float> variance(z.size());
  adapvae_status status = ADAPVAE_OK;
  switch (what) {
    case 0: {
      const auto given = rows_of(program, count, inputs_);
      status = adapvae_encode(model_, given.data(), count, 0, z.data(), variance.data());
      if (status == ADAPVAE_OK)
        status = adapvae_reconstruct(model_, given.data(), count, 0, rows.data());
      break;
    }
    case 1: {
      const auto given = rows_of(program, count, latent_);
      status = adapvae_decode(model_, given.data(), count, 0, rows.data());
      break;
    }
    case 2:
    case 3:
      status = adapvae_generate(model_, what == 2 ? id(program) : ADAPVAE_NO_ID, program.byte(),
                                count, rows.data(), z.data(), nullptr);
      break;
    default: {
      const adapvae_id from = id(program);
      status = adapvae_interpolate(model_, from, id(program), count, rows.data(), z.data());
    }
  }
  if (status != ADAPVAE_OK) return status;
  check_finite(rows);
  check_finite(z);
  for (const float v : variance) FUZZ_CHECK(v >= 0.0F && std::isfinite(v));
  return status;
}

adapvae_status Subject::explain(const std::vector<float>& row) {
  size_t needed = 0;
  const adapvae_status status =
      adapvae_explain(model_, row.data(), ADAPVAE_JSON, nullptr, 0, &needed);
  if (status != ADAPVAE_OK) return status;
  std::string text(needed, ' ');
  FUZZ_CHECK(adapvae_explain(model_, row.data(), ADAPVAE_JSON, text.data(), needed, nullptr) ==
             ADAPVAE_OK);
  FUZZ_CHECK(is_json(text.c_str()));
  char lines[1024];
  FUZZ_CHECK(adapvae_explain(model_, row.data(), ADAPVAE_TEXT, lines, sizeof lines, &needed) ==
             ADAPVAE_OK);
  FUZZ_CHECK(plain_text(lines));
  return status;
}

adapvae_status Subject::correct(Program& program) {
  const int32_t what = program.below(6);
  const adapvae_id first = id(program);
  double change = 0.0;
  adapvae_status status = ADAPVAE_OK;
  switch (what) {
    case 0: {
      const char* names[] = {"", "a name", "\"\\\x01\xC3\xA9", "\xFF",
                             "thirty-two bytes are one too many"};
      status = adapvae_label(model_, first, names[program.below(5)]);
      break;
    }
    case 1:
      status = adapvae_merge(model_, first, id(program), program.below(2), &change);
      break;
    case 2: {
      adapvae_id part = ADAPVAE_NO_ID;
      status = adapvae_split(model_, first, program.below(2), &part, &change);
      break;
    }
    case 3:
      status = adapvae_forget(model_, first);
      break;
    default:
      status = adapvae_undo(model_);
      undone_ = undone_ || status == ADAPVAE_OK;
  }
  FUZZ_CHECK(std::isfinite(change));
  return status;
}

adapvae_status Subject::set(Program& program) {
  adapvae_field field = {};
  field.struct_size = sizeof field;
  const int32_t index = program.below(128);
  if (adapvae_config_field(index, &field) != ADAPVAE_OK) {
    return adapvae_set_sensitivity(model_, extreme(program));
  }
  const double values[] = {field.lowest, field.highest, field.preset,
                           0.5 * (field.lowest + field.highest), extreme(program)};
  double value = values[program.below(5)];
  if (field.type != 1) value = std::floor(value);
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  const adapvae_status status = adapvae_set(model_, field.name, text);
  adapvae_config config = {};
  config.struct_size = sizeof config;
  FUZZ_CHECK(adapvae_get_config(model_, &config) == ADAPVAE_OK);
  return status;
}

// Gains of one to three workers, which may be merged in any order, and applied; then once more,
// which is late.
adapvae_status Subject::gain(Program& program) {
  const int32_t workers = 1 + program.below(3);
  const uint64_t learnt = info_of(model_).rows;
  std::vector<Bytes> made;
  uint64_t rows = 0;
  for (int32_t w = 0; w < workers; ++w) {
    const int32_t count = program.below(2 * std::min(block_rows_, 60));
    const auto given = rows_of(program, count, inputs_);
    size_t size = 0;
    const adapvae_status asked = adapvae_gain(model_, nullptr, 0, 0, nullptr, nullptr, 0, &size);
    if (asked != ADAPVAE_OK) return asked;
    Bytes out(size);
    const adapvae_gain_key key = {static_cast<uint64_t>(w), 0};
    const adapvae_status status =
        adapvae_gain(model_, given.data(), count, 0, &key, out.data(), out.size(), &size);
    FUZZ_CHECK(saved(model_) == bytes_);
    if (status != ADAPVAE_OK) return status;
    out.resize(size);
    made.push_back(std::move(out));
    rows += static_cast<uint64_t>(count);
  }
  const auto join = [](const Bytes& a, const Bytes& b) {
    Bytes both(a.size() + b.size());
    size_t size = 0;
    FUZZ_CHECK(adapvae_merge_gains(a.data(), a.size(), b.data(), b.size(), both.data(), both.size(),
                                   &size, nullptr) == ADAPVAE_OK);
    both.resize(size);
    return both;
  };
  Bytes set = made[0];
  for (size_t w = 1; w < made.size(); ++w) {
    Bytes next = join(set, made[w]);
    FUZZ_CHECK(join(made[w], set) == next);
    set = std::move(next);
  }
  FUZZ_CHECK(join(set, set) == set);
  adapvae_gains gains = {};
  gains.struct_size = sizeof gains;
  FUZZ_CHECK(adapvae_inspect_gains(set.data(), set.size(), &gains, nullptr) == ADAPVAE_OK);
  FUZZ_CHECK(gains.rows == rows);
  std::vector<adapvae_alias> aliases(static_cast<size_t>(gains.born));
  adapvae_report report = report_of();
  const adapvae_status status =
      adapvae_apply_gains(model_, set.data(), set.size(), aliases.data(), gains.born, &report);
  check_report(report);
  if (status != ADAPVAE_OK) return status;
  FUZZ_CHECK(info_of(model_).rows == learnt + rows);
  for (const adapvae_alias& alias : aliases) {
    FUZZ_CHECK(alias.id != ADAPVAE_NO_ID && adapvae_resolve(model_, alias.id) == alias.id);
  }
  return status;
}

// A scorer, and the model's own snapshot.
adapvae_status Subject::copies(Program& program) {
  if (program.below(2) == 0) return adapvae_load(model_, bytes_.data(), bytes_.size());
  Memory memory;
  const adapvae_options options = memory.options();
  adapvae_model* scorer = nullptr;
  FUZZ_CHECK(adapvae_create_scorer(model_, &options, &scorer, nullptr) == ADAPVAE_OK);
  const int32_t count = program.below(8);
  const auto rows = rows_of(program, count, inputs_);
  std::vector<adapvae_result> one(static_cast<size_t>(count) + 1), other(one.size());
  const adapvae_status status = adapvae_score(model_, rows.data(), count, 0, one.data());
  FUZZ_CHECK(adapvae_score(scorer, rows.data(), count, 0, other.data()) == status);
  FUZZ_CHECK(status != ADAPVAE_OK ||
             std::memcmp(one.data(), other.data(),
                         sizeof(adapvae_result) * static_cast<size_t>(count)) == 0);
  adapvae_destroy(scorer);
  FUZZ_CHECK(memory.asked == 0);
  return ADAPVAE_OK;
}

void Subject::call_all() {
  constexpr uint8_t kNothing[1] = {};
  Program program(kNothing, 0);
  for (const uint8_t style : std::initializer_list<uint8_t>{12, 1, 5, 6}) {
    const uint8_t choice[] = {style, 7};
    Program rows(choice, sizeof choice);
    const auto given = rows_of(rows, 6, inputs_);
    (void)score(given, 6);
    (void)explain({given.begin(), given.begin() + inputs_});
  }
  for (uint8_t what = 0; what < 5; ++what) {
    const uint8_t choice[] = {what, 5, 0, 3};
    Program each(choice, sizeof choice);
    (void)features(each);
  }
  check_events();
  const uint8_t merge[] = {10, 1, 0, 1, 1};
  const uint8_t split[] = {10, 2, 0, 1};
  const uint8_t undo[] = {10, 5};
  const uint8_t learn[] = {0, 24, 12, 3};
  const uint8_t gain[] = {17, 1, 20, 12, 9, 10, 5, 1};
  const auto make = [this](const auto& bytes) {
    Program each(bytes, sizeof bytes);
    (void)call(each);
  };
  make(split);
  make(undo);
  make(merge);
  make(undo);
  make(gain);
  make(learn);
  make(gain);
  make(split);
  check_events();
}

}  // namespace fuzz

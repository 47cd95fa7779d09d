// adapvae for C++17: adapvae.h with owners, vectors and exceptions. Header only; what things mean
// is in adapvae.h, and handle() gives the rest of it.
//
//     adapvae::Config config;
//     config->inputs = 64;
//     adapvae::Model model(config);
//     model.learn(rows);                          // std::vector<float>, row after row
//     for (const auto& row : model.score(rows)) std::cout << row.id << ' ' << row.novelty << '\n';
#ifndef ADAPVAE_ADAPVAE_HPP
#define ADAPVAE_ADAPVAE_HPP

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "adapvae.h"

namespace adapvae {
inline namespace v0 {

class Error : public std::runtime_error {
 public:
  explicit Error(const adapvae_error& error)
      : std::runtime_error(std::string(adapvae_status_name(error.status)) + ": " + error.message),
        status(error.status),
        index(error.index) {}
  adapvae_status status;
  std::int32_t index;  // row, field or byte; -1: none
};

template <typename T>
T sized() {  // a struct that knows its size
  T value = {};
  value.struct_size = sizeof value;
  return value;
}

// call(adapvae_error*) must succeed.
template <typename Call>
void require(const Call& call) {
  auto error = sized<adapvae_error>();
  if (call(&error) != ADAPVAE_OK) throw Error(error);
}

class Config {
 public:
  Config() { adapvae_config_init(&config_, sizeof config_); }
  explicit Config(const char* preset) : Config() {
    require([&](auto* error) { return adapvae_config_preset(&config_, preset, error); });
  }
  // What the library chooses for rows like these; without rows, by the number of inputs alone.
  void suit(const float* rows, int32_t count, int32_t inputs) {
    require([&](auto* e) {
      return adapvae_config_for_rows(&config_, rows, count, inputs, 0, nullptr, e);
    });
  }
  void set(const char* name, const std::string& value) {
    require([&](auto* e) { return adapvae_config_set(&config_, name, value.c_str(), e); });
  }
  adapvae_config* operator->() { return &config_; }
  const adapvae_config* operator->() const { return &config_; }
  const adapvae_config* get() const { return &config_; }

 private:
  adapvae_config config_;
};

// Can be moved, not copied. Vectors of rows hold a whole number of them, without gaps.
class Model {
 public:
  explicit Model(const Config& config, const adapvae_options* options = nullptr) {
    require([&](auto* error) { return adapvae_create(config.get(), options, &model_, error); });
  }
  // From what save() gave.
  explicit Model(const std::vector<unsigned char>& file, const adapvae_options* options = nullptr) {
    const auto size = file.size();
    require([&](auto* e) { return adapvae_create_from(file.data(), size, options, &model_, e); });
  }
  ~Model() { adapvae_destroy(model_); }
  Model(Model&& other) noexcept : model_(std::exchange(other.model_, nullptr)) {}
  Model& operator=(Model&& other) noexcept {
    std::swap(model_, other.model_);
    return *this;
  }

  adapvae_model* handle() const { return model_; }
  // Throws what a call on handle() said.
  void check(adapvae_status status) const {
    if (status == ADAPVAE_OK) return;
    auto error = sized<adapvae_error>();
    adapvae_last_error(model_, &error);
    throw Error(error);
  }

  adapvae_report learn(const std::vector<float>& rows) { return taught(adapvae_learn, rows); }
  adapvae_report push(const std::vector<float>& rows) { return taught(adapvae_push, rows); }
  std::vector<adapvae_result> score(const std::vector<float>& rows) {
    std::vector<adapvae_result> out(static_cast<std::size_t>(count(rows)));
    check(adapvae_score(model_, rows.data(), std::int32_t(out.size()), 0, out.data()));
    return out;
  }
  std::vector<unsigned char> save() const {
    std::size_t size = 0;
    check(adapvae_save(model_, nullptr, 0, &size));
    std::vector<unsigned char> out(size);
    check(adapvae_save(model_, out.data(), out.size(), &size));
    return out;
  }
  // What rows add to this base, as a set of one gain; and gains that become a stream, with what
  // became of the clusters that were born of them. merge_gains() is between.
  std::vector<unsigned char> gain(const std::vector<float>& rows, const adapvae_gain_key& key) {
    std::size_t size = 0;
    check(adapvae_gain(model_, nullptr, 0, 0, nullptr, nullptr, 0, &size));
    std::vector<unsigned char> out(size);
    check(adapvae_gain(model_, rows.data(), count(rows), 0, &key, out.data(), out.size(), &size));
    out.resize(size);
    return out;
  }
  std::vector<adapvae_alias> apply_gains(const std::vector<unsigned char>& gains) {
    auto found = sized<adapvae_gains>();
    const auto size = gains.size();
    require([&](auto* e) { return adapvae_inspect_gains(gains.data(), size, &found, e); });
    std::vector<adapvae_alias> out(std::size_t(found.born));
    check(adapvae_apply_gains(model_, gains.data(), size, out.data(), found.born, nullptr));
    return out;
  }
  Model scorer() const {
    Model out;
    require([&](auto* e) { return adapvae_create_scorer(model_, nullptr, &out.model_, e); });
    return out;
  }
  adapvae_info info() const {
    auto out = sized<adapvae_info>();
    check(adapvae_get_info(model_, &out));
    return out;
  }
  std::vector<adapvae_cluster> clusters() const {
    std::vector<adapvae_cluster> out(std::size_t(info().clusters), sized<adapvae_cluster>());
    for (auto& each : out) check(adapvae_cluster_at(model_, int(&each - out.data()), &each));
    return out;
  }
  std::vector<adapvae_event> events(std::uint64_t after = 0) const {
    std::vector<adapvae_event> out;
    auto event = sized<adapvae_event>();
    event.sequence = after;
    while (adapvae_next_event(model_, &event) == ADAPVAE_OK) out.push_back(event);
    return out;
  }

 private:
  Model() = default;
  template <typename Learn>
  adapvae_report taught(const Learn& learn, const std::vector<float>& rows) {
    auto report = sized<adapvae_report>();
    check(learn(model_, rows.data(), count(rows), 0, &report));
    return report;
  }
  std::int32_t count(const std::vector<float>& rows) const {
    auto config = sized<adapvae_config>();
    check(adapvae_get_config(model_, &config));  // quicker than info()
    const auto inputs = static_cast<std::size_t>(config.inputs);
    const bool whole = rows.size() % inputs == 0 && rows.size() / inputs <= 0x7FFFFFFFU;
    if (!whole) throw std::invalid_argument("adapvae: not a whole number of rows");
    return static_cast<std::int32_t>(rows.size() / inputs);
  }
  adapvae_model* model_ = nullptr;
};

// All gains of both sets.
inline std::vector<unsigned char> merge_gains(const std::vector<unsigned char>& a,
                                              const std::vector<unsigned char>& b) {
  std::vector<unsigned char> out;
  std::size_t size = 0;
  const auto merge = [&](auto* error) {
    return adapvae_merge_gains(a.data(), a.size(), b.data(), b.size(),
                               out.empty() ? nullptr : out.data(), out.size(), &size, error);
  };
  require(merge);
  out.resize(size);
  require(merge);
  return out;
}

}  // namespace v0
}  // namespace adapvae

#endif  // ADAPVAE_ADAPVAE_HPP
